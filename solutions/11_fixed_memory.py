# %% [markdown]
# # 11. A memory of fixed size
#
# **How can a layer read a million words without keeping a million keys?** Lesson 9's cache keeps a
# key and a value for each word, so it keeps growing as the model generates. In Qwen3-Next (2025),
# only one layer in four has such a cache. The other three have a **state** instead, mainly one
# matrix per head, which stays the same size however long the text. Every word is stored in it, on
# top of all the others. How can that work, and when does it stop working? You build such a memory,
# fill it until it fails, and repair it twice. Then you train models with it.
#
# | | |
# |---|---|
# | **You need** | Lessons 2, 4 and 9: keys, the causal mask, caches; later on, lesson 10 |
# | **You can then** | replace a cache with a state, and predict what it will forget |
#
# Each exercise is followed by a check; `hint`, `failing_case` and `give_up` help as in lesson 1.
# Two sittings are best. The second one starts where pairs become texts.

# %%
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from autograder import check, failing_case, give_up, hint, predict, progress
from autograder.utils.costs import peak_megabytes, seconds
from autograder.utils.data import as_you_like_it
from autograder.utils.plots import plot_growth, plot_lines
from autograder.utils.training import steps_of
from autograder.utils.views import view_recall

# %%
torch.manual_seed(0)
torch.set_num_threads(1)  # small tensors are fastest on one thread
torch.set_printoptions(precision=4, sci_mode=False)

# %% [markdown]
# ## Write it on top
#
# Here is the whole memory. The state is the memory, and it begins as a matrix of zeros. To
# **write**, multiply the key, as a column, by the value, as a row, and add the product. To **ask**,
# multiply your query by the matrix. This one has two keys of two features, A and B, and their
# values are single numbers. Both answers are wrong. Click *empty* and fill it yourself: when does
# it go wrong? Then write A = 4 once and B = 2 once, and turn key B until both are right. (The
# orange arrow is the state: its two numbers as a point.)

# %%
view_recall(
    ["adds"],
    caption="One state, two keys that write into it, and what each gets back.",
)

# %% [markdown]
# With keys of length 1, at a right angle, each written once, each gets back exactly what was
# written for it. Otherwise, it gets a share of the other's value, too. In a plane, only two keys
# can be at right angles to each other, and in d dimensions, only d. A text has more words than
# that. We'll come back to this. First: you've met this memory before.
#
# ## Attention without softmax
#
# Leave softmax and the scale out of attention. What remains weighs each value by q · k itself. You
# give something up: such weights may be negative, and they don't sum to 1. (In Qwen3-Next, a norm
# follows, so the sum matters less.) And yet it's worth it, as you'll see in a minute.
#
# ### Exercise 1: `linear_attention` (6 minutes)
#
# Compute each query's context: the values, weighted by the scores. If `causal`, a query attends to
# its own word and to those before it. A word that is masked has the weight 0. (Before softmax, that
# took −∞. Now there's no softmax.)


# %%
def linear_attention(
    query: Float[Tensor, "*batch n d_k"],
    key: Float[Tensor, "*batch n d_k"],
    value: Float[Tensor, "*batch n d_v"],
    causal: bool = True,
) -> Float[Tensor, "*batch n d_v"]:
    """Attention without softmax and without scaling, all words at once.

    Source: Katharopoulos et al. 2020, without their feature map and their division by the sum.

    Example: the second query sees both keys, with scores of 1 and 2.
        >>> query, key = torch.tensor([[1.0], [1.0]]), torch.tensor([[1.0], [2.0]])
        >>> linear_attention(query, key, torch.tensor([[10.0], [1.0]]))
        tensor([[10.],
                [12.]])
    """
    ### BEGIN SOLUTION
    scores = query @ key.transpose(-2, -1)
    if causal:
        scores = scores.tril()
    return scores @ value
    ### END SOLUTION


# %%
check(linear_attention)

# %% [markdown]
# What did we gain? We can choose what to multiply first. With softmax in between, the scores have
# to be there before the values come in. Without it, (Q Kᵀ) V is Q (Kᵀ V):

# %%
query, key, value = torch.randn(3, 50, 4)
state = key.T @ value
print(state.shape)
torch.allclose(query @ state, linear_attention(query, key, value, causal=False), atol=1e-4)

# %% [markdown]
# Kᵀ V is the sum of all products of a key and its value: the memory that you've filled by hand.
# Fifty words went in, and it's still 4 × 4. The mask is no problem either. When a word asks, the
# later ones simply haven't been written yet:
#
# ### Exercise 2: `linear_step` (5 minutes)
#
# One word: first write its key and value, then let its query ask. Return the context and the new
# state, and leave the old state as it was. (You may want to try another next word from the same
# state.)


# %%
def linear_step(
    state: Float[Tensor, "*batch d_k d_v"],
    query: Float[Tensor, "*batch d_k"],
    key: Float[Tensor, "*batch d_k"],
    value: Float[Tensor, "*batch d_v"],
) -> tuple[Float[Tensor, "*batch d_v"], Float[Tensor, "*batch d_k d_v"]]:
    """One word of causal linear attention: the context, and the state with this word in it.

    Example: what is written can be read right away.
        >>> key, value = torch.tensor([0.0, 1.0]), torch.tensor([5.0, 6.0, 7.0])
        >>> linear_step(torch.zeros(2, 3), key, key, value)
        (tensor([5., 6., 7.]), tensor([[0., 0., 0.],
                [5., 6., 7.]]))
    """
    ### BEGIN SOLUTION
    state = state + key[..., :, None] * value[..., None, :]
    return (query[..., None, :] @ state).squeeze(-2), state
    ### END SOLUTION


# %%
check(linear_step)


# %% [markdown]
# Word by word, it gives what `linear_attention` gives all at once:


# %%
def word_by_word(query, key, value, *others, step=linear_step):
    """The contexts of a text, [n, d], one word after another."""
    state, contexts = key.new_zeros(key.shape[-1], value.shape[-1]), []
    for word in zip(query, key, value, *others, strict=True):
        context, state = step(state, *word)
        contexts.append(context)
    return torch.stack(contexts)


# %%
torch.allclose(word_by_word(query, key, value), linear_attention(query, key, value), atol=1e-4)

# %% [markdown]
# So a model can be trained with all words at once, and generate with a state. **Predict before you
# run:** take a head with 128 features for keys and for values. A cache grows by a key and a value
# for each word; a state is 128 × 128. (Qwen3-Next's states have that size.) After how many words is
# the cache as large as the state?

# %%
predict("as_large_as_the_state", ...)

# %%
state = 128 * 128
print(f"as large after {state // (2 * 128)} words")
print(f"{2 * 128 * 1_000_000 / state:,.0f} times as large after a million")

# %% [markdown]
# Only 64! From there on, the cache keeps growing, and the state doesn't. (Qwen3-Next's caches are
# smaller, as query heads share keys: a layer with a cache catches up with one that has states after
# 512 words.)
#
# ### Exercise 3: `chunked_linear_attention` (12 minutes)
#
# Both forms have a drawback. All at once needs a score for every pair of words. Word by word needs
# a step in Python for every word, and processors like large products better than small ones. So
# meet in the middle: cut the text into chunks. Within a chunk, all words at once; from chunk to
# chunk, a state.
#
# - A word's context has two parts: what the state holds from earlier chunks, and what the words of
#   its own chunk add, up to itself.
# - After that, write the whole chunk into the state: one product of matrices.
# - The last chunk may be shorter. If there's a `state`, go on from it, and leave it as it was;
#   otherwise go on from zeros.
#
# Words may lie in memory as `split_heads` leaves them, so `view` may fail where it joins
# dimensions; `reshape` works. This exercise builds on `linear_attention`.


# %%
def chunked_linear_attention(
    query: Float[Tensor, "*batch n d_k"],
    key: Float[Tensor, "*batch n d_k"],
    value: Float[Tensor, "*batch n d_v"],
    chunk: int = 64,
    state: Float[Tensor, "*batch d_k d_v"] | None = None,
) -> tuple[Float[Tensor, "*batch n d_v"], Float[Tensor, "*batch d_k d_v"]]:
    """Causal linear attention, a chunk of words at a time: the contexts, and the state at the end.

    Source: Hua et al. 2022; Yang et al. 2023.

    Example: five words in chunks of two.
        >>> query, key, value = torch.randn(3, 5, 4)
        >>> context, state = chunked_linear_attention(query, key, value, chunk=2)
        >>> torch.allclose(context, linear_attention(query, key, value), atol=1e-5)
        True
        >>> torch.allclose(state, key.T @ value, atol=1e-5)
        True
    """
    ### BEGIN SOLUTION
    if state is None:
        state = key.new_zeros(*key.shape[:-2], key.shape[-1], value.shape[-1])
    contexts = []
    for start in range(0, query.shape[-2], chunk):
        words = slice(start, start + chunk)
        q, k, v = query[..., words, :], key[..., words, :], value[..., words, :]
        contexts.append(q @ state + linear_attention(q, k, v))
        state = state + k.transpose(-2, -1) @ v
    return torch.cat(contexts, dim=-2), state
    ### END SOLUTION


# %%
check(chunked_linear_attention)

# %% [markdown]
# One head, up to 8,192 words, next to lesson 9's tiles:


# %%
def softmax_attention(query, key, value):
    """Causal attention as in lesson 4, with all scores."""
    hidden = torch.ones(len(query), len(key), dtype=torch.bool).triu(1)
    scores = query @ key.T / query.shape[-1] ** 0.5
    return scores.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ value


def softmax_in_tiles(query, key, value):
    """The same, from PyTorch, which never holds all scores."""
    one_head = (x[None, None] for x in (query, key, value))
    return F.scaled_dot_product_attention(*one_head, is_causal=True)[0, 0]


# %% reason="timings differ from run to run" tags=["nbval-ignore-output"]
sizes = [512, 1024, 2048, 4096, 8192]
texts = [torch.randn(3, n, 32) for n in sizes]
forms = {
    "softmax, all scores": softmax_attention,
    "softmax, in tiles": softmax_in_tiles,
    "linear, all scores": linear_attention,
    "linear, word by word": word_by_word,
    "linear, chunks of 64": chunked_linear_attention,
}
plot_growth(
    sizes,
    {name: [seconds(form, *text) for text in texts] for name, form in forms.items()},
    x_name="words",
    caption="Seconds for one head with 32 features.",
)

# %% reason="what torch allocates differs a little" tags=["nbval-ignore-output"]
for name, form in forms.items():
    print(f"{name:21} {peak_megabytes(form, *texts[-1]):6.1f} MB")

# %% [markdown]
# Three lines are steep: a score for every pair takes time, even though tiles save memory. The other
# two grow with the text, and no faster. Word by word, most of the time goes into the loop, so it's
# slow all the same. At 8,192 words, chunks take less than a fifth of the time of any other. That's
# the gain. What does it cost?
#
# ## How much does it hold?
#
# Write n pairs of a random key and a random value, and then ask for each of them. Keys have 32
# features and the length 1. Values have features of about size 1, so answering 0 every time is off
# by 1.


# %%
def random_pairs(n, d_k=32, n_memories=200):
    """Keys of length 1 and values, [n_memories, n, d_k] each."""
    key, value = torch.randn(2, n_memories, n, d_k)
    return F.normalize(key, dim=-1), value


def error(recalled, value):
    """How far off recalled values are: the root of the mean square."""
    return (recalled - value).square().mean().sqrt().item()


# %%
numbers, errors = [2, 4, 8, 16, 32, 64, 128], {}
for d_k in (16, 32, 64):
    all_pairs = [random_pairs(n, d_k) for n in numbers]
    recalls = [linear_attention(key, key, value, causal=False) for key, value in all_pairs]
    errors[f"{d_k} features"] = [
        error(recalled, value) for recalled, (_, value) in zip(recalls, all_pairs, strict=True)
    ]

# %%
plot_lines(
    numbers,
    errors,
    x_name="pairs in the memory",
    y_name="error",
    caption="How far off a recalled value is. At 1, answering 0 would be no further off.",
    log_x=True,
    log_y=True,
)

# %% [markdown]
# Three parallel lines: something simple is going on. A key gets back its own value, plus every
# other value times the dot product of the two keys. Two random directions in d_k dimensions have a
# dot product of about ±1 / √d_k. There are n − 1 others, and such errors add up like steps of a
# random walk:

# %%
for d_k, measured in zip((16, 32, 64), errors.values(), strict=True):
    rule = [((n - 1) / d_k) ** 0.5 for n in numbers]
    print(d_k, " ".join(f"{m:.2f}|{r:.2f}" for m, r in zip(measured, rule, strict=True)))

# %% [markdown]
# So the error is √((n − 1) / d_k). With as many pairs as features, the noise is about as large as
# the values. That's the usual rule of thumb for the **capacity** of such a memory: about one pair
# per feature. (A recalled value may still be nearest to the right one, as you'll see.) And softmax?
# With sharp scores, here 16 times as large, it picks the right key out of 128 almost perfectly:

# %%
key, value = random_pairs(128)
print(f"softmax: {error((16 * key @ key.mT).softmax(dim=-1) @ value, value):.3f}")

# %% [markdown]
# But it keeps all the keys. That's what a cache is for.
#
# ## Written twice
#
# Noise isn't the only problem. A story says "the ring is in the drawer", and later "the ring is in
# the pocket". **Predict before you run:** the value 4 was written under a key of length 1, and
# later the value 1 under the same key. What does the memory answer?

# %%
predict("written_twice", ...)

# %%
key, state = torch.tensor([0.6, 0.8]), torch.zeros(2, 1)
for value in (4.0, 1.0):
    answer, state = linear_step(state, key, key, torch.tensor([value]))
answer

# %% [markdown]
# The old value has to go first. To find out what the memory holds for this key, ask with it. The
# **delta rule** does that before it writes. It writes only the difference, the value minus the old
# answer, or a share of it, **beta** (β, from 0 to 1). With a key of length 1 and β = 1, the old
# answer is replaced; with β = 0, nothing happens.
#
# ### Exercise 4: `delta_step` (7 minutes)
#
# - `old` is what the state answers to the key.
# - The new state is the state + β · key ⊗ (value − old), where ⊗ is the product of a column and a
#   row.
# - Then the query asks, as before.
#
# Take the key as it comes, of any length, and β, too (it may be 2, as in the challenge).


# %%
def delta_step(
    state: Float[Tensor, "*batch d_k d_v"],
    query: Float[Tensor, "*batch d_k"],
    key: Float[Tensor, "*batch d_k"],
    value: Float[Tensor, "*batch d_v"],
    beta: Float[Tensor, "*batch"],
) -> tuple[Float[Tensor, "*batch d_v"], Float[Tensor, "*batch d_k d_v"]]:
    """One word of the delta rule: the context, and the state with what it held replaced.

    Source: Schlag et al. 2021, after Widrow and Hoff 1960.

    Example: with β = 0.5, the answer goes halfway from the old one, 4, to the new value, 1.
        >>> key = torch.tensor([1.0, 0.0])
        >>> context, state = delta_step(
        ...     torch.tensor([[4.0], [3.0]]), key, key, torch.tensor([1.0]), torch.tensor(0.5)
        ... )
        >>> context, state
        (tensor([2.5000]), tensor([[2.5000],
                [3.0000]]))
    """
    ### BEGIN SOLUTION
    old = (key[..., None, :] @ state).squeeze(-2)
    change = beta[..., None] * (value - old)
    state = state + key[..., :, None] * change[..., None, :]
    return (query[..., None, :] @ state).squeeze(-2), state
    ### END SOLUTION


# %%
check(delta_step)

# %% [markdown]
# There's another way to see it. Think of the memory as a tiny model that should answer `value` when
# asked with `key`, with the loss ½ ‖answer − value‖². Then the delta rule is one step of gradient
# descent, and β is the learning rate. The model learns while it reads:

# %%
state, query, key = torch.randn(4, 3, requires_grad=True), torch.randn(4), torch.randn(4)
value, beta = torch.randn(3), torch.tensor(0.3)
loss = (key @ state - value).square().sum() / 2
[gradient] = torch.autograd.grad(loss, state)
_, after = delta_step(state, query, key, value, beta)
torch.allclose(after, state - beta * gradient, atol=1e-5)

# %% [markdown]
# Here are both rules next to each other, after A = 4, B = 2 and then A = 1:

# %%
view_recall(
    ["adds", "replaces"],
    caption="The same writes into two memories. One adds, the other replaces what it held for the "
    "key.",
)

# %% [markdown]
# With β = 1, the key that was written last gets the right answer. So is the delta rule simply
# better? Write 64 pairs again, and count how often the recalled value is nearer to the right one
# than to any other. **Predict before you run:** which memory finds more of them?

# %%
predict("which_finds_more", ...)


# %%
def written(key, value, step=delta_step, **others):
    """The state after all pairs were written, one by one."""
    n_memories, n, d_k = key.shape
    state, whole = torch.zeros(n_memories, d_k, value.shape[-1]), torch.ones(n_memories)
    for word in range(n):
        _, state = step(state, key[:, word], key[:, word], value[:, word], whole, **others)
    return state


def found(recalled, value):
    """For each place in the text, how often the nearest value is the right one."""
    nearest = torch.cdist(recalled, value).argmin(dim=-1)
    return (nearest == torch.arange(value.shape[-2])).float().mean(dim=0)


# %%
key, value = random_pairs(64)
adds, replaces = key @ (key.mT @ value), key @ written(key, value)
for name, recalled in {"adds": adds, "replaces": replaces}.items():
    shares = found(recalled, value)
    print(f"{name:8} found {shares.mean():.2f}, error {error(recalled, value):.2f}")

# %% [markdown]
# The plain sum finds nearly twice as many, though its error is larger. How can that be? Look at
# where in the text the lost ones are:

# %%
plot_lines(
    range(1, 65),
    {"adds": found(adds, value), "replaces": found(replaces, value)},
    x_name="place in the text",
    y_name="found",
    caption="How often the value of each of 64 words is found afterwards.",
)

# %% [markdown]
# The sum treats all words alike. The delta rule makes each new word exact, at the cost of older
# ones: to get its own answer right, it changes the answers to every key that isn't at a right
# angle. Of the last sixteen words, about 95 in 100 are found; of the first, about 5. Which is
# better depends on what the text will ask for. Both states have 32 · 32 numbers, and no state of
# that size can hold 64 pairs of 32 exactly. (And the error? The sum still holds all of every value,
# buried in noise. The delta rule has less noise, but little is left of its oldest values.)
#
# One more thing can go wrong. If the value is 0, the delta rule multiplies the key's own answer by
# 1 − β‖key‖². With a long key and β = 1, that's a large negative number, and it happens again and
# again:

# %%
key, value = torch.randn(2, 1, 32, 32)
print(f"long keys:        {written(key, value).abs().max():.0e}")
print(f"keys of length 1: {written(F.normalize(key, dim=-1), value).abs().max():.0f}")

# %% [markdown]
# That's why Qwen3-Next and Kimi Linear bring their keys to length 1 first. Then taking out an old
# value never makes the state larger. It can grow only by what you write.
#
# ## Let it fade
#
# The delta rule makes room for a key that comes again. But much of what fills a memory may never
# come up again. So let everything fade with each word, by a factor that the model computes from the
# word. (The slider *what stays* below sets it.) "New chapter" can wipe the slate nearly clean. The
# factor is exp(`log_decay`). With `log_decay` at 0 or less, it's never above 1, and a product of
# many factors becomes a sum of their logarithms.
#
# ### Exercise 5: `gated_delta_step` (4 minutes)
#
# First everything fades, then the word is written by the delta rule, then the query asks. (This
# decay is the gate in "gated delta rule".) This exercise builds on `delta_step`.


# %%
def gated_delta_step(
    state: Float[Tensor, "*batch d_k d_v"],
    query: Float[Tensor, "*batch d_k"],
    key: Float[Tensor, "*batch d_k"],
    value: Float[Tensor, "*batch d_v"],
    beta: Float[Tensor, "*batch"],
    log_decay: Float[Tensor, "*batch"],
) -> tuple[Float[Tensor, "*batch d_v"], Float[Tensor, "*batch d_k d_v"]]:
    """One word of the gated delta rule: the state fades, then what it holds is replaced.

    Source: Yang et al. 2024, Gated Delta Networks.

    Example: everything fades to a half; this word's β is 0, so nothing is written.
        >>> key, state = torch.tensor([1.0, 0.0]), torch.tensor([[4.0], [3.0]])
        >>> gated_delta_step(
        ...     state, key, key, torch.tensor([9.0]), torch.tensor(0.0), torch.tensor(0.5).log()
        ... )
        (tensor([2.]), tensor([[2.0000],
                [1.5000]]))
    """
    ### BEGIN SOLUTION
    faded = log_decay.exp()[..., None, None] * state
    return delta_step(faded, query, key, value, beta)
    ### END SOLUTION


# %%
check(gated_delta_step)

# %% [markdown]
# Now all three side by side:

# %%
view_recall(
    ["adds", "replaces", "fades and replaces"],
    caption="The same writes into three memories.",
)

# %% [markdown]
# Key B gets back more from the third memory than from the second: A = 4 had faded before B was
# written, so writing A = 1 had less to take out.
#
# And now with many pairs. What comes back, and how much of it? One key is written first, with an
# old value; then fifteen other pairs; then the first key again, with a new value. What does this
# key get back of its old value and of its new one, and what does the second pair's key get back of
# its own? An answer's share of a value is 1 if the value is in it once:


# %%
def share(answer, value):
    """How much of a value is in an answer, on average over memories: 1 is once, 0 not at all."""
    return ((answer * value).sum(-1) / value.square().sum(-1)).mean().item()


def adding_step(state, query, key, value, beta, log_decay):
    """`linear_step`, after everything has faded."""
    return linear_step(log_decay.exp()[..., None, None] * state, query, key, value)


# %%
key, value = random_pairs(17, n_memories=2000)
key[:, -1] = key[:, 0]
rules = {
    "adds": (adding_step, 1.0),
    "fades and adds": (adding_step, 0.9),
    "replaces": (gated_delta_step, 1.0),
    "fades and replaces": (gated_delta_step, 0.9),
}
for name, (step, decay) in rules.items():
    state = written(key, value, step, log_decay=torch.full((len(key),), decay).log())
    answers = [(key[:, word, None] @ state).squeeze(1) for word in (0, 0, 1)]
    values = (value[:, word] for word in (0, 16, 1))
    shares = [share(*both) for both in zip(answers, values, strict=True)]
    print(f"{name:18} old {shares[0]:5.2f}   new {shares[1]:.2f}   second pair {shares[2]:.2f}")

# %% [markdown]
# A sum keeps everything and mixes it up. Fading lets the old value go, and everything else that's
# old with it. Replacing removes all of the old value, and each later write removes about 1/32 of
# every other one. (Keys have 32 features.) After fifteen such writes, 0.62 of the second pair's
# value is left. Together they can do either, and the model chooses for each word, with β and the
# decay.
#
# Does fading make room, too? Write 64 pairs and ask for the last sixteen only:

# %%
key, value = random_pairs(64)
for decay in (1.0, 0.99, 0.98, 0.95, 0.9):
    shares = []
    for step in (adding_step, gated_delta_step):
        state = written(key, value, step, log_decay=torch.full((len(key),), decay).log())
        shares.append(found(key @ state, value)[-16:].mean())
    print(f"factor {decay:.2f}: adds {shares[0]:.2f}, replaces {shares[1]:.2f}")

# %% [markdown]
# It does for the sum, up to a point: the older pairs are noise that fades. At 0.9, the first of the
# sixteen have faded as well. The delta rule favors recent words anyway, so here fading only costs
# it some of them.
#
# ## In chunks again
#
# Word by word is how a model generates. For training and for long texts, chunks are better, as in
# exercise 3. For the sum, that was easy: no write depends on another. Now each one does. What a
# word changes, u = β (v − old), depends on the old answer, and so on what all words before it have
# changed. Within a chunk, number the words 1, 2, …, and call the state at its start S. Queries,
# keys, values and changes are rows.
#
# **Fading.** Let tᵢ be the running sum of `log_decay` within the chunk, up to word i. From word j
# to a later word i, everything fades by exp(tᵢ − tⱼ); from the start of the chunk, by exp(tᵢ).
#
# **Changes.** The second word's old answer comes from S and from the first word's change, both
# faded. So
#
# $$u_2 = \beta_2 \left( v_2 - e^{t_2} k_2 S - e^{t_2 - t_1} (k_2 \cdot k_1) \, u_1 \right)$$
#
# and in general, with everything that has a u on the left,
#
# $$u_i + \sum_{j < i} A_{ij} u_j = \beta_i \left( v_i - e^{t_i} k_i S \right) \quad \text{with}
# \quad A_{ij} = \beta_i \, e^{t_i - t_j} (k_i \cdot k_j)$$
#
# As matrices: (I + A) U = B, with a row of U and of B for each word, and A only below the diagonal.
#
# **Contexts.** Word i gets what is left of S, and of all changes up to its own:
#
# $$e^{t_i} q_i S + \sum_{j \le i} e^{t_i - t_j} (q_i \cdot k_j) \, u_j$$
#
# **The new state.** With t of the last word,
#
# $$e^{t} S + \sum_j e^{t - t_j} \, k_j \otimes u_j$$
#
# A triangular system like (I + A) U = B is solved from the top, a row at a time, and torch does
# that in one call:

# %%
below = torch.tensor([[0.0, 0.0], [3.0, 0.0]])
changes = torch.linalg.solve_triangular(
    below, torch.tensor([[1.0], [5.0]]), upper=False, unitriangular=True
)
print(changes)

# %% [markdown]
# The first row says u₁ = 1, and the second 3 u₁ + u₂ = 5. (With `unitriangular=True`, it takes the
# diagonal to be all ones, whatever is there. So you needn't add I.)
#
# One trap: for j > i, tᵢ − tⱼ is positive, and after a few strong decays its exponential is
# infinite. Infinity times 0 is NaN. Set these differences to −∞ *before* you take exp. And don't
# write exp(tᵢ) / exp(tⱼ): that may be 0 / 0.
#
# ### Exercise 6: `chunked_gated_delta` (30 minutes)
#
# The gated delta rule in chunks: the same as `gated_delta_step`, word by word, but with one
# triangular system for each chunk. `log_decay` and `beta` have a number for each word. As in
# `chunked_linear_attention`, there may be a `state` to go on from, the last chunk may be shorter,
# and any number of dimensions may come in front.


# %%
def chunked_gated_delta(
    query: Float[Tensor, "*batch n d_k"],
    key: Float[Tensor, "*batch n d_k"],
    value: Float[Tensor, "*batch n d_v"],
    beta: Float[Tensor, "*batch n"],
    log_decay: Float[Tensor, "*batch n"],
    chunk: int = 64,
    state: Float[Tensor, "*batch d_k d_v"] | None = None,
) -> tuple[Float[Tensor, "*batch n d_v"], Float[Tensor, "*batch d_k d_v"]]:
    """The gated delta rule, a chunk of words at a time: the contexts, and the state at the end.

    Source: Yang et al. 2024, Gated Delta Networks.

    Example: the same key twice. The second value replaces half of the first, which has faded to 2.
        >>> key, value = torch.ones(2, 1), torch.tensor([[4.0], [1.0]])
        >>> beta, log_decay = torch.tensor([1.0, 0.5]), torch.tensor([1.0, 0.5]).log()
        >>> chunked_gated_delta(key, key, value, beta, log_decay)
        (tensor([[4.0000],
                [1.5000]]), tensor([[1.5000]]))
    """
    ### BEGIN SOLUTION
    if state is None:
        state = key.new_zeros(*key.shape[:-2], key.shape[-1], value.shape[-1])
    contexts = []
    for start in range(0, query.shape[-2], chunk):
        words = slice(start, start + chunk)
        q, k, v = query[..., words, :], key[..., words, :], value[..., words, :]
        share, total = beta[..., words, None], log_decay[..., words].cumsum(dim=-1)
        difference = total[..., :, None] - total[..., None, :]
        later = torch.ones_like(difference, dtype=torch.bool).triu(1)
        fade = difference.masked_fill(later, -torch.inf).exp()
        from_start = total.exp()[..., None]
        system = share * fade * (k @ k.transpose(-2, -1))
        missing = share * (v - from_start * (k @ state))
        change = torch.linalg.solve_triangular(system, missing, upper=False, unitriangular=True)
        within = fade * (q @ k.transpose(-2, -1))
        contexts.append(from_start * (q @ state) + within @ change)
        left = fade[..., -1, :, None] * k
        state = from_start[..., -1:, :] * state + left.transpose(-2, -1) @ change
    return torch.cat(contexts, dim=-2), state
    ### END SOLUTION


# %%
check(chunked_gated_delta)

# %% [markdown]
# Here is what that buys, on one head with 8,192 words:


# %%
def gated_word_by_word(*text):
    return word_by_word(*text, step=gated_delta_step)


# %% reason="timings differ from run to run" tags=["nbval-ignore-output"]
query, key, value = texts[-1]
text = query, F.normalize(key, dim=-1), value, torch.rand(8192), -torch.rand(8192)
for name, form in {"word by word": gated_word_by_word, "in chunks": chunked_gated_delta}.items():
    print(f"{name:12} {1000 * seconds(form, *text):5.0f} ms")

# %% [markdown]
# ## From pairs to texts
#
# So far, somebody handed you pairs: a key, and the value that belongs to it. A text has no such
# pairs. In "red door, blue window", the key *red* is one word, and the value *door* is the next.
# But in a first layer, each word makes its key and its value from itself alone, so *door* is stored
# under *door*. To be found under *red*, a word's value has to be stored under the key of the word
# *before* it. (In lesson 10, a head of the first layer did that: it looked at the previous token.)
#
# There's a cheaper way. Replace each feature by a weighted sum of its values at this word and at
# the few words before. That's a **short convolution**. Each feature has its own weights, so the key
# can be about the word before, and the value about this one. In Qwen3-Next and Kimi Linear, the
# layers with a state have one, four words wide.
#
# ### Exercise 7: `short_convolution` (7 minutes)
#
# `weight` has a row for each feature. In a row, the last weight is for the word itself, the one
# before it is for the word before, and so on.
#
# - The words before the first one are in `tail`, the newest last. There are width − 1 of them,
#   where width is the number of weights in a row. (With one weight, there are none.) Without a
#   `tail`, they are zeros.
# - Return the weighted sums and the tail for the next piece: the last width − 1 words so far. A
#   piece has at least one word. If it has fewer than width − 1, the rest comes from the old tail
#   or, without a `tail`, is zeros.
# - Leave the old tail as it was.


# %%
def short_convolution(
    x: Float[Tensor, "batch n d"],
    weight: Float[Tensor, "d width"],
    tail: Float[Tensor, "batch n_tail d"] | None = None,
) -> tuple[Float[Tensor, "batch n d"], Float[Tensor, "batch n_tail d"]]:
    """A weighted sum of each word and the few before it, feature by feature, and the new tail.

    tail: the n_tail = width − 1 words before these, as they were before any sum.

    Example: each word, and a tenth of the one before.
        >>> x, weight = torch.tensor([[[1.0], [2.0], [3.0]]]), torch.tensor([[0.1, 1.0]])
        >>> y, tail = short_convolution(x, weight)
        >>> y.flatten(), tail.flatten()
        (tensor([1.0000, 2.1000, 3.2000]), tensor([3.]))
    """
    ### BEGIN SOLUTION
    width = weight.shape[1]
    if tail is None:
        tail = x.new_zeros(x.shape[0], width - 1, x.shape[2])
    words = torch.cat([tail, x], dim=1)
    y = (words.unfold(1, width, 1) * weight).sum(dim=-1)
    return y, words[:, x.shape[1] :]
    ### END SOLUTION


# %%
check(short_convolution)

# %% [markdown]
# ### Exercise 8: `GatedDeltaAttention` (15 minutes)
#
# Now put everything together, in a layer that can take the place of attention. Its parts are there
# already, and so are `Memory` and, from lesson 3, `split_heads`, just below. In `forward`:
#
# 1. Project `x` by `query`, `key` and `value`. Put their features side by side, in this order, and
#    send them through one `short_convolution`, with `convolution` as its weights.
# 2. Take them apart again (`self.widths` says how), and split them into heads.
# 3. Bring queries and keys to length 1, by `F.normalize(…, dim=-1)`.
# 4. β is the sigmoid of `beta`, and `log_decay` is `F.logsigmoid` of `decay`. Both read `x` itself,
#    and both give a number for each word and head. (Move the heads before the words.)
# 5. Then come `chunked_gated_delta`, `norm` for the context of each head, the heads side by side
#    again, and `output`.
#
# If there's a `memory`, go on from its `tail` and its `state`, and then let it hold the new ones,
# not detached. Leave the old tensors as they were: somebody may go on from them with other words.
# Keep nothing on `self`, and leave `__init__` as it is. (Why a norm? Without softmax, the values
# aren't averaged, so a context may be long or short. And why does the bias of `decay` start at 4?
# Its sigmoid is 0.98. From 0, half of everything would fade with each word.) This exercise builds
# on `short_convolution` and `chunked_gated_delta`.


# %%
class Memory:
    """What a layer keeps of the words so far: a state, and a tail. Both are None at first."""

    def __init__(self):
        self.state, self.tail = None, None


def split_heads(x, n_heads):
    """[batch, n, n_heads · d_head] → [batch, n_heads, n, d_head]."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


# %%
class GatedDeltaAttention(nn.Module):
    """Causal attention with a memory of fixed size.

    Source: Yang et al. 2024, Gated Delta Networks, without SiLU and the gate at the end, and with a
    simpler decay.

    Example: seven words at once, and in pieces.
        >>> layer, x = GatedDeltaAttention(d_model=8, n_heads=2, d_k=3, d_v=5), torch.randn(1, 7, 8)
        >>> memory = Memory()
        >>> pieces = [layer(piece, memory) for piece in x.split([4, 1, 2], dim=1)]
        >>> torch.allclose(torch.cat(pieces, dim=1), layer(x), atol=1e-5)
        True
        >>> memory.state.shape, memory.tail.shape
        (torch.Size([1, 2, 3, 5]), torch.Size([1, 3, 22]))
    """

    def __init__(self, d_model: int, n_heads: int, d_k: int, d_v: int) -> None:
        super().__init__()
        self.n_heads, self.widths = n_heads, [n_heads * d_k, n_heads * d_k, n_heads * d_v]
        self.query, self.key, self.value = (
            nn.Linear(d_model, width, bias=False) for width in self.widths
        )
        self.convolution = nn.Parameter(torch.randn(sum(self.widths), 4) / 2)
        self.beta, self.decay = nn.Linear(d_model, n_heads), nn.Linear(d_model, n_heads)
        nn.init.constant_(self.decay.bias, 4.0)
        self.norm = nn.RMSNorm(d_v, eps=1e-6)
        self.output = nn.Linear(n_heads * d_v, d_model, bias=False)

    def forward(
        self, x: Float[Tensor, "batch n d_model"], memory: Memory | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        ### BEGIN SOLUTION
        memory = Memory() if memory is None else memory
        words = torch.cat([self.query(x), self.key(x), self.value(x)], dim=-1)
        words, memory.tail = short_convolution(words, self.convolution, memory.tail)
        parts = words.split(self.widths, dim=-1)
        query, key, value = (split_heads(part, self.n_heads) for part in parts)
        query, key = F.normalize(query, dim=-1), F.normalize(key, dim=-1)
        beta = self.beta(x).sigmoid().transpose(1, 2)
        log_decay = F.logsigmoid(self.decay(x)).transpose(1, 2)
        context, memory.state = chunked_gated_delta(
            query, key, value, beta, log_decay, state=memory.state
        )
        context = self.norm(context)
        return self.output(context.transpose(1, 2).flatten(2))
        ### END SOLUTION


# %%
check(GatedDeltaAttention)

# %% [markdown]
# ## Does it learn to recall?
#
# Now it's a text: first a few pairs, a key and then its value, and after them all the keys once
# more, in another order. After each of these, the model has to say its value. Where the target is
# −100, nothing is asked. (`F.cross_entropy` leaves those out.)


# %%
def recall_texts(size, n_pairs, generator):
    """Tokens and targets, [size, 3 · n_pairs] each. Keys are below 32, values from 32 to 63."""
    key = torch.rand(size, 32, generator=generator).argsort(dim=1)[:, :n_pairs]
    value = torch.randint(32, 64, (size, n_pairs), generator=generator)
    order = torch.rand(size, n_pairs, generator=generator).argsort(dim=1)
    pairs = torch.stack([key, value], dim=2).flatten(1)
    tokens = torch.cat([pairs, key.gather(1, order)], dim=1)
    targets = torch.cat([torch.full_like(pairs, -100), value.gather(1, order)], dim=1)
    return tokens, targets


# %%
tokens, targets = recall_texts(1, 3, torch.Generator().manual_seed(0))
print(tokens.tolist(), targets.tolist())

# %% [markdown]
# The model is the one from lesson 10, without a table of positions, and each block gets the
# attention that you hand it. For recall, attention has to do all the work, so the feed-forward
# networks stay out.


# %%
class Block(nn.Module):
    """A block as in lesson 10, around any attention; without a network, if d_feedforward is 0."""

    def __init__(self, d_model, attention, d_feedforward):
        super().__init__()
        self.attention_norm, self.attention = nn.LayerNorm(d_model), attention
        self.feed_forward = None
        if d_feedforward:
            layers = nn.Linear(d_model, d_feedforward), nn.GELU(), nn.Linear(d_feedforward, d_model)
            self.feed_forward = nn.Sequential(nn.LayerNorm(d_model), *layers)

    def forward(self, x, memory):
        x = x + self.attention(self.attention_norm(x), memory)
        return x + self.feed_forward(x) if self.feed_forward else x


# %%
class Model(nn.Module):
    """Tokens in, logits out; `attentions` has one for each block."""

    def __init__(self, n_tokens, attentions, d_model=64, d_feedforward=0):
        super().__init__()
        self.tokens = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList(Block(d_model, each, d_feedforward) for each in attentions)
        self.norm, self.logits = nn.LayerNorm(d_model), nn.Linear(d_model, n_tokens)

    def forward(self, tokens, memories=None):
        x = self.tokens(tokens)
        for block, memory in zip(self.blocks, memories or [None] * len(self.blocks), strict=True):
            x = block(x, memory)
        return self.logits(self.norm(x))


# %%
def train(model, texts, n_steps, lr=0.01, seed=0):
    """The model, after it was trained on `texts(step, generator)`: tokens and targets."""
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, fused=True)
    for step in steps_of(n_steps):
        tokens, targets = texts(step, generator)
        optimizer.zero_grad()
        F.cross_entropy(model(tokens).flatten(0, 1), targets.flatten()).backward()
        optimizer.step()
    return model


# %%
@torch.no_grad()
def share_right(model, tokens, targets):
    """How many of the targets are the model's likeliest token."""
    asked = targets >= 0
    return (model(tokens).argmax(dim=-1) == targets)[asked].float().mean().item()


def without_convolution(attention):
    """The layer, with a convolution that leaves each word as it is."""
    attention.convolution.requires_grad_(False).zero_()[:, -1] = 1.0
    return attention


# %%
def three_times(n_tokens, attentions, texts, tests, n_steps):
    """How much of each test is right after training, for three seeds, [3, n_tests]."""
    shares = []
    for seed in range(3):
        torch.manual_seed(seed)
        model = train(Model(n_tokens, attentions()), texts, n_steps, seed=seed)
        shares.append([share_right(model, *test) for test in tests])
    return shares


# %%
n_pairs = [2, 4, 8, 16, 32]
recall_tests = [recall_texts(200, n, torch.Generator().manual_seed(9)) for n in n_pairs]


def up_to_16_pairs(step, generator):
    return recall_texts(32, n_pairs[step % 4], generator)


def recall(attentions):
    """How many values three models find, by the number of pairs, [3, 5]."""
    return three_times(64, attentions, up_to_16_pairs, recall_tests, n_steps=250)


# %% [markdown]
# One layer with one head is trained on texts with up to 16 pairs, three times from different random
# weights. **Predict before you run:** with keys of 16 features, it finds at least 9 out of 10
# values among 16 pairs. How many without the convolution?

# %%
predict("without_the_convolution", ...)

# %%
recalled = {
    "16 features": recall(lambda: [GatedDeltaAttention(64, 1, 16, 64)]),
    "4 features": recall(lambda: [GatedDeltaAttention(64, 1, 4, 64)]),
    "without convolution": recall(
        lambda: [without_convolution(GatedDeltaAttention(64, 1, 16, 64))]
    ),
}

# %% reason="rounding, which training magnifies" tags=["nbval-ignore-output"]
plot_lines(
    n_pairs,
    recalled | {"guessing": [1 / n for n in n_pairs]},
    x_name="pairs in the text",
    y_name="found",
    caption="How many values a layer finds: the mean of three seeds, and a band from the lowest to "
    "the highest. Guessing takes any value of the text.",
    dashed=["guessing"],
    log_x=True,
)

# %% [markdown]
# More features, more pairs. That's partly the limit from above, and partly the short practice, with
# at most 16 pairs. Without the convolution, a layer finds half of the values among two pairs, and
# one in seven among sixteen. It knows which values the text has, and guesses. (If it guesses the
# commonest one, it does a little better than the dashed line.)
#
# ## One layer of each kind
#
# Now two layers, the first with a state of 4 features. What should the second one be: another
# state, or softmax? Here is softmax attention, with lesson 7's rotary positions and lesson 10's
# cache:


# %%
def rotate(x, first):
    """Rotary positions for words from place `first` on."""
    n, d = x.shape[-2:]
    speed = 10_000 ** (-torch.arange(0, d, 2) / d)
    angle = torch.arange(first, first + n)[:, None] * speed
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], dim=-1)


# %%
class Cache:
    """The keys and values so far."""

    def __init__(self):
        self.length, self.key, self.value = 0, None, None

    def append(self, key, value):
        """Return all keys and values so far."""
        if self.length:
            key, value = torch.cat([self.key, key], dim=2), torch.cat([self.value, value], dim=2)
        self.length, self.key, self.value = key.shape[2], key, value
        return key, value


# %%
class SoftmaxAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, layers = n_heads, [nn.Linear(d_model, d_model, bias=False) for _ in range(4)]
        self.query, self.key, self.value, self.output = layers

    def forward(self, x, cache=None):
        cache = Cache() if cache is None else cache
        parts = self.query(x), self.key(x), self.value(x)
        query, key, value = (split_heads(each, self.n_heads) for each in parts)
        query, key = rotate(query, cache.length), rotate(key, cache.length)
        key, value = cache.append(key, value)
        keep = torch.ones(x.shape[1], cache.length).tril(cache.length - x.shape[1]).bool()
        context = F.scaled_dot_product_attention(query, key, value, keep)
        return self.output(context.transpose(1, 2).flatten(start_dim=2))


# %%
def small_state():
    return GatedDeltaAttention(64, 1, 4, 64)


# %%
two_layers = {
    "a state, a state": recall(lambda: [small_state(), small_state()]),
    "a state, softmax": recall(lambda: [small_state(), SoftmaxAttention(64, 1)]),
    "softmax, softmax": recall(lambda: [SoftmaxAttention(64, 1), SoftmaxAttention(64, 1)]),
}

# %% reason="rounding, which training magnifies" tags=["nbval-ignore-output"]
for name, shares in two_layers.items():
    of_32 = [shares_of_seed[-1] for shares_of_seed in shares]
    print(f"{name}: {min(of_32):.2f} to {max(of_32):.2f} of 32 pairs")

# %% [markdown]
# In so few steps, a second state doesn't help: two can be harder to train than one. With softmax in
# the second layer, nearly everything is found, about as much as with softmax in both. Each layer
# does what it's good at. The first one's convolution puts each value next to its key, and softmax
# picks the right one out of 32.
#
# Many large models that have layers with a state also have some with softmax. In Qwen3-Next and in
# [Kimi Linear](https://arxiv.org/abs/2510.26692) (both 2025), it's about one layer in four; in
# [Jamba](https://arxiv.org/abs/2403.19887) (2024), one in eight. Not everyone stayed.
# [MiniMax-01](https://arxiv.org/abs/2501.08313) (2025) had softmax in one layer in eight; M2, later
# that year, has it in all of them.
#
# ## Let it write
#
# Can your layer write? Train lesson 10's model on *As You Like It*, with four layers: with softmax
# in all of them, with a state in all of them, and with the two taking turns. They practice on
# pieces of 64 characters. **Predict before you run:** then they read pieces of 1,024. Leave the mix
# aside. Whose loss gets much worse: only that of softmax, only that of the states, each of the two,
# or neither?

# %%
predict("which_gets_worse", ...)

# %%
text = as_you_like_it()
letters = sorted(set(text))
play = torch.tensor([letters.index(letter) for letter in text])
train_part, test_part = play[: len(play) * 9 // 10], play[len(play) * 9 // 10 :]


# %%
def some_pieces(step, generator):
    """Eight pieces of 64 characters, and the characters that come next, [8, 64] each."""
    starts = torch.randint(len(train_part) - 64, (8, 1), generator=generator)
    pieces = train_part[starts + torch.arange(65)]
    return pieces[:, :-1], pieces[:, 1:]


@torch.no_grad()
def loss_on(model, n):
    """The mean loss on pieces of n characters that the model hasn't seen."""
    pieces = test_part[: len(test_part) // n * n].view(-1, n)
    return F.cross_entropy(model(pieces)[:, :-1].flatten(0, 1), pieces[:, 1:].flatten()).item()


# %%
def with_softmax():
    return SoftmaxAttention(64, n_heads=4)


def with_state():
    return GatedDeltaAttention(64, n_heads=4, d_k=16, d_v=16)


# %%
writers = {}
for name, attentions in {
    "softmax": 4 * [with_softmax],
    "half of each": 2 * [with_state, with_softmax],
    "state": 4 * [with_state],
}.items():
    torch.manual_seed(0)
    model = Model(len(letters), [attention() for attention in attentions], d_feedforward=256)
    writers[name] = train(model, some_pieces, n_steps=600, lr=0.003)

# %% tags=["trained"]
for name, model in writers.items():
    print(f"{name:12} {loss_on(model, 64):.2f} nats, {loss_on(model, 1024):.2f} on longer pieces")

# %% [markdown]
# On pieces of 64 characters, the three are close. (Don't rank them by this. Another seed makes as
# much of a difference.) On longer ones, softmax fails: it has never seen words so far away, and
# lesson 7 told you what that does. These states don't mind. They store no places, only what the
# words were and how far they have faded. In the mix, they make up for softmax. (In Kimi Linear, the
# layers with softmax have no positions at all.)
#
# And what does it cost to write? Let each model read 4,096 characters first:


# %%
@torch.no_grad()
def after_reading(model, tokens):
    """What each layer keeps after reading the tokens, [n]."""
    has_state = [isinstance(block.attention, GatedDeltaAttention) for block in model.blocks]
    memories = [Memory() if has else Cache() for has in has_state]
    for piece in tokens[None].split(64, dim=1):
        model(piece, memories)
    return memories


# %%
def kilobytes(memories):
    """How much the layers keep; `vars` has all attributes of an object."""
    kept = (value for memory in memories for value in vars(memory).values())
    return sum(value.nbytes for value in kept if isinstance(value, Tensor)) / 1000


@torch.no_grad()
def write(model, memories, tokens, n_new):
    """The tokens, and n_new more, drawn one after the other."""
    for _ in range(n_new):
        logits = model(tokens[None, -1:], memories)[0, -1]
        new = torch.multinomial((logits / 0.7).softmax(dim=-1), 1)
        tokens = torch.cat([tokens, new])
    return tokens


# %% reason="timings differ from run to run" tags=["nbval-ignore-output"]
for name, model in writers.items():
    memories = after_reading(model, test_part[:4096])
    size = kilobytes(memories)
    milliseconds = 10 * seconds(write, model, memories, test_part[4096:4097], 100, repeats=1)
    print(f"{name:12} {size:7,.0f} kB, {milliseconds:.1f} ms a character")

# %% reason="rounding, which training magnifies" tags=["nbval-ignore-output"]
start = torch.tensor([letters.index(letter) for letter in "ROSALIND\tI "])
memories = after_reading(writers["state"], start[:-1])
written_text = write(writers["state"], memories, start, 300)
print("".join(letters[token] for token in written_text))

# %% [markdown]
# The caches keep growing, and the states stay as they are. It's the same with the time: a step with
# a state takes longer at first, because there's more Python in it, but it never slows down. (One
# thing a cache does better: you can cut off its end and try other words. To go back with a state,
# you need a copy of it.)
#
# So what was lost? In this loss, nothing that shows. These models practiced on 64 characters, and
# use little from farther back. You had to ask for pairs to see what's missing. Remember that when
# somebody shows you a loss.
#
# ## What this doesn't show
#
# A few hundred steps of tiny models show what is easy to learn, not what's best. You can't tell
# from them which rule makes the best language model: train longer, or from other seeds, and the
# order of such layers changes. You can't tell how many layers with softmax a large model needs. A
# layer with softmax helps only if training teaches it to recall. And a state that got used to short
# texts may fail on longer ones, too.
#
# ### Challenge: `swap_key` (optional, 10 minutes)
#
# Can a memory do more than remember? Take a state with n rows, one for each of n cups, and a step
# of the delta rule with the value 0 and β = 2. Find a key, in float32, with which that step swaps
# two rows, i and j, up to rounding, and leaves the others alone. (β = 2 isn't a share anymore. With
# a key of length 1 and the value 0, it turns what the state holds for the key into its opposite: a
# reflection.)


# %%
def swap_key(i: int, j: int, n: int) -> Float[Tensor, " n"]:
    """The key with which a delta step with β = 2 and the value 0 swaps two rows of the state.

    Source: Grazzi et al. 2024.

    Example: cups 0 and 2 of three.
        >>> state, key = torch.tensor([[1.0], [2.0], [3.0]]), swap_key(0, 2, 3)
        >>> _, state = delta_step(state, key, key, torch.zeros(1), torch.tensor(2.0))
        >>> state.round().flatten()
        tensor([3., 2., 1.])
    """
    ### BEGIN SOLUTION
    key = torch.zeros(n)
    key[i], key[j] = 0.5**0.5, -(0.5**0.5)
    return key
    ### END SOLUTION


# %%
check(swap_key)

# %% [markdown]
# Shuffle five cups, 1,000 times, and the state still knows where each one is:

# %%
state, cups = torch.eye(5), list(range(5))
for _ in range(1000):
    i, j = torch.randperm(5)[:2].tolist()
    key = swap_key(i, j, 5)
    _, state = delta_step(state, key, key, torch.zeros(5), torch.tensor(2.0))
    cups[i], cups[j] = cups[j], cups[i]
print(cups, state.argmax(dim=-1).tolist())

# %% [markdown]
# With keys of length 1 and β up to 1, no number of steps can swap two rows: a step's determinant is
# 1 − β, which is 0 or more, and a swap's is −1.
#
# Can a model find such keys by itself? It reads which of three cups stays in place while the other
# two are swapped, and says after each swap in which of the six orders they are. It gets one layer
# with the delta rule and nothing else, or two layers with softmax, and practices with 32 swaps:


# %%
class Tracker(nn.Module):
    """The delta rule alone: nothing fades, and β goes up to `most`."""

    def __init__(self, most):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(64, 16, bias=False) for _ in range(3))
        self.most, self.beta, self.output = most, nn.Linear(64, 2), nn.Linear(16, 64, bias=False)

    def forward(self, x, memory=None):
        parts = self.query(x), self.key(x), self.value(x)
        query, key, value = (split_heads(part, 2) for part in parts)
        query, key = (F.normalize(each, dim=-1) for each in (query, key))
        beta = self.most * self.beta(x).sigmoid().transpose(1, 2)
        context, _ = chunked_gated_delta(query, key, value, beta, torch.zeros_like(beta))
        return self.output(context.transpose(1, 2).flatten(start_dim=2))


# %%
def cup_texts(size, n, generator):
    """Which cup stays in place, and the number of the order after each swap: [size, n] both."""
    stays = torch.randint(3, (size, n), generator=generator)
    swaps = torch.tensor([[0, 2, 1], [2, 1, 0], [1, 0, 2]])
    cups, orders = torch.arange(3).expand(size, 3), []
    for word in range(n):
        cups = cups.gather(1, swaps[stays[:, word]])
        orders.append(2 * cups[:, 0] + (cups[:, 1] > cups[:, 2]))
    return stays, torch.stack(orders, dim=1)


# %%
cup_tests = [cup_texts(100, n, torch.Generator().manual_seed(9)) for n in (32, 256)]


def many_swaps(step, generator):
    return cup_texts(32, 32, generator)


def tracked(attentions):
    """How much three models get right over 32 and over 256 swaps, [3, 2]."""
    return three_times(6, attentions, many_swaps, cup_tests, n_steps=400)


# %%
right = {
    "β up to 1": tracked(lambda: [Tracker(1.0)]),
    "β up to 2": tracked(lambda: [Tracker(2.0)]),
    "softmax": tracked(lambda: [SoftmaxAttention(64, 2), SoftmaxAttention(64, 2)]),
}

# %% reason="rounding, which training magnifies" tags=["nbval-ignore-output"]
for name, shares in right.items():
    short, long = (", ".join(f"{seed[n]:.2f}" for seed in shares) for n in (0, 1))
    print(f"{name}: 32 swaps {short}; 256 swaps {long}")

# %% [markdown]
# With β up to 2, it's right all the time, even over eight times as many swaps. With β up to 1, it
# doesn't do much better than guessing one of six, and neither do two layers with softmax after so
# many steps. (All get the first swap right.) What that means for keeping track of things is in
# [Grazzi et al.](https://arxiv.org/abs/2411.12537), and in Olmo Hybrid (2026), β goes up to 2.
#
# One thing to try: **what if keys come in groups?** Draw keys around ten centers instead of from
# everywhere, as words with similar meanings would be. Which rule suffers more?
#
# ### Further reading
#
# - [Katharopoulos et al. 2020](https://arxiv.org/abs/2006.16236): without softmax, attention needs
#   only a state.
# - [Schlag et al. 2021](https://arxiv.org/abs/2102.11174): linear attention as a memory that is
#   written, and the delta rule to correct it.
# - [Hua et al. 2022](https://arxiv.org/abs/2202.10447) and [Yang et al.
#   2023](https://arxiv.org/abs/2312.06635): chunks, and why they suit the hardware.
# - [Yang, Wang, Zhang et al. 2024](https://arxiv.org/abs/2406.06484): the delta rule in chunks.
# - [Yang, Kautz and Hatamizadeh 2024](https://arxiv.org/abs/2412.06464): a gate for it: the decay.
# - [Grazzi et al. 2024](https://arxiv.org/abs/2411.12537): what β up to 2 is good for.

# %%
progress()
