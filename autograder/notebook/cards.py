"""The cards of a learner's own calls: hints, predictions and progress."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from html import escape
from itertools import chain
from textwrap import indent
from types import EllipsisType

from autograder.judging.card import Card, colored, framed, headline, sign_of, solved
from autograder.judging.code_marks import Rendered, as_html, count, paragraph, points_of
from autograder.judging.prediction import Prediction
from autograder.judging.verdict import Verdict
from autograder.utils.palette import PARTLY, RIGHT

BUTTON = (
    "display:inline-block;border:1px solid #8888;border-radius:4px;padding:2px 12px;margin:2px 0;"
    "cursor:pointer"
)
Row = tuple[Rendered, str, float]  # of a table: its name, its state in words and as a share of all


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
    return framed(f"Hint {seen} of {len(hints)} for {exercise}", PARTLY, [*parts, paragraph(more)])


def prediction_card(prediction: Prediction, answer: str | float | EllipsisType) -> Card:
    """Show a prediction's choices, or what is right and why the answer is wrong."""
    if answer is ...:
        return _open_prediction(prediction)
    right = prediction.is_right(answer)
    if isinstance(prediction.right, str):
        title = prediction.chosen(answer)
        parts = _about(prediction, title)
    else:
        number = prediction.number(answer)
        title = f"{number:g}" if right else f"{number:g}, but it is {prediction.right:g}"
        parts = [paragraph(prediction.because)]
    return framed(f"{sign_of(right)} You predicted {title}", RIGHT if right else PARTLY, parts)


def _open_prediction(prediction: Prediction) -> Card:
    """Show the choices, each to be opened with a click, or the number in the same way."""
    letters = prediction.letters
    text = "\n".join(f"{letter}: {choice}" for letter, choice in letters.items())
    title, answer = "What number do you expect?", "your number"
    if letters:
        title, answer = "What do you expect? Click on your answer", "its letter in quotes"
    keep = f"To keep your answer, put {answer} where the dots are, and run the cell again."
    return framed(f"○ {title}", PARTLY, [(choices_html(prediction), text), paragraph(keep)])


def choices_html(prediction: Prediction) -> str:
    """Return a prediction's choices, each of which says when opened whether it is right.

    It needs no kernel and no script, so it works on the site, too.
    """
    if not prediction.choices:
        said = paragraph(f"{prediction.right}. {prediction.because}")[0]
        return _opened("Show the answer", said, prediction.name)
    opened = []
    for letter, choice in prediction.letters.items():
        sign = sign_of(choice == prediction.right)
        said = "".join(html for html, _ in _about(prediction, choice, f"{sign} "))
        opened.append(_opened(f"{letter}: {choice}", said, prediction.name))
    return "".join(opened)


def _about(prediction: Prediction, choice: str, sign: str = "") -> list[Rendered]:
    """Say what speaks for or against a choice, and what is right if it isn't."""
    said = [paragraph(f"{sign}{prediction.choices[choice]}")]
    if choice == prediction.right:
        return said
    right = str(prediction.right)
    return [*said, paragraph(f"The answer: {right}. {prediction.choices[right]}")]


def _opened(title: str, html: str, group: str) -> str:
    """Return a button that opens a text, and closes the others of its group."""
    return (
        f'<details name="{group}"><summary style="{BUTTON}">{as_html(title)}</summary>{html}'
        "</details>"
    )


def solution_card(verdict: Verdict, code: str) -> Card:
    """Show the verdict on a given-up exercise, with the course's solution folded below it."""
    folded = f"<details><summary>the course's solution</summary><pre>{escape(code)}</pre></details>"
    said = paragraph(verdict.sentence)
    return framed(f"○ {headline(verdict)}", PARTLY, [said, (folded, indent(code, "    "))])


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


def progress_card(
    lessons: dict[str, list[Progress]],
    predicted: dict[str, list[int | None]],
    opened: Collection[str],
    links: dict[str, Rendered],
) -> Card:
    """Show points by lesson, and by exercise for the lessons in `opened`.

    The sum is over the lessons begun: each notebook shows it, and no other lesson changes it.

    predicted: for each prediction of a lesson, 1 if right, 0 if wrong, None if not made yet.
    links: by lesson, its title, which leads to its notebook.
    """
    rows: list[Row] = []
    for lesson, asked in lessons.items():
        title_html, title = links[lesson]
        rows.append(((f"<b>{title_html}</b>", title), *_lesson_state(_exercises(asked))))
        if lesson in opened:
            rows += [
                (_below(f"{_progress_sign(one)} {one.exercise}"), *_state(one)) for one in asked
            ]
            rows += _predictions_state(predicted[lesson])
    html = "".join(
        f"<tr>{_cell(name[0])}{_cell(escape(state))}{_cell(_bar(share))}</tr>"
        for name, state, share in rows
    )
    text = "\n".join(f"  {name[1]}: {state}" for name, state, _ in rows)
    parts = [(f'<table style="border:0">{html}</table>', text)]
    left = [lesson for lesson, asked in lessons.items() if not _is_complete(asked)]
    complete = not {*opened} & {*left}
    if complete and left:
        html, text = links[left[0]]
        parts.append((f'<p style="margin:6px 0">Next: {html}</p>', f"Next: {text}"))
    title = _title(map(_exercises, lessons.values()))
    return framed(title, RIGHT if complete else PARTLY, parts)


def link(title: str, address: str) -> Rendered:
    """Return a title that leads to an address; "" leads nowhere."""
    return (f'<a href="{escape(address)}">{escape(title)}</a>' if address else escape(title)), title


def _title(lessons: Iterable[list[Progress]]) -> str:
    begun = [exercises for exercises in lessons if _is_begun(exercises)]
    if not begun:
        return "Nothing checked yet"
    points = points_of(*_sum_up(list(chain(*begun))))
    return f"{points} in {count(len(begun), 'lesson')}, each exercise as last checked"


def _below(name: str) -> Rendered:
    """Return the name of a row below its lesson's."""
    return f'<span style="padding-left:16px">{colored(name)}</span>', f"  {name}"


def _is_complete(asked: list[Progress]) -> bool:
    earned, total = _sum_up(_exercises(asked))
    return earned == total


def _is_begun(exercises: list[Progress]) -> bool:
    return any(exercise.points is not None for exercise in exercises)


def _exercises(asked: list[Progress]) -> list[Progress]:
    return [one for one in asked if not one.challenge]


def _lesson_state(exercises: list[Progress]) -> tuple[str, float]:
    """Return a lesson's points in words, and as a share of all."""
    earned, total = _sum_up(exercises)
    state = points_of(earned, total) if _is_begun(exercises) else "not started"
    return state, earned / total


def _state(exercise: Progress) -> tuple[str, float]:
    """Return an exercise's points in words, and as a share of all."""
    if exercise.points is None:
        return "a challenge" if exercise.challenge else "not checked yet", 0.0
    if exercise.challenge:
        done = exercise.points == exercise.most
        return f"a challenge, {solved(done, exercise.given_up)}", float(done)
    words = points_of(exercise.points, exercise.most)
    return words + (", given up" if exercise.given_up else ""), exercise.points / exercise.most


def _sum_up(exercises: list[Progress]) -> tuple[int, int]:
    return sum(e.points or 0 for e in exercises), sum(e.most for e in exercises)


def _predictions_state(predicted: list[int | None]) -> list[Row]:
    if not predicted:
        return []
    right, answered = predicted.count(1), len(predicted) - predicted.count(None)
    state = f"{right} right, of {answered} made" if answered else "none made yet"
    return [(_below(f"{len(predicted)} predictions"), state, right / len(predicted))]


def _progress_sign(exercise: Progress) -> str:
    is_done = exercise.points == exercise.most
    if exercise.points is None or exercise.given_up or (exercise.challenge and not is_done):
        return "○"
    return sign_of(is_done)


def _bar(share: float) -> str:
    """Draw a share of 1 as a bar, 100 pixels long."""
    parts = ((share, RIGHT), (1 - share, "#8884"))
    boxes = (
        f'<span style="display:inline-block;height:8px;width:{100 * size:.0f}px;'
        f'background:{color}"></span>'
        for size, color in parts
    )
    return f'<span style="white-space:nowrap">{"".join(boxes)}</span>'


def _cell(html: str) -> str:
    return f'<td style="text-align:left;padding:2px 16px 2px 0;border:0">{html}</td>'
