"""The files that the command writes, which it makes sure of before it grades."""

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from autograder.atomic_writes import write_whole
from autograder.errors import CourseError


def require_writable(outputs: Iterable[Path], notebook: Path) -> None:
    """Raise CourseError if a file can't be written, or would replace another one of them."""
    taken = {notebook.resolve()}
    for path in outputs:
        if path.resolve() in taken:
            raise CourseError(f"{path} is named twice. Give each file a name of its own.")
        taken.add(path.resolve())
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise CourseError(f"{path} is not a plain file, so it is not replaced. Name another.")
        _require_folder(path)


def write_all(outputs: Mapping[Path, str]) -> None:
    """Write each file as a whole. Raises CourseError."""
    for path, text in outputs.items():
        try:
            write_whole(path, text.encode(errors="replace"))
        except OSError as error:
            raise _unwritable(path, error) from error


def _require_folder(path: Path) -> None:
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> CourseError:
    why = error.strerror or type(error).__name__
    return CourseError(f"{path} can't be written ({why}). Name a file in a folder of yours.")
