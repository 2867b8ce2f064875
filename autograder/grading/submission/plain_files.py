"""Read files that somebody else can write, through descriptors and within limits.

Only a regular file with a single name is read. A link, or a second name of a file (a hard link),
could lead to what only the grader may read; a pipe or a device could keep it waiting. Each file is
opened first and examined then, so nothing can be put in its place in between.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePosixPath

MOST_NOTEBOOK_BYTES = 10_000_000  # parsing JSON may take sixty times that in memory
MOST_FILE_BYTES = 5_000_000
MOST_FILES = 200
MOST_FILES_BYTES = 50_000_000  # together
MOST_ENTRIES = 2_000  # files and folders to look at
DEEPEST = 20  # levels of folders
NOTEBOOK = ".ipynb"
KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class UnfitFile(OSError):
    """A file or folder that is not read.

    why: the rest of a sentence that begins with its name.
    """

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{shown_name(name)} {why}")
        self.why = why


class TooLarge(UnfitFile):
    """A file that is larger than the limit."""


@dataclass
class Found:
    """What was read below a folder: files by relative name, and why others were left out."""

    files: dict[str, bytes] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


@contextmanager
def open_folder(path: Path, levels: int = 1) -> Iterator[int]:
    """Open a folder, and yield its descriptor.

    levels: how many names at the end of the path may not be links. Raises OSError, UnfitFile.
    """
    path = path.absolute()
    with ExitStack() as stack:
        trusted, names = [path, *path.parents][levels], path.parts[len(path.parts) - levels :]
        folder = os.open(trusted, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        stack.callback(os.close, folder)
        for name in names:
            folder = _open_below(name, folder)
            stack.callback(os.close, folder)
        yield folder


def read_file(name: str, folder: int, most_bytes: int) -> bytes:
    """Read a file in an opened folder. Raises OSError; UnfitFile if it should not be read."""
    file = _open(name, folder)
    with ExitStack() as stack:
        stack.callback(os.close, file)
        about = os.fstat(file)
        _require_plain(name, about, most_bytes)
        with open(file, "rb", closefd=False) as stream:
            data = stream.read(most_bytes + 1)
        if len(data) != about.st_size or _version(os.fstat(file)) != _version(about):
            raise UnfitFile(name, "changed while it was read; try again")
    return data


def read_below(folder: Path, notebooks: bool = True) -> Found:
    """Read the plain files in a folder and the folders in it, notebooks first.

    Raises OSError if the folder itself can't be read.

    notebooks: whether notebooks are read, too.
    """
    reader = _Reader(notebooks)
    with open_folder(folder) as opened:
        reader.read(opened)
    return reader.found


def write_below(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by relative name into a folder. Raises OSError; UnfitFile if a name leads out."""
    for name in files:
        require_inside(name)
    for name, data in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def require_inside(name: str) -> None:
    """Raise UnfitFile if a file's name leads out of the folder that it is put into."""
    parts = PurePosixPath(name).parts
    if not parts or parts[0] == "/" or ".." in parts:
        raise UnfitFile(name, "has a name that leads elsewhere")


def require_size(name: str, size: int, most: int) -> None:
    """Raise TooLarge if a file has more bytes than are allowed."""
    if size > most:
        raise TooLarge(name, f"has {_size(size)}; {_size(most)} are allowed")


def names_in(folder: int, most: int = MOST_ENTRIES) -> list[str] | None:
    """List an opened folder, sorted; None if it holds more than `most`."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in islice(entries, most + 1)]
    return sorted(names) if len(names) <= most else None


def shown_name(name: str) -> str:
    """Return a file's name as printable text, even if it is not UTF-8."""
    return os.fsencode(name).decode(errors="replace")


class _Reader:
    """Reads nested folders within the limits, always in the same order."""

    def __init__(self, notebooks: bool) -> None:
        self.found = Found()
        self._notebooks = notebooks
        self._entries, self._bytes = MOST_ENTRIES, MOST_FILES_BYTES

    def read(self, folder: int, inside: tuple[str, ...] = ()) -> None:
        """Read the files of an opened folder, then those of its folders."""
        names = names_in(folder, self._entries)
        if names is None:
            place = shown_name("/".join(inside)) or "The folder"
            self.found.left_out.append(
                f"{place} holds too much; {MOST_ENTRIES:,} files and folders are looked at"
            )
            return
        self._entries -= len(names)
        folders = [name for name in names if _is_folder(name, folder)]
        files = sorted({*names} - {*folders}, key=lambda name: (not _is_notebook(name), name))
        for name in files:
            if self._notebooks or not _is_notebook(name):
                self._attempt(self._read_file, name, folder, inside)
        for name in folders:
            self._attempt(self._enter, name, folder, inside)

    def _attempt(self, read: Callable, name: str, folder: int, inside: tuple[str, ...]) -> None:
        """Read a file or a folder, or note why it is left out."""
        place = "/".join([*inside, name])
        try:
            if not _is_text(name):
                raise UnfitFile(name, "has a name that is not UTF-8")
            read(name, folder, inside)
        except OSError as error:
            why = error.why if isinstance(error, UnfitFile) else f"can't be read ({error.strerror})"
            self.found.left_out.append(f"{shown_name(place)} {why}")

    def _enter(self, name: str, folder: int, inside: tuple[str, ...]) -> None:
        if len(inside) == DEEPEST:
            raise UnfitFile(name, f"is in too many folders; {DEEPEST} are opened")
        opened = _open_below(name, folder)
        try:
            self.read(opened, (*inside, name))
        finally:
            os.close(opened)

    def _read_file(self, name: str, folder: int, inside: tuple[str, ...]) -> None:
        if len(self.found.files) == MOST_FILES:
            raise UnfitFile(name, f"is one too many; {MOST_FILES} files are read")
        most = MOST_NOTEBOOK_BYTES if _is_notebook(name) else MOST_FILE_BYTES
        data = read_file(name, folder, min(most, self._bytes))
        self.found.files["/".join([*inside, name])] = data
        self._bytes -= len(data)


def _open(name: str, folder: int) -> int:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UnfitFile(name, "is a link; hand in the file itself") from None
        if error.errno == errno.ENXIO:  # a socket
            raise _not_a_file(name, os.stat(name, dir_fd=folder, follow_symlinks=False)) from None
        raise


def _open_below(name: str, folder: int) -> int:
    """Open a folder in an opened folder."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(name, flags, dir_fd=folder)
    except NotADirectoryError:
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise UnfitFile(name, "is a link; hand in the folder itself") from None
        raise


def _require_plain(name: str, about: os.stat_result, most_bytes: int) -> None:
    if not stat.S_ISREG(about.st_mode):
        raise _not_a_file(name, about)
    if about.st_nlink != 1:
        raise UnfitFile(name, "is the same file as another one (a hard link); hand in a copy")
    require_size(name, about.st_size, most_bytes)


def _not_a_file(name: str, about: os.stat_result) -> UnfitFile:
    return UnfitFile(name, f"is {KINDS.get(stat.S_IFMT(about.st_mode), 'special')}, not a file")


def _version(about: os.stat_result) -> tuple[int, ...]:
    return about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_nlink


def _is_folder(name: str, folder: int) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False  # it is gone, and reading it will report that


def _is_notebook(name: str) -> bool:
    return name.endswith(NOTEBOOK)


def _is_text(name: str) -> bool:
    try:
        return bool(name.encode())
    except UnicodeEncodeError:
        return False


def _size(count: int) -> str:
    return f"{count / 1e6:.0f} MB" if count >= 1e6 else f"{count:,} bytes"
