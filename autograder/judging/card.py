"""Show a verdict as a card: HTML for the notebook, the same in plain text elsewhere."""

from collections.abc import Collection
from dataclasses import dataclass
from html import escape
from types import EllipsisType

from autograder.judging.code_marks import Part, paragraph
from autograder.judging.exhibit_tables import exhibit_part
from autograder.judging.prediction import Prediction
from autograder.judging.verdict import Verdict
from autograder.utils.palette import PARTLY, RIGHT, WRONG

# Colors of the bar on the left; the text keeps the page's color, light or dark.
SIGNS = {"✓": RIGHT, "✗": WRONG, "○": PARTLY}


class Card:
    """Something to show, as HTML and as text that says the same."""

    def __init__(self, html: str, text: str) -> None:
        self.html, self.text = html, text

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text


def verdict_card(verdict: Verdict) -> Card:
    """Return the card for one verdict."""
    if not verdict.answered:
        return _frame(
            f"○ {verdict.exercise}: not answered yet", PARTLY, [paragraph(verdict.sentence)]
        )
    if verdict.given_up:
        return _frame(f"○ {headline(verdict)}", PARTLY, [paragraph(verdict.sentence)])
    color = RIGHT if verdict.passed else PARTLY if verdict.points else WRONG
    parts = [_aspects(verdict)]
    if verdict.sentence:
        parts.append(paragraph(verdict.sentence))
    if verdict.exhibit:
        parts.append(exhibit_part(verdict.exhibit))
        if not verdict.exhibit.hidden:
            call = f'failing_case("{verdict.exercise}")'
            parts.append(paragraph(f"`{call}` gives you this case, to try it again."))
    if verdict.printed:
        parts.append(paragraph(f"(Your code printed {_lines(verdict.printed)}, left out here.)"))
    return _frame(f"{_sign(verdict.passed)} {headline(verdict)}", color, parts)


def note_card(title: str, sentence: str) -> Card:
    """Return a card that says one thing, and judges nothing."""
    return _frame(f"○ {title}", PARTLY, [paragraph(sentence)])


def headline(verdict: Verdict) -> str:
    """Return one line with the exercise and its points, or whether a challenge is solved."""
    if not verdict.answered:
        return f"{verdict.exercise}: not answered yet"
    if verdict.challenge:
        return f"{verdict.exercise}: {_solved(verdict.passed, verdict.given_up)}"
    if verdict.given_up:
        return f"{verdict.exercise}: given up, 0 of {verdict.max_points} points"
    return f"{verdict.exercise}: {count_points(verdict.points, verdict.max_points)}"


def _solved(passed: bool, given_up: bool) -> str:
    return "given up" if given_up else "solved" if passed else "not solved yet"


def count_points(points: float, of: float) -> str:
    return f"{points:g} of {of:g} {'point' if of == 1 else 'points'}"


def hint_card(exercise: str, hints: list[str], seen: int, points: bool = True) -> Card:
    """Show the first `seen` hints of an exercise. points: whether it has any to lose."""
    parts = [paragraph(f"{i}. {hint}") for i, hint in enumerate(hints[:seen], start=1)]
    left = len(hints) - seen
    more = f"Run the cell again for another ({left} left)."
    if not left:
        price = "You get no points for it, and the" if points else "The"
        more = (
            f'That was the last hint. To move on, put `give_up("{exercise}")` above its check. '
            f"{price} rest of the notebook uses the course's solution."
        )
    return _frame(f"Hint {seen} of {len(hints)} for {exercise}", PARTLY, [*parts, paragraph(more)])


@dataclass(frozen=True)
class Progress:
    """A learner's progress on one exercise.

    points: None before the first check.
    challenge: whether it is optional, so that its points don't count.
    """

    exercise: str
    points: int | None
    most: int
    given_up: bool = False
    challenge: bool = False


def prediction_card(prediction: Prediction, answer: str | float | EllipsisType) -> Card:
    """Show a prediction's choices, or what is right and why the answer is wrong."""
    if answer is ...:
        return _open_prediction(prediction)
    right = prediction.is_right(answer)
    parts = []
    if isinstance(prediction.right, str):
        chosen = prediction.chosen(answer)
        title = f"{answer}: {chosen}"
        parts.append(paragraph(prediction.choices[chosen]))
        if not right:
            said = prediction.choices[prediction.right]
            parts.append(paragraph(f"The answer: {prediction.right}. {said}"))
    else:
        title = f"{answer:g}" if right else f"{answer:g}, but it is {prediction.right:g}"
        parts.append(paragraph(prediction.because))
    return _frame(f"{_sign(right)} You predicted {title}", RIGHT if right else PARTLY, parts)


def _open_prediction(prediction: Prediction) -> Card:
    choices = [paragraph(f"{letter}: {text}") for letter, text in prediction.letters.items()]
    what = "a letter" if choices else "a number"
    return _frame(f"○ Put {what} where the dots are, and run the cell again", PARTLY, choices)


def progress_card(
    lessons: dict[str, list[Progress]],
    predicted: dict[str, list[int | None]],
    opened: Collection[str],
) -> Card:
    """Show the course's points by lesson, and by exercise for the lessons in `opened`.

    predicted: for each prediction of a lesson, 1 if right, 0 if wrong, None if not made yet.
    """
    rows: list[tuple[str, str, float]] = []
    for lesson, asked in lessons.items():
        rows.append((lesson.replace("_", " "), *_lesson_state(_exercises(asked))))
        if lesson in opened:
            rows += [(f"{_progress_sign(one)} {one.exercise}", *_state(one)) for one in asked]
            rows += _predictions_state(predicted[lesson])
    earned, total = _sum_up([one for asked in lessons.values() for one in _exercises(asked)])
    html = "".join(
        f"<tr>{_cell(_colored(name))}{_cell(escape(state))}{_cell(_bar(share))}</tr>"
        for name, state, share in rows
    )
    text = "\n".join(f"  {name}: {state}" for name, state, _ in rows)
    title = f"{count_points(earned, total)} so far"
    color = RIGHT if earned == total else PARTLY
    return _frame(title, color, [(f'<table style="border:0">{html}</table>', text)])


# ---------------------------------------------------------------- parts: (html, text)


def _frame(title: str, color: str, parts: list[Part]) -> Card:
    body = "".join(html for html, _ in parts)
    html = (
        f'<div style="border-left:4px solid {color};padding:4px 12px;margin:4px 0">'
        f'<div style="font-weight:bold">{_colored(title)}</div>{body}</div>'
    )
    return Card(html, "\n".join([title, *(text for _, text in parts)]))


def _aspects(verdict: Verdict) -> Part:
    lines = [
        f"{_sign(aspect.held)} {aspect.name}" + f" ({aspect.points})" * (not verdict.challenge)
        for aspect in verdict.aspects
    ]
    items = "".join(f"<li>{_colored(line)}</li>" for line in lines)
    html = f'<ul style="list-style:none;padding-left:0;margin:4px 0">{items}</ul>'
    return html, "\n".join(f"  {line}" for line in lines)


def _sign(good: bool) -> str:
    return "✓" if good else "✗"


def _colored(line: str) -> str:
    """Escape a line as HTML, and color the sign that it begins with, if any."""
    sign, rest = line[:1], line[1:]
    if sign not in SIGNS:
        return escape(line)
    return f'<b style="color:{SIGNS[sign]}">{sign}</b>{escape(rest)}'


def _exercises(asked: list[Progress]) -> list[Progress]:
    return [one for one in asked if not one.challenge]


def _lesson_state(exercises: list[Progress]) -> tuple[str, float]:
    """Return a lesson's points in words, and as a share of all."""
    earned, total = _sum_up(exercises)
    started = any(exercise.points is not None for exercise in exercises)
    return (count_points(earned, total) if started else "not started"), earned / total


def _state(exercise: Progress) -> tuple[str, float]:
    """Return an exercise's points in words, and as a share of all."""
    if exercise.points is None:
        return "a challenge" if exercise.challenge else "not checked yet", 0.0
    if exercise.challenge:
        solved = exercise.points == exercise.most
        return f"a challenge, {_solved(solved, exercise.given_up)}", float(solved)
    words = count_points(exercise.points, exercise.most)
    return words + (", given up" if exercise.given_up else ""), exercise.points / exercise.most


def _sum_up(exercises: list[Progress]) -> tuple[int, int]:
    return sum(e.points or 0 for e in exercises), sum(e.most for e in exercises)


def _predictions_state(predicted: list[int | None]) -> list[tuple[str, str, float]]:
    if not predicted:
        return []
    right, answered = predicted.count(1), len(predicted) - predicted.count(None)
    state = f"{right} right, of {answered} made" if answered else "none made yet"
    return [(f"{len(predicted)} predictions", state, right / len(predicted))]


def _progress_sign(exercise: Progress) -> str:
    is_done = exercise.points == exercise.most
    if exercise.points is None or exercise.given_up or (exercise.challenge and not is_done):
        return "○"
    return _sign(is_done)


def _bar(share: float) -> str:
    """Draw a share of 1 as a bar, 100 pixels long."""
    parts = ((share, RIGHT), (1 - share, "#8884"))
    boxes = (
        f'<span style="display:inline-block;height:8px;width:{100 * size:.0f}px;'
        f'background:{color}"></span>'
        for size, color in parts
    )
    return f'<span style="white-space:nowrap">{"".join(boxes)}</span>'


def _lines(number: int) -> str:
    return f"{number:,} line{'s' if number != 1 else ''}"


def _cell(html: str) -> str:
    return f'<td style="text-align:left;padding:2px 16px 2px 0;border:0">{html}</td>'
