"""The name of the first part whose output differs by more than 1e-4, such as "blocks.1.norm"."""

import inspect
from collections.abc import Mapping
from types import MappingProxyType
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

Off = Mapping[str, Mapping[Any, float]]  # part → where in its output → what is added there
NOWHERE: Off = MappingProxyType({})


def off_by(part, numbers):
    forward = part.forward

    def changed(x):
        output = forward(x)
        for where, number in numbers.items():
            output[where] += number
        return output

    part.forward = changed


def cut_off(part):
    forward = part.forward

    def changed(x):
        return forward(x.clamp(min=-1.0))

    part.forward = changed


def stacks(
    *ill: str, off: Off = NOWHERE, both: Off = NOWHERE, cut: str = "", hooked: bool = False
) -> Inputs:
    """Two models with the same weights, except for some parts, and an input.

    ill: parts with other weights.
    off: what is added to outputs of the ill model.
    both: what is added to outputs of both.
    cut: a part of the ill model that takes numbers below −1 for −1.
    hooked: whether both have a hook already, which has to stay.
    """

    def case(draw: Draw) -> dict[str, Any]:
        seed = int(torch.randint(1000, (), generator=draw.generator))
        n_heads = draw.choose("n_heads", 2, 3).size("n_heads")
        d_model = n_heads * draw.choose("d_head", 4, 5).size("d_head")
        shape = draw.size("batch"), draw.size("n"), d_model

        def model(parts: list[str], *added: Off) -> Code:
            built = stack_code(d_model, n_heads, seed, parts)
            changes = [
                f"off_by(stack.get_submodule({name!r}), {dict(numbers)})"
                for one in added
                for name, numbers in one.items()
            ]
            changes += ["stack.blocks[0].norm.register_forward_hook(lambda *_: None)"] * hooked
            return Code("\n\n".join([inspect.getsource(off_by), built, *changes]))

        healthy, other = model([], both), model(list(ill), both, off)
        if cut:
            call = f"cut_off(stack.get_submodule({cut!r}))"
            other = Code("\n\n".join([inspect.getsource(cut_off), other.source, call]))
        words = f"x = torch.randn({shape}, generator=torch.Generator().manual_seed({seed}))"
        return {"healthy": healthy, "ill": other, "x": Code(words)}

    return case


FIRST, LAST = (0, 0, 0), (-1, -1, -1)  # [text, word, feature]
LARGE = {"blocks.2.feed_forward": {...: 300.0}}
SLIGHT = {"blocks.1.norm": {...: 5e-5}}
KEEP = "def keep(module, inputs, output, name=name)"
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
                stacks(off={"blocks.0.feed_forward": {FIRST: 5e-4}}),
                stacks(off={"blocks.2.feed_forward": {LAST: -5e-4}}),
                stacks(off={"blocks.1.feed_forward": {...: -3e-4}}),
                stacks(off={"blocks.1.norm": {FIRST: 5e-4, LAST: -5e-4}}),
                stacks(off={"blocks.2.feed_forward": {...: 1e-3}}, both=LARGE),
                stacks(off={"blocks.0": {(..., 0): 1.0}}),
                stacks("blocks.0.attention", hooked=True),
                stacks("blocks.2.feed_forward"),
            ],
        ),
        Aspect(
            "several ill parts",
            1,
            [
                stacks("blocks.1.feed_forward", "blocks.1.norm"),
                stacks("blocks.2.norm", "blocks.0.attention"),
                stacks("blocks.1.attention", off=SLIGHT),
                stacks("blocks.2.attention", cut="blocks.1.norm"),
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
        Mistake(
            "names zipped with outputs",
            "You joined the names in the order of definition with outputs in the order of the "
            "calls. Let each hook keep its part's name with the output.",
            "def outputs_of(model):\n"
            "    outputs, parts = [], [(n, p) for n, p in model.named_modules() if "
            "n.count('.') == 2]\n"
            "    hooks = [p.register_forward_hook(lambda m, i, o: outputs.append(o)) "
            "for _, p in parts]\n"
            "    model(x)\n"
            "    for hook in hooks:\n"
            "        hook.remove()\n"
            "    return [n for n, _ in parts], outputs\n"
            "(names, rights), (_, others) = outputs_of(healthy), outputs_of(ill)\n"
            "for name, right, other in zip(names, rights, others):\n"
            "    if (right - other).abs().max() > 1e-4:\n"
            "        return name",
        ),
        Mistake(
            "one name for all",
            "All your hooks use the same name. In a loop, a function sees the *last* value of the "
            "loop's variable: give it the name as a default, `name=name`.",
            {KEEP: "def keep(module, inputs, output)"},
        ),
        Mistake(
            "inputs compared",
            "You compare what the parts get. A part is off if what it *returns* differs: keep "
            "`output`.",
            {"outputs[name] = output": "outputs[name] = inputs[0]"},
        ),
        Mistake(
            "called by hand",
            "You call the parts one after another, so most of them don't get what they get in the "
            "model: there, each block adds to its input. Call the model, and keep its parts' "
            "outputs with hooks.",
            "right, other = x, x\n"
            "for number, (block, its) in enumerate(zip(healthy.blocks, ill.blocks)):\n"
            "    for part in ('norm', 'attention', 'feed_forward'):\n"
            "        right, other = getattr(block, part)(right), getattr(its, part)(other)\n"
            "        if (right - other).abs().max() > 1e-4:\n"
            "            return f'blocks.{number}.{part}'",
        ),
        Mistake(
            "a tolerance that is too large",
            "Your tolerance is too large: some parts are off by only a little. An output differs "
            "if some number is off by more than 1e-4.",
            {"atol=1e-4": "atol=0.1"},
            {"atol=1e-4": "atol=1e-2"},
        ),
        Mistake(
            "no room for rounding",
            "You stop at a part that is off by less than 1e-4. Such a difference may come from "
            "rounding, so it doesn't count.",
            {OUTPUTS_DIFFER: "not torch.equal(output, others[name])"},
            {"atol=1e-4": "atol=1e-5"},
        ),
        Mistake(
            "a tolerance that grows with the numbers",
            "You forgive more where the numbers are large. If you use `torch.allclose`, pass "
            "`rtol=0`.",
            {"rtol=0, ": ""},
            {"rtol=0": "rtol=1e-3"},
            {"rtol=0": "rtol=1e-2"},
        ),
        Mistake(
            "some texts or words only",
            "You don't compare all texts and all words. A part may be ill in a single word.",
            {OUTPUTS_DIFFER: "(output - others[name])[:, -1].abs().max() > 1e-4"},
            {OUTPUTS_DIFFER: "(output - others[name])[:, 0].abs().max() > 1e-4"},
            {OUTPUTS_DIFFER: "(output - others[name])[0].abs().max() > 1e-4"},
            {OUTPUTS_DIFFER: "(output - others[name])[-1].abs().max() > 1e-4"},
        ),
        Mistake(
            "sums or means",
            "You compare sums or means, so a single number that is off may get lost. It is enough "
            "if one number is off by more than 1e-4.",
            {OUTPUTS_DIFFER: "(output.sum() - others[name].sum()).abs() > 1e-4"},
            {OUTPUTS_DIFFER: "(output.mean() - others[name].mean()).abs() > 1e-4"},
            {OUTPUTS_DIFFER: "(output - others[name]).abs().mean() > 1e-4"},
        ),
        Mistake(
            "one sign only",
            "You miss differences below 0. Take the absolute value before you compare.",
            {OUTPUTS_DIFFER: "(output - others[name]).max() > 1e-4"},
            {OUTPUTS_DIFFER: "(others[name] - output).max() > 1e-4"},
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
                "arguments swapped": "likewise",
                "another comparison": NEARLY,
            },
        ),
        Alternative(
            "by the shares of each part",
            {OUTPUTS_DIFFER: "(output - others[name]).abs().max() > 1e-4"},
            excuses={
                "operands swapped": NEARLY,
                "another comparison": NEARLY,
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
        "seed changed": "nothing is drawn in it, and the check puts the seed back",
        "argument left in evaluation mode": EVALUATED,
        "elements swapped": "the order of the calls decides",
        "arguments swapped: torch.allclose": NEARLY,
    },
)
