"""What the decoder reads: the target one place back, the last source point in front."""

from collections.abc import Callable

from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake


def squares(draw: Draw) -> dict:
    return {"sequence": draw.fix(n=4, d=2).normal("batch n d"), "n_source": 2}


def whole_sequences(**sizes: int) -> Callable[[Draw], dict]:
    def case(draw: Draw) -> dict:
        n_source, n_target = draw.fix(**sizes).size("n_source"), draw.size("n_target")
        draw.fix(n=n_source + n_target)
        if draw.same > 1:
            draw.fix(batch=draw.size("n"), d=draw.size("n"))
        return {"sequence": draw.normal("batch n d"), "n_source": n_source}

    return case


EXERCISE = Exercise(
    "shift_target",
    returns="shifted_target",
    also=(*SIZES, Form.DOUBLE, *CALLS),  # what it shifts is data: no gradient flows there
    aspects=[
        Aspect("squares: two corners given", 1, [squares]),
        Aspect(
            "any number of points",
            1,
            [whole_sequences(n_source=1), whole_sequences(n_target=1), whole_sequences()],
        ),
    ],
    mistakes=[
        Mistake(
            "target not shifted",
            "This is the target itself. At each place the decoder would read what it should write "
            "there, and learn to copy. Shift it back by one place.",
            {"n_source - 1 : -1": "n_source:"},
        ),
        Mistake(
            "shifted too far",
            "You shifted one place too far: the decoder starts from the last source point, not "
            "from the one before it.",
            {"n_source - 1 : -1": "max(n_source - 2, 0) : -2"},
        ),
        Mistake(
            "the source",
            "This is the source, which the encoder reads. The decoder reads the target, shifted "
            "back by one place.",
            {"n_source - 1 : -1": ":n_source"},
        ),
        Mistake(
            "last point included",
            "One point too many: the last point is written, never read.",
            {"n_source - 1 : -1": "n_source - 1 :"},
        ),
        Mistake(
            "everything but the last",
            "Only the last source point belongs in front, not the whole source.",
            {"n_source - 1 : -1": ":-1"},
        ),
        Mistake(
            "start point missing",
            "One point too few: the last source point belongs in front, since the first "
            "output is made from it.",
            {"n_source - 1 : -1": "n_source:-1"},
        ),
        Mistake(
            "first source point in front",
            "You put the first source point in front. It should be the last one, which comes "
            "right before the target.",
            "return torch.cat([sequence[:, :1], sequence[:, n_source:-1]], dim=1)",
        ),
        Mistake(
            "zeros in front",
            "You put zeros in front. Many models start from a special point; here the last source "
            "point does that job.",
            """
            target = sequence[:, n_source:]
            return torch.cat([torch.zeros_like(target[:, :1]), target[:, :-1]], dim=1)
            """,
        ),
        Mistake(
            "rolled round",
            "`roll` wraps the last point of the target around to the front, which gives the "
            "answer away. The last source point belongs there.",
            {"sequence[:, n_source - 1 : -1]": "sequence[:, n_source:].roll(1, 1)"},
        ),
        Mistake(
            "sequences instead of points",
            "You sliced along the batch. Points are dimension 1: `sequence[:, …]`.",
            {"[:, n_source - 1 : -1]": "[n_source - 1 : -1]"},
        ),
    ],
    alternatives=[
        Alternative(
            "last source point and target",
            """
            source, target = sequence[:, :n_source], sequence[:, n_source:]
            return torch.cat([source[:, -1:], target[:, :-1]], dim=1)
            """,
            excuses={"detached:": "what it shifts is data: no gradient flows there"},
        ),
        Alternative(
            "narrow", "return sequence.narrow(1, n_source - 1, sequence.shape[1] - n_source)"
        ),
        Alternative(
            "by index",
            """
            places = torch.arange(n_source, sequence.shape[1])
            return sequence[:, places - 1]
            """,
        ),
    ],
    hints=[
        "For squares the decoder reads corners 2 and 3. Which places are these, counted from 0?",
        "Start at the last source point, and leave out the last point of the sequence.",
        "A slice along dimension 1 does it; a negative end counts from the end.",
    ],
    excuses={
        "result detached": "what it shifts is data: no gradient flows there",
        "without gradients": "likewise",
        "wrong at one size alone: n": "source and target have at least one point each",
    },
)
