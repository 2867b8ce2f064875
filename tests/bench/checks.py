"""How long the machinery takes: importing it, and one check of each exercise."""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial

from tqdm import tqdm

from autograder.asking.collect import collect
from autograder.judging.card import verdict_card
from autograder.judging.judge import judge
from autograder.lessons.exercise import Exercise
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


def check_times() -> Iterator[tuple[str, float, float]]:
    """Yield each exercise, the median seconds of a whole check of its solution, and `_share`."""
    for lesson in map(Lesson, lesson_names()):
        namespace = lesson.namespace()
        for exercise in lesson.asked.values():
            answer = namespace[exercise.name]
            median = statistics.median(seconds(partial(_check, answer)))
            yield exercise.name, median, _share(lesson, exercise)


def _share(lesson: Lesson, exercise: Exercise) -> float:
    """How much of its limit the slowest known right answer takes."""
    answers = [lesson.namespace({exercise.name: way}) for way in exercise.alternatives]
    slowest = max(max(seconds(partial(_check, a[exercise.name]), runs=1)) for a in answers)
    return slowest / exercise.seconds


def _check(answer: Callable) -> str:
    """Check an answer as `check` does, without showing the card."""
    name = answer.__name__
    reference = course.find(name)
    verdict = judge(reference.keys[name], collect(answer, reference.questions[name]))
    return verdict_card(verdict).html


def report() -> None:
    """Print the times and their goals."""
    print(f"import autograder adds {import_cost():.2f} s to import torch (aim: at most 0.3 s)")
    print("a check takes (aim: at most 0.1 s), and the slowest right answer, of its limit (10 %):")
    for name, median, share in check_times():
        print(f"  {name:<28} {median * 1000:7.1f} ms  {share:6.1%}")
