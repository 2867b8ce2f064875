"""Groups that hand in together: `group` in learners.csv.

Canvas's zip has a group's files under the number of one member. Moodle's has them under the group's
name and number, which is nobody's.
"""

import shutil
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from autograder.grading.submission.plain_files import read_below, write_below
from autograder.grading.term.learner_names import listed
from autograder.grading.term.tables import Learner


def members(learners: Iterable[Learner]) -> dict[str, list[str]]:
    """Return the learners of each group, by its name in small letters."""
    found: dict[str, list[str]] = {}
    for one in learners:
        if one.group:
            found.setdefault(one.group.casefold(), []).append(one.learner)
    return found


def share(
    groups: Iterable[Collection[str]], collected: Collection[str], folder_of: Callable[[str], Path]
) -> list[str]:
    """Give the members of each group what one of them handed in; return lines about it.

    collected: those who were collected. If they are several of a group, each keeps their own.
    folder_of: returns the folder of a learner's submission.
    """
    said = []
    for group in groups:
        having = [one for one in group if one in collected]
        others = [one for one in group if one not in collected]
        if len(having) == 1 and others:
            for learner in others:
                _copy(folder_of(having[0]), folder_of(learner))
            said.append(f"{having[0]} handed in for the group: {listed(others)} got the same")
        elif having and others:
            said.append(
                f"{listed(having)} of one group handed in apart, so {listed(others)} got nothing"
            )
    return said


def _copy(source: Path, target: Path) -> None:
    """Replace a folder by a copy of another one's plain files. Raises OSError."""
    files = read_below(source).files
    shutil.rmtree(target, ignore_errors=True)
    write_below(target, files)
