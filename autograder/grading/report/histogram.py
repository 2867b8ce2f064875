"""The distribution of grades: a histogram's bars, for `page.css` to draw."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle

MOST_BARS, MOST_LABELS = 29, 16


@dataclass(frozen=True)
class Bar:
    """A bar: how many have which grades, and its height in percent of the highest.

    label: the text below it, if there is room.
    """

    grades: str
    count: int
    height: float
    label: str = ""


@dataclass(frozen=True)
class Histogram:
    """Bars of equal width, the positions of mean and median in percent, and the alt text."""

    bars: list[Bar]
    mean: float
    median: float
    alt: str


def histogram(grades: Sequence[float], most: float, mean: float, median: float) -> Histogram:
    """Count the grades from 0 to `most`, or to the best grade if extra credit exceeds it."""
    top = max([most, *grades, 1.0])
    step = _step(top)
    counts = Counter(int(grade / step) for grade in grades)
    width = int(top / step) + 1
    every = -(-width // MOST_LABELS)
    highest = max(counts.values(), default=1)

    def bar(number: int) -> Bar:
        label = f"{number * step:g}" if number % every == 0 else ""
        return Bar(_range(number, step), counts[number], 100 * counts[number] / highest, label)

    def place(grade: float) -> float:
        # If each grade has its own bar, the grade is at the bar's center.
        return 100 * (grade / step + 0.5 * (step == 1)) / width

    bars = [bar(number) for number in range(width)]
    return Histogram(bars, place(mean), place(median), _words(bars, mean, median))


def _step(top: float) -> int:
    """Return the points per bar: the first of 1, 2, 5, 10, … that doesn't make too many bars."""
    step = 1
    for factor in cycle((2, 2.5, 2)):
        if int(top / step) < MOST_BARS:
            return step
        step = int(step * factor)
    return step


def _range(number: int, step: int) -> str:
    first = number * step
    return f"{first:g}" if step == 1 else f"{first:g} to {first + step:g}"


def _words(bars: Sequence[Bar], mean: float, median: float) -> str:
    parts = ", ".join(f"{bar.count} with {bar.grades}" for bar in bars if bar.count)
    return f"Histogram of grades: {parts}. Mean {mean:.1f}, median {median:g}."
