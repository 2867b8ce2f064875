"""A confined process: what it may do, what ends it, and what the message says then."""

import ctypes
import os
import signal
import socket
import sys
import time
from pathlib import Path

import psutil
import pytest
import torch

from autograder.places import ROOT
from autograder.sandbox import seccomp
from autograder.sandbox.confined import Bounds, Unfinished, confined
from autograder.sandbox.inside import namespaces
from autograder.sandbox.walls import CODE
from tests.support.processes import descendants

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="its limits are Linux's")
BRIEF = Bounds(seconds=1, patience=60)


def tried(action):
    """Say what happens to an action in a confined process."""

    def work(ask):
        try:
            return [repr(action()).encode()]
        except Exception as error:
            return [type(error).__name__.encode()]

    return confined(work)[0].decode()


def test_it_computes_and_answers():
    assert confined(lambda ask: [b"one", b"", b"three"]) == [b"one", b"", b"three"]
    assert tried(lambda: (torch.ones(300, 300) @ torch.ones(300, 300)).sum().item()) == "27000000.0"


def test_it_asks_and_is_answered():
    def work(ask):
        first, second = ask({"a": 1}), ask({"b": [2]})
        return [*first, *second]

    def serve(question):
        yield repr(question).encode()
        yield b"x" * 300_000

    parts = confined(work, serve)
    assert parts[::2] == [b"{'a': 1}", b"{'b': [2]}"]
    assert [len(part) for part in parts[1::2]] == [300_000] * 2


def test_what_it_imports_late_is_there():
    assert tried(lambda: __import__("html.parser").__name__) == "'html'"
    page = "autograder.grading.feedback.feedback_page"
    assert tried(lambda: __import__(page).__name__) == "'autograder'"


def test_it_sees_no_files_but_the_programs(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("canary", encoding="utf-8")
    for path in (secret, ROOT / "README.md", ROOT / "solutions", Path("/etc/passwd")):
        assert tried(path.exists) == "False", path
    assert tried((ROOT / "autograder").exists) == "True"
    same = os.path.samefile("/bin", "/usr/bin")  # many systems have a link there
    assert tried(lambda: os.path.samefile("/bin", "/usr/bin")) == repr(same)


def test_programs_may_be_inside_others(monkeypatch):
    inner = str(ROOT / "autograder" / "asking")
    monkeypatch.setattr("autograder.sandbox.walls.CODE", (*CODE, inner))
    assert tried(Path(inner).exists) == "True"


@pytest.mark.parametrize("folder", ["/", "/tmp", str(ROOT / "autograder")])
def test_it_writes_nothing(folder):
    path = Path(folder, "written-by-a-confined-process")
    with pytest.raises(Unfinished, match=r"SIGXFSZ|Error"):
        confined(lambda ask: [str(path.write_bytes(bytes(10_000))).encode()])
    assert not path.exists() or not path.stat().st_size
    path.unlink(missing_ok=True)


def test_it_has_no_network():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        said = tried(lambda: socket.create_connection(("127.0.0.1", port), timeout=5))
    assert said in ("OSError", "PermissionError")


def test_a_wall_that_can_not_be_put_up_is_an_error():
    with pytest.raises(OSError, match="prctl: "):
        namespaces.load_filter(b"")


def test_no_file_of_the_grader_is_open_in_it():
    with open(__file__, "rb") as file:
        assert tried(lambda: os.fstat(file.fileno())) == "OSError"


def test_an_error_is_reported_with_its_place():
    with pytest.raises(
        Unfinished, match=r"ZeroDivisionError.*test_confined.py, line \d+"
    ) as caught:
        confined(lambda ask: 1 / 0)
    assert not caught.value.doubtful


def spin():
    while True:
        pass


@pytest.mark.parametrize(
    ("action", "bounds", "said", "doubtful"),
    [
        (spin, BRIEF, "more than 1 seconds of processor time", False),
        (lambda: time.sleep(60), Bounds(seconds=1, patience=0.5), "more than 0.5 seconds", True),
        (lambda: bytes(3 << 30), Bounds(memory_bytes=1 << 30), "more than 1 GB of memory", False),
        (lambda: torch.ones(1 << 29), Bounds(memory_bytes=1 << 30), "RuntimeError", False),
        (lambda: os.kill(os.getpid(), signal.SIGTERM), BRIEF, "PermissionError", False),
        (lambda: ctypes.string_at(8), BRIEF, "SIGSEGV", True),
        (lambda: os._exit(3), BRIEF, "exit status 3", False),
    ],
    ids=["time", "waiting", "memory", "memory in torch", "a signal", "crashed", "exit"],
)
def test_what_ends_it_is_reported(action, bounds, said, doubtful):
    with pytest.raises(Unfinished, match=said) as caught:
        confined(lambda ask: [repr(action()).encode()], bounds=bounds)
    assert caught.value.doubtful is doubtful


@pytest.mark.parametrize(
    "work",
    [lambda ask: [bytes(2000)], lambda ask: [bytes(600)] * 2, lambda ask: ask({"a": "x" * 2000})],
    ids=["one part", "several", "a question"],
)
def test_it_may_not_send_too_much(work):
    with pytest.raises(Unfinished, match="more than is allowed"):
        confined(work, lambda question: [], Bounds(sent_bytes=1000))


def test_a_question_that_nobody_answers_ends_it():
    with pytest.raises(Unfinished, match="sent what is no message"):
        confined(lambda ask: ask({}), bounds=Bounds(seconds=1, patience=5))


def test_an_error_here_ends_it():
    def serve(question):
        raise KeyError("no such cell")

    before = descendants(os.getpid())
    with pytest.raises(KeyError, match="no such cell"):
        confined(lambda ask: ask({}), serve)
    assert set(descendants(os.getpid())) <= set(before)


def test_the_machine_may_be_to_blame_for_a_kill(monkeypatch):
    monkeypatch.setattr(seccomp, "is_known", lambda: False)  # or it could not kill itself
    with pytest.raises(Unfinished, match="SIGKILL") as caught:
        confined(lambda ask: os.kill(os.getpid(), signal.SIGKILL))
    assert caught.value.doubtful


def test_nothing_is_left():
    confined(lambda ask: [b""])
    files, processes = psutil.Process().num_fds(), descendants(os.getpid())
    for _ in range(5):
        confined(lambda ask: [b""])
    assert psutil.Process().num_fds() == files
    assert set(descendants(os.getpid())) <= set(processes)
