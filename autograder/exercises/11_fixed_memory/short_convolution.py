"""A weighted sum of each word and the few before it, feature by feature."""

from typing import Any

from autograder.lessons.cases import Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.variants import Alternative, Mistake


def text(n: int = 0, width: int = 0, continued: bool = False, scale: float = 1.0) -> Inputs:
    """A text, perhaps with a tail to go on from; sizes of 0 are drawn."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.label("goes on from a tail" if continued else "")
        if n:
            draw.fix(n=draw.same or n)
        if width:
            draw.fix(width=draw.same or width)
        draw.fix(n_tail=draw.size("width") - 1)
        made = {"x": draw.normal("batch n d", scale), "weight": draw.normal("d width", scale)}
        return made | ({"tail": draw.normal("batch n_tail d", scale)} if continued else {})

    return case


ZEROS = "x.new_zeros(x.shape[0], width - 1, x.shape[2])"
JOINED = "words = torch.cat([tail, x], dim=1)"
SUM = "y = (words.unfold(1, width, 1) * weight).sum(dim=-1)"
ROLLED = (
    "y = sum(whole.roll(i, dims=1) * weight[:, width - 1 - i] for i in range(width))"
    "[:, -x.shape[1] :]"
)
SAME_DTYPE = "words and weights have the same dtype"
TAIL = "words[:, x.shape[1] :]"


def in_the_middle(of: str) -> str:
    """The code that convolves with `padding="same"`, so that the word is in the middle."""
    return (
        f"same = F.conv1d({of}.mT, weight[:, None], groups=x.shape[2], padding='same')\n"
        "    y = same.mT[:, -x.shape[1] :]"
    )


EXERCISE = Exercise(
    "short_convolution",
    returns="y tail",
    aspects=[
        Aspect(
            "each word and those before it",
            1,
            [text(), text(9, 2), text(1, 4), text(12, 3, scale=30.0)],
            outputs=("y",),
        ),
        Aspect("the tail", 1, [text(), text(2, 6), text(10, 2)], outputs=("tail",)),
        Aspect(
            "goes on from a tail",
            2,
            [
                text(70, 4, continued=True),
                text(8, 3, continued=True),
                text(2, 5, continued=True),
                text(1, 4, continued=True),
                text(6, 1, continued=True),
            ],
        ),
        connected(text(continued=True), text(1, 4, continued=True)),
    ],
    mistakes=[
        Mistake(
            "the first weight for the word itself",
            "Your weights run the other way: the last one in a row is for the word itself.",
            {SUM: "y = (words.unfold(1, width, 1) * weight.flip(1)).sum(dim=-1)"},
        ),
        Mistake(
            "words to come",
            "Your sums look ahead: each word sees some that come after it. Put what came earlier "
            "in front, and nothing at the end.",
            {
                SUM: "ahead = torch.cat([x, torch.zeros_like(tail)], dim=1)\n"
                "    y = (ahead.unfold(1, width, 1) * weight).sum(dim=-1)"
            },
            {
                SUM: "ahead = torch.cat([x, torch.zeros_like(tail)], dim=1)\n"
                "    y = (ahead.unfold(1, width, 1) * weight.flip(1)).sum(dim=-1)"
            },
            {
                SUM: "half = (width - 1) // 2\n"
                "    ahead = torch.cat([words[:, half:], words.new_zeros(len(x), half, "
                "x.shape[2])], dim=1)\n"
                "    y = (ahead.unfold(1, width, 1) * weight).sum(dim=-1)"
            },
            {SUM: in_the_middle("words")},
            {SUM: in_the_middle("x")},
        ),
        Mistake(
            "the tail at the end",
            "You put the tail behind the words. It came earlier, so it belongs in front.",
            {JOINED: "words = torch.cat([x, tail], dim=1)"},
        ),
        Mistake(
            "a tail of the sums",
            "Your tail is made of the sums. Keep the words as they came in: the next piece needs "
            "those.",
            {TAIL: "torch.cat([tail, y], dim=1)[:, x.shape[1] :]"},
        ),
        Mistake(
            "a tail of the new words only",
            "Your tail has only words of this piece. If there are fewer than width − 1, the rest "
            "comes from the old tail.",
            {
                TAIL: "torch.cat([torch.zeros_like(tail), x], dim=1)[:, x.shape[1] :]",
            },
        ),
        Mistake(
            "a tail that is too short",
            "Your tail is too short when a piece is: it must always have width − 1 words. Take it "
            "from the old tail and the new words together.",
            {TAIL: "x[:, max(0, x.shape[1] - width + 1) :]"},
        ),
        Mistake(
            "everything for the tail",
            "With a width of 1, there's no tail. But `-0` is 0, so a slice from `-(width - 1)` "
            "takes everything.",
            {TAIL: "words[:, -(width - 1) :]"},
        ),
        Mistake(
            "one word too many in the tail",
            "Your tail has `width` words. It needs width − 1: the word itself is never in it.",
            {TAIL: "torch.cat([torch.zeros_like(words[:, :1]), words], dim=1)[:, x.shape[1] :]"},
        ),
        Mistake(
            "one word too few in the tail",
            "Your tail has width − 2 words. It needs width − 1.",
            {TAIL: "words[:, x.shape[1] + 1 :]"},
        ),
        Mistake(
            "the newest first",
            "Your tail is in reverse order. The newest word comes last.",
            {TAIL: "words[:, x.shape[1] :].flip(1)"},
        ),
        Mistake(
            "the newest first in the given tail",
            "You read the tail in reverse order. Its newest word comes last, next to the first "
            "word of the piece.",
            {JOINED: "words = torch.cat([tail.flip(1), x], dim=1)"},
        ),
        Mistake(
            "the old tail for a short piece",
            "Where a piece has fewer than width − 1 words, you returned the old tail. The new "
            "words belong in it, and as many old ones drop out.",
            {TAIL: "words[:, : width - 1] if x.shape[1] < width - 1 else words[:, x.shape[1] :]"},
        ),
        Mistake(
            "always four wide",
            "Your width is always 4. Take it from `weight`: `weight.shape[1]`.",
            {"width = weight.shape[1]": "width = 4"},
            {
                "width = weight.shape[1]": "width, n = 4, x.shape[1]",
                SUM: "y = sum(words[:, i : i + n] * weight[:, i] for i in range(width))",
            },
        ),
        Mistake(
            "rolled",
            "`roll` brings the last words around to the front. Before the first word come those "
            "of the `tail`, or zeros.",
            {
                SUM: f"whole = words[:, width - 1 :] if not given else words\n    {ROLLED}",
                "if tail is None:": "given = tail is not None\n    if tail is None:",
            },
            {SUM: f"whole = x\n    {ROLLED}"},
        ),
        Mistake(
            "the given tail ignored",
            "You start from zeros even where there is a `tail` to go on from.",
            {"if tail is None:\n        tail": "tail"},
            {
                SUM: "alone = torch.cat([torch.zeros_like(tail), x], dim=1)\n"
                "    y = (alone.unfold(1, width, 1) * weight).sum(dim=-1)"
            },
        ),
        Mistake(
            "the given tail returned",
            "You returned the tail that you started from. Return the new one: the last words.",
            {TAIL: "tail"},
            {TAIL: "words[:, : width - 1]"},
        ),
        Mistake(
            "the same weights for all features",
            "You used one row of weights for all features. Each feature has its own row.",
            {SUM: SUM.replace("* weight", "* weight[0]")},
            {SUM: SUM.replace("* weight", "* weight.mean(dim=0)")},
        ),
        Mistake(
            "features mixed",
            "You added up all features. Each feature is summed for itself.",
            {SUM: f"{SUM}\n    y = y.sum(dim=-1, keepdim=True).expand_as(y)"},
        ),
        Mistake(
            "a mean",
            "You divided the sums by the width. Leave them as they are.",
            {SUM: SUM.replace(".sum(", ".mean(")},
        ),
        Mistake(
            "weights that sum to 1",
            "You divided the sums by the sums of the weights. Leave them as they are.",
            {SUM: f"{SUM} / weight.sum(dim=1)"},
        ),
        Mistake(
            "one word late",
            "Your sums are one word late: the last weight is for the word itself, not for the one "
            "before.",
            {
                SUM: "late = torch.cat([torch.zeros_like(x[:, :1]), words], dim=1)[:, :-1]\n"
                "    y = (late.unfold(1, width, 1) * weight).sum(dim=-1)"
            },
        ),
        Mistake(
            "the word itself left out",
            "The word itself is missing from its sum. It has the last weight.",
            {SUM: SUM.replace("* weight)", "* weight)[..., :-1]")},
        ),
        Mistake(
            "the word itself added",
            "You added the word itself once more. The last weight is what counts it.",
            {SUM: f"{SUM} + x"},
        ),
        Mistake(
            "softmax of the weights",
            "You took softmax of the weights. Use them as they are.",
            {SUM: SUM.replace("* weight", "* weight.softmax(dim=-1)")},
        ),
        Mistake(
            "an activation",
            "You sent the sums through an activation. Return them as they are.",
            {SUM: SUM.replace("sum(dim=-1)", "sum(dim=-1).relu()")},
            {SUM: f"{SUM}\n    y = y * y.sigmoid()"},
        ),
        Mistake(
            "another order",
            "The numbers are right, but return the sums first, then the tail.",
            {f"return y, {TAIL}": f"return {TAIL}, y"},
        ),
        Mistake(
            "every feature from all",
            "Each of your features is a sum over all the others, too. Each has weights of its "
            "own, and reads itself alone (`groups=d` in `conv1d`).",
            {SUM: "y = (words.unfold(1, width, 1).sum(dim=2, keepdim=True) * weight).sum(dim=-1)"},
        ),
    ],
    alternatives=[
        Alternative(
            "torch's convolution",
            """
            if tail is None:
                tail = torch.zeros_like(x[:, :1]).expand(-1, weight.shape[1] - 1, -1)
            words = torch.cat((tail, x), 1)
            y = torch.nn.functional.conv1d(words.mT, weight.unsqueeze(1), groups=len(weight)).mT
            return y, words[:, len(words[0]) - weight.shape[1] + 1 :]
            """,
            excuses={"another number: 0 → -1": "all texts of a batch are as long"},
        ),
        Alternative(
            "a sum over shifts",
            """
            batch, n, d = x.shape
            _, width = weight.shape
            if tail is None:
                tail = torch.zeros(batch, width - 1, d, dtype=x.dtype)
            words = torch.cat([tail, x], dim=1)
            y = torch.zeros_like(x)
            for place in range(width):
                y = y + words[:, place : place + n] * weight[:, place]
            return y, words[:, n:]
            """,
            excuses={
                "keyword dropped: torch.zeros(": "`cat` keeps the wider dtype",
                "another argument: x → weight in dtype": SAME_DTYPE,
            },
        ),
        Alternative(
            "word by word",
            """
            width = weight.shape[1]
            window = [x.new_zeros(len(x), x.shape[2])] * (width - 1)
            if tail is not None:
                window = list(tail.unbind(1))
            sums = []
            for word in x.unbind(1):
                window = [*window, word]
                sums.append(sum(w * weight[:, i] for i, w in enumerate(window)))
                window = window[1:]
            return torch.stack(sums, 1), torch.stack(window, 1) if window else x[:, :0]
            """,
            excuses={
                "call dropped: list(tail": "a tuple is unpacked as well",
                "another argument: x → weight in x.new_zeros": SAME_DTYPE,
            },
        ),
    ],
    excuses={"another argument: x → weight in x.new_zeros": SAME_DTYPE},
    hints=[
        "Put the tail in front of the words: `torch.cat([tail, x], dim=1)`. Then every word has "
        "width − 1 others before it.",
        "`words[:, i : i + n]` are the words that get weight i of each row, `weight[:, i]`. Or let "
        "`unfold(1, width, 1)` make all windows, [batch, n, d, width].",
        "The new tail is what is left of tail and words together after the first n of them.",
    ],
)
