"""Lesson 8: tests that find what is wrong with attention, and repairs."""

from typing import Any

import torch

from autograder.asking.arguments import Code
from autograder.judging.prediction import Prediction
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import (
    AGAIN,
    DOUBLE,
    GRADIENTS,
    Aspect,
    Exercise,
    Inputs,
    drawn,
)
from autograder.lessons.variants import Alternative, Mistake
from autograder.utils.models import (
    BLIND_SPOT,
    DROPOUT,
    HEALTHY,
    LEAK,
    MIXING,
    PART_NAMES,
    PATIENTS,
    SOUND,
    WRONG_SCALE,
    WRONG_SUM,
    Patient,
    stack_code,
)
from autograder.utils.models.patients import CONTEXT, REPEATED, SCORES, WEIGHTS

# ---------------------------------------------------------------- patients

MASKED = "scores = scores.masked_fill(future, -torch.inf)\n        "


def changed(of: str, to: str, cached: bool = False) -> Patient:
    """A module that is not in the ward: the healthy one with one piece of code changed."""
    return Patient((), "", edits={of: to}, cached=cached)


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
    """Patients of the ward, by letter, and other modules, some of which only grading uses."""
    cases = [patient(one) for one in (*shown, *others)]
    return Aspect(name, points, cases, hidden_cases=[patient(one) for one in hidden])


# Why a mutant is no worse.
ENOUGH = "any size that is large enough will do"
NEARLY = "nearly the same either way"
RANDOM = "any random numbers will do"

ALWAYS = "Your test gives every module the same answer. What should make it answer differently?"

# ---------------------------------------------------------------- find_leak

EARLIER = "attention(changed)[:, :place], before[:, :place]"

find_leak = Exercise(
    "find_leak",
    returns="leaks",
    plain=True,
    steady=True,
    also=(),
    aspects=[
        telling_apart(
            "a mask that is missing or too short",
            1,
            "AJQEG",
            "the first of several texts without a mask",
            "the last of several texts without a mask",
        ),
        telling_apart(
            "leaks between a few words",
            1,
            "BN",
            "the third word sees the fourth",
            "a mask for eight words only",
            "one head without a mask",
            "the first word sees the second",
            "the second word sees the third",
            "the first word sees the last of twelve",
            "a trace of the word after the next",
            "the next-to-last of twelve sees the last",
            hidden=("softmax in double precision", "later scores made smaller, not hidden"),
        ),
        telling_apart(
            "leaks through the sum of the weights",
            1,
            "FSIKO",
            "keys measured from the mean of all",
            "head by head",
        ),
    ],
    mistakes=[
        Mistake(
            "never",
            "Your test finds no leak anywhere. Is your tolerance as large as the outputs? Rounding "
            "moves them by less than 1e-5.",
            {"atol=1e-5": "atol=50.0"},
            "return False",
        ),
        Mistake(
            "always",
            "Your test says that every module leaks. Do you compare the output of the changed word "
            "itself? It may move: compare only the outputs before it. And does every change begin "
            "with a fresh copy of the text?",
            {EARLIER: "attention(changed)[:, : place + 1], before[:, : place + 1]"},
            {EARLIER: "attention(changed), before"},
            {"changed = x.clone()": "changed = x"},
            "return True",
        ),
        Mistake(
            "the last word only",
            "Your test changes only the last word, so it misses leaks elsewhere. Try every place.",
            {"range(1, 12)": "range(11, 12)"},
        ),
        Mistake(
            "the first place only",
            "Your test finds leaks into the first word only. Try every place, and compare all "
            "outputs before it. (Or does your loop return too early?)",
            {"    return True\n    return False": "    return True\n        return False"},
        ),
        Mistake(
            "a short text",
            "Your text is too short. A mask that was made for eight words lets everything through "
            "after that. Use 12 words.",
            {"randn(4, 12,": "randn(4, 6,", "range(1, 12)": "range(1, 6)"},
            {"randn(4, 12,": "randn(4, 8,", "range(1, 12)": "range(1, 8)"},
        ),
        Mistake(
            "one text",
            "Your test calls the module with one text at a time. Some masks go wrong only when a "
            "batch has several.",
            {"randn(4, 12,": "randn(1, 12,"},
        ),
        Mistake(
            "no room for rounding",
            "Your test mistakes a rounding error for a leak. Sound code may round differently when "
            "a later word changes: allow 1e-5.",
            {
                "not torch.allclose(attention(changed)[:, :place], before[:, :place], atol=1e-5)": (
                    "not torch.equal(attention(changed)[:, :place], before[:, :place])"
                )
            },
        ),
    ],
    alternatives=[
        Alternative(
            "cut off",
            {
                "changed = x.clone()\n        "
                "changed[:, place:] = torch.randn_like(x[:, place:])\n        ": "",
                "attention(changed)[:, :place], before": "attention(x[:, :place]), before",
            },
        ),
        Alternative(
            "by gradients",
            "x = torch.randn(4, 12, attention.query.in_features, requires_grad=True)\n"
            "for place in range(11):\n"
            "    [slope] = torch.autograd.grad(attention(x)[:, place].sum(), x)\n"
            "    if (slope[:, place + 1 :].abs() > 1e-5).any():\n"
            "        return True\n"
            "return False",
        ),
    ],
    hints=[
        "Draw a batch of a few texts, and call the module once. Then change words, call it again, "
        "and compare.",
        "For each place from 1 to 11: copy the batch, change all words from there on, and compare "
        "the outputs before that place.",
        "`torch.allclose(a, b, atol=1e-5)` compares. Return True as soon as a place shows a leak, "
        "and False only after the loop.",
    ],
    excuses={
        "argument dropped: range(1, 12)": "at place 0 there is nothing to compare",
        "another number: 1 → 0": "likewise",
        "another number: 4 →": "two texts or more will do",
        "another number: 12 →": ENOUGH,
        "arguments swapped": NEARLY,
        "cut off / arguments swapped": NEARLY,
        "by gradients / another number": ENOUGH,
        "by gradients / another comparison": "no slope is as small as the limit, except for 0",
        "by gradients / call dropped": "some slopes are positive",
        "by gradients / random start": RANDOM,
        "random start": RANDOM,
    },
)

# ---------------------------------------------------------------- find_blind_spot

SEES = "(attention_weights[:, place, : place + 1] == 0).any() for place in range(12)"

find_blind_spot = Exercise(
    "find_blind_spot",
    returns="is_blind",
    plain=True,
    steady=True,
    also=(),
    aspects=[
        telling_apart("words that are hidden by a cache", 1, "EBGA"),
        telling_apart(
            "words that don't see themselves",
            1,
            "TKQ",
            "one head that is blind to the word itself",
        ),
        telling_apart(
            "any place, any head",
            1,
            "NPLC",
            "the third word doesn't see the first",
            "the first head hides the fourth word from the sixth",
            "scores four times as large",
            "nobody sees the first word",
            "the last of twelve doesn't see the first",
            hidden=("keys measured from the mean of all", "a mask for eight words only"),
        ),
    ],
    mistakes=[
        Mistake("never", ALWAYS, "return False"),
        Mistake(
            "always",
            "Your test finds a blind spot in every module. Do you count the weights of later "
            "words? Those are supposed to be 0 (and `tril` makes them 0).",
            "return True",
            "weights = weights_of(attention, torch.randn(1, 12, attention.query.in_features))\n"
            "return bool((weights.tril() == 0).any())",
        ),
        Mistake(
            "not the word itself",
            "Your test misses words that don't see themselves. If you look at weights, include the "
            "diagonal. If you change a word and watch its own output, the word's query moves it "
            "anyway.",
            {"[:, place, : place + 1]": "[:, place, :place]"},
            "x = torch.randn(1, 12, attention.query.in_features)\n"
            "before = attention(x)\n"
            "for place in range(12):\n"
            "    changed = x.clone()\n"
            "    changed[:, place] += 1\n"
            "    moved = (attention(changed) - before)[0, place:].abs().amax(dim=-1)\n"
            "    if moved.min() < 1e-6:\n"
            "        return True\n"
            "return False",
        ),
        Mistake(
            "zeros after the word",
            "You include the weights of later words, which are supposed to be 0.",
            "weights = weights_of(attention, torch.randn(1, 12, attention.query.in_features))\n"
            "return bool((weights == 0).any())",
        ),
        Mistake(
            "a short text",
            "Your text is too short: a cache that is cut off at nine words shows only in longer "
            "ones. Use 12 words.",
            {"randn(1, 12,": "randn(1, 6,", "range(12)": "range(6)"},
        ),
        Mistake(
            "the last word only",
            "You look at what the last word sees. Others may be blind.",
            {"in range(12)": "in range(11, 12)"},
        ),
        Mistake(
            "the first head only",
            "Your test misses a blind spot in a single head. Look at every head by itself.",
            {"[:, place, : place + 1]": "[0, place, : place + 1]"},
            {"[:, place, : place + 1]": "[-1, place, : place + 1]"},
            {
                "attention_weights[:, place, : place + 1]": (
                    "attention_weights.mean(dim=0)[place, : place + 1]"
                )
            },
        ),
        Mistake(
            "small weights",
            "A small weight isn't a blind spot: softmax gives some words very little. The weight "
            "of a hidden word is exactly 0.",
            {"== 0)": "< 0.01)"},
            {"== 0)": "< 1e-4)"},
            {"== 0)": "< 1e-6)"},
            {"== 0)": "< 1e-9)"},
        ),
    ],
    alternatives=[
        Alternative(
            "by index",
            "weights = weights_of(attention, torch.randn(1, 12, attention.query.in_features))\n"
            "rows, columns = torch.tril_indices(12, 12)\n"
            "return bool((weights[:, rows, columns] == 0).any())",
        ),
        Alternative(
            "one word after the other",
            "attention = opened(attention)\n"
            "x = torch.randn(1, 12, attention.query.in_features)\n"
            "for place in range(12):\n"
            "    x[..., 0] = 0\n"
            "    x[:, place, 0] = 1\n"
            "    if (attention(x)[0, place:] == 0).any():\n"
            "        return True\n"
            "return False",
        ),
    ],
    hints=[
        "Changing a word and watching isn't enough. `weights_of` shows who sees whom.",
        "`weights_of(attention, x)` is [n_heads, n, n]: query by key. For which pairs would a "
        "weight of 0 be wrong?",
        "For each place, look at all heads, at the row of that place, and at the columns up to the "
        "place itself.",
    ],
    excuses={
        "another number: 1 → 2": "any number of texts will do",
        "another number: 12 →": ENOUGH,
        "by index / another number": ENOUGH,
        "by index / random start": RANDOM,
        "one word after the other / another number": ENOUGH,
        "one word after the other / elements swapped": "the scores may be all the same",
        "one word after the other / random start": RANDOM,
        "random start": RANDOM,
    },
)

# ---------------------------------------------------------------- find_mixing

TEXTS = """x = torch.randn(4, 12, attention.query.in_features)
for text in range(4):
    changed = x.clone()
    changed[text] = torch.randn_like(x[text])
    if moved(attention(changed) - attention(x), 0) != [t == text for t in range(4)]:
        return True
"""
HEADS = """x = torch.randn(4, 12, attention.query.in_features)
attention = copy.deepcopy(attention)
nn.init.eye_(attention.output.weight)
n_heads, n_kv_heads = attention.n_heads, attention.n_kv_heads
for layer, n in [("query", n_heads), ("key", n_kv_heads), ("value", n_kv_heads)]:
    for head in range(n):
        other = copy.deepcopy(attention)
        getattr(other, layer).weight.unflatten(0, (n, -1))[head] *= -1
        difference = (other(x) - attention(x)).unflatten(-1, (n, -1))
        if moved(difference, 2) != [h == head for h in range(n)]:
            return True
return False
"""
TEXT_DIFFERENCE = "attention(changed) - attention(x)"
HEAD_DIFFERENCE = "other(x) - attention(x)"
OWN_HEADS = "moved(difference, 2) != [h == head for h in range(n)]"

find_mixing = Exercise(
    "find_mixing",
    returns="mixes",
    plain=True,
    steady=True,
    also=(),
    aspects=[
        telling_apart(
            "texts",
            1,
            "MAB",
            "a trace of the other texts",
            "a trace of the next text",
            "a trace of the last text in the first",
            "another text's queries in the first three words",
            "another text's queries from the ninth word on",
            "keys measured from the mean of all",
        ),
        telling_apart(
            "heads",
            2,
            "CEKO",
            "heads in another order",
            "the first two heads exchanged",
            "tiled values, repeated keys",
            "key heads in another order",
            "value heads in another order",
            "the last head in the first",
            "the first head in the last",
            "heads exchanged in the first three words",
            "heads exchanged from the ninth word on",
            hidden=("head by head", "softmax in double precision"),
        ),
        telling_apart("heads and words", 1, "RITDG"),
    ],
    mistakes=[
        Mistake("never", ALWAYS, "return False"),
        Mistake(
            "always",
            "Your test says that every module mixes something. When you look at single heads, is "
            "the output layer the identity? (Otherwise it mixes them all, as it should.) Does each "
            "head get a fresh copy of the module? And has the text more than one word?",
            {"    nn.init.eye_(attention.output.weight)\n": ""},
            {"other = copy": "other = other if head else copy"},
            {"randn(4, 12,": "randn(4, 1,"},
            "return True",
        ),
        Mistake(
            "texts only",
            "Your test misses heads that get into other heads. Change the weights of each head, "
            "and see whose features move.",
            TEXTS + "return False",
            {OWN_HEADS: "not moved(difference, 2)[head]"},
        ),
        Mistake(
            "heads only",
            "You test the heads, but not the texts. A word may see words of another text.",
            HEADS,
        ),
        Mistake(
            "values only",
            "You change heads of the value layer, but not of the others. A head may also use the "
            "wrong keys, or the wrong queries.",
            {'("query", n_heads), ("key", n_kv_heads), ': ""},
        ),
        Mistake(
            "the last text only",
            "You change only the last text, and a mask may hide that one from the others. Change "
            "each text in turn.",
            {"for text in range(4)": "for text in range(3, 4)"},
        ),
        Mistake(
            "the last word only",
            "You compare only the last word. Something may get mixed up in the words before it.",
            {TEXT_DIFFERENCE: "(attention(changed) - attention(x))[:, -1:]"},
            {HEAD_DIFFERENCE: "(other(x) - attention(x))[:, -1:]"},
            {
                TEXT_DIFFERENCE: "(attention(changed) - attention(x))[:, -1:]",
                HEAD_DIFFERENCE: "(other(x) - attention(x))[:, -1:]",
            },
        ),
        Mistake(
            "short texts",
            "Your texts are too short. Something that changes at the ninth word shows only in "
            "longer ones. Use 12 words.",
            {"randn(4, 12,": "randn(4, 5,"},
        ),
    ],
    alternatives=[
        Alternative(
            "another change",
            {"unflatten(0, (n, -1))[head] *= -1": "unflatten(0, (n, -1))[head].normal_()"},
        ),
        Alternative(
            "each text alone",
            {
                "changed = x.clone()\n        changed[text] = torch.randn_like(x[text])\n"
                "        if moved(attention(changed) - attention(x), 0) != "
                "[t == text for t in range(4)]:": (
                    "if any(moved(attention(x[text : text + 1])[0] - attention(x)[text], 0)):"
                )
            },
        ),
    ],
    hints=[
        "Two tests, one after the other. Texts first: draw four, change one, and see which move.",
        "Heads: take a copy with the identity as its output layer. For each layer and each head, "
        "take another copy, and change the weights of that head.",
        "`outputs.unflatten(-1, (n, -1))` splits the features into n heads, and `moved` tells you "
        "which of them moved. Only one may.",
    ],
    excuses={
        "another number: 12 →": ENOUGH,
        "another number: 1 →": "any change of the weights will do",
        "operands swapped": "a difference has no sign",
        "elements swapped": "the order of the layers does not matter",
        "statement dropped: attention = copy": "nobody uses the module again",
        "each text alone / operands swapped": "a difference has no sign",
        "each text alone / another number": "one text has one place, and any dimension will do",
        "random start": RANDOM,
    },
)

# ---------------------------------------------------------------- find_scale

SAID = "return not torch.allclose(difference, torch.ones_like(difference), atol=1e-3)"

find_scale = Exercise(
    "find_scale",
    returns="is_off",
    plain=True,
    steady=True,
    also=(),
    aspects=[
        telling_apart(
            "a scale that is too small",
            1,
            "DLAKG",
            "scores that are 5% too large",
            "no scale in the first head",
        ),
        telling_apart(
            "scores that aren't scaled",
            1,
            "PB",
            "no scale",
            "no scale in the last head",
            "no scale in the first four words",
            "no scale from the ninth word on",
            "divided by d_head",
            hidden=("keys measured from the mean of all", "head by head"),
        ),
        telling_apart("other diseases", 1, "LOQ", "weights by sigmoid"),
    ],
    mistakes=[
        Mistake("never", ALWAYS, "return False"),
        Mistake(
            "always",
            "Your test finds every module wrong, even sound ones. Does the ratio have the second "
            "word's weight on top? And when the scale is √d_head, is the logarithm what you "
            "expect?",
            {
                "attention(second)[0, 1:] / attention(first)[0, 1:]": (
                    "attention(first)[0, 1:] / attention(second)[0, 1:]"
                )
            },
            "return True",
        ),
        Mistake(
            "too large only",
            "You notice scores that are too large, but not those that are too small. Is your "
            "tolerance too large?",
            {SAID: "return bool(difference.mean() > 1.001)"},
            {"atol=1e-3": "atol=0.95"},
        ),
        Mistake(
            "too small only",
            "You notice scores that are too small, but not those that are too large.",
            {SAID: "return bool(difference.mean() < 0.999)"},
        ),
        Mistake(
            "d_model for d_head",
            "You use √d_model as the scale. Each head divides by the root of its own width.",
            {"= d_head**-0.25": "= (d_model**0.5 / d_head) ** 0.5"},
        ),
        Mistake(
            "no scale expected",
            "You expect unscaled scores, but a sound module uses query · key / √d_head.",
            {"d_head**-0.25": "d_head**-0.5"},
        ),
        Mistake(
            "a short text",
            "Your text is too short, or you don't look at every query in it. A scale that is wrong "
            "from the ninth word on shows only in later ones. Use 12 words, and all queries but "
            "the first.",
            {"zeros(1, 12,": "zeros(1, 2,"},
            {"[0, 1:] / attention(first)[0, 1:]": "[0, 1] / attention(first)[0, 1]"},
        ),
        Mistake(
            "the last query only",
            "You look at the last query only. The scale may be wrong for the words before it.",
            {"[0, 1:] / attention(first)[0, 1:]": "[0, -1] / attention(first)[0, -1]"},
        ),
        Mistake(
            "one product instead of d_head",
            "You expect the score of a single product. With features of 1, query · key sums d_head "
            "of them, and the scale is √d_head.",
            {"= d_head**-0.25": "= 1.0"},
        ),
        Mistake(
            "the weight, not the ratio",
            "You look at one weight, which can't tell a wrong scale from a wrong sum. Use the "
            "ratio of both.",
            {
                "difference = (attention(second)[0, 1:] / attention(first)[0, 1:]).log()": (
                    "weight = attention(second)[0, 1]"
                ),
                SAID: "return not torch.allclose(weight, torch.tensor(1.0).sigmoid(), atol=1e-3)",
            },
        ),
    ],
    alternatives=[
        Alternative(
            "another difference",
            {
                "= d_head**-0.25": "= (0.5 / d_head**0.5) ** 0.5",
                "torch.ones_like(difference)": "torch.full_like(difference, 0.5)",
            },
        ),
        Alternative(
            "weights_of",
            "attention = copy.deepcopy(attention)\n"
            "for layer in (attention.query, attention.key):\n"
            "    layer.weight[:] = 0\n"
            "    layer.weight[:, 1] = 1\n"
            "x = torch.zeros(1, 12, attention.query.in_features)\n"
            "x[0, 1:, 1] = attention.d_head**-0.25\n"
            "first, second = weights_of(attention, x)[:, 1:, :2].unbind(dim=-1)\n"
            "return bool(((second / first).log() - 1).abs().max() > 1e-3)",
        ),
    ],
    hints=[
        "Begin with a text of 12 words, all zeros. What must feature 1 be in all but the first so "
        "that their scores with the first word and with the second differ by 1?",
        "If feature 1 is 0 in the first word and b in all others, their scores are 0 with the "
        "first word and d_head · b² / √d_head with any other. Choose b so that this is 1.",
        "One call with feature 0 set to 1 in the first word gives that word's weights; another "
        "call, with the second word, gives the others. The logarithm of their ratio should be 1 in "
        "every row but the first.",
    ],
    excuses={
        "another number: 12 →": ENOUGH,
        "weights_of / operands swapped": "the size of a difference has no sign",
        "weights_of / statement dropped: attention = copy": "nobody uses the module again",
        "weights_of / another comparison": NEARLY,
        "weights_of / another number": "there is one text, so −1 is the first",
        "call dropped: x.clone()": "one of the two may be x itself",
        "another number: 1 → 2": "any feature will do but 0",
        "another number: 0 → -1": "there is one text, so −1 is the first",
        "another difference / another number: 0 → -1": "likewise",
        "another difference / arguments swapped": NEARLY,
        "another difference / keyword dropped": "a stricter tolerance will do",
        "arguments swapped": NEARLY,
        "elements swapped: (attention.query": "the order does not matter",
        "keyword dropped": "a stricter tolerance will do",
        "statement dropped: layer.weight[:] = 0": "all other features are 0",
    },
)

# ---------------------------------------------------------------- diagnose

DIAGNOSES = {
    DROPOUT: "With dropout, two calls with the same input differ. Here they don't.",
    LEAK: "No later word changes an earlier output of this module.",
    BLIND_SPOT: "Every word of this module sees itself and all words before it.",
    MIXING: "In this module, texts and heads stay apart.",
    WRONG_SUM: "The weights of this module sum to 1.",
    WRONG_SCALE: "The scores of this module are scaled by √d_head.",
    SOUND: "This module isn't sound: something is wrong with it.",
}

DRAWN = "x = torch.randn(1, 12, attention.query.in_features)"
TWICE = 'if not torch.equal(attention(x), attention(x)):\n        return "dropout"\n    '
LAST = 'return "wrong scale" if find_scale(attention)'

diagnose = Exercise(
    "diagnose",
    returns="disease",
    choices=DIAGNOSES,
    steady=True,
    also=(),
    builds_on=("find_leak", "find_blind_spot", "find_mixing", "find_scale"),
    aspects=[
        telling_apart(
            "what the ward has", 2, "ACDEHOK", "dropout in the last head", "weights by sigmoid"
        ),
        telling_apart(
            "others of the same kind",
            1,
            "BGPJLNQT",
            "dropout of one number in a hundred",
            hidden=("head by head", "softmax in double precision"),
        ),
    ],
    mistakes=[
        Mistake(
            "dropout too late, or not at all",
            "One of these modules drops weights even in evaluation mode, and your tests mistake "
            "that for something else. Before you run them, call the module twice with the same "
            "input.",
            {TWICE: ""},
            {
                f"{DRAWN}\n    {TWICE}": "",
                LAST: f"{DRAWN}\n    {TWICE}{LAST}",
            },
        ),
        Mistake(
            "always sound",
            "You call everything sound. Use your tests.",
            "return 'sound'",
        ),
        Mistake(
            "scale before blind spot",
            "You ask `find_scale` before `find_blind_spot`. It compares weights, and a hidden one "
            "looks like a wrong scale to it.",
            {
                'if find_blind_spot(attention):\n        return "blind spot"': (
                    'if find_scale(attention):\n        return "wrong scale"\n    '
                    'if find_blind_spot(attention):\n        return "blind spot"'
                )
            },
        ),
        Mistake(
            "scale and sum exchanged",
            "You call a wrong scale a wrong sum, and vice versa.",
            {
                'return "wrong sum"': 'return "wrong scale"',
                LAST: 'return "wrong sum" if find_scale(attention)',
            },
        ),
    ],
    alternatives=[
        Alternative(
            "by a table",
            "x = torch.randn(1, 12, attention.query.in_features)\n"
            "if not torch.equal(attention(x), attention(x)):\n    return 'dropout'\n"
            "tests = {'leak': find_leak, 'blind spot': find_blind_spot, 'mixing': find_mixing,\n"
            "         'wrong sum': find_wrong_sum, 'wrong scale': find_scale}\n"
            "return next((name for name, test in tests.items() if test(attention)), 'sound')",
        ),
        Alternative(
            "another order",
            "x = torch.randn(1, 12, attention.query.in_features)\n"
            "if (attention(x) != attention(x)).any():\n    return 'dropout'\n"
            "if find_mixing(attention):\n    return 'mixing'\n"
            "if find_blind_spot(attention):\n    return 'blind spot'\n"
            "if find_wrong_sum(attention):\n    return 'wrong sum'\n"
            "if find_leak(attention):\n    return 'leak'\n"
            "return 'wrong scale' if find_scale(attention) else 'sound'",
        ),
    ],
    hints=[
        "You have a test for every disease but dropout. What does a module with dropout do that no "
        "other does?",
        "Call the module twice with the same input, and compare, before anything else.",
        "Then run the tests one by one, `find_scale` last, and return the name of the disease as "
        "soon as one says True. If none does, the module is sound.",
    ],
    excuses={
        "another number: 12 →": ENOUGH,
        "another number: 1 → 2": ENOUGH,
        "arguments swapped: torch.randn": "twelve texts of one word will do as well",
        "random start": RANDOM,
    },
)

# ---------------------------------------------------------------- repair_1


def in_window(n_query: int, n_key: int, window: int, leading: str = "") -> Inputs:
    """Newest queries of a longer text, with a window."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.choose("n_query", n_query).choose("n_key", n_key)
        return draw.arguments(leading, window=window)

    return case


def opposed(draw: Draw) -> dict[str, Any]:
    """Queries and keys that point away from each other, so that all scores are far below −100."""
    draw.fix(n_query=3).choose("n_key", 5)
    direction = draw.normal("d_k", 20.0)
    query, key = draw.normal("n_query d_k"), draw.normal("n_key d_k")
    return draw.arguments(query=query + direction, key=key - direction, window=2)


CUT = "first = max(0, n_key - n_query - window + 1)"
STILL_ILL = "This is still the code as it came in. "

repair_1 = Exercise(
    "repair_1",
    returns="context",
    begins_with="as it came in",
    aspects=[
        Aspect(
            "several queries",
            1,
            [
                in_window(2, 6, 3),
                in_window(3, 7, 2, "batch"),
                in_window(5, 9, 2),
                in_window(3, 8, 3),
            ],
        ),
        Aspect(
            "one query, or a window as long as the text",
            1,
            [in_window(3, 5, 9), opposed, in_window(3, 4, 2), in_window(1, 6, 3)],
        ),
    ],
    mistakes=[
        Mistake(
            "as it came in",
            STILL_ILL + "Which keys does the *first* of the queries need? Are they all there?",
            {CUT: "first = max(0, n_key - window)"},
        ),
        Mistake(
            "one key too few",
            "You keep one key too few: the first query loses the oldest word of its window.",
            {CUT: "first = max(0, n_key - n_query - window + 2)"},
        ),
        Mistake(
            "a window of one more",
            "The cut was wrong, but the window was right. Now yours has one word too many.",
            {"(distance < window)": "(distance <= window)"},
        ),
        Mistake(
            "no window",
            "Your words see everything before them. Only the last `window` words may be seen.",
            {"(distance >= 0) & (distance < window)": "distance >= 0"},
        ),
        Mistake(
            "NaN covered up",
            "Your code puts zeros where there was NaN. But these queries should see some keys, and "
            "those were cut off too early.",
            {
                CUT: "first = max(0, n_key - window)",
                "softmax(dim=-1) @ value": "softmax(dim=-1).nan_to_num() @ value",
            },
        ),
    ],
    alternatives=[
        Alternative("nothing cut off", {CUT: "first = 0"}),
        Alternative("the length to keep", {CUT: "first = max(0, n_key - (window + n_query - 1))"}),
    ],
    hints=[
        "Take six keys, three queries and a window of two. Which keys does each query see?",
        "The first query is n_query − 1 places before the last. How far back does it look?",
        "`first` is the oldest key that anybody sees: `window` − 1 places before the first query.",
    ],
    excuses={
        "another number: 1 → 0": "one key too many is hidden by the mask",
        "one operand dropped: n_key - n_query - window + 1": "likewise",
        "another operator: n_key - n_query - window + 1": "likewise",
        "operands swapped: n_key - n_query": "likewise: all are kept",
        "the length to keep / one operand dropped": "likewise",
        "the length to keep / another operator": "likewise",
        "the length to keep / another number": "likewise",
        "the length to keep / arguments swapped": "the larger of two, in either order",
        "arguments swapped: max": "the larger of two, in either order",
        "operands swapped: (distance": "the order does not matter",
        "another fill: $X.masked_fill($M, -1e": "each query has a key to see",
        "another fill: $X.masked_fill($M, torch.finfo": "each query has a key to see",
        "another argument: key → value in (query": "there are as many values as keys",
        "another argument: query → key in query.shape[-1]": "both have d_k features",
        "in place: key.transpose": "this is the only use of the keys",
    },
)

# ---------------------------------------------------------------- repair_2


def far_rows(scale: float) -> Inputs:
    """Scores whose rows are far from each other."""

    def case(draw: Draw) -> dict[str, Any]:
        scores = draw.normal("batch n_query n_key")
        rows = torch.arange(scores.shape[1])[:, None] - 1.0
        return {"attn_scores": scores + scale * rows}

    return case


def wide_rows(draw: Draw) -> dict[str, Any]:
    """Scores that are far from each other within a row; the largest is at another place in each."""
    scores = draw.normal("batch n_query n_key")
    n_query, n_key = scores.shape[1:]
    place = torch.arange(n_query)[:, None] + torch.arange(n_key)
    return {"attn_scores": scores + 300.0 * (place % n_key)}


def far_texts(draw: Draw) -> dict[str, Any]:
    """Texts whose scores are far from each other."""
    scores = draw.normal("batch n_query n_key")
    return {"attn_scores": scores + 300.0 * torch.arange(len(scores))[:, None, None]}


LARGEST = "attn_scores.amax(dim=-1, keepdim=True)"

repair_2 = Exercise(
    "repair_2",
    returns="attn_weights",
    begins_with="as it came in",
    aspects=[
        Aspect(
            "rows that are far apart",
            2,
            [wide_rows, far_texts, far_rows(150.0), far_rows(-400.0)],
        ),
        Aspect("gradients", 1, [far_rows(200.0), drawn("batch", 3.0)], gradients=True),
    ],
    mistakes=[
        Mistake(
            "as it came in",
            STILL_ILL + "What happens to a row whose scores are all far below the overall maximum?",
            {LARGEST: "attn_scores.amax()"},
        ),
        Mistake(
            "one maximum for each text",
            "You subtract the largest score of each text. Its rows may still be far apart.",
            {LARGEST: "attn_scores.amax(dim=(-2, -1), keepdim=True)"},
        ),
        Mistake(
            "one maximum for all texts",
            "You subtract one maximum from several texts. They may be far apart.",
            {LARGEST: "attn_scores.amax(dim=(0, -1), keepdim=True)"},
        ),
        Mistake(
            "another number of the row",
            "You subtract something other than the largest score from each row. If the largest is "
            "far above it, `exp` overflows.",
            {LARGEST: "attn_scores.mean(dim=-1, keepdim=True)"},
            {LARGEST: "attn_scores.amin(dim=-1, keepdim=True)"},
            {LARGEST: "attn_scores.median(dim=-1, keepdim=True).values"},
            {LARGEST: "attn_scores[..., :1]"},
        ),
        Mistake(
            "along the wrong dimension",
            "You subtract the largest score of each *column*. That isn't the same number for a "
            "whole row, so it changes the weights.",
            {LARGEST: "attn_scores.amax(dim=-2, keepdim=True)"},
        ),
        Mistake(
            "nothing taken off",
            "Unless you subtract the largest score, `exp` overflows.",
            {f"(attn_scores - {LARGEST}).exp()": "attn_scores.exp()"},
        ),
        Mistake(
            "NaN covered up",
            "Your code puts zeros where there was NaN. The weights of each row have to sum to 1.",
            {
                LARGEST: "attn_scores.amax()",
                "exps / exps.sum(dim=-1, keepdim=True)": (
                    "(exps / exps.sum(dim=-1, keepdim=True)).nan_to_num()"
                ),
            },
        ),
        Mistake(
            "a little added to the sum",
            "You added a tiny number to the sum, so that it's never 0. That gives weights of 0 to "
            "rows that are far below the largest.",
            {
                LARGEST: "attn_scores.amax()",
                "exps.sum(dim=-1, keepdim=True)": "(exps.sum(dim=-1, keepdim=True) + 1e-9)",
            },
        ),
    ],
    alternatives=[
        Alternative("torch's own", "return attn_scores.softmax(dim=-1)"),
        Alternative(
            "by logarithms",
            "return (attn_scores - attn_scores.logsumexp(dim=-1, keepdim=True)).exp()",
        ),
    ],
    hints=[
        "Try two rows: scores near 0 and scores near 300. What does each step make of the first "
        "row?",
        "`exp` of −300 is 0 in float32, and 0 / 0 is NaN. What should you subtract from the first "
        "row?",
        "Each row needs its own largest score; `dim` and `keepdim` say so.",
    ],
    excuses={
        "result clamped": "weights lie between 0 and 1",
        "result without signs": "likewise",
        "result without negatives": "likewise",
    },
)

# ---------------------------------------------------------------- repair_3


def padded(*lengths: int, padding: int = 0) -> Inputs:
    """Texts of these lengths, with padding after them."""

    def case(draw: Draw) -> dict[str, Any]:
        n = max(lengths)
        draw.fix(batch=len(lengths), n=n, n_words=9)
        words = torch.randint(1, 9, (len(lengths), n), generator=draw.generator)
        words = words if padding == 0 else words % 8
        tokens = words.masked_fill(torch.arange(n) >= torch.tensor(lengths)[:, None], padding)
        return draw.arguments(tokens=tokens, padding=padding)

    return case


def padded_first(draw: Draw) -> dict[str, Any]:
    """Texts with padding before them."""
    case = padded(6, 3)(draw)
    return case | {"tokens": case["tokens"].flip(1)}


def certain(draw: Draw) -> dict[str, Any]:
    """A model that is sure of itself, and right in many places, where the loss is exactly 0."""
    case = padded(7, 5)(draw)
    right = torch.nn.functional.one_hot(case["tokens"].roll(-1, 1), 9)
    often = torch.tensor([1, 1, 0, 1, 1, 0, 1])[:, None]
    return case | {"logits": case["logits"] + 200.0 * right * often}


LOSS = "return (losses * counts).sum() / counts.sum()"

repair_3 = Exercise(
    "repair_3",
    returns="loss",
    also=(DOUBLE, GRADIENTS, AGAIN),
    begins_with="as it came in",
    aspects=[
        Aspect("texts of different lengths", 2, [padded(7, 2, 4), padded(5, 5, 5, 5)]),
        Aspect("another padding", 1, [padded(3, 6, padding=8), padded_first]),
        Aspect("targets that cost nothing", 1, [certain]),
    ],
    mistakes=[
        Mistake(
            "as it came in",
            STILL_ILL + "Take a text of two targets and one of twenty. How much does each target "
            "count?",
            {LOSS: "return ((losses * counts).sum(dim=1) / counts.sum(dim=1)).mean()"},
        ),
        Mistake(
            "divided by all places",
            "You divide by the number of all places, padding included, so padding makes the loss "
            "smaller.",
            {LOSS: "return (losses * counts).mean()"},
        ),
        Mistake(
            "inputs that are padding",
            "You leave out the places where the *input* is padding. What counts is the target, "
            "which is the next word.",
            {"counts = target != padding": "counts = tokens[:, :-1] != padding"},
        ),
        Mistake(
            "losses of zero left out",
            "You leave out targets whose loss is 0. A model that is sure and right has earned "
            "them.",
            {LOSS: "counts = counts & (losses > 0)\n    " + LOSS},
        ),
        Mistake(
            "padding counts",
            "Your mean includes padding.",
            {LOSS: "return losses.mean()"},
        ),
        Mistake(
            "a sum",
            "This is the sum of the losses. Divide it by the number of targets that count.",
            {LOSS: "return (losses * counts).sum()"},
        ),
        Mistake(
            "divided by the number of texts",
            "You divide by the number of texts, so long texts make the loss larger. Divide by the "
            "number of targets that count.",
            {LOSS: "return (losses * counts).sum() / len(tokens)"},
        ),
    ],
    alternatives=[
        Alternative(
            "ignore_index",
            "return F.cross_entropy(\n"
            "    logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=padding\n"
            ")",
        ),
        Alternative("picked out", {LOSS: "return losses[counts].mean()"}),
    ],
    hints=[
        "Which targets count, and how much does each? They should all count the same.",
        "A mean of means isn't the mean: a short text's words count more.",
        "Add up all losses that count, in all texts, and divide once.",
    ],
    excuses={
        "result squeezed": "it has no dimensions",
        "result flipped": "likewise",
        "result without signs": "no loss is negative",
        "result without negatives": "likewise",
    },
)

# ---------------------------------------------------------------- repair_4


def in_pieces(n_past: int, leading: str = "", **sizes: int) -> Inputs:
    """A few new words after n_past others."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.choose("n_past", n_past).choose("d_head", 6, 8).fix(**sizes).choose("n", 3, 4)
        return draw.fix(**sizes).arguments(leading)

    return case


def first_call(draw: Draw) -> dict[str, Any]:
    """The first words of a text; each word's score with itself is far below −100."""
    draw.choose("d_head", 6, 8)
    query, value = draw.normal("n d_head", 20.0), draw.normal("n d_v")
    past = {"past_key": query[:0], "past_value": value[:0]}
    return {"query": query, "key": -query, "value": value} | past


PLACE = "place = torch.arange(n_past, n_past + n)"
KEYS = "query, key = rotate_pairs(query, place), rotate_pairs(key, place)"

repair_4 = Exercise(
    "repair_4",
    returns="context",
    also=(DOUBLE, GRADIENTS, AGAIN),
    begins_with="as it came in",
    aspects=[
        Aspect("after other words", 2, [in_pieces(5), in_pieces(2, "batch")]),
        Aspect(
            "the first words, and long texts",
            1,
            [first_call, in_pieces(61, n=1), in_pieces(2, d_v=1)],
        ),
    ],
    mistakes=[
        Mistake(
            "as it came in",
            STILL_ILL + "Where in the text are the new words, if there are others before them?",
            {PLACE: "place = torch.arange(n)"},
        ),
        Mistake(
            "off by one",
            "Your places are off by one: the earlier words have the places 0 to n_past − 1.",
            {PLACE: "place = torch.arange(n_past, n_past + n) - 1"},
            {PLACE: "place = torch.arange(n_past, n_past + n) + 1"},
        ),
        Mistake(
            "only the queries",
            "You moved the queries to their places, but not their keys.",
            {KEYS: "query, key = rotate_pairs(query, place), rotate_pairs(key, place - n_past)"},
        ),
        Mistake(
            "keys turned twice",
            "The earlier keys have been turned already, and you turn them again.",
            {
                KEYS: "query = rotate_pairs(query, place)",
                "keep = torch": (
                    "key = rotate_pairs(key, torch.arange(n_past + n))\n    keep = torch"
                ),
            },
        ),
        Mistake(
            "the mask at the top left",
            "The places were wrong, but the mask was right. Now yours hides earlier words.",
            {".tril(n_past)": ".tril()"},
        ),
    ],
    alternatives=[
        Alternative(
            "counted from the end",
            {PLACE: "place = torch.arange(n_past + n)[n_past:]"},
        ),
        Alternative(
            "hidden by places",
            {
                "keep = torch.ones(n, n_past + n, dtype=torch.bool).tril(n_past)": (
                    "keep = place[:, None] >= torch.arange(n_past + n)"
                )
            },
        ),
    ],
    hints=[
        "Take two earlier words and one new word. At which place is the new one?",
        "The mask knows how many words came before. Does everything else?",
        "The new words' places begin after the n_past earlier ones, not at 0.",
    ],
    excuses={
        "another fill: $X.masked_fill($M, -1e": "each query has a key to see",
        "another fill: $X.masked_fill($M, torch.finfo": "each query has a key to see",
        "another argument: query → key in": "there are as many queries as keys, of one size",
        "another argument: query → value in": "there are as many values as queries",
        "another argument: query → past_key in": "all have d_head features",
        "another argument: past_key → past_value in": "there are as many values as keys",
        "in place: key.transpose": "this is the only use of the keys",
    },
)

# ---------------------------------------------------------------- smallest_input


def two(name: str) -> Inputs:
    """A healthy module and an ill one with the same weights."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.label(f"like patient {name}" if name in PATIENTS else name)
        healthy, ill = modules(draw, HEALTHY, module_named(name))
        return {"healthy": healthy, "ill": ill}

    return case


SEARCH = "for batch in range(1, words + 1):"
FOUND = "                        return x"

smallest_input = Exercise(
    "smallest_input",
    returns="x",
    measure="tell apart",
    steady=True,
    also=(AGAIN,),
    aspects=[
        Aspect(
            "defects of a word or two",
            1,
            [*map(two, "CDQ"), two("a trace of the next text")],
        ),
        Aspect(
            "several defects at once",
            1,
            [
                two("a trace of the next text, and the third word blind"),
                two("a trace of the text after the next, and a leak"),
            ],
        ),
        Aspect(
            "defects that need more",
            1,
            [
                *map(two, "EJT"),
                two("the last of several texts without a mask"),
                two("a trace of the word after the next"),
            ],
            hidden_cases=[two("S")],
        ),
        Aspect(
            "defects that depend on a limit",
            1,
            [two("N"), two("a mask for eight words only"), two("I")],
        ),
    ],
    mistakes=[
        Mistake(
            "a large one",
            "Your input tells the two apart, but it's larger than it has to be. Start with one "
            "word, and go up.",
            "return torch.randn(1, 16, healthy.query.in_features)",
            {"range(1, 17)": "range(16, 0, -1)"},
        ),
        Mistake(
            "a single word",
            "For some of these modules, your input doesn't tell them apart. Compare the outputs "
            "before you return it.",
            "return torch.randn(1, 1, healthy.query.in_features)",
        ),
        Mistake(
            "two words",
            "Your input always has two words. Some defects show with one; others need more.",
            "return torch.randn(1, 2, healthy.query.in_features)",
        ),
        Mistake(
            "too few words tried",
            "You stop too early: a defect that depends on a limit shows only beyond it. Try up to "
            "16 words.",
            {"range(1, 17)": "range(1, 9)", FOUND: f"{FOUND}\n    return x"},
        ),
        Mistake(
            "one text only",
            "You try only single texts. To catch numbers that get from one text into another, you "
            "need two texts, with a word in each.",
            {SEARCH: "for batch in range(1, 2):", FOUND: f"{FOUND}\n    return x"},
        ),
        Mistake(
            "texts before words",
            "You try all lengths of a single text first, and then two texts. But two texts of one "
            "word are smaller than a text of three.",
            "d_model = healthy.query.in_features\n"
            "for batch in range(1, 17):\n"
            "    for n in range(2, 17):\n"
            "        x = torch.randn(batch, n, d_model)\n"
            "        if (healthy(x) - ill(x)).abs().max() > 1e-4:\n"
            "            return x",
        ),
        Mistake(
            "a tolerance that is too large",
            "For some of these modules, you found no input, or one that is too large: their defect "
            "is a small one. Outputs differ if some number is off by more than 1e-4.",
            {"> 1e-4": "> 0.1"},
        ),
        Mistake(
            "no dimension for the texts",
            "Your input has no dimension for the texts. It should be [batch, n, d_model].",
            {"return x": "return x[0]"},
        ),
    ],
    alternatives=[
        Alternative(
            "sorted by size",
            "shapes = [(b, n) for b in range(1, 5) for n in range(1, 17)]\n"
            "for batch, n in sorted(shapes, key=lambda shape: shape[0] * shape[1]):\n"
            "    x = torch.randn(batch, n, healthy.query.in_features)\n"
            "    if not torch.allclose(healthy(x), ill(x), rtol=0, atol=1e-4):\n"
            "        return x",
        ),
        Alternative(
            "divided with a rest",
            "d_model = healthy.query.in_features\n"
            "for words in range(1, 17):\n"
            "    for batch in range(1, words + 1):\n"
            "        n, rest = divmod(words, batch)\n"
            "        x = torch.randn(batch, n, d_model)\n"
            "        if not rest and (healthy(x) - ill(x)).abs().max() > 1e-4:\n"
            "            return x",
        ),
    ],
    hints=[
        "Try sizes from 1 word up, and stop at the first that shows a difference.",
        "For each size, draw random words, [batch, n, d_model], and compare what the two modules "
        "answer.",
        "Six words, say, may be one text of six, two of three, three of two or six of one: try "
        "each number of texts that divides the number of words. d_model is "
        "`healthy.query.in_features`.",
    ],
    excuses={
        "random start": RANDOM,
        "another number: 17 →": "ten words are enough for all of these",
        "another number: 1 → 0": "no words tell nothing apart",
        "another number: 1 → 2 (3)": "likewise",
        "argument dropped: range(1, 17)": "likewise",
        "condition fixed: if words % batch": "what is rounded down was tried before",
        "another argument: healthy → ill": "both have the same sizes",
        "another number: 5 →": "three texts of each size are enough for these modules",
        "loop ended early: for _": "one is enough for these",
        "operands swapped: healthy(x) - ill(x)": "the size of a difference has no sign",
        "call dropped: (healthy(x) - ill(x)).abs()": "some differences are positive",
        "another comparison: (healthy(x)": NEARLY,
        "arguments swapped: torch.randn(batch": "all numbers of texts are tried",
        "sorted by size / argument dropped": "no texts tell nothing apart",
        "sorted by size / another number": ENOUGH,
        "sorted by size / another argument: healthy → ill": "both have the same sizes",
        "sorted by size / arguments swapped": NEARLY,
        "sorted by size / random start": RANDOM,
        "sorted by size / keyword dropped": NEARLY,
        "divided with a rest / operands swapped": "the size of a difference has no sign",
        "divided with a rest / call dropped: (healthy": "some differences are positive",
        "divided with a rest / another comparison": NEARLY,
        "divided with a rest / and for or": "what is rounded down was tried before",
        "divided with a rest / arguments swapped": NEARLY,
        "divided with a rest / random start": RANDOM,
    },
)

# ---------------------------------------------------------------- first_difference


def stacks(*ill: str) -> Inputs:
    """Two models with the same weights, except for some parts, and an input."""

    def case(draw: Draw) -> dict[str, Any]:
        seed = int(torch.randint(1000, (), generator=draw.generator))
        healthy, other = (Code(stack_code(8, 2, seed, parts)) for parts in ([], list(ill)))
        words = f"x = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed({seed}))"
        return {"healthy": healthy, "ill": other, "x": Code(words)}

    return case


OUTPUTS_DIFFER = "not torch.allclose(output, others[name], rtol=0, atol=1e-4)"

first_difference = Exercise(
    "first_difference",
    returns="part",
    choices={name: "This part isn't the first whose output differs." for name in PART_NAMES},
    also=(AGAIN,),
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
        ),
        Alternative(
            "by the shares of each part",
            {OUTPUTS_DIFFER: "(output - others[name]).abs().max() > 1e-4"},
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
        "elements swapped": "the order of the calls decides",
        "statement dropped: hook.remove()": "nobody runs these models again",
        "call dropped: hook.remove()": "likewise",
        "loop ended early: for hook": "likewise",
        "lists of pairs / loop ended early: for hook": "likewise",
        "lists of pairs / operands swapped: right - other": "a difference has no sign",
        "lists of pairs / arguments swapped": "likewise",
        "lists of pairs / another comparison": NEARLY,
        "by the shares of each part / operands swapped": "likewise",
        "by the shares of each part / another comparison": NEARLY,
        "by the shares of each part / in place": "the function ends there, or nothing was changed",
        "arguments swapped: torch.allclose": NEARLY,
        "keyword dropped: torch.allclose": "these differences are larger than any tolerance",
    },
)

EXERCISES = (
    find_leak,
    find_blind_spot,
    find_mixing,
    find_scale,
    diagnose,
    repair_1,
    repair_2,
    repair_3,
    repair_4,
    smallest_input,
    first_difference,
)

# ---------------------------------------------------------------- predictions

PREDICTIONS = [
    Prediction(
        "zeros_pass",
        right="yes",
        choices={
            "yes": "All numbers of the right result are smaller than the tolerance, so 0 is close "
            "enough.",
            "no": "The right result has no number above 0.5, so 0 is within the tolerance.",
        },
    ),
    Prediction(
        "the_last_output_moves",
        right="yes",
        choices={
            "yes": "The word doesn't see itself, but it asks: its query has changed.",
            "no": "The word's value doesn't arrive, but its query has changed as well.",
        },
    ),
    Prediction(
        "right_by_luck",
        right="6 query heads with 1 key head, or with 6",
        choices={
            "6 query heads with 1 key head": "Yes, but it isn't the only one.",
            "6 query heads with 2 key heads": (
                "Tiled: 0, 1, 0, 1, 0, 1. Repeated: 0, 0, 0, 1, 1, 1."
            ),
            "6 query heads with 1 key head, or with 6": (
                "With one key head there is nothing to confuse, and with six, nothing to copy."
            ),
        },
    ),
    Prediction(
        "a_leak_in_h",
        right="True",
        choices={
            "True": "Its outputs move from call to call. The test can't know why.",
            "False": "There is no leak. But the outputs move from call to call.",
        },
    ),
]
