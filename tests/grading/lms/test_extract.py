"""Zips are extracted within limits, and nothing in them leads outside."""

import io
import zipfile

import pytest

from autograder.grading.lms import extract
from autograder.grading.lms.extract import ExtractPlainFiles
from autograder.grading.submission.plain_files import (
    MOST_ENTRIES,
    MOST_FILE_BYTES,
    MOST_NOTEBOOK_BYTES,
)

LINK = 0o120777 << 16


def zip_of(*entries, **options):
    """Make a zip; an entry is a name, or a name and what is in the file."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", **options) as file:
        for entry in entries:
            name, text = (entry, "here") if isinstance(entry, str | zipfile.ZipInfo) else entry
            file.writestr(name, text)
    return data.getvalue()


@pytest.fixture
def extracted(tmp_path):
    """Return what is extracted from a zip, and why the rest isn't."""

    def run(data):
        archive, place = tmp_path / "archive", tmp_path / "extracted"
        archive.mkdir()
        place.mkdir()
        (archive / "all.zip").write_bytes(data)
        extractor = ExtractPlainFiles()
        extractor.extract(str(archive), str(place))
        assert {path.name for path in tmp_path.iterdir()} == {"archive", "extracted"}
        paths = [path for path in sorted(place.rglob("*")) if not path.is_dir()]
        assert not any(path.is_symlink() for path in paths)
        found = {str(path.relative_to(place / "all")): path.read_bytes() for path in paths}
        return found, {str(path): why for path, why in extractor.left_out.items()}

    return run


def linked(name, target):
    info = zipfile.ZipInfo(name)
    info.external_attr = LINK
    return info, target


def damaged(data, at=40):
    return data[:at] + bytes(20) + data[at + 20 :]


def test_files_are_extracted_and_a_learners_own_zip_is_opened_for_notebooks(extracted):
    inner = zip_of("work/a.ipynb", "work/data.csv", "__MACOSX/work/._a.ipynb")
    data = zip_of("work/data.csv")
    found, left_out = extracted(
        zip_of(
            *("ada/a.ipynb", ("zoe/my work.zip", inner), "tim/a.pdf", ("tim/data.zip", data)),
            *("._b.ipynb", "c/"),
        )
    )
    assert found == {
        "ada/a.ipynb": b"here",
        "tim/a.pdf": b"here",
        "tim/data.zip": data,
        "zoe/my work/work/a.ipynb": b"here",
    }
    assert left_out == {}


@pytest.mark.parametrize("name", ["../a.ipynb", "/a.ipynb", "x/../../a.ipynb"])
def test_no_name_leads_elsewhere(extracted, name):
    inner = zip_of(name)
    found, left_out = extracted(zip_of("good.ipynb", name, ("inner.zip", inner)))
    assert found == {"good.ipynb": b"here"}
    assert {*left_out.values()} == {"has a name that leads elsewhere"}
    assert len(left_out) == 2


@pytest.mark.parametrize("name", ["...zip", "..zip", ".zip", ".. .zip", "work/...zip"])
def test_no_own_zip_is_put_beside_its_place(extracted, name):
    inner = zip_of(("ada/a.ipynb", "zoe's"), ("zoe/a.ipynb", "zoe's"))
    found, _ = extracted(zip_of(("ada/a.ipynb", "ada's"), (f"zoe/{name}", inner)))
    assert found.pop("ada/a.ipynb") == b"ada's"
    assert all(place.startswith(f"zoe/{name.rpartition('/')[0]}") for place in found)


@pytest.mark.parametrize("target", ["../course_secret.txt", "/etc/hostname", "good.ipynb"])
def test_no_link_is_made_or_followed(extracted, target):
    inner = zip_of(linked("b.ipynb", target))
    found, left_out = extracted(
        zip_of("good.ipynb", linked("a.ipynb", target), ("inner.zip", inner))
    )
    assert found == {"good.ipynb": b"here"}
    assert {*left_out.values()} == {"is a link; hand in the file itself"}
    assert len(left_out) == 2


ZEROS = bytes(MOST_NOTEBOOK_BYTES + 1)
PACKED = {"compression": zipfile.ZIP_DEFLATED}


def lying(data, size):
    """Make a zip with one file claim a different size for it."""
    real = len(ZEROS).to_bytes(4, "little")
    return data.replace(real, size.to_bytes(4, "little"))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (zip_of(("a.ipynb", ZEROS), **PACKED), "has 10 MB; 10 MB are allowed"),
        (lying(zip_of(("a.ipynb", ZEROS), **PACKED), 10), "is damaged, or its name is too long"),
        (
            zip_of(("i.zip", zip_of(("a.ipynb", ZEROS), **PACKED)), **PACKED),
            "has 10 MB; 10 MB are allowed",
        ),
        (
            zip_of(("i.zip", zip_of(*((f"{n}.ipynb", ZEROS[1:]) for n in range(6)), **PACKED))),
            "has 10 MB; 0 bytes are allowed",
        ),
        (
            zip_of(("i.zip", zip_of(*map(str, range(MOST_ENTRIES + 1))))),
            "holds too much; 2,000 files are looked at",
        ),
        (
            zip_of(("a.pdf", bytes(MOST_FILE_BYTES + 1)), **PACKED),
            "has 5 MB; 5 MB are allowed",
        ),
        (
            zip_of(("i.zip", zip_of(("a.pdf", bytes(MOST_FILE_BYTES))))),
            "has 5 MB; 5 MB are allowed",
        ),
        (
            zip_of("a.ipynb", compression=zipfile.ZIP_LZMA),
            "is packed in an unusual way; make a plain zip",
        ),
    ],
    ids=["large", "lying", "large inside", "much", "many", "large file", "large zip", "unusual"],
)
def test_no_zip_is_larger_than_it_looks(extracted, data, why):
    found, left_out = extracted(data)
    assert found == {}
    assert [*left_out.values()] == [why]


def test_a_learner_can_not_hand_in_a_bomb(extracted, monkeypatch):
    monkeypatch.setattr(extract, "MOST_FILES_BYTES", 1_000)
    found, left_out = extracted(zip_of(("i.zip", zip_of(("a.ipynb", ZEROS[1:]), **PACKED))))
    assert found == {}
    assert "1,000 bytes are allowed" in next(iter(left_out.values()))


@pytest.mark.parametrize(
    "inner",
    [b"", b"no zip", zip_of("a.ipynb")[:50], damaged(zip_of("a.ipynb", **PACKED), 35)],
    ids=["empty", "other", "cut off", "changed"],
)
def test_what_is_damaged_costs_only_itself(extracted, inner):
    found, left_out = extracted(zip_of(("a.zip", inner), "good.ipynb"))
    assert found == {"good.ipynb": b"here"}
    assert left_out == {"all/a.zip": "is damaged, or its name is too long"}


def test_a_file_without_a_name_costs_only_its_own_zip(extracted):
    entry = extract.ENTRY + bytes(42)
    nameless = entry + b"PK\5\6" + bytes(8) + len(entry).to_bytes(4, "little") + bytes(6)
    found, left_out = extracted(zip_of(("a.zip", nameless), "good.ipynb"))
    assert found == {"good.ipynb": b"here"}
    assert [*left_out.values()] == ["has a name that leads elsewhere"]


def test_a_name_that_is_too_long_costs_only_itself(extracted):
    found, left_out = extracted(zip_of("a" * 300 + ".ipynb", "good.ipynb"))
    assert found == {"good.ipynb": b"here"}
    assert len(left_out) == 1


def test_a_name_in_the_way_of_another_costs_only_itself(extracted):
    found, left_out = extracted(zip_of("a.ipynb", "a.ipynb/b.ipynb", "good.ipynb"))
    assert found == {"a.ipynb": b"here", "good.ipynb": b"here"}
    assert [*left_out] == ["all/a.ipynb/b.ipynb"]


def test_a_password_is_reported(extracted):
    data = bytearray(zip_of("a.ipynb"))
    data[6] |= 1
    data[data.index(extract.ENTRY) + 8] |= 1
    assert extracted(bytes(data))[1] == {"all/a.ipynb": "has a password; hand it in without one"}


def test_a_file_that_is_not_a_zip_is_reported(extracted):
    assert extracted(b"PK\3\4") == ({}, {"all": "is damaged: download it again"})
