"""Read what a learner handed in, with care: a folder may hold links, devices and huge files."""

import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from autograder.grading.submission.read_notebook import CLEAR_OUTPUTS, BrokenSubmission

MOST_NOTEBOOK_BYTES = 10_000_000  # parsing JSON may take sixty times that in memory
MOST_FILE_BYTES = 5_000_000
MOST_FILES = 200
MOST_FILES_BYTES = 50_000_000  # together


def read_handed_in(path: Path, sole: bool = False) -> bytes:
    """Read the bytes of a submitted notebook. Raises BrokenSubmission with the reason.

    sole: whether the assignment has no other. Then the only notebook that was handed in is taken,
    whatever its name: browsers save a second download as "lesson (1).ipynb".
    """
    found = list(path.parent.glob("*.ipynb"))
    if sole and len(found) == 1:
        path = found[0]
    for part in (path, path.parent, path.parent.parent):
        if part.is_symlink():
            raise BrokenSubmission(f"{part.name} is a link; hand in the file itself")
    try:
        return _read(path, MOST_NOTEBOOK_BYTES)
    except FileNotFoundError:
        raise BrokenSubmission(
            f"there is no {path.name} in the submission{_others(path)}"
        ) from None
    except OSError as error:
        raise BrokenSubmission(f"{path.name} can't be read ({error.strerror})") from error


def files_beside(folder: Path) -> dict[str, bytes]:
    """Read ordinary files of reasonable size below a folder, except notebooks, by relative name."""
    found: dict[str, bytes] = {}
    left = MOST_FILES_BYTES
    for path in sorted(files_below(folder)):
        with suppress(OSError):  # it may be gone
            if path.suffix != ".ipynb" and is_ordinary(path) and path.stat().st_size <= left:
                data = found[str(path.relative_to(folder))] = path.read_bytes()
                left -= len(data)
        if len(found) == MOST_FILES:
            break
    return found


def copy_ordinary(paths: Iterable[Path], source: Path, folder: Path) -> None:
    """Copy ordinary files below `source` to the same places below `folder`. Raises OSError."""
    for path in filter(is_ordinary, paths):
        place = folder / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)


def is_ordinary(path: Path) -> bool:
    """Whether a file can be copied along: a readable regular file, not a link, not too large.

    Raises OSError.
    """
    about = path.lstat()
    plain = stat.S_ISREG(about.st_mode) and os.access(path, os.R_OK)
    return plain and about.st_size <= MOST_FILE_BYTES


def files_below(folder: Path) -> Iterator[Path]:
    """Yield what is in a folder and the folders in it, without following links to folders."""
    if folder.is_symlink():
        return
    for parent, _, names in os.walk(folder):  # does not follow links to folders
        yield from (Path(parent, name) for name in names)


def _read(path: Path, most_bytes: int) -> bytes:
    """Read a regular file of at most `most_bytes`. Raises OSError, BrokenSubmission."""
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        raise BrokenSubmission(f"{path.name} is no file")
    if about.st_size > most_bytes:
        size = f"{about.st_size / 1e6:.0f} MB; {most_bytes / 1e6:.0f} MB are allowed"
        raise BrokenSubmission(f"{path.name} has {size}: {CLEAR_OUTPUTS}")
    return path.read_bytes()


def _others(path: Path) -> str:
    names = sorted(other.name for other in path.parent.glob("*.ipynb"))
    return f"; there is {', '.join(names[:5])}: give it that name" if names else ""
