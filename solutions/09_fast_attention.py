# %% [markdown]
# # 9. Fast attention
#
# **Why does a model take longer for each word it writes?** And once somebody has made it faster,
# how do you know that it still writes the same thing? "Coherent outputs with cache enabled, but not
# exactly the same as without using cache", reports a [pull request to
# nanoGPT](https://github.com/karpathy/nanoGPT/pull/613), and its author wonders whether that's a
# bug. In this lesson you make attention fast in two ways that large models use. You keep keys and
# values instead of recomputing them, and you never hold more than a small part of the scores.
# Neither may change the results by more than rounding, and you'll learn how to make sure of that.
#
# | | |
# |---|---|
# | **You need** | Lessons 3 and 4: heads and masks; lesson 8 for its caches; what a gradient is |
# | **You can then** | write with a cache, compute attention in tiles, and test both |
#
# Each exercise is followed by a check; `hint`, `failing_case` and `give_up` help as in lesson 1.

# %%
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from autograder import check, failing_case, give_up, hint, predict, progress
from autograder.utils.costs import peak_megabytes, saved_megabytes, seconds
from autograder.utils.models import DEFECTS, same_logits, same_words, writer
from autograder.utils.plots import plot_bars, plot_growth
from autograder.utils.views import view_memory, view_tiles

# %%
torch.manual_seed(0)
torch.set_num_threads(1)  # small tensors are fastest on one thread
torch.set_printoptions(precision=4, sci_mode=False)

# %% [markdown]
# ## The same words, again and again
#
# A language model writes one word at a time. It reads the text so far, picks the next word, appends
# it, and starts over. **Predict before you run:** to write 1,000 words after a prompt of one word,
# how many words does it read in all, if it keeps nothing from one word to the next?

# %%
predict("words_read", ...)

# %%
sum(range(1, 1001))

# %% [markdown]
# Half a million words to write a thousand. Nearly all of that is work it has already done. In
# causal attention, a word sees only itself and those before it, so nothing that comes later can
# change its context:


# %%
def attend(query, key, value, keep=None):
    """The context. A query that may attend to nothing gets zeros, as in lesson 4."""
    attn_scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if keep is None:
        return attn_scores.softmax(dim=-1) @ value
    lowest = torch.finfo(attn_scores.dtype).min
    attn_weights = attn_scores.masked_fill(~keep, lowest).softmax(dim=-1)
    return attn_weights.masked_fill(~keep, 0.0) @ value


# %%
x = torch.randn(7, 4)
causal = torch.ones(7, 7, dtype=torch.bool).tril()
six_words = attend(x[:6], x[:6], x[:6], causal[:6, :6])
seven_words = attend(x, x, x, causal)
torch.allclose(seven_words[:6], six_words, atol=1e-6)

# %% [markdown]
# The next layer reads these contexts, so nothing changes there either, nor in the layer after that.
# When the seventh word arrives, all it needs from the first six is their **keys** and **values**.
# Their queries have been answered. So keep the old keys and values, and compute only the new
# word's. The store is called a **KV cache**. (An encoder without a mask can't have one: each new
# word changes all contexts, and with them the keys and values of the next layer.)
#
# What does that save? Let's count the multiplications of attention in one layer with 64 features:
# four projections of 64 · 64 for every word that's read, and 2 · 64 for every pair of a query and a
# key, one product for the score and one for the context.

# %%
sizes = torch.tensor([64, 128, 256, 512, 1024, 2048])
per_word, per_pair = 4 * 64 * 64, 2 * 64
plot_growth(
    sizes,
    {
        "everything again": sizes * per_word + sizes**2 * per_pair,
        "with a cache": per_word + sizes * per_pair,
    },
    x_name="words so far",
    y_name="multiplications",
    caption="Multiplications for one more word. Both lines rise, but one is far below the other.",
)

# %% [markdown]
# With a cache, a word still costs more than the one before: its query meets every key. But that's
# one row of scores, not all of them.
#
# ### Exercise 1: `KVCache` (12 minutes)
#
# Store one layer's keys and values as they arrive, one or more words at a time.
#
# - `append(key, value)` takes the new words' keys and values, and returns what these words may
#   attend to: all keys and all values so far, the new ones last.
# - `length` is the number of words so far, and `window` is the window, or None.
# - With `window=w`, each word attends only to itself and to the w − 1 words before it. Then
#   `append` returns the new words, and in front of them the w − 1 words before (or as many as there
#   are). After that, keep only the last w − 1 words: the others are never needed again. (A slice is
#   a view that keeps the whole tensor alive. `clone()` copies just the slice, and gradients still
#   flow through it.) The words that are gone still count in `length`, so `length` is also the place
#   of the next word.


# %%
class KVCache:
    """The keys and values of one layer, [batch, n_heads, n, d_head] each.

    `append(key, value)` returns (keys, values), for the new words to attend to.

    Example: with a window of two words, two new words may also attend to the one before them.
        >>> cache, words = KVCache(window=2), torch.arange(4.0).view(1, 1, 4, 1)
        >>> for piece in words.split(2, dim=-2):
        ...     keys, values = cache.append(piece, -piece)
        >>> keys.flatten(), cache.length
        (tensor([1., 2., 3.]), 4)
    """

    def __init__(self, window: int | None = None) -> None:
        ### BEGIN SOLUTION
        self.window, self.length = window, 0
        self.keys = self.values = None
        ### END SOLUTION

    def append(
        self,
        key: Float[Tensor, "batch n_heads n_new d_head"],
        value: Float[Tensor, "batch n_heads n_new d_head"],
    ) -> tuple[Float[Tensor, "batch n_heads n d_head"], Float[Tensor, "batch n_heads n d_head"]]:
        ### BEGIN SOLUTION
        self.length += key.shape[-2]
        if self.keys is not None:
            key = torch.cat([self.keys, key], dim=-2)
            value = torch.cat([self.values, value], dim=-2)
        first = 0 if self.window is None else max(0, key.shape[-2] - self.window + 1)
        self.keys, self.values = key[..., first:, :].clone(), value[..., first:, :].clone()
        return key, value
        ### END SOLUTION


# %%
check(KVCache)

# %% [markdown]
# (`torch.cat` copies everything each time. In 2026, Hugging Face's default cache still does just
# that. vLLM hands out memory in blocks, as a text grows.)
#
# A window forgets the first words like any others, and a model that was trained without a window
# breaks when those words go. Many of its heads put their weight on the first words when they find
# nothing else to attend to, whatever those words are: Xiao et al. (2023) call that an **attention
# sink**. Let's build one. All queries ask for feature 0, which only the first word's key has, and
# the first word's value is 0:

# %%
query, key, value = torch.randn(3, 1, 1, 300, 16)
query[..., 0], key[..., 0] = 4, 0
key[:, :, 0], value[:, :, 0] = 0, 0
key[:, :, 0, 0] = 8


# %%
class SinkCache:
    """Keeps the first words in addition to a window, for words that come one at a time."""

    def __init__(self, window, n_first=4):
        self.n_first, self.first, self.recent = n_first, KVCache(), KVCache(window)

    def append(self, key, value):
        if self.first.length < self.n_first:
            self.sinks = self.first.append(key, value)
            return self.sinks
        recent = self.recent.append(key, value)
        return [torch.cat(both, dim=-2) for both in zip(self.sinks, recent, strict=True)]


# %%
caches = {
    "everything kept": KVCache(),
    "a window of 64": KVCache(window=64),
    "and the first four words": SinkCache(window=64),
}
for name, cache in caches.items():
    kept = [cache.append(key[:, :, i : i + 1], value[:, :, i : i + 1]) for i in range(300)]
    contexts = [attend(query[:, :, i : i + 1], *kept[i]) for i in range(200, 300)]
    print(f"{name:24}  size of a context: {torch.cat(contexts).norm(dim=-1).mean():.2f}")

# %% [markdown]
# Softmax has to put its weight somewhere. Without its sink, the 64 words that are left have to
# share it, and contexts are more than ten times as large as usual. With the first four words, as in
# the paper, they stay small. (Xiao et al. let Llama 2 go on like this for four million words.)
#
# ## Fewer heads to keep
#
# A cache trades time for memory, and at some point the memory runs out. Take a model the size of
# Llama 2 7B: 32 layers, 32 heads of 128 features, and two bytes for each number. **Predict before
# you run:** how large is the cache for one text of 8,192 words?

# %%
predict("size_of_the_cache", ...)

# %%
n_layers, n_heads, d_head = 32, 32, 128
print(f"{2 * n_layers * 8192 * 2 * n_heads * d_head / 1e9:.1f} GB")

# %% [markdown]
# That's more than four gigabytes for a single text, and the model itself takes 13.5. A graphics
# card with 24 GB holds the model and two such texts, but not a third. Lesson 8 showed the usual
# remedy: several query heads share one key head and one value head. Another is to keep a short
# vector for each word, a **latent**, and to make keys and values from that (this lesson's
# challenge). Move the sliders:

# %%
view_memory(
    caption="Memory of a KV cache with two bytes per number, against a 24 GB graphics card."
)

# %% [markdown]
# ### Exercise 2: `grouped_query_attention` (6 minutes)
#
# `query` has n_heads heads; `key` and `value` have n_kv_heads heads. Neighbors share: with n_heads
# / n_kv_heads = 3, query heads 0, 1 and 2 use key head 0, the next three use key head 1, and so on.
# You may call `attend`, which also handles queries with nothing to attend to. (`repeat_interleave`
# copies keys. To avoid copies, give the queries an extra dimension.) As in lesson 4, no NaN may
# arise in the gradients, not even on the way.


# %%
def grouped_query_attention(
    query: Float[Tensor, "batch n_heads n_query d_head"],
    key: Float[Tensor, "batch n_kv_heads n_key d_head"],
    value: Float[Tensor, "batch n_kv_heads n_key d_head"],
    keep: Bool[Tensor, "n_query n_key"] | None = None,
) -> Float[Tensor, "batch n_heads n_query d_head"]:
    """The contexts of all query heads, of which several share a key head and a value head.

    Source: Ainslie et al. 2023.

    Example: four query heads, two value heads, one word.
        >>> zeros, value = torch.zeros(1, 4, 1, 2), torch.tensor([[[[1.0, 1.0]], [[5.0, 5.0]]]])
        >>> grouped_query_attention(zeros, zeros[:, :2], value)[0, :, 0, 0]
        tensor([1., 1., 5., 5.])
    """
    ### BEGIN SOLUTION
    groups = query.unflatten(1, (key.shape[1], -1))
    context = attend(groups, key[:, :, None], value[:, :, None], keep)
    return context.flatten(1, 2)
    ### END SOLUTION


# %%
check(grouped_query_attention)

# %% [markdown]
# Fewer key heads save more than memory. For each new word, a model like this one reads all its
# weights and the whole cache, once. An H100 SXM, a GPU from 2022, reads 3.35 TB per second. If it
# did nothing else, the model above could write this many words per second, after 8,192 others. (For
# simplicity, the weights stay at 13.5 GB.)

# %%
for n_kv_heads in (32, 8):
    cache = 2 * n_layers * 8192 * 2 * n_kv_heads * d_head
    for texts in (1, 8):
        words = texts * 3.35e12 / (13.5e9 + texts * cache)
        print(f"{n_kv_heads:2} key heads, texts at once: {texts}, words per second: {words:5.0f}")

# %% [markdown]
# Eight texts share one reading of the weights, but each has its own cache. So the cache is what
# they wait for. With a quarter of the key heads, the model writes eight texts twice as fast. (A
# **quantized** cache, with 8 or 4 bits per number, helps in the same way.) The arithmetic hardly
# counts: a multiplication and an addition per weight come to 13.5 billion operations for a word,
# and an H100 does 989 trillion per second in bfloat16. Reading a prompt is a different matter. All
# its words share one reading, so there the arithmetic counts. The two have names of their own:
# **prefill** and **decode**.
#
# ### Exercise 3: `CachedSelfAttention` (14 minutes)
#
# Put the two together: causal self-attention that can read a text in pieces.
#
# - Four `nn.Linear`s, `query`, `key`, `value` and `output`, with biases. `key` and `value` have
#   n_kv_heads · d_head features, where d_head is d_model / n_heads; the other two have d_model. If
#   `n_kv_heads` is None, there are as many as query heads.
# - `forward(x, cache=None)`: the words in `x` come after those that the cache holds. Hand the cache
#   the new keys and values, and attend to what it returns.
# - Each word attends to itself and to the words before it; if the cache has a `window`, only to the
#   last `window` of these, itself included. The cache returns the new words last. So of n_key keys
#   and n_query queries, query 0 is at place n_key − n_query: the mask's corner is at the **lower
#   right**.
#
# A word's distance from another is the difference of their places, so a window is a second mask:
# the query at place p keeps keys p − window + 1 to p. That's one diagonal for `tril` and another
# for `triu`, and query 0 is at place n_key − n_query for both. (`length` is no help here: it also
# counts words that the cache has forgotten.) This exercise builds on `grouped_query_attention`.


# %%
class CachedSelfAttention(nn.Module):
    """Causal self-attention with grouped queries, in one go or in pieces with a cache.

    Example: a text of five words, and the same in two pieces.
        >>> attention = CachedSelfAttention(d_model=8, n_heads=4, n_kv_heads=2)
        >>> x, cache = torch.randn(1, 5, 8), KVCache()
        >>> pieces = [attention(piece, cache) for piece in (x[:, :3], x[:, 3:])]
        >>> torch.allclose(torch.cat(pieces, dim=1), attention(x), atol=1e-5)
        True
    """

    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int | None = None) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads or n_heads
        d_kv = self.n_kv_heads * (d_model // n_heads)
        self.query, self.output = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.key, self.value = nn.Linear(d_model, d_kv), nn.Linear(d_model, d_kv)
        ### END SOLUTION

    def forward(
        self, x: Float[Tensor, "batch n_new d_model"], cache: KVCache | None = None
    ) -> Float[Tensor, "batch n_new d_model"]:
        ### BEGIN SOLUTION
        query = self.query(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        key = self.key(x).unflatten(-1, (self.n_kv_heads, -1)).transpose(1, 2)
        value = self.value(x).unflatten(-1, (self.n_kv_heads, -1)).transpose(1, 2)
        if cache is not None:
            key, value = cache.append(key, value)
        n_query, n_key = query.shape[-2], key.shape[-2]
        keep = torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)
        if cache is not None and cache.window is not None:
            keep = keep.triu(n_key - n_query - cache.window + 1)
        context = grouped_query_attention(query, key, value, keep)
        return self.output(context.transpose(1, 2).flatten(2))
        ### END SOLUTION


# %%
check(CachedSelfAttention)

# %% [markdown]
# Does it pay off? Here is the time for one more word, after 128 to 2,048 words:


# %%
def with_words(attention, n):
    """A cache that holds n words."""
    cache = KVCache()
    attention(torch.randn(1, n, 64), cache)
    return cache


# %% reason="timings differ from run to run" tags=["nbval-ignore-output"]
attention, sizes = CachedSelfAttention(64, 4).requires_grad_(False), [128, 256, 512, 1024, 2048]
again, cached = [], []
for n in sizes:
    text, cache = torch.randn(1, n + 1, 64), with_words(attention, n)
    again.append(seconds(attention, text))
    cached.append(seconds(attention, text[:, -1:], cache))
plot_growth(
    sizes,
    {"everything again": again, "with a cache": cached},
    x_name="words so far",
    caption="Seconds for one more word in one layer.",
)

# %% [markdown]
# (The upper line may be steeper than we counted: a large matrix of scores needs fresh memory, which
# the operating system has to clear first.)
#
# ## Is this a bug?
#
# Now for the question at the top. Write with a cache and without, and compare:

# %% reason="rounding depends on the processor" tags=["nbval-ignore-output"]
whole, cache = torch.randn(1, 20, 64), KVCache()
pieces = torch.cat([attention(piece, cache) for piece in whole.split(3, dim=1)], dim=1)
difference = (pieces - attention(whole)).abs().max()
print("exactly the same:", torch.equal(pieces, attention(whole)))
print("off by less than 1e-6:", difference.item() < 1e-6)

# %% [markdown]
# Not exactly the same, but nearly. Float32 keeps about seven digits, and a product of matrices adds
# up its numbers in a different order for 3 rows than for 20. So is it rounding, or a small defect?
# Here's how to tell: **compute in float64**, in every step. A defect stays as large as it was.
# Rounding shrinks by a factor of about 500 million:

# %%
attention, whole, cache = attention.double(), whole.double(), KVCache()
pieces = torch.cat([attention(piece, cache) for piece in whole.split(3, dim=1)], dim=1)
print("off by less than 1e-14:", (pieces - attention(whole)).abs().max().item() < 1e-14)

# %% [markdown]
# In our code, it was rounding, so this isn't a bug. The author of the pull request could find out
# the same way. (But beware of a cache with a dtype of its own, as some have. If it stores float32,
# keys and values are rounded there, and the difference shrinks far less.)
#
# There's a tempting shortcut: let the model write 12 words with the cache and 12 without, always
# picking the likeliest word. If the words match, declare the cache correct. Let's test this test,
# as in lesson 8. `writer` makes a small model with random weights and a defect found in real
# caches. For each defect, we make 20, and count how many are caught by comparing words, and how
# many by comparing **logits**: the scores that a model gives all words of its vocabulary, of which
# the largest is picked. **Predict before you run:** one of the defects is “no mask”: the words that
# are read first, all at once, see each other's future. In how many of its 20 models do the *words*
# give it away?

# %%
predict("a_lost_mask", ...)

# %%
found = {}
for defect in DEFECTS:
    models = [writer(seed, defect) for seed in range(20)]
    by_words = sum(not same_words(model) for model in models)
    found[defect] = by_words, sum(not same_logits(model) for model in models)

# %%
for defect, (by_words, by_logits) in found.items():
    print(f"{defect:36} words: {by_words:2} of 20   logits: {by_logits:2} of 20")

# %% [markdown]
# In 14 of 20 models, having no mask changes none of the 12 words. Forgetting the oldest word slips
# through just as often. Picking the likeliest word throws away nearly everything that a model
# computes. **Compare logits, not words:** then every defect shows in every model.
#
# ## Nothing larger than a tile
#
# The other cost is that the number of scores grows with the square of the text's length. A text of
# 8,192 words has 67 million scores per head: 268 MB in float32. In the end, all we want is a
# context for each word, a megabyte for a head with 32 features. Do we need all the scores at once?
#
# A softmax needs the largest score of its row and a sum over the whole row. But lesson 1's
# challenge had a way around that: keep the largest score *so far* and the sum *so far*, and when a
# larger score comes, rescale the sum. The context is a sum, too, so the same trick works for it.
# For each query, keep three things:
#
# - $m$, the largest score so far, at first −∞;
# - $\ell$, the sum of $e^{s_j - m}$ over the keys so far, at first 0;
# - $o$, the sum of $e^{s_j - m}\, v_j$, at first 0.
#
# The scores come in small blocks, called **tiles**. A new tile may have a larger maximum, $m'$.
# Then everything so far is off by the same factor:
#
# $$m' = \max(m, \max_j s_j) \qquad \ell' = e^{m - m'} \ell + \sum_j e^{s_j - m'} \qquad
# o' = e^{m - m'} o + \sum_j e^{s_j - m'} v_j$$
#
# After the last tile, $o / \ell$ is the context, and $m + \ln \ell$ is the logarithm of the sum of
# all $e^{s_j}$, the **logsumexp**. (Rabe and Staats, 2021, divide at the very end, as we do.
# **FlashAttention**, Dao et al. 2022, does all this in a GPU's small fast memory; its second
# version, Dao 2023, divides at the end, too, and saves the logsumexp for the way back.) Step
# through it. Each row of the map is a query, with its $m$ and $\ell$ on the right:

# %%
torch.manual_seed(3)
view_tiles(
    torch.randn(4, 8) * 2,
    tile=2,
    caption="One tile after another, with the largest score m and the sum ℓ of each query.",
)

# %% [markdown]
# ### Exercise 4: `online_step` (9 minutes)
#
# Take in one tile. Beware of −∞: with a mask, a row may have nothing to attend to in this tile.
# Then its state must stay as it is, even if that's still (−∞, 0, 0). What does `exp` make of −∞ −
# (−∞)? You may subtract something else in such a row, as long as you return −∞. Return new tensors,
# and leave the old state as it was.


# %%
def online_step(
    state: tuple[
        Float[Tensor, "*batch n_query"],
        Float[Tensor, "*batch n_query"],
        Float[Tensor, "*batch n_query d_v"],
    ],
    scores: Float[Tensor, "*batch n_query n_tile"],
    value: Float[Tensor, "*batch n_tile d_v"],
) -> tuple[
    Float[Tensor, "*batch n_query"],
    Float[Tensor, "*batch n_query"],
    Float[Tensor, "*batch n_query d_v"],
]:
    """The state (m, l, o) after one more tile; scores of −∞ are masked.

    Source: Milakov and Gimelshein 2018; Dao 2023.

    Example: after a score of 1 with a value of 5, a score of 3 with a value of 7.
        >>> state = torch.tensor([1.0]), torch.tensor([1.0]), torch.tensor([[5.0]])
        >>> m, l, o = online_step(state, torch.tensor([[3.0]]), torch.tensor([[7.0]]))
        >>> m, l, o
        (tensor([3.]), tensor([1.1353]), tensor([[7.6767]]))
    """
    maximum, total, output = state
    ### BEGIN SOLUTION
    new_maximum = torch.maximum(maximum, scores.amax(dim=-1))
    offset = new_maximum.masked_fill(new_maximum == -torch.inf, 0.0)  # exp(−∞ − 0) is 0
    exps = (scores - offset[..., None]).exp()
    shrink = (maximum - offset).exp()
    new_total = shrink * total + exps.sum(dim=-1)
    return new_maximum, new_total, shrink[..., None] * output + exps @ value
    ### END SOLUTION


# %%
check(online_step)

# %% [markdown]
# ### Exercise 5: `tiled_attention` (18 minutes)
#
# Take `tile_query` queries at a time, and go over the keys in tiles of `tile_key`. Each tile of
# queries starts from the state (−∞, 0, 0). Call `online_step` for each tile of keys. Scores are
# divided by √d, as always. Never make more than one tile of scores, nor a mask for all pairs: make
# each tile's mask from the places of its queries and keys.
#
# - The last tiles may be smaller than the others.
# - With `causal=True`, the queries are the last n_query of n_key words, and n_query ≤ n_key.
#   (Without it, there may be more queries than keys.) So query 0 is at place n_key − n_query. You
#   can skip tiles that lie entirely in the future. With as many queries as keys, and many tiles,
#   that saves nearly half the work.
# - Return the context and the logsumexp.
#
# This exercise builds on `online_step`.


# %%
def tiled_attention(
    query: Float[Tensor, "*batch n_query d"],
    key: Float[Tensor, "*batch n_key d"],
    value: Float[Tensor, "*batch n_key d"],
    causal: bool = False,
    tile_query: int = 16,
    tile_key: int = 16,
) -> tuple[Float[Tensor, "*batch n_query d"], Float[Tensor, "*batch n_query"]]:
    """Attention, a tile of scores at a time: the context, and each query's logsumexp.

    Example: two queries that are zero; the second sees three keys, the first sees two.
        >>> zeros, value = torch.zeros(2, 1), torch.tensor([[0.0], [2.0], [4.0]])
        >>> tiled_attention(zeros, torch.ones(3, 1), value, causal=True)
        (tensor([[1.],
                [2.]]), tensor([0.6931, 1.0986]))
    """
    ### BEGIN SOLUTION
    n_query, n_key = query.shape[-2], key.shape[-2]
    contexts, logsumexps = [], []
    for first in range(0, n_query, tile_query):
        queries = query[..., first : first + tile_query, :] / query.shape[-1] ** 0.5
        place = torch.arange(first, first + queries.shape[-2]) + n_key - n_query
        nothing = torch.zeros_like(queries[..., 0])
        state = nothing - torch.inf, nothing, torch.zeros_like(queries)
        for start in range(0, n_key, tile_key):
            if causal and start > place[-1]:
                break
            scores = queries @ key[..., start : start + tile_key, :].transpose(-2, -1)
            if causal:
                later = torch.arange(start, start + scores.shape[-1]) > place[:, None]
                scores = scores.masked_fill(later, -torch.inf)
            state = online_step(state, scores, value[..., start : start + tile_key, :])
        largest, total, output = state
        contexts.append(output / total[..., None])
        logsumexps.append(largest + total.log())
    return torch.cat(contexts, dim=-2), torch.cat(logsumexps, dim=-1)
    ### END SOLUTION


# %%
check(tiled_attention)

# %% [markdown]
# PyTorch's own function agrees:

# %%
query, key, value = torch.randn(3, 100, 32)
theirs = F.scaled_dot_product_attention(query, key, value, is_causal=True)
torch.allclose(tiled_attention(query, key, value, causal=True)[0], theirs, atol=1e-5)

# %% [markdown]
# But beware when there are fewer queries than keys, as with a cache. **Predict before you run:** we
# give PyTorch one new query, six keys, and `is_causal=True`. How many keys does the query see?

# %%
predict("is_causal_with_a_cache", ...)

# %%
theirs = F.scaled_dot_product_attention(query[-1:], key[:6], value[:6], is_causal=True)
torch.allclose(theirs, value[:1])

# %% [markdown]
# One. Its context is the first value, because PyTorch puts the mask's corner at the top left, as
# lesson 4 found. With a cache, leave `is_causal` out for a single query, and pass a mask for
# several. On a GPU, `causal_lower_right(n_query, n_key)` from `torch.nn.attention.bias` is one that
# needs no n² memory. (And `enable_gqa=True` shares key heads, as in Exercise 2. For any other rule,
# compile `flex_attention`, with a block mask made from a function of the places. It skips the tiles
# that are hidden.)
#
# And what do tiles save? Don't guess. Measure. `peak_megabytes` records each allocation that
# PyTorch makes during a call:


# %%
def plain_attention(query, key, value, causal=False):
    """The usual form, with all scores at once."""
    if not causal:
        return attend(query, key, value)
    all_pairs = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool)
    n_past = key.shape[-2] - query.shape[-2]
    return attend(query, key, value, all_pairs.tril(n_past))


# %%
sizes = [512, 1024, 2048, 4096, 8192]
texts = [torch.randn(3, n, 32).unbind() for n in sizes]


def large_tiles(*qkv):
    return tiled_attention(*qkv, tile_query=256, tile_key=256)[0]


# %% reason="memory differs a little from machine to machine" tags=["nbval-ignore-output"]
plot_growth(
    sizes,
    {
        "all at once": [peak_megabytes(plain_attention, *qkv) for qkv in texts],
        "in tiles of 256": [peak_megabytes(large_tiles, *qkv) for qkv in texts],
    },
    x_name="words",
    y_name="MB",
    caption="Peak memory of one head with 32 features.",
)

# %% reason="timings differ from run to run" tags=["nbval-ignore-output"]
plot_growth(
    sizes[:4],
    {
        "all at once": [seconds(plain_attention, *qkv, repeats=1) for qkv in texts[:4]],
        "in tiles of 256": [seconds(large_tiles, *qkv, repeats=1) for qkv in texts[:4]],
    },
    x_name="words",
    caption="Seconds for one head with 32 features.",
)

# %% [markdown]
# All at once, the memory grows with the square: twice the words, four times the memory. In tiles,
# it grows far more slowly. On our machine, tiles of 256 were faster, too, for the longest text,
# although they do slightly more work. It isn't the arithmetic: for each matrix of 67 MB, the
# operating system has to hand out fresh memory and clear it first. Tiles are small, so they use the
# same memory again and again. (Much smaller tiles are slower, because then Python's loop takes
# over.) PyTorch's function works in tiles as well, and is faster still, if you give it [batch,
# n_heads, n, d_head], with values as wide as keys and no dropout. For a single [n, d], as here, it
# computes all the scores at once.
#
# ## The way back
#
# Training needs gradients, and autograd has a memory of its own: it saves what the backward pass
# will need. For attention, that's the weights. All of them. `saved_megabytes` counts what a call
# leaves behind:

# %%
query, key, value = (torch.randn(2048, 32, requires_grad=True) for _ in range(3))
print(f"all at once: {saved_megabytes(plain_attention, query, key, value):6.1f} MB")
print(f"in tiles:    {saved_megabytes(large_tiles, query, key, value):6.1f} MB")

# %% [markdown]
# In tiles it's even more: autograd saves every tile, and every step of the state. To save less, we
# have to write the backward pass ourselves. It recomputes the weights $P$ from the scores $S$.
# Since $e^{L_i}$ is the sum that softmax divides row $i$ by, all it needs is each row's logsumexp
# $L_i$: $P_{ij} = e^{S_{ij} - L_i}$.
#
# Let $dO$ be the gradient of the loss with respect to the context, $O = PV$. $V_j$ enters $O_i$
# with weight $P_{ij}$, so $dV_j = \sum_i P_{ij}\, dO_i$, and for all of them
#
# $$dV = P^\top dO \qquad dP = dO\, V^\top$$
#
# Each row of $P$ is the softmax of a row of $S$. More weight for one key means less for the others,
# so what counts is how far $dP_{ij}$ lies above the row's average, weighted by $P$:
#
# $$dS_{ij} = P_{ij} (dP_{ij} - D_i) \qquad D_i = \sum_j P_{ij}\, dP_{ij}$$
#
# And $S = QK^\top / \sqrt d$, so
#
# $$dQ = dS\, K / \sqrt d \qquad dK = dS^\top Q / \sqrt d$$
#
# That average, $D_i$, is a sum over all keys. But there's a shortcut. **Predict before you
# run:** which of these is $D_i$?

# %%
predict("what_is_d", ...)

# %%
weights = torch.randn(3, 5).softmax(dim=-1)
values, d_context = torch.randn(5, 4), torch.randn(3, 4)
d_weights = d_context @ values.T
over_keys = (weights * d_weights).sum(dim=-1)
over_features = (d_context * (weights @ values)).sum(dim=-1)
torch.allclose(over_keys, over_features, atol=1e-6)

# %% [markdown]
# $\sum_j P_{ij}\, (dO_i \cdot V_j) = dO_i \cdot \sum_j P_{ij} V_j = dO_i \cdot O_i$: the context
# already holds that sum.
#
# ### Exercise 6: `attention_backward` (10 minutes)
#
# Write the backward pass, with all scores at once (the tiles come next). `logsumexp` and `context`
# are those that `tiled_attention` returned. You may get only some of the keys that they were
# computed from. Then the weights don't add up to 1, so compute $D_i$ by the shortcut, and `d_query`
# is these keys' contribution. Mask before you take `exp`: the logsumexp doesn't cover later words,
# so their exponents may be large. With `causal=True`, count places within the keys that you get:
# the queries are the last n_query of these n_key words.


# %%
def attention_backward(
    query: Float[Tensor, "*batch n_query d"],
    key: Float[Tensor, "*batch n_key d"],
    value: Float[Tensor, "*batch n_key d"],
    context: Float[Tensor, "*batch n_query d"],
    logsumexp: Float[Tensor, "*batch n_query"],
    d_context: Float[Tensor, "*batch n_query d"],
    causal: bool = False,
) -> tuple[
    Float[Tensor, "*batch n_query d"],
    Float[Tensor, "*batch n_key d"],
    Float[Tensor, "*batch n_key d"],
]:
    """The gradients for query, key and value; d_context is the gradient for the context.

    Source: Dao et al. 2022, appendix B.2.

    Example: with a single key, the weight is always 1.
        >>> one = torch.ones(1, 1)
        >>> attention_backward(one, one, one, context=one, logsumexp=one[0], d_context=2 * one)
        (tensor([[0.]]), tensor([[0.]]), tensor([[2.]]))
    """
    ### BEGIN SOLUTION
    n_query, n_key, root = query.shape[-2], key.shape[-2], query.shape[-1] ** 0.5
    scores = query @ key.transpose(-2, -1) / root
    if causal:
        keep = torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)
        scores = scores.masked_fill(~keep, -torch.inf)
    attn_weights = (scores - logsumexp[..., None]).exp()
    d_value = attn_weights.transpose(-2, -1) @ d_context
    d_weights = d_context @ value.transpose(-2, -1)
    mean = (d_context * context).sum(dim=-1, keepdim=True)
    d_scores = attn_weights * (d_weights - mean)
    return d_scores @ key / root, d_scores.transpose(-2, -1) @ query / root, d_value
    ### END SOLUTION


# %%
check(attention_backward)

# %% [markdown]
# How does autograd learn about a backward pass of your own? From a `torch.autograd.Function`. Here
# is one for factor · x²:


# %%
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return factor * x**2

    @staticmethod
    def backward(ctx, d_result):
        (x,) = ctx.saved_tensors
        return d_result * ctx.factor * 2 * x, None


# %%
x = torch.tensor(3.0, requires_grad=True)
Square.apply(x, 10.0).backward()
x.grad

# %% [markdown]
# That's 10 · 2 · 3. You call `apply`, and autograd calls the two methods. Both take `ctx` instead
# of `self`. It carries what `backward` will need: tensors go through `save_for_backward`, anything
# else is an attribute. `backward` gets the gradient of the result. It returns a gradient for each
# argument of `forward`, in their order, and None where there isn't one.
#
# ### Exercise 7: `TiledAttention` (14 minutes)
#
# Tell autograd to use your two functions. `forward` takes query, key, value and `causal`, so
# `backward` returns three gradients and None. (`once_differentiable` raises an error if anyone
# differentiates twice, which would go wrong: autograd doesn't know how the logsumexp depends on the
# queries.)
#
# `forward` returns the context alone, and saves no weights. In `backward`, take at most 64 queries
# at a time, so that there are never more than 64 rows of scores. Each tile of queries has its own
# d_query; d_key and d_value are sums over all tiles. If `causal` is True, give `attention_backward`
# only the keys up to the tile's last query, so that the tile's queries are the last words that it
# sees.
#
# This exercise builds on `tiled_attention` and `attention_backward`.


# %%
class TiledAttention(torch.autograd.Function):
    """Attention that saves no weights: `TiledAttention.apply(query, key, value, causal)`.

    Example:
        >>> query, key, value = torch.randn(3, 5, 4, dtype=torch.float64, requires_grad=True)
        >>> torch.autograd.gradcheck(TiledAttention.apply, (query, key, value, True))
        True
    """

    @staticmethod
    def forward(
        ctx,
        query: Float[Tensor, "*batch n_query d"],
        key: Float[Tensor, "*batch n_key d"],
        value: Float[Tensor, "*batch n_key d"],
        causal: bool = False,
    ) -> Float[Tensor, "*batch n_query d"]:
        ### BEGIN SOLUTION
        context, logsumexp = tiled_attention(query, key, value, causal, 64, 64)
        ctx.save_for_backward(query, key, value, context, logsumexp)
        ctx.causal = causal
        return context
        ### END SOLUTION

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, d_context: Float[Tensor, "*batch n_query d"]) -> tuple[Tensor | None, ...]:
        ### BEGIN SOLUTION
        query, key, value, context, logsumexp = ctx.saved_tensors
        n_query, n_key = query.shape[-2], key.shape[-2]
        d_query, d_key, d_value = (torch.zeros_like(x) for x in (query, key, value))
        for first in range(0, n_query, 64):
            last = min(first + 64, n_query)
            rows = (..., slice(first, last), slice(None))
            seen = (..., slice(n_key - n_query + last if ctx.causal else n_key), slice(None))
            of_tile = query[rows], key[seen], value[seen], context[rows]
            lse = logsumexp[..., first:last]
            parts = attention_backward(*of_tile, lse, d_context[rows], ctx.causal)
            d_query[rows] = parts[0]
            d_key[seen] += parts[1]
            d_value[seen] += parts[2]
        return d_query, d_key, d_value, None
        ### END SOLUTION


# %%
check(TiledAttention)

# %%
print(f"saved: {saved_megabytes(TiledAttention.apply, query, key, value):.1f} MB")


# %%
def forward_and_backward(attention, query, key, value):
    qkv = [x.detach().requires_grad_() for x in (query, key, value)]
    return torch.autograd.grad(attention(*qkv).sum(), qkv)


# %% reason="memory differs a little from machine to machine" tags=["nbval-ignore-output"]
forms = {"all at once": plain_attention, "in tiles": large_tiles, "by hand": TiledAttention.apply}
for name, form in forms.items():
    peak = peak_megabytes(forward_and_backward, form, query, key, value)
    print(f"{name:12} {peak:5.1f} MB")

# %% [markdown]
# In tiles, autograd saves more than all at once, and still the peak is lower. By hand, both are
# small. The weights are computed twice, and in Python that takes time. On a graphics card, it
# *saves* time: moving large matrices in and out of its memory takes longer than computing them
# again. That's why FlashAttention computes them again. It's one reason models can read texts of a
# hundred thousand words.

# %% [markdown]
# ## What you can do now
#
# - Say what makes writing slow, and why a **KV cache** may keep keys and values: in causal
#   attention, nothing that comes later changes them.
# - Write attention with a cache: grouped queries, a window, and the mask's corner at the lower
#   right.
# - Use float64 to tell **rounding** from a defect, and compare **logits**, not words.
# - Attend **in tiles** with a running maximum and a running sum, forward and backward, without ever
#   holding all the weights at once.
# - **Measure** memory instead of guessing: the peak of a call, and what autograd saves.
#
# ### Test yourself
#
# 1. You add a cache to a model with *learned* positions. The first word after the prompt is right,
#    but the rest is garbage. What do you look at first?
# 2. A friend's tiled attention starts with $m = 0$ instead of −∞, and passes all tests with random
#    numbers. On which scores does it fail?
# 3. Why does `attention_backward` need no maximum, although it takes `exp` of scores?
#
# <details>
# <summary>Answers</summary>
#
# 1. The positions. The first word comes from reading the prompt, at its right places. The next one
#    is alone in its piece, so code that counts places in the piece gives it place 0. Its place is
#    the cache's `length`.
# 2. On rows whose scores are all far below 0. $e^{s - 0}$ underflows for each of them, the sum is
#    0, and 0 / 0 is NaN. If all scores are above 0 or around it, nothing shows.
# 3. It subtracts the logsumexp, which is never below the largest score that it covers. So, up to
#    rounding, no exponent is above 0, once later words are masked.
#
# </details>

# %% [markdown]
# ### Challenge: `latent_attention` (optional, 15 minutes)
#
# DeepSeek's **multi-head latent attention** keeps one short vector $c_j$ for each word instead of
# keys and values. Every head makes its key from it, $W^K c_j$, and its value, $W^V c_j$. (Rotated
# positions would break what follows, so DeepSeek also keeps one small rotated key per word. Leave
# that out here.) That looks like a trade: less memory, but all keys and values have to be made
# again for each new word. Unless you use
#
# $$q^\top (W^K c_j) = ({W^K}^\top q)^\top c_j$$
#
# Move the query to the latents, and you never make a key. How does that work for the values? Write
# attention that makes neither keys nor values.


# %%
def latent_attention(
    query: Float[Tensor, "batch n_heads n_query d_head"],
    latent: Float[Tensor, "batch n_key d_latent"],
    w_key: Float[Tensor, "n_heads d_head d_latent"],
    w_value: Float[Tensor, "n_heads d_head d_latent"],
) -> Float[Tensor, "batch n_heads n_query d_head"]:
    """Attention whose keys and values are `w_key @ c` and `w_value @ c`, without making them.

    The scores are divided by √d_head.

    Source: DeepSeek-AI 2024 (DeepSeek-V2), section 2.1.2.

    Example:
        >>> query, latent, w_key, w_value = (torch.randn(1, 2, 3, 4), torch.randn(1, 5, 6),
        ...                                  torch.randn(2, 4, 6), torch.randn(2, 4, 6))
        >>> keys = torch.einsum("hdl,bnl->bhnd", w_key, latent)
        >>> values = torch.einsum("hdl,bnl->bhnd", w_value, latent)
        >>> context = latent_attention(query, latent, w_key, w_value)
        >>> torch.allclose(context, attend(query, keys, values), atol=1e-5)
        True
    """
    ### BEGIN SOLUTION
    scores = query @ w_key @ latent.transpose(-2, -1)[:, None] / query.shape[-1] ** 0.5
    mixed = scores.softmax(dim=-1) @ latent[:, None]  # [batch, n_heads, n_query, d_latent]
    return mixed @ w_value.transpose(-2, -1)
    ### END SOLUTION


# %%
check(latent_attention)

# %% [markdown]
# What does it cost? In DeepSeek-V3, a layer has 128 heads of 128 features, latents of 512 numbers,
# and that one rotated key, of 64. Here is what each word of the text costs when the next one is
# written, with keys and values or with latents alone:

# %%
n_heads, d_head, d_rotated, d_latent = 128, 128, 64, 512
read = {"keys and values": 2 * n_heads * d_head + d_rotated, "latents": d_latent + d_rotated}
done = {
    "keys and values": n_heads * (d_head + d_rotated + d_head),
    "latents": n_heads * (d_latent + d_rotated + d_latent),
}
for name, numbers in read.items():
    print(f"{name:16} {numbers:6,} numbers to read, {done[name]:7,} multiplications")

# %% [markdown]
# One fifty-seventh of the reading, for more than three times the arithmetic. When a model writes,
# it waits for memory, so that's a bargain. When it reads a prompt, it isn't: there, for V3, vLLM
# still computes keys and values in 2026.
#
# One thing to try: **where does rounding add up?** Feed 2,000 random words, one at a time, through
# eight layers of `CachedSelfAttention`, each with its own cache, and through the same layers
# without caches. Does the difference grow from layer to layer, or from word to word?
#
# ### Further reading
#
# - [Shazeer 2019](https://arxiv.org/abs/1911.02150): one key head for all queries, because reading
#   the cache is what takes the time.
# - [Ainslie et al. 2023](https://arxiv.org/abs/2305.13245): groups, between one key head and all.
# - [Milakov and Gimelshein 2018](https://arxiv.org/abs/1805.02867): softmax with a running maximum.
# - [Rabe and Staats 2021](https://arxiv.org/abs/2112.05682): attention whose memory doesn't grow
#   with the square of the text.
# - [Dao et al. 2022](https://arxiv.org/abs/2205.14135): FlashAttention. Appendix B.2 derives the
#   gradients that you wrote.
# - [Dao 2023](https://arxiv.org/abs/2307.08691): FlashAttention-2. It divides once, at the end, and
#   saves only the logsumexp.
# - [DeepSeek-AI 2024](https://arxiv.org/abs/2405.04434): latents in place of keys and values.

# %%
progress()
