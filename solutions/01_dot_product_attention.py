# %% [markdown]
# # 1. Dot-product attention
#
# "The trophy doesn't fit in the suitcase because it's too big." What is too big? You knew at once.
# Now change "big" to "small": suddenly "it" is the suitcase. (The riddle is Hector Levesque's.) A
# word alone doesn't mean much; it has to collect the rest from the words around it. How can that be
# done with numbers?
#
# Today's answer is called **attention**. In this lesson you build it from simple arithmetic and one
# exponential. Each word will look at every word, itself included, decide how much each one matters,
# and take home a mix. (Which word *should* matter is learned. Lesson 2 builds the parts that learn
# it.)
#
# | | |
# |---|---|
# | **You need** | Python and a little PyTorch: making a tensor, reading its shape |
# | **You can then** | explain where every number in attention comes from, and write it |
#
# Each exercise is followed by a check. Run it as often as you like. It tells you what is right, and
# it names your mistake if it's a known one. It tries your code on many inputs: in other sizes (even
# 1), and often with other number types.
#
# A cell like `predict("slope", ...)` asks what you expect. Run it, and click on your answer. Nobody
# grades your guess. But you'll remember the answer better if you've made a guess of your own first.
#
# New to notebooks? Shift+Enter runs a cell and goes to the next. Run them in order, from the top.
# After a restart, choose Run > Run All Above Selected Cell, and pick up where you left off.
#
# Stuck? `hint("softmax")` shows a hint, and one more each time you run it.
# `failing_case("softmax")` brings back the case that went wrong. After the last hint,
# `give_up("softmax")` lends you our solution for the rest of the notebook. You just won't get the
# points.

# %%
import torch
from jaxtyping import Float
from torch import Tensor

from autograder import check, failing_case, give_up, hint, predict, progress
from autograder.utils.costs import seconds
from autograder.utils.data import RIDDLE, riddle, riddle_weights, six_words
from autograder.utils.plots import (
    draw_attention,
    draw_keepdim,
    growth_slope,
    plot_attention,
    plot_bars,
    plot_growth,
    plot_matrix,
    plot_words,
)
from autograder.utils.views import view_heads

# %%
torch.set_num_threads(1)  # small tensors are fastest on one thread
torch.set_printoptions(precision=4, sci_mode=False)

# %% [markdown]
# Here is attention at work. Choose how the sentence ends, and see where "it" looks. (Click on other
# words, too.)

# %%
view_heads(
    torch.stack([riddle_weights("big"), riddle_weights("small")]),
    [*RIDDLE, "…"],
    titles=["it is too big", "it is too small"],
    opens_on="it",
    caption="Where “it” looks depends on how the sentence ends.",
)

# %% [markdown]
# No rule says what "it" stands for: "it" asks, and the other words answer. At the end of this
# lesson you'll compute the same weights with functions of your own. (Here, we set the words'
# numbers by hand. From lesson 5 on, models find such numbers themselves.)

# %% [markdown]
# ## Six words, three features each
#
# A network doesn't see letters. Real models cut a text into **tokens** (words, pieces of words,
# punctuation) and turn each token into a vector: a list of numbers, its **features**. They learn
# hundreds of features or more. In our sentences every token is a whole word, and three features are
# enough, so you can follow every number by eye. (The six words and their numbers come from
# Sebastian Raschka's *Build a Large Language Model (From Scratch)*, 2024, so you can compare.)

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
# ([Luong et al. 2015](https://arxiv.org/abs/1508.04025) call it the *dot* score.)
#
# In PyTorch, `a @ b` is the dot product of two vectors. Where both features are large, a lot gets
# added. Where one is near zero, almost nothing does. Where their signs differ, something gets
# subtracted.
#
# **Predict before you run:** a = [1, 2] meets [2, 1], and then [2, −3]. Which of the two dot
# products is larger? Is one negative?

# %%
predict("two_dot_products", ...)

# %%
a = torch.tensor([1.0, 2.0])
print(a @ torch.tensor([2.0, 1.0]))
print(a @ torch.tensor([2.0, -3.0]))

# %% [markdown]
# The first is 1·2 + 2·1 = 4. In the second, the second features have opposite
# signs: 1·2 − 2·3 = −4.
#
# One more tool before you start: `torch.stack` makes one tensor from a list of tensors of the same
# shape. (And a loop over a matrix, `for row in matrix`, visits its rows.)

# %%
torch.stack([torch.tensor(4.0), torch.tensor(-4.0)])

# %% [markdown]
# ### Exercise 1: `query_scores` (8 minutes)
#
# Score every word against one query. Use a loop, one dot product at a time, so that you've done it
# by hand once. The first line says which shapes go in and come out: `Float[Tensor, "n d"]` is a
# tensor of n rows (words) and d columns (features). (In `" d"`, the space means nothing; it only
# keeps code checkers quiet.)


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
# ### Alike, or just long?
#
# Geometry says what a dot product measures. With θ for the angle between the two vectors:
#
# $$q \cdot x = |q| \, |x| \cos\theta$$
#
# The cosine is 1 when both point the same way and 0 when they are at right angles. It's about
# likeness alone. But the lengths |q| and |x| count too. (`norm` is the length of a vector.)
#
# **Predict before you run:** "Your" scores higher than "with". Which of them points more in the
# direction of "journey"?

# %%
predict("whose_direction", ...)

# %%
lengths = words.norm(dim=-1)
cosines = scores / (lengths * journey.norm())
print("lengths:", lengths)
print("cosines:", cosines)

# %% [markdown]
# "with" does, by far: its cosine is 0.9817, and that of "Your" is 0.7808. But "with" is short,
# 0.7026 against 0.9997, so it gets the lower score. A dot product rewards words that point your
# way, and the longer of those even more.
#
# The attention of this course keeps the lengths in. A network can put them to use: it can lengthen
# the words that matter, and then any word that points their way looks at them first.

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
# scores cancel, as 2, 1 and −3 do?

# %%
predict("scores_that_cancel", ...)

# %%
for s in (torch.tensor([2.0, 1.0, -1.0]), torch.tensor([2.0, 1.0, -3.0])):
    print(s / s.sum())

# %% [markdown]
# In the first line, one share is negative and another is 1, the entire mix. In the second, the sum
# is 0 and every share is infinite. In real models, many features are negative, and so are many
# scores.
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
# What is e¹⁰⁰ in a 32-bit float, whose largest number is about 3.4 · 10³⁸, and what becomes of the
# weights?

# %%
predict("e_to_100", ...)

# %%
large = torch.tensor([100.0, 99.0, 98.0])
print(large.exp())
print(large.exp() / large.exp().sum())

# %% [markdown]
# The exponential overflows to infinity, and infinity divided by infinity is NaN, "not a number".
# NaN spreads: almost anything computed from it is NaN too.
#
# What saves us is that the weights depend only on the *differences* between scores. If you subtract
# the same number *m* from all scores, you divide both the top and the bottom of the fraction by eᵐ.
# So subtract the largest score. Then the largest exponent is 0, and e⁰ = 1 can't overflow.
# (The smallest may round to 0. That does no harm: such a weight is as good as none.)

# %%
shifted = large - large.max()
print(shifted, shifted.exp() / shifted.exp().sum())

# %% [markdown]
# ### Many rows at once
#
# Soon there will be many rows of scores, and each row needs its own sum. `sum(dim=-1)` adds along
# the last dimension, so it gives one number per row. But that dimension is then gone. With
# `keepdim=True` it stays, with size 1, and the sums form a column next to the rows:

# %%
table = torch.tensor([[1.0, 3.0], [1.0, 1.0], [4.0, 6.0]])
print(table.sum(dim=-1).shape, table.sum(dim=-1, keepdim=True).shape)
table / table.sum(dim=-1, keepdim=True)

# %% [markdown]
# A dimension of size 1 stretches to fit (this is called **broadcasting**), so each row got divided
# by its own sum. And without `keepdim`? Then it depends on the number of rows:

# %%
try:
    table / table.sum(dim=-1)
except RuntimeError as error:
    print(error)
print(table[:2] / table[:2].sum(dim=-1))

# %% [markdown]
# PyTorch lines up shapes from the right: [3, 2] and [3] don't fit. With two rows, [2, 2] and [2] do
# fit, and that's worse: the sums lie down as a row, and each *column* gets divided by one of them.
# No error, wrong shares.

# %%
draw_keepdim(caption="A sum divides the numbers of its color: a row or, without keepdim, a column.")

# %% [markdown]
# ### Exercise 2: `softmax` (18 minutes)
#
# Write softmax so that it survives large scores and works on many rows at once. `dim` is the
# dimension along which the weights sum to 1; usually it is the last one, −1. Each row needs its own
# maximum and its own sum. `amax(dim)` finds the largest number along a dimension, and it takes
# `keepdim=True` as `sum` does. (PyTorch's own softmax is off limits in this exercise.)
#
# In the annotation, the star in `"*batch n"` means *any number of dimensions here, even none*.
# Scores may come as [n], as [batch, n], or with more dimensions in front.
#
# Here, and in most exercises that follow, you earn a point for keeping your result connected to its
# inputs. A tensor can remember what it was computed from, and training, in lesson 2, follows that
# memory back. `torch.tensor(…)` and `.item()` forget it.


# %%
def softmax(scores: Float[Tensor, "*batch n"], dim: int = -1) -> Float[Tensor, "*batch n"]:
    """Weights from 0 to 1 that sum to 1 along `dim`, for finite scores of any size.

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
# 0.2278 from the sum. That isn't always so. Which recipe is more generous to the largest score?

# %%
for s in (torch.tensor([0.1, 0.2, 0.3]), torch.tensor([1.0, 2.0, 8.0])):
    print("by the sum:", s / s.sum(), " softmax:", softmax(s))

# %% [markdown]
# It depends. In the first line, it's the sum, 0.5000 against 0.3672. In the second, it's softmax,
# 0.9966 against 0.7273. Dividing by the sum looks at *ratios*: 0.3 is three times 0.1. Softmax
# looks at *differences*: 0.3 is only 0.2 more than 0.1, but 8 is ahead by 6. And differences make
# sense whatever the signs are.

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
# Add up the words, each multiplied by its weight. `torch.zeros_like(words[0])` makes zeros in the
# shape of one word to start from, and `zip(a, b, strict=True)` takes the rows of two tensors in
# pairs.


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
# Each point is a word, placed by its first two features and colored by its weight, with an arrow
# from zero. The shaded area is everything that lies between the words. The context (the star) can
# never leave it: it is an average, and positive weights that sum to 1 can't make anything else.
# Dividing by the sum makes no such promise: a word with a negative share pushes the context away.
#
# This is how attention came to translation. Most early neural translators squeezed every sentence,
# whether it had five words or fifty, into one vector of fixed size, and many did badly on long
# sentences. [Bahdanau, Cho and Bengio (2014)](https://arxiv.org/abs/1409.0473) suspected that this
# vector was a bottleneck. They kept one vector for every word of the sentence and let the
# translator take a new weighted average of those vectors for each word it wrote.

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
# matrix. (`A.T` is the **transpose** of a matrix: its rows become columns.)

# %% [markdown]
# ### Exercise 4: `attention_scores` (4 minutes)
#
# Compute all scores. A single matrix product is enough.


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
# ## Attention in three lines
#
# Scores, weights, context: you have all the parts.
#
# $$\text{context} = \text{softmax}(X X^\top)\, X$$
#
# For one word, here is all of it, in numbers you know:

# %%
draw_attention(
    words,
    labels,
    query=1,
    caption="How “journey” collects its context: one score and one weight for each word.",
)

# %% [markdown]
# For all words at once, the scores and the weights are matrices with a row for each query.
#
# ### Exercise 5: `simple_attention` (12 minutes)
#
# Return the context vectors of all words and the weights that made them. From here on, you may use
# `torch.softmax(scores, dim=-1)`. It is as stable as yours, and with it, this exercise doesn't
# depend on your earlier ones.


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
# The same weights again, one query at a time. Point at a word on the left, or press the arrow keys:

# %%
view_heads(
    attn_weights, labels, caption="Where a word looks: the thicker a line, the larger the weight."
)

# %% [markdown]
# A word doesn't always favor itself: "one" gives "starts" more than it keeps, and "with" gives most
# to "journey". Both favorites are long.
#
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
    caption="The same weights transposed, as if nothing had happened: rows no longer sum to 1.",
)

# %% [markdown]
# So no test on symmetric scores can see a transpose *before* softmax. From lesson 2 on, queries and
# keys come from different matrices. The scores are no longer symmetric, so a test can catch such a
# mistake.

# %% [markdown]
# ## Back to the riddle
#
# Now you can take the picture at the top apart. Each word of the riddle has three features: does it
# go into things, does it hold things, does it talk about size? "It" only asks about size. So a
# first round of attention brings it "big" or "small". What "it" heard becomes its query in a second
# round, in which the size feature no longer counts.

# %%
for word, features in zip(*riddle("big"), strict=True):
    print(f"{word:10}", features)

# %%
looks = {}
for ending in ("big", "small"):
    names, sentence = riddle(ending)
    it = sentence[names.index("it")]
    heard = context_vector(softmax(query_scores(it, sentence)), sentence)
    looks[f"too {ending}"] = softmax(query_scores(heard[:2], sentence[:, :2]))
    print(f"too {ending}: “it” heard", heard)

# %%
plot_bars(
    looks,
    [*RIDDLE, "…"],
    caption="Where “it” looks in the second round: your functions, the weights from the top.",
)

# %% [markdown]
# "Big" goes with the thing that has to go in, "small" with the thing that has to hold it. One round
# isn't enough: the words have to talk to each other before "it" can ask the right question. Large
# models have dozens of rounds, called **layers**.
#
# Two things were done by hand here: the features, and which of them count in the second round. Both
# can be learned. From lesson 2 on, matrices choose what counts.

# %% [markdown]
# ## What you built
#
# You can now take any row of vectors and let each of them collect from all of them:
#
# - A **score** is a dot product. It is large when query and key are long and point the same way.
# - **Softmax** turns a row of scores into weights that are positive and sum to 1. Subtracting the
#   maximum keeps large scores from overflowing.
# - The **context vector** is the weighted sum of the words.
# - One **matrix product** replaces both loops. There are n² scores either way.
#
# This attention has nothing to learn. A score depends on nothing but what the two words are, and
# it's the same in both directions. In lesson 2, each word gets three roles (query, key and value),
# and each role gets a matrix that can be learned.
#
# ### Test yourself
#
# 1. You add 5 to all six scores of "journey". What happens to its weights with softmax? And with
#    the sum?
# 2. You make the query twice as long. What happens to its scores, and to its weights?
# 3. Can the context of "journey" have a first feature larger than that of every word?
#
# <details>
# <summary>Answers</summary>
#
# 1. Softmax gives the same weights, because only differences count. With the sum, the shares get
#    more even: a lead of 0.5 matters less between 6 and 6.5 than between 1 and 1.5.
# 2. All scores double, and so do their differences. The order stays, but the weights get more
#    uneven: the leader gains.
# 3. No. The context is an average of the words, feature by feature, so it can't exceed the largest,
#    0.77.
#
# </details>

# %% [markdown]
# ### What the loops cost (optional)
#
# n words make n² scores, with two loops or with one matrix product: twice the words, four times the
# scores. **Predict before you run:** in a plot with logarithmic axes, what is the slope of a line
# that grows with n²? (`seconds(f, x)` calls `f(x)` several times and returns the shortest time,
# because whatever else the computer is doing can only make a call slower.)

# %%
predict("slope", ...)

# %%
torch.manual_seed(0)
sizes = [4, 8, 16, 32]
sentences = [torch.rand(n, 3) for n in sizes]
loops = [seconds(scores_with_loops, sentence, repeats=8) for sentence in sentences]
matrix = [seconds(attention_scores, sentence, repeats=8) for sentence in sentences]
counts = [n * n for n in sizes]
print(f"dot products: {counts}, slope {growth_slope(sizes, counts):.2f}")

# %% reason="timings differ from run to run" tags=["nbval-ignore-output"]
plot_growth(
    sizes,
    {"two loops": loops, "matrix product": matrix},
    caption="Seconds to compute all scores of a sentence, on logarithmic axes.",
)

# %% reason="timings differ from run to run" tags=["nbval-ignore-output"]
print(f"slope of the loops: {growth_slope(sizes, loops):.2f}")
print(f"32 words: the matrix product is {loops[-1] / matrix[-1]:.0f} times as fast")

# %% [markdown]
# The number of dot products is exact, and its slope is 2. On a quiet machine, the loops stay a
# little below that, because each row has a fixed cost, too. A busy one can bend the line either
# way. The matrix product does the same n² dot products, but in one call to compiled code. Up to 32
# words, the call itself costs more than the arithmetic, so this line is still nearly flat.

# %% [markdown]
# ### Challenge: `add_score` (optional, 20 minutes)
#
# Softmax needs three passes over each row: for the maximum, for the sum, and to divide. Can the
# first two passes be combined into one? Suppose the scores arrive one by one, and you may keep only
# two numbers: the largest score so far, and the sum of $e^{\text{score} - \text{largest}}$ so far.
# After the last score, you must know the maximum and the sum, and nothing may overflow on the way.
# Before the first score, the largest is −∞ and the sum is 0. The scores themselves are finite.
#
# What becomes of the old sum when a larger score arrives? That's the whole puzzle. To let n rows
# run side by side, each argument holds a number for each row.


# %%
def add_score(
    largest: Float[Tensor, " n"], total: Float[Tensor, " n"], score: Float[Tensor, " n"]
) -> tuple[Float[Tensor, " n"], Float[Tensor, " n"]]:
    """The largest score and the sum of exp(score - largest), with one more score.

    largest and total describe the scores so far; each argument has a number for each of n rows.

    Example: after the scores 1 and 3, the sum is exp(-2) + 1. Then comes 4.
        >>> add_score(torch.tensor([3.0]), torch.tensor([1.1353]), torch.tensor([4.0]))
        (tensor([4.]), tensor([1.4177]))
    """
    ### BEGIN SOLUTION
    new_largest = torch.maximum(largest, score)
    rescaled = total * (largest - new_largest).exp()
    return new_largest, rescaled + (score - new_largest).exp()
    ### END SOLUTION


# %%
check(add_score)

# %% [markdown]
# Go over the scores once more, divide each $e^{\text{score} - \text{largest}}$ by the last sum, and
# you have the weights: two passes instead of three. Milakov and Gimelshein published this in 2018;
# fast attention on graphics cards is built on it (lesson 9).
#
# ### Further reading
#
# - [Bahdanau, Cho and Bengio 2014](https://arxiv.org/abs/1409.0473), where attention in translation
#   began. Figure 3 shows which French word looked at which English one.
# - [Luong, Pham and Manning 2015](https://arxiv.org/abs/1508.04025) compare the dot product with
#   other scores. Read section 3.1.
# - [3Blue1Brown: Attention in transformers](https://www.3blue1brown.com/lessons/attention) shows in
#   moving arrows what you computed here. Good before lesson 2.
# - [Raschka: *Build a Large Language Model (From
#   Scratch)*](https://github.com/rasbt/LLMs-from-scratch) has the code of the book that our six
#   words come from. Chapter 3 is about attention.
# - [Milakov and Gimelshein 2018](https://arxiv.org/abs/1805.02867) answer the challenge in a few
#   pages.

# %%
progress()
