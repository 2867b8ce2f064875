"""The name of the first part whose output differs by more than 1e-4, such as "blocks.1.norm"."""

from typing import Any

import torch

from autograder.asking.arguments import Code
from autograder.lessons.cases import CALLS, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Result
from autograder.lessons.variants import Alternative, Mistake
from autograder.utils.models import PART_NAMES, stack_code

from .shared import EVALUATED, NEARLY


def stacks(*ill: str) -> Inputs:
    """Two models with the same weights, except for some parts, and an input."""

    def case(draw: Draw) -> dict[str, Any]:
        seed = int(torch.randint(1000, (), generator=draw.generator))
        n_heads = draw.choose("n_heads", 2, 3).size("n_heads")
        d_model = n_heads * draw.choose("d_head", 4, 5).size("d_head")
        shape = draw.size("batch"), draw.size("n"), d_model
        healthy, other = (
            Code(stack_code(d_model, n_heads, seed, parts)) for parts in ([], list(ill))
        )
        words = f"x = torch.randn({shape}, generator=torch.Generator().manual_seed({seed}))"
        return {"healthy": healthy, "ill": other, "x": Code(words)}

    return case


OUTPUTS_DIFFER = "not torch.allclose(output, others[name], rtol=0, atol=1e-4)"

EXERCISE = Exercise(
    "first_difference",
    returns="part",
    parts=[
        Result(
            choices={name: "This part isn't the first whose output differs." for name in PART_NAMES}
        )
    ],
    also=(*CALLS,),
    challenge=True,
    aspects=[
        Aspect(
            "one ill part",
            1,
            [
                stacks("blocks.1.attention"),
                stacks("blocks.0.norm"),
                stacks("blocks.2.feed_forward"),
            ],
        ),
        Aspect(
            "several ill parts",
            1,
            [
                stacks("blocks.1.feed_forward", "blocks.1.norm"),
                stacks("blocks.2.norm", "blocks.0.attention"),
                stacks("blocks.2.attention", "blocks.2.feed_forward"),
            ],
        ),
    ],
    mistakes=[
        Mistake(
            "in the order of definition",
            "You go through the parts as they were defined. A feed-forward network that comes "
            "first in the class runs last in its block. Follow the order of the calls.",
            {
                "for name, output in outputs_of(healthy).items():": (
                    "rights = outputs_of(healthy)\n"
                    "    for name, _ in healthy.named_modules():\n"
                    "        if name not in rights:\n"
                    "            continue\n"
                    "        output = rights[name]"
                )
            },
        ),
        Mistake(
            "the last difference",
            "You return the last part that differs. What comes after an ill part differs as well; "
            "return the first.",
            {
                "for name, output in outputs_of(healthy).items():": (
                    "for name, output in reversed(outputs_of(healthy).items()):"
                )
            },
        ),
    ],
    alternatives=[
        Alternative(
            "lists of pairs",
            "def run(model):\n"
            "    found, hooks = [], []\n"
            "    for name, part in model.named_modules():\n"
            "        if name.count('.') == 2:\n"
            "            def note(module, inputs, output, name=name):\n"
            "                found.append((name, output))\n"
            "            hooks.append(part.register_forward_hook(note))\n"
            "    model(x)\n"
            "    for hook in hooks:\n"
            "        hook.remove()\n"
            "    return found\n"
            "for (name, right), (_, other) in zip(run(healthy), run(ill)):\n"
            "    if (right - other).abs().max() > 1e-4:\n"
            "        return name",
            excuses={
                "operands swapped: right - other": "a difference has no sign",
                "call dropped: (right - other).abs()": "some differences are positive",
                "arguments swapped": "likewise",
                "another comparison": NEARLY,
            },
        ),
        Alternative(
            "by the shares of each part",
            {OUTPUTS_DIFFER: "(output - others[name]).abs().max() > 1e-4"},
            excuses={
                "operands swapped": NEARLY,
                "call dropped: (output - others[name]).abs()": "some differences are positive",
                "another comparison": "likewise",
                "in place": "the function ends there, or nothing was changed",
            },
        ),
    ],
    hints=[
        "Put a hook on each part, and let it keep the part's output under the part's name.",
        "A dict keeps its entries in the order in which you add them, which is the order of the "
        "calls. `part.register_forward_hook(f)` makes PyTorch call `f(module, inputs, output)`.",
        "In a loop, a function sees the *last* value of the loop's variable. Give it the name as "
        "a default: `def keep(module, inputs, output, name=name)`.",
    ],
    excuses={
        "argument left in evaluation mode": EVALUATED,
        "elements swapped": "the order of the calls decides",
        "arguments swapped: torch.allclose": NEARLY,
        "keyword dropped: torch.allclose": "these differences are larger than any tolerance",
    },
)
