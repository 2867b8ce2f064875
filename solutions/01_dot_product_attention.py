# %% [markdown]
# # 1. Dot-product attention
#
# A sentence is a row of words, and each word needs something from the others: "it" needs a noun,
# "not" needs a verb. **Attention** is the arithmetic by which a word collects what it needs. In
# this lesson you build it from nothing but multiplication, addition and one exponential.
#
# | | |
# |---|---|
# | **Time** | 60 minutes |
# | **You need** | Python and a little PyTorch: making a tensor, reading its shape |
# | **You can then** | say where every number of attention comes from, and write it |
#
# Below each exercise is a check. Run it as often as you like: it tells you what is right and, if
# it knows the mistake, names it. It tries your code on many inputs: in other sizes (even 1), with
# other number types, and with gradients.
#
# Stuck? `hint("softmax")` shows a hint, and one more each time you run it.
# `failing_case("softmax")` brings back the case that went wrong. After the last hint,
# `give_up("softmax")` lends you our solution for the rest of the notebook. You just won't get the
# points.

# %%
import torch
from jaxtyping import Float
from torch import Tensor

from autograder import check, failing_case, give_up, hint, made_for, progress
from autograder.utils.costs import seconds
from autograder.utils.data import six_words
from autograder.utils.plots import (
    growth_slope,
    plot_attention,
    plot_bars,
    plot_growth,
    plot_matrix,
    plot_words,
)

# %%
torch.set_num_threads(1)  # small tensors are fastest on one thread
torch.set_printoptions(precision=4, sci_mode=False)

# %% [markdown]
# ## Six words, three features each
#
# A network does not see letters. Each word is a vector: a list of numbers, its **features**.
# Real models learn hundreds of them; here three are enough, so that you can follow every number
# by eye. (The six words and their numbers are those of Sebastian Raschka's *Build a Large
# Language Model (From Scratch)*, 2024, so that you can compare.)

# %%
labels, words = six_words()
print(labels)
print(words)

# %% [markdown]
# ## Which words are alike?
#
# Take one word, "journey", and ask how much each word has to do with it. The word that asks is
# called the **query**.
#
# A simple measure is the **dot product**: multiply feature by feature, then add up.
#
# $$\text{score}_j = q \cdot x_j = \sum_i q_i \, x_{ji}$$
#
# (Luong et al. 2015, "Effective Approaches to Attention-based Neural Machine Translation", call
# it the *dot* score.)
#
# In Python, `a @ b` is the dot product of two vectors. Two vectors that are large in the same
# places have a large dot product. Where one is large and the other near zero, nothing is added.
# Where their signs differ, something is taken away.
#
# **Predict before you run.** Which of these two dot products is larger, and is one of them
# negative?

# %%
a = torch.tensor([1.0, 2.0])
print(a @ torch.tensor([2.0, 1.0]))
print(a @ torch.tensor([2.0, -3.0]))

# %% [markdown]
# The first is 1·2 + 2·1 = 4. In the second the features disagree: 1·2 − 2·3 = −4.

# %% [markdown]
# ### Exercise 1: `query_scores` (8 minutes)
#
# Score every word against one query. Use a loop: one dot product at a time, so that you have
# done it by hand once. The first line says which shapes come in and go out: `Float[Tensor, "n
# d"]` is a tensor of n rows (words) and d columns (features).


# %%
def query_scores(query: Float[Tensor, " d"], words: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
    """Dot product of the query with each word.

    Example:
        >>> query_scores(torch.tensor([1.0, 2.0]), torch.tensor([[2.0, 1.0], [2.0, -3.0]]))
        tensor([ 4., -4.])
    """
    ### BEGIN SOLUTION
    return torch.stack([word @ query for word in words])
    ### END SOLUTION


# %%
check(query_scores)

# %% [markdown]
# Now the real thing: "journey" asks all six words.

# %%
journey = words[1]
scores = query_scores(journey, words)
scores

# %%
plot_bars(
    {"score": scores},
    labels,
    caption="How much each word has in common with “journey”.",
)

# %% [markdown]
# "journey" scores highest with itself, 1.4950, and "starts" comes close: look at their features
# in the table above, they are nearly the same. "one" has the lowest score: its large feature is
# the first, where "journey" is weakest.

# %% [markdown]
# ## From scores to weights
#
# We want to mix the six words, each by its share. Shares should be positive and sum to 1. Then
# they are called **attention weights**. The obvious way is to divide each score by the sum of
# all.

# %%
by_sum = scores / scores.sum()
print(by_sum, by_sum.sum())

# %% [markdown]
# That looks fine. **Predict before you run:** what becomes of it when a score is negative? And
# when the scores cancel?

# %%
for s in (torch.tensor([2.0, 1.0, -1.0]), torch.tensor([2.0, 1.0, -3.0])):
    print(s / s.sum())

# %% [markdown]
# In the first line one share is negative and another is the whole. In the second the sum is 0
# and every share is infinite. Features of real models are negative half of the time, so this
# happens at once.
#
# The cure is to make every score positive before dividing, and to keep the order: the
# **exponential** does both. This is **softmax**:
#
# $$\text{weight}_j = \frac{e^{\text{score}_j}}{\sum_k e^{\text{score}_k}}$$

# %%
for s in (torch.tensor([2.0, 1.0, -1.0]), torch.tensor([2.0, 1.0, -3.0])):
    print(s.exp() / s.exp().sum())

# %% [markdown]
# Both rows are good weights now. But there is a trap. **Predict before you run:** one score is
# 100. What is e¹⁰⁰ in a 32-bit float, whose largest number is about 3.4 · 10³⁸?

# %%
large = torch.tensor([100.0, 99.0, 98.0])
print(large.exp())
print(large.exp() / large.exp().sum())

# %% [markdown]
# The exponential overflows to infinity, and infinity divided by infinity is NaN, "not a number".
# One NaN in a network soon makes everything NaN.
#
# What saves us: the weights depend only on the *differences* of scores. Subtracting the same
# number *m* from all scores divides both the top and the bottom of the fraction by eᵐ. So
# subtract the largest score. Then the largest exponent is 0, and e⁰ = 1 can't overflow.

# %%
shifted = large - large.max()
print(shifted, shifted.exp() / shifted.exp().sum())

# %% [markdown]
# ### Exercise 2: `softmax` (15 minutes)
#
# Write softmax so that it survives large scores and works on many rows at once. `dim` is the
# dimension along which the weights sum to 1; usually that is the last one, −1. Each row needs
# its own maximum and its own sum: look at `amax` and `sum`, and at what their `keepdim=True`
# does. (Torch's own softmax is off limits in this exercise.)


# %%
def softmax(scores: Float[Tensor, "*batch n"], dim: int = -1) -> Float[Tensor, "*batch n"]:
    """Positive weights that sum to 1 along `dim`; finite for scores of any size.

    Example:
        >>> softmax(torch.tensor([[0.0, 0.0], [200.0, 200.0]]))
        tensor([[0.5000, 0.5000],
                [0.5000, 0.5000]])
    """
    ### BEGIN SOLUTION
    shifted = scores - scores.amax(dim, keepdim=True)
    exps = shifted.exp()
    return exps / exps.sum(dim, keepdim=True)
    ### END SOLUTION


# %%
check(softmax)

# %%
weights = softmax(scores)
print(weights, weights.sum())

# %%
plot_bars(
    {"divided by the sum": by_sum, "softmax": weights},
    labels,
    caption="The weights of “journey” by both recipes.",
    share_y=True,
)

# %% [markdown]
# With these friendly scores the two recipes hardly differ: softmax gives "journey" 0.2379 and
# the sum 0.2278. Softmax gives the largest scores a little more, and it never breaks.

# %% [markdown]
# ## The context vector
#
# Now collect. The **context vector** of "journey" is the sum of all words, each multiplied by
# its weight. (In general, what is summed are the *values*, and the words will stand in for them
# until lesson 2.)
#
# $$\text{context} = \sum_j \text{weight}_j \, x_j$$
#
# With weights ¾ and ¼, the context lies a quarter of the way from the first word to the second:

# %%
x = torch.tensor([[0.0, 4.0], [8.0, 0.0]])
0.75 * x[0] + 0.25 * x[1]

# %% [markdown]
# ### Exercise 3: `context_vector` (7 minutes)
#
# Add the words up, each as much as its weight says.


# %%
def context_vector(
    attn_weights: Float[Tensor, " n"], words: Float[Tensor, "n d"]
) -> Float[Tensor, " d"]:
    """Sum of the words, each multiplied by its weight.

    Example:
        >>> context_vector(torch.tensor([0.75, 0.25]), torch.tensor([[0.0, 4.0], [8.0, 0.0]]))
        tensor([2., 3.])
    """
    ### BEGIN SOLUTION
    context = torch.zeros_like(words[0])
    for weight, word in zip(attn_weights, words, strict=True):
        context = context + weight * word
    return context
    ### END SOLUTION


# %%
check(context_vector)

# %%
context = context_vector(weights, words)
context

# %%
plot_words(
    words,
    labels,
    weights=weights,
    context=context,
    caption="The context of “journey” lies among the words, pulled to those that weigh most.",
)

# %% [markdown]
# Each point is a word, drawn by its first two features; the lines lead to it from zero, and its
# color says how much it weighs. The shaded area is everything that lies between the words. The
# context (the star) can never leave it: it is an average, and weights that are positive and sum
# to 1 can do nothing else. Dividing by the sum does not promise that. With a negative score, a
# word gets a negative share and pushes the context away.

# %% [markdown]
# ## All words ask at once
#
# So far one word asked. Every word needs a context, so every word takes its turn as query: n
# queries times n words make n² scores. First with two loops:


# %%
def scores_with_loops(words):
    rows = [[query @ word for word in words] for query in words]
    return torch.stack([torch.stack(row) for row in rows])


all_scores = scores_with_loops(words)
all_scores[0]

# %% [markdown]
# Row *i* holds the scores of query *i*, one for each word that is asked. A word that is asked is
# called a **key**. Look at what entry [i, j] is: the dot product of row *i* of `words` with row
# *j* of `words`. A matrix product computes the dot product of rows on its left with *columns* on
# its right:
#
# $$(A B)_{ij} = \sum_k A_{ik} B_{kj}$$
#
# So a single matrix product does the work of both loops, if the words stand as columns in the
# second matrix.

# %% [markdown]
# ### Exercise 4: `attention_scores` (6 minutes)
#
# All scores with one matrix product.


# %%
def attention_scores(words: Float[Tensor, "n d"]) -> Float[Tensor, "n n"]:
    """Dot product of every word (row: the query) with every word (column: the key).

    Example:
        >>> attention_scores(torch.tensor([[1.0, 2.0], [3.0, 0.0]]))
        tensor([[5., 3.],
                [3., 9.]])
    """
    ### BEGIN SOLUTION
    return words @ words.T
    ### END SOLUTION


# %%
check(attention_scores)

# %%
plot_matrix(
    attention_scores(words),
    labels,
    labels,
    caption="All scores. Row: the word that asks (query). Column: the one that is asked (key).",
)

# %% [markdown]
# ### What the loops cost
#
# Twice the words are four times the scores: the cost of attention grows with n². **Predict
# before you run:** in a plot with logarithmic axes, what is the slope of a line that grows with
# n²? (`seconds(f, x)` calls `f(x)` a few times and gives the shortest time.)

# %%
torch.manual_seed(0)
sizes = [8, 16, 32, 64]
sentences = [torch.rand(n, 3) for n in sizes]
loops = [seconds(scores_with_loops, sentence) for sentence in sentences]
matrix = [seconds(attention_scores, sentence) for sentence in sentences]

# %% reason="timings differ from run to run" tags=["nbval-ignore-output"]
plot_growth(
    sizes,
    {"two loops": loops, "matrix product": matrix},
    caption="Seconds for all scores of a sentence, on logarithmic axes.",
)

# %% reason="timings differ from run to run" tags=["nbval-ignore-output"]
print(f"slope of the loops: {growth_slope(sizes, loops):.2f}")
print(f"64 words: the matrix product is {loops[-1] / matrix[-1]:.0f} times as fast")

# %% [markdown]
# On a quiet machine the loops rise with a slope close to 2: twice the words, four times the
# time. The matrix product does the same n² dot products, but in one call of compiled code. Up to
# 64 words the call itself costs more than the arithmetic, so its line is still nearly flat.

# %% [markdown]
# ## Attention in three lines
#
# Scores, weights, context: you have all parts.
#
# $$\text{context} = \text{softmax}(X X^\top)\, X$$
#
# ### Exercise 5: `simple_attention` (12 minutes)
#
# Return the context vectors of all words and the weights that made them. From here on
# `torch.softmax` is allowed (it is as stable as yours), so this exercise does not depend on your
# earlier ones.


# %%
def simple_attention(
    words: Float[Tensor, "n d"],
) -> tuple[Float[Tensor, "n d"], Float[Tensor, "n n"]]:
    """Context vectors (row i: the context of word i) and attention weights (rows sum to 1).

    Example:
        >>> context, attn_weights = simple_attention(torch.tensor([[0.0], [1.0]]))
        >>> attn_weights
        tensor([[0.5000, 0.5000],
                [0.2689, 0.7311]])
        >>> context
        tensor([[0.5000],
                [0.7311]])
    """
    ### BEGIN SOLUTION
    attn_scores = words @ words.T
    attn_weights = torch.softmax(attn_scores, dim=-1)
    context = attn_weights @ words
    return context, attn_weights
    ### END SOLUTION


# %%
check(simple_attention)

# %%
contexts, attn_weights = simple_attention(words)
plot_attention(
    attn_weights,
    labels,
    labels,
    caption="Attention weights: each row shares out a total of 1 over the keys.",
)

# %% [markdown]
# Row "journey" is the row you made by hand, and its context is the same vector:

# %%
print(contexts[1])
print(context)

# %% [markdown]
# ## What symmetric scores hide
#
# The score of "journey" with "step" is the score of "step" with "journey": a dot product does
# not care about the order. So the matrix of scores equals its own transpose.

# %%
all_scores = attention_scores(words)
print("scores symmetric: ", torch.allclose(all_scores, all_scores.T))
print("weights symmetric:", torch.allclose(attn_weights, attn_weights.T))

# %% [markdown]
# The weights are not symmetric, since each row was divided by its own sum. But the symmetric
# scores have a nasty consequence. Someone who mixes up rows and columns *before* softmax gets
# the right result all the same:

# %%
mixed_up = torch.softmax(all_scores.T, dim=-1)
print("transposed scores, same weights:", torch.allclose(mixed_up, attn_weights))

# %% [markdown]
# Mix them up *after* softmax, and the columns sum to 1 instead of the rows. With numbers as
# even as these it hardly shows at a glance. The picture marks the sums:

# %%
plot_attention(
    attn_weights.T,
    labels,
    labels,
    caption="The same weights transposed: the rows no longer sum to 1.",
)

# %% [markdown]
# So no test on symmetric scores can see a transpose *before* softmax. From lesson 2 on, queries
# and keys come from different projections, the scores are no longer symmetric, and such a
# mistake has nowhere to hide.

# %% [markdown]
# ## What you built
#
# - A **score** is a dot product: how much query and key have in common.
# - **Softmax** turns a row of scores into weights that are positive and sum to 1; subtracting
#   the maximum keeps it finite.
# - The **context vector** is the weighted sum of the words.
# - One **matrix product** replaces both loops, and the cost grows with n².
#
# There was nothing to learn in this attention: no parameters, so two words are alike or they are
# not. In lesson 2 each word gets three roles, query, key and value, and the network learns a
# projection for each.

# %%
progress()
