"""Folders and files that are written aside, and put in their places when they are whole."""

import glob
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

UNFINISHED = ".unfinished"


def write_whole(path: Path, data: bytes) -> None:
    """Write a file as a whole or not at all: who reads it meanwhile never sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_bytes(data)
    draft.replace(path)


@contextmanager
def draft_of(final: Path, keep_others: bool) -> Iterator[Path]:
    """A new folder, which takes the place of `final` when the body ends without an error.

    keep_others: whether notebooks come along that are in `final` and not in the draft.
    """
    draft = final.with_name(f".{final.name}.new{UNFINISHED}")
    draft.mkdir(parents=True)
    try:
        yield draft
        if keep_others:
            _copy_others(final, draft)
        _exchange(final, draft)
    finally:
        remove_unfinished(final)


def remove_unfinished(final: Path) -> None:
    """Remove what a run that was killed may have left beside a folder."""
    for folder in final.parent.glob(f".{glob.escape(final.name)}.*{UNFINISHED}"):
        shutil.rmtree(folder)


def _copy_others(final: Path, draft: Path) -> None:
    for path in final.glob("*.ipynb"):
        if not (draft / path.name).exists():
            shutil.copy2(path, draft)


def _exchange(final: Path, draft: Path) -> None:
    """A kill in between leaves none of the two in place, not half of one."""
    if final.exists():
        final.rename(final.with_name(f".{final.name}.old{UNFINISHED}"))
    draft.rename(final)
