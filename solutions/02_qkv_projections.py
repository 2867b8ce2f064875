# %% [markdown]
# # 2. Query, key, value
#
# How does "it" find its noun? In lesson 1, words attended to words that point the same way, and
# most to the long ones among them. But a word often needs a different kind of word: "it" isn't
# looking for a second "it".
#
# In this lesson, each word gets three vectors instead of one: a **query** for what it looks for, a
# **key** for what it can be found by, and a **value** for what it has to tell. The matrices that
# make them are what a network learns. You also find out why the most quoted formula of attention
# has a square root in it.
#
# | | |
# |---|---|
# | **You need** | Lesson 1: scores, softmax, context vector |
# | **You can then** | write scaled dot-product attention for batches, as a module |
#
# Each exercise is followed by a check; `hint`, `failing_case` and `give_up` help as in lesson 1.

# %%
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from autograder import check, failing_case, give_up, hint, predict, progress
from autograder.utils.data import six_words
from autograder.utils.plots import draw_projections, plot_attention, plot_lines, plot_matrix
from autograder.utils.views import view_scale

# %%
torch.set_num_threads(1)  # small tensors are fastest on one thread
torch.manual_seed(0)
torch.set_printoptions(precision=4, sci_mode=False)

# %% [markdown]
# ## What a word needs is not what it is
#
# "The ball rolled until it stopped." Take three of these words. Four features say what each one is:
# a noun, a verb, a pronoun, something round.

# %%
toy_labels = ["ball", "rolled", "it"]
toy = torch.tensor(
    [
        [1.0, 0.0, 0.0, 1.0],  # a noun, and round
        [0.0, 1.0, 0.0, 0.0],  # a verb
        [0.0, 0.0, 1.0, 0.0],  # a pronoun
    ]
)

# %% [markdown]
# **Predict before you run:** with the scores of lesson 1, which word does "it" look at?

# %%
predict("it_looks_at", ...)

# %%
print(toy @ toy.T)
print(torch.softmax(toy @ toy.T, dim=-1))

# %% [markdown]
# At itself, mostly: 0.5761. The other two words get 0.2119 each, because softmax gives something
# even to a score of 0. But "it" doesn't prefer "ball" to "rolled": these words have no features in
# common, so no word finds another.
#
# Now let each word play three parts:
#
# - its **query** says what it looks for,
# - its **key** says what it can be found by,
# - its **value** says what it tells a word that finds it.
#
# Each part comes from the word through a matrix of its own, called a **projection**. Here are three
# of them, written by hand: a pronoun looks for a noun, a noun can be found, and what it tells is
# whether it is round.

# %%
looks_for_noun = torch.tensor([[0.0], [0.0], [4.0], [0.0]])  # the third feature: pronoun
is_noun = torch.tensor([[1.0], [0.0], [0.0], [0.0]])
is_round = torch.tensor([[0.0], [0.0], [0.0], [1.0]])
toy_query, toy_key, toy_value = toy @ looks_for_noun, toy @ is_noun, toy @ is_round

# %%
toy_scores = toy_query @ toy_key.T
plot_matrix(
    torch.stack([toy @ toy.T, toy_scores]),
    toy_labels,
    toy_labels,
    titles=["words with words", "queries with keys"],
    caption="Scores. Words find only themselves; with projections, “it” finds the ball.",
)

# %% [markdown]
# "it" now looks at "ball", and "ball" doesn't look back: the scores are no longer symmetric. What
# does each word learn from this?

# %%
torch.softmax(toy_scores, dim=-1) @ toy_value

# %% [markdown]
# "it" has learned that it is round: 0.9647. The other two look for nothing. They score 0 with every
# word, spread their weight evenly, and get a third of "round" each.
#
# Could one vector play all three parts? Then "it" would have to look like a noun to find one, and
# other words would find it as if it were a noun.

# %% [markdown]
# ## One word, then all
#
# Back to the six words of lesson 1. A network learns its projections. Ours have learned nothing
# yet: we draw their numbers at random, from 0 to 1.

# %%
labels, words = six_words()
words

# %%
torch.manual_seed(123)
w_query, w_key, w_value = torch.rand(3, 2), torch.rand(3, 2), torch.rand(3, 2)
w_query

# %% [markdown]
# Three features go in, two come out. A word is a row, on the left of the matrix:
#
# $$q_i = x_i W_Q \qquad k_i = x_i W_K \qquad v_i = x_i W_V$$
#
# (Vaswani et al. 2017, ["Attention Is All You Need"](https://arxiv.org/abs/1706.03762), section
# 3.2.2.)
#
# What is the shape of the query of "journey"?

# %%
words[1] @ w_query

# %% [markdown]
# Each of the two numbers is the dot product of the word with one column. With one more digit than
# the printout, the first is 0.55 · 0.29611 + 0.87 · 0.25167 + 0.66 · 0.07397 = 0.43063.
#
# All the words together are a matrix of rows, and the same product projects every row:

# %%
words @ w_query

# %% [markdown]
# The number of features in a query is called $d_k$. A key has $d_k$ features too, because the two
# meet in a dot product. A value meets nobody; it only gets added up. So its number of features,
# $d_v$, can be anything.

# %% [markdown]
# ### Exercise 1: `project` (5 minutes)
#
# Project words to queries, keys and values. Several sentences may come at once, stacked into a
# **batch**. Then `words` has one more dimension in front. (`@` treats all dimensions before the
# last two as a stack of matrices.)


# %%
def project(
    words: Float[Tensor, "*batch n d_in"],
    w_query: Float[Tensor, "d_in d_k"],
    w_key: Float[Tensor, "d_in d_k"],
    w_value: Float[Tensor, "d_in d_v"],
) -> tuple[
    Float[Tensor, "*batch n d_k"], Float[Tensor, "*batch n d_k"], Float[Tensor, "*batch n d_v"]
]:
    """Query, key and value of every word, in this order.

    Example:
        >>> words = torch.tensor([[1.0, 2.0]])
        >>> w_query, w_key = torch.tensor([[1.0], [1.0]]), torch.tensor([[0.0], [1.0]])
        >>> project(words, w_query, w_key, torch.tensor([[1.0, 3.0], [0.0, 1.0]]))
        (tensor([[3.]]), tensor([[2.]]), tensor([[1., 5.]]))
    """
    ### BEGIN SOLUTION
    query = words @ w_query
    key = words @ w_key
    value = words @ w_value
    return query, key, value
    ### END SOLUTION


# %%
check(project)

# %%
query, key, value = project(words, w_query, w_key, w_value)
print("query of journey:", query[1])
print("all keys:", key.shape, " all values:", value.shape)

# %% [markdown]
# ## Two ways to write a projection
#
# Some textbooks, and some of the code you will meet, write a projection the other way around: the
# matrix is on the left, and the word is a column.
#
# | | product | shape of the matrix |
# |---|---|---|
# | word as a row | `x @ W` | [d_in, d_out] |
# | word as a column | `W @ x` | [d_out, d_in] |
#
# Both do the same arithmetic, and the matrix of one is the transpose of the other's. Try the second
# way on a new sentence. We number its words in sorted order, and `nn.Embedding` is a table with a
# row of 16 random features for each number. A network can learn this table, so PyTorch keeps track
# of what is computed from it. We won't learn it here: `.detach()` gives the same numbers without
# the tracking. (The sentence and its sizes come from Sebastian Raschka's article [*Understanding
# and Coding the Self-Attention Mechanism of Large Language Models From
# Scratch*](https://sebastianraschka.com/blog/2023/self-attention-from-scratch.html), 2023, so you
# can compare.)

# %%
sentence = "Life is short, eat dessert first".replace(",", "").split()
numbers = {word: number for number, word in enumerate(sorted(sentence))}
torch.manual_seed(123)
embedding = nn.Embedding(6, 16)
life = embedding(torch.tensor([numbers[word] for word in sentence])).detach()
print(numbers, life.shape)

# %%
torch.manual_seed(123)
wide_query, wide_key, wide_value = torch.rand(24, 16), torch.rand(24, 16), torch.rand(28, 16)
print("one word: ", (wide_query @ life[1]).shape)

# %% [markdown]
# The words come out with 24 features for queries and keys, and 28 for values: $d_k = 24$,
# $d_v = 28$.
#
# **Predict before you run:** now all six words at once. Which product works, `life @ wide_query` or
# `life @ wide_query.T`?

# %%
predict("which_product_runs", ...)

# %%
print((life @ wide_query.T).shape)
try:
    print((life @ wide_query).shape)
except RuntimeError as error:
    print(error)

# %% [markdown]
# In a sentence, the words stay rows, [n, d_in], so you have to transpose a matrix of the second
# kind. `nn.Linear` stores its weight in this second way, [d_out, d_in], and transposes it for you:

# %%
layer = nn.Linear(16, 24, bias=False)
print(layer.weight.shape)
print(torch.allclose(layer(life), life @ layer.weight.T, atol=1e-6))

# %% [markdown]
# When `d_in` and `d_out` are the same number, `life @ W` and `life @ W.T` both run, and one of them
# is wrong. No shape gives it away. Keep this in mind. It comes back at the end of the lesson.

# %% [markdown]
# ## Scores that depend on who asks
#
# The score of query *i* with key *j* is still a dot product. "journey" asks:

# %%
key @ query[1]

# %% [markdown]
# And all words at once, with a row for each query:

# %%
plain_scores = query @ key.T
print(plain_scores[1])
print("symmetric:", torch.allclose(plain_scores, plain_scores.T))

# %% [markdown]
# In lesson 1, the transposed scores were the same scores. Here they answer a different question:
# row 1 holds what "journey" looks for, and column 1 holds who looks for "journey".

# %% [markdown]
# ## How large is a score?
#
# A score is a sum of $d_k$ products. The more products, the further such sums spread, and softmax
# doesn't like a wide spread. How wide does it get? Draw queries and keys at random, from the
# standard normal distribution, and measure. Each query meets six keys.


# %%
def random_scores(d_k):
    """Scores of 2000 queries, six keys each: [2000, 6]."""
    query, key = torch.randn(2000, 1, d_k), torch.randn(2000, 6, d_k)
    return (query * key).sum(dim=-1)


# %% [markdown]
# Each product of two such numbers has mean 0 and variance 1. The variances of independent numbers
# add up.
#
# **Predict before you run:** what is the standard deviation of a sum of $d_k$ products?

# %%
predict("deviation", ...)

# %%
torch.manual_seed(0)
sizes = [2**power for power in range(11)]
unscaled = [random_scores(d_k) for d_k in sizes]
deviation = [scores.std() for scores in unscaled]
root = [d_k**0.5 for d_k in sizes]

# %%
plot_lines(
    sizes,
    {"scores": deviation, "√d_k": root},
    x_name="d_k",
    y_name="standard deviation",
    log_x=True,
    log_y=True,
    dashed=["√d_k"],
    caption="The standard deviation of scores grows as the square root of the number of features.",
)

# %%
print(f"d_k = 64: {deviation[6]:.2f}, d_k = 1024: {deviation[10]:.2f}")

# %% [markdown]
# The variance is $d_k$, so the standard deviation is $\sqrt{d_k}$. Now hand such scores to softmax.
# It turns *differences* between scores into *factors* between weights: a lead of 8 becomes a factor
# of e⁸ ≈ 2981.
#
# **Predict before you run:** six keys that are all alike would get ⅙ each. What does the best of
# six keys get when $d_k$ is 1024?

# %%
predict("best_of_six", ...)


# %%
def largest_weight(scores):
    """Largest of the weights of a query, mean over the queries."""
    return scores.softmax(dim=-1).amax(dim=-1).mean()


# %%
scaled = [scores / d_k**0.5 for scores, d_k in zip(unscaled, sizes, strict=True)]
plot_lines(
    sizes,
    {
        "unscaled": [largest_weight(scores) for scores in unscaled],
        "divided by √d_k": [largest_weight(scores) for scores in scaled],
    },
    x_name="d_k",
    y_name="largest weight",
    log_x=True,
    caption="With many features, one key takes nearly all unless the scores are scaled.",
)

# %%
largest_unscaled, largest_scaled = largest_weight(unscaled[10]), largest_weight(scaled[10])
print(f"d_k = 1024: unscaled {largest_unscaled:.2f}, scaled {largest_scaled:.2f}")

# %% [markdown]
# Here is one query with six keys. Its scores spread by 1 with one feature, and by √d_k with d_k of
# them:

# %%
view_scale(
    torch.tensor([0.3, -1.3, 1.6, 0.1, -0.4, 0.8]),
    labels,
    caption="The weights of six keys as d_k grows. Move d_k, and divide by its root.",
)

# %% [markdown]
# Softmax **saturates**: one key takes nearly all the weight. By itself, that does no harm; perhaps
# one key *is* the best. The harm comes in learning. A network learns from **gradients**. For each
# number, the gradient says how much the outcome would change if that number changed a little. Where
# the weights are almost 0 and 1, a small change in the query changes almost nothing. So the
# gradient is almost zero, and the query hardly learns.
#
# To see this, give each key a random value, and ask how strongly the weighted sum reacts to the
# query. (`backward()` computes gradients and leaves them in `grad`.)


# %%
def query_gradients(d_k, divisor):
    """Length of the gradient at each of 1000 queries, with six keys each: [1000]."""
    query = torch.randn(1000, 1, d_k, requires_grad=True)
    key, value = torch.randn(1000, 6, d_k), torch.randn(1000, 6)
    scores = (query * key).sum(dim=-1) / divisor
    (scores.softmax(dim=-1) * value).sum().backward()
    return query.grad.norm(dim=-1).flatten()


# %% [markdown]
# A thousand queries have a thousand gradients. One number would hide how they differ, so here are
# two: the median (half of the queries lie below it) and the 90% quantile (nine in ten lie below
# it).

# %%
torch.manual_seed(0)
gradients = {
    "unscaled": [query_gradients(d_k, 1) for d_k in sizes[::2]],
    "scaled": [query_gradients(d_k, d_k**0.5) for d_k in sizes[::2]],
}

# %%
lines = {}
for name, lengths in gradients.items():
    lines[f"{name}, 9 of 10 below"] = [length.quantile(0.9) for length in lengths]
    lines[f"{name}, median"] = [length.median() for length in lengths]
plot_lines(
    sizes[::2],
    lines,
    x_name="d_k",
    y_name="gradient at the query",
    log_x=True,
    caption="Without scaling, from d_k = 16 on, more and more queries lose their gradient, and "
    "some get a far larger one.",
)

# %%
print("d_k = 1024:")
for name, lengths in gradients.items():
    print(f"{name:<8}  median {lengths[-1].median():.2f}, mean {lengths[-1].mean():.2f}")

# %% [markdown]
# Without scaling, the gradient doesn't vanish everywhere. It becomes *rare and violent*. With 1024
# features, more than half of the queries learn next to nothing. Others get such a jolt that the
# mean is even larger than with scaling. With scaling, most queries get a gradient of moderate size,
# whatever $d_k$ is.
#
# The cure is one division. Divide scores whose standard deviation is $\sqrt{d_k}$ by $\sqrt{d_k}$,
# and their standard deviation becomes 1, whatever $d_k$ is:
#
# $$\text{score}_{ij} = \frac{q_i \cdot k_j}{\sqrt{d_k}}$$
#
# ([Vaswani et al. 2017](https://arxiv.org/abs/1706.03762), equation 1; their footnote 4 has the
# argument about the variance.)
#
# One more thing, for batches: `.T` is for matrices. With more dimensions it reverses all of them,
# and PyTorch warns you that this use is going away. `x.transpose(a, b)` swaps just two dimensions.
# Negative numbers count from the right.

# %%
torch.zeros(4, 6, 2).transpose(-2, -1).shape

# %% [markdown]
# ### Exercise 2: `scaled_scores` (8 minutes)
#
# Score every query against every key, and scale. Query and key may come from different sentences,
# of different lengths. There may also be a batch, or several dimensions in front: swap only the
# last two.


# %%
def scaled_scores(
    query: Float[Tensor, "*batch n_query d_k"],
    key: Float[Tensor, "*batch n_key d_k"],
) -> Float[Tensor, "*batch n_query n_key"]:
    """Dot product of every query (row) with every key (column), divided by √d_k.

    Example:
        >>> query = torch.tensor([[1.0, 1.0, 1.0, 1.0]])
        >>> key = torch.tensor([[1.0, 2.0, 3.0, 4.0], [2.0, 2.0, 2.0, 2.0]])
        >>> scaled_scores(query, key)
        tensor([[5., 4.]])
    """
    ### BEGIN SOLUTION
    d_k = key.shape[-1]
    return query @ key.transpose(-2, -1) / d_k**0.5
    ### END SOLUTION


# %%
check(scaled_scores)

# %% [markdown]
# ### Count from the right
#
# In published code you will find `key.shape[1]` for $d_k$. That is right as long as there is only
# one sentence.
#
# Here is `shape[1]` of one sentence, and of a batch of four:

# %%
batch_of_keys = torch.stack([key, key, key, key])
print(key.shape, "→", key.shape[1])
print(batch_of_keys.shape, "→", batch_of_keys.shape[1])

# %% [markdown]
# Now it is 6, the number of words. Nothing crashes. The scores are divided by the wrong root, and
# longer sentences get flatter weights. `key.shape[-1]` is the number of features, with or without a
# batch.

# %% [markdown]
# ## Scaled dot-product attention
#
# You know the rest: softmax over the keys (you may use `torch.softmax(…, dim=-1)`), then the
# weighted sum, now of the *values*.
#
# $$\text{Attention}(Q, K, V) = \text{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# (Vaswani et al. 2017, equation 1.)

# %%
draw_projections(caption="From words to contexts. For one sentence of n words.")

# %% [markdown]
# ### Exercise 3: `scaled_dot_product_attention` (9 minutes)
#
# Write the formula. It should work for one sentence, for a batch, and with even more dimensions in
# front (that's the `*batch` again). You don't need your `scaled_scores`: write it out once more.
# (PyTorch has a function by this name. It is off limits here; you compare with it in lesson 6.)


# %%
def scaled_dot_product_attention(
    query: Float[Tensor, "*batch n_query d_k"],
    key: Float[Tensor, "*batch n_key d_k"],
    value: Float[Tensor, "*batch n_key d_v"],
) -> tuple[Float[Tensor, "*batch n_query d_v"], Float[Tensor, "*batch n_query n_key"]]:
    """Context of every query, and the weights (rows sum to 1 over the keys) that made it.

    Source: Vaswani et al. 2017, eq. 1.

    Example:
        >>> query, key = torch.tensor([[2.0]]), torch.tensor([[0.0], [1.0]])
        >>> value = torch.tensor([[0.0, 1.0], [1.0, 3.0]])
        >>> context, attn_weights = scaled_dot_product_attention(query, key, value)
        >>> attn_weights
        tensor([[0.1192, 0.8808]])
        >>> context
        tensor([[0.8808, 2.7616]])
    """
    ### BEGIN SOLUTION
    d_k = key.shape[-1]
    attn_scores = query @ key.transpose(-2, -1) / d_k**0.5
    attn_weights = torch.softmax(attn_scores, dim=-1)
    context = attn_weights @ value
    return context, attn_weights
    ### END SOLUTION


# %%
check(scaled_dot_product_attention)

# %%
context, attn_weights = scaled_dot_product_attention(query, key, value)
print("weights of journey:", attn_weights[1])
print("context of journey:", context[1])

# %%
plot_attention(
    attn_weights,
    labels,
    labels,
    caption="Attention weights of the six words, with random projections.",
)

# %% [markdown]
# All six rows look much alike: every word prefers "journey" and "starts". No wonder: the features
# and the random numbers in the projections are all positive, so all queries and keys point roughly
# the same way, and the longest keys win. The numbers that a network learns have both signs.

# %% [markdown]
# ### Wrong answers look right
#
# Here are six wrong versions of attention, next to the right one. **Predict before you run:** how
# many give themselves away, by an error, a shape or a strange number?

# %%
predict("which_look_wrong", ...)


# %%
def context_of_journey(scores, divisor=1.0, values=value, dim=-1):
    return (torch.softmax(scores / divisor, dim=dim) @ values)[1]


results = {
    "right": context_of_journey(plain_scores, 2**0.5),
    "not scaled": context_of_journey(plain_scores),
    "divided by d_k": context_of_journey(plain_scores, 2),
    "divided by √n_key": context_of_journey(plain_scores, 6**0.5),
    "softmax over queries": context_of_journey(plain_scores, 2**0.5, dim=0),
    "key as value": context_of_journey(plain_scores, 2**0.5, values=key),
    "query and key swapped": context_of_journey(plain_scores.T, 2**0.5),
}

# %%
for name, result in results.items():
    print(f"{name:<22} {result[0]:.4f} {result[1]:.4f}")

# %% [markdown]
# Every shape is right, and no number looks strange. A network might even train with such a mistake.
# So we test attention by comparing numbers, on inputs whose sizes all differ. With $d_v \neq d_k$,
# keys can't pass for values: the shape gives them away. With $n_{query} \neq n_{key}$, queries and
# keys can't trade places, either. The checks in this course use such sizes wherever an exercise
# lets them differ.

# %% [markdown]
# ## Where the rule breaks down (optional)
#
# *Nothing later builds on this section. To skip it, go on with "A module that owns its
# projections".*
#
# Dividing by $\sqrt{d_k}$ works because variances add up. They do when the features of a word are
# **independent**: knowing one tells you nothing about the others. You may also read that the
# features need a mean of zero. Let's test both conditions.
#
# Softmax looks at differences, so what counts is not how large scores are, but how far one query's
# scores spread across its keys. We draw three kinds of features: independent ones with mean zero,
# independent ones from 0 to 1 (so their mean is ½), and ones with mean zero that move together,
# because most of each feature is a number that all the features of a word share.
#
# **Predict before you run:** for which of the three does the spread of the scaled scores stay the
# same as $d_k$ grows?

# %%
predict("spread_stays", ...)


# %%
def spread_across_keys(draw, d_k):
    """How far a query's scaled scores spread across six keys: root of the mean variance."""
    query, key = draw(500, 1, d_k), draw(500, 6, d_k)
    return ((query * key).sum(dim=-1) / d_k**0.5).var(dim=-1).mean().sqrt()


def correlated(*shape):
    """Features with mean 0 and variance 1; the correlation of any two in a word is ¾."""
    shared, own = torch.randn(*shape[:-1], 1), torch.randn(*shape)
    return 0.75**0.5 * shared + 0.5 * own


# %%
torch.manual_seed(0)
draws = {
    "independent, mean 0": torch.randn,
    "independent, from 0 to 1": torch.rand,
    "correlated, mean 0": correlated,
    "independent, from −½ to ½": lambda *shape: torch.rand(*shape) - 0.5,
}
spreads = {name: [spread_across_keys(f, d_k) for d_k in sizes[::2]] for name, f in draws.items()}

# %%
plot_lines(
    sizes[::2],
    spreads,
    x_name="d_k",
    y_name="spread of the scaled scores",
    log_x=True,
    log_y=True,
    caption="With independent features, the spread doesn't grow with d_k. With correlated ones, it "
    "does.",
)

# %%
for name, spread in spreads.items():
    print(f"{name:<25} d_k = 16: {spread[2]:.2f}   d_k = 1024: {spread[5]:.2f}")

# %% [markdown]
# With independent features, the mean doesn't make the spread grow. It isn't harmless, though. The
# mean of the keys adds the same number to all scores of a query, and softmax doesn't see that. But
# the mean of the query spreads the keys' scores further apart: with features from 0 to 1, they
# spread twice as far as with features from −½ to ½. Correlation does break the rule when queries
# and keys share it: their features rise and fall together, so the products can't cancel, and even
# after scaling, the spread grows with $\sqrt{d_k}$. (Correlated keys are enough if the mean of the
# queries isn't zero.)
#
# Where would correlated features come from? We drew our *projections* from 0 to 1. So each feature
# of a query is a sum of the word's features with positive weights, and all of these sums rise and
# fall together. Let random words meet the projection of our second sentence: as it is, halved, and
# with 0.5 subtracted from every number in it.


# %%
def three_kinds(weight):
    return {"from 0 to 1": weight, "half of that": weight / 2, "mean zero": weight - 0.5}


random_words = torch.randn(2000, 16)
for kind, weight in three_kinds(wide_query).items():
    features = random_words @ weight.T
    between = torch.corrcoef(features.T)[~torch.eye(24, dtype=torch.bool)]
    print(f"{kind:<12} size {features.std():.1f}, mean correlation {between.mean():.2f}")

# %% [markdown]
# Features of the first kind differ from those of the last kind in two ways: they are correlated,
# and their standard deviation is twice as large. Both differences push scores apart. Features of
# the middle kind are correlated, but hardly larger. Here are the attention weights of the sentence
# itself:


# %%
def life_weights(w_query, w_key):
    return torch.softmax((life @ w_query.T) @ (life @ w_key.T).T / 24**0.5, dim=-1)


kinds = zip(three_kinds(wide_query).values(), three_kinds(wide_key).values(), strict=True)
plot_attention(
    torch.stack([life_weights(w_query, w_key) for w_query, w_key in kinds]),
    sentence,
    sentence,
    titles=list(three_kinds(wide_query)),
    caption="Scaled all three times. With projections from 0 to 1, most words see only one key.",
)

# %% [markdown]
# In the first map, four of six rows are saturated, even though the scores were scaled. In the
# second map, two rows still give nearly all their weight to one key, and in the third, none does.
# So a real network doesn't start with `torch.rand`. `nn.Linear` draws its weights evenly on both
# sides of zero, and then the correlations between features average out:

# %%
print(f"from {layer.weight.min():.2f} to {layer.weight.max():.2f}, mean {layer.weight.mean():.2f}")

# %% [markdown]
# Scaling still matters in the first map. Without scaling, the second row, for the word "is", would
# nearly saturate too, with 0.93 for one key:

# %%
is_scores = (life @ wide_key.T) @ (wide_query @ life[1])
print("scores:  ", is_scores)
print("scaled:  ", torch.softmax(is_scores / 24**0.5, dim=-1))
print("unscaled:", torch.softmax(is_scores, dim=-1))

# %% [markdown]
# ## A module that owns its projections
#
# So far, we passed the projections around. A network keeps them in an `nn.Module`, which knows what
# to learn: every attribute that is an `nn.Parameter`, and those of the modules inside it. A plain
# tensor doesn't count.


# %%
class Stretch(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(2.0))
        self.forgotten = torch.tensor(3.0)

    def forward(self, x):
        return self.factor * x


# %% [markdown]
# **Predict before you run:** which names does `named_parameters` list?

# %%
predict("registered_names", ...)

# %%
stretch = Stretch()
print([name for name, _ in stretch.named_parameters()])
print(stretch(torch.tensor([1.0, 2.0])))

# %% [markdown]
# `stretch(x)` calls `forward(x)`. The result remembers how it was made (`grad_fn`), and that is how
# gradients find their way back to `factor`. Hand an optimizer the parameters, and it gets `factor`
# and never hears of `forgotten`.

# %% [markdown]
# ### Exercise 4: `SelfAttention` (16 minutes)
#
# In self-attention, query, key and value all come from the same words. Build it as a module.
#
# - In `__init__`, make the three parameters `w_query`, `w_key` and `w_value` with `torch.rand`, in
#   this order, for use as `x @ W`. (With `torch.rand`, the seed from above gives the same numbers;
#   in Exercise 5, `nn.Linear` draws better ones.)
# - `forward(words)` takes words [*batch, n, d_in] and returns the context [*batch, n, d_v].
# - `forward` also keeps the weights for you to look at, as the attribute `attn_weights`, [*batch,
#   n, n]. Keep `attn_weights.detach()`. A PyTorch result remembers how it was made, and that memory
#   holds on to the tensors it was made from. `.detach()` gives you the numbers alone.


# %%
class SelfAttention(nn.Module):
    """Scaled dot-product attention of words among themselves. Source: Vaswani et al. 2017, eq. 1.

    Example:
        >>> attention = SelfAttention(d_in=2, d_k=3, d_v=4)
        >>> [(name, list(value.shape)) for name, value in attention.named_parameters()]
        [('w_query', [2, 3]), ('w_key', [2, 3]), ('w_value', [2, 4])]
        >>> attention(torch.tensor([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])).shape
        torch.Size([3, 4])
        >>> attention.attn_weights[0]
        tensor([0.3333, 0.3333, 0.3333])
    """

    def __init__(self, d_in: int, d_k: int, d_v: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.w_query = nn.Parameter(torch.rand(d_in, d_k))
        self.w_key = nn.Parameter(torch.rand(d_in, d_k))
        self.w_value = nn.Parameter(torch.rand(d_in, d_v))
        ### END SOLUTION

    def forward(self, words: Float[Tensor, "*batch n d_in"]) -> Float[Tensor, "*batch n d_v"]:
        ### BEGIN SOLUTION
        query = words @ self.w_query
        key = words @ self.w_key
        value = words @ self.w_value
        attn_scores = query @ key.transpose(-2, -1) / key.shape[-1] ** 0.5
        attn_weights = torch.softmax(attn_scores, dim=-1)
        self.attn_weights = attn_weights.detach()
        return attn_weights @ value
        ### END SOLUTION


# %%
check(SelfAttention)

# %% [markdown]
# With the seed from above, the module draws the same projections, so "journey" gets the context you
# know:

# %%
torch.manual_seed(123)
attention = SelfAttention(d_in=3, d_k=2, d_v=2)
print(attention(words)[1])

# %% [markdown]
# Here is a batch of two sentences, the second with its words in reverse. **Predict before you
# run:** where is the context of "journey" in the second one, and is it the same?

# %%
predict("journey_reversed", ...)

# %%
batch = torch.stack([words, words.flip(0)])
print(attention(batch).shape)
print(attention(batch)[1].detach())

# %% [markdown]
# Second to last, and the same as before. This attention doesn't know what order the words come in;
# it looks only at what they are.

# %% [markdown]
# ### Exercise 5: `LinearSelfAttention` (6 minutes)
#
# This is the same module, the way you'll often see it: the projections are three `nn.Linear`s
# without bias, `query`, `key` and `value`. `forward` and `attn_weights` are as before.


# %%
class LinearSelfAttention(nn.Module):
    """SelfAttention whose projections are bias-free nn.Linear layers.

    Example:
        >>> attention = LinearSelfAttention(d_in=2, d_k=3, d_v=4)
        >>> [(name, list(value.shape)) for name, value in attention.named_parameters()]
        [('query.weight', [3, 2]), ('key.weight', [3, 2]), ('value.weight', [4, 2])]
        >>> attention(torch.ones(5, 2)).shape, attention.attn_weights.shape
        (torch.Size([5, 4]), torch.Size([5, 5]))
    """

    def __init__(self, d_in: int, d_k: int, d_v: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.query = nn.Linear(d_in, d_k, bias=False)
        self.key = nn.Linear(d_in, d_k, bias=False)
        self.value = nn.Linear(d_in, d_v, bias=False)
        ### END SOLUTION

    def forward(self, words: Float[Tensor, "*batch n d_in"]) -> Float[Tensor, "*batch n d_v"]:
        ### BEGIN SOLUTION
        query, key, value = self.query(words), self.key(words), self.value(words)
        attn_scores = query @ key.transpose(-2, -1) / key.shape[-1] ** 0.5
        attn_weights = torch.softmax(attn_scores, dim=-1)
        self.attn_weights = attn_weights.detach()
        return attn_weights @ value
        ### END SOLUTION


# %%
check(LinearSelfAttention)

# %% [markdown]
# ## The same numbers in both
#
# If two modules should do the same thing, you can compare them: give both the same parameters, and
# see whether the outputs agree. Lesson 6 does this with the attention layers of PyTorch and Keras.
# First, without copying:

# %%
torch.manual_seed(789)
linear_attention = LinearSelfAttention(d_in=3, d_k=2, d_v=2)
print("by nn.Parameter:", attention(words)[1].detach())
print("by nn.Linear:   ", linear_attention(words)[1].detach())

# %% [markdown]
# Different random numbers, different output. To change a parameter in place, write into it with
# `copy_`. Switch off the recording of gradients first: while it is on, PyTorch refuses to overwrite
# a parameter.

# %%
with torch.no_grad():
    stretch.factor.copy_(torch.tensor(5.0))
stretch.factor

# %% [markdown]
# ### Exercise 6: `copy_projections` (8 minutes)
#
# Copy the projections of a `SelfAttention` into a `LinearSelfAttention`, so that both give the same
# output. Mind the two conventions. The check brings its own modules, so this doesn't depend on your
# classes.


# %%
def copy_projections(source: "SelfAttention", target: "LinearSelfAttention") -> None:
    """Copy `w_query`, `w_key`, `w_value` of source into `query`, `key`, `value` of target.

    Example:
        >>> source, target = SelfAttention(3, 2, 4), LinearSelfAttention(3, 2, 4)
        >>> copy_projections(source, target)
        >>> torch.equal(source.w_query[0], target.query.weight[:, 0])
        True
    """
    ### BEGIN SOLUTION
    with torch.no_grad():
        target.query.weight.copy_(source.w_query.T)
        target.key.weight.copy_(source.w_key.T)
        target.value.weight.copy_(source.w_value.T)
    ### END SOLUTION


# %%
check(copy_projections)

# %%
copy_projections(attention, linear_attention)
print("by nn.Parameter:", attention(words)[1].detach())
print("by nn.Linear:   ", linear_attention(words)[1].detach())

# %% [markdown]
# ### When shapes keep quiet
#
# Forget the transpose, and `copy_` complains: [3, 2] doesn't fit into [2, 3]. That is luck. In many
# networks, the matrix of all heads together is square.
#
# With three features in and three out, is there an error?

# %%
torch.manual_seed(0)
ours, theirs = SelfAttention(3, 3, 3), LinearSelfAttention(3, 3, 3)
copy_projections(ours, theirs)
print("right:           ", torch.allclose(ours(words), theirs(words), atol=1e-6))
with torch.no_grad():
    theirs.query.weight.copy_(ours.w_query)  # no transpose
print("without transpose:", torch.allclose(ours(words), theirs(words), atol=1e-6))

# %% [markdown]
# No error, and a wrong result. A square matrix fits either way around. Only comparing the outputs
# exposed the mistake.

# %% [markdown]
# ## What you built
#
# You can now write the attention of the paper, for any batch, and as a module that can learn:
#
# - Three projections give each word a **query** (what it looks for), a **key** (what it can be
#   found by) and a **value** (what it tells). That's how "it" can find a ball.
# - A projection is `x @ W` or `W @ x`, and the matrix of one is the transpose of the other's.
#   `nn.Linear` stores the second kind.
# - Scores are divided by $\sqrt{d_k}$. Without scaling, they spread further as the number of
#   features grows: softmax saturates, and more and more queries lose their gradient. With scaling,
#   independent features with mean 0 and variance 1 give scores that spread by 1.
# - `shape[-1]` and `transpose(-2, -1)` mean the same thing with or without a batch.
# - A module owns its parameters. You can compare two modules that have the same parameters.
#
# One attention gives each word one set of weights, so each word takes home one mix. In lesson 3,
# several of them work side by side: multi-head attention.
#
# ### Test yourself
#
# 1. Why must a query and a key have the same number of features, while a value may have any?
# 2. You multiply $W_Q$ by 10 and divide $W_K$ by 10. What happens to the attention weights?
# 3. $d_k$ is 100, and you forget to scale. What does that do to the weights?
#
# <details>
# <summary>Answers</summary>
#
# 1. Query and key meet in a dot product, feature by feature. Values only get added to one another.
# 2. Nothing. Every query gets ten times as long and every key a tenth as long, so every dot product
#    stays the same. Only the product of the two matrices counts.
# 3. All differences between scores are 10 times too large, so every factor e^x between two weights
#    becomes (e^x)¹⁰. The order of the keys stays, but the best one often gets nearly everything.
#
# </details>

# %% [markdown]
# ### Challenge: `find_the_ball` (optional, 20 minutes)
#
# Back to the ball. Write a query and a key projection by hand, both [4, 2], so that a pronoun gives
# nearly all of its attention (0.95 or more) to the noun, a verb gives nearly all of its own to the
# pronoun, and every other word spreads its attention evenly. The features are those of `toy`: noun,
# verb, pronoun, round. Scale the scores as always. The check brings other sentences, so let the
# matrices find the words, wherever they are.
#
# Before you write numbers, give each of the two features of a query a meaning.


# %%
def find_the_ball(words: Float[Tensor, "n features"]) -> Float[Tensor, "n n"]:
    """Attention weights by hand-written projections.

    A pronoun finds the noun, a verb finds the pronoun, and other words look for nothing.

    Example: a noun, a verb and a pronoun. The pronoun gives the noun at least 0.95.
        >>> find_the_ball(torch.eye(3, 4))[2, 0] >= 0.95
        tensor(True)
    """
    ### BEGIN SOLUTION
    loud = 8.0
    # First feature: about nouns. Second feature: about pronouns.
    w_query = torch.tensor([[0.0, 0.0], [0.0, loud], [loud, 0.0], [0.0, 0.0]])
    w_key = torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    w_query, w_key = w_query.to(words.dtype), w_key.to(words.dtype)
    scores = (words @ w_query) @ (words @ w_key).T
    return torch.softmax(scores / 2**0.5, dim=-1)
    ### END SOLUTION


# %%
check(find_the_ball)

# %% [markdown]
# ### Further reading
#
# - [Vaswani et al. 2017](https://arxiv.org/abs/1706.03762), "Attention Is All You Need". You can
#   now read section 3.2.1, with footnote 4, and recognize every symbol.
# - [Alammar: *The Illustrated Transformer*](https://jalammar.github.io/illustrated-transformer/)
#   draws queries, keys and values as colored boxes. Good if formulas tire you.
# - [Raschka's article](https://sebastianraschka.com/blog/2023/self-attention-from-scratch.html)
#   walks through our second sentence with the same numbers.
# - [PyTorch: Autograd mechanics](https://docs.pytorch.org/docs/stable/notes/autograd.html) says
#   what a result remembers, and what `no_grad` switches off.

# %%
progress()
