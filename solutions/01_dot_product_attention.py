# %% [markdown]
# # 1. Dot-product attention
#
# A sentence is a row of words, and each word needs something from the others: "it" needs a noun,
# "not" needs a verb. **Attention** is the arithmetic that collects what a word needs. In this
# lesson you build it from nothing but multiplication, addition and one exponential.
#
# | | |
# |---|---|
# | **Time** | 60 minutes |
# | **You need** | Python and a little PyTorch: making a tensor, reading its shape |
# | **You can then** | explain where every number in attention comes from, and write it |
#
# Each exercise is followed by a check. Run it as often as you like. It tells you what is right, and
# it names your mistake if it knows it. It tries your code on many inputs: in other sizes (even 1),
# with other number types, and with gradients.
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
# A network doesn't see letters. It sees each word as a vector: a list of numbers, its **features**.
# Real models learn hundreds of them. Here three are enough, so you can follow every number by eye.
# (The six words and their numbers come from Sebastian Raschka's *Build a Large Language Model (From
# Scratch)*, 2024, so you can compare.)

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
# (Luong et al. 2015, "Effective Approaches to Attention-based Neural Machine Translation", call it
# the *dot* score.)
#
# In Python, `a @ b` is the dot product of two vectors. Two vectors that are large in the same
# places have a large dot product. Where one is large and the other near zero, nothing gets added.
# Where their signs differ, something gets subtracted.
#
# **Predict before you run.** Which of these two dot products is larger? Is either one negative?

# %%
a = torch.tensor([1.0, 2.0])
print(a @ torch.tensor([2.0, 1.0]))
print(a @ torch.tensor([2.0, -3.0]))

# %% [markdown]
# The first is 1·2 + 2·1 = 4. In the second, the features disagree: 1·2 − 2·3 = −4.

# %% [markdown]
# ### Exercise 1: `query_scores` (8 minutes)
#
# Score every word against one query. Use a loop, one dot product at a time, so that you've done it
# by hand once. The first line says which shapes go in and come out: `Float[Tensor, "n d"]` is a
# tensor of n rows (words) and d columns (features).


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
# "journey" scores highest with itself, 1.4950, and "starts" comes close. Look at their features in
# the table above: they are nearly the same. "one" scores lowest: its large feature is the first,
# where "journey" is weakest.

# %% [markdown]
# ## From scores to weights
#
# We want to mix the six words, each by its share. The shares should be positive and sum to 1. We
# call such shares **attention weights**. The obvious way to get them is to divide each score by the
# sum of all scores.

# %%
by_sum = scores / scores.sum()
print(by_sum, by_sum.sum())

# %% [markdown]
# That looks fine. **Predict before you run:** what happens when a score is negative? And when the
# scores cancel?

# %%
for s in (torch.tensor([2.0, 1.0, -1.0]), torch.tensor([2.0, 1.0, -3.0])):
    print(s / s.sum())

# %% [markdown]
# In the first line, one share is negative and another is 1, the entire mix. In the second, the sum
# is 0 and every share is infinite. In real models, a feature is negative half the time, so this
# happens right away.
#
# The cure is to make every score positive before dividing, without changing the order. The
# **exponential** does both. This is **softmax**:
#
# $$\text{weight}_j = \frac{e^{\text{score}_j}}{\sum_k e^{\text{score}_k}}$$

# %%
for s in (torch.tensor([2.0, 1.0, -1.0]), torch.tensor([2.0, 1.0, -3.0])):
    print(s.exp() / s.exp().sum())

# %% [markdown]
# Both rows are good weights now. But there is a trap. **Predict before you run:** one score is 100.
# What is e¹⁰⁰ in a 32-bit float, whose largest number is about 3.4 · 10³⁸?

# %%
large = torch.tensor([100.0, 99.0, 98.0])
print(large.exp())
print(large.exp() / large.exp().sum())

# %% [markdown]
# The exponential overflows to infinity, and infinity divided by infinity is NaN, "not a number".
# One NaN soon turns everything in a network into NaN.
#
# What saves us is that the weights depend only on the *differences* between scores. If you subtract
# the same number *m* from all scores, you divide both the top and the bottom of the fraction by eᵐ.
# So subtract the largest score. Then the largest exponent is 0, and e⁰ = 1 can't overflow.

# %%
shifted = large - large.max()
print(shifted, shifted.exp() / shifted.exp().sum())

# %% [markdown]
# ### Exercise 2: `softmax` (15 minutes)
#
# Write softmax so that it survives large scores and works on many rows at once. `dim` is the
# dimension along which the weights sum to 1; usually it is the last one, −1. Each row needs its own
# maximum and its own sum. Look up `amax` and `sum`, and what `keepdim=True` does in each. (Torch's
# own softmax is off limits in this exercise.)


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
    caption="The weights of “journey” from both recipes.",
    share_y=True,
)

# %% [markdown]
# With these friendly scores, the two recipes hardly differ: "journey" gets 0.2379 from softmax and
# 0.2278 from the sum. Softmax gives the largest scores a little more, and it never breaks.

# %% [markdown]
# ## The context vector
#
# Now "journey" can collect. Its **context vector** is the sum of all words, each multiplied by its
# weight. (In general, what we sum are the *values*. Until lesson 2, the words stand in for them.)
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
# Add up the words, each multiplied by its weight.


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
    caption="The context of “journey” lies among the words, pulled toward those that weigh most.",
)

# %% [markdown]
# Each point is a word, placed by its first two features and colored by its weight. A line leads to
# it from zero. The shaded area is everything that lies between the words. The context (the star)
# can never leave it: it is an average, and positive weights that sum to 1 can't make anything else.
# Dividing by the sum makes no such promise. With a negative score, a word gets a negative share and
# pushes the context away.

# %% [markdown]
# ## All words ask at once
#
# So far, only one word has asked. Every word needs a context, so every word takes its turn as the
# query. With n queries and n words, that makes n² scores. First, with two loops:


# %%
def scores_with_loops(words):
    rows = [[query @ word for word in words] for query in words]
    return torch.stack([torch.stack(row) for row in rows])


all_scores = scores_with_loops(words)
all_scores[0]

# %% [markdown]
# Row *i* holds the scores of query *i*, one for each word it asks. A word that gets asked is called
# a **key**. Entry [i, j] is the dot product of row *i* of `words` with row *j* of `words`. A matrix
# product computes the dot product of rows on its left with *columns* on its right:
#
# $$(A B)_{ij} = \sum_k A_{ik} B_{kj}$$
#
# So a single matrix product does the work of both loops, if the words are the columns of the second
# matrix.

# %% [markdown]
# ### Exercise 4: `attention_scores` (6 minutes)
#
# Compute all scores with one matrix product.


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
    caption="All scores. Row: the word that asks (query). Column: the word it asks (key).",
)

# %% [markdown]
# ### What the loops cost
#
# Twice the words means four times the scores: the cost of attention grows with n². **Predict before
# you run:** in a plot with logarithmic axes, what is the slope of a line that grows with n²?
# (`seconds(f, x)` calls `f(x)` a few times and returns the shortest time.)

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
    caption="Seconds to compute all scores of a sentence, on logarithmic axes.",
)

# %% reason="timings differ from run to run" tags=["nbval-ignore-output"]
print(f"slope of the loops: {growth_slope(sizes, loops):.2f}")
print(f"64 words: the matrix product is {loops[-1] / matrix[-1]:.0f} times as fast")

# %% [markdown]
# On a quiet machine, the loops' line rises with a slope close to 2: twice the words, four times the
# time. The matrix product does the same n² dot products, but in one call to compiled code. Up to 64
# words, the call itself costs more than the arithmetic, so this line is still nearly flat.

# %% [markdown]
# ## Attention in three lines
#
# Scores, weights, context: you have all the parts.
#
# $$\text{context} = \text{softmax}(X X^\top)\, X$$
#
# ### Exercise 5: `simple_attention` (12 minutes)
#
# Return the context vectors of all words and the weights that made them. From here on, you may use
# `torch.softmax` (it is as stable as yours), so this exercise doesn't depend on your earlier ones.


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
    caption="Attention weights: each row divides a total of 1 among the keys.",
)

# %% [markdown]
# The "journey" row is the one you made by hand, and its context is the same vector:

# %%
print(contexts[1])
print(context)

# %% [markdown]
# ## What symmetric scores hide
#
# The score of "journey" with "step" is the score of "step" with "journey": a dot product doesn't
# care about order. So the matrix of scores equals its own transpose.

# %%
all_scores = attention_scores(words)
print("scores symmetric: ", torch.allclose(all_scores, all_scores.T))
print("weights symmetric:", torch.allclose(attn_weights, attn_weights.T))

# %% [markdown]
# The weights are not symmetric, because each row was divided by its own sum. But the symmetric
# scores have a nasty consequence. If you mix up rows and columns *before* softmax, you still get
# the right result:

# %%
mixed_up = torch.softmax(all_scores.T, dim=-1)
print("transposed scores, same weights:", torch.allclose(mixed_up, attn_weights))

# %% [markdown]
# If you mix them up *after* softmax, the columns sum to 1 instead of the rows. With numbers this
# even, you would hardly notice. The picture marks the sums:

# %%
plot_attention(
    attn_weights.T,
    labels,
    labels,
    caption="The same weights transposed: the rows no longer sum to 1.",
)

# %% [markdown]
# So no test on symmetric scores can see a transpose *before* softmax. From lesson 2 on, queries and
# keys come from different projections. The scores are no longer symmetric, and such a mistake has
# nowhere to hide.

# %% [markdown]
# ## What you built
#
# - A **score** is a dot product: how much a query and a key have in common.
# - **Softmax** turns a row of scores into weights that are positive and sum to 1. Subtracting the
#   maximum keeps it finite.
# - The **context vector** is the weighted sum of the words.
# - One **matrix product** replaces both loops, and the cost grows with n².
#
# This attention had nothing to learn. It has no parameters, so two words are alike or they are not.
# In lesson 2, each word gets three roles (query, key and value), and the network learns a
# projection for each.

# %%
progress()
