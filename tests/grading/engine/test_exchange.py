"""Collecting from nbgrader's exchange takes only plain files, and follows no links."""

import os
import shutil
import subprocess
import sys

import pytest
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError

from autograder.grading.engine import patches
from autograder.grading.engine.exchange import CollectPlainFiles, InboundFolder
from autograder.places import ROOT
from autograder.sandbox.inside.expect import ChangedLibrary
from tests.grading.term.made_course import COURSE_ID, FIRST, make_course

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
NOTEBOOK = f"{FIRST}.ipynb"
EARLY, LATE = "2026-10-05 11:00:00.5 UTC", "2026-10-06 11:00:00.5 UTC"


@pytest.fixture
def course(tmp_path):
    """A course directory with a gradebook, and an exchange where the learners own their folders."""
    course = make_course(tmp_path / "course")
    (tmp_path / "exchange" / COURSE_ID / "inbound").mkdir(parents=True)
    return course


@pytest.fixture
def inbound(course):
    return course.root.parent / "exchange" / COURSE_ID / "inbound"


@pytest.fixture(autouse=True)
def owners(monkeypatch):
    """Let folders belong to those in their names, except the ones listed here."""
    others = {}
    owner = property(lambda self: others.get(self.path.name, self.learner))
    monkeypatch.setattr(InboundFolder, "owner", owner)
    return others


def hand_in(inbound, learner, time=EARLY, text="", end=""):
    folder = inbound / f"{learner}+{FIRST}+{time}{end}"
    folder.mkdir()
    (folder / NOTEBOOK).write_text(text or f"{learner} {time}", encoding="utf-8")
    (folder / "timestamp.txt").write_text(time, encoding="utf-8")
    return folder


def collector(course, **options):
    directory = CourseDirectory(root=str(course.root), course_id=COURSE_ID, assignment_id=FIRST)
    directory.groupshared = options.pop("groupshared", False)
    root = str(course.root.parent / "exchange")
    return CollectPlainFiles(coursedir=directory, root=root, **options)


def collect(course, **options):
    """Collect, and return the submitted files with their contents."""
    collector(course, **options).start()
    return submitted(course)


def submitted(course):
    root = course.root / "submitted"
    found = {str(path.relative_to(root)): path for path in sorted(root.rglob("*"))}
    assert not [path for path in found.values() if path.is_symlink()]
    return {name: path.read_text() for name, path in found.items() if path.is_file()}


def of(learner, time=EARLY, **files):
    """Return a submission's files as they should be collected."""
    known = {NOTEBOOK: f"{learner} {time}", "timestamp.txt": time} | files
    return {f"{learner}/{FIRST}/{name}": text for name, text in known.items()}


def test_the_last_submission_of_each_is_collected(course, inbound):
    hand_in(inbound, "ada", EARLY)
    hand_in(inbound, "ada", LATE, end="+r4nd_m-x")
    hand_in(inbound, "a+b", EARLY, end="+r4nd_m-x")
    folder = hand_in(inbound, "zoe", "2026-10-05 13:00 +02:00")
    (folder / "data").mkdir()
    (folder / "data" / "a.txt").write_text("here")
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / NOTEBOOK).write_text("old")
    assert collect(course) == {
        **of("ada", LATE),
        **of("a+b"),
        **of("zoe", "2026-10-05 13:00 +02:00", **{"data/a.txt": "here"}),
    }


def test_with_a_due_date_the_last_one_before_it_is_collected(course, inbound):
    hand_in(inbound, "ada", EARLY)
    hand_in(inbound, "ada", LATE)
    hand_in(inbound, "zoe", LATE)
    assert collect(course, before_duedate=True) == of("ada", EARLY) | of("zoe", LATE)


def test_what_is_newer_replaces_what_is_there_only_when_asked(course, inbound, caplog):
    old = hand_in(inbound, "ada", EARLY)
    (old / "only-old.txt").write_text("old")
    collect(course)
    hand_in(inbound, "ada", LATE)
    assert collect(course) == of("ada", EARLY, **{"only-old.txt": "old"})
    assert collect(course, update=True) == of("ada", LATE)
    assert collect(course, update=True) == of("ada", LATE)


def test_one_learner_can_be_collected_alone(course, inbound):
    hand_in(inbound, "ada")
    hand_in(inbound, "zoe")
    one = collector(course)
    one.coursedir.student_id = "zoe"
    one.start()
    assert submitted(course) == of("zoe")


@pytest.mark.parametrize("target", ["gradebook.db", "course_secret.txt", "submitted/zoe/x.ipynb"])
@pytest.mark.parametrize("make", [os.symlink, os.link])
@pytest.mark.parametrize("name", ["mine.txt", NOTEBOOK])
def test_no_link_is_collected(course, inbound, caplog, target, make, name):
    secret = course.root / target
    secret.parent.mkdir(parents=True, exist_ok=True)
    secret.write_text("secret")
    hand_in(inbound, "ada")
    bad = hand_in(inbound, "bad")
    (bad / name).unlink(missing_ok=True)
    make(secret, bad / name)
    found = collect(course)
    assert "secret" not in {text for path, text in found.items() if path.startswith("bad")}
    assert of("ada").items() <= found.items()
    assert "bad handed in" in caplog.text and name in caplog.text


@pytest.mark.parametrize("target", ["/", "../../../course", "../ada"])
def test_no_linked_folder_is_collected(course, inbound, caplog, target):
    hand_in(inbound, "ada")
    bad = hand_in(inbound, "bad")
    (bad / "all").symlink_to(target)
    (inbound / f"worse+{FIRST}+{LATE}").symlink_to(target)
    with pytest.raises(ExchangeError, match=r"Not collected: worse .* is a link"):
        collect(course)
    assert submitted(course) == of("ada") | of("bad")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.mknod(path, 0o140600)])
@pytest.mark.parametrize("name", ["mine.txt", "timestamp.txt"])
def test_special_files_do_not_stop_collecting(course, inbound, make, name):
    hand_in(inbound, "ada")
    bad = hand_in(inbound, "bad")
    (bad / name).unlink(missing_ok=True)
    make(bad / name)
    assert collect(course) == of("ada") | of("bad")


def test_a_swarm_of_files_does_not_stop_collecting(course, inbound, caplog):
    bad = hand_in(inbound, "bad")
    (bad / "many").mkdir()
    for number in range(20_000):
        (bad / "many" / str(number)).touch()
    assert collect(course) == of("bad")
    assert "many holds too much" in caplog.text


@pytest.mark.parametrize("name", [b"caf\xe9", b"\xff", b"\xed\xa0\x80"])
def test_an_undecodable_name_does_not_stop_collecting(course, inbound, name):
    bad = hand_in(inbound, "bad")
    with open(os.fsencode(bad) + b"/" + name, "wb"):
        pass
    assert collect(course) == of("bad")


@pytest.mark.parametrize(
    "name",
    [
        *(f"bad+{FIRST}+{time}" for time in ("", "9999999999", f"{EARLY}x", "2026-02-30 10:00")),
        *(f"{name}+{FIRST}+{EARLY}" for name in ("", ".", "..", "a\nb", "\udcff")),
    ],
)
def test_a_strangely_named_folder_does_not_stop_collecting(course, inbound, caplog, name):
    hand_in(inbound, "ada")
    (inbound / name).mkdir()
    before = sorted(course.root.iterdir())
    assert collect(course) == of("ada")
    assert {*course.root.iterdir()} == {*before, course.root / "submitted"}
    assert "Left out, because nbgrader doesn't give such names" in caplog.text


def test_a_file_in_the_place_of_a_folder_costs_only_itself(course, inbound):
    hand_in(inbound, "zoe")
    (inbound / f"ada+{FIRST}+{LATE}").write_text("a file")
    with pytest.raises(ExchangeError, match="Not collected: ada"):
        collect(course)
    assert submitted(course) == of("zoe")


def test_nobody_can_hand_in_over_anothers_work(course, inbound, owners, caplog):
    hand_in(inbound, "ada", EARLY)
    owners[hand_in(inbound, "ada", LATE, text="forged").name] = "mallory"
    owners[hand_in(inbound, "zoe", LATE).name] = "jovyan"
    assert collect(course) == of("ada", EARLY) | of("zoe", LATE)
    assert f"ada+{FIRST}+{LATE} was submitted by mallory, and does not count" in caplog.text
    assert f"zoe+{FIRST}+{LATE} was submitted by jovyan. If" in caplog.text
    shutil.rmtree(course.root / "submitted")
    assert f"ada/{FIRST}/{NOTEBOOK}" in collect(course, check_owner=False)
    assert "forged" in submitted(course).values()


def test_a_group_can_share_what_is_collected(course, inbound):
    bad = hand_in(inbound, "ada")
    (bad / NOTEBOOK).chmod(0o4755)
    collect(course, groupshared=True)
    place = course.root / "submitted" / "ada" / FIRST
    assert place.stat().st_mode & 0o7777 & 0o2770 == 0o2770
    assert (place / NOTEBOOK).stat().st_mode & 0o7660 == 0o660


def test_an_empty_exchange_is_reported(course, inbound, caplog):
    assert collect(course) == {}
    assert f"Nobody has handed in {FIRST}" in caplog.text
    inbound.rmdir()
    with pytest.raises(ExchangeError):
        collect(course)


# What formgrader's button calls.
BUTTON = """
import sys
from nbgrader.apps import NbGraderAPI
from nbgrader.apps.baseapp import NbGrader

app = NbGrader()
app.initialize(sys.argv[2:])
print(NbGraderAPI(parent=app, coursedir=app.coursedir).collect(sys.argv[1]))
"""


@pytest.mark.parametrize("program", [["nbgrader", "collect"], [sys.executable, "-c", BUTTON]])
def test_the_command_and_formgrader_use_it(course, inbound, program):
    hand_in(inbound, "ada")
    (hand_in(inbound, "bad") / "mine.txt").symlink_to("/etc/hostname")
    places = f"--CourseDirectory.root={course.root}", f"--Exchange.root={inbound.parent.parent}"
    done = subprocess.run(
        [*program, FIRST, *places], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    )
    assert submitted(course) == of("ada") | of("bad")
    assert "Left out of what bad handed in: mine.txt is a link" in done.stdout + done.stderr


def test_a_new_nbgrader_without_what_it_needs_is_named(monkeypatch):
    monkeypatch.delattr(patches.ExchangeFactory, "collect")
    with pytest.raises(ChangedLibrary, match="has no collect"):
        patches.install(lambda folder: None)


def test_half_a_copy_is_not_collected(course, inbound):
    folder = hand_in(inbound, "ada")
    (folder / "timestamp.txt").unlink()
    hand_in(inbound, "zoe")
    assert collect(course) == of("zoe")
    os.utime(folder, (0, 0))  # but what never gets a time counts in the end
    assert f"ada/{FIRST}/{NOTEBOOK}" in collect(course)
