"""Patients besides those of the ward, the cases they make, and sentences for many tests."""

from typing import Any

import torch

from autograder.asking.arguments import Code
from autograder.lessons.cases import Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect
from autograder.utils.models import PATIENTS, Patient
from autograder.utils.models.patients import CONTEXT, REPEATED, SCORES, WEIGHTS

MASKED = "scores = scores.masked_fill(future, -torch.inf)\n        "


def changed(of: str, to: str) -> Patient:
    """A module that is not in the ward: the healthy one with one piece of code changed."""
    return Patient((), "", edits={of: to})


def in_heads(heads: str, hidden: str) -> Patient:
    """A module in which some heads have another mask."""
    own = "future = future.expand_as(scores).clone()"
    return changed(WEIGHTS, f"{own}\n        future[:, {heads}]{hidden}\n        {WEIGHTS}")


OTHERS = {
    "the last of several texts without a mask": changed(
        WEIGHTS,
        "future = future.expand_as(scores).clone()\n"
        f"        future[1:][-1:] = False\n        {WEIGHTS}",
    ),
    "another text's queries from the ninth word on": changed(
        SCORES,
        "query = query.clone()\n"
        f"        query[:, :, 8:] = query[:, :, 8:].roll(1, dims=0)\n        {SCORES}",
    ),
    "heads exchanged from the ninth word on": changed(
        CONTEXT,
        f"context[:, :, 8:] = context[:, :, 8:].roll(1, dims=1)\n        {CONTEXT}",
    ),
    "no scale from the ninth word on": changed(
        SCORES, f"{SCORES}\n        scores[..., 8:, :] *= self.d_head**0.5"
    ),
    "the third word sees the fourth": changed(
        WEIGHTS, f"future[2:3, 3:4] = False\n        {WEIGHTS}"
    ),
    "the first word sees the second": changed(
        WEIGHTS, f"future[:1, 1:2] = False\n        {WEIGHTS}"
    ),
    "the next-to-last of twelve sees the last": changed(
        WEIGHTS, f"future[10:11, 11:12] = False\n        {WEIGHTS}"
    ),
    "the last of twelve doesn't see the first": changed(
        WEIGHTS, f"future[11:12, :1] = True\n        {WEIGHTS}"
    ),
    "a mask for eight words only": changed(WEIGHTS, f"future[8:] = False\n        {WEIGHTS}"),
    "later scores made smaller, not hidden": changed(
        WEIGHTS, "return (scores - 4 * future).softmax(dim=-1)"
    ),
    "one head without a mask": in_heads("-1", " = False"),
    "the first head hides the fourth word from the sixth": in_heads("0", "[..., 5, 3:4] = True"),
    "the second word sees the third": changed(
        WEIGHTS, f"future[1:2, 2:3] = False\n        {WEIGHTS}"
    ),
    "the first word sees the last of twelve": changed(
        WEIGHTS, f"future[:1, 11:] = False\n        {WEIGHTS}"
    ),
    "a trace of the word after the next": changed(
        CONTEXT, f"context[:, :, :-2] += 0.005 * context[:, :, 2:]\n        {CONTEXT}"
    ),
    "the first of several texts without a mask": changed(
        WEIGHTS,
        "future = future.expand_as(scores).clone()\n"
        f"        future[:-1][:1] = False\n        {WEIGHTS}",
    ),
    "the third word doesn't see the first": changed(
        WEIGHTS, f"future[2:3, :1] = True\n        {WEIGHTS}"
    ),
    "nobody sees the first word": changed(WEIGHTS, f"future[1:, 0] = True\n        {WEIGHTS}"),
    "one head that is blind to the word itself": in_heads(
        "-1", ".diagonal(dim1=-2, dim2=-1)[:, 1:] = True"
    ),
    "scores four times as large": changed(SCORES, SCORES.replace("**0.5", "**0.5 * 4")),
    "heads in another order": changed(
        CONTEXT, "context = context.roll(1, dims=1)\n        " + CONTEXT
    ),
    "tiled values, repeated keys": changed(
        f"value = value{REPEATED}", "value = value.repeat(1, group, 1, 1)"
    ),
    "key heads in another order": changed(
        f"key = key{REPEATED}", f"key = key.roll(1, dims=1){REPEATED}"
    ),
    "value heads in another order": changed(
        f"value = value{REPEATED}", f"value = value.roll(1, dims=1){REPEATED}"
    ),
    "the first two heads exchanged": changed(
        CONTEXT, f"context[:, :2] = context[:, :2].flip(1)\n        {CONTEXT}"
    ),
    "heads exchanged in the first three words": changed(
        CONTEXT, f"context[:, :, :3] = context[:, :, :3].roll(1, dims=1)\n        {CONTEXT}"
    ),
    "another text's queries in the first three words": changed(
        SCORES,
        "query = query.clone()\n"
        f"        query[:, :, :3] = query[:, :, :3].roll(1, dims=0)\n        {SCORES}",
    ),
    "the last head in the first": changed(
        CONTEXT, f"context[:, 0] += 0.1 * context[:, -1]\n        {CONTEXT}"
    ),
    "the first head in the last": changed(
        CONTEXT, f"context[:, -1] += 0.1 * context[:, 0]\n        {CONTEXT}"
    ),
    "a trace of the last text in the first": changed(
        CONTEXT, f"context[:-1][:1] += 0.1 * context[-1:]\n        {CONTEXT}"
    ),
    "a trace of the next text": changed(
        CONTEXT, f"context[:-1] += 0.1 * context[1:]\n        {CONTEXT}"
    ),
    "a trace of the next text, and the third word blind": Patient(
        (),
        "",
        edits={
            CONTEXT: f"context[:-1] += 0.1 * context[1:]\n        {CONTEXT}",
            WEIGHTS: f"future[2:3, :1] = True\n        {WEIGHTS}",
        },
    ),
    "a trace of the text after the next, and a leak": Patient(
        (),
        "",
        edits={
            CONTEXT: f"context[:-2] += 0.1 * context[2:]\n        {CONTEXT}",
            WEIGHTS: f"future[:1, 1:2] = False\n        {WEIGHTS}",
        },
    ),
    "a trace of the other texts": changed(
        CONTEXT, "context = context + 0.01 * context.mean(dim=0)\n        " + CONTEXT
    ),
    "weights by sigmoid": changed(
        WEIGHTS, "return scores.masked_fill(future, -torch.inf).sigmoid()"
    ),
    "no scale": changed(SCORES, SCORES.replace(" / self.d_head**0.5", "")),
    "no scale in the first head": changed(
        SCORES, f"{SCORES}\n        scores[:, 0] *= self.d_head**0.5"
    ),
    "no scale in the last head": changed(
        SCORES, f"{SCORES}\n        scores[:, -1] *= self.d_head**0.5"
    ),
    "no scale in the first four words": changed(
        SCORES, f"{SCORES}\n        scores[..., :4, :] *= self.d_head**0.5"
    ),
    "scores that are 5% too large": changed(SCORES, SCORES.replace("**0.5", "**0.5 * 1.05")),
    "dropout in the last head": changed(
        CONTEXT, f"context[:, -1] = F.dropout(context[:, -1], 0.1)\n        {CONTEXT}"
    ),
    "dropout of one number in a hundred": changed(
        CONTEXT, f"context = F.dropout(context, 0.01)\n        {CONTEXT}"
    ),
    "divided by d_head": changed(SCORES, SCORES.replace("**0.5", "")),
    "keys measured from the mean of all": changed(
        SCORES, f"key = key - key.mean(dim=(0, 2), keepdim=True)\n        {SCORES}"
    ),
    "head by head": changed(
        WEIGHTS,
        "heads = scores.masked_fill(future, -torch.inf).unbind(dim=1)\n"
        "        return torch.stack([head.softmax(dim=-1) for head in heads], dim=1)",
    ),
    "softmax in double precision": changed(
        WEIGHTS, f"{MASKED}return scores.double().softmax(dim=-1).to(query.dtype)"
    ),
}


def modules(draw: Draw, *patients: Patient) -> list[Code]:
    """The code that builds patients, all with the same drawn sizes and weights."""

    def one_of(*choices: int) -> int:
        return choices[int(torch.randint(len(choices), (), generator=draw.generator))]

    n_kv_heads, group, d_head = one_of(2, 3), one_of(2, 3), one_of(5, 6)
    n_heads, seed = n_kv_heads * group, one_of(*range(1000))
    sizes = {"d_model": n_heads * d_head, "n_heads": n_heads, "n_kv_heads": n_kv_heads}
    return [Code(patient.building_code, numbers=sizes | {"seed": seed}) for patient in patients]


def module_named(name: str) -> Patient:
    return PATIENTS[name] if name in PATIENTS else OTHERS[name]


def patient(name: str) -> Inputs:
    """A case with one module: like a patient of the ward, or one of the others."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.label(f"like patient {name}" if name in PATIENTS else name)
        [attention] = modules(draw, module_named(name))
        return {"attention": attention}

    return case


def telling_apart(name: str, points: int, shown: str, *others: str, hidden: tuple = ()) -> Aspect:
    """Patients of the ward, by letter, and other modules, some of them only for grading."""
    cases = [patient(one) for one in (*shown, *others)]
    return Aspect(name, points, cases, hidden_cases=[patient(one) for one in hidden])


# Why a mutant is no worse.
ENOUGH = "any size that is large enough will do"
NEARLY = "nearly the same either way"
RANDOM = "any random numbers will do"

ALWAYS = "Your test gives every module the same answer. What should make it answer differently?"

STILL_ILL = "This is still the code as it came in. "
