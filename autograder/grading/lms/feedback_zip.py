"""Zips of feedback pages, to upload to Canvas ("Upload Submissions") or Moodle ("Upload multiple
feedback files in a zip").

Canvas gives a page to a learner by the two numbers in the name of the submitted file, and shows it
under that file's name, whatever the page is called: "lesson.ipynb" is then a page to open in a
browser. Moodle goes by the participant number in a folder's name, and splits that at underscores.
"""

import io
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.grading.lms.downloaded_names import read_canvas_name, read_moodle_name
from autograder.grading.lms.groups import members
from autograder.grading.lms.worksheet import Worksheet
from autograder.grading.term.tables import Learner

# Where Moodle splits names, and what a file system may not allow in a name.
TROUBLE = re.compile(r'[_/\\:*?"<>|&`\x00-\x1f\x7f]+')


@dataclass
class FeedbackZip:
    """The pages in a zip, by their names there, and who is not in it.

    without_page: learners who have no feedback page.
    without_place: learners who have one, but whose numbers in the system are unknown.
    """

    pages: dict[str, Path] = field(default_factory=dict)
    without_page: list[Learner] = field(default_factory=list)
    without_place: list[Learner] = field(default_factory=list)

    def to_bytes(self) -> bytes:
        """Return the zip as the bytes of a file."""
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
            for name, page in self.pages.items():
                file.write(page, name)
        return data.getvalue()


def canvas_zip(
    pages: Mapping[Learner, Sequence[Path]], names: Mapping[str, Sequence[str]]
) -> FeedbackZip:
    """Name pages after the submissions.

    What a group's member gets in Canvas, all get, so only one of their pages is in the zip.

    names: what the submissions were downloaded as, by learner.
    """
    served = {one for group in members(pages).values() if names.keys() & group for one in group}
    wanted = [one for one in pages if one.learner in names or one.learner not in served]
    read = {learner: read_canvas_name(found[0]) for learner, found in names.items()}
    places = {learner: f"{name.prefix}_" for learner, name in read.items() if name}
    return _zip({one: pages[one] for one in wanted}, places)


def moodle_zip(pages: Mapping[Learner, Sequence[Path]], numbers: Mapping[str, str]) -> FeedbackZip:
    """Put pages into folders by participant.

    numbers: the participant numbers, by learner.
    """
    folders = {
        one.learner: f"{_harmless_name(one)}_{numbers[one.learner]}_assignfeedback_file/"
        for one in pages
        if one.learner in numbers
    }
    return _zip(pages, folders)


def participant_numbers(
    learners: Iterable[Learner], names: Mapping[str, Sequence[str]], worksheet: str
) -> dict[str, str]:
    """Return participant numbers in Moodle by learner, for the assignment that was collected.

    The names are trusted more than `moodle_id`; the worksheet, if given, more than both.
    Raises CourseError.

    names: what the submissions were downloaded as.
    """
    learners = list(learners)
    numbers = {one.learner: one.moodle_id for one in learners if one.moodle_id}
    groups = members(learners)
    read = {learner: read_moodle_name(found[0]) for learner, found in names.items()}
    own = {who: name for who, name in read.items() if name and name.owner.casefold() not in groups}
    rows = Worksheet(Path(worksheet)).match(learners) if worksheet else {}
    for better in (
        {learner: name.person for learner, name in own.items()},
        {learner: row.number for learner, row in rows.items()},
    ):
        # No page goes to somebody else's number.
        taken = set(better.values())
        numbers = {one: number for one, number in numbers.items() if number not in taken} | better
    return numbers


def _zip(pages: Mapping[Learner, Sequence[Path]], places: Mapping[str, str]) -> FeedbackZip:
    """Put the pages in a zip.

    places: the beginnings of the names of a learner's pages.
    """
    filled = FeedbackZip()
    for learner, found in pages.items():
        if not found:
            filled.without_page.append(learner)
        elif learner.learner not in places:
            filled.without_place.append(learner)
        else:
            filled.pages |= {f"{places[learner.learner]}{page.name}": page for page in found}
    return filled


def _harmless_name(learner: Learner) -> str:
    """Return a name for people to read; Moodle only looks at the number after it."""
    words = TROUBLE.sub(" ", learner.full_name or learner.learner).split()
    return " ".join(words).lstrip(".~ ")
