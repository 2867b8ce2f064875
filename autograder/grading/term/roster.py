"""Make learners.csv from the roster of a learning management system, or from any table of people.

Canvas's gradebook export has all that is needed, and so does Moodle's list of participants.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
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
# What tells that two are one person.
SAME = ("canvas_id", "sis_user_id", "sis_login_id", "email", "github")
SAY_WHO = "Add a column `learner` that says whose row it is; a new name there is a new learner."


@dataclass(frozen=True)
class Entry:
    """What a row says about a person.

    full: the name, if the row has it in one piece. Where it was cut is then a guess.
    """

    row: TableRow
    says: Learner
    full: str = ""


def make_learners(roster: Path, course: Path) -> str:
    """Write learners.csv, or bring it up to date: names given to learners before stay.

    Returns what was done, in sentences. Raises CourseError, and then writes nothing.
    """
    rows = read_foreign_table(roster)
    entries = [_entry(row) for row in rows if _is_person(row)]
    if not entries:
        raise CourseError(
            f"{roster.name} names nobody. It needs a column such as {', '.join(FULL_NAME[:2])}, "
            "email or username, as in Canvas's gradebook export or Moodle's list of participants."
        )
    path = course / TABLE
    before = read_learners(path)
    by_name = _known_by_name(before, entries)
    after, present = _merged(before, entries, by_name)
    table = [[column.name for column in fields(Learner)], *map(astuple, after.values())]
    write_whole(path, as_csv(table))
    return _told(before, after, present, by_name.values())


def _is_person(row: TableRow) -> bool:
    """Whether a row is not one that Canvas adds: the test student, maxima and notes."""
    cells = _small(row)
    name = FULL_NAME[0].casefold()
    if name not in cells or "id" not in cells:
        return True
    return bool(cells["id"]) and cells[name] != TEST_PERSON


def _entry(row: TableRow) -> Entry:
    """Read what a row says about a person. Raises CourseError if that is nothing."""
    cells = _small(row)
    found = {
        ours: next((cells[name] for name in names if cells.get(name)), "")
        for ours, names in COLUMNS.items()
    }
    full = next(filter(None, (cells.get(name.casefold()) for name in FULL_NAME)), "")
    full = "" if found["last_name"] else full
    person = Learner(**found | (_names(full) if full else {}))
    if not any((person.full_name, person.email, person.learner)):
        raise row.error("nobody is named here; fill in a name or an address, or remove the line.")
    return Entry(row, person, full)


def _small(row: TableRow) -> Mapping[str, str]:
    return {name.casefold(): cell for name, cell in row.cells.items()}


def _names(full: str) -> dict[str, str]:
    """Cut "Lovelace, Ada" or "Ada Lovelace" into last and first name."""
    last, comma, first = full.partition(",")
    if not comma:
        first, _, last = full.rpartition(" ")
    return {"last_name": last.strip(), "first_name": first.strip()}


def _merged(
    before: Mapping[str, Learner], entries: Iterable[Entry], by_name: Mapping[int, Learner]
) -> tuple[dict[str, Learner], set[str]]:
    """Return all learners by folder, known and new, and the folders of those in the roster.

    by_name: as `_known_by_name` found them.
    """
    after, present = dict(before), set()
    for entry in entries:
        one = by_name.get(entry.row.line) or _same(after.values(), entry.says)
        known = after[one.learner] if one else None
        name = known.learner if known else _free_name(entry.says, after)
        after[name] = replace(known or entry.says, **_news(entry, known) | {"learner": name})
        present.add(name)
    return after, present


def _news(entry: Entry, known: Learner | None) -> dict[str, str]:
    """Return what to enter: no guess at a name of which both parts are known."""
    said = {f.name: getattr(entry.says, f.name) for f in fields(Learner)}
    if known and entry.full and _is_spelled(known, entry.full):
        del said["last_name"], said["first_name"]
    return {name: value for name, value in said.items() if value}


def _is_spelled(one: Learner, full: str) -> bool:
    first, last = one.first_name, one.last_name
    return _key(full) in map(_key, (f"{first} {last}", f"{last} {first}", f"{last}, {first}"))


def _key(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def _known_by_name(before: Mapping[str, Learner], entries: Sequence[Entry]) -> dict[int, Learner]:
    """Find the learners whom only their name tells, by line. Raises CourseError if it could be two.

    A learner whom an id, an address or a folder tells is not looked for by name.
    """
    told = {entry.row.line: _same(before.values(), entry.says) for entry in entries}
    others = {*before.values()} - {*told.values()}
    found: dict[int, Learner] = {}
    for entry in (entry for entry in entries if not told[entry.row.line]):
        fits = [one for one in others if _may_be(one, entry.says)]
        twice = [line for line, one in found.items() if one in fits]
        if len(fits) + len(twice) > 1:
            names = " or ".join(sorted(one.learner for one in fits))
            also = f", and so could line {twice[0]}" if twice else ""
            raise entry.row.error(f"{entry.says.full_name} could be {names}{also}. {SAY_WHO}")
        if fits:
            found[entry.row.line] = fits[0]
    return found


def _may_be(one: Learner, other: Learner) -> bool:
    """Whether a known learner has a row's name, and nothing says that they are two people."""
    if other.learner or not other.full_name or _ids(one, other):
        return False
    return _key(one.full_name) == _key(other.full_name)


def _same(known: Iterable[Learner], person: Learner) -> Learner | None:
    return next((one for one in known if _is_same(one, person)), None)


def _is_same(one: Learner, other: Learner) -> bool:
    if other.learner and one.learner == other.learner:
        return True
    return any(a.casefold() == b.casefold() for a, b in _ids(one, other))


def _ids(one: Learner, other: Learner) -> list[tuple[str, str]]:
    """Return the ids of both, where both have one of a kind."""
    pairs = [(getattr(one, name), getattr(other, name)) for name in SAME]
    return [(a, b) for a, b in pairs if a and b]


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
    before: Mapping[str, Learner],
    after: Mapping[str, Learner],
    present: set[str],
    by_name: Iterable[Learner],
) -> str:
    added, gone = after.keys() - before.keys(), before.keys() - present
    said = [f"{TABLE} has {count(len(after), 'learner')} now, {len(added)} of them new."]
    if named := listed(one.learner for one in by_name):
        said.append(f"Recognized by name alone: {named}.")
    if gone:
        said.append(f"Not in the roster, and still in {TABLE}: {listed(gone)}.")
    return " ".join(said)
