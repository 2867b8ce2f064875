"""The times in timestamp.txt when a learner's submission is collected again.

Where the system gives no time, instructors write it themselves. It belongs to the notebook beside
it, and stays if the same notebook is collected again.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from autograder.grading.submission.folder import TIMESTAMP
from autograder.grading.submission.plain_files import NOTEBOOK, read_below
from autograder.grading.term.dates import read_date
from autograder.grading.term.learner_names import listed

GONE = (
    "The time of the earlier submission is gone from timestamp.txt: {times}. Write the new time "
    "into that file"
)
REPLACED = (
    "The notebook is a new one, so timestamp.txt has the worksheet's time now. It had: {times}"
)
EARLIER = (
    "The notebook is a new one, but the worksheet's time for it is earlier than the one that "
    "timestamp.txt had: {times}. Is this an older zip? If so, collect the newer one again"
)
KEPT = (
    "The notebook is the same, so timestamp.txt keeps its time, though the worksheet has another: "
    "{times}. To get the worksheet's, delete timestamp.txt and collect again"
)


@dataclass
class KeptTimes:
    """What becomes of timestamp.txt for each learner who is collected.

    times: what it will say, in UTC, by learner.
    gone: what it said before, where that is lost.
    replaced: what it said before, where the system's time replaces it.
    earlier: the same, where the system's time is earlier.
    kept: what it says, where that stays although the system's time is different.
    """

    times: dict[str, datetime] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    earlier: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)

    def add(
        self, learner: str, folder: Path, files: Mapping[str, bytes], told: datetime | None
    ) -> None:
        """Decide about a learner.

        folder: what was collected before.
        files: what is collected now.
        told: when it was submitted, according to the system.
        """
        before = _read(folder)
        text = before.pop(TIMESTAMP, b"").decode(errors="replace").strip()
        old = _date(text)
        same = old is not None and _work(before) == _work(files)
        time = old if same else told
        if time:
            self.times[learner] = time
        if text and old != told:
            shown = f"{learner} ({text[:40]})"
            if same:
                self.kept += [shown] if told else []
            elif not told:
                self.gone.append(shown)
            else:
                (self.earlier if old and told < old else self.replaced).append(shown)

    def report(self) -> list[str]:
        """Say which times are lost, or differ from the system's."""
        found = {
            GONE: self.gone,
            REPLACED: self.replaced,
            EARLIER: self.earlier,
            KEPT: self.kept,
        }
        return [text.format(times=listed(times)) for text, times in found.items() if times]


def _read(folder: Path) -> dict[str, bytes]:
    with suppress(OSError):
        return read_below(folder).files
    return {}


def _date(text: str) -> datetime | None:
    with suppress(ValueError):
        return read_date(text)
    return None


def _work(files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """Return the notebooks, or all files if there are none."""
    return {name: files[name] for name in files if name.endswith(NOTEBOOK)} or files
