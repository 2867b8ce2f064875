"""Groups that hand in together: `group` in learners.csv.

Canvas's zip has a group's files under the number of one member. Moodle's has them under the group's
name and number, which is nobody's.
"""

import shutil
from collections.abc import Collection, Iterable, Iterator
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


def shared(groups: Iterable[Collection[str]], collected: Collection[str]) -> dict[str, str]:
    """Return who gets what another member of the group handed in, and from whom.

    collected: those who handed in. If they are several of a group, each keeps their own.
    """
    halves = _halves(groups, collected)
    return {one: having[0] for having, others in halves if len(having) == 1 for one in others}


def left_over(groups: Iterable[Collection[str]], collected: Collection[str]) -> Iterator[str]:
    """Say who got nothing because others of the group handed in separately."""
    for having, others in _halves(groups, collected):
        if len(having) > 1 and others:
            yield (
                f"{listed(having)} are in one group and handed in separately, so {listed(others)} "
                "got nothing"
            )


def _halves(
    groups: Iterable[Collection[str]], collected: Collection[str]
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the members of each group who handed in, and the others."""
    for group in groups:
        having = [one for one in group if one in collected]
        yield having, [one for one in group if one not in having]


def copy(source: Path, target: Path) -> None:
    """Replace a folder by a copy of another one's plain files. Raises OSError."""
    files = read_below(source).files
    shutil.rmtree(target, ignore_errors=True)
    write_below(target, files)
