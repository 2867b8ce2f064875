# %% [markdown]
# # 3. Multi-head attention
#
# "dog bites man", "man bites dog": the same three words, but only one of the two sentences is news.
# How can "bites" find out who bit whom? It needs two things from its sentence, but the attention of
# lesson 2 gives it one mix of everything.
#
# **Multi-head attention** makes several mixes for a word, in parallel, and keeps them apart. In
# this lesson you build it, and you see the mistakes that run without an error.
#
# | | |
# |---|---|
# | **You need** | Lesson 2: queries, keys and values, and attention scaled by √d_k |
# | **You can then** | write multi-head attention as libraries do, and test its split and merge |
#
# Each exercise is followed by a check; `hint`, `failing_case` and `give_up` help as in lesson 1.

# %%
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from autograder import check, failing_case, give_up, hint, predict, progress
from autograder.utils.costs import seconds
from autograder.utils.plots import (
    draw_split,
    growth_slope,
    plot_attention,
    plot_growth,
    plot_lines,
    plot_matrix,
)
from autograder.utils.views import view_heads

# %%
torch.manual_seed(0)
torch.set_num_threads(1)  # small tensors are fastest on one thread
torch.set_printoptions(precision=4, sci_mode=False)


# %% [markdown]
# This is attention as you wrote it in lesson 2, repeated so that this lesson stands on its own.


# %%
def attend(query, key, value):
    """Scaled dot-product attention: context and weights."""
    attn_scores = query @ key.transpose(-2, -1) / key.shape[-1] ** 0.5
    attn_weights = attn_scores.softmax(dim=-1)
    return attn_weights @ value, attn_weights


# %% [markdown]
# ## One head, one pattern
#
# One attention, with its own query, key and value matrix, is called a **head**. "bites" has two
# questions: who bites, and who gets bitten? Can one head answer both?
#
# Each word gets six features here: three for which word it is, three for its place.


# %%
def encode(sentence):
    """[3, 6]: the word (dog, man, bites) as three features, its place as three more."""
    which = [["dog", "man", "bites"].index(word) for word in sentence.split()]
    return torch.cat([torch.eye(3)[which], torch.eye(3)], dim=1)


encode("dog bites man")

# %% [markdown]
# Instead of training a head, we make one by hand. A word's value says *which word* it is, its key
# says *its place*, and the query of "bites" asks for the first and the last place. We use the
# matrices as `W @ x`, so they are [d_k, d_in].

# %%
w_key = torch.cat([torch.zeros(3, 3), torch.eye(3)], dim=1)  # picks out a word's place
w_value = torch.cat([torch.eye(3), torch.zeros(3, 3)], dim=1)  # picks out the word itself


# %%
def asks_for(before, after):
    """[3, 6]: the query matrix of a head in which only "bites" asks, for these two places."""
    w_query = torch.zeros(3, 6)
    # 200 is large, so that softmax leaves nothing for the other places
    w_query[:, 2] = 200 * torch.tensor([before, 0.0, after])
    return w_query


def toy_head(words, w_query):
    return attend(words @ w_query.T, words @ w_key.T, words @ w_value.T)


# %% [markdown]
# **Predict before you run.** One head asks for both places at once. What share of the attention
# goes to the dog? And what is the context of "bites" in the other sentence?

# %%
predict("share_of_the_dog", ...)

# %%
for sentence in ("dog bites man", "man bites dog"):
    context, attn_weights = toy_head(encode(sentence), asks_for(1.0, 1.0))
    print(f"{sentence}: weights {attn_weights[1]}, context {context[1]}")

# %% [markdown]
# The context is the same: half a dog and half a man. Nothing you compute from it can tell who bit
# whom.
#
# Now take two heads, each with one thing to ask for. Their contexts go side by side.

# %%
for sentence in ("dog bites man", "man bites dog"):
    words = encode(sentence)
    heads = [toy_head(words, asks_for(1.0, 0.0)), toy_head(words, asks_for(0.0, 1.0))]
    print(f"{sentence}: {torch.cat([context[1] for context, _ in heads])}")

# %% [markdown]
# The first three numbers say who bites (dog is 1 0 0, man is 0 1 0). The last three say who gets
# bitten. Now the two sentences differ.

# %%
words = encode("dog bites man")
asking = [asks_for(1.0, 1.0), asks_for(1.0, 0.0), asks_for(0.0, 1.0)]
plot_attention(
    torch.stack([toy_head(words, w_query)[1] for w_query in asking]),
    ["dog", "bites", "man"],
    ["dog", "bites", "man"],
    titles=["one head", "two heads: head 0", "two heads: head 1"],
    caption="What each head keeps. Only “bites” asks for something; the others spread evenly.",
)

# %% [markdown]
# The paper says it in one sentence: "With a single attention head, averaging inhibits this"
# ([Vaswani et al. 2017](https://arxiv.org/abs/1706.03762), section 3.2.2), where *this* is
# attending to different things at different places at once. (Couldn't one head give more to the
# biter than to the bitten? A good objection. An optional section near the end puts it to the test.)

# %% [markdown]
# ## A stack of heads
#
# Every head has a query, key and value matrix of its own. Their shapes are the same in every head,
# so they fit in a stack, [n_heads, d_k, d_in].
#
# Take the sentence from lesson 2, "Life is short, eat dessert first", with the same random
# embedding, and draw three heads.

# %%
torch.manual_seed(123)
embedding = nn.Embedding(6, 16)
words = embedding(torch.tensor([0, 4, 5, 2, 1, 3])).detach()  # Life is short eat dessert first
torch.manual_seed(123)
one_head = torch.rand(24, 16), torch.rand(24, 16), torch.rand(28, 16)  # those of lesson 2
w_query, w_key, w_value = torch.rand(3, 24, 16), torch.rand(3, 24, 16), torch.rand(3, 28, 16)

# %% [markdown]
# What are the queries of the second word, one for each head? With the one head of lesson 2, that
# was a single product. With three heads, you can write it in several ways. Here are three of them.
# First, a loop over the heads:

# %%
word = words[1]
print("one head:   ", (one_head[0] @ word).shape)
print("three heads:", torch.stack([w @ word for w in w_query]).shape)

# %% [markdown]
# Second, `bmm`, the batched matrix product. It takes two stacks and multiplies first with first,
# second with second, and so on. `word[:, None]` turns the word into a column, [16, 1], and `expand`
# repeats it for each head without copying.

# %%
column = word[:, None].expand(3, 16, 1)
torch.bmm(w_query, column).shape

# %% [markdown]
# Third, `einsum`, which reads like the formula. Every dimension gets a letter. We sum over the
# letters missing on the right of the arrow:
#
# $$q_{hk} = \sum_i W_{hki} \, x_i \qquad \texttt{"hki,i->hk"}$$

# %%
torch.einsum("hki,i->hk", w_query, word).shape

# %% [markdown]
# And now all six words at once. What shape will the keys have? And the values (d_v is 28)? You will
# see after the exercise.

# %% [markdown]
# ### Exercise 1: `project_heads` (13 minutes)
#
# Project every word with the matrix of every head. The heads come first, then the words. Each
# matrix is [d_k, d_in]: for one word x, it's `W @ x`. A loop, `bmm` and `einsum` are all fine.


# %%
def project_heads(
    words: Float[Tensor, "n d_in"], weights: Float[Tensor, "n_heads d_k d_in"]
) -> Float[Tensor, "n_heads n d_k"]:
    """Each word projected by each head's matrix.

    Example:
        >>> words = torch.tensor([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]])
        >>> weights = torch.tensor([[[1.0, 0.0]], [[10.0, 1.0]]])  # two heads, d_k = 1
        >>> project_heads(words, weights).tolist()
        [[[1.0], [3.0], [0.0]], [[12.0], [34.0], [1.0]]]
    """
    ### BEGIN SOLUTION
    return torch.stack([words @ weight.T for weight in weights])
    ### END SOLUTION


# %%
check(project_heads)

# %%
queries = project_heads(words, w_query)
keys, values = project_heads(words, w_key), project_heads(words, w_value)
print("queries of the second word:", list(queries[:, 1].shape))
print("all keys:", list(keys.shape), " all values:", list(values.shape))

# %% [markdown]
# ### All heads at once
#
# Attention itself doesn't change. `@` treats all dimensions but the last two as a batch, so the
# stack goes through `attend` as it is. What comes out is the same as head by head:

# %%
in_parallel, _ = attend(queries, keys, values)
in_a_loop = torch.stack([attend(queries[h], keys[h], values[h])[0] for h in range(3)])
print(list(in_parallel.shape), torch.allclose(in_parallel, in_a_loop))

# %% [markdown]
# Which is faster? Twice the heads are twice the work for the loop. What do they cost the parallel
# version?


# %%
def loop_over_heads(query, key, value):
    return torch.stack([attend(query[h], key[h], value[h])[0] for h in range(len(query))])


# %%
counts = [2, 4, 8, 16, 32, 64]
stacks = [torch.rand(3, n_heads, 8, 16) for n_heads in counts]
loop = [seconds(loop_over_heads, *stack, repeats=8) for stack in stacks]
parallel = [seconds(attend, *stack, repeats=8) for stack in stacks]

# %% reason="timings differ from run to run" tags=["nbval-ignore-output"]
plot_growth(
    counts,
    {"a loop over heads": loop, "all heads in parallel": parallel},
    x_name="n_heads",
    caption="Seconds to compute attention for 8 words, by number of heads (d_k 16).",
)

# %% reason="timings differ from run to run" tags=["nbval-ignore-output"]
print(f"slope of the loop: {growth_slope(counts, loop):.2f}")
print(f"64 heads: in parallel {loop[-1] / parallel[-1]:.0f} times as fast")

# %% [markdown]
# The arithmetic is the same. But the loop pays 64 times over for starting each small operation. In
# parallel, four heads cost little more than two. With many heads, the arithmetic shows, and the
# line for the parallel version rises, too. (A busy machine can bend both lines.) So libraries keep
# the heads in a dimension of the tensor. (Lesson 5 makes one exception: there, the heads sit in a
# list, each as wide as the model, with layers of its own.)

# %% [markdown]
# ## One big projection, then a split
#
# We can flatten the stack: three matrices [24, 16], one above the other, are one matrix [72, 16],
# one `nn.Linear`. Its outputs for a word are all heads' queries in a row.

# %%
big = w_query.flatten(0, 1)
all_in_a_row = words @ big.T
print(list(big.shape), "→", list(all_in_a_row.shape))
print("head 1 owns columns 24 to 47:", torch.allclose(all_in_a_row[:, 24:48], queries[1]))

# %% [markdown]
# That is how it's done in practice: one projection from d_model to n_heads · d_head features, then
# a **split**. (Many models have fewer heads for keys and values: see lesson 9.) For every word,
# head *h* owns d_head columns, starting with column h · d_head. In the paper n_heads · d_head =
# d_model, so that all the heads together are as wide as the model, and so it is here. (It needn't
# be: Qwen3-0.6B, from 2025, has 16 query heads of 128 features in a model that is 1,024 wide.)
#
# By hand, for one sentence of three words with four features and two heads:

# %%
x = torch.arange(12.0).view(1, 3, 4)
print(x[0])
print("head 0:", x[0, :, 0:2].tolist())
print("head 1:", x[0, :, 2:4].tolist())

# %% [markdown]
# For the matrix products of attention, the last two dimensions of a head must be words and
# features. So from [batch, n, d_model], we want [batch, n_heads, n, d_head].
#
# This takes no arithmetic, only `view` (or `reshape`), which cuts a dimension in two or joins
# neighbors, and `transpose`, which swaps two dimensions. `view` never moves a number: it reads the
# same numbers in the same order, with different line breaks.
#
# ### Exercise 2: `split_heads` (14 minutes)
#
# Split the features among the heads. (`batch, n, d_model = x.shape` gives you the sizes.) When
# n_heads doesn't divide d_model, some features would belong to nobody: raise a `ValueError`.


# %%
def split_heads(
    x: Float[Tensor, "batch n d_model"], n_heads: int
) -> Float[Tensor, "batch n_heads n d_head"]:
    """The slice of features of each head: head h owns columns h·d_head up to (h + 1)·d_head.

    Raises ValueError when n_heads does not divide d_model.

    Example:
        >>> split_heads(torch.arange(12.0).view(1, 3, 4), 2).tolist()
        [[[[0.0, 1.0], [4.0, 5.0], [8.0, 9.0]], [[2.0, 3.0], [6.0, 7.0], [10.0, 11.0]]]]
    """
    ### BEGIN SOLUTION
    batch, n, d_model = x.shape
    if d_model % n_heads:
        raise ValueError(f"{n_heads} heads can't share {d_model} features evenly")
    return x.view(batch, n, n_heads, d_model // n_heads).transpose(1, 2)
    ### END SOLUTION


# %%
check(split_heads)

# %%
try:
    split_heads(torch.zeros(1, 3, 10), n_heads=4)
except ValueError as error:
    print("ValueError:", error)

# %% [markdown]
# ### The split that mixes words
#
# There is a shorter way to a tensor of the right shape, and it is wrong:


# %%
def split_by_view(x, n_heads):
    batch, n, d_model = x.shape
    return x.reshape(batch, n_heads, n, d_model // n_heads)


# %%
print("yours:  ", split_heads(x, 2)[0].tolist())
print("by view:", split_by_view(x, 2)[0].tolist())

# %% [markdown]
# Nothing complains: the shapes agree, and everything after it runs. To see what is wrong, use a
# **probe**: change one word, and watch which rows of which head move.


# %%
def rows_that_move(split, n=4, d_model=8, n_heads=2):
    """[n_heads, n, n]: 1 where changing a word (row) moves a row of the head (column)."""
    x = torch.rand(1, n, d_model)
    moved = []
    for word in range(n):
        changed = x.clone()
        changed[0, word] += 1
        moved.append((split(changed, n_heads) != split(x, n_heads))[0].any(dim=-1))
    return torch.stack(moved, dim=1).float()


# %% [markdown]
# **Predict before you run:** when word 2 changes, your split moves row 2 of each head. Which rows
# does `split_by_view` move?

# %%
predict("rows_of_word_2", ...)

# %%
plot_matrix(
    torch.cat([rows_that_move(split_heads), rows_that_move(split_by_view)]),
    titles=["your split: head 0", "your split: head 1", "by view: head 0", "by view: head 1"],
    row_name="the word that is changed",
    column_name="row of the head",
    caption="Which rows of a head move (1) when one word changes.",
)

# %% [markdown]
# In your split, each word owns one row in each head. In the split by `view`, the numbers of word 0
# fill two rows of head 0, and head 1 never hears of that word. Head 0 knows the first half of the
# sentence, head 1 knows the second half, and each attends to halves of words as if they were words.

# %%
draw_split(caption="The twelve numbers of x, split both ways. Blue should go to head 0.")

# %% [markdown]
# ## Merging
#
# After attention, each head holds a context, [batch, n_heads, n, d_head]. The next layer wants
# [batch, n, d_model] again: for each word, the contexts of its heads side by side, head 0 first.
# The paper writes:
#
# $$\text{MultiHead}(Q, K, V) = \text{Concat}(\text{head}_1, \dots, \text{head}_h)\, W^O$$
#
# (Vaswani et al. 2017, section 3.2.2; our heads count from 0, and $W^O$ comes below.)
#
# One thing is new on the way back. **Predict before you run:** can `view` put all numbers of a
# transposed matrix in one row? Can `reshape`?

# %%
predict("view_or_reshape", ...)

# %%
x = torch.arange(6).view(2, 3)
try:
    x.T.view(6)
except RuntimeError as error:
    print("view:", str(error).split(" (")[0])
print("reshape:", x.T.reshape(6))

# %% [markdown]
# `transpose` doesn't move numbers either; it only notes a different order to read them in. `view`
# can't join dimensions that aren't next to each other in memory. `reshape` can, by making a copy
# where it must. That is handy, and dangerous: as long as the sizes fit, it never refuses.
#
# ### Exercise 3: `merge_heads` (8 minutes)
#
# Undo the split: put the heads' features side by side.


# %%
def merge_heads(
    x: Float[Tensor, "batch n_heads n d_head"],
) -> Float[Tensor, "batch n n_heads*d_head"]:
    """For each word the features of all heads in a row, head 0 first.

    Example:
        >>> merge_heads(torch.arange(8.0).view(1, 2, 2, 2)).tolist()
        [[[0.0, 1.0, 4.0, 5.0], [2.0, 3.0, 6.0, 7.0]]]
    """
    ### BEGIN SOLUTION
    batch, n_heads, n, d_head = x.shape
    return x.transpose(1, 2).reshape(batch, n, n_heads * d_head)
    ### END SOLUTION


# %%
check(merge_heads)

# %% [markdown]
# Split and merge should undo each other. Is that a good test?


# %%
def merge_by_view(x):
    batch, n_heads, n, d_head = x.shape
    return x.reshape(batch, n, n_heads * d_head)


# %%
x = torch.rand(2, 5, 12)
print("your split, your merge:      ", torch.equal(merge_heads(split_heads(x, 3)), x))
print("split by view, merge by view:", torch.equal(merge_by_view(split_by_view(x, 3)), x))
print("your split, merge by view:   ", torch.equal(merge_by_view(split_heads(x, 3)), x))

# %% [markdown]
# The two wrong ones undo each other too, and between them, attention mixes pieces of words. So a
# round trip proves little. The probe above, with one changed word, catches the mistake at once.
#
# There are other ways to divide up the columns. Column *j* could belong to head *j* mod n_heads,
# which interleaves the heads. If split and merge agree on it, a model trained that way is just as
# good. But its weights mean something else, so you can't exchange them with a library's. We stick
# to slices, as the libraries do.

# %% [markdown]
# ## The output projection
#
# Side by side, the heads still don't know about each other: columns 0 to d_head − 1 of the merged
# tensor come from head 0 alone. The last projection, $W^O$, mixes them. To the heads, it's a sum.
# Each head has its own slice of columns in this layer's weight, [d_out, d_in], and adds its part to
# the result.

# %%
output = nn.Linear(8, 8)
contexts = torch.rand(1, 2, 5, 4)  # two heads, five words
whole = output(merge_heads(contexts))
parts = [contexts[:, h] @ output.weight[:, 4 * h : 4 * h + 4].T for h in range(2)]
torch.allclose(whole, parts[0] + parts[1] + output.bias, atol=1e-6)

# %% [markdown]
# ### What a head is
#
# So a head's matrices act in pairs. (Leave out the biases, which add a few terms, and the rotations
# that lesson 7 puts in between.) In a score, $W_Q$ meets $W_K$. On the way out, $W_V$ meets the
# head's own slice of $W^O$ (here $W_O$, as `x @ W`):
#
# $$q_i \cdot k_j = x_i \, \underbrace{W_Q W_K^\top}_{\text{who looks at whom}} \, x_j^\top
# \qquad\qquad
# v_j W_O = x_j \, \underbrace{W_V W_O}_{\text{what gets carried over}}$$
#
# Both products are [d_model, d_model], as if a head could look at everything. But they go through
# only d_head numbers on the way, and that limits the **rank** of the product, the number of
# directions in which it can see:

# %%
into_head, out_of_head = torch.rand(16, 4), torch.rand(4, 16)
product = into_head @ out_of_head
print(list(product.shape), "rank", torch.linalg.matrix_rank(product).item())

# %% [markdown]
# A head is two maps of rank d_head at most: one decides who looks at whom, the other what gets
# carried over. Each head of a model with many heads sees only a few directions of a word. Each head
# has matrices of its own, so different heads can see different directions. ([Elhage et al.
# 2021](https://transformer-circuits.pub/2021/framework/index.html) call the two maps the QK and the
# OV circuit and read trained models with them.)

# %% [markdown]
# ## Where dropout goes
#
# In training, **dropout** sets numbers to 0 at random and makes the others larger, so that the
# expected value is unchanged. In attention, it acts on the weights, after softmax: now and then, a
# query must do without a key. In evaluation, it does nothing.
#
# **Predict before you run:** with a chance of ½, what is the sum of a row afterward?

# %%
predict("row_after_dropout", ...)

# %% reason="which numbers are dropped depends on the processor" tags=["nbval-ignore-output"]
torch.manual_seed(3)
attn_weights = torch.randn(5, 5).softmax(dim=-1)
dropped = F.dropout(attn_weights, p=0.5)
dropped.sum(dim=-1)

# %% reason="which numbers are dropped depends on the processor" tags=["nbval-ignore-output"]
plot_attention(
    torch.stack([attn_weights, dropped]),
    titles=["before dropout", "after dropout"],
    caption="Weights that survive are doubled, and the rows no longer sum to 1.",
)

# %% [markdown]
# Only the mean over many draws is 1. So a module that keeps its weights for you to look at
# should keep them *before* dropout. Otherwise the map shows chance, not attention.

# %%
many = F.dropout(attn_weights.expand(10_000, 5, 5), p=0.5)
print(f"mean of all row sums: {many.sum(dim=-1).mean():.2f}")

# %% [markdown]
# `F.dropout` drops whenever you call it, unless you pass `training=False`. An `nn.Dropout` is a
# module and knows its mode: `module.eval()` switches dropout off, `module.train()` switches it on.

# %% reason="which numbers are dropped depends on the processor" tags=["nbval-ignore-output"]
torch.manual_seed(3)
drop = nn.Dropout(0.5)
print(drop(torch.ones(4)), drop.eval()(torch.ones(4)))

# %% [markdown]
# And why not drop scores, before softmax? A score of 0 is not a weight of 0. Here we drop the key
# that hardly counted, and it becomes the favorite:

# %%
scores = torch.tensor([-1.0, -2.0, -6.0])
print(scores.softmax(dim=-1))
print((scores * torch.tensor([1.0, 1.0, 0.0])).softmax(dim=-1))

# %% [markdown]
# ## The whole module
#
# You have every step: project, split, attend (with dropout on the weights), merge, project.
#
# One piece is borrowed from lesson 4, which is about masks. `keep` is a **mask**: a boolean tensor,
# True where a query may attend to a key. The function below is softmax with such a mask. You don't
# have to understand how it works yet, only what it does.


# %%
def weights_from_scores(attn_scores, keep=None):
    """Softmax over the keys; weight 0 where `keep` is False, so a row with no True gets zeros.

    `attn_scores` is [batch, n_heads, n_query, n_key]. `keep` has the same shape, or is
    [n_query, n_key] or [batch, n_query, n_key] (the same for all heads); a dimension of size 1
    counts for all.
    """
    if keep is None:
        return attn_scores.softmax(dim=-1)
    if keep.dim() == 3:
        keep = keep[:, None]
    lowest = torch.finfo(attn_scores.dtype).min
    attn_weights = attn_scores.masked_fill(~keep, lowest).softmax(dim=-1)
    return attn_weights.masked_fill(~keep, 0.0)


# %% [markdown]
# Three equal scores, of which the query may see two. Without a mask, it's plain softmax:

# %%
print(weights_from_scores(torch.zeros(1, 3), keep=torch.tensor([[True, True, False]])))
print(weights_from_scores(torch.zeros(1, 3)))

# %% [markdown]
# ### Exercise 4: `MultiHeadAttention` (32 minutes)
#
# Write the module.
#
# - In `__init__`, make four `nn.Linear`s from d_model to d_model, named `query`, `key`, `value` and
#   `output`, and an `nn.Dropout`. `bias` says whether the four have a bias: all of them or none.
#   When n_heads doesn't divide d_model, raise a `ValueError`.
# - `forward(query, key, value, keep=None)` returns [batch, n_query, d_model]. The three may be
#   different tensors, and there may be more keys than queries.
# - Scale the scores by the root of the size that *one head* sees, and turn them into weights with
#   `weights_from_scores(attn_scores, keep)`.
# - `forward` keeps the weights of every head as `attn_weights`, before dropout, with `.detach()`.
#   Then the weights go through dropout.
#
# Use your `split_heads` and `merge_heads`: this exercise builds on them.


# %%
class MultiHeadAttention(nn.Module):
    """Attention of several heads, each on its own slice of the projected features.

    `keep` is a boolean mask, True where a query may attend to a key: [n_query, n_key],
    [batch, n_query, n_key] or [batch, n_heads, n_query, n_key]. A query that may attend to
    nothing gets zero weights. After a call `attn_weights` holds the weights before dropout,
    detached: [batch, n_heads, n_query, n_key].
    Raises ValueError when n_heads does not divide d_model.
    Source: Vaswani et al. 2017, section 3.2.2.

    Example:
        >>> attention = MultiHeadAttention(d_model=8, n_heads=2)
        >>> words = torch.zeros(1, 3, 8)
        >>> attention(words, words, words).shape
        torch.Size([1, 3, 8])
        >>> attention.attn_weights[0, 1]
        tensor([[0.3333, 0.3333, 0.3333],
                [0.3333, 0.3333, 0.3333],
                [0.3333, 0.3333, 0.3333]])
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads can't share {d_model} features evenly")
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model, bias=bias)
        self.key = nn.Linear(d_model, d_model, bias=bias)
        self.value = nn.Linear(d_model, d_model, bias=bias)
        self.output = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)
        ### END SOLUTION

    def forward(
        self,
        query: Float[Tensor, "batch n_query d_model"],
        key: Float[Tensor, "batch n_key d_model"],
        value: Float[Tensor, "batch n_key d_model"],
        keep: Bool[Tensor, "*batch n_query n_key"] | None = None,
    ) -> Float[Tensor, "batch n_query d_model"]:
        ### BEGIN SOLUTION
        query = split_heads(self.query(query), self.n_heads)
        key = split_heads(self.key(key), self.n_heads)
        value = split_heads(self.value(value), self.n_heads)
        attn_scores = (query / query.shape[-1] ** 0.5) @ key.transpose(-2, -1)
        attn_weights = weights_from_scores(attn_scores, keep)
        self.attn_weights = attn_weights.detach()
        context = self.dropout(attn_weights) @ value
        return self.output(merge_heads(context))
        ### END SOLUTION


# %%
check(MultiHeadAttention)

# %% [markdown]
# ### The dog and the man again
#
# Put the two handmade heads into your module. The big matrices are the small ones stacked, and the
# output projection passes everything through.

# %%
toy = MultiHeadAttention(d_model=6, n_heads=2, bias=False)
place = torch.cat([torch.zeros(3, 3), torch.eye(3)], dim=1)
which = torch.cat([torch.eye(3), torch.zeros(3, 3)], dim=1)
with torch.no_grad():
    toy.query.weight.copy_(torch.cat([asks_for(1.0, 0.0), asks_for(0.0, 1.0)]))
    toy.key.weight.copy_(torch.cat([place, place]))
    toy.value.weight.copy_(torch.cat([which, which]))
    toy.output.weight.copy_(torch.eye(6))

# %%
for sentence in ("dog bites man", "man bites dog"):
    words = encode(sentence)[None]
    print(f"{sentence}: {toy(words, words, words)[0, 1].detach()}")

# %% [markdown]
# The same six numbers as before, from one call. `nn.MultiheadAttention` gives you the *mean* of the
# weights over the heads unless you ask for each head. What does the mean look like here?

# %%
heads = toy.attn_weights[0]
plot_attention(
    torch.cat([heads, heads.mean(dim=0, keepdim=True)]),
    ["man", "bites", "dog"],
    ["man", "bites", "dog"],
    titles=["head 0", "head 1", "mean of both"],
    caption="The mean shows the single head's pattern, which neither of the two heads has.",
)

# %% [markdown]
# You can look at any weights word by word. Choose a head, then a word:

# %%
view_heads(
    heads,
    ["man", "bites", "dog"],
    titles=["head 0, who bites", "head 1, who is bitten"],
    caption="Your module's two heads. What does “bites” look at in each?",
)

# %% [markdown]
# ### Couldn't one head lean to one side? (optional, 8 minutes)
#
# *Nothing later builds on this section. To skip it, go on with "The paper's sizes".*
#
# One head could give the biter 0.8 and the bitten 0.2. Then "bites" gets .8 .2 0 in one sentence
# and .2 .8 0 in the other, and whoever has more is the biter. So is one head enough?
#
# A fair test takes more than two animals, the same width for both sides, and a reader that is no
# cleverer than the output projection, which is linear. Take eight animals and all 56 sentences like
# "dog bites man". One head has a context of eight numbers, enough to give each animal a feature of
# its own. Two heads have four numbers each, and random value matrices.

# %%
biter, bitten = torch.tensor([(a, b) for a in range(8) for b in range(8) if a != b]).T


def one_head_leaning(share):
    """[56, 8]: this share of the biter, the rest of the bitten, in the same eight features."""
    return share * torch.eye(8)[biter] + (1 - share) * torch.eye(8)[bitten]


torch.manual_seed(0)
two_heads = torch.cat([torch.randn(8, 4)[biter], torch.randn(8, 4)[bitten]], dim=1)
print(one_head_leaning(0.8)[0], two_heads.shape)

# %% [markdown]
# The reader is a table of 8 by 8 numbers: a context times the table gives a score for each animal,
# and the largest score names it. A thousand times, we measure the error on these very sentences and
# correct the table a little. (That is training; lesson 5 explains it.)

# %%
shares = torch.linspace(0, 1, 11)


def readable(contexts, answer):
    """Share of the sentences in which a trained linear reader names the right animal."""
    reader = torch.zeros(8, 8)
    for _ in range(1000):
        error = F.one_hot(answer, 8) - (contexts @ reader).softmax(dim=1)
        reader += 0.3 * contexts.T @ error
    return ((contexts @ reader).argmax(dim=1) == answer).float().mean().item()


# %% [markdown]
# **Predict before you run:** one head gives a share of its attention to the biter, and the rest to
# the bitten. Whom can its reader name?

# %%
predict("whom_can_it_name", ...)

# %%
print("two heads:", readable(two_heads, biter), readable(two_heads, bitten))

# %%
plot_lines(
    shares,
    {
        "the biter": [readable(one_head_leaning(share), biter) for share in shares],
        "the bitten": [readable(one_head_leaning(share), bitten) for share in shares],
    },
    x_name="share of attention that one head gives to the biter",
    y_name="sentences read right",
    caption="One leaning head: this reader names whoever gets more attention, and not the other.",
)

# %% [markdown]
# From two heads of four numbers, the linear reader gets both animals in all 56 sentences. From one
# head of eight, it gets the one with more attention, and never the other. (Where the other gets no
# attention at all, this reader guesses 8 of 56 right. At even shares, it can only guess which is
# which.) A reader made by hand can do better, but no linear reader gets all 56. Both animals went
# through the same value matrix and lie in the same features. A linear layer would have to rank the
# quiet animal above the loud one, and above those that aren't there at all.
#
# At any share but 0, ½ and 1, nothing is lost, though. A layer that isn't linear could dig the
# second animal out of the one head. With two heads, nobody has to dig.
#
# <details>
# <summary>Why no linear layer can, however long you train it</summary>
#
# Suppose a linear layer could name the bitten in all sentences. Rename the animals in every
# possible way, average all the layers you get, and you have one that treats all animals alike and
# still works. For such a layer, an animal's output is α times its own feature, plus a number that
# is the same for every animal. With more attention on the biter, the bitten beats the biter only if
# α is negative, and it beats the animals that aren't in the sentence only if α is positive. With
# two animals there are no such others, and that's why the dog and the man alone are no test.
# (Another value matrix wouldn't help. It's one more linear layer in front of this one.)
#
# </details>

# %% [markdown]
# ## The paper's sizes
#
# The base model of Vaswani et al. has a d_model of 512 and 8 heads of 64 features. Take a batch of
# 64 sentences of 5 words each.
#
# Try to name each of the shapes below before you run the cell that prints them.

# %%
words = torch.randn(64, 5, 512)
paper = MultiHeadAttention(d_model=512, n_heads=8)
projected = paper.query(words), paper.key(words), paper.value(words)
query, key, value = (split_heads(x, 8) for x in projected)
context, attn_weights = attend(query, key, value)
merged = merge_heads(context)
result = paper.output(merged)

# %%
steps = {
    "words": words,
    "projected": projected[0],
    "split": query,
    "attn_weights": attn_weights,
    "context": context,
    "merged": merged,
    "result": result,
}
for name, tensor in steps.items():
    print(f"{name:<13}{list(tensor.shape)}")

# %%
print("the module agrees:", torch.allclose(paper(words, words, words), result, atol=1e-6))

# %% [markdown]
# ### What do more heads cost?
#
# **Predict before you run:** how many parameters does the module have with 1 head? With 16?

# %%
predict("parameters_of_16_heads", ...)

# %%
for n_heads in (1, 2, 4, 8, 16):
    attention = MultiHeadAttention(512, n_heads)
    count = sum(parameter.numel() for parameter in attention.parameters())
    attention(words, words, words)
    n_weights = attention.attn_weights[0].numel()
    print(f"{n_heads:>2} heads of {512 // n_heads:>3}: {count:,} parameters, {n_weights} weights")

# %% [markdown]
# Four projections have 512 · 512 weights and 512 biases each: 4 · (262,144 + 512) = 1,050,624,
# whatever the number of heads, as long as they share d_model. More heads then means narrower heads,
# not more parameters. What grows is the number of attention weights for a sentence: n_heads · n².
#
# And what does a sentence cost? Count multiplications. Each of the four projections takes n · d².
# The scores take n² · d, whatever the number of heads, and so does mixing the values.

# %%
for n in (5, 128, 1024, 8192):
    projecting, attending = 4 * n * 512**2, 2 * n**2 * 512
    print(f"{n:>4} words: projecting {projecting:>13,}, attending {attending:>14,}")

# %% [markdown]
# In short sentences, nearly all the work is in the projections. At n = 2d, here 1024 words,
# attention catches up with them. (The paper's feed-forward network, as in lesson 5, is 4d wide and
# does twice the work of the projections. If you count that work too, attention catches up only at n
# = 6d.) From there on, its n² takes over, and that is why long texts are expensive.

# %% [markdown]
# ## Sequence first
#
# Your module is done. One skill is left: reading code that lays out its tensors in a different
# order. Some code, especially older PyTorch code, puts the sequence before the batch: [n, batch,
# n_heads, d_k]. (`nn.MultiheadAttention` takes [n, batch, d_model] unless you tell it
# `batch_first=True`.) Then the split needs no transpose, only a `view`. But now `@` would take
# heads and features as the matrix. You could permute back and forth; `einsum` says directly which
# dimensions are summed.
#
# With `einsum`, any order is as good as another. Here are two sentences with words as their last
# dimension, and the dot product of each word of one with each word of the other:

# %%
a, b = torch.rand(16, 3), torch.rand(16, 5)
print(list(torch.einsum("di,dj->ij", a, b).shape))

# %% [markdown]
# A letter in both tensors and in the result acts like a batch dimension. Here are two sentences,
# each with its own partner:

# %%
a, b = torch.rand(2, 16, 3), torch.rand(2, 16, 5)
print(list(torch.einsum("bdi,bdj->bij", a, b).shape))

# %% [markdown]
# ### Exercise 5: `seq_first_scores` (10 minutes)
#
# Compute all heads' scores in the sequence-first layout: queries first, then keys, then batch and
# heads. Scale them as usual. Each head compares its own queries with its own keys, and each
# sentence of the batch stays by itself.


# %%
def seq_first_scores(
    query: Float[Tensor, "n_query batch n_heads d_k"],
    key: Float[Tensor, "n_key batch n_heads d_k"],
) -> Float[Tensor, "n_query n_key batch n_heads"]:
    """Scaled scores of every query with every key, for each sentence and head.

    Example:
        >>> query = torch.tensor([[[[1.0, 0.0, 1.0, 0.0]]]])
        >>> key = torch.tensor([[[[3.0, 9.0, 1.0, 9.0]]], [[[0.0, 1.0, 5.0, 1.0]]]])
        >>> seq_first_scores(query, key).tolist()
        [[[[2.0]], [[2.5]]]]
    """
    ### BEGIN SOLUTION
    return torch.einsum("ibhd,jbhd->ijbh", query, key) / query.shape[-1] ** 0.5
    ### END SOLUTION


# %%
check(seq_first_scores)

# %% [markdown]
# It is the same attention. But the keys are now in dimension 1, so that is where softmax runs:
# `dim=-1` would divide the attention among the heads.

# %%
scores = seq_first_scores(query.permute(2, 0, 1, 3), key.permute(2, 0, 1, 3))
print(list(scores.shape))
print("same weights:", torch.allclose(scores.softmax(dim=1).permute(2, 3, 0, 1), attn_weights))

# %% [markdown]
# ## What you built
#
# You can now write multi-head attention as libraries do, and check that splitting and merging heads
# mixes no words:
#
# - One head is one average. A word with two needs wants **two heads**, and now "bites" knows who
#   bit whom.
# - A head is two maps of rank d_head at most: who looks at whom, and what gets carried over.
# - Heads are a **dimension**: one big projection, then `split_heads`. A `view` straight to the
#   right shape mixes words, and a probe shows it.
# - `merge_heads` puts the heads side by side, and the **output projection** mixes them.
# - **Dropout** acts on the weights; you look at them as they were before.
# - More heads that share d_model cost **no more parameters**, and a mean over heads hides what each
#   one does.
#
# In lesson 4, you decide what a word may *not* see: the future and the padding. There you learn
# what `keep` is for, and why `weights_from_scores` is written the way it is.
#
# ### Test yourself
#
# 1. d_model is 12, and there are 3 heads. Which columns does head 2 own, and by what do you divide
#    its scores?
# 2. A colleague splits with `x.view(batch, n_heads, n, d_head)` and merges with the reverse. The
#    round trip gives `x` back. Is the code right?
# 3. Two heads have the same $W_Q$ and the same $W_K$, but different $W_V$. Do they do anything that
#    one head couldn't?
#
# <details>
# <summary>Answers</summary>
#
# 1. Columns 8 to 11 (heads count from 0). A head sees 12 / 3 = 4 features, so divide by √4 = 2.
# 2. No. In between, the heads attend to pieces of words as if they were words. Change one word, and
#    watch which rows of each head move.
# 3. No. They look at the same words with the same weights, so a single head with wider values does
#    the same: its value matrix is both of theirs side by side.
#
# </details>

# %% [markdown]
# ### Challenge: `attend_by_einsum` (optional, 20 minutes)
#
# With `einsum`, multi-head attention needs no split, no merge and no transpose. Each head brings
# its own matrices: three to project words into it, and one to get back out. Write queries, keys,
# values, scores, context and output, with one `einsum` for each.
#
# The output is the part to think about. In "The output projection", the heads' results were merged
# and multiplied by one matrix. How do you write that with one matrix for each head?


# %%
def attend_by_einsum(
    words: Float[Tensor, "n d_model"],
    w_query: Float[Tensor, "n_heads d_head d_model"],
    w_key: Float[Tensor, "n_heads d_head d_model"],
    w_value: Float[Tensor, "n_heads d_head d_model"],
    w_output: Float[Tensor, "n_heads d_head d_model"],
) -> Float[Tensor, "n d_model"]:
    """Multi-head attention with matrices for each head; `w_output` leads back to d_model features.

    Example: one head that copies, and one word.
        >>> one, eye = torch.tensor([[1.0, 2.0]]), torch.eye(2)[None]
        >>> attend_by_einsum(one, eye, eye, eye, 3 * eye)
        tensor([[3., 6.]])
    """
    ### BEGIN SOLUTION
    query = torch.einsum("nd,hkd->hnk", words, w_query)
    key = torch.einsum("nd,hkd->hnk", words, w_key)
    value = torch.einsum("nd,hkd->hnk", words, w_value)
    attn_scores = torch.einsum("hik,hjk->hij", query, key) / w_key.shape[1] ** 0.5
    attn_weights = torch.softmax(attn_scores, dim=-1)
    context = torch.einsum("hij,hjk->hik", attn_weights, value)
    return torch.einsum("hnk,hkd->nd", context, w_output)
    ### END SOLUTION


# %%
check(attend_by_einsum)

# %% [markdown]
# In the last `einsum`, h is missing on the right, so the heads get added up. To merge and multiply
# by one matrix is to add up what each head sends back.

# %% [markdown]
# ### Further reading
#
# - [Vaswani et al. 2017](https://arxiv.org/abs/1706.03762), section 3.2.2. The last pages show what
#   single heads of a trained model look at.
# - [Michel, Levy and Neubig 2019](https://arxiv.org/abs/1905.10650), "Are Sixteen Heads Really
#   Better than One?", remove heads from trained models. Many aren't missed.
# - [Voita et al. 2019](https://arxiv.org/abs/1905.09418) ask what the heads that *are* missed do:
#   some look at neighbors, some follow grammar, some look for rare words.
# - [Elhage et al. 2021](https://transformer-circuits.pub/2021/framework/index.html), "A
#   Mathematical Framework for Transformer Circuits". Long and worth it, if you liked "What a head
#   is".
# - [einops](https://einops.rocks/1-einops-basics/) writes split and merge with named dimensions. A
#   good cure for wrong `view`s.
# - [Rush: *Tensor Puzzles*](https://github.com/srush/Tensor-Puzzles), if you want more practice
#   with shapes.

# %%
progress()
