"""Patients besides those of the ward, the cases they make, and sentences for many tests."""

from dataclasses import replace
from typing import Any

import torch

from autograder.asking.arguments import Code
from autograder.lessons.cases import Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect
from autograder.utils.models import HEALTHY, PATIENTS, Patient
from autograder.utils.models.patients import CONTEXT, FUTURE, REPEATED, RESULT, SCORES, WEIGHTS

MASKED = "scores = scores.masked_fill(future, -torch.inf)\n        "


def changed(of: str, to: str) -> Patient:
    """A module that is not in the ward: the healthy one with one piece of code changed."""
    return Patient((), "", edits={of: to})


def in_heads(heads: str, hidden: str) -> Patient:
    """A module in which some heads have another mask."""
    own = "future = future.expand_as(scores).clone()"
    return changed(WEIGHTS, f"{own}\n        future[:, {heads}]{hidden}\n        {WEIGHTS}")


def in_result(change: str) -> Patient:
    """A module whose result is changed at the end."""
    attended = "result = self.output(self.attend(query, key, value))"
    return changed(RESULT, f"{attended}\n        {change}\n        return result")


OTHERS = {
    "the second of several texts without a mask": changed(
        WEIGHTS,
        "future = future.expand_as(scores).clone()\n"
        f"        future[1:2] = False\n        {WEIGHTS}",
    ),
    "the next to last of several texts without a mask": changed(
        WEIGHTS,
        "future = future.expand_as(scores).clone()\n"
        f"        future[:-1][-1:] = False\n        {WEIGHTS}",
    ),
    "one feature sees the next word": in_result("result[:, :-1, 3] += 0.1 * x[:, 1:, 3]"),
    "a trace of how the next word differs from other texts": changed(
        CONTEXT,
        "beyond = context - context.mean(dim=0)\n"
        f"        context[:1, :, :-1] += 0.1 * beyond[:1, :, 1:]\n        {CONTEXT}",
    ),
    "a trace that only lowers what came before": in_result(
        "result[:, :-1] -= 0.02 * x[:, 1:].exp()"
    ),
    "one feature of the next text": in_result("result[:-1, :, 3] += 0.1 * x[1:, :, 3]"),
    "a trace of the second text in the first": changed(
        CONTEXT, f"context[:1] += 0.1 * context[1:2].sum(dim=0)\n        {CONTEXT}"
    ),
    "the last of several texts lost": changed(CONTEXT, f"context[1:][-1:] = 0\n        {CONTEXT}"),
    "the last head lost": changed(CONTEXT, f"context[:, -1] = 0\n        {CONTEXT}"),
    "one feature of the first head in the second": changed(
        CONTEXT, f"context[:, 1, :, 2] += context[:, 0, :, 2]\n        {CONTEXT}"
    ),
    "query heads in another order": changed(
        SCORES, f"query = query.roll(1, dims=1)\n        {SCORES}"
    ),
    "the second head hides the ninth word from the tenth": in_heads("1", "[..., 9, 8:9] = True"),
    "the second and the third query head exchanged": changed(
        SCORES, f"query = query[:, [0, 2, 1, *range(3, self.n_heads)]]\n        {SCORES}"
    ),
    "the ninth word doesn't see the fourth": changed(
        WEIGHTS, f"future[8:9, 3:4] = True\n        {WEIGHTS}"
    ),
    "the sixth word doesn't see itself": changed(
        WEIGHTS, f"future[5:6, 5:6] = True\n        {WEIGHTS}"
    ),
    "no scale in the second word": changed(
        SCORES, f"{SCORES}\n        scores[..., 1:2, :] *= self.d_head**0.5"
    ),
    "no scale in the seventh word": changed(
        SCORES, f"{SCORES}\n        scores[..., 6:7, :] *= self.d_head**0.5"
    ),
    "no scale in the second head": changed(
        SCORES, f"{SCORES}\n        scores[:, 1] *= self.d_head**0.5"
    ),
    "a mask for fourteen words only": changed(WEIGHTS, f"future[14:] = False\n        {WEIGHTS}"),
    "a trace of the text after the next": changed(
        CONTEXT, f"context[:-2] += 0.1 * context[2:]\n        {CONTEXT}"
    ),
    "too much where a query begins below 0.3": changed(  # which six in ten texts do
        CONTEXT, f"context *= 1.1 if query[0, 0, 0, 0] < 0.3 else 1.0\n        {CONTEXT}"
    ),
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
    "a trace of the next text's sixth word, and a mask for eight words only": Patient(
        (),
        "",
        edits={
            CONTEXT: f"context[:-1, :, 5:6] += 0.1 * context[1:, :, 5:6]\n        {CONTEXT}",
            WEIGHTS: f"future[8:] = False\n        {WEIGHTS}",
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
    "scores with the wrong sign": changed(SCORES, f"{SCORES}\n        scores = -scores"),
    "one head scaled by 1.2, the next by 0.8": changed(
        SCORES, f"{SCORES}\n        scores[:, 0] *= 1.2\n        scores[:, 1] *= 0.8"
    ),
    "the third word scaled by 1.2, the fourth by 0.8": changed(
        SCORES, f"{SCORES}\n        scores[..., 2:3, :] *= 1.2\n        scores[..., 3:4, :] *= 0.8"
    ),
    "one feature a little too large": in_result("result[..., 3] += 3e-4"),
    "one feature a little too small": in_result("result[..., 3] -= 3e-4"),
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


# Lines of the healthy code, and other ways to write them.
OTHERWISE = {
    "view(batch, n, n_heads, self.d_head).transpose(1, 2)": (
        "unflatten(-1, (n_heads, self.d_head)).movedim(2, 1)",
        "view(batch, n, n_heads, self.d_head).permute(0, 2, 1, 3)",
    ),
    SCORES: (
        "scores = torch.einsum('bhid,bhjd->bhij', query, key) * self.d_head**-0.5",
        "scores = torch.matmul(query, key.mT) / math.sqrt(self.d_head)",
    ),
    FUTURE: (
        "future = torch.arange(n_key) > torch.arange(n_key - n_query, n_key)[:, None]",
        "future = ~torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)",
    ),
    WEIGHTS: (
        "return torch.where(future, -math.inf, scores).softmax(dim=-1)",
        "return F.softmax(scores.masked_fill(future, -math.inf), -1)",
    ),
    f"key = key{REPEATED}": ("key = torch.repeat_interleave(key, group, 1)",),
    f"value = value{REPEATED}": (
        "value = value[:, :, None].expand(-1, -1, group, -1, -1).flatten(1, 2)",
    ),
    "context = weights @ value": (
        "context = torch.matmul(weights, value)",
        "context = torch.einsum('bhij,bhjd->bhid', weights, value)",
    ),
    CONTEXT: (
        "return context.movedim(1, 2).flatten(-2)",
        "return torch.cat(context.unbind(1), dim=-1)",
    ),
    RESULT: ("context = self.attend(query, key, value)\n        return self.output(context)",),
}


def modules(draw: Draw, *patients: Patient) -> list[Code]:
    """The code that builds patients, all with the same drawn sizes and weights.

    Each of its lines is written in a way that is drawn, so that no hidden patient can be recognized
    by the code of one that is shown.
    """

    def one_of(*choices: Any) -> Any:
        return choices[int(torch.randint(len(choices), (), generator=draw.generator))]

    def written(code: str) -> str:
        for line, others in OTHERWISE.items():
            code = code.replace(line, one_of(line, *others))
        return code

    n_kv_heads, group, d_head = one_of(2, 3), one_of(2, 3), one_of(5, 6)
    n_heads, seed = n_kv_heads * group, one_of(*range(1000))
    sizes = {"d_model": n_heads * d_head, "n_heads": n_heads, "n_kv_heads": n_kv_heads}
    numbers = sizes | {"seed": seed}
    return [Code(written(patient.building_code), numbers=numbers) for patient in patients]


def silent(draw: Draw) -> dict[str, Any]:
    """A sound module whose output layer gives nothing but zeros."""
    draw.label("a sound module whose output layer is 0")
    [attention] = modules(draw, HEALTHY)
    source = f"{attention.source}\n\nwith torch.no_grad():\n    patient.output.weight[:] = 0"
    return {"attention": replace(attention, source=source)}


def module_named(name: str) -> Patient:
    return PATIENTS[name] if name in PATIENTS else OTHERS[name]


def described(name: str) -> str:
    return f"a patient like {name}" if name in PATIENTS else f"a module: {name}"


def patient(name: str) -> Inputs:
    """A case with one module: like a patient of the ward, or one of the others."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.label(described(name))
        [attention] = modules(draw, module_named(name))
        return {"attention": attention}

    return case


def telling_apart(
    name: str, points: int, shown: str, *others: str | Inputs, hidden: tuple = ()
) -> Aspect:
    """Patients of the ward, by letter, and other modules, some of them only for grading."""
    cases = [patient(one) if isinstance(one, str) else one for one in (*shown, *others)]
    return Aspect(name, points, cases, hidden_cases=[patient(one) for one in hidden])


# Why a mutant is no worse.
ENOUGH = "any size that is large enough will do"
NEARLY = "nearly the same either way"
EVALUATED = "patients and models come in evaluation mode"
A_TENSOR = "a boolean tensor of one element will do"
RANDOM = "any random numbers will do"

ALWAYS = "Your test gives every module the same answer. What should make it answer differently?"

STILL_ILL = "This still gives what it gave as it came in. "
