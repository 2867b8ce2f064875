# %% [markdown]
# # 4. Masks
#
# **How do you know that a model doesn't peek?** A language model learns by guessing the next word,
# in sentences where the next word is right there. If it could look, it would learn to copy. A
# **mask** says who may look at whom. In lesson 3, it was hidden in a function we gave you. A mask
# takes only a line or two of code, but those lines go wrong easily, because a wrong mask seldom
# raises an error. In this lesson you build masks, watch each of the usual mistakes fail, and write
# a test that catches a model peeking, even if you can't see its code.
#
# | | |
# |---|---|
# | **You need** | Lessons 2 and 3: scaled dot-product attention, and its heads |
# | **You can then** | mask attention, yours and the libraries', and test it for leaks |
#
# Each exercise is followed by a check; `hint`, `failing_case` and `give_up` help as in lesson 1.

# %%
import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from autograder import check, failing_case, give_up, hint, predict, progress
from autograder.utils.data import six_words
from autograder.utils.libraries import load_keras
from autograder.utils.plots import plot_attention, plot_leak, plot_masking, plot_matrix
from autograder.utils.views import view_mask

# %%
torch.set_num_threads(1)  # small tensors are fastest on one thread
torch.set_printoptions(precision=4, sci_mode=False)

# %% [markdown]
# The six words and the three projections come from lesson 2. The second row of weights, for
# "journey", begins with .1500 and .2264, as it did there.

# %%
labels, words = six_words()
torch.manual_seed(123)
w_query, w_key, w_value = (torch.rand(3, 2) for _ in range(3))
query, key, value = words @ w_query, words @ w_key, words @ w_value
attn_scores = query @ key.T / math.sqrt(2)
attn_scores.softmax(-1)[1]

# %% [markdown]
# ## What a word must not see
#
# In training, a language model guesses the next word at every place in the sentence at once. For
# "Your journey", the answer is "starts". If "journey" may attend to "starts", the answer is in
# plain sight. The model can copy it, and learns nothing that helps when the next word isn't there
# yet.
#
# So a word may see itself and the words before it. This is a **causal** mask. We write a mask as a
# boolean matrix `keep`, with a row for each query and a column for each key:
#
# $$\text{keep}_{ij} = \text{True} \iff \text{query } i \text{ may attend to key } j$$
#
# We chose the name for a reason. Other code says `mask`, and True sometimes means "may attend",
# sometimes "is hidden". You can't forget what `keep` means.
#
# You make masks by comparing, often a column with a row. Two tensors *broadcast*: their shapes line
# up from the right, and a dimension of size 1 is repeated to fit the other's. `[:, None]` inserts a
# dimension of 1, which turns a row into a column. **Predict before you run:** what shape does
# `column < numbers` have, and where is it True?

# %%
predict("column_and_row", ...)

# %%
numbers = torch.arange(1, 4)
column = numbers[:, None]
print(column.shape, column < numbers)

# %% [markdown]
# The column is [3, 1] and the row is [3], so both are repeated to [3, 3]. Each number in the column
# is compared with each number in the row: 1 is less than 2 and 3, 2 is less than 3 alone, and 3 is
# less than none.
#
# ### Exercise 1: `causal_keep` (5 minutes)
#
# Make the causal mask for a sentence of `n` words.


# %%
def causal_keep(n: int) -> Bool[Tensor, "n n"]:
    """Mask in which each word may attend to itself and to the words before it.

    Example:
        >>> causal_keep(3)
        tensor([[ True, False, False],
                [ True,  True, False],
                [ True,  True,  True]])
    """
    ### BEGIN SOLUTION
    position = torch.arange(n)
    return position[:, None] >= position
    ### END SOLUTION


# %%
check(causal_keep)

# %% [markdown]
# ## Words that aren't words
#
# Sentences differ in length, but a batch is one tensor. So we fill short sentences until they are
# as long as the longest. The filler is called **padding**. Here the second sentence, "one step
# starts", has three words and three padded places, all zeros.

# %%
lengths = torch.tensor([6, 3])
batch = torch.stack([words, words[[4, 5, 2, 0, 0, 0]]])
batch[1, 3:] = 0
batch[1]

# %% [markdown]
# **Predict before you run:** the padding is all zeros. How much of its weight does "one" give to
# the three padded places: nothing, a little, a third? (`.mT` is short for `transpose(-2, -1)`.)

# %%
predict("weight_of_padding", ...)

# %%
padded_scores = (batch @ w_query) @ (batch @ w_key).mT / math.sqrt(2)
padded_weights = padded_scores.softmax(-1)
print(padded_weights[1, 0], padded_weights[1, 0, 3:].sum())

# %% [markdown]
# More than a third. A score of 0 is not a weight of 0: softmax takes e⁰ = 1, which is more than a
# negative score would get. Zeros don't hide anything; a mask does. (And the mask should come from
# the lengths, not from looking for zeros: features of real words can be 0, too.)
#
# With padding, the sentence decides which keys may be seen, and the query doesn't matter: every
# query may see the first `length` keys. So the mask has the shape [batch, 1, n]. The 1 is where
# [batch, n_query, n_key] has the queries, and broadcasting repeats it for every query.
#
# ### Exercise 2: `padding_keep` (7 minutes)
#
# Make the mask for a padded batch from the lengths of its sentences.


# %%
def padding_keep(lengths: Int[Tensor, " batch"], n: int) -> Bool[Tensor, "batch 1 n"]:
    """Mask in which every query may attend to the words of its sentence, not to its padding.

    Example:
        >>> keep = padding_keep(torch.tensor([3, 1]), 4)
        >>> keep.shape
        torch.Size([2, 1, 4])
        >>> keep[:, 0]
        tensor([[ True,  True,  True, False],
                [ True, False, False, False]])
    """
    ### BEGIN SOLUTION
    position = torch.arange(n)
    return (position < lengths[:, None])[:, None, :]
    ### END SOLUTION


# %%
check(padding_keep)

# %% [markdown]
# Two masks combine with `&`: a key may be seen if both allow it. The shapes [6, 6] and [2, 1, 6]
# broadcast to [2, 6, 6], a mask for each sentence.

# %%
keep = causal_keep(6) & padding_keep(lengths, 6)
keep.shape

# %%
plot_matrix(
    torch.stack([causal_keep(6), padding_keep(lengths, 6)[1].expand(6, 6), keep[1]]),
    titles=["causal", "padding of “one step starts”", "both, with &"],
    value_range=(0, 1),
    caption="Three masks. ✓: the query may attend to the key. ×: it may not.",
)

# %% [markdown]
# ### The 1 in [batch, 1, n]
#
# What if you leave it out? Take three sentences of three places, with 3, 2 and 1 words. **Predict
# before you run:** a mask of shape [3, 3] meets scores of shape [3, 3, 3]. Which mask does the last
# sentence get? (`expand` repeats a tensor to a shape, as broadcasting does.)

# %%
predict("mask_of_the_last", ...)

# %%
right = padding_keep(torch.tensor([3, 2, 1]), 3)  # [batch, 1, n]
flat = right[:, 0]  # [batch, n]
print(right.expand(3, 3, 3)[2])
print(flat.expand(3, 3, 3)[2])

# %% [markdown]
# Broadcasting lines up shapes from the right, so it read [batch, n] as [n_query, n_key]. Query 0
# got the mask of sentence 0, query 1 got that of sentence 1, and every sentence got the same masks.
# In the last sentence, query 0 now attends to two padded places. Nothing warns you when the sizes
# agree. When they differ, you are lucky. (`~` flips True and False; `masked_fill(mask, number)`
# writes the number where the mask is True.)

# %%
try:
    torch.zeros(2, 6, 6).masked_fill(~padding_keep(lengths, 6)[:, 0], 0)
except RuntimeError as error:
    print(error)

# %% [markdown]
# The same thing happens one level up. With heads, scores are [batch, n_heads, n_query, n_key], and
# a mask of [batch, 1, n_key] meets the heads: that's an error, or, if batch is n_heads, each *head*
# gets the mask of a sentence. (With one sentence, nothing shows. With one head, you get [batch,
# batch, n_query, n_key].) There, the mask needs a 1 for the heads as well, `keep[:, None]`.

# %% [markdown]
# ## Before softmax, or after?
#
# The obvious way to use a mask is to take the weights and set the hidden ones to 0.

# %%
causal = causal_keep(6)
masked_after = attn_scores.softmax(-1) * causal
masked_after.sum(-1)

# %%
plot_attention(
    masked_after,
    labels,
    labels,
    caption="Masked after softmax: the rows no longer sum to 1.",
)

# %% [markdown]
# The "Your" row sums to .155. Its context would be less than a sixth of what it should be, and that
# is the lesser harm. The hidden words are still in the weights: softmax divided by a sum that they
# were part of. Change a hidden word, and the weights that are left change too.
#
# On paper, dividing each row by its new sum fixes that. In floating point, softmax has already
# looked at the hidden scores. **Predict before you run:** the first key is hidden, and its score
# happens to be 200. The others score 1 and 2. What weights are left after dividing?

# %%
predict("after_a_hidden_200", ...)

# %%
after = torch.tensor([200.0, 1.0, 2.0]).softmax(-1) * torch.tensor([False, True, True])
print(after, after / after.sum())

# %% [markdown]
# Next to e²⁰⁰, everything else is 0, and 0 / 0 is NaN. A lead of about 104 is enough for that (in
# float16, 17.5), and even a somewhat smaller lead costs the small weights some of their digits.
# Scores that far apart are rare, but they do come up, in the check below too. So the mask belongs
# before softmax. Then the sum, too, counts only the keys that may be seen.
#
# $$\text{weight}_{ij} = \frac{\text{keep}_{ij} e^{s_{ij}}}{\sum_k \text{keep}_{ik} e^{s_{ik}}}$$
#
# Softmax gives a weight of 0 where $e^{s} = 0$, at a score of −∞. So the usual recipe is to set the
# hidden scores to −∞, then take softmax (Vaswani et al. 2017, "Attention Is All You Need", section
# 3.2.3). Setting them to 0 would give a weight of e⁰ again:

# %%
row = torch.tensor([1.0, 2.0, 3.0])
hidden = torch.tensor([False, False, True])
print(row.masked_fill(hidden, 0.0).softmax(-1))
print(row.masked_fill(hidden, -math.inf).softmax(-1))

# %% [markdown]
# The first line is the nastier mistake: its row sums to 1, so it looks right.
#
# ### How low is minus infinity?
#
# Published code writes "−∞" in several ways. Three are common: −∞ itself, −10⁹, and the most
# negative number of the dtype, `torch.finfo(dtype).min`. On most rows, they do the same thing. They
# part ways when a row has *nothing* to attend to. That happens: an empty sentence in a batch; a
# padding query, when its row is masked as well; the first word, if words may see only what is
# strictly before them. **Predict before you run:** all three scores are hidden. What does each way
# give?

# %%
predict("nothing_to_see", ...)

# %%
lowest = torch.finfo(torch.float32).min
for fill in (-math.inf, -1e9, lowest):
    print(f"{fill:8.1e}", torch.full((3,), fill).softmax(-1))

# %% [markdown]
# - **−∞** gives NaN. Stable softmax subtracts the largest score, and −∞ − (−∞) is not a number.
# - **−10⁹** and the **lowest number** give one third each. Three equal scores share the weight
#   evenly, however low they are: all the weight goes to keys that must not be seen.
#
# And −10⁹ fails in a second way in float16, whose lowest number is −65504. (The other half
# precision, bfloat16, reaches as far as float32.)

# %%
print(torch.finfo(torch.float16).min)
try:
    torch.zeros(3, dtype=torch.float16).masked_fill(hidden, -1e9)
except RuntimeError as error:
    print(error)

# %% [markdown]
# Click around: hide a key, then all keys of a row, and see what −∞, −10⁹ and masking after softmax
# do to the weights.

# %%
view_mask(
    attn_scores,
    causal,
    labels,
    caption="A mask to click. Red: rows that don't sum to 1, and weight on hidden keys.",
)

# %% [markdown]
# If a query may attend to nothing, what should it get? Nothing: weights of 0 and a context of 0.
# That is what `F.scaled_dot_product_attention` gives, and what we want.
#
# ### NaN comes back through the gradient
#
# A common repair lets the NaN happen, then uses `nan_to_num` to replace it with 0. The weights come
# out right. But look at the gradient. `additive` is 0 where the key may be seen and −∞ elsewhere,
# and we add it to the scores. The second row has nothing to attend to.


# %%
def gradient_of(masked_weights):
    scores = torch.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], requires_grad=True)
    attn_weights = masked_weights(scores)
    (attn_weights * torch.tensor([1.0, 2.0, 4.0])).sum().backward()
    print("weights ", attn_weights.detach())
    print("gradient", scores.grad)


# %%
two_rows = torch.tensor([[True, True, False], [False, False, False]])
additive = torch.zeros(2, 3).masked_fill(~two_rows, -math.inf)
gradient_of(lambda scores: (scores + additive).softmax(-1).nan_to_num())

# %% [markdown]
# The forward pass is fine. In the backward pass, the row is NaN: the gradient of softmax is made
# from its weights, the ones before the repair. One optimizer step later, the projections of queries
# and keys are NaN, all of them. Does `torch.where` help? It doesn't touch the NaN; it leaves it
# out.

# %%
gradient_of(lambda scores: torch.where(two_rows, (scores + additive).softmax(-1), 0.0))

# %% [markdown]
# No, and for the same reason: what it leaves out was still computed.
#
# (With `masked_fill` instead of the sum, you get away with it: its backward pass sets the gradient
# of every hidden score to 0, the NaN included. That is luck: the NaN still arises on the way back.)
#
# The cure is never to make the NaN. How? That is your next problem.
#
# ### Exercise 3: `masked_softmax` (22 minutes)
#
# Take softmax over the keys that may be seen. What you write should pass all of these at once:
#
# - Hidden keys get a weight of exactly 0, and the others share 1.
# - In a row with nothing to attend to, all weights are 0.
# - Scores may be far from 0: all near 150, say, or all near −20,000. A hidden score may be the
#   largest of its row.
# - Every gradient is finite, and no NaN arises on the way back, not even one that is wiped away.
# - The weights have the dtype of the scores, which may be float16.
#
# `keep` broadcasts to the shape of the scores, so one mask may serve many rows. You may use
# `torch.softmax`. Everything you need has come up: the three ways to write −∞, what each does to a
# row with nothing, and what masking *after* softmax gets right. None of them is enough alone. (The
# function we gave you in lesson 3 is one solution. Try to find yours before you look.)


# %%
def masked_softmax(
    attn_scores: Float[Tensor, "*batch n_query n_key"],
    keep: Bool[Tensor, "*#batch #n_query n_key"],
) -> Float[Tensor, "*batch n_query n_key"]:
    """Attention weights over the keys that `keep` allows; 0 for the others.

    Rows sum to 1; a row of `keep` with no True gives zeros. Gradients are finite everywhere.
    Source: Vaswani et al. 2017, section 3.2.3.

    Example:
        >>> masked_softmax(
        ...     torch.tensor([[1.0, 1.0, 5.0], [1.0, 1.0, 5.0]]),
        ...     torch.tensor([[True, True, False], [False, False, False]]),
        ... )
        tensor([[0.5000, 0.5000, 0.0000],
                [0.0000, 0.0000, 0.0000]])
    """
    ### BEGIN SOLUTION
    lowest = torch.finfo(attn_scores.dtype).min
    attn_weights = torch.softmax(attn_scores.masked_fill(~keep, lowest), dim=-1)
    return attn_weights.masked_fill(~keep, 0.0)
    ### END SOLUTION


# %%
check(masked_softmax)

# %%
plot_masking(
    attn_scores,
    causal,
    {
        "weights without mask": attn_scores.softmax(-1),
        "weights with mask": masked_softmax(attn_scores, causal),
    },
    labels,
    caption="Scores, mask, and the weights without and with it. In both, every row sums to 1.",
)

# %% [markdown]
# "Your" has only itself to attend to, so its weight is 1. "step" may see everything, and its row is
# the same with and without the mask. In between, what the hidden keys lose goes to the others in
# proportion: "journey" gave .1500 and .2264, and now gives .3986 and .6014, the same ratio.
#
# And the three ways to write −∞, on a row with nothing to attend to:

# %%
first, none = attn_scores[:1], torch.zeros(1, 6, dtype=torch.bool)
three_ways = {
    "filled with −∞": first.masked_fill(~none, -math.inf).softmax(-1),
    "filled with −1e9": first.masked_fill(~none, -1e9).softmax(-1),
    "masked_softmax": masked_softmax(first, none),
}

# %%
plot_attention(
    torch.stack(list(three_ways.values())),
    labels,
    ["Your"],
    titles=list(three_ways),
    value_range=(0, 1),
    caption="A query that may attend to nothing: NaN, a sixth for each hidden key, or zeros.",
)

# %%
gradient_of(lambda scores: masked_softmax(scores, two_rows))

# %% [markdown]
# Now the second row is all zeros, forward and backward: a query that sees nothing learns nothing.
#
# If one of your own training runs ever hits NaN, run one step of it inside `with
# torch.autograd.detect_anomaly():`. It stops at the first NaN on the way back and shows the line
# that made it. The check of `masked_softmax` looks for NaN the same way.

# %% [markdown]
# ## Attention with a mask
#
# Put it together with lesson 2:
#
# $$\text{context} = \text{masked softmax}\left(\frac{Q K^\top}{\sqrt{d_k}},\ \text{keep}\right) V$$
#
# ### Exercise 4: `masked_attention` (6 minutes)
#
# Write it. You may call your `masked_softmax` (then this exercise needs it to be right), or write
# its lines once more.


# %%
def masked_attention(
    query: Float[Tensor, "*batch n_query d_k"],
    key: Float[Tensor, "*batch n_key d_k"],
    value: Float[Tensor, "*batch n_key d_v"],
    keep: Bool[Tensor, "*#batch #n_query n_key"],
) -> tuple[Float[Tensor, "*batch n_query d_v"], Float[Tensor, "*batch n_query n_key"]]:
    """Context vectors and attention weights, each query attending to the keys that `keep` allows.

    A query that may attend to nothing gets zeros, as in `F.scaled_dot_product_attention`.

    Example:
        >>> one = torch.ones(1, 1)
        >>> value = torch.tensor([[4.0], [8.0]])
        >>> masked_attention(one, torch.ones(2, 1), value, torch.tensor([[True, False]]))
        (tensor([[4.]]), tensor([[1., 0.]]))
    """
    ### BEGIN SOLUTION
    attn_scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    attn_weights = masked_softmax(attn_scores, keep)
    return attn_weights @ value, attn_weights
    ### END SOLUTION


# %%
check(masked_attention)

# %% [markdown]
# PyTorch offers this as a single function, which doesn't return the weights. On a batch with
# padding, the two agree:

# %%
batch_qkv = batch @ w_query, batch @ w_key, batch @ w_value
context, attn_weights = masked_attention(*batch_qkv, keep)
theirs = F.scaled_dot_product_attention(*batch_qkv, attn_mask=keep)
print((context - theirs).abs().max() < 1e-6)
print(attn_weights[1])

# %% [markdown]
# Padded places are queries, too, rows 3 to 5, and they get a context like any word. That does no
# harm as long as nothing later looks at those contexts: the keys of the padding are hidden, and the
# loss must leave the padding out.
#
# ### When queries and keys are not the same words
#
# In **cross-attention**, the queries come from one sentence and the keys from another: a
# translation attends to its source. Then n_query and n_key usually differ, and the mask hides the
# *source's* padding. No causal mask is needed, because the whole source is known from the start.
# Below, three words ask the two sentences of the batch.

# %%
asking = words[:3].expand(2, 3, 3)
_, cross = masked_attention(asking @ w_query, *batch_qkv[1:], padding_keep(lengths, 6))
plot_attention(
    cross,
    query_labels=labels[:3],
    titles=["source of 6 words", "source of 3 words and padding"],
    caption="Cross-attention: each sentence's padding is hidden from all queries.",
)

# %% [markdown]
# There is one more case of n_query ≠ n_key. A model that writes a text word by word keeps the keys
# of the past and asks only with the newest words. Here a sentence has five words, and the last two
# ask. `F.scaled_dot_product_attention` has a shortcut, `is_causal=True`. **Predict before you
# run:** how many keys does the last word see?

# %%
predict("keys_of_the_last_word", ...)

# %%
newest, past = torch.zeros(1, 2, 4), torch.zeros(1, 5, 4)
eye = torch.eye(5)[None]  # with these values the context is the weights
shortcut = F.scaled_dot_product_attention(newest, past, eye, is_causal=True)
keep_newest = causal_keep(5)[-2:]
wanted = F.scaled_dot_product_attention(newest, past, eye, attn_mask=keep_newest)

# %%
plot_attention(
    torch.cat([shortcut, wanted]),
    query_labels=["word 3", "word 4"],
    key_labels=[f"word {i}" for i in range(5)],
    titles=["is_causal=True", "the last rows of causal_keep(5)"],
    caption="Two queries, five keys: is_causal=True counts from the top left corner.",
)

# %% [markdown]
# With `is_causal=True`, the first query sees the first key and the second query sees two, as if the
# two were the *first* words of the sentence. They are the last two. Nothing leaks, but of the nine
# weights that should be there, six are missing. The right mask is aligned at the bottom right: the
# last rows of the whole causal mask.

# %% [markdown]
# ## One mask, three meanings
#
# You will hand your masks to PyTorch and Keras, and they don't agree on what True means. PyTorch
# doesn't even agree with itself. So let's try it: one causal mask, handed over as is to four kinds
# of attention. All queries and keys are zeros, so every key that may be seen gets the same weight.
#
# `nn.MultiheadAttention` and `keras.layers.MultiHeadAttention` are multi-head attention ready-made,
# projections included (lesson 6 takes them apart). PyTorch's `embed_dim` is d_model, Keras's
# `key_dim` is the size of one head, and `batch_first=True` says that the batch is the first
# dimension, as in ours. PyTorch's layer returns the output and the weights; `_` is a name for what
# we don't need. Keras returns the weights when you ask for them.
#
# Keras takes a few seconds to load. It's worth the wait: you'll measure almost everything here
# yourself.

# %%
keras = load_keras()
keep = causal_keep(4)
zeros, eye = torch.zeros(1, 4, 4), torch.eye(4)[None]
torch_mha = nn.MultiheadAttention(embed_dim=4, num_heads=1, batch_first=True)
keras_mha = keras.layers.MultiHeadAttention(num_heads=1, key_dim=4)


# %%
def attend_four_ways(for_sdpa, for_added, for_mha, for_keras):
    """The weights [4, 4, 4] of four kinds of attention, each with its mask."""
    sdpa = F.scaled_dot_product_attention(zeros, zeros, eye, attn_mask=for_sdpa)
    added = F.scaled_dot_product_attention(zeros, zeros, eye, attn_mask=for_added)
    _, mha = torch_mha(zeros, zeros, zeros, attn_mask=for_mha)
    _, keras_weights = keras_mha(
        zeros, zeros, attention_mask=for_keras[None], return_attention_scores=True
    )
    return torch.cat([sdpa, added, mha, keras_weights[0]]).detach()


# %% [markdown]
# **Predict before you run:** which of the four hide the future? (F.sdpa is short for
# `F.scaled_dot_product_attention`.)

# %%
predict("who_hides_the_future", ...)

# %%
as_it_is = attend_four_ways(keep, keep.float(), keep, keep)
libraries = ["F.sdpa, boolean", "F.sdpa, float", "nn.MultiheadAttention", "Keras"]
plot_attention(
    as_it_is,
    titles=libraries,
    caption="The same mask, handed over as is to F.scaled_dot_product_attention (as boolean and as "
    "float), to nn.MultiheadAttention and to Keras.",
)

# %% [markdown]
# Two of the four. `nn.MultiheadAttention` hides what is True: every word sees only the future, and
# the last word, which has none, gets NaN. A mask of *floats* is added to the scores: 1 where the
# key may be seen, 0 elsewhere. So the future is dimmed by a factor of e and no more: word 0 still
# gives it more than half its weight, .525. And none of them complains.
#
# | library | argument | meaning |
# |---|---|---|
# | `F.scaled_dot_product_attention` | `attn_mask`, boolean | True: may attend |
# | the same, and `nn.MultiheadAttention` | `attn_mask`, float | added to the scores |
# | `nn.MultiheadAttention` | `attn_mask` and `key_padding_mask`, boolean | True: **hidden** |
# | Keras `MultiHeadAttention` | `attention_mask` | True: may attend |
#
# ### Exercise 5: `to_torch_mha_mask` (2 minutes)
#
# Turn `keep` into the boolean mask that `nn.MultiheadAttention` wants.


# %%
def to_torch_mha_mask(
    keep: Bool[Tensor, "*batch n_query n_key"],
) -> Bool[Tensor, "*batch n_query n_key"]:
    """The same mask for `nn.MultiheadAttention`: True where a key is hidden.

    Example:
        >>> to_torch_mha_mask(torch.tensor([[True, False], [True, True]]))
        tensor([[False,  True],
                [False, False]])
    """
    ### BEGIN SOLUTION
    return ~keep
    ### END SOLUTION


# %%
check(to_torch_mha_mask)

# %% [markdown]
# Could you make a mask to add with `~keep * (-math.inf)`? **Predict before you write:** what is
# 0 · (−∞)?

# %%
predict("zero_times_infinity", ...)

# %% [markdown]
# ### Exercise 6: `to_additive` (6 minutes)
#
# Turn `keep` into a mask to add to the scores: 0 where a key may be seen, −∞ elsewhere, in the
# dtype of the scores.


# %%
def to_additive(
    keep: Bool[Tensor, "*batch n_query n_key"], dtype: torch.dtype
) -> Float[Tensor, "*batch n_query n_key"]:
    """The same mask to be added to scores of this dtype: 0 to keep, minus infinity to hide.

    Example:
        >>> to_additive(torch.tensor([[True, False], [True, True]]), torch.float32)
        tensor([[0., -inf],
                [0., 0.]])
    """
    ### BEGIN SOLUTION
    return torch.zeros(keep.shape, dtype=dtype).masked_fill(~keep, -math.inf)
    ### END SOLUTION


# %%
check(to_additive)

# %% [markdown]
# Now each library gets the mask it understands. (`nn.MultiheadAttention` takes [n_query, n_key], or
# a mask for each sentence *and head*: [batch · n_heads, n_query, n_key], the heads of a sentence
# one after the other.)

# %%
converted = attend_four_ways(keep, to_additive(keep, torch.float32), to_torch_mha_mask(keep), keep)
plot_attention(
    converted,
    titles=libraries,
    caption="The same mask, translated for each library: the same weights four times.",
)

# %% [markdown]
# ### And a row with nothing?
#
# The libraries don't agree on that either. Here we hide every key from every query, in each
# library's own terms, and print the weights of the first query.

# %%
none = torch.zeros(4, 4, dtype=torch.bool)
nothing = attend_four_ways(none, to_additive(none, torch.float32), to_torch_mha_mask(none), none)
for name, rows in zip(libraries, nothing, strict=True):
    print(f"{name:22}", rows[0])

# %% [markdown]
# Only `nn.MultiheadAttention` gives NaN. It does so when it returns the weights, as here. If you
# tell it that you don't need them (`need_weights=False`), it takes another path inside, and so does
# Keras:

# %%
context, _ = torch_mha(zeros, zeros, eye, attn_mask=~none, need_weights=False)
print("nn.MultiheadAttention:", context[0, 0].detach())
asks = torch.randn(1, 4, 4)
context = keras_mha(asks, eye, attention_mask=none[None])
print("Keras, spread evenly:", torch.allclose(context, keras_mha(zeros, eye), atol=1e-6))

# %% [markdown]
# Without weights, PyTorch's layer makes a context of zeros, and what comes out is the bias of its
# output projection, which starts at zero. (Self-attention is another matter: in evaluation mode,
# without gradients, on a batch with `batch_first=True`, with biases, an even number of heads and a
# boolean mask, it gives NaN again.) Keras gives zeros *with* weights. Without them, and with a
# dropout of 0, it spreads the weight evenly over everything that was supposed to be hidden, as −10⁹
# did above: the queries `asks` are not zeros, yet they get what a query of zeros gets without a
# mask, the same from each key. So never give a library such a row without testing what it does. (We
# measured all of this with the versions this course installs.)

# %% [markdown]
# ## A test for leaks
#
# How do you know that a model doesn't see the future? You can't always read its code, and looking
# at its weights is not enough: the weights masked after softmax had zeros in all the right places.
# What counts is what comes out. **Change one word, and see which outputs move.** The outputs of the
# words before it must not.


# %%
def self_attention(weigh):
    """Attention of words [batch, n, d] to themselves; `weigh` turns scores into weights."""

    def attention(words):
        attn_scores = words @ words.mT / math.sqrt(words.shape[-1])
        return weigh(attn_scores, causal_keep(words.shape[1])) @ words

    return attention


# %%
attentions = {
    "masked before softmax": self_attention(masked_softmax),
    "no mask": self_attention(lambda scores, keep: scores.softmax(-1)),
    # `roll(-1, 0)` moves all rows up by one: row i of the mask becomes what row i + 1 was.
    "one word too far": self_attention(lambda s, keep: masked_softmax(s, keep | keep.roll(-1, 0))),
    "masked after softmax": self_attention(lambda scores, keep: scores.softmax(-1) * keep),
}

# %% [markdown]
# **Predict before you run:** we change "with". In how many of the four do all outputs before it
# stay where they are?

# %%
predict("sound_of_four", ...)

# %%
plot_leak(
    attentions,
    words,
    labels,
    changed=3,
    caption="“with” changes (below). Of the outputs that moved (above), blue ones were allowed to; "
    "red ones, with dashed arrows, were not.",
)

# %% [markdown]
# Only the first is sound: "with", "one" and "step" move, and the words before "with" don't. Without
# a mask, all move. With a mask that reaches one word too far, "starts" gives it away. With the mask
# after softmax, all move again, because the changed word is in the sum that every row was divided
# by.
#
# ### Exercise 7: `leaks_future` (24 minutes)
#
# Now you write the test, and the check tries *it*: on sound implementations, where it should say
# False, and on leaking ones, where it should say True. You can't see their code. Some leak to a
# single word, some in only one sentence of the batch, some through a path around the mask. You
# choose the inputs, so choose some in which no leak can hide. Batches of three sentences, with six
# words of eight features, are large enough for every leak to show. A movement below a
# ten-thousandth may be rounding; all these leaks are larger. For new words in the shape of others,
# `torch.randn_like(words)` draws random numbers.


# %%
def leaks_future(
    attention: Callable[[Float[Tensor, "batch n d"]], Float[Tensor, "batch n d"]],
) -> bool:
    """Whether some output of `attention` depends on a word that comes after it.

    `attention` takes words of any batch, n and d, and gives an output for each word. The same
    words give the same outputs; outputs are finite when the words are.

    Example:
        >>> leaks_future(lambda words: words)  # every word keeps to itself
        False
        >>> leaks_future(lambda words: words.flip(1))  # the first gets the last
        True
    """
    ### BEGIN SOLUTION
    words = torch.randn(3, 6, 8)
    before = attention(words)
    for later in range(1, words.shape[1]):
        changed = words.clone()
        changed[:, later:] = torch.randn_like(words[:, later:])
        after = attention(changed)
        if not torch.allclose(before[:, :later], after[:, :later], atol=1e-5):
            return True
    return False
    ### END SOLUTION


# %%
check(leaks_future)

# %%
for name, attention in attentions.items():
    print(f"{name:22} {leaks_future(attention)}")

# %% [markdown]
# You can run your test on anything that maps words to words, even on layers whose code you have
# never read. Here is `nn.MultiheadAttention`, first with the mask translated, then with `keep`
# almost as is: True hides, so each word would see only the words after it, and the last word would
# see nothing and get NaN. To avoid that, `tril(-1)` makes the diagonal False, and every word sees
# itself as well.


# %%
def library_attention(translate):
    """`nn.MultiheadAttention` with a causal mask, and parameters that are always the same."""

    def attention(words):
        mha = nn.MultiheadAttention(words.shape[-1], num_heads=1, batch_first=True)
        for parameter in mha.parameters():
            nn.init.normal_(parameter, generator=torch.Generator().manual_seed(0))
        keep = causal_keep(words.shape[1])
        return mha(words, words, words, attn_mask=translate(keep))[0]

    return attention


# %%
print("translated:     ", leaks_future(library_attention(to_torch_mha_mask)))
print("nearly as is:", leaks_future(library_attention(lambda keep: keep.tril(-1))))

# %% [markdown]
# The second one leaks, of course: each word attends to itself and the future, and to nothing
# before. Keep such a test next to every model that must not see the future. Three traps to know:
#
# - A change has to get through. Adding 1 to all features of a word looks like a change. But many
#   models, such as GPT-2, put a *layer norm* before each attention. It shifts and scales the
#   features of each word to mean 0 and variance 1, and takes the 1 right out again:

# %%
normalized, changed = F.layer_norm(words, [3]), F.layer_norm(words + 1, [3])
torch.allclose(normalized, changed, atol=1e-5)

# %% [markdown]
# - NaN is a tempting change: put NaN into the future and see where it comes out. But 0 · NaN is
#   NaN, so even a weight of exactly 0 lets it through, and a sound model looks guilty.

# %%
poisoned = words.clone()
poisoned[3:] = math.nan
attentions["masked before softmax"](poisoned[None])[0, :2]

# %% [markdown]
# - Dropout changes the outputs from one call to the next, which looks like a leak. Put layers that
#   have it in eval mode first.

# %%
dropout = nn.Dropout(0.1)
print("train mode:", leaks_future(dropout))
print("eval mode: ", leaks_future(dropout.eval()))

# %% [markdown]
# ## What you can do now
#
# - Say who may see whom with a `keep`, where **True = may attend**. Combine masks with `&`, and put
#   the padding where the keys are, with [batch, 1, n].
# - Mask **before softmax**, and say what goes wrong after it: rows that don't sum to 1, and hidden
#   words that are still in the sum.
# - Handle a row with **nothing** to attend to: zeros, without NaN, forward or backward.
# - Translate your masks for PyTorch and Keras, which **don't agree** on what True means.
# - Write a **leak test**: change the future, and look at what moves.
#
# ### Test yourself
#
# 1. Attention scores are [batch, n_heads, n_query, n_key], and a mask is [n_query, n_key]. Do you
#    need to add dimensions to it? And to a padding mask, [batch, 1, n_key]?
# 2. Somebody masks after softmax, then divides each row by its new sum. When is that right, and
#    when not?
# 3. A colleague says: "I printed the attention weights, and everything above the diagonal is 0. So
#    nothing leaks." What do you say?
#
# <details>
# <summary>Answers</summary>
#
# 1. The first one broadcasts as it is: shapes line up from the right, and both missing dimensions
#    are in front. The second needs a 1 for the heads, `keep[:, None]`. Without it, the batch lines
#    up with the heads.
# 2. On paper, always, unless a row has nothing to attend to. In floating point, it fails when a
#    hidden score is so far above the others that their weights are rounded to 0, as with the score
#    of 200. Before that, they lose digits.
# 3. Zeros in the weights are not enough. With a mask after softmax, there are zeros above the
#    diagonal too, and the future is still in the sum that each row was divided by. And something
#    else in the layer may mix words. Change the future and look at the outputs.
#
# </details>

# %% [markdown]
# ### Challenge: `packed_keep` (optional, 10 minutes)
#
# Texts of very different lengths waste a batch: much of it is padding. So large models pack several
# texts into one row, one after the other, and some of these models use the mask to keep the texts
# apart. And to save time on long texts, a model may let a word see only itself and the last few
# words before it: a **window**. Write the mask that does both.
#
# `document` says which text each word belongs to, such as [0, 0, 0, 1, 1, 2]. The numbers may come
# in any order, such as [6, 6, 2, 4, 4], but each text stands in one piece. With `before` = 0, a
# word sees only itself.


# %%
def packed_keep(document: Int[Tensor, " n"], before: int) -> Bool[Tensor, "n n"]:
    """True where a word may attend: to itself and the `before` words before it, in its own text.

    Example:
        >>> packed_keep(torch.tensor([0, 0, 0, 1, 1]), 1).int()
        tensor([[1, 0, 0, 0, 0],
                [1, 1, 0, 0, 0],
                [0, 1, 1, 0, 0],
                [0, 0, 0, 1, 0],
                [0, 0, 0, 1, 1]], dtype=torch.int32)
    """
    ### BEGIN SOLUTION
    place = torch.arange(len(document))
    back = place[:, None] - place
    return (back >= 0) & (back <= before) & (document[:, None] == document)
    ### END SOLUTION


# %%
check(packed_keep)

# %% [markdown]
# With a window of two earlier words, how far back can a word reach after three layers? Find out
# with a leak test: run attention three times in a row, each time on the last output, and change one
# *early* word.

# %% [markdown]
# ### Further reading
#
# - Vaswani et al. 2017, [*Attention Is All You Need*](https://arxiv.org/abs/1706.03762), section
#   3.2.3: the three kinds of attention in a transformer, and the two sentences that introduce the
#   mask.
# - PyTorch on
#   [`scaled_dot_product_attention`](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html)
#   and
#   [`MultiheadAttention`](https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html):
#   look up `attn_mask` in both, and compare what they say about True.
# - [FlexAttention](https://pytorch.org/blog/flexattention/): masks as small functions, from causal
#   to windows and documents, and how to make them fast.
# - Evan Miller, [*Attention Is Off By
#   One*](https://www.evanmiller.org/attention-is-off-by-one.html): an argument for letting every
#   head attend to nothing, by adding 1 to softmax's sum.
#
# In lesson 5, you need this: a causal mask where a model writes, none where it reads, and a leak
# test that tells the two apart.

# %%
progress()
