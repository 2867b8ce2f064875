"""Only plain files with a single name are read, within limits, and only if they don't change."""

import os
from pathlib import Path

import pytest

from autograder.grading.submission import plain_files
from autograder.grading.submission.plain_files import (
    DEEPEST,
    MOST_ENTRIES,
    MOST_FILE_BYTES,
    MOST_FILES,
    MOST_NOTEBOOK_BYTES,
    UnfitFile,
    open_folder,
    read_below,
    read_file,
    write_below,
)


def of_size(path, size):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(size)
    return path


def written(folder, **files):
    write_below(folder, {name: text.encode() for name, text in files.items()})
    return folder


def left_out(folder):
    """Return why something is left out; the only other file must be `good`."""
    written(folder, good="here")
    found = read_below(folder)
    assert found.files == {"good": b"here"}
    return "\n".join(found.left_out)


def test_plain_files_are_read_and_written(tmp_path):
    source, copy = tmp_path / "source", tmp_path / "copy"
    of_size(source / "data" / "other.ipynb", MOST_NOTEBOOK_BYTES)
    of_size(source / "just.bin", MOST_FILE_BYTES)
    of_size(source / "giant.bin", MOST_FILE_BYTES + 1)
    of_size(source / "data" / "inner" / "b.txt", 2)
    found = read_below(source)
    assert list(found.files) == ["just.bin", "data/other.ipynb", "data/inner/b.txt"]
    assert found.left_out == ["giant.bin has 5 MB; 5 MB are allowed"]
    write_below(copy, found.files)
    assert read_below(copy).files == found.files


@pytest.mark.parametrize("target", ["secret", "/etc/hostname", "nowhere"])
def test_no_link_to_a_file_is_followed(tmp_path, target):
    written(tmp_path, secret="secret")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "mine").symlink_to(target if target[0] == "/" else f"../{target}")
    assert left_out(tmp_path / "work") == "mine is a link; hand in the file itself"


@pytest.mark.parametrize("target", [".", "..", "/"])
def test_no_link_to_a_folder_is_followed(tmp_path, target):
    (tmp_path / "work" / "inner").mkdir(parents=True)
    (tmp_path / "work" / "inner" / "all").symlink_to(target)
    assert left_out(tmp_path / "work") == "inner/all is a link; hand in the file itself"


def test_the_folder_itself_may_not_be_a_link(tmp_path):
    written(tmp_path / "work", good="here")
    (tmp_path / "link").symlink_to("work")
    with pytest.raises(UnfitFile, match="link is a link; hand in the folder itself"):
        read_below(tmp_path / "link")


@pytest.mark.parametrize("place", ["secret", "work/inner/mine", "other/work/mine"])
def test_no_hard_link_is_read(tmp_path, place):
    secret = of_size(tmp_path / place, 1)
    (tmp_path / "work").mkdir(exist_ok=True)
    os.link(secret, tmp_path / "work" / "mine")
    assert "mine is the same file as another one (a hard link)" in left_out(tmp_path / "work")


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (os.mkfifo, "named pipe"),
        (os.mkdir, "folder"),
        (lambda path: os.mknod(path, 0o140600), "socket"),
    ],
)
def test_what_is_not_a_file_keeps_nobody_waiting(tmp_path, make, kind):
    make(tmp_path / "file")
    said = f"file is a {kind}, not a file"
    with open_folder(tmp_path) as folder, pytest.raises(UnfitFile, match=said):
        read_file("file", folder, 100)


def test_a_device_is_not_a_file():
    with open_folder(Path("/dev")) as folder:
        for name in ("null", "zero", "full"):
            with pytest.raises(UnfitFile, match=f"{name} is a device, not a file"):
                read_file(name, folder, 100)


@pytest.mark.parametrize("place", ["", "inner", "inner/inner"])
def test_a_swarm_costs_its_own_folder_only(tmp_path, place):
    for number in range(MOST_ENTRIES + 1):
        of_size(tmp_path / place / f"{number:05}", 0)
    if place:
        assert f"{place} holds too much; 2,000 files and folders are" in left_out(tmp_path)
    else:
        assert read_below(tmp_path).files == {}


def test_not_too_many_files_are_read_and_notebooks_come_first(tmp_path):
    for number in range(MOST_FILES + 1):
        of_size(tmp_path / f"{number:03}.txt", 1)
    of_size(tmp_path / "z.ipynb", 1)
    found = read_below(tmp_path)
    names = [f"{number:03}.txt" for number in range(MOST_FILES - 1)]
    assert list(found.files) == ["z.ipynb", *names]
    assert found.left_out[0] == "199.txt is one too many; 200 files are read"


def test_not_too_many_bytes_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(plain_files, "MOST_FILES_BYTES", 10)
    for name, size in {"a": 4, "b": 7, "c": 6, "d": 1}.items():
        of_size(tmp_path / name, size)
    assert list(read_below(tmp_path).files) == ["a", "c"]


def test_folders_are_read_down_to_a_limit(tmp_path):
    of_size(tmp_path / "/".join("d" * DEEPEST) / "in", 1)
    assert len(read_below(tmp_path).files) == 1
    of_size(tmp_path / "/".join("e" * (DEEPEST + 1)) / "out", 1)
    found = read_below(tmp_path)
    assert len(found.files) == 1
    assert found.left_out[0].endswith("e/e is in too many folders; 20 are opened")


@pytest.mark.parametrize("name", [b"\xff.txt", b"caf\xe9", b"\xed\xa0\x80"])
@pytest.mark.parametrize("is_folder", [False, True])
def test_an_undecodable_name_is_left_out(tmp_path, name, is_folder):
    path = os.fsencode(tmp_path) + b"/" + name
    os.mkdir(path) if is_folder else os.close(os.open(path, os.O_CREAT))
    said = left_out(tmp_path)
    assert said.endswith("has a name that is not UTF-8")
    assert said.encode()


def grow(path):
    with path.open("ab") as file:
        file.write(b"more")


def rewrite(path):
    path.write_bytes(b"other")
    os.utime(path, ns=(0, 0))


def link(path):
    os.link(path, path.with_name("second"))


@pytest.mark.parametrize("change", [grow, rewrite, link])
def test_a_file_that_changes_meanwhile_is_left_out(tmp_path, monkeypatch, change):
    """It changes after it is examined and before it is read."""
    path = tmp_path / "mine"
    path.write_bytes(b"lines")
    examine = plain_files._require_plain

    def then_change(name, about, most_bytes):
        examine(name, about, most_bytes)
        change(path)

    monkeypatch.setattr(plain_files, "_require_plain", then_change)
    with open_folder(tmp_path) as opened, pytest.raises(UnfitFile, match="mine changed while"):
        read_file("mine", opened, 100)


@pytest.mark.parametrize("instead", ["nothing", "a link", "a folder"])
def test_a_file_that_is_replaced_after_it_was_found_is_left_out(tmp_path, monkeypatch, instead):
    written(tmp_path, mine="old", secret="secret")
    find = plain_files._is_folder

    def then_replace(name, folder):
        found = find(name, folder)
        if name == "mine":
            (tmp_path / "mine").unlink()
            if instead == "a link":
                (tmp_path / "mine").symlink_to("secret")
            if instead == "a folder":
                (tmp_path / "mine").mkdir()
        return found

    monkeypatch.setattr(plain_files, "_is_folder", then_replace)
    found = read_below(tmp_path)
    assert found.files == {"secret": b"secret"}
    assert len(found.left_out) == 1


def test_a_folder_that_becomes_a_link_is_not_entered(tmp_path, monkeypatch):
    written(tmp_path / "secret", inside="secret")
    (tmp_path / "work" / "mine").mkdir(parents=True)
    find = plain_files._is_folder

    def then_replace(name, folder):
        found = find(name, folder)
        (tmp_path / "work" / "mine").rmdir()
        (tmp_path / "work" / "mine").symlink_to("../secret")
        return found

    monkeypatch.setattr(plain_files, "_is_folder", then_replace)
    found = read_below(tmp_path / "work")
    assert (found.files, found.left_out) == (
        {},
        ["mine is a link; hand in the folder itself"],
    )


def test_what_can_not_be_opened_is_left_out(tmp_path, monkeypatch):
    written(tmp_path, a="a")
    real = os.open

    def refuse(path, *arguments, **options):
        if path == "a":
            raise PermissionError(13, "Permission denied")
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refuse)
    assert left_out(tmp_path) == "a can't be read (Permission denied)"
