"""Patients for the debugging clinic: attention that runs but is wrong, and some that is right.

Each patient is the code below with a few lines changed, as somebody once wrote them. The stories
name the sources; all code is new.
"""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import torch
import torch.nn.functional as F
from torch import nn

source_of = cache(inspect.getsource)  # which takes milliseconds


class Attention(nn.Module):
    """Causal self-attention, [batch, n, d_model] → same; n_kv_heads serve n_heads in groups."""

    def __init__(self, d_model, n_heads, n_kv_heads, dropout=0.1):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.d_head = n_heads, n_kv_heads, d_model // n_heads
        self.query = nn.Linear(d_model, n_heads * self.d_head, bias=False)
        self.key = nn.Linear(d_model, n_kv_heads * self.d_head, bias=False)
        self.value = nn.Linear(d_model, n_kv_heads * self.d_head, bias=False)
        self.output = nn.Linear(n_heads * self.d_head, d_model, bias=False)
        self.dropout = dropout

    def split(self, x, n_heads):
        batch, n, _ = x.shape
        return x.view(batch, n, n_heads, self.d_head).transpose(1, 2)

    def weigh(self, query, key):
        n_key, n_query = key.shape[-2], query.shape[-2]
        scores = query @ key.transpose(-2, -1) / self.d_head**0.5
        future = torch.ones(n_query, n_key, dtype=torch.bool).triu(n_key - n_query + 1)
        return scores.masked_fill(future, -torch.inf).softmax(dim=-1)

    def attend(self, query, key, value):
        group = self.n_heads // self.n_kv_heads
        key = key.repeat_interleave(group, dim=1)
        value = value.repeat_interleave(group, dim=1)
        weights = F.dropout(self.weigh(query, key), self.dropout, self.training)
        context = weights @ value
        return context.transpose(1, 2).flatten(2)

    def forward(self, x):
        query = self.split(self.query(x), self.n_heads)
        key = self.split(self.key(x), self.n_kv_heads)
        value = self.split(self.value(x), self.n_kv_heads)
        return self.output(self.attend(query, key, value))


class CachedAttention(Attention):
    """The same, but it reads two words at a time, and keeps their keys and values for later."""

    def forward(self, x):
        keys, values, contexts = [], [], []
        for words in x.split(2, dim=1):
            query = self.split(self.query(words), self.n_heads)
            keys.append(self.split(self.key(words), self.n_kv_heads))
            values.append(self.split(self.value(words), self.n_kv_heads))
            contexts.append(self.attend(query, torch.cat(keys, dim=2), torch.cat(values, dim=2)))
        return self.output(torch.cat(contexts, dim=1))


LEAK, BLIND_SPOT, MIXING = "leak", "blind spot", "mixing"
WRONG_SUM, WRONG_SCALE, DROPOUT, SOUND = "wrong sum", "wrong scale", "dropout", "sound"


@dataclass(frozen=True)
class Patient:
    """A module with a story.

    diseases: what is wrong with it; empty if it's sound.
    seen_in: where its defect was reported or repaired, as a repository and a number; "" if it's
        sound.
    edits: a piece of the code above → what this patient has instead.
    cached: whether it is a `CachedAttention`.
    """

    diseases: tuple[str, ...]
    story: str
    seen_in: str = ""
    edits: Mapping[str, str] = field(default_factory=dict)
    cached: bool = False

    @property
    def link(self) -> str:
        """The address of the report or the repair; "" if there is none."""
        repository, _, number = self.seen_in.partition("#")
        return f"https://github.com/{repository}/issues/{number}" if number else ""

    def counts_for(self, disease: str) -> bool:
        """Whether a test for a disease should give the right answer for this patient.

        A patient with several diseases counts only for those, since they may trip other tests; so
        does one whose outputs are random. A test for the scale compares weights, and hidden ones
        trip it.
        """
        if len(self.diseases) > 1 or DROPOUT in self.diseases:
            return disease in self.diseases
        return not (disease == WRONG_SCALE and BLIND_SPOT in self.diseases)

    @property
    def code(self) -> str:
        """Its code: one or two classes, the last named `Patient`.

        Raises ValueError if an edit doesn't fit in exactly one place.
        """
        classes = [Attention, CachedAttention] if self.cached else [Attention]
        code = "\n\n".join(map(source_of, classes))
        for old, new in self.edits.items():
            if code.count(old) != 1:
                raise ValueError(f"{old!r} occurs {code.count(old)} times in the code")
            code = code.replace(old, new)
        return code.replace(f"class {classes[-1].__name__}(", "class Patient(")

    def make(
        self, d_model: int = 30, n_heads: int = 6, n_kv_heads: int = 2, seed: int = 0
    ) -> nn.Module:
        """Build the module, in evaluation mode, with weights drawn from a seed."""
        sizes = {"d_model": d_model, "n_heads": n_heads, "n_kv_heads": n_kv_heads, "seed": seed}
        names: dict = {"nn": nn, "torch": torch, "F": F, **sizes}
        exec(self.building_code, names)
        return names["patient"]

    @property
    def building_code(self) -> str:
        """Code that defines `patient`, the module that `make` builds, from the sizes by name."""
        return "\n\n".join([self.code, source_of(with_drawn_weights), MADE])


MADE = "patient = with_drawn_weights(Patient(d_model, n_heads, n_kv_heads), seed)"


def with_drawn_weights(module, seed):
    """Return the module in evaluation mode, with weights drawn from a seed."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in module.parameters():
            weight.normal_(std=1.2 * weight.shape[1] ** -0.5, generator=generator)
    return module.eval().requires_grad_(False)


FUTURE = "future = torch.ones(n_query, n_key, dtype=torch.bool).triu(n_key - n_query + 1)"
SCORES = "scores = query @ key.transpose(-2, -1) / self.d_head**0.5"
WEIGHTS = "return scores.masked_fill(future, -torch.inf).softmax(dim=-1)"
REPEATED = ".repeat_interleave(group, dim=1)"
CONTEXT = "return context.transpose(1, 2).flatten(2)"
RESULT = "return self.output(self.attend(query, key, value))"

HEALTHY = Patient((), "As it should be.")
PATIENTS = {
    "A": Patient(
        (LEAK,),
        "The causal mask came only together with the mask for padding. Without padding, there was "
        "neither.",
        "facebookresearch/xformers#103",
        {
            "def weigh(self, query, key):": "def weigh(self, query, key, keep=None):",
            WEIGHTS: (
                "if keep is not None:\n"
                "            scores = scores.masked_fill(future | ~keep, -torch.inf)\n"
                "        return scores.softmax(dim=-1)"
            ),
        },
    ),
    "B": Patient(
        (),
        "Reading in pieces, and keeping the keys and values of earlier ones, is how models write "
        "word by word. Here the mask is right for every piece.",
        cached=True,
    ),
    "C": Patient(
        (MIXING,),
        "Keys and values were tiled (0, 1, 0, 1), but should have been repeated (0, 0, 1, 1), so "
        "some heads used the keys of others. Grouped queries hadn't been tested well enough.",
        "ekzhang/jax-js#180",
        {
            f"key = key{REPEATED}": "key = key.repeat(1, group, 1, 1)",
            f"value = value{REPEATED}": "value = value.repeat(1, group, 1, 1)",
        },
    ),
    "D": Patient(
        (WRONG_SCALE,),
        "The queries were scaled, and then a library function scaled the scores again.",
        "huggingface/transformers#38290",
        {SCORES: f"query = query / self.d_head**0.5\n        {SCORES}"},
    ),
    "E": Patient(
        (BLIND_SPOT,),
        "The mask began at the top left: the first query of each piece saw one word, although the "
        "model had read many before.",
        "hyprstream/hyprstream#1521",
        {FUTURE: FUTURE.replace("n_key - n_query + 1", "1")},
        cached=True,
    ),
    "F": Patient(
        (WRONG_SUM, LEAK),
        "The mask came after softmax. In the original, it put −∞ among the weights. Here, it puts "
        "0, and later words still have their share of the sum.",
        "huggingface/pytorch-image-models#2236",
        {WEIGHTS: "return scores.softmax(dim=-1).masked_fill(future, 0.0)"},
    ),
    "G": Patient(
        (),
        "A large negative number hides a score just as well as −∞ does, as long as something is "
        "left to see.",
        edits={WEIGHTS: WEIGHTS.replace("-torch.inf", "-1e9")},
    ),
    "H": Patient(
        (DROPOUT,),
        "The function for dropout doesn't know whether the model is being trained, unless it's "
        "told. “This is a recurring bug I see around,” wrote somebody who repaired it in several "
        "libraries.",
        "huggingface/pytorch-image-models#1978",
        {"self.dropout, self.training)": "self.dropout)"},
    ),
    "I": Patient(
        (WRONG_SUM, MIXING),
        "One softmax ran over all heads together, so the weights of a single head didn't sum to 1, "
        "and depended on the other heads.",
        "facebookresearch/detr#247",
        {
            WEIGHTS: (
                "scores = scores.masked_fill(future, -torch.inf).transpose(1, 2)\n"
                "        return scores.flatten(2).softmax(dim=-1).view_as(scores).transpose(1, 2)"
            )
        },
    ),
    "J": Patient(
        (LEAK,),
        "With a cache, no mask: right for one word at a time, but a prompt is read in one go. The "
        "training loss was 0.06, and the text that the model wrote was garbage.",
        "Mikyx-1/TinyLLM#17",
        {WEIGHTS: f"future[:] = False\n        {WEIGHTS}"},
        cached=True,
    ),
    "K": Patient(
        (),
        "The root is split between queries and keys, as in Whisper's code. The scores are the "
        "same.",
        edits={
            SCORES: "root = self.d_head**0.25\n        scores = (query / root) @ (key / root).mT"
        },
    ),
    "L": Patient(
        (WRONG_SCALE,),
        "The scores were divided by the root of the model's width, not of the head's. The author: "
        "“been coding Attention for nearly a year now and still making rookie mistakes.”",
        "lucidrains/vit-pytorch#65",
        {SCORES: SCORES.replace("self.d_head", "(self.n_heads * self.d_head)")},
    ),
    "M": Patient(
        (MIXING, BLIND_SPOT),
        "The layer took the first dimension for the words and the second for the texts. So a word "
        "saw words of other texts (in the original, other molecules), but only itself in its own.",
        "DaoyuanLi2816/Molecule-Generator#22",
        {
            "def forward(self, x):\n": "def forward(self, x):\n        x = x.transpose(0, 1)\n",
            RESULT: f"{RESULT}.transpose(0, 1)",
        },
    ),
    "N": Patient(
        (BLIND_SPOT,),
        "The cache was cut to size before the new words used it, so they lost words that they "
        "should have seen. (Here it's cut to eight words.)",
        "rasbt/LLMs-from-scratch#1008",
        {
            "torch.cat(keys, dim=2)": "torch.cat(keys[-4:], dim=2)",
            "torch.cat(values, dim=2)": "torch.cat(values[-4:], dim=2)",
        },
        cached=True,
    ),
    "O": Patient(
        (WRONG_SUM,),
        "The sums over two parts of the keys had different offsets, but were added as if the "
        "offsets were the same. A single part (here, four words) was right. The defect showed as "
        "poorer images.",
        "ROCm/rocm-libraries#6498",
        {
            WEIGHTS: (
                "scores = scores.masked_fill(future, -torch.inf)\n"
                "        near, far = scores[..., :4], scores[..., 4:]\n"
                "        most = scores.amax(dim=-1, keepdim=True)\n"
                "        total = (near - near.amax(dim=-1, keepdim=True)).exp().sum(-1, True)\n"
                "        total = total + (far - most).exp().sum(-1, True)\n"
                "        return (scores - most).exp() / total"
            )
        },
    ),
    "P": Patient(
        (),
        "Powers of 2 instead of *e*, with scores made larger to match: fast code does that. It's "
        "wrong only where the two bases meet, as in sgl-project/sglang#35045.",
        edits={
            WEIGHTS: (
                "scores = scores.masked_fill(future, -torch.inf) / 0.6931471805599453\n"
                "        powers = torch.exp2(scores - scores.amax(dim=-1, keepdim=True))\n"
                "        return powers / powers.sum(dim=-1, keepdim=True)"
            )
        },
    ),
    "Q": Patient(
        (LEAK,),
        "Off by one in a search: at the end of each group of words, one saw a word too many. Here, "
        "every word sees the next. It was found by printing the mask in a debugger.",
        "octo-models/octo#75",
        {FUTURE: FUTURE.replace("+ 1", "+ 2")},
    ),
    "R": Patient(
        (MIXING, LEAK, BLIND_SPOT),
        "The heads were put side by side without being transposed first, so pieces of different "
        "words ended up in one. Training passed its test all the same; the task was too easy.",
        "jsbaan/transformer-from-scratch#6",
        {CONTEXT: "return context.reshape(len(context), context.shape[2], -1)"},
    ),
    "S": Patient(
        (WRONG_SUM, LEAK),
        "Softmax ran along the wrong dimension. Here, each key's weights sum to 1, not each "
        "query's.",
        "PetrochukM/PyTorch-NLP#2",
        {WEIGHTS: WEIGHTS.replace("dim=-1", "dim=-2")},
    ),
    "T": Patient(
        (BLIND_SPOT,),
        "Off by one the other way: no word saw itself. In the original, a blog post, that left "
        "nothing for the first word, and gave NaN. Here it happens only with a cache.",
        "pbloem/former#10",
        {FUTURE: FUTURE.replace("+ 1", "+ int(n_key == n_query)")},
        cached=True,
    ),
}
