"""Forty causal self-attention modules with a known diagnosis, for examining tests of attention.

They were written without a look at the course's tests.

Each is built as `cls(d_model, n_heads, n_kv_heads)` and maps [batch, n, d_model] to that shape.
Each has exactly one entry of {"leak", "blind spot", "mixing", "wrong sum", "wrong scale",
"dropout", "sound"}. Defects that depend on the length depend on a word's position, so that only
leaks make a text's beginning depend on how it goes on. Shapes: [batch, head, word, feature].
"""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

INF = float("inf")


def later(n: int, diagonal: int = 1) -> torch.Tensor:
    """Return [n, n], true where the key (column) comes `diagonal` or more words after the query."""
    return torch.ones(n, n, dtype=torch.bool).triu(diagonal)


def scaled_scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """Return q·k / sqrt(d_head) for all pairs of words."""
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])


class Base(nn.Module):
    """The four layers, splitting words into heads and joining the heads; subclasses attend."""

    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.d_head = n_heads, n_kv_heads, d_model // n_heads
        self.group = n_heads // n_kv_heads
        self.query = nn.Linear(d_model, n_heads * self.d_head, bias=False)
        self.key = nn.Linear(d_model, n_kv_heads * self.d_head, bias=False)
        self.value = nn.Linear(d_model, n_kv_heads * self.d_head, bias=False)
        self.output = nn.Linear(n_heads * self.d_head, d_model, bias=False)

    def split(self, features: torch.Tensor) -> torch.Tensor:
        """[batch, n, heads * d_head] -> [batch, heads, n, d_head]."""
        return features.unflatten(-1, (-1, self.d_head)).transpose(1, 2)

    def repeat(self, features: torch.Tensor) -> torch.Tensor:
        """Repeat each key head for the query heads of its group."""
        return features.repeat_interleave(self.group, dim=1)

    def project(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return queries, keys and values, all with n_heads heads."""
        k, v = self.split(self.key(x)), self.split(self.value(x))
        return self.split(self.query(x)), self.repeat(k), self.repeat(v)

    def join(self, context: torch.Tensor) -> torch.Tensor:
        """[batch, n_heads, n, d_head] -> [batch, n, d_model]."""
        return self.output(context.transpose(1, 2).flatten(2))


# ---------------------------------------------------------------------------------------- leak


class PairPeek(Base):
    """Leak: the mask compares blocks of two words, so the first of a pair sees the second."""

    def forward(self, x):
        q, k, v = self.project(x)
        block = torch.arange(x.shape[1]) // 2
        hidden = block[None, :] > block[:, None]
        scores = scaled_scores(q, k).masked_fill(hidden, -INF)
        return self.join(scores.softmax(-1) @ v)


class MultipliedMask(Base):
    """Leak: in the last group, later scores are multiplied by 0 instead of being set to -inf."""

    def forward(self, x):
        q, k, v = self.project(x)
        hidden = later(x.shape[1])
        masked, multiplied = scaled_scores(q, k).split(
            [self.n_heads - self.group, self.group], dim=1
        )
        masked = masked.masked_fill(hidden, -INF)
        multiplied = multiplied * ~hidden
        weights = torch.cat([masked, multiplied], dim=1).softmax(-1)
        return self.join(weights @ v)


class ShortMask(Base):
    """Leak: the mask is made for 8 words; for longer texts it's padded with "visible"."""

    max_words = 8

    def forward(self, x):
        q, k, v = self.project(x)
        n = x.shape[1]
        known = min(n, self.max_words)
        hidden = F.pad(later(known), (0, n - known, 0, n - known), value=False)
        scores = scaled_scores(q, k).masked_fill(hidden, -INF)
        return self.join(scores.softmax(-1) @ v)


class ChunkOffByOne(Base):
    """Leak: in all chunks of 4 queries but the first, the mask starts one word too late."""

    def forward(self, x):
        q, k, v = self.project(x)
        n = x.shape[1]
        chunks = []
        for start in range(0, n, 4):
            rows = slice(start, start + 4)
            hidden = later(n, diagonal=1 if start == 0 else 2)[rows]
            scores = scaled_scores(q[:, :, rows], k).masked_fill(hidden, -INF)
            chunks.append(scores.softmax(-1) @ v)
        return self.join(torch.cat(chunks, dim=2))


class LastTextUnmasked(Base):
    """Leak: in a batch of two or more texts, the last text isn't masked."""

    def forward(self, x):
        q, k, v = self.project(x)
        n_masked = max(1, x.shape[0] - 1)
        texts = []
        for b in range(x.shape[0]):
            scores = scaled_scores(q[b], k[b])
            if b < n_masked:
                scores = scores.masked_fill(later(x.shape[1]), -INF)
            texts.append(scores.softmax(-1) @ v[b])
        return self.join(torch.stack(texts))


class MaskPerKeyHead(Base):
    """Leak: the mask fits the first n_kv_heads query heads; the others see two words ahead."""

    def forward(self, x):
        q, k, v = self.project(x)
        n = x.shape[1]
        diagonals = [1 if h < self.n_kv_heads else 3 for h in range(self.n_heads)]
        hidden = torch.stack([later(n, diagonal) for diagonal in diagonals])
        context = F.scaled_dot_product_attention(q, k, v, attn_mask=~hidden)
        return self.join(context)


# ---------------------------------------------------------------------------------- blind spot


class SlidingWindow(Base):
    """Blind spot: a word sees only itself and the 7 words before it."""

    window = 8

    def forward(self, x):
        q, k, v = self.project(x)
        position = torch.arange(x.shape[1])
        distance = position[:, None] - position[None, :]
        visible = (distance >= 0) & (distance < self.window)
        return self.join(F.scaled_dot_product_attention(q, k, v, attn_mask=visible))


class SelfBlindHead(Base):
    """Blind spot: in the last query head, each word but the first doesn't see itself."""

    def forward(self, x):
        q, k, v = self.project(x)
        n = x.shape[1]
        strict = later(n, diagonal=0)
        strict[0, 0] = False
        hidden = torch.stack([later(n)] * (self.n_heads - 1) + [strict])
        scores = scaled_scores(q, k).masked_fill(hidden, -INF)
        return self.join(scores.softmax(-1) @ v)


class LostBoundary(Base):
    """Blind spot: a chunk of 4 words doesn't see the word just before the chunk."""

    def forward(self, x):
        q, k, v = self.project(x)
        n = x.shape[1]
        chunks = []
        for start in range(0, n, 4):
            stop = min(start + 4, n)
            seen = [*range(max(0, start - 1)), *range(start, stop)]
            hidden = later(n)[start:stop, seen]
            scores = scaled_scores(q[:, :, start:stop], k[:, :, seen]).masked_fill(hidden, -INF)
            chunks.append(scores.softmax(-1) @ v[:, :, seen])
        return self.join(torch.cat(chunks, dim=2))


class TopEight(Base):
    """Blind spot: a query attends only to the 8 visible keys with the highest scores."""

    def forward(self, x):
        q, k, v = self.project(x)
        n = x.shape[1]
        scores = scaled_scores(q, k).masked_fill(later(n), -INF)
        best = scores.topk(min(8, n), dim=-1).indices
        chosen = (best[..., None] == torch.arange(n)).any(dim=-2)
        weights = scores.masked_fill(~chosen, -INF).softmax(-1)
        return self.join(weights @ v)


class StridedHead(Base):
    """Blind spot: in the first head, from the 7th word on, only even distances are seen."""

    def forward(self, x):
        q, k, v = self.project(x)
        n = x.shape[1]
        position = torch.arange(n)
        odd = (position[:, None] - position[None, :]) % 2 == 1
        strided = later(n) | (odd & (position[:, None] >= 6))
        hidden = torch.stack([strided] + [later(n)] * (self.n_heads - 1))
        scores = scaled_scores(q, k).masked_fill(hidden, -INF)
        return self.join(scores.softmax(-1) @ v)


# -------------------------------------------------------------------------------------- mixing


class TiledKeyHeads(Base):
    """Mixing: key heads are tiled (0, 1, 2, 0, 1, 2), not repeated in place (0, 0, 1, 1, 2, 2)."""

    def repeat(self, features):
        return features.repeat(1, self.group, 1, 1)

    def forward(self, x):
        q, k, v = self.project(x)
        scores = scaled_scores(q, k).masked_fill(later(x.shape[1]), -INF)
        return self.join(scores.softmax(-1) @ v)


class ShiftedValueHeads(Base):
    """Mixing: the last head of each group takes the values (not the keys) of the next group."""

    def forward(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        hidden = later(x.shape[1])
        contexts = []
        for h in range(self.n_heads):
            key_head = h // self.group
            value_head = (h + 1) // self.group % self.n_kv_heads
            scores = scaled_scores(q[:, h], k[:, key_head]).masked_fill(hidden, -INF)
            contexts.append(scores.softmax(-1) @ v[:, value_head])
        return self.join(torch.stack(contexts, dim=1))


class FlippedLateHeads(Base):
    """Mixing: from the 9th word on, the heads are joined in reverse order."""

    def forward(self, x):
        q, k, v = self.project(x)
        context = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        early, late = context[:, :, :8], context[:, :, 8:]
        return self.join(torch.cat([early, late.flip(1)], dim=2))


class SharedFirstKeys(Base):
    """Mixing: the keys (not values) of the first two words come from the batch's first text."""

    def forward(self, x):
        q, k, v = self.project(x)
        prefix = k[:1, :, :2].expand(x.shape[0], -1, -1, -1)
        k = torch.cat([prefix, k[:, :, 2:]], dim=2)
        scores = scaled_scores(q, k).masked_fill(later(x.shape[1]), -INF)
        return self.join(scores.softmax(-1) @ v)


class RolledQueries(Base):
    """Mixing: from the 9th word on, a text's queries are those of the text before it."""

    def forward(self, x):
        q, k, v = self.project(x)
        n = x.shape[1]
        chunks = []
        for start in range(0, n, 4):
            stop = min(start + 4, n)
            queries = q[:, :, start:stop]
            if start >= 8:
                queries = queries.roll(1, dims=0)
            scores = scaled_scores(queries, k[:, :, :stop])
            weights = scores.masked_fill(later(n)[start:stop, :stop], -INF).softmax(-1)
            chunks.append(weights @ v[:, :, :stop])
        return self.join(torch.cat(chunks, dim=2))


class InterleavedValues(Base):
    """Mixing: value features are split as (d_head, n_kv_heads), not (n_kv_heads, d_head)."""

    def forward(self, x):
        q, k = self.split(self.query(x)), self.repeat(self.split(self.key(x)))
        values = self.value(x).unflatten(-1, (self.d_head, self.n_kv_heads))
        v = self.repeat(values.permute(0, 3, 1, 2))
        scores = scaled_scores(q, k).masked_fill(later(x.shape[1]), -INF)
        return self.join(scores.softmax(-1) @ v)


# ----------------------------------------------------------------------------------- wrong sum


class ZeroSinkHead(Base):
    """Wrong sum: in the last head, an additional score of 0 takes a share and is dropped."""

    def forward(self, x):
        q, k, v = self.project(x)
        scores = scaled_scores(q, k).masked_fill(later(x.shape[1]), -INF)
        weights = scores[:, :-1].softmax(-1)
        sink = torch.zeros_like(scores[:, -1:, :, :1])
        with_sink = torch.cat([sink, scores[:, -1:]], dim=-1).softmax(-1)
        weights = torch.cat([weights, with_sink[..., 1:]], dim=1)
        return self.join(weights @ v)


class StaleTotal(Base):
    """Wrong sum: online softmax that rescales the context, not the total, when the max rises."""

    def forward(self, x):
        q, k, v = self.project(x)
        n = x.shape[1]
        scores = scaled_scores(q, k).masked_fill(later(n), -INF)
        highest = scores[..., :1]
        total, context = torch.zeros_like(highest), torch.zeros_like(q)
        for start in range(0, n, 4):
            block = scores[..., start : start + 4]
            higher = torch.maximum(highest, block.amax(-1, keepdim=True))
            exps = (block - higher).exp()
            total = total + exps.sum(-1, keepdim=True)
            context = context * (highest - higher).exp() + exps @ v[:, :, start : start + 4]
            highest = higher
        return self.join(context / total)


class EuclideanWeights(Base):
    """Wrong sum: the weights are divided by their Euclidean length, not by their sum."""

    def forward(self, x):
        q, k, v = self.project(x)
        scores = scaled_scores(q, k).masked_fill(later(x.shape[1]), -INF)
        exps = (scores - scores.amax(-1, keepdim=True)).exp()
        return self.join(F.normalize(exps, p=2, dim=-1) @ v)


class OverlappingTotals(Base):
    """Wrong sum: the total is added up in blocks that overlap by a word, counting it twice."""

    def forward(self, x):
        q, k, v = self.project(x)
        n = x.shape[1]
        scores = scaled_scores(q, k).masked_fill(later(n), -INF)
        exps = (scores - scores.amax(-1, keepdim=True)).exp()
        total = 0
        for start in range(0, n, 4):
            total = total + exps[..., start : start + 5].sum(-1, keepdim=True)
        return self.join(exps / total @ v)


# --------------------------------------------------------------------------------- wrong scale


class ScaledTwice(Base):
    """Wrong scale: the queries are scaled before a function that scales the scores again."""

    def forward(self, x):
        q, k, v = self.project(x)
        q = q / math.sqrt(self.d_head)
        return self.join(F.scaled_dot_product_attention(q, k, v, is_causal=True))


class UnscaledLateWords(Base):
    """Wrong scale: from the 9th word on, the scores aren't divided by sqrt(d_head)."""

    def forward(self, x):
        q, k, v = self.project(x)
        n = x.shape[1]
        hidden = later(n)
        early = scaled_scores(q[:, :, :8], k).masked_fill(hidden[:8], -INF)
        late = (q[:, :, 8:] @ k.transpose(-2, -1)).masked_fill(hidden[8:], -INF)
        weights = torch.cat([early.softmax(-1), late.softmax(-1)], dim=2)
        return self.join(weights @ v)


class BaseTwoHead(Base):
    """Wrong scale: the last head uses powers of 2, not e, so its scores shrink by ln 2."""

    def forward(self, x):
        q, k, v = self.project(x)
        scores = scaled_scores(q, k).masked_fill(later(x.shape[1]), -INF)
        scores = scores - scores.amax(-1, keepdim=True)
        exps = torch.cat([scores[:, :-1].exp(), scores[:, -1:].exp2()], dim=1)
        weights = exps / exps.sum(-1, keepdim=True)
        return self.join(weights @ v)


class ModelWidthScale(Base):
    """Wrong scale: the scores are divided by sqrt(d_model), not sqrt(d_head)."""

    def forward(self, x):
        q, k, v = self.project(x)
        scores = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(x.shape[-1])
        weights = scores.masked_fill(later(x.shape[1]), -INF).softmax(-1)
        return self.join(torch.einsum("bhij,bhjd->bhid", weights, v))


# ------------------------------------------------------------------------------------- dropout


class AlwaysDropoutHead(Base):
    """Dropout: the last head's weights go through F.dropout, which drops unless told not to."""

    def forward(self, x):
        q, k, v = self.project(x)
        scores = scaled_scores(q, k).masked_fill(later(x.shape[1]), -INF)
        weights = scores.softmax(-1)
        dropped = F.dropout(weights[:, -1:], 0.3)
        weights = torch.cat([weights[:, :-1], dropped], dim=1)
        return self.join(weights @ v)


class FusedDropout(Base):
    """Dropout: the fused function gets its dropout rate without a look at self.training."""

    dropout = 0.1

    def forward(self, x):
        q, k, v = self.project(x)
        context = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout, is_causal=True)
        return self.join(context)


class UnregisteredDropout(Base):
    """Dropout: the dropout layer is in a plain list, so .eval() doesn't reach it."""

    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__(d_model, n_heads, n_kv_heads)
        self.extras = [nn.Dropout(0.1)]

    def forward(self, x):
        q, k, v = self.project(x)
        context = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        for layer in self.extras:
            context = layer(context)
        return self.join(context)


class LateQueryDropout(Base):
    """Dropout: from the 9th word on, features of the queries are dropped at random."""

    def forward(self, x):
        q, k, v = self.project(x)
        early, late = q[:, :, :8], q[:, :, 8:]
        q = torch.cat([early, F.dropout(late, 0.4, training=True)], dim=2)
        scores = scaled_scores(q, k).masked_fill(later(x.shape[1]), -INF)
        return self.join(scores.softmax(-1) @ v)


# --------------------------------------------------------------------------------------- sound


class FusedSound(Base):
    """Sound: PyTorch's fused function, with the queries of a group as additional words."""

    def forward(self, x):
        n = x.shape[1]
        q = self.split(self.query(x)).unflatten(1, (self.n_kv_heads, self.group)).flatten(2, 3)
        k, v = self.split(self.key(x)), self.split(self.value(x))
        visible = ~later(n).repeat(self.group, 1)
        context = F.scaled_dot_product_attention(q, k, v, attn_mask=visible)
        return self.join(context.unflatten(2, (self.group, n)).flatten(1, 2))


class LoopSound(Base):
    """Sound: loops over heads and words, with no mask, since each word reads only its past."""

    def forward(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        heads = []
        for h in range(self.n_heads):
            keys, values = k[:, h // self.group], v[:, h // self.group]
            words = []
            for i in range(x.shape[1]):
                past = slice(0, i + 1)
                scores = (keys[:, past] * q[:, h, i : i + 1]).sum(-1) / math.sqrt(self.d_head)
                words.append((scores.softmax(-1)[..., None] * values[:, past]).sum(1))
            heads.append(torch.stack(words, dim=1))
        return self.output(torch.cat(heads, dim=-1))


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

    def forward(self, x):
        q, k, v = self.project(x)
        n = x.shape[1]
        scores = scaled_scores(q, k) * math.log2(math.e)
        scores = scores.masked_fill(later(n), -INF)
        highest = scores[..., :1]
        total, context = torch.zeros_like(highest), torch.zeros_like(q)
        for start in range(0, n, 4):
            block = scores[..., start : start + 4]
            higher = torch.maximum(highest, block.amax(-1, keepdim=True))
            rescale, exps = (highest - higher).exp2(), (block - higher).exp2()
            total = total * rescale + exps.sum(-1, keepdim=True)
            context = context * rescale + exps @ v[:, :, start : start + 4]
            highest = higher
        return self.join(context / total)


class RelativeKeysSound(Base):
    """Sound: keys relative to the text's mean key (softmax ignores it), -1e9 mask, in float64."""

    def forward(self, x):
        q, k, v = (features.double() for features in self.project(x))
        k = k - k.mean(dim=2, keepdim=True)
        penalty = -1e9 * later(x.shape[1]).double()
        weights = (scaled_scores(q, k) + penalty).softmax(-1)
        return self.join((weights @ v).to(x.dtype))


class LogSpaceSound(Base):
    """Sound: a word's log-total is the diagonal of the cumulative logsumexp over the keys."""

    def forward(self, x):
        q, k, v = self.project(x)
        scores = scaled_scores(q, k)
        log_totals = scores.logcumsumexp(-1).diagonal(dim1=-2, dim2=-1)[..., None]
        log_weights = (scores - log_totals).masked_fill(later(x.shape[1]), -INF)
        return self.join(log_weights.exp() @ v)


class CacheSound(Base):
    """Sound: reads the text word by word, appending keys and values to a cache."""

    def forward(self, x):
        keys, values, outputs = [], [], []
        for i in range(x.shape[1]):
            word = x[:, i : i + 1]
            keys.append(self.split(self.key(word)))
            values.append(self.split(self.value(word)))
            q = self.split(self.query(word))
            k = self.repeat(torch.cat(keys, dim=2))
            v = self.repeat(torch.cat(values, dim=2))
            outputs.append(self.join(scaled_scores(q, k).softmax(-1) @ v))
        return torch.cat(outputs, dim=1)


class BackwardSound(Base):
    """Sound: heads and words in reverse order, with the mask turned, and turned back at the end."""

    def forward(self, x):
        q, k, v = (features.flip(1, 2) for features in self.project(x))
        hidden = later(x.shape[1]).T
        scores = scaled_scores(q, k).masked_fill(hidden, -INF)
        context = scores.softmax(-1) @ v
        return self.join(context.flip(1, 2))


class MergedWeightsSound(Base):
    """Sound: query and key weights are multiplied first, and so are value and output weights."""

    def forward(self, x):
        hidden = later(x.shape[1])
        wq, wk, wv = (
            layer.weight.split(self.d_head) for layer in (self.query, self.key, self.value)
        )
        wo = self.output.weight.split(self.d_head, dim=1)
        total = torch.zeros_like(x)
        for h in range(self.n_heads):
            g = h // self.group
            scores = x @ (wq[h].T @ wk[g]) @ x.transpose(1, 2) / math.sqrt(self.d_head)
            weights = scores.masked_fill(hidden, -INF).softmax(-1)
            total = total + weights @ x @ (wo[h] @ wv[g]).T
        return total


class PackedSound(Base):
    """Sound: all texts are packed into one long text; a word sees only words of its own text."""

    def forward(self, x):
        batch, n, _ = x.shape
        q, k, v = self.project(x.flatten(0, 1)[None])
        text = torch.arange(batch).repeat_interleave(n)
        hidden = later(batch * n) | (text[:, None] != text[None, :])
        scores = scaled_scores(q, k).masked_fill(hidden, -INF)
        return self.join(scores.softmax(-1) @ v).reshape(x.shape)


class SplitKeysSound(Base):
    """Sound: attends to even and odd words separately and merges both by their log-totals."""

    def forward(self, x):
        q, k, v = self.project(x)
        scores = scaled_scores(q, k).masked_fill(later(x.shape[1]), -1e9)
        contexts, log_totals = [], []
        for words in (slice(0, None, 2), slice(1, None, 2)):
            part = scores[..., words]
            contexts.append(part.softmax(-1) @ v[:, :, words])
            log_totals.append(part.logsumexp(-1))
        shares = torch.stack(log_totals, dim=-1).softmax(-1)
        return self.join(contexts[0] * shares[..., :1] + contexts[1] * shares[..., 1:])


FORTY_PATIENTS: dict[str, tuple[type[nn.Module], str]] = {
    "pair_peek": (PairPeek, "leak"),
    "multiplied_mask": (MultipliedMask, "leak"),
    "short_mask": (ShortMask, "leak"),
    "chunk_off_by_one": (ChunkOffByOne, "leak"),
    "last_text_unmasked": (LastTextUnmasked, "leak"),
    "mask_per_key_head": (MaskPerKeyHead, "leak"),
    "sliding_window": (SlidingWindow, "blind spot"),
    "self_blind_head": (SelfBlindHead, "blind spot"),
    "lost_boundary": (LostBoundary, "blind spot"),
    "top_eight": (TopEight, "blind spot"),
    "strided_head": (StridedHead, "blind spot"),
    "tiled_key_heads": (TiledKeyHeads, "mixing"),
    "shifted_value_heads": (ShiftedValueHeads, "mixing"),
    "flipped_late_heads": (FlippedLateHeads, "mixing"),
    "shared_first_keys": (SharedFirstKeys, "mixing"),
    "rolled_queries": (RolledQueries, "mixing"),
    "interleaved_values": (InterleavedValues, "mixing"),
    "zero_sink_head": (ZeroSinkHead, "wrong sum"),
    "stale_total": (StaleTotal, "wrong sum"),
    "euclidean_weights": (EuclideanWeights, "wrong sum"),
    "overlapping_totals": (OverlappingTotals, "wrong sum"),
    "scaled_twice": (ScaledTwice, "wrong scale"),
    "unscaled_late_words": (UnscaledLateWords, "wrong scale"),
    "base_two_head": (BaseTwoHead, "wrong scale"),
    "model_width_scale": (ModelWidthScale, "wrong scale"),
    "always_dropout_head": (AlwaysDropoutHead, "dropout"),
    "fused_dropout": (FusedDropout, "dropout"),
    "unregistered_dropout": (UnregisteredDropout, "dropout"),
    "late_query_dropout": (LateQueryDropout, "dropout"),
    "fused_sound": (FusedSound, "sound"),
    "loop_sound": (LoopSound, "sound"),
    "quartic_scale_sound": (QuarticScaleSound, "sound"),
    "flash_sound": (FlashSound, "sound"),
    "relative_keys_sound": (RelativeKeysSound, "sound"),
    "log_space_sound": (LogSpaceSound, "sound"),
    "cache_sound": (CacheSound, "sound"),
    "backward_sound": (BackwardSound, "sound"),
    "merged_weights_sound": (MergedWeightsSound, "sound"),
    "packed_sound": (PackedSound, "sound"),
    "split_keys_sound": (SplitKeysSound, "sound"),
}
