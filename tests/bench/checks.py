"""How long the machinery takes: importing it, and one check of each exercise."""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from tqdm import tqdm

from autograder.asking.collect import collect
from autograder.judging.card import verdict_card
from autograder.judging.judge import judge
from autograder.lessons.lesson import Lesson, lesson_names
from autograder.references import store as course

RUNS = 7


def seconds(action: Callable[[], object], runs: int = RUNS) -> list[float]:
    """Return the wall times of `runs` calls, after one that does not count."""
    action()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return times


def import_cost() -> float:
    """Measure the median seconds that `import autograder` adds to `import torch`."""

    def fresh(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - start

    fresh("import torch, autograder")
    pairs = tqdm(range(RUNS), desc="imports", disable=None)
    extra = [fresh("import torch, autograder") - fresh("import torch") for _ in pairs]
    return statistics.median(extra)


def check_times() -> dict[str, float]:
    """Measure the median seconds of a whole check of the solution, by exercise."""
    times = {}
    for lesson in map(Lesson, lesson_names()):
        namespace = lesson.namespace()
        for name in lesson.asked:
            answer = namespace[name]
            times[name] = statistics.median(seconds(lambda answer=answer: _check(answer)))
    return times


def _check(answer: Callable) -> str:
    """Check an answer as `check` does, without showing the card."""
    name = answer.__name__
    reference = course.find(name)
    verdict = judge(reference.keys[name], collect(answer, reference.questions[name]))
    return verdict_card(verdict).html


def report() -> None:
    """Print the times and their goals."""
    print(f"import autograder adds {import_cost():.2f} s to import torch (aim: at most 0.3 s)")
    print("a check takes (aim: at most 0.1 s):")
    for name, median in check_times().items():
        print(f"  {name:<24} {median * 1000:6.1f} ms")
