"""Make learners.csv from the roster of a learning management system, or from any table of people.

Canvas's gradebook export has all that is needed, and so does Moodle's list of participants.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import astuple, fields, replace
from pathlib import Path

from autograder.atomic_writes import write_whole
from autograder.errors import CourseError
from autograder.grading.term.learner_names import LONGEST, listed, why_no_name
from autograder.grading.term.read_table import TableRow, read_foreign_table
from autograder.grading.term.tables import Learner, read_learners
from autograder.grading.term.write_table import as_csv
from autograder.judging.code_marks import count

TABLE = "learners.csv"
# The columns that a roster may have, in small letters, by ours.
COLUMNS = {
    "learner": ("learner", "username", "user name", "benutzername"),
    "last_name": ("last_name", "last name", "surname", "nachname"),
    "first_name": ("first_name", "first name", "vorname"),
    "email": ("email", "email address", "e-mail", "e-mail-adresse"),
    "section": ("section", "groups", "gruppen"),
    "canvas_id": ("canvas_id", "id"),
    "sis_user_id": ("sis_user_id", "sis user id", "id number", "id-nummer"),
    "sis_login_id": ("sis_login_id", "sis login id"),
    "moodle_id": ("moodle_id",),
    "github": ("github", "github_username"),
    "group": ("group",),
}
FULL_NAME = ("Student", "Name", "Full name", "Vollständiger Name")
TEST_PERSON = "Student, Test"  # as Canvas calls it
SAME = ("canvas_id", "sis_user_id", "sis_login_id", "email")  # what tells that two are one person


def make_learners(roster: Path, course: Path) -> str:
    """Write learners.csv, or bring it up to date: names given to learners before stay.

    Returns what was done, in sentences. Raises CourseError, and then writes nothing.
    """
    rows = read_foreign_table(roster)
    people = [_person(row) for row in rows if _is_person(row)]
    if not people:
        raise CourseError(
            f"{roster.name} names nobody. It needs a column such as {', '.join(FULL_NAME[:2])}, "
            "email or username, as in Canvas's gradebook export or Moodle's list of participants."
        )
    path = course / TABLE
    before = read_learners(path)
    after = _merged(before, people)
    table = [[column.name for column in fields(Learner)], *map(astuple, after.values())]
    write_whole(path, as_csv(table))
    return _told(before, after, people)


def _is_person(row: TableRow) -> bool:
    """Whether a row is not one that Canvas adds: the test student, maxima and notes."""
    cells = _small(row)
    name = FULL_NAME[0].casefold()
    if name not in cells or "id" not in cells:
        return True
    return bool(cells["id"]) and cells[name] != TEST_PERSON


def _person(row: TableRow) -> Learner:
    """Return what a row says about a person. Raises CourseError if that is nothing."""
    cells = _small(row)
    found = {
        ours: next((cells[name] for name in names if cells.get(name)), "")
        for ours, names in COLUMNS.items()
    }
    full = next(filter(None, (cells.get(name.casefold()) for name in FULL_NAME)), "")
    if full and not found["last_name"]:
        found |= _names(full)
    person = Learner(**found)
    if not any((person.full_name, person.email, person.learner)):
        raise row.error("nobody is named here; fill in a name or an address, or remove the line.")
    return person


def _small(row: TableRow) -> Mapping[str, str]:
    return {name.casefold(): cell for name, cell in row.cells.items()}


def _names(full: str) -> dict[str, str]:
    """Cut "Lovelace, Ada" or "Ada Lovelace" into last and first name."""
    last, comma, first = full.partition(",")
    if not comma:
        first, _, last = full.rpartition(" ")
    return {"last_name": last.strip(), "first_name": first.strip()}


def _merged(before: Mapping[str, Learner], people: Iterable[Learner]) -> dict[str, Learner]:
    """Return all learners by name: those known before, with what is new, and the new ones."""
    after = dict(before)
    for person in people:
        known = next((one for one in after.values() if _is_same(one, person)), None)
        name = known.learner if known else _free_name(person, after)
        told = {f.name: getattr(person, f.name) for f in fields(Learner) if getattr(person, f.name)}
        after[name] = replace(known or person, **told | {"learner": name})
    return after


def _is_same(one: Learner, other: Learner) -> bool:
    if other.learner and one.learner == other.learner:
        return True
    pairs = [(getattr(one, name), getattr(other, name)) for name in SAME]
    return any(a and a.casefold() == b.casefold() for a, b in pairs)


def _free_name(person: Learner, taken: Iterable[str]) -> str:
    """Make a name for a learner's folder: the account's, or else the person's own."""
    account = next(filter(None, (person.learner, person.sis_login_id, person.email)), "")
    name = account.partition("@")[0] or person.full_name.casefold()
    name = re.sub(r"[^\w.-]+", "_", name).strip("._-")[: LONGEST - 4] or "learner"
    known = {one.casefold() for one in taken}
    number, free = 1, name
    while free.casefold() in known or why_no_name(free):
        number += 1
        free = f"{name}_{number}"
    return free


def _told(
    before: Mapping[str, Learner], after: Mapping[str, Learner], people: list[Learner]
) -> str:
    added = after.keys() - before.keys()
    gone = [name for name, one in before.items() if not any(_is_same(one, p) for p in people)]
    said = [f"{TABLE} has {count(len(after), 'learner')} now, {len(added)} of them new."]
    if gone:
        said.append(f"Not in the roster, and still in {TABLE}: {listed(gone)}.")
    return " ".join(said)
