"""A stage for attacks: secrets to find, listeners to reach, and someone who watches.

One sandbox serves all attacks, one after another, as in a real run. Each attack is followed by an
honest submission.
"""

import contextlib
import json
import os
import re
import secrets
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import nbformat
import psutil
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from autograder.building.hidden import grading_reference
from autograder.grading.submission.blueprint import Blueprint, SourceCell
from autograder.grading.submission.folder import files_beside, read_submitted
from autograder.grading.worker import clerk
from autograder.grading.worker.graded_cells import VERDICT
from autograder.grading.worker.job import Graded, Job
from autograder.grading.worker.own_sandbox import AHEAD
from autograder.grading.worker.task import grade
from autograder.sandbox.limits import Limits
from tests.sandbox.hostile.attack import LESSON, POINTS, Attack, short_notebook
from tests.sandbox.hostile.shown import wrong_pages
from tests.support.processes import own_descendants, those
from tests.support.waiting import wait_until

LIMITS = Limits(
    cell_seconds=2.0,
    notebook_seconds=12.0,
    patience=3.0,
    memory_bytes=1 << 30,
    threads=80,
    open_files=256,
    scratch_bytes=64 << 20,
    cell_output_bytes=1 << 20,
)
CHECK_SECONDS = 3.0  # far more than an honest answer needs
CHECK_GRACE = 2.0  # seconds of processor time
MOST_BYTES = 12_000_000  # in the result
WAITING = 1 + 3 * AHEAD  # the warm process; keeper, supervisor and kernel of each next submission
MARK = "hostile-left-this"  # in the names of files that attacks write
OPEN = ("/tmp", "/dev/shm", "/var/tmp", "/", "/usr", "/etc", "/run", "/dev")
BUGS = {"NameError", "SyntaxError", "ImportError", "ModuleNotFoundError", "AttributeError"}
LOOK_AROUND = """
import json, numpy, os, sys, torch
for place in ("/tmp", "/dev/shm", "/dev/pts", "/scratch"):
    for folder, folders, files in os.walk(place):
        print(folder, folders, files)
        # Python may be mounted below.
        folders[:] = [f for f in folders if not os.path.ismount(os.path.join(folder, f))]
print(open("/proc/net/unix").read(), open("/proc/sysvipc/shm").read(), os.environ, sys.path)
same = not torch.allclose(torch.zeros(1), torch.ones(1)) and "hostile" not in sys.modules
same &= torch.zeros(1).exp().dtype == torch.float32 and json.dumps([]) == "[]"
same &= len([pid for pid in os.listdir("/proc") if pid.isdigit()]) == 2
print("everything is as it was" if same else "something is patched, or runs")
"""


@dataclass
class Happened:
    """The result of an attack."""

    attack: Attack
    graded: Graded
    seconds: float
    wrong: list[str]

    @property
    def points(self) -> dict[str, int]:
        return points_of(self.notebook)

    @property
    def notebook(self) -> NotebookNode:
        return nbformat.reads(self.graded.notebook, as_version=4)

    @property
    def in_words(self) -> str:
        """The result as a line for a table."""
        told = self.graded.reason or "ran to its end"
        return f"{sum(self.points.values())} points, {self.graded.outcome}: {told}"


class Stage:
    """A course with secrets, and listeners on this machine that nobody should reach."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder, self.home = folder, home
        self.secret = f"canary-{secrets.token_hex(8)}"
        os.environ["HOSTILE_CANARY"] = self.secret
        self.places = self._lay_secrets()
        self.reached: list[str] = []
        self.tcp, self.abstract = self._listen()
        self.course = _snapshot(folder)
        self.template = _template()
        self._grace, clerk.CHECK_GRACE = clerk.CHECK_GRACE, CHECK_GRACE

    @property
    def facts(self) -> dict[str, Any]:
        """What an attack is told about its machine."""
        return {
            "SECRETS": [str(path) for path in self.places],
            "OUTSIDE": [str(self.folder), str(self.home), str(Path.cwd()), *OPEN],
            "PORT": self.tcp.getsockname()[1],
            "ABSTRACT": self.abstract.getsockname(),
            "MARK": MARK,
        }

    def perform(self, attack: Attack) -> Happened:
        """Grade an attack, then an honest submission, and note everything that went wrong."""
        with tempfile.TemporaryDirectory() as folder:
            start = time.monotonic()
            graded = grade(self._job(attack, Path(folder)))
            seconds = time.monotonic() - start
        happened = Happened(attack, graded, seconds, [])
        happened.wrong += [*_wrong_result(happened, self.secret), *self._wrong_outside()]
        happened.wrong += [*self._wrong_next(attack), *wrong_pages(graded.notebook)]
        return happened

    def honest(self) -> Graded:
        """Grade a submission that has all answers right and looks around a little."""
        notebook = short_notebook(*POINTS)
        notebook.cells.append(new_code_cell(LOOK_AROUND))
        data = nbformat.writes(notebook).encode()
        return grade(replace(self.template, path="honest", data=data))

    def open_files(self) -> int:
        """Count the open files of this process and of its sandbox's warm process."""
        warm = those(_inside(), lambda p: p.parent().name() == "bwrap")
        return sum(process.num_fds() for process in [psutil.Process(), *warm])

    def close(self) -> None:
        self.tcp.close()
        self.abstract.close()
        for path in self.places:
            path.unlink(missing_ok=True)
        os.environ.pop("HOSTILE_CANARY", None)
        clerk.CHECK_GRACE = self._grace

    def _lay_secrets(self) -> list[Path]:
        in_home = [self.home / f".{self.secret[:10]}.txt"] if os.access(self.home, os.W_OK) else []
        places = [
            *in_home,
            self.folder / "gradebook.db",
            self.folder / "submitted" / "other" / LESSON.name / f"{LESSON.name}.ipynb",
            self.folder / "autograded" / "other" / LESSON.name / f"{LESSON.name}.ipynb",
            self.folder / "solutions" / f"{LESSON.name}.py",
            self.folder / "course_secret.txt",
        ]
        for path in places:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.secret, encoding="utf-8")
        return places

    def _listen(self) -> tuple[socket.socket, socket.socket]:
        tcp, abstract = socket.socket(), socket.socket(socket.AF_UNIX)
        tcp.bind(("127.0.0.1", 0))
        abstract.bind(f"\0{secrets.token_hex(8)}")
        for listener in (tcp, abstract):
            listener.listen()
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return tcp, abstract

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                listener.accept()
                self.reached.append(str(listener.getsockname()))

    def _job(self, attack: Attack, folder: Path) -> Job:
        path = folder / f"{LESSON.name}.ipynb"
        nbformat.write(attack.notebook(self.facts), path)
        if attack.lay:
            attack.lay(folder, self.facts)
        data, files = read_submitted(path), files_beside(folder)
        return replace(self.template, path=attack.name, data=data, files=files)

    def _wrong_outside(self) -> list[str]:
        wrong = [f"it reached {place}" for place in self.reached]
        self.reached.clear()
        if _snapshot(self.folder) != self.course:
            wrong.append("the course directory is not what it was")
        for place in {self.home, Path.cwd(), *map(Path, OPEN)}:
            found = [path.name for path in place.glob(f"*{MARK}*")]
            wrong += [f"it left {name} in {place}" for name in found]
        return wrong

    def _wrong_next(self, attack: Attack) -> list[str]:
        graded = self.honest()
        notebook = nbformat.reads(graded.notebook, as_version=4)
        points = points_of(notebook)
        wrong = [] if graded.outcome == "graded" else [f"the next failed: {graded.reason}"]
        if points != POINTS:
            wrong.append(f"the next got {points}")
        said = "\n".join(_said(notebook))
        if MARK in said or "everything is as it was" not in said:
            wrong.append(f"the next found this: {said}")
        wait_until(
            lambda: len(_inside()) <= WAITING,
            f"{attack.name}: processes are left in the sandbox",
        )
        return wrong


def points_of(notebook: NotebookNode) -> dict[str, int]:
    """Return the points of each exercise, as the judge wrote them into a notebook."""
    verdicts = [c.metadata[VERDICT] for c in notebook.cells if VERDICT in c.metadata]
    return {verdict["exercise"]: verdict["points"] for verdict in verdicts}


def _wrong_result(happened: Happened, secret: str) -> Iterator[str]:
    attack, graded = happened.attack, happened.graded
    if happened.points != attack.points:
        yield f"it earned {happened.points}"
    if secret.encode() in graded.notebook or secret in graded.reason:
        yield "it read a secret"
    text = "\n".join([graded.reason, *_said(happened.notebook)])
    if "HELD NOT: " in text:
        yield "a wall let it through: " + text.split("HELD NOT: ")[1][:300]
    if len(graded.notebook) > MOST_BYTES:
        yield f"{len(graded.notebook):,} bytes came back"
    if attack.outcome and graded.outcome != attack.outcome:
        yield f"its outcome is {graded.outcome} ({graded.reason})"
    if not re.search(attack.told, text):
        yield f"it says {text[-1500:]!r}, and not {attack.told!r}"
    yield from _malformed(happened)


def _malformed(happened: Happened) -> Iterator[str]:
    """Yield whatever would trouble readers of the graded notebook."""
    notebook = happened.notebook
    try:
        json.dumps(notebook, allow_nan=False)
        happened.graded.notebook.decode()
        nbformat.validate(notebook)
    except ValueError as error:
        yield f"the notebook is not valid: {error}"
    except nbformat.ValidationError as error:
        yield f"the notebook is not valid: {str(error)[:300]}"
    names = {o.ename for c in notebook.cells for o in c.get("outputs", []) if "ename" in o}
    if names & BUGS and not names & BUGS & {happened.attack.told}:
        yield f"the attack itself is broken: {names & BUGS}"


def _said(notebook: NotebookNode) -> Iterator[str]:
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            yield str(output.get("text", ""))
            yield f"{output.get('ename', '')}: {output.get('evalue', '')}"
            yield str(output.get("data", {}).get("text/plain", ""))


def _snapshot(folder: Path) -> dict[str, tuple]:
    """Return every file below a folder, with facts that reveal whether it was touched."""
    found = {}
    for path in [folder, *folder.rglob("*")]:
        about = path.lstat()
        found[str(path)] = (about.st_mode, about.st_uid, about.st_size, about.st_mtime_ns)
    return found


def _inside() -> list[psutil.Process]:
    """List the processes in the sandbox."""
    return those(own_descendants(), lambda p: "inside.warm" in p.cmdline()[:4])


def _template() -> Job:
    """Make the job of grading the short lesson."""
    reference = grading_reference(LESSON.name, "stage")
    questions = {name: replace(q, seconds=CHECK_SECONDS) for name, q in reference.questions.items()}
    cells = [cell for cell in short_notebook().cells if "nbgrader" in cell.metadata]
    return Job(
        path="",
        blueprint=Blueprint([_source_cell(cell) for cell in cells]),
        reference=replace(reference, questions=questions).to_bytes(),
        imports=("torch", "jaxtyping", "autograder", "numpy"),
        limits=LIMITS,
    )


def _source_cell(cell: NotebookNode) -> SourceCell:
    facts = cell.metadata.nbgrader
    return SourceCell(
        name=facts.grade_id,
        cell_type=cell.cell_type,
        source=cell.source,
        locked=facts.locked,
        grade=facts.grade,
        solution=facts.solution,
        task=facts.task,
        points=facts.get("points"),
        checksum=facts.checksum,
    )
