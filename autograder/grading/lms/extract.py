"""nbgrader's extractor for zips of submissions: only plain files, within limits.

A learner may have handed in a zip, which is opened too. It can hold links, names that lead
elsewhere, more zips, and far more data than its size suggests.
"""

import stat
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path, PurePosixPath

from nbgrader.plugins import ExtractorPlugin

from autograder.grading.lms.whose import is_litter
from autograder.grading.submission.plain_files import (
    MOST_ENTRIES,
    MOST_FILE_BYTES,
    MOST_FILES_BYTES,
    MOST_NOTEBOOK_BYTES,
    NOTEBOOK,
    UnfitFile,
    require_inside,
    require_size,
    write_below,
)

ZIP = ".zip"
ENTRY = b"PK\x01\x02"  # how each entry in a zip's directory begins
PACKED = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}  # others are not read piece by piece
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, OSError)


class ExtractPlainFiles(ExtractorPlugin):
    """Extracts each zip in the archive into a folder of its name; other files are copied.

    left_out: what was not extracted, by its path among the extracted files, with the reason.
    own_zips: the folders of learners' own zips, whose names inside were chosen by learners.
    """

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Extract what can be read; a zip that can't be is left out with everything in it."""
        self.left_out: dict[Path, str] = {}
        self.own_zips: set[Path] = set()
        self._extracted = Path(extracted_path)
        for path in sorted(path for path in Path(archive_path).rglob("*") if path.is_file()):
            place = path.relative_to(archive_path)
            if path.suffix == ZIP:
                self._unpack(path, place.with_suffix(""))
            else:
                write_below(self._extracted, {str(place): path.read_bytes()})
        for place, why in self.left_out.items():
            self.log.warning("%s %s", place, why)

    def _unpack(self, path: Path, place: Path) -> None:
        """Extract a system's zip into a folder."""
        try:
            with zipfile.ZipFile(path) as file:
                for info in _files(file):
                    self._attempt(file, info, place)
        except DAMAGED:
            self.left_out[place] = "is damaged: download it again"

    def _attempt(self, file: zipfile.ZipFile, info: zipfile.ZipInfo, place: Path) -> None:
        """Extract a file, or note why it is left out."""
        try:
            name = _name(info)
            if is_litter(name.parts):
                return
            if name.suffix == ZIP:
                self._unpack_own(_read(file, info, MOST_FILES_BYTES), place / name)
            else:
                most = MOST_NOTEBOOK_BYTES if name.suffix == NOTEBOOK else MOST_FILE_BYTES
                data = _read(file, info, most)
                write_below(self._extracted, {str(place / name): data})
        except UnfitFile as error:
            self.left_out[place / info.filename] = error.why
        except DAMAGED:
            self.left_out[place / info.filename] = "is damaged, or its name is too long"

    def _unpack_own(self, data: bytes, place: Path) -> None:
        """Extract the notebooks in a learner's own zip into a folder of its name.

        If there are none, the zip stays as it is. Raises UnfitFile and `DAMAGED`.
        """
        if data.count(ENTRY) > MOST_ENTRIES:
            raise UnfitFile(place.name, f"holds too much; {MOST_ENTRIES:,} files are looked at")
        found: dict[str, bytes] = {}
        left = MOST_FILES_BYTES
        with zipfile.ZipFile(BytesIO(data)) as file:
            for info in _files(file):
                name = _name(info)
                if name.suffix == NOTEBOOK and not is_litter(name.parts):
                    found[str(name)] = _read(file, info, min(left, MOST_NOTEBOOK_BYTES))
                    left -= len(found[str(name)])
        if found:
            folder = place.with_name(place.name.removesuffix(ZIP) or ZIP)
            write_below(self._extracted, {str(folder / name): data for name, data in found.items()})
            self.own_zips.add(folder)
        else:
            require_size(place.name, len(data), MOST_FILE_BYTES)
            write_below(self._extracted, {str(place): data})


def _files(file: zipfile.ZipFile) -> Iterator[zipfile.ZipInfo]:
    return (info for info in file.infolist() if not info.filename.endswith("/"))


def _name(info: zipfile.ZipInfo) -> PurePosixPath:
    """Return the name of a file in a zip. Raises UnfitFile if it leads out of the zip's folder."""
    require_inside(info.filename)
    return PurePosixPath(info.filename)


def _read(file: zipfile.ZipFile, info: zipfile.ZipInfo, most_bytes: int) -> bytes:
    """Read a file in a zip, which may lie about its size. Raises UnfitFile and `DAMAGED`."""
    if stat.S_ISLNK(info.external_attr >> 16):
        raise UnfitFile(info.filename, "is a link; hand in the file itself")
    if info.flag_bits & 1:
        raise UnfitFile(info.filename, "has a password; hand it in without one")
    if info.compress_type not in PACKED:
        raise UnfitFile(info.filename, "is packed in an unusual way; make a plain zip")
    require_size(info.filename, info.file_size, most_bytes)
    with file.open(info) as stream:
        data = stream.read(most_bytes + 1)
    require_size(info.filename, len(data), most_bytes)
    return data
