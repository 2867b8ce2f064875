"""The text, and n_new tokens that the model adds to it, drawn by `sample(logits, **how)`."""

from collections.abc import Mapping
from typing import Any

from autograder.asking.arguments import Code
from autograder.judging.form import Form
from autograder.lessons.cases import Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Trial

from .generate_variants import ALTERNATIVES, MISTAKES
from .shared import tokens_of

# Which token is likeliest depends on all tokens read and on their places. Another one is nearly as
# likely.
READER = """
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.n_context, self.height = {n_context}, nn.Parameter(torch.ones(()))
        self.blocks = nn.ModuleList(nn.Identity() for _ in range({n_layers}))

    def forward(self, tokens, caches=None):
        n = tokens.shape[1]
        first = caches[0].length if caches else 0
        if first + n > self.n_context:
            raise IndexError(f"place {{first + n - 1}} is beyond the {n_context} places")
        total = torch.zeros(tokens.shape, dtype=torch.long)
        for number in range({n_layers}):
            new = ((tokens + number + 1) * torch.arange(first + 3, first + 3 + n))[:, None, :, None]
            seen = caches[number].append(new, new)[0] if caches else new
            total = total + (number + 1) * seen.cumsum(dim=2)[:, 0, -n:, 0]
        likeliest = total % {n_tokens}
        return self.height * sum(
            height * F.one_hot((likeliest + step) % {n_tokens}, {n_tokens})
            for step, height in enumerate((3.0, 2.0, 1.0))
        )

reader = Reader()
"""
GREEDY = {"temperature": 0.0}

# With the right logits, only the likeliest is left.
SURE = {"temperature": 0.5, "top_p": 0.8}


def writing(
    n: int,
    n_new: int,
    n_context: int = 20,
    n_layers: int = 2,
    how: Mapping[str, Any] = GREEDY,
    **sizes: int,
) -> Inputs:
    """A text of n tokens to continue."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.fix(n=n, **sizes).choose("n_tokens", 11, 13)
        n_tokens = draw.size("n_tokens")
        draw.label(f"{n_new} more, {n_context} places")
        reader = READER.format(n_context=n_context, n_tokens=n_tokens, n_layers=n_layers)
        return {"model": Code(reader), "tokens": tokens_of(draw), "n_new": n_new, "how": {**how}}

    return case


EXERCISE = Exercise(
    "generate",
    returns="tokens",
    parts=[Trial("write_on")],
    builds_on=("sample",),
    also=(Form.RESIZED,),
    seconds=20.0,
    aspects=[
        Aspect(
            "the text goes on",
            2,
            [
                writing(3, 5),
                writing(6, 1),
                writing(4, 3, batch=1, n_layers=1),
                writing(5, 0, n_layers=3),
                writing(1, 4),
                writing(3, 30, n_context=43),
            ],
            outputs=("tokens", "again"),
        ),
        Aspect(
            "no token is read twice",
            1,
            [writing(5, 4), writing(2, 7, n_layers=6)],
            outputs=("tokens per call", "light"),
        ),
        Aspect(
            "past the end of the context",
            2,
            [
                writing(5, 12, n_context=8),
                writing(17, 3, n_context=8),
                writing(8, 2, n_context=8),
                writing(4, 9, n_context=7, n_layers=5),
            ],
            outputs=("tokens", "tokens per call"),
        ),
        Aspect(
            "the arguments of sample",
            1,
            [writing(4, 12, how=SURE), writing(4, 6, how={"temperature": 9.0, "top_k": 1})],
            outputs=(
                *("tokens", "random", "usual", "by_generator", "varies", "advances", "in_order"),
            ),
        ),
    ],
    mistakes=MISTAKES,
    alternatives=ALTERNATIVES,
    hints=[
        "Keep three things: the text so far, the caches, and what the model hasn't read yet. At "
        "first that's the whole text, later the last token.",
        "In each round: make room if needed, ask for logits, draw a token for each row of the last "
        "place's logits, append.",
        "The next piece doesn't fit if `caches[0].length + unread.shape[1]` is above "
        "`model.n_context`. Then make new caches, and let the end of the text be unread.",
    ],
    excuses={
        "detached: torch.cat": "whole numbers have no gradient",
        "result squeezed at the end": "there are two tokens at least",
        "another number: 0 → -1": "all caches are equally long",
    },
)
