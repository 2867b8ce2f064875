# %% [markdown]
# # 7. Positions
#
# **Why does a model that is always right on texts of 32 words fail on texts of 64?** The words are
# the same, the rule is the same, and the answer is no farther away. What changed is *where* the
# words are. Attention itself has no sense of place. Somebody has to tell it where the words are,
# and there are several ways to do that. In this lesson you meet five of them, build four, find out
# what each promises, and measure what it delivers.
#
# | | |
# |---|---|
# | **You need** | Lessons 3 and 4: heads and masks; a little sine and cosine |
# | **You can then** | give attention a sense of order in five ways, and test a rotary embedding |
#
# Each exercise is followed by a check; `hint`, `failing_case` and `give_up` help as in lesson 1.

# %%
import math

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from autograder import check, failing_case, give_up, hint, predict, progress
from autograder.utils.data import CURVES, LENGTHS, six_words
from autograder.utils.models import WRONG_ROTATIONS
from autograder.utils.plots import plot_lines, plot_matrix
from autograder.utils.views import view_dial

# %%
torch.manual_seed(0)
torch.set_num_threads(1)  # small tensors are fastest on one thread
torch.set_printoptions(precision=4, sci_mode=False)

# %% [markdown]
# ## Attention sees a set
#
# Here is attention again, with a mask and an argument, `bias`, for what this lesson adds to the
# scores.


# %%
def attend(query, key, value, keep=None, bias=0.0):
    """Context and weights; `bias` is added to the scores, which are [..., n_query, n_key]."""
    attn_scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5 + bias
    if keep is None:
        attn_weights = attn_scores.softmax(dim=-1)
    else:
        lowest = torch.finfo(attn_scores.dtype).min
        attn_weights = attn_scores.masked_fill(~keep, lowest).softmax(dim=-1)
        attn_weights = attn_weights.masked_fill(~keep, 0.0)
    return attn_weights @ value, attn_weights


# %% [markdown]
# Take the six words of lesson 1 and shuffle them. **Predict before you run:** what happens to their
# contexts?

# %%
predict("contexts_of_shuffled_words", ...)

# %%
labels, words = six_words()
shuffle = torch.tensor([5, 2, 0, 4, 1, 3])
shuffled = words[shuffle]
context, _ = attend(words, words, words)
context_of_shuffled, _ = attend(shuffled, shuffled, shuffled)
torch.allclose(context_of_shuffled, context[shuffle], atol=1e-6)

# %% [markdown]
# They are shuffled in the same way, and that is all. Each word meets the same words as before, so
# it gets the same context. To this attention, "Your journey starts" and "starts journey Your" are
# the same *set*.
#
# A causal mask brings in a little order, because each word then sees only itself and the words
# before it. **Predict before you run:** we swap the first two words. Which contexts change?

# %%
predict("which_contexts_change", ...)

# %%
causal = torch.ones(6, 6, dtype=torch.bool).tril()
swapped = words[[1, 0, 2, 3, 4, 5]]
before, _ = attend(words, words, words, causal)
after, _ = attend(swapped, swapped, swapped, causal)
for place in range(6):
    print(f"place {place}:", "changes" if (after - before)[place].norm() > 1e-6 else "stays")

# %% [markdown]
# Only the first two. Every word after them still sees the same words. So one causal layer knows
# *which* words came before, but not in what order. (Two layers know more: the second one reads
# contexts, and these depend on how many words each place could see. Keep that in mind for the end.)
#
# Where could positions enter? There are three common ways in:
#
# - **add** something to the words, before the first layer;
# - **bias** the scores, in every layer;
# - **turn** queries and keys, in every layer.
#
# Here they are, as one interface. A scheme changes one of the three.


# %%
class Positions(nn.Module):
    """No positions at all. A scheme overrides one method."""

    def add(self, words):
        """Change the words, [batch, n, d_model], before the first layer."""
        return words

    def bias(self, n):
        """What to add to the scores, [n_heads, n, n]."""
        return 0.0

    def turn(self, x):
        """Change queries or keys, [batch, n_heads, n, d_head]."""
        return x


# %% [markdown]
# ## Added to the words
#
# The first Transformer added a vector to each word, made of sines and cosines:
#
# $$P_{p,\,2i} = \sin(p\,\theta_i) \qquad P_{p,\,2i+1} = \cos(p\,\theta_i) \qquad
# \theta_i = \text{base}^{-2i/d_{\text{model}}}$$
#
# (Vaswani et al. 2017, section 3.5; their base is 10000.) Think of a pair of columns as the hand of
# a clock that moves on by the angle $\theta_i$ with every word. The first hand turns fastest, by a
# whole radian, and each one after it is slower. **Predict before you run:** with 8 features, by how
# much does the last of the four hands turn with each word?

# %%
predict("the_last_hand", ...)

# %%
10000.0 ** (-torch.arange(0, 8, 2) / 8)

# %% [markdown]
# ### Exercise 1: `sinusoidal_positions` (10 minutes)
#
# Make the vectors for the first `n` places, in float32. You can write into every other column:
# `x[:, 0::2]` starts at column 0 and takes steps of two.


# %%
def sinusoidal_positions(n: int, d_model: int, base: float = 10000.0) -> Float[Tensor, "n d_model"]:
    """Sines in the even columns, cosines in the odd ones; d_model is even.

    Source: Vaswani et al. 2017, section 3.5.

    Example:
        >>> sinusoidal_positions(3, 4, base=100.0)
        tensor([[ 0.0000,  1.0000,  0.0000,  1.0000],
                [ 0.8415,  0.5403,  0.0998,  0.9950],
                [ 0.9093, -0.4161,  0.1987,  0.9801]])
    """
    ### BEGIN SOLUTION
    place = torch.arange(n)[:, None]
    angle = place * base ** (-torch.arange(0, d_model, 2) / d_model)
    positions = torch.empty(n, d_model)
    positions[:, 0::2] = angle.sin()
    positions[:, 1::2] = angle.cos()
    return positions
    ### END SOLUTION


# %%
check(sinusoidal_positions)

# %%
positions = sinusoidal_positions(32, 16)
plot_matrix(
    positions.T,
    row_name="feature",
    column_name="place",
    caption="Sinusoidal positions, one column per place. Each pair of rows is a hand, and each "
    "hand turns more slowly than the one above.",
)

# %%
plot_matrix(
    positions @ positions.T,
    row_name="place",
    column_name="place",
    caption="The dot product of every place with every place.",
    alt="A matrix with diagonal stripes: 8 where a place meets itself, and on either side, waves "
    "of smaller numbers that stay the same along each diagonal.",
)

# %% [markdown]
# Look at the stripes. **Predict before you run:** is the dot product of places 3 and 5 the same as
# that of places 20 and 22?

# %%
predict("two_places_apart", ...)

# %%
print(positions[3] @ positions[5], positions[20] @ positions[22])

# %% [markdown]
# Yes: sin a · sin b + cos a · cos b = cos(a − b), so only the distance counts. The authors hoped
# for something like it. A step of *k* places turns each hand by a fixed angle, wherever the hand
# starts. That's a linear map, so they expected that "it would allow the model to easily learn to
# attend by relative positions" (same section). But the model never sees this dot product by itself.
# The vectors are added to the words and then multiplied by W_Q and W_K, and nothing makes these
# matrices keep the stripes.
#
# BERT and GPT-2 learn a vector for each place instead: a table with a row per place. The authors of
# the Transformer tried both, with "nearly identical results". One difference shows without any
# training:

# %%
table = nn.Embedding(32, 16)
try:
    table(torch.arange(33))
except IndexError as error:
    print(error)

# %% [markdown]
# A table ends. Place 32, the thirty-third, has no row.


# %%
class Sinusoidal(Positions):
    def add(self, words):
        return words + sinusoidal_positions(*words.shape[-2:])


class Learned(Positions):
    """A vector for each place, from 0 to n_places − 1."""

    def __init__(self, n_places, d_model):
        super().__init__()
        self.table = nn.Parameter(torch.randn(n_places, d_model) / 2)

    def add(self, words):
        return words + self.table[: words.shape[-2]]


# %% [markdown]
# ## Added to the scores
#
# What matters is often not the place but the **distance**: one word back, three words back. So why
# not tell the scores directly? Learn one number for each distance and head, and add it to every
# score at that distance. Far away, one hopes, exact distances hardly matter: on each side, all
# distances of `max_distance` or more share one number. (Clipping comes from Shaw et al. 2018, who
# added vectors to keys and values; a plain number for each head is what T5 adds, Raffel et al.
# 2020.)
#
# The distance is key − query, so it's negative for the words before:

# %%
place = torch.arange(5)
distance = place - place[:, None]
print(distance)
print(distance.clamp(-2, 2) + 2)

# %% [markdown]
# Clip a distance at 2, add 2, and you have a row number for a table with 2 · 2 + 1 = 5 rows. And
# indexing a table with a matrix of row numbers gives a matrix of rows: `table[rows]` is [5, 5,
# n_heads].
#
# ### Exercise 2: `relative_bias` (12 minutes)
#
# Look up the bias of every query with every key. As in lesson 4, when a model writes word by word,
# only its newest words ask: the queries are the *last* `n_query` of `n_key` places.


# %%
def relative_bias(
    table: Float[Tensor, "n_rows n_heads"], n_query: int, n_key: int
) -> Float[Tensor, "n_heads n_query n_key"]:
    """The bias for each score, by its distance (key − query), in the dtype of the table.

    table: 2 · max_distance + 1 rows; row 0 is for the distance −max_distance and all below.

    Example:
        >>> table = torch.tensor([[10.0], [20.0], [30.0]])  # one head, max_distance 1
        >>> relative_bias(table, 2, 4)
        tensor([[[10., 10., 20., 30.],
                 [10., 10., 10., 20.]]])
    """
    ### BEGIN SOLUTION
    max_distance = len(table) // 2
    place = torch.arange(n_key)
    distance = place - place[n_key - n_query :, None]
    row = distance.clamp(-max_distance, max_distance) + max_distance
    return table[row].permute(2, 0, 1)
    ### END SOLUTION


# %%
check(relative_bias)

# %% [markdown]
# ### A bias that needs no learning
#
# ALiBi (Press, Smith and Lewis 2022, "Train Short, Test Long") learns nothing. It subtracts a
# little for every word of distance, and each head h has its own **slope** $m_h$: a head with a
# steep slope sees only what is near, one with a flat slope sees far.
#
# $$\text{bias}_{hij} = m_h \cdot (j - i) \qquad
# \text{for head } h, \text{ a query at place } i \text{ and a key at place } j$$
#
# With 8 heads, the slopes are ½, ¼, … down to 1/256. With *n* heads, they're a geometric sequence
# that starts at $2^{-8/n}$ and uses that as its ratio, too. In the causal attention it was made
# for, j − i is never positive for a key that the mask leaves.
#
# What about 6 heads? The authors' code trusts only powers of two. For 6 heads it takes the 4 slopes
# of 4 heads, the largest power of two below. For the 2 that are missing, it goes to the next power,
# 8 heads, takes the first slope, the third, and so on, and puts them at the end.
#
# ### Exercise 3: `alibi_bias` (16 minutes)
#
# Make the bias, in float32. Use the slopes from the authors' code. (`math.log2` is the logarithm to
# base 2.) Again, the queries are the last `n_query` of `n_key` places. The formula holds for every
# key, those after the query included: hiding them is the mask's job.


# %%
def alibi_bias(n_heads: int, n_query: int, n_key: int) -> Float[Tensor, "n_heads n_query n_key"]:
    """Slope times distance (key − query), for each head.

    Source: Press, Smith and Lewis 2022, and `get_slopes` in the authors' code.

    Example: with six heads, the last two slopes are the first and the third of eight heads.
        >>> alibi_bias(6, 1, 2)[:, 0, 0]
        tensor([-0.2500, -0.0625, -0.0156, -0.0039, -0.5000, -0.1250])
    """
    ### BEGIN SOLUTION

    def slopes(n):  # n is a power of two
        return [2 ** (-8 * (head + 1) / n) for head in range(n)]

    power = 2 ** int(math.log2(n_heads))
    extra = slopes(2 * power)[0::2][: n_heads - power]
    slope = torch.tensor(slopes(power) + extra)
    place = torch.arange(n_key)
    distance = place - place[n_key - n_query :, None]
    return slope[:, None, None] * distance
    ### END SOLUTION


# %%
check(alibi_bias)

# %% [markdown]
# The paper has a sentence for any number of heads: "for n heads, our set of slopes is the geometric
# sequence that starts at $2^{-8/n}$ and uses that same value as its ratio." **Predict before you
# run:** for which numbers of heads do the paper's sentence and the authors' code agree?

# %%
predict("paper_and_code", ...)

# %%
for n_heads in (4, 6, 8, 12):
    by_code = -alibi_bias(n_heads, 1, 2)[:, 0, 0]
    by_paper = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    print(n_heads, "heads:", torch.allclose(by_code, by_paper), by_paper[:3], by_code[:3])

# %% [markdown]
# Only for powers of two. Which one is better? A comment in the code speaks of "good properties",
# but neither the code nor the paper measures any. Either way, a model needs the rule that it was
# trained with. Apple's MLX followed the paper's sentence, [a user saw that 12 heads got different
# slopes](https://github.com/ml-explore/mlx/issues/343), and the fix, two years later, [adopted the
# authors' code](https://github.com/ml-explore/mlx/pull/3071).


# %%
class Relative(Positions):
    def __init__(self, n_heads, max_distance):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(2 * max_distance + 1, n_heads))

    def bias(self, n):
        return 10 * relative_bias(self.table, n, n)  # times 10, or it would learn too slowly


# %%
class Alibi(Positions):
    def __init__(self, n_heads):
        super().__init__()
        self.n_heads = n_heads

    def bias(self, n):
        return alibi_bias(self.n_heads, n, n)


# %% [markdown]
# ## Turned
#
# The third way is the one that most large language models use now: **rotary position embedding**,
# RoPE (Su et al. 2021, section 3.2). Cut a query into pairs of features. Each pair is an arrow in a
# plane. Turn it by an angle that grows with the place:
#
# $$\begin{pmatrix} a' \\ b' \end{pmatrix} = \begin{pmatrix} \cos p\theta & -\sin p\theta \\
# \sin p\theta & \cos p\theta \end{pmatrix} \begin{pmatrix} a \\ b \end{pmatrix}$$
#
# Turn the keys the same way, and leave the values alone. By hand, for an arrow that points along
# the first axis, at places 0, 1 and 2, with θ = 1:

# %%
for p in (0.0, 1.0, 2.0):
    print(f"place {p:.0f}: ({math.cos(p):.4f}, {math.sin(p):.4f})")

# %% [markdown]
# What is this good for? Move both words, query and key, and keep the distance between them the
# same:

# %%
view_dial(
    query=(1.0, 0.4),
    key=(0.6, 1.0),
    caption="One pair of features. Move the query, then change the distance. When does the score "
    "change?",
)

# %% [markdown]
# Both arrows turn by the same angle, so the angle *between* them stays the same, and so do their
# lengths. The dot product doesn't care where the two are, only how far apart. What sinusoidal
# positions hope for, rotation guarantees.
#
# ### Exercise 4: `rotate` (18 minutes)
#
# Turn every pair of features, (0, 1), (2, 3) and so on. Pair i turns by $\theta_i =
# \text{base}^{-2i/d_{\text{head}}}$ per place, as the hands did above. `positions` says where each
# word is. The places don't have to be 0, 1, 2, …: new words may come after a long text. `x` may
# have any number of dimensions in front. Compute the angles in float32, whatever the dtype of `x`:
# half precision can't tell place 3000 from place 3001.


# %%
def rotate(
    x: Float[Tensor, "*batch n d_head"], positions: Int[Tensor, " n"], base: float = 10000.0
) -> Float[Tensor, "*batch n d_head"]:
    """Queries or keys, each pair of features (2i, 2i + 1) turned by position · θ_i, in x's dtype.

    Source: Su et al. 2021, section 3.4.2.

    Example: at place 0 nothing turns; at place 1, the first pair turns by 1 radian.
        >>> rotate(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([0, 1]))
        tensor([[1.0000, 0.0000],
                [0.5403, 0.8415]])
    """
    ### BEGIN SOLUTION
    d_head = x.shape[-1]
    theta = 1 / base ** (torch.arange(0, d_head, 2) / d_head)
    angle = positions[:, None] * theta
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
    ### END SOLUTION


# %%
check(rotate)

# %% [markdown]
# ### What can properties see?
#
# Suppose you had no numbers to compare with, only what must be true of *any* correct rotation. Here
# are three such **properties**:


# %%
def keeps_lengths(turn, x, y, place):
    return torch.allclose(turn(x, place).norm(dim=-1), x.norm(dim=-1), atol=1e-4)


def sees_distances_only(turn, x, y, place):
    scores = turn(x, place) @ turn(y, place).T
    return torch.allclose(turn(x, place + 5) @ turn(y, place + 5).T, scores, atol=1e-4)


def leaves_place_0_alone(turn, x, y, place):
    return torch.allclose(turn(x, place)[0], x[0], atol=1e-4)


# %% [markdown]
# And here are ten wrong rotations. (*Halves mixed with pairs* turns the two features of a pair by
# different angles. You'll see later where its name comes from.) **Predict before you run:** how
# many of the ten will fail at least one of the three properties?

# %%
print(*WRONG_ROTATIONS, sep="\n")

# %%
predict("found_by_properties", ...)

# %%
x, y = torch.randn(2, 8, 6, dtype=torch.float64)
place = torch.arange(8)
properties = [keeps_lengths, sees_distances_only, leaves_place_0_alone]
print(f"{'':32}lengths  distances  place 0")
for name, turn in {"yours": rotate, **WRONG_ROTATIONS}.items():
    holds = ["holds" if it_holds(turn, x, y, place) else "-" for it_holds in properties]
    print(f"{name:32}{holds[0]:9}{holds[1]:11}{holds[2]}")

# %% [markdown]
# Half of them. The other five pass all three, among them one with a different direction, one with a
# different base and one with a different exponent. They are rotations too, just not *this* one.
# Train a model with one of them, and it does fine. (Llama 3 has a base of 500,000, and GPT-NeoX
# turns only a quarter of the features.) Switch to another one after training, and it usually gets
# worse, sometimes only a little. (*One place too far* changes nothing: the shift cancels.) So
# properties tell you that your code makes sense, and a comparison with numbers tells you that it
# does what everybody else's does. You need both: a comparison tells you that something is wrong,
# and a property that fails gives you a hint about what.

# %% [markdown]
# ## Two layouts
#
# The paper turns neighbors: features 0 and 1, features 2 and 3. Hugging Face's Llama code turns the
# first feature of a head's first *half* together with the first feature of its second half, and so
# on: pairs (i, i + d_head/2). The angles are the same. Only the partners differ.
#
# ### Exercise 5: `rotate_halves` (8 minutes)
#
# Write this version. Again, compute the angles in float32.


# %%
def rotate_halves(
    x: Float[Tensor, "*batch n d_head"], positions: Int[Tensor, " n"], base: float = 10000.0
) -> Float[Tensor, "*batch n d_head"]:
    """Queries or keys, each pair of features (i, i + d_head/2) turned, in the dtype of x.

    Example: at place 1, features 0 and 2 turn by 1 radian, features 1 and 3 by 0.1.
        >>> rotate_halves(torch.tensor([[1.0, 1.0, 0.0, 0.0]]), torch.tensor([1]), base=100.0)
        tensor([[0.5403, 0.9950, 0.8415, 0.0998]])
    """
    ### BEGIN SOLUTION
    d_head = x.shape[-1]
    theta = 1 / base ** (torch.arange(0, d_head, 2) / d_head)
    angle = positions[:, None] * theta
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
    ### END SOLUTION


# %%
check(rotate_halves)

# %% [markdown]
# For training, it makes no difference which one you use: the features of a query have no order
# until training gives them one. But weights that were trained with one layout mean nothing to the
# other. Suppose somebody loads them anyway. **Predict before you run:** which scores stay right?

# %%
predict("which_scores_stay", ...)

# %%
torch.manual_seed(0)
x, y = torch.randn(2, 8, 16)
place = torch.arange(8)
right = rotate(x, place) @ rotate(y, place).T
wrong = rotate_halves(x, place) @ rotate_halves(y, place).T
plot_matrix(
    (wrong - right).abs(),
    caption="How far scores are off if weights for one layout meet the code of the other.",
    row_name="query",
    column_name="key",
    value_name="difference",
)

# %% [markdown]
# Those on the diagonal: at distance 0, query and key turn alike, and any turn cancels out. The
# others are off, some by several units. (Scaled by √16, that's up to 2, which is a lot for
# softmax.) And under a causal mask, the first word sees only itself, so it comes out right whatever
# the layout. That's what this mistake looks like in the wild: no error, and often a good start. In
# [llama2.c](https://github.com/karpathy/llama2.c/pull/286), a converted model started "printing
# gibberish after ~20 or more tokens". In
# [llama.cpp](https://github.com/ggml-org/llama.cpp/pull/22611), one converter forgot to reorder the
# weights, and the perplexity (*e* to the power of the loss) went from 44 to 4419. And in a
# [well-known book's code](https://github.com/rasbt/LLMs-from-scratch/issues/746), a Llama 2 wrote
# fluent text that drifted away from the correct output after about 20 words. That one was found by
# comparing with another implementation.
#
# The remedy is to reorder the rows of W_Q and W_K once, when the weights are converted. (If the
# projections have biases, those are reordered the same way.)
#
# ### Exercise 6: `to_halves` (14 minutes)
#
# Reorder a query or key projection that was trained with `rotate`, so that `rotate_halves` gives
# the same scores. As in lesson 6, row *i* of the weight makes feature *i*, and each head owns its
# own rows. Within a head, which row must come first? Which second? (`view`, `transpose` and
# `reshape` will do.)


# %%
def to_halves(
    weight: Float[Tensor, "n_heads*d_head d_model"], n_heads: int
) -> Float[Tensor, "n_heads*d_head d_model"]:
    """The rows of each head, in the order that `rotate_halves` needs.

    Example: one head of six features.
        >>> to_halves(torch.arange(6.0)[:, None], n_heads=1).flatten()
        tensor([0., 2., 4., 1., 3., 5.])
    """
    ### BEGIN SOLUTION
    rows, d_model = weight.shape
    pairs = weight.view(n_heads, rows // n_heads // 2, 2, d_model)
    return pairs.transpose(1, 2).reshape(rows, d_model)
    ### END SOLUTION


# %%
check(to_halves)

# %%
w_query, w_key = torch.randn(2, 16, 16)
words = torch.randn(8, 16)
right = rotate(words @ w_query.T, place) @ rotate(words @ w_key.T, place).T
queries, keys = words @ to_halves(w_query, 1).T, words @ to_halves(w_key, 1).T
torch.allclose(rotate_halves(queries, place) @ rotate_halves(keys, place).T, right, atol=1e-3)

# %% [markdown]
# ## Attention that turns
#
# ### Exercise 7: `RotarySelfAttention` (18 minutes)
#
# Put `rotate` into multi-head self-attention.
#
# - Four `nn.Linear`s from d_model to d_model, `query`, `key`, `value` and `output`, with bias, as
#   in lesson 3.
# - `forward(x, positions=None, keep=None)`: `x` is [batch, n, d_model], and `positions` [n], the
#   same for every text. Without them, the words are at 0, 1, 2, …. `keep` is [n, n] or [batch, n,
#   n], True where a query may attend to a key.
# - A query that may attend to nothing gets weights of 0 (so its result is the bias of `output`),
#   and no NaN in its gradient, as in lesson 4.
# - The weights of all heads, detached, stay in `attn_weights`: [batch, n_heads, n, n].
#
# `attend` from above takes a mask that fits [batch, n_heads, n, n], so a mask for each text needs a
# dimension for the heads first. Without `keep`, every word sees all. This exercise builds on
# `rotate`.


# %%
class RotarySelfAttention(nn.Module):
    """Multi-head self-attention with rotary positions; d_model / n_heads is even.

    Example: scores depend on distances alone, so moving the whole text changes nothing.
        >>> attention = RotarySelfAttention(d_model=8, n_heads=2)
        >>> x = torch.randn(1, 3, 8)
        >>> torch.allclose(attention(x), attention(x, torch.tensor([7, 8, 9])), atol=1e-5)
        True
    """

    def __init__(self, d_model: int, n_heads: int, base: float = 10000.0) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.n_heads, self.base = n_heads, base
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.output = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def heads_of(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        ### END SOLUTION

    def forward(
        self,
        x: Float[Tensor, "batch n d_model"],
        positions: Int[Tensor, " n"] | None = None,
        keep: Bool[Tensor, "*batch n n"] | None = None,
    ) -> Float[Tensor, "batch n d_model"]:
        ### BEGIN SOLUTION
        if positions is None:
            positions = torch.arange(x.shape[1])
        if keep is not None and keep.dim() == 3:
            keep = keep[:, None]
        query = rotate(self.heads_of(self.query(x)), positions, self.base)
        key = rotate(self.heads_of(self.key(x)), positions, self.base)
        context, attn_weights = attend(query, key, self.heads_of(self.value(x)), keep)
        self.attn_weights = attn_weights.detach()
        return self.output(context.transpose(1, 2).flatten(2))
        ### END SOLUTION


# %%
check(RotarySelfAttention)

# %% [markdown]
# Lesson 6 ended with a bias that no comparison could see: the key's. It added the same number to
# all scores of a query. **Predict before you run:** does the key's bias still do that, in
# `RotarySelfAttention`?

# %%
predict("rotated_bias", ...)

# %%
torch.manual_seed(0)
attention, words = RotarySelfAttention(d_model=8, n_heads=2), torch.randn(1, 5, 8)
before = attention(words)
with torch.no_grad():
    attention.key.bias.fill_(7.0)
print(f"the result moves by {(attention(words) - before).abs().max():.4f}")

# %% [markdown]
# No: each key's bias is turned by the key's own place, so it adds a different number to each score.


# %%
class Rotary(Positions):
    def __init__(self, base=10000.0):
        super().__init__()
        self.base = base

    def turn(self, x):
        return rotate(x, torch.arange(x.shape[-2]), self.base)


# %% [markdown]
# ### Side by side
#
# What does each scheme do to the scores if only the places differ? For the two that are added to
# the words, here are the dot products of the vectors themselves; for the two that are added to the
# scores, what they add; and for rotary, one word that is turned to every place. (Each map is
# divided by its largest number. The two that are learned have random numbers here. ALiBi comes with
# its causal mask: a key that it hides looks like the farthest one.)

# %%
torch.manual_seed(0)
n, same = 24, torch.ones(24, 16)
sinusoidal, learned = sinusoidal_positions(n, 16), Learned(n, 16).table.detach()
rotated = rotate(same, torch.arange(n))
alibi, hidden = alibi_bias(4, n, n)[0], torch.ones(n, n, dtype=torch.bool).triu(1)
maps = {
    "sinusoidal": sinusoidal @ sinusoidal.T,
    "learned": learned @ learned.T,
    "relative, up to 8": relative_bias(torch.randn(17, 1), n, n)[0],
    "ALiBi, head 0 of 4": alibi.masked_fill(hidden, alibi.min()),
    "rotary": rotated @ rotated.T,
}

# %%
plot_matrix(
    torch.stack([scores / scores.abs().max() for scores in maps.values()]),
    titles=list(maps),
    row_name="query",
    column_name="key",
    caption="What places alone do to the scores. Along a diagonal, all distances are the same.",
    alt="Five maps. Sinusoidal, relative, ALiBi and rotary have diagonal stripes, and sinusoidal "
    "and rotary look the same. ALiBi is pale above the diagonal. Learned has a strong diagonal and "
    "no pattern beside it.",
)

# %% [markdown]
# Four of them have diagonal stripes: they see distances. (For sinusoidal, that holds for the
# vectors by themselves. A word added to them breaks the stripes, and so does a projection.) A
# learned table has to learn even that. And did you notice? For this word, rotary's map is exactly
# the one that sinusoidal promises.

# %% [markdown]
# ## What do they deliver?
#
# Back to the question at the top: train on 32 words, then read 256, with each of the five schemes
# and with none at all. The task must need positions, and it must be no harder in a long text than
# in a short one. Otherwise we'd measure the task. Here are two:
#
# - **last marked**: each token has a value from 0 to 7, and one in eight is marked. At every place,
#   say the value of the last marked token so far. At the end of a text, the answer is about seven
#   tokens back.
# - **three back**: at every place, say which of 16 tokens was three places earlier.


# %%
def last_marked(batch, n, generator):
    """Tokens, value + 8 if marked, and the answer at each place; the first token is marked."""
    values = torch.randint(8, (batch, n), generator=generator)
    marked = torch.rand(batch, n, generator=generator) < 1 / 8
    marked[:, 0] = True
    last = torch.where(marked, torch.arange(n), 0).cummax(dim=1).values
    return values + 8 * marked, values.gather(1, last)


def three_back(batch, n, generator):
    """Tokens, and the answer at each place; −100 where there is none, which the loss leaves out."""
    tokens = torch.randint(16, (batch, n), generator=generator)
    return tokens, F.pad(tokens[:, :-3], (3, 0), value=-100)


# %% [markdown]
# The model is small: two causal layers, 32 features, 4 heads. All schemes share it. It calls `add`
# once, and `bias` and `turn` in each layer. You've built nearly all of these parts before, so skim
# the next cells, and look for these three calls.


# %%
def feed_forward(d_model):
    layers = nn.Linear(d_model, 2 * d_model), nn.ReLU(), nn.Linear(2 * d_model, d_model)
    return nn.Sequential(nn.LayerNorm(d_model), *layers)


# %%
class Layer(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.norm = n_heads, nn.LayerNorm(d_model)
        self.projections, self.output = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
        self.each_place = feed_forward(d_model)

    def forward(self, x, positions, keep):
        chunks = self.projections(self.norm(x)).chunk(3, dim=-1)
        query, key, value = (c.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for c in chunks)
        query, key = positions.turn(query), positions.turn(key)
        context, _ = attend(query, key, value, keep, positions.bias(x.shape[1]))
        x = x + self.output(context.transpose(1, 2).flatten(2))
        return x + self.each_place(x)


# %%
def causal_keep(n, window=None):
    """Each word may attend to itself and those before it, but to no more than `window` in all."""
    back = torch.arange(n)[:, None] - torch.arange(n)
    return (back >= 0) & (back < (window or n))


# %%
class Reader(nn.Module):
    def __init__(self, positions, d_model=32, n_heads=4):
        super().__init__()
        self.positions, self.embedding = positions, nn.Embedding(16, d_model)
        self.layers = nn.ModuleList(Layer(d_model, n_heads) for _ in range(2))
        self.answer = nn.Sequential(nn.LayerNorm(d_model), nn.Linear(d_model, 16))

    def forward(self, tokens, window=None):
        x = self.positions.add(self.embedding(tokens))
        keep = causal_keep(tokens.shape[1], window)
        for layer in self.layers:
            x = layer(x, self.positions, keep)
        return self.answer(x)


# %%
def positions_for(scheme):
    """A scheme by its name, for a reader with 32 features and 4 heads."""
    schemes = {
        "none": Positions,
        "sinusoidal": Sinusoidal,
        "learned": lambda: Learned(n_places=256, d_model=32),  # enough for the longest text
        "relative": lambda: Relative(n_heads=4, max_distance=16),
        "ALiBi": lambda: Alibi(n_heads=4),
        "rotary": Rotary,
        "rotary, base 500": lambda: Rotary(base=500.0),
    }
    return schemes[scheme]()


# %%
def train_reader(scheme, task, seed, n_steps=600):
    """A reader trained on texts of 32 tokens, with an answer at every place."""
    torch.manual_seed(seed)
    model = Reader(positions_for(scheme))
    generator = torch.Generator().manual_seed(1000 + seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.005, n_steps, pct_start=0.1)
    for _ in range(n_steps):
        tokens, answers = task(32, 32, generator)
        loss = F.cross_entropy(model(tokens).flatten(0, 1), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model


# %%
@torch.no_grad()
def accuracy(model, task, window=None):
    """Percent of right answers at the last eight places of 512 texts, for each of LENGTHS."""
    generator, right = torch.Generator().manual_seed(7), []
    for _ in range(16):
        tokens, answers = task(32, 256, generator)
        right.append(model(tokens, window).argmax(dim=-1) == answers)
    right = torch.cat(right).float().mean(dim=0)
    return [100 * right[n - 8 : n].mean().item() for n in LENGTHS]


# %% [markdown]
# The model is causal, so its answer at the 64th word of a long text is the answer it would give at
# the end of a text of 64 words. One pass over texts of 256 gives the whole curve.
#
# We trained each scheme on both tasks with three seeds, a few minutes in all. You train two of
# them, six seconds each or longer, depending on your computer. **Predict before you run:** at 64,
# twice the length of the training texts, which schemes fail on *last marked*?

# %%
predict("who_fails_at_64", ...)

# %% reason="rounding depends on the processor, and grows in training" tags=["nbval-ignore-output"]
models = {name: train_reader(name, last_marked, seed=0) for name in ("sinusoidal", "rotary")}
for name, model in models.items():
    found = dict(zip(LENGTHS, accuracy(model, last_marked), strict=True))
    print(f"{name:10} at 32: {found[32]:.0f}%, at 64: {found[64]:.0f}%, at 256: {found[256]:.0f}%")

# %%
plot_lines(
    LENGTHS,
    CURVES["last_marked"] | {"chance, 1 in 8": [100 / 8] * len(LENGTHS)},
    x_name="number of words (trained on 32)",
    y_name="right answers in %",
    log_x=True,
    dashed=["chance, 1 in 8"],
    caption="Last marked: each line is the mean of three seeds, each band from the lowest to the "
    "highest. The markers are at 16, 32, 40, 64, 128 and 256 words.",
)

# %% [markdown]
# At 32 words, *last marked* shows hardly any difference: every scheme is right at more than 97% of
# the places, and a model without positions at 90% to 97%. At 64, everything differs:
#
# - **ALiBi** carries on as if nothing had happened. **Relative** is right where the mark is at most
#   15 words back, and where the mark is farther away, at 64, it gets only about half of the answers
#   right: all distances from 16 on share a number. Only one mark in eight is that far, so the curve
#   hides it.
# - **Learned** has never trained its rows from 32 on. **Sinusoidal** has proper vectors there, but
#   the model has never seen them. At 40 they still help; at 64, they help no more than the
#   untrained rows of *learned* do.
# - **Rotary** sees distances only. At 40, that still carries it. At 64, it fails all the same.
# - **None** isn't nothing. Two causal layers work out some of the order on their own, and at 64
#   they do better than sinusoidal, learned and rotary.

# %%
plot_lines(
    LENGTHS,
    CURVES["three_back"] | {"chance, 1 in 16": [100 / 16] * len(LENGTHS)},
    x_name="number of words (trained on 32)",
    y_name="right answers in %",
    log_x=True,
    dashed=["chance, 1 in 16"],
    caption="Three back: ALiBi and relative trade places, and three others fall to chance.",
)

# %% [markdown]
# In *three back*, relative and ALiBi switch roles. ALiBi's bias just falls with distance. Nothing
# in it singles out three back. Heads with different slopes have to be balanced against each other,
# and 600 steps of training aren't enough for that: it's right at about a third of the places, even
# at 32. (With 4000 steps: nine in ten, at 32.) And at 64, sinusoidal, learned and rotary are close
# to chance, one in 16: sinusoidal is right at a tenth of the places.
#
# Why does rotary fail? In a long text, two things are new: places and distances. **Predict before
# you run:** we let each word see only the last 32 keys, so that no distance is new. Which scheme
# recovers?

# %%
predict("a_window_of_32", ...)

# %% reason="rounding depends on the processor, and grows in training" tags=["nbval-ignore-output"]
for name, model in models.items():
    found = dict(zip(LENGTHS, accuracy(model, last_marked, window=32), strict=True))
    print(f"{name:10} at 64: {found[64]:.0f}%, at 256: {found[256]:.0f}%")

# %% [markdown]
# Rotary does, at every length. So it was the distances. (A window also means fewer keys. So we kept
# all keys, and computed each score as if the key were at most 31 words back: rotary recovers just
# as well.) And in this task it's a single pair of features that does the damage. A head of 8
# features has four pairs, which turn by 1, 0.1, 0.01 and 0.001 per word. After 31 words, the second
# points the opposite way, and from there on it comes back around to where it began, so words far
# away look near again. (Clip the distances for this pair alone, and rotary recovers, too.) For
# sinusoidal and learned, the places are new as well. A window helps them from 64 words on, in some
# runs more than in others, but neither gets back to where it was.
#
# If half turns are the trouble, let the second pair finish its turn while the model learns, so that
# training shows it what a full turn looks like. With a base of 500, this pair turns by 0.21 per
# word, once around in 30:

# %% reason="rounding depends on the processor, and grows in training" tags=["nbval-ignore-output"]
faster = train_reader("rotary, base 500", last_marked, seed=0)
found = dict(zip(LENGTHS, accuracy(faster, last_marked), strict=True))
print(f"base 500 at 64: {found[64]:.0f}%, at 128: {found[128]:.0f}%")

# %% [markdown]
# At 64 it's right nearly everywhere. (The same is true of *three back*, and of other seeds.) At
# 128, it fails again: now it's the third pair that is past half a turn, which takes it 70 words. (A
# pair may go farther than in training. Here, that does no harm within half a turn: until then, an
# arrow and its turned copy are less alike the farther they are apart.)
#
# Models for long texts slow the pairs down instead, so that the slow ones go no farther than in
# training, or not much farther. Most of these models then train a little longer. Here are three
# ways. A **larger base** slows each pair down more than the one before (Llama 2 has 10,000, and
# Code Llama, which was made from it, 1,000,000). **Position interpolation** (Chen et al. 2023)
# divides all places by a factor. **YaRN** (Peng et al. 2023) slows a pair by the full factor if it
# doesn't complete a turn in training, leaves it alone if it completes 32 or more, and goes part of
# the way in between. Here is how much each of the three slows down the pairs of a head, to read
# four times as far. (The larger base is the one that slows the last pair down by a factor of four.)

# %%
d_head, trained, factor = 64, 4096, 4
pair = torch.arange(d_head // 2)
turns = trained / (2 * math.pi) * 10000.0 ** (-2 * pair / d_head)  # of each pair, in training
freedom = ((turns - 1) / (32 - 1)).clamp(0, 1)  # 0: slow it down in full; 1: leave it alone

# %%
plot_lines(
    pair,
    {
        "larger base": factor ** (2 * pair / (d_head - 2)),
        "interpolation": torch.full((d_head // 2,), float(factor)),
        "YaRN": 1 / (freedom + (1 - freedom) / factor),
    },
    x_name="pair of features",
    y_name="times slower",
    caption="Interpolation slows down even the fast pairs, which tell neighbors apart. "
    "YaRN spares those that have seen many turns.",
)

# %% [markdown]
# Don't read too much into this. These are toys with a vocabulary of 16 tokens, and *last marked*
# depends on what is near, which is what ALiBi is made for. On text, Press et al. saw ALiBi come out
# ahead; on small reasoning tasks, Kazemnejad et al. (2023) saw the winner use no positions at all.
# (Llama 4 and SmolLM3, both of 2025, leave positions out in every fourth layer.) What a scheme
# delivers depends on the task. So test yours at the length you need.

# %% [markdown]
# ## What you can do now
#
# - Show that attention sees a **set**, and say where order can come in: **added** to the words,
#   as a **bias** on the scores, or by **turning** queries and keys.
# - Write **sinusoidal** positions, a **relative** bias, **ALiBi** and **rotary** positions.
# - Test a rotation by its **properties** (lengths, distances, place 0), and say why that isn't
#   enough: five of ten wrong ones pass.
# - Tell the two **layouts** of rotary positions apart, and convert weights from one to the other.
# - **Measure** what a scheme does beyond the length it was trained on, instead of trusting what its
#   formula seems to promise.
#
# ### Test yourself
#
# 1. A friend tests a rotary embedding with one query and one key, both at place 17. The score
#    agrees with the library's. What does the test show?
# 2. You load a model that was trained with `rotate` into code that uses `rotate_halves`. You
#    reorder W_Q, W_K and W_V with `to_halves`. What goes wrong?
# 3. A model with ALiBi is used without a causal mask, to read whole sentences. Does
#    slope · (key − query) still make sense?
#
# <details>
# <summary>Answers</summary>
#
# 1. Next to nothing. At distance 0 every rotation cancels, right or wrong. Test several distances.
# 2. Values aren't turned, so W_V has to stay as it is. Reordered, its features no longer fit the
#    columns of the output projection.
# 3. No: words to the right would get a bonus, and the farther away they are, the bigger it gets.
#    Without a mask, use −slope · |key − query|. But then it can't tell left from right.
#
# </details>

# %% [markdown]
# ### Challenge: `t5_bucket` (optional, 20 minutes)
#
# T5 adds a learned number to each score, as you did in `relative_bias`. But it doesn't simply clip
# the distances. It sorts them into 32 **buckets**: near words get one each, and the farther away
# the words are, the more distances share a bucket. In its decoder, a query sees only itself and the
# words before it, and distance is query − key:
#
# - Distances 0 to 15 have buckets 0 to 15.
# - From 16 to 128, the buckets 16 to 31 grow by the same *factor*: there are 16 equal steps on a
#   logarithmic scale, and a distance that lies between two steps belongs to the lower one. (So
#   bucket 31 begins at 113.)
# - Everything from 128 on falls into bucket 31, and everything after the query into bucket 0.
#
# Return whole numbers, in the shape of `distance`.


# %%
def t5_bucket(distance: Int[Tensor, "*n"]) -> Int[Tensor, "*n"]:
    """The bucket of each distance (query − key), from 0 to 31.

    Source: Raffel et al. 2020, section 2.1, and the authors' code.

    Example:
        >>> t5_bucket(torch.tensor([0, 15, 16, 20, 127, 1000]))
        tensor([ 0, 15, 16, 17, 31, 31])
    """
    ### BEGIN SOLUTION
    edges = 16 * (128 / 16) ** (torch.arange(1, 16) / 16)
    return distance.clamp(0, 16) + (distance[..., None] >= edges).sum(dim=-1)
    ### END SOLUTION


# %%
check(t5_bucket)

# %% [markdown]
# Here's something to try: **squeeze the places.** Chen et al. (2023) let a rotary model read longer
# texts by dividing all places by a factor: `rotate(x, torch.arange(n) / 2)`. Then hardly any
# distance is longer than those in training, though half steps are new. Change your trained rotary
# model's `turn` that way. How well does it do at 64? Then squeeze one that was trained on *three
# back*. What does that cost it, even at 32?

# %% [markdown]
# ### Further reading
#
# - [Vaswani et al. 2017](https://arxiv.org/abs/1706.03762), section 3.5: why sines, in the authors'
#   own words.
# - [Shaw, Uszkoreit and Vaswani 2018](https://arxiv.org/abs/1803.02155): distances instead of
#   places, and why to clip them.
# - [Raffel et al. 2020](https://arxiv.org/abs/1910.10683): T5. Section 2.1 has its simple bias.
# - [Su et al. 2021](https://arxiv.org/abs/2104.09864): RoPE. Section 3.4.2 is the form you wrote.
# - [Press, Smith and Lewis 2022](https://arxiv.org/abs/2108.12409): ALiBi, and what three of the
#   others do beyond their training length.
# - [Kazemnejad et al. 2023](https://arxiv.org/abs/2305.19466), and [Haviv et al.
#   2022](https://arxiv.org/abs/2203.16634): how far a causal model gets without any positions.
# - [Chen et al. 2023](https://arxiv.org/abs/2306.15595): stretching a rotary model to longer texts.
#
# The next time you read a model's code, look for the positions first. Most enter in one of these
# three ways.

# %%
progress()
