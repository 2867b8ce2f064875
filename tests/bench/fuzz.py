"""Fuzz everything that reads other people's files, for an hour or for FUZZ_SECONDS.

Hypothesis keeps its findings in `.hypothesis`, and tries these first the next time. Examples that
were fixed are in the tests of their readers.
"""

import os
import time

from hypothesis import HealthCheck, given, settings

from tests.fuzz.readers import READERS, Reader

SECONDS = 3600.0
AT_A_TIME = 500  # examples in one run


def report() -> None:
    """Print how many examples each reader got, and its first error."""
    each = float(os.environ.get("FUZZ_SECONDS", SECONDS)) / len(READERS)
    for reader in READERS:
        count, found = fuzz(reader, each)
        print(f"  {reader.name:<12} {count:8,} examples{': ' + found if found else ''}", flush=True)


def fuzz(reader: Reader, seconds: float) -> tuple[int, str]:
    """Try examples for this long; return how many, and the first error."""
    end, tried = time.monotonic() + seconds, [0]

    def counted(value: object) -> None:
        tried[0] += 1
        reader.check(value)

    checks = list(HealthCheck)
    options = settings(
        max_examples=AT_A_TIME, deadline=None, derandomize=False, suppress_health_check=checks
    )
    while time.monotonic() < end:
        try:
            options(given(reader.inputs)(counted))()
        except Exception as error:
            return tried[0], f"{type(error).__name__}: {str(error)[:300]}"
    return tried[0], ""
