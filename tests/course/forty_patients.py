"""Forty causal self-attention modules with a known diagnosis, for examining tests of attention.

They were written without looking at the course's tests.

Each is built as `cls(d_model, n_heads, n_kv_heads)` and maps [batch, n, d_model] to that shape.
Its docstring begins with its diagnosis: a leak, a blind spot, mixing, a wrong sum, a wrong scale,
dropout, or sound. Defects that depend on the length depend on a word's position, so that only leaks
make a text's beginning depend on how it goes on. Shapes: [batch, head, word, feature].
"""

import math
import re

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

INF = float("inf")


def later(n: int, diagonal: int = 1) -> Tensor:
    """Return [n, n], true where the key (column) comes `diagonal` or more words after the query."""
    return torch.ones(n, n, dtype=torch.bool).triu(diagonal)


def scaled_scores(q: Tensor, k: Tensor) -> Tensor:
    """Return q·k / sqrt(d_head) for all pairs of words."""
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])


def causal(q: Tensor, k: Tensor, v: Tensor, dropout: float = 0.0) -> Tensor:
    """Attend by PyTorch's fused function."""
    return F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)


class Base(nn.Module):
    """Attention in steps, of which each subclass has some of its own."""

    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.d_head = n_heads, n_kv_heads, d_model // n_heads
        self.group = n_heads // n_kv_heads
        self.query = nn.Linear(d_model, n_heads * self.d_head, bias=False)
        self.key = nn.Linear(d_model, n_kv_heads * self.d_head, bias=False)
        self.value = nn.Linear(d_model, n_kv_heads * self.d_head, bias=False)
        self.output = nn.Linear(n_heads * self.d_head, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.join(self.attend(*self.project(x)))

    def split(self, features: Tensor) -> Tensor:
        """[batch, n, heads * d_head] -> [batch, heads, n, d_head]."""
        return features.unflatten(-1, (-1, self.d_head)).transpose(1, 2)

    def split_all(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries with n_heads heads, keys and values with n_kv_heads."""
        return self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))

    def repeat(self, features: Tensor) -> Tensor:
        """Repeat each key head for the query heads of its group."""
        return features.repeat_interleave(self.group, dim=1)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values, all with n_heads heads."""
        q, k, v = self.split_all(x)
        return q, self.repeat(k), self.repeat(v)

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return self.weigh(self.masked(q, k)) @ v

    def masked(self, q: Tensor, k: Tensor) -> Tensor:
        return scaled_scores(q, k).masked_fill(self.hidden(q.shape[-2]), -INF)

    def hidden(self, n: int) -> Tensor:
        return later(n)

    def weigh(self, scores: Tensor) -> Tensor:
        return scores.softmax(-1)

    def join(self, context: Tensor) -> Tensor:
        """[batch, n_heads, n, d_head] -> [batch, n, d_model]."""
        return self.output(context.transpose(1, 2).flatten(2))


# ---------------------------------------------------------------------------------------- leak


class PairPeek(Base):
    """Leak: the mask compares blocks of two words, so the first of a pair sees the second."""

    def hidden(self, n):
        block = torch.arange(n) // 2
        return block[None, :] > block[:, None]


class MultipliedMask(Base):
    """Leak: in the last group, later scores are multiplied by 0 instead of being set to -inf."""

    def masked(self, q, k):
        hidden = later(q.shape[-2])
        sizes = [self.n_heads - self.group, self.group]
        masked, multiplied = scaled_scores(q, k).split(sizes, dim=1)
        return torch.cat([masked.masked_fill(hidden, -INF), multiplied * ~hidden], dim=1)


class ShortMask(Base):
    """Leak: the mask is made for 8 words; for longer texts it's padded with "visible"."""

    def hidden(self, n):
        known = min(n, 8)
        return F.pad(later(known), (0, n - known, 0, n - known), value=False)


class ChunkOffByOne(Base):
    """Leak: in all chunks of 4 queries but the first, the mask starts one word too late."""

    def hidden(self, n):
        return torch.cat([later(n)[:4], later(n, diagonal=2)[4:]])


class LastTextUnmasked(Base):
    """Leak: in a batch of two or more texts, the last text isn't masked."""

    def masked(self, q, k):
        n_masked = max(1, len(q) - 1)
        first, last = super().masked(q[:n_masked], k[:n_masked]), slice(n_masked, None)
        return torch.cat([first, scaled_scores(q[last], k[last])])


class MaskPerKeyHead(Base):
    """Leak: the mask fits the first n_kv_heads query heads; the others see two words ahead."""

    def hidden(self, n):
        diagonals = [1 if h < self.n_kv_heads else 3 for h in range(self.n_heads)]
        return torch.stack([later(n, diagonal) for diagonal in diagonals])

    def attend(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=~self.hidden(q.shape[-2]))


# ---------------------------------------------------------------------------------- blind spot


class SlidingWindow(Base):
    """Blind spot: a word sees only itself and the 7 words before it."""

    def hidden(self, n):
        return later(n) | ~later(n, diagonal=-7)


class SelfBlindHead(Base):
    """Blind spot: in the last query head, each word but the first doesn't see itself."""

    def hidden(self, n):
        strict = later(n, diagonal=0)
        strict[0, 0] = False
        return torch.stack([later(n)] * (self.n_heads - 1) + [strict])


class LostBoundary(Base):
    """Blind spot: a chunk of 4 words doesn't see the word just before the chunk."""

    def hidden(self, n):
        query, key = torch.arange(n)[:, None], torch.arange(n)
        return later(n) | (key == query // 4 * 4 - 1)


class TopEight(Base):
    """Blind spot: a query attends only to the 8 visible keys with the highest scores."""

    def masked(self, q, k):
        n = q.shape[-2]
        scores = super().masked(q, k)
        best = scores.topk(min(8, n), dim=-1).indices
        chosen = (best[..., None] == torch.arange(n)).any(dim=-2)
        return scores.masked_fill(~chosen, -INF)


class StridedHead(Base):
    """Blind spot: in the first head, from the 7th word on, only even distances are seen."""

    def hidden(self, n):
        position = torch.arange(n)
        odd = (position[:, None] - position[None, :]) % 2 == 1
        strided = later(n) | (odd & (position[:, None] >= 6))
        return torch.stack([strided] + [later(n)] * (self.n_heads - 1))


# -------------------------------------------------------------------------------------- mixing


class TiledKeyHeads(Base):
    """Mixing: key heads are tiled (0, 1, 2, 0, 1, 2), not repeated in place (0, 0, 1, 1, 2, 2)."""

    def repeat(self, features):
        return features.repeat(1, self.group, 1, 1)


class ShiftedValueHeads(Base):
    """Mixing: the last head of each group takes the values (not the keys) of the next group."""

    def project(self, x):
        q, k, v = self.split_all(x)
        heads = [(h + 1) // self.group % self.n_kv_heads for h in range(self.n_heads)]
        return q, self.repeat(k), v[:, heads]


class FlippedLateHeads(Base):
    """Mixing: from the 9th word on, the heads are joined in reverse order."""

    def attend(self, q, k, v):
        context = causal(q, k, v)
        return torch.cat([context[:, :, :8], context[:, :, 8:].flip(1)], dim=2)


class SharedFirstKeys(Base):
    """Mixing: the keys (not values) of the first two words come from the batch's first text."""

    def attend(self, q, k, v):
        prefix = k[:1, :, :2].expand(len(k), -1, -1, -1)
        return super().attend(q, torch.cat([prefix, k[:, :, 2:]], dim=2), v)


class RolledQueries(Base):
    """Mixing: from the 9th word on, a text's queries are those of the text before it."""

    def attend(self, q, k, v):
        return super().attend(torch.cat([q[:, :, :8], q[:, :, 8:].roll(1, dims=0)], dim=2), k, v)


class InterleavedValues(Base):
    """Mixing: value features are split as (d_head, n_kv_heads), not (n_kv_heads, d_head)."""

    def project(self, x):
        q, k, _ = super().project(x)
        values = self.value(x).unflatten(-1, (self.d_head, self.n_kv_heads))
        return q, k, self.repeat(values.permute(0, 3, 1, 2))


# ----------------------------------------------------------------------------------- wrong sum


class ZeroSinkHead(Base):
    """Wrong sum: in the last head, an additional score of 0 takes a share and is dropped."""

    def weigh(self, scores):
        sink = torch.zeros_like(scores[:, -1:, :, :1])
        with_sink = torch.cat([sink, scores[:, -1:]], dim=-1).softmax(-1)
        return torch.cat([scores[:, :-1].softmax(-1), with_sink[..., 1:]], dim=1)


class StaleTotal(Base):
    """Wrong sum: online softmax that rescales the context, not the total, when the max rises."""

    def attend(self, q, k, v):
        scores = self.masked(q, k)
        highest = scores[..., :1]
        total, context = torch.zeros_like(highest), torch.zeros_like(q)
        for block, values in zip(scores.split(4, dim=-1), v.split(4, dim=2), strict=True):
            higher = torch.maximum(highest, block.amax(-1, keepdim=True))
            exps = (block - higher).exp()
            total = total + exps.sum(-1, keepdim=True)
            context = context * (highest - higher).exp() + exps @ values
            highest = higher
        return context / total


class EuclideanWeights(Base):
    """Wrong sum: the weights are divided by their Euclidean length, not by their sum."""

    def weigh(self, scores):
        return F.normalize((scores - scores.amax(-1, keepdim=True)).exp(), p=2, dim=-1)


class OverlappingTotals(Base):
    """Wrong sum: the total is added up in blocks that overlap by a word, counting it twice."""

    def weigh(self, scores):
        exps = (scores - scores.amax(-1, keepdim=True)).exp()
        blocks = [exps[..., start : start + 5] for start in range(0, exps.shape[-1], 4)]
        return exps / sum(block.sum(-1, keepdim=True) for block in blocks)


# --------------------------------------------------------------------------------- wrong scale


class ScaledTwice(Base):
    """Wrong scale: the queries are scaled before a function that scales the scores again."""

    def attend(self, q, k, v):
        return causal(q / math.sqrt(self.d_head), k, v)


class UnscaledLateWords(Base):
    """Wrong scale: from the 9th word on, the scores aren't divided by sqrt(d_head)."""

    def attend(self, q, k, v):
        late = q[:, :, 8:] * math.sqrt(self.d_head)
        return super().attend(torch.cat([q[:, :, :8], late], dim=2), k, v)


class BaseTwoHead(Base):
    """Wrong scale: the last head uses powers of 2, not e, so its scores shrink by ln 2."""

    def weigh(self, scores):
        scores = scores - scores.amax(-1, keepdim=True)
        exps = torch.cat([scores[:, :-1].exp(), scores[:, -1:].exp2()], dim=1)
        return exps / exps.sum(-1, keepdim=True)


class ModelWidthScale(Base):
    """Wrong scale: the scores are divided by sqrt(d_model), not sqrt(d_head)."""

    def masked(self, q, k):
        scores = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(self.n_heads * self.d_head)
        return scores.masked_fill(later(q.shape[-2]), -INF)


# ------------------------------------------------------------------------------------- dropout


class AlwaysDropoutHead(Base):
    """Dropout: the last head's weights go through F.dropout, which drops unless told not to."""

    def weigh(self, scores):
        weights = scores.softmax(-1)
        return torch.cat([weights[:, :-1], F.dropout(weights[:, -1:], 0.3)], dim=1)


class FusedDropout(Base):
    """Dropout: the fused function gets its dropout rate without a look at self.training."""

    def attend(self, q, k, v):
        return causal(q, k, v, dropout=0.1)


class UnregisteredDropout(Base):
    """Dropout: the dropout layer is in a plain list, so .eval() doesn't reach it."""

    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__(d_model, n_heads, n_kv_heads)
        self.extras = [nn.Dropout(0.1)]

    def attend(self, q, k, v):
        context = causal(q, k, v)
        for layer in self.extras:
            context = layer(context)
        return context


class LateQueryDropout(Base):
    """Dropout: from the 9th word on, features of the queries are dropped at random."""

    def attend(self, q, k, v):
        late = F.dropout(q[:, :, 8:], 0.4, training=True)
        return super().attend(torch.cat([q[:, :, :8], late], dim=2), k, v)


# --------------------------------------------------------------------------------------- sound


class FusedSound(Base):
    """Sound: PyTorch's fused function, with the queries of a group as additional words."""

    def project(self, x):
        return self.split_all(x)

    def attend(self, q, k, v):
        n = q.shape[-2]
        q = q.unflatten(1, (self.n_kv_heads, self.group)).flatten(2, 3)
        visible = ~later(n).repeat(self.group, 1)
        context = F.scaled_dot_product_attention(q, k, v, attn_mask=visible)
        return context.unflatten(2, (self.group, n)).flatten(1, 2)


class LoopSound(Base):
    """Sound: loops over heads and words, with no mask, since each word reads only its past."""

    def attend(self, q, k, v):
        heads = []
        for h in range(self.n_heads):
            words = []
            for i in range(q.shape[2]):
                past = slice(0, i + 1)
                scores = (k[:, h, past] * q[:, h, i : i + 1]).sum(-1) / math.sqrt(self.d_head)
                words.append((scores.softmax(-1)[..., None] * v[:, h, past]).sum(1))
            heads.append(torch.stack(words, dim=1))
        return torch.stack(heads, dim=1)


class QuarticScaleSound(Base):
    """Sound: grouped einsum; queries and keys are each divided by the 4th root of d_head."""

    def forward(self, x):
        root = self.d_head**0.25
        q = self.query(x).unflatten(-1, (self.n_kv_heads, self.group, self.d_head)) / root
        k = self.key(x).unflatten(-1, (self.n_kv_heads, self.d_head)) / root
        v = self.value(x).unflatten(-1, (self.n_kv_heads, self.d_head))
        scores = torch.einsum("bigrd,bjgd->bgrij", q, k).masked_fill(later(x.shape[1]), -INF)
        context = torch.einsum("bgrij,bjgd->bigrd", scores.softmax(-1), v)
        return self.output(context.flatten(2))


class FlashSound(Base):
    """Sound: online softmax over blocks of 4 keys, with powers of 2 of scores times log2(e)."""

    def attend(self, q, k, v):
        scores = self.masked(q * math.log2(math.e), k)
        highest = scores[..., :1]
        total, context = torch.zeros_like(highest), torch.zeros_like(q)
        for block, values in zip(scores.split(4, dim=-1), v.split(4, dim=2), strict=True):
            higher = torch.maximum(highest, block.amax(-1, keepdim=True))
            rescale, exps = (highest - higher).exp2(), (block - higher).exp2()
            total = total * rescale + exps.sum(-1, keepdim=True)
            context = context * rescale + exps @ values
            highest = higher
        return context / total


class RelativeKeysSound(Base):
    """Sound: keys relative to the text's mean key (softmax ignores it), -1e9 mask, in float64."""

    def attend(self, q, k, v):
        doubles = q.double(), (k.double() - k.double().mean(dim=2, keepdim=True)), v.double()
        return super().attend(*doubles).to(q.dtype)

    def masked(self, q, k):
        return scaled_scores(q, k) - 1e9 * later(q.shape[-2]).double()


class LogSpaceSound(Base):
    """Sound: a word's log-total is the diagonal of the cumulative logsumexp over the keys."""

    def attend(self, q, k, v):
        scores = scaled_scores(q, k)
        log_totals = scores.logcumsumexp(-1).diagonal(dim1=-2, dim2=-1)[..., None]
        log_weights = (scores - log_totals).masked_fill(later(q.shape[-2]), -INF)
        return log_weights.exp() @ v


class CacheSound(Base):
    """Sound: reads the text word by word, appending keys and values to a cache."""

    def forward(self, x):
        keys, values, outputs = [], [], []
        for i in range(x.shape[1]):
            q, k, v = self.project(x[:, i : i + 1])
            keys.append(k)
            values.append(v)
            weights = scaled_scores(q, torch.cat(keys, dim=2)).softmax(-1)
            outputs.append(self.join(weights @ torch.cat(values, dim=2)))
        return torch.cat(outputs, dim=1)


class BackwardSound(Base):
    """Sound: heads and words in reverse order, with the mask turned, and turned back at the end."""

    def hidden(self, n):
        return later(n).T

    def attend(self, q, k, v):
        return super().attend(*(features.flip(1, 2) for features in (q, k, v))).flip(1, 2)


class MergedWeightsSound(Base):
    """Sound: query and key weights are multiplied first, and so are value and output weights."""

    def forward(self, x):
        layers = self.query, self.key, self.value
        wq, wk, wv = (layer.weight.split(self.d_head) for layer in layers)
        wo = self.output.weight.split(self.d_head, dim=1)
        total = torch.zeros_like(x)
        for h in range(self.n_heads):
            g = h // self.group
            scores = x @ (wq[h].T @ wk[g]) @ x.transpose(1, 2) / math.sqrt(self.d_head)
            weights = scores.masked_fill(later(x.shape[1]), -INF).softmax(-1)
            total = total + weights @ x @ (wo[h] @ wv[g]).T
        return total


class PackedSound(Base):
    """Sound: all texts are packed into one long text; a word sees only words of its own text."""

    def forward(self, x):
        self.text = torch.arange(len(x)).repeat_interleave(x.shape[1])
        return super().forward(x.flatten(0, 1)[None]).reshape(x.shape)

    def hidden(self, n):
        return later(n) | (self.text[:, None] != self.text[None, :])


class SplitKeysSound(Base):
    """Sound: attends to even and odd words separately and merges both by their log-totals."""

    def attend(self, q, k, v):
        scores = scaled_scores(q, k).masked_fill(later(q.shape[-2]), -1e9)
        contexts, log_totals = [], []
        for words in (slice(0, None, 2), slice(1, None, 2)):
            part = scores[..., words]
            contexts.append(part.softmax(-1) @ v[:, :, words])
            log_totals.append(part.logsumexp(-1))
        shares = torch.stack(log_totals, dim=-1).softmax(-1)
        return contexts[0] * shares[..., :1] + contexts[1] * shares[..., 1:]


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


FORTY_PATIENTS: dict[str, tuple[type[nn.Module], str]] = {
    _snake(patient.__name__): (patient, patient.__doc__.partition(":")[0].lower())
    for patient in Base.__subclasses__()
}
