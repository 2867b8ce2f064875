"""Small language models that write with a cache, and seven ways in which caches go wrong.

The models are untrained, with PyTorch's random initial weights. Each of them is sound without its
cache, so it can be compared with itself. Everything is float64, so that no comparison depends on
rounding.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

N_TOKENS, N_PLACES, D_MODEL, N_HEADS, N_LAYERS = 40, 64, 32, 4, 2
N_READ, N_WRITTEN = 8, 12  # words that are given, and words that the model adds to them
ROUNDING = 1e-9

KeyValue = tuple[Tensor, Tensor]  # [batch, n_heads, n, d_head] each


def causal_keep(n_query: int, n_key: int) -> Tensor:
    """The mask for the last n_query of n_key words, [n_query, n_key]."""
    return torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)


@dataclass(frozen=True)
class Caching:
    """How a model uses its cache.

    first_place: the place of the first new word, given the number of words before it.
    keep: the mask, given the numbers of queries and keys.
    seen: the keys and values that a layer uses, given those of all layers and its own number.
    """

    first_place: Callable[[int], int] = lambda n_past: n_past
    keep: Callable[[int, int], Tensor] = causal_keep
    seen: Callable[[list[KeyValue], int], KeyValue] = lambda cache, layer: cache[layer]


def _without_mask(n_query: int, n_key: int) -> Tensor:
    return torch.ones(n_query, n_key, dtype=torch.bool)


def _top_left(n_query: int, n_key: int) -> Tensor:
    return _without_mask(n_query, n_key).tril()


def _without_the_oldest(cache: list[KeyValue], layer: int) -> KeyValue:
    key, value = cache[layer]
    first = int(key.shape[-2] > N_READ)
    return key[..., first:, :], value[..., first:, :]


def _one_word_late(cache: list[KeyValue], layer: int) -> KeyValue:
    key, value = cache[layer]
    return key, value.roll(1, dims=-2)


DEFECTS = {
    "places start again at 0": Caching(first_place=lambda n_past: 0),
    "places are off by one": Caching(first_place=lambda n_past: max(0, n_past - 1)),
    "no mask": Caching(keep=_without_mask),
    "the mask's corner at the top left": Caching(keep=_top_left),
    "the oldest word forgotten": Caching(seen=_without_the_oldest),
    "all layers use the first one's keys": Caching(
        seen=lambda cache, layer: (cache[0][0], cache[layer][1])
    ),
    "values one word late": Caching(seen=_one_word_late),
}


class Layer(nn.Module):
    """Self-attention and a feed-forward network, which read and write the cache of all layers."""

    def __init__(self, number: int, caching: Caching) -> None:
        super().__init__()
        self.number, self.caching = number, caching
        self.norm, self.project = nn.LayerNorm(D_MODEL), nn.Linear(D_MODEL, 3 * D_MODEL)
        self.output = nn.Linear(D_MODEL, D_MODEL)
        self.feed_forward = nn.Sequential(
            nn.LayerNorm(D_MODEL),
            nn.Linear(D_MODEL, 4 * D_MODEL),
            nn.GELU(),
            nn.Linear(4 * D_MODEL, D_MODEL),
        )

    def forward(self, x: Tensor, cache: list[KeyValue] | None) -> Tensor:
        parts = self.project(self.norm(x)).chunk(3, dim=-1)
        query, key, value = (part.unflatten(-1, (N_HEADS, -1)).transpose(1, 2) for part in parts)
        keep: Callable[[int, int], Tensor] = causal_keep
        if isinstance(cache, list):
            self._remember(cache, key, value)
            key, value = self.caching.seen(cache, self.number)
            keep = self.caching.keep
        attn_scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        hidden = ~keep(query.shape[-2], key.shape[-2])
        context = attn_scores.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ value
        x = x + self.output(context.transpose(1, 2).flatten(2))
        return x + self.feed_forward(x)

    def _remember(self, cache: list[KeyValue], key: Tensor, value: Tensor) -> None:
        if self.number == len(cache):
            cache.append((key, value))
        else:
            old_key, old_value = cache[self.number]
            keys, values = (old_key, key), (old_value, value)
            cache[self.number] = torch.cat(keys, dim=-2), torch.cat(values, dim=-2)


class Writer(nn.Module):
    """A language model: tokens, [batch, n], to logits, [batch, n, n_tokens].

    cache: a list, empty at first, that carries keys and values from one piece of text to the next.
    """

    def __init__(self, caching: Caching) -> None:
        super().__init__()
        self.caching = caching
        self.words, self.places = nn.Embedding(N_TOKENS, D_MODEL), nn.Embedding(N_PLACES, D_MODEL)
        self.layers = nn.ModuleList(Layer(number, caching) for number in range(N_LAYERS))
        self.logits = nn.Sequential(nn.LayerNorm(D_MODEL), nn.Linear(D_MODEL, N_TOKENS))

    def forward(self, tokens: Tensor, cache: list[KeyValue] | None = None) -> Tensor:
        first = self.caching.first_place(cache[0][0].shape[-2]) if cache else 0
        x = self.words(tokens) + self.places(torch.arange(first, first + tokens.shape[1]))
        for layer in self.layers:
            x = layer(x, cache)
        return self.logits(x)


def writer(seed: int, defect: str = "") -> Writer:
    """Make an untrained model; `defect` says what is wrong with its cache."""
    with torch.random.fork_rng(devices=[]):
        torch.random.manual_seed(seed)
        default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            model = Writer(DEFECTS[defect] if defect else Caching())
        finally:
            torch.set_default_dtype(default)
    return model.requires_grad_(False)


def same_words(model: Writer) -> bool:
    """Whether it writes the same words, each the likeliest one, with its cache and without."""
    return torch.equal(_written(model, cached=True), _written(model, cached=False))


def same_logits(model: Writer) -> bool:
    """Whether it has the same logits for the same words with its cache and without."""
    words = _written(model, cached=False)
    cache: list[KeyValue] = []
    pieces = words.split([N_READ] + N_WRITTEN * [1], dim=1)
    cached = torch.cat([model(piece, cache) for piece in pieces], dim=1)
    return torch.allclose(cached, model(words), rtol=0, atol=ROUNDING)


def _written(model: Writer, cached: bool) -> Tensor:
    """Return the given words, followed by those that the model writes."""
    words = new = torch.arange(N_READ)[None]
    cache: list[KeyValue] | None = [] if cached else None
    for _ in range(N_WRITTEN):
        logits = model(new if cached else words, cache)
        new = logits[:, -1].argmax(dim=-1, keepdim=True)
        words = torch.cat([words, new], dim=1)
    return words
