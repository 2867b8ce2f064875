"""The system calls that honest code makes in the sandbox, and those that are refused.

All lessons run with their solutions and with each alternative, then the programs of
`tests.sandbox.honest`, under strace (Debian, Ubuntu: apt install strace). What is refused here
and matters belongs in `autograder.sandbox.allowed_calls`. It takes half an hour.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from itertools import zip_longest
from pathlib import Path

from autograder.asking import QUESTIONS_VARIABLE
from autograder.asking.sending import encode_questions
from autograder.grading.worker.own_sandbox import QUESTIONS
from autograder.lessons.lesson import Lesson, lesson_names
from autograder.references.store import PUBLIC, load
from autograder.sandbox.allowed_calls import LEARNER
from autograder.sandbox.limits import Limits
from autograder.sandbox.sandbox import Cell, Sandbox
from tests.demo.made_up_class import SOLUTION, MadeUpSubmission
from tests.sandbox import honest

IMPORTS = ("torch", "keras", "matplotlib.pyplot", "autograder", "autograder.utils.plots")
LIMITS = Limits(cell_seconds=120.0, notebook_seconds=600.0)
FILTER = "PR_SET_SECCOMP"
CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+|\?)(?: (E\w+))?(?:.*?/\* (\d+) in strace's PID NS)?")
REFUSALS = {"ENOSYS", "EPERM", "EINVAL", "ENOTTY", "EAFNOSUPPORT", "EOPNOTSUPP"}


def report() -> None:
    """Print how often each call was made, and the arguments of refused ones."""
    if shutil.which("strace") is None:
        print("  not traced: strace is missing (Debian, Ubuntu: apt install strace)")
        return
    with tempfile.TemporaryDirectory() as folder:
        strace = ["strace", "-ff", "--decode-pids=pidns", "-e", "signal=none", "-o", f"{folder}/of"]
        subprocess.run([*strace, sys.executable, "-m", "tests.bench.calls"], check=True)
        made, refused = _count(_calls(Path(folder)))
    known = LEARNER.allowed | set(LEARNER.depending)
    for name, count in made.most_common():
        print(f"  {count:>9,} {name}{'' if name in known else ' (never allowed)'}")
    for (name, error), examples in sorted(refused.items()):
        print(f"  refused: {name} {error} {len(examples)} times, such as {examples[0][:100]}")


def run_everything() -> None:
    """Run everything to be traced."""
    with closing(Sandbox(IMPORTS, LIMITS, {QUESTIONS_VARIABLE: QUESTIONS})) as sandbox:
        for name in lesson_names():
            reference = load(PUBLIC / f"{name}.safetensors")
            files = {QUESTIONS: encode_questions(reference.questions.values())}
            for submission in _submissions(Lesson(name)):
                cells = submission.notebook(Lesson(name)).cells
                code = [cell.source for cell in cells if cell.cell_type == "code"]
                _run(sandbox, f"{name}, {submission.learner}", code, files)
        _run(sandbox, "honest programs", honest.cells(), {})


def _submissions(lesson: Lesson) -> Iterator[MadeUpSubmission]:
    """Make submissions with all solutions, with all first alternatives, and so on."""
    names = [exercise.name for exercise in lesson.exercises]
    columns = zip_longest(*(exercise.alternatives for exercise in lesson.exercises))
    yield MadeUpSubmission("solutions", dict.fromkeys(names, SOLUTION))
    for number, column in enumerate(columns, 1):
        answers = {name: variant or SOLUTION for name, variant in zip(names, column, strict=True)}
        yield MadeUpSubmission(f"alternatives {number}", answers)


def _run(sandbox: Sandbox, title: str, sources: list[str], files: dict[str, bytes]) -> None:
    run = sandbox.run([Cell(source, LIMITS.cell_seconds) for source in sources if source], files)
    outputs = [output for cell in run.cells for output in cell.outputs]
    errors = [f"{o.ename}: {o.evalue}"[:200] for o in outputs if o.output_type == "error"]
    print(f"  {title}:", run.stopped or errors or "no errors", flush=True)


def _calls(folder: Path) -> Iterator[re.Match]:
    """Yield the calls of all processes from the moment that the filter applies to them."""
    traces = {path.suffix[1:]: path for path in folder.glob("of.*")}
    children, filtered = defaultdict(list), []
    for pid, path in traces.items():
        with path.open(encoding="utf-8", errors="replace") as trace:
            for line in trace:
                if line.startswith(("clone", "fork", "vfork")) and (match := CALL.match(line)):
                    children[pid].append(match[5] or match[3])
                elif FILTER in line:
                    filtered.append(pid)
                    children[pid].clear()
    while filtered:
        pid = filtered.pop()
        filtered += children[pid]
        if pid in traces:
            yield from _after_filter(traces.pop(pid).read_text(errors="replace", encoding="utf-8"))


def _after_filter(trace: str) -> Iterator[re.Match]:
    for line in trace[max(trace.find(FILTER), 0) :].splitlines():
        if match := CALL.match(line):
            yield match


def _count(calls: Iterator[re.Match]) -> tuple[Counter, dict[tuple[str, str], list[str]]]:
    made, refused = Counter(), defaultdict(list)
    for call in calls:
        made[call[1]] += 1
        if call[4] in REFUSALS:
            refused[call[1], call[4]].append(call[2])
    return made, refused


if __name__ == "__main__":
    run_everything()
