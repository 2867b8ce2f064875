"""Read the folder of a submission: its notebook, the files beside it, and when it was submitted."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from pathlib import Path

from autograder.grading.submission.plain_files import (
    DEEPEST,
    MOST_ENTRIES,
    MOST_NOTEBOOK_BYTES,
    NOTEBOOK,
    TooLarge,
    UnfitFile,
    names_in,
    open_folder,
    read_below,
    read_file,
    shown_name,
)
from autograder.grading.submission.read_notebook import CLEAR_OUTPUTS, BrokenSubmission
from autograder.grading.term.dates import FORM, read_date

# nbgrader's, not the learner's work. By the secret it finds the feedback page on a submission.
TIMESTAMP, SECRET = "timestamp.txt", "submission_secret.txt"
MOST_TIMESTAMP_BYTES = 200
MOST_NAMED = 5
OWN_LEVELS = 2  # the folders of a learner, and of a lesson in it


def read_submitted(path: Path, sole: bool = False) -> bytes:
    """Read the bytes of a submitted notebook. Raises BrokenSubmission with the reason.

    sole: whether it is the lesson's only notebook. If so, a single submitted notebook is taken
        whatever its name is: browsers save a second download as "lesson (1).ipynb".
    """
    with _as_broken(path.name), open_folder(path.parent, OWN_LEVELS) as folder:
        return _read(_counting(path.name, names_in(folder) or [], sole), folder)


def read_single(path: Path, expected: str) -> bytes:
    """Read a notebook that was handed in alone, as `read_submitted` would.

    path: the notebook, in any folder; or a folder with it, perhaps inside of others.
    expected: the name that it should have. Raises BrokenSubmission with the reason.
    """
    if path.is_dir() and not path.name.endswith(NOTEBOOK):
        path = _innermost(path)
        with _as_broken(expected), open_folder(path, levels=0) as folder:
            return _read(_counting(expected, names_in(folder) or [], sole=True), folder)
    with _as_broken(path.name), open_folder(path.parent, levels=0) as folder:
        return _read(_counting(expected, [path.name], sole=True), folder)


def files_beside(folder: Path) -> dict[str, bytes]:
    """Read the plain files in and below a folder, except notebooks, by relative name."""
    try:
        return read_below(folder, notebooks=False).files
    except OSError:  # the folder is missing, or a link
        return {}


def submitted_at(folder: Path) -> datetime | None:
    """Read the time in nbgrader's `timestamp.txt`, in UTC; None if there is none.

    Raises BrokenSubmission.
    """
    try:
        with open_folder(folder) as opened:
            data = read_file(TIMESTAMP, opened, MOST_TIMESTAMP_BYTES)
        text = data.decode(errors="replace").strip()
        return read_date(text) if text else None
    except FileNotFoundError:
        return None
    except UnfitFile as error:
        said = f"{TIMESTAMP} can't be read, because it {error.why}"
        raise BrokenSubmission(f"{said}; write the time into a new file, or delete it") from None
    except OSError as error:
        raise BrokenSubmission(f"{TIMESTAMP} can't be read ({error.strerror})") from error
    except ValueError:
        said = f"{TIMESTAMP} says {text!r:.60}, which is not a time"
        raise BrokenSubmission(f"{said}: {FORM}, or delete the file") from None


def _innermost(folder: Path) -> Path:
    """Return the folder, or the one in it if that is all there is, as zips of folders have it."""
    for _ in range(DEEPEST):
        with os.scandir(folder) as entries:
            shown = [e for e in islice(entries, MOST_ENTRIES) if not e.name.startswith((".", "__"))]
        if len(shown) != 1 or not shown[0].is_dir(follow_symlinks=False):
            break
        folder = folder / shown[0].name
    return folder


@contextmanager
def _as_broken(name: str) -> Iterator[None]:
    """Say that a submission is broken because its notebook can't be read."""
    try:
        yield
    except FileNotFoundError:
        raise BrokenSubmission(_missing(name)) from None
    except TooLarge as error:
        raise BrokenSubmission(str(error), CLEAR_OUTPUTS) from None
    except UnfitFile as error:
        raise BrokenSubmission(str(error)) from None
    except OSError as error:
        raise BrokenSubmission(f"{shown_name(name)} can't be read ({error.strerror})") from error


def _read(name: str, folder: int) -> bytes:
    with _as_broken(name):
        return read_file(name, folder, MOST_NOTEBOOK_BYTES)


def _counting(name: str, there: list[str], sole: bool) -> str:
    """Return the name of the file that counts as the notebook. Raises BrokenSubmission."""
    notebooks = [other for other in there if other.endswith(NOTEBOOK)]
    if sole and len(notebooks) == 1:
        return notebooks[0]
    if there and name not in there:
        raise BrokenSubmission(f"{_missing(name)}{_instead(notebooks, there, sole)}")
    return name


def _missing(name: str) -> str:
    return f"there is no {name} in the submission"


def _instead(notebooks: list[str], there: list[str], sole: bool) -> str:
    """Say what is in the submission, and what to rename."""
    if not notebooks:
        others = [n for n in there if n not in (TIMESTAMP, SECRET) and not n.startswith(".")]
        return _there(others) if others else ""
    if len(notebooks) == 1:
        return f"{_there(notebooks)}: give it that name"
    pick = "keep one of them and give it" if sole else "give the right one"
    return f"{_there(notebooks)}: {pick} that name"


def _there(names: list[str]) -> str:
    shown = ", ".join(map(shown_name, names[:MOST_NAMED]))
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"; there {'is' if len(names) == 1 else 'are'} {shown}{more}"
