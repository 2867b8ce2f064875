"""Write files and folders to a temporary place, and move them into position once complete."""

import glob
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

UNFINISHED = ".unfinished"


def write_whole(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Write a file completely or not at all: a concurrent reader never sees half of it.

    mode: its permissions, less those that the process takes away from all files.
    Raises OSError, with the file's own name.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.touch(mode)
        draft.write_bytes(data)
        draft.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):
            draft.unlink()


@contextmanager
def draft_of(final: Path, keep_others: bool) -> Iterator[Path]:
    """Yield a new folder that replaces `final` if the body ends without an error.

    keep_others: whether to copy over notebooks that are in `final` but not in the draft.
    """
    remove_unfinished(final)
    draft = final.with_name(f".{final.name}.new{UNFINISHED}")
    draft.mkdir(parents=True)
    try:
        yield draft
        if keep_others:
            _copy_others(final, draft)
        _exchange(final, draft)
    finally:
        with suppress(OSError):
            remove_unfinished(final)


def remove_unfinished(final: Path) -> None:
    """Remove what a killed run may have left next to a folder."""
    for folder in final.parent.glob(f".{glob.escape(final.name)}.*{UNFINISHED}"):
        shutil.rmtree(folder)


def _copy_others(final: Path, draft: Path) -> None:
    for path in final.glob("*.ipynb"):
        if not (draft / path.name).exists():
            shutil.copy2(path, draft)


def _exchange(final: Path, draft: Path) -> None:
    """Swap the folders; a kill midway leaves neither in place, but never half of one."""
    if final.exists():
        final.rename(final.with_name(f".{final.name}.old{UNFINISHED}"))
    draft.rename(final)
