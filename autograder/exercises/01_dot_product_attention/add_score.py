"""The largest score and the sum of exp(score - largest), with one more score."""

import torch
from torch import Tensor

from autograder.lessons.cases import Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.variants import Alternative, Mistake


def one_more(draw: Draw, score: Tensor) -> dict[str, Tensor]:
    """Two scores so far in each row, and one more, `score` above or below the larger one."""
    so_far = draw.normal("n 2")
    largest = so_far.amax(-1)
    return {
        "largest": largest,
        "total": (so_far - largest[:, None]).exp().sum(-1),
        "score": largest + score,
    }


def larger_score(draw: Draw) -> dict[str, Tensor]:
    draw.label("the new score is the largest")
    return one_more(draw, draw.uniform("n", 0.5, 2.0))


def smaller_score(draw: Draw) -> dict[str, Tensor]:
    draw.label("the new score is not the largest")
    return one_more(draw, -draw.uniform("n", 0.5, 2.0))


def far(gap: float) -> Inputs:
    """A score far above or below the largest of a thousand scores, or of two."""

    def case(draw: Draw) -> dict[str, Tensor]:
        draw.label(f"the new score is far {'above' if gap > 0 else 'below'} the largest")
        gaps = gap * torch.tensor([0.5, 1.0]).repeat(draw.size("n"))[: draw.size("n")]
        inputs = one_more(draw, gaps + draw.uniform("n", -1.0, 1.0))
        return inputs | {"total": inputs["total"] * (500 if gap > 0 else 1)}

    return case


def tied_score(draw: Draw) -> dict[str, Tensor]:
    draw.label("the new score is as large as the largest")
    return one_more(draw, torch.zeros(draw.size("n")))


def first_score(draw: Draw) -> dict[str, Tensor]:
    draw.label("the first score")
    nothing = torch.zeros(draw.size("n"))
    return {"largest": nothing - torch.inf, "total": nothing, "score": draw.normal("n")}


def shifted(make: Inputs, shift: float) -> Inputs:
    """A case whose scores are all larger or smaller by so much."""

    def case(draw: Draw) -> dict[str, Tensor]:
        inputs = make(draw)
        draw.label(f"{draw.name}, around {shift:,.0f}")
        return inputs | {name: inputs[name] + shift for name in ("largest", "score")}

    return case


def one_more_score(draw: Draw) -> dict[str, Tensor]:
    draw.label("scores")
    return one_more(draw, draw.normal("n"))


EXERCISE = Exercise(
    "add_score",
    challenge=True,
    returns="largest total",
    aspects=[
        Aspect("a score that is not the largest", 1, [tied_score, far(-12), smaller_score]),
        Aspect("a larger score", 1, [far(12), larger_score]),
        Aspect("the first score", 1, [shifted(first_score, -1e5), first_score]),
        Aspect("no overflow", 1, [shifted(one_more_score, -1e5), shifted(one_more_score, 500)]),
        connected(first_score, smaller_score),
    ],
    mistakes=[
        Mistake(
            "the old sum is not rescaled",
            "The old sum was made with the old maximum. When a larger score arrives, multiply the "
            "sum by e to the power of old maximum − new maximum.",
            {"* (largest - new_largest).exp()": ""},
        ),
        Mistake(
            "rescaled the other way",
            "You multiplied the old sum by e to the power of new maximum − old maximum. A larger "
            "maximum makes the old terms smaller, so it is the other way around.",
            {"largest - new_largest": "new_largest - largest"},
        ),
        Mistake(
            "the old maximum is subtracted from the new score",
            "You subtracted the old maximum from the new score. Subtract the new maximum, or a "
            "score that is far larger overflows.",
            {"score - new_largest": "score - largest"},
        ),
        Mistake(
            "the new term is always 1",
            "You added 1 for the new score. Only the largest score's own term is 1. A smaller "
            "score's term is e to the power of score − maximum.",
            "new_largest = torch.maximum(largest, score)\n"
            "return new_largest, total * (largest - new_largest).exp() + 1",
        ),
        Mistake(
            "the factors exchanged",
            "You exchanged the factors. The old sum is multiplied by e to the power of old maximum "
            "− new maximum, and the new term is e to the power of score − new maximum.",
            {"* (largest - new": "* (score - new", "+ (score - new": "+ (largest - new"},
        ),
        Mistake(
            "only a larger score counts",
            "A score that isn't the largest is left out. It has a term, too: e to the power of "
            "score − maximum.",
            "larger = score > largest\n"
            "rescaled = total * (largest - torch.maximum(largest, score)).exp()\n"
            "return torch.maximum(largest, score), torch.where(larger, rescaled + 1, total)",
        ),
        Mistake(
            "the new maximum written over the old",
            "The old sum has to be multiplied by e to the power of old maximum − new maximum. By "
            "then you have overwritten the old maximum. Give the new one a name of its own.",
            "largest = torch.maximum(largest, score)\n"
            "total = total * (largest - score).exp() + (score - largest).exp()\n"
            "return largest, total",
        ),
        Mistake(
            "the maximum stays",
            "Your largest score never changes. When a larger score arrives, it should become the "
            "new largest.",
            "return largest, total + (score - largest).exp()",
        ),
        Mistake(
            "nothing is subtracted",
            "You added exp(score), with no maximum subtracted. In float32, it overflows from about "
            "88.7 on.",
            "return torch.maximum(largest, score), total + score.exp()",
        ),
        Mistake(
            "one comparison for all rows",
            "You ask one question for all rows. Each row has a largest score of its own: compare "
            "element by element, with `torch.maximum`.",
            {"torch.maximum(largest, score)": "score if (score > largest).all() else largest"},
            {"torch.maximum(largest, score)": "score if (score > largest).any() else largest"},
        ),
    ],
    alternatives=[
        Alternative(
            "both terms in one sum",
            """
            pair = torch.stack([largest, score])
            new_largest = pair.amax(0)
            many = torch.stack([total, torch.ones_like(total)])
            return new_largest, (many * (pair - new_largest).exp()).sum(0)
            """,
            excuses={"another argument: total →": "only its shape and dtype are used"},
        ),
        Alternative(
            "one case for a larger score, one for others",
            """
            ratio = (largest - score).abs().neg().exp()
            larger = score > largest
            new_largest = torch.where(larger, score, largest)
            return new_largest, torch.where(larger, total * ratio + 1, total + ratio)
            """,
            excuses={
                "another comparison: score > largest → score >= largest": (
                    "of equal scores, either is the largest"
                ),
                "operands swapped: largest - score": "only the distance is used",
            },
        ),
        Alternative(
            "row by row",
            """
            rows = []
            for m, s, x in zip(largest, total, score, strict=True):
                new = x if x > m else m
                rows.append((new, s * torch.exp(m - new) + torch.exp(x - new)))
            return torch.stack([m for m, _ in rows]), torch.stack([s for _, s in rows])
            """,
            excuses={
                "another comparison: x > m → x >= m": "of equal scores, either is the largest",
            },
        ),
    ],
    hints=[
        "`torch.maximum(a, b)` takes the larger number of each pair. That is the new maximum.",
        "Each term of the old sum is e to the power of score − old maximum. By which factor must "
        "you multiply it to subtract the new maximum instead?",
        "e^(s − new) = e^(s − old) · e^(old − new), with the same factor for all old terms.",
    ],
    excuses={"arguments swapped: torch.maximum(": "the maximum of two is symmetric"},
)
