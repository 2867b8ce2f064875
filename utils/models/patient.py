"""A patient of the debugging clinic: the attention below, with a few lines changed, and a story."""

import copy
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

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
    seen_in: where its defect was reported or repaired: a repository and an issue number; "" if
        it's sound.
    edits: a piece of the code above → what this patient has in its place.
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

        A patient with several diseases counts only for those, since they may trip other tests. The
        same holds for random outputs. Hidden weights trip a test for the scale, which compares
        weights.
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


LAYERS = ("query", "key", "value", "output")


def admit(module: nn.Module) -> nn.Module:
    """Return a copy of an attention module that tests can call, change and look into.

    It is in evaluation mode and float32, without gradients and biases, and knows its `n_kv_heads`
    and `d_head`.

    module: [batch, n, d_model] → same, with `n_heads` and the layers `query`, `key`, `value` and
        `output`. Raises ValueError if one is missing.
    """
    for name in LAYERS:
        if not isinstance(getattr(module, name, None), nn.Linear):
            raise ValueError(f"The module has no nn.Linear called `{name}`.")
    if not hasattr(module, "n_heads"):
        raise ValueError("The module has no attribute `n_heads`.")
    admitted: Any = copy.deepcopy(module).eval().float().requires_grad_(False)
    admitted.d_head = admitted.query.out_features // admitted.n_heads
    admitted.n_kv_heads = admitted.key.out_features // admitted.d_head
    for name in LAYERS:
        layer = getattr(admitted, name)
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)
    return admitted
