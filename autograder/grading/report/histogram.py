"""The distribution of marks: a histogram's bars, laid out for an SVG."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle

WIDTH, HEIGHT = 400, 180
LEFT, TOP, BOTTOM = 4, 22, 34
MOST_BARS, MOST_LABELS = 29, 16


@dataclass(frozen=True)
class Bar:
    """A bar and its position; `label` goes below it, if there is room for one."""

    marks: str
    count: int
    x: float
    y: float
    width: float
    height: float
    label: str = ""


@dataclass(frozen=True)
class Histogram:
    """Bars, the positions of the mean and the median on the same axis, and the alt text."""

    bars: list[Bar]
    mean_x: float
    median_x: float
    alt: str
    width: int = WIDTH
    height: int = HEIGHT
    ground: int = HEIGHT - BOTTOM


def histogram(marks: Sequence[float], most: float, mean: float, median: float) -> Histogram:
    """Lay out the marks from 0 to `most`, or to the best mark if extra credit exceeds it."""
    top = max([most, *marks, 1.0])
    step = _step(top)
    counts = Counter(int(mark / step) for mark in marks)
    bars = int(top / step) + 1
    pitch = (WIDTH - 2 * LEFT) / bars
    every = -(-bars // MOST_LABELS)
    highest = max(counts.values(), default=1)

    def bar(number: int) -> Bar:
        height = (HEIGHT - TOP - BOTTOM) * counts[number] / highest
        label = f"{number * step:g}" if number % every == 0 else ""
        x = LEFT + (number + 0.1) * pitch
        y = HEIGHT - BOTTOM - height
        return Bar(_range(number, step), counts[number], x, y, 0.8 * pitch, height, label)

    def place(mark: float) -> float:
        # If each mark has its own bar, the mark is at the bar's center.
        return LEFT + (mark / step + 0.5 * (step == 1)) * pitch

    drawn = [bar(number) for number in range(bars)]
    return Histogram(drawn, place(mean), place(median), _words(drawn, mean, median))


def _step(top: float) -> int:
    """Return the points per bar: the first of 1, 2, 5, 10, … that avoids too many bars."""
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
    parts = ", ".join(f"{bar.count} with {bar.marks}" for bar in bars if bar.count)
    return f"Histogram of grades: {parts}. Mean {mean:.1f}, median {median:g}."
