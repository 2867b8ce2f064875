# %% [markdown]
# # 10. A tiny language model
#
# **How much can a model understand if all it ever does is guess the next character?** In this
# lesson you build a small GPT, train it on a play for half a minute, and let it write. Nobody tells
# it what a word is or who is speaking. Then you train a second model, which learns to copy, and
# find out *how* it copies: which heads do it, what each of them looks at, and how you can be sure.
# That last part is harder than it sounds. You'll see why.
#
# | | |
# |---|---|
# | **You need** | Lessons 3, 5 and 9: heads, training, caches |
# | **You can then** | build and train a small GPT, write with it, and test what its heads do |
#
# Each exercise is followed by a check; `hint`, `failing_case` and `give_up` help as in lesson 1.
# Two sittings are best. The second one starts with a second model.

# %%
import copy

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from autograder import check, failing_case, give_up, hint, predict, progress
from autograder.utils.data import as_you_like_it
from autograder.utils.plots import plot_lines, plot_matrix
from autograder.utils.training import steps_of
from autograder.utils.views import view_heads, view_training, view_writing

# %%
torch.manual_seed(0)
torch.set_num_threads(1)  # small tensors are fastest on one thread
torch.set_printoptions(precision=4, sci_mode=False)

# %% [markdown]
# ## Guess the next character
#
# Here is the text, Shakespeare's *As You Like It*. (Any text will do. At the end, you can use your
# own.)

# %%
text = as_you_like_it()
print(text[1191:1530])

# %% [markdown]
# A model reads numbers, not letters. So each different character gets a number, its **token**.
# Large models use pieces of words as tokens, such as *un*, *know* and *able*, and have tens of
# thousands of them or more. Ours has 68. The last tenth of the play is set aside for testing.

# %%
letters = sorted(set(text))
tokens = torch.tensor([letters.index(letter) for letter in text])
train, test = tokens[: len(tokens) * 9 // 10], tokens[len(tokens) * 9 // 10 :]
print(f"{len(letters)} characters, {len(train):,} tokens to train on, {len(test):,} to test with")


# %%
def to_text(tokens):
    return "".join(letters[token] for token in tokens)


def to_tokens(text):
    return torch.tensor([letters.index(letter) for letter in text])


# %%
print(to_tokens("Touch"), repr(to_text(test[:35])))

# %% [markdown]
# How good is a guess? Say the model gives the character that really comes next a probability of
# $p$. Then its **loss** is $-\ln p$: it is 0 if the model was sure and right and 0.69 for even
# odds, and it grows without limit as $p$ goes to 0. With 68 equally likely characters, it's ln 68:

# %%
n_tokens = len(letters)
-(torch.tensor(1 / n_tokens).log())

# %% [markdown]
# This loss is measured in **nats**. To get a feel for a loss, raise $e$ to it: at 4.22, a model is
# as unsure as if it were choosing among 68 equally likely characters, and at 2, among 7.4. (This
# number, $e^\text{loss}$, is called **perplexity**.)
#
# Always measure a model against something simple. Our baseline is a **bigram** table. It counts
# which character follows which in the training text, and knows nothing else. (Each count starts at
# 1, so that nothing is impossible.) **Predict before you run:** how large is its loss on the part
# that it hasn't seen?

# %%
predict("the_bigram_table", ...)

# %%
pairs = n_tokens * train[:-1] + train[1:]
counts = torch.bincount(pairs, minlength=n_tokens**2).view(n_tokens, n_tokens) + 1
bigram = counts / counts.sum(dim=1, keepdim=True)
bigram_loss = -bigram[test[:-1], test[1:]].log().mean().item()
print(f"{bigram_loss:.2f} nats")

# %% [markdown]
# That's 11 characters instead of 68. A *u* follows a *q*, and a line break often follows a period:
# much of a language is in its pairs. A model that reads more than one character has to beat 2.44.
#
# ### Exercise 1: `next_token_loss` (7 minutes)
#
# A language model gives you **logits**, [batch, n, n_tokens]: at each place one number for every
# token, which softmax turns into the probabilities of what comes *next*. So the logits at place 0
# are about the token at place 1. Nobody has shifted anything for you, so do it here. The last place
# has no next token, so its logits don't count.
#
# Texts in a batch may differ in length. Then the shorter ones are padded, and nobody should be
# graded for guessing padding: if `ignore` is given, leave every place whose *next* token is
# `ignore` out of both the sum and the count. At least one place is always left.
# (`F.cross_entropy(logits, targets, ignore_index=…)` takes [n, n_tokens] and [n], and leaves out
# the targets that are `ignore_index`. You may also use `log_softmax` and `gather`.)


# %%
def next_token_loss(
    logits: Float[Tensor, "batch n n_tokens"],
    tokens: Int[Tensor, "batch n"],
    ignore: int | None = None,
) -> Float[Tensor, ""]:
    """The mean of −ln p(next token), over all places that have a next token.

    ignore: a token that nobody has to predict, such as padding. It may be 0.

    Example: four tokens, all equally likely, and ln 4 is 1.3863.
        >>> next_token_loss(torch.zeros(1, 3, 4), torch.tensor([[0, 3, 1]]))
        tensor(1.3863)
    """
    ### BEGIN SOLUTION
    predicted, following = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
    ignored = -100 if ignore is None else ignore  # no token has the number −100
    return F.cross_entropy(predicted, following, ignore_index=ignored)
    ### END SOLUTION


# %%
check(next_token_loss)

# %% [markdown]
# Why so much fuss about one place? Here are the logits of a "model" that does nothing but repeat
# the character it reads. Compare its logits with the unshifted text, and the model looks perfect:

# %%
sentence = to_tokens("All the world's a stage")[None]
repeated = 20.0 * F.one_hot(sentence, n_tokens)
print(f"unshifted: {F.cross_entropy(repeated.flatten(0, 1), sentence.flatten()):.4f}")
print(f"shifted:   {next_token_loss(repeated, sentence):.4f}")

# %% [markdown]
# So if your loss on a real text falls to 0.01 within a minute, don't celebrate. Look for the answer
# in the input: a missing shift, or a missing mask, which has the same effect.
#
# ## The model
#
# You know nearly all the parts. Here are two from lesson 9: a cache, and causal self-attention that
# can use one. New tokens come last, so the mask's corner is at the lower right. The attention also
# keeps its weights, so that we can look at them later.


# %%
class Cache:
    """The keys and values of one layer, [batch, n_heads, n, d_head] each."""

    def __init__(self):
        self.length, self.pieces = 0, []

    def append(self, key, value):
        """Return all keys and values so far."""
        self.length += key.shape[2]
        self.pieces.append((key, value))
        keys, values = zip(*self.pieces, strict=True)
        return torch.cat(keys, dim=2), torch.cat(values, dim=2)


# %%
def split_heads(x, n_heads):
    """[batch, n, d_model] → [batch, n_heads, n, d_head]."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def causal_softmax(attn_scores):
    """Causal attention weights, for queries that are the last of all tokens."""
    n_query, n_key = attn_scores.shape[-2:]
    keep = torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)
    return attn_scores.masked_fill(~keep, -torch.inf).softmax(dim=-1)


# %%
class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.attn_weights = n_heads, None
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.output = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        parts = self.query(x), self.key(x), self.value(x)
        query, key, value = (split_heads(part, self.n_heads) for part in parts)
        if cache is not None:
            key, value = cache.append(key, value)
        attn_weights = causal_softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5)
        self.attn_weights = attn_weights.detach()  # [batch, n_heads, n_query, n_key]
        return self.output((attn_weights @ value).transpose(1, 2).flatten(2))


# %% [markdown]
# ### Exercise 2: `Block` (6 minutes)
#
# A GPT is a stack of blocks. Each one reads `x`, [batch, n, d_model], and *adds* two things to it:
#
# - what attention makes of the tokens so far: `x + attention(norm(x))`;
# - then what a small network makes of each place by itself: `x + feed_forward(norm(x))`, where `x`
#   already has the first part.
#
# Because every block only adds, `x` runs through the whole model like a river that all blocks draw
# from and feed. It's called the **residual stream**. As in lesson 5, the norms are in the branches
# (**pre-norm**), not in the stream.
#
# Name the parts `attention_norm`, `attention`, `feed_forward_norm` and `feed_forward`. The norms
# are `nn.LayerNorm`s, and the network is an `nn.Sequential` of a linear layer to d_feedforward, an
# `nn.GELU()` (a smooth ReLU, which dips a little below 0) and a linear layer back. Pass the cache
# on to the attention.


# %%
class Block(nn.Module):
    """One block of a GPT, pre-norm.

    Source: Radford et al. 2019, section 2.3.

    Example: a block only adds. If attention and the network add 0, nothing changes.
        >>> block, x = Block(d_model=8, n_heads=2, d_feedforward=16), torch.randn(1, 3, 8)
        >>> for layer in (block.attention.output, block.feed_forward[-1]):
        ...     _ = nn.init.zeros_(layer.weight), nn.init.zeros_(layer.bias)
        >>> torch.equal(block(x), x)
        True
    """

    def __init__(self, d_model: int, n_heads: int, d_feedforward: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.attention_norm = nn.LayerNorm(d_model)
        self.attention = CausalSelfAttention(d_model, n_heads)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        layers = nn.Linear(d_model, d_feedforward), nn.GELU(), nn.Linear(d_feedforward, d_model)
        self.feed_forward = nn.Sequential(*layers)
        ### END SOLUTION

    def forward(
        self, x: Float[Tensor, "batch n d_model"], cache: Cache | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        ### BEGIN SOLUTION
        x = x + self.attention(self.attention_norm(x), cache)
        return x + self.feed_forward(self.feed_forward_norm(x))
        ### END SOLUTION


# %%
check(Block)

# %% [markdown]
# ### Exercise 3: `TinyLanguageModel` (12 minutes)
#
# Now the whole model:
#
# - Each token gets a vector from a table, `tokens`, and each place gets one from another table,
#   `positions`; add the two. Both are `nn.Embedding`s. `n_context` is the number of places; keep it
#   as an attribute.
# - Then come `n_layers` blocks, in an `nn.ModuleList` called `blocks`. Their d_feedforward is
#   4 · d_model.
# - At the end, an `nn.LayerNorm` called `norm`, and a linear layer called `logits`, from d_model to
#   n_tokens.
#
# With `caches`, a list of one cache for each block, the model reads a text in pieces. So the first
# token of a piece isn't at place 0, but at `caches[0].length`. Read that *before* the blocks run:
# they'll change it. (More than n_context tokens don't fit. Exercise 5 will see to that.) This
# exercise builds on `Block`.


# %%
class TinyLanguageModel(nn.Module):
    """A GPT: tokens in, logits of the next token out, at every place.

    Source: Radford et al. 2019.

    Example: five tokens at once, and in two pieces.
        >>> model = TinyLanguageModel(n_tokens=10, d_model=8, n_heads=2, n_layers=3, n_context=6)
        >>> tokens = torch.arange(5)[None]
        >>> caches = [Cache() for _ in range(3)]
        >>> pieces = [model(piece, caches) for piece in tokens.split([2, 3], dim=1)]
        >>> torch.allclose(torch.cat(pieces, dim=1), model(tokens), atol=1e-5)
        True
    """

    def __init__(
        self, n_tokens: int, d_model: int, n_heads: int, n_layers: int, n_context: int
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.n_context = n_context
        self.tokens = nn.Embedding(n_tokens, d_model)
        self.positions = nn.Embedding(n_context, d_model)
        self.blocks = nn.ModuleList(Block(d_model, n_heads, 4 * d_model) for _ in range(n_layers))
        self.norm, self.logits = nn.LayerNorm(d_model), nn.Linear(d_model, n_tokens)
        ### END SOLUTION

    def forward(
        self, tokens: Int[Tensor, "batch n"], caches: list[Cache] | None = None
    ) -> Float[Tensor, "batch n n_tokens"]:
        ### BEGIN SOLUTION
        first = 0 if caches is None else caches[0].length
        places = torch.arange(first, first + tokens.shape[1])
        x = self.tokens(tokens) + self.positions(places)
        for number, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[number])
        return self.logits(self.norm(x))
        ### END SOLUTION


# %%
check(TinyLanguageModel)

# %%
writer = TinyLanguageModel(n_tokens, d_model=64, n_heads=4, n_layers=4, n_context=32)
print(f"{sum(parameter.numel() for parameter in writer.parameters()):,} parameters")

# %% [markdown]
# **Predict before you run:** what's the loss of this model now, before any training?

# %%
predict("before_training", ...)


# %%
@torch.no_grad()
def loss_on(model, tokens, n=32):
    """The mean loss on a long text, cut into pieces of n tokens."""
    pieces = tokens[: len(tokens) // n * n].view(-1, n)
    return next_token_loss(model(pieces), pieces).item()


# %%
print(f"{loss_on(writer, test):.2f} nats")

# %% [markdown]
# About ln 68, and a bit more: the model knows nothing, and says so with a little noise. Check this
# number whenever you start a training run. If it's far above ln n_tokens, the logits start out too
# large, or the loss is a sum where a mean should be. If it's far below, the loss itself is wrong.
#
# ## Training
#
# Each step takes 16 pieces of 33 characters from random places. The model reads 32 of them, and the
# mask makes sure that each place sees only itself and what comes before it, so a piece trains all
# 32 places at once. The 33rd character is only a target. (If the model read it, too, there would be
# no next token for the last place. That place would never learn, and your model will write from
# it.) `steps_of` counts, and shows a progress bar.


# %%
def some_pieces(tokens, generator, size=16, n=33):
    starts = torch.randint(len(tokens) - n + 1, (size, 1), generator=generator)
    return tokens[starts + torch.arange(n)]


# %%
def train_writer(train, test, n_steps, seed=0, every=100):
    """A trained model, and its losses on both texts after every few steps, [2, n_steps / every]."""
    torch.manual_seed(seed)
    model, losses = TinyLanguageModel(n_tokens, 64, 4, 4, 32), []
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.003, fused=True)
    for step in steps_of(n_steps):
        pieces = some_pieces(train, generator)
        logits, following = model(pieces[:, :-1]), pieces[:, 1:]
        optimizer.zero_grad()
        F.cross_entropy(logits.flatten(0, 1), following.flatten()).backward()
        optimizer.step()
        if step % every == 0:
            losses.append([loss_on(model, text) for text in (train[: len(test)], test)])
    return model, torch.tensor(losses).T


# %%
writer, losses = train_writer(train, test, n_steps=1200)

# %% tags=["trained"]
print(f"{losses[1, -1]:.2f} nats")

# %% tags=["trained"]
steps = range(100, 1201, 100)
plot_lines(
    steps,
    {
        "training text": losses[0],
        "test text": losses[1],
        "bigram table": [bigram_loss] * len(steps),
    },
    x_name="steps",
    y_name="loss in nats",
    dashed=["bigram table"],
    caption="Within 200 steps, the model is better than a table of pairs.",
)

# %% [markdown]
# The choice has shrunk from 68 characters to 11 with pairs, and to about 6 with up to 31 characters
# of context. Every further hundredth of a nat is harder to gain.
#
# The two lines drift apart a little: the model knows the training text better than the rest. How
# bad can that get? Take only 2,000 characters of the training text, and train for 400 steps.
# **Predict before you run:** what happens to the loss on the test text?

# %%
predict("too_little_text", ...)

# %% tags=["trained"]
_, overfitted = train_writer(train[20_000:22_000], test, n_steps=400, every=50)
print(f"training text: {overfitted[0, -1]:.2f} nats; test text: {overfitted[1, -1]:.2f} nats")

# %% reason="rounding, which training magnifies" tags=["nbval-ignore-output"]
plot_lines(
    range(50, 401, 50),
    {
        "2,000 characters of training text": overfitted[0],
        "test text": overfitted[1],
        "uniform guess: ln 68": torch.full((8,), n_tokens).log(),
    },
    x_name="steps",
    y_name="loss in nats",
    dashed=["uniform guess: ln 68"],
    caption="After step 100, the better it knows this text, the worse it reads others.",
)

# %% [markdown]
# It learns those 2,000 characters by heart, and after 400 steps it is as lost in the rest of the
# play as if it had never learned anything. (Train on, and it gets worse: after 800 steps, the loss
# there is about 5.1.) The model is confident and wrong there, and that is expensive. This is
# **overfitting**. You can see it only if you set some text aside, and the time to stop is when the
# second line starts to rise.
#
# ## Let it write
#
# To write, ask for the logits at the last place, choose a token, append it, and ask again. But how
# do you choose? Always taking the likeliest character gets boring, and drawing from all 68
# sometimes lands on nonsense. Three knobs help:
#
# - **temperature**: divide the logits by it. Below 1, the likely becomes likelier still; above 1,
#   everything evens out. At 0, take the likeliest, and the other two knobs don't matter.
# - **top-k**: draw only from the k likeliest.
# - **top-p**: draw only from the likeliest tokens that together reach a probability of p. If the
#   model is sure, that's one token; if not, it's many.
#
# ### Exercise 4: `sample` (16 minutes)
#
# Apply the knobs in this order: temperature, top-k, top-p. Each works with the probabilities that
# the one before has left (they sum to 1 again). For top-p, rank the tokens by their probability and
# stop as soon as the sum is p or more, or at the last token. The token that gets it there stays in,
# so there's always at least one. If `top_k` is larger than the number of tokens, keep them all.
# (Tokens that tie for the k-th place may all stay.)
#
# These will help: `x.topk(k).values` has the k largest values of x, from the largest down.
# `x.sort(descending=True)` returns two tensors: all values in that order, and the place in x that
# each one came from. `cumsum` adds up as it goes along: 0.5, 0.3, 0.2 become 0.5, 0.8, 1.0.
#
# `torch.multinomial(probs, 1, generator=generator)` draws one. Return a plain number (`.item()`).
# With the same generator, in the same state, the same token should come out, so draw from nothing
# else.


# %%
def sample(
    logits: Float[Tensor, " n_tokens"],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> int:
    """Draw a token.

    temperature: 0 or more. top_k: 1 or more. top_p: above 0, and at most 1.

    Source of top-p: Holtzman et al. 2020.

    Example: probabilities of 0.5, 0.3 and 0.2. The first two cross the line of 0.7.
        >>> logits = torch.tensor([0.5, 0.3, 0.2]).log()
        >>> {sample(logits, top_p=0.7) for _ in range(100)}
        {0, 1}
        >>> sample(logits, temperature=0)
        0
    """
    ### BEGIN SOLUTION
    if temperature == 0:
        return logits.argmax().item()
    logits = logits / temperature
    if top_k is not None:
        least = logits.topk(min(top_k, len(logits))).values[-1]
        logits = logits.masked_fill(logits < least, -torch.inf)
    probs = logits.softmax(dim=-1)
    if top_p is not None:
        ranked, order = probs.sort(descending=True)
        likelier = ranked.cumsum(dim=-1) - ranked  # the sum of those before each one
        probs[order[likelier >= top_p]] = 0.0
    return torch.multinomial(probs, 1, generator=generator).item()
    ### END SOLUTION


# %%
check(sample)

# %% [markdown]
# ### Exercise 5: `generate` (20 minutes)
#
# Let a model continue a batch of texts. `tokens` is [batch, n], and `how` holds the arguments for
# `sample`. (`**how` collects keyword arguments and passes them on.) The model reads all texts in
# one call. Then draw a token for each text, in their order: `sample` takes one row of logits.
#
# - Use caches, one for each block: read the whole text once, then only the new token each time.
#   Apart from a fresh start, read no token twice, and don't call the model after the last draw.
# - The model has `n_context` places, at least two. Before each call, count the tokens in the cache
#   and those to read next. If that's more than n_context, start over: make new caches, and read the
#   last n_context // 2 tokens of the text, the newest included. (The places of those tokens change,
#   so their keys change, too. That's the price of learned positions.) A text longer than n_context
#   starts that way, too.
# - Nobody needs gradients here: `@torch.no_grad()` is already in place.
#
# Return the text with the n_new tokens appended, [batch, n + n_new]; n_new may be 0. This exercise
# builds on `sample`.


# %%
@torch.no_grad()
def generate(
    model: nn.Module, tokens: Int[Tensor, "batch n"], n_new: int, **how
) -> Int[Tensor, "batch n_more"]:
    """The text, and n_new tokens that the model adds to it, drawn by `sample(logits, **how)`.

    Example: an untrained model, and the likeliest token each time.
        >>> model = TinyLanguageModel(n_tokens=10, d_model=8, n_heads=2, n_layers=1, n_context=6)
        >>> start = torch.tensor([[1, 2, 3]])
        >>> written = generate(model, start, 2, temperature=0)
        >>> written.shape, torch.equal(written[0, 3], model(start)[0, -1].argmax())
        (torch.Size([1, 5]), True)
    """
    ### BEGIN SOLUTION
    caches, unread = [Cache() for _ in model.blocks], tokens
    for _ in range(n_new):
        if caches[0].length + unread.shape[1] > model.n_context:
            caches, unread = [Cache() for _ in model.blocks], tokens[:, -(model.n_context // 2) :]
        logits = model(unread, caches)[:, -1]
        unread = torch.tensor([[sample(row, **how)] for row in logits])
        tokens = torch.cat([tokens, unread], dim=1)
    return tokens
    ### END SOLUTION


# %%
check(generate)

# %% reason="rounding, which training magnifies" tags=["nbval-ignore-output"]
generator = torch.Generator().manual_seed(0)
for temperature in (0.0, 0.7, 1.5):
    how = {"temperature": temperature, "generator": generator}
    written = generate(writer, to_tokens("ROSALIND\tI ")[None], 200, **how)
    print(f"temperature {temperature}:\n{to_text(written[0])}\n")

# %% [markdown]
# At 0, it keeps coming back to the same few words: the likeliest character leads to the likeliest
# character. At 1.5 it babbles. In between, there are words, lines, speakers in capitals, and commas
# where you'd take a breath. Nobody told it about any of this. What it says makes no sense. How
# could it? It's small, it has read a single play, and it never sees more than 32 characters: by the
# end of a line, it has forgotten the beginning.
#
# Play with it. The model runs right on this page, with the weights that you trained. Type your own
# beginning, move the sliders, and watch how each one changes the bars:

# %% reason="rounding, which training magnifies" tags=["nbval-ignore-output"]
view_writing(
    writer,
    letters,
    "ORLANDO\t",
    caption="Your model writes. The bars are the likeliest next characters.",
)

# %% [markdown]
# What do its sixteen heads look at? Here are the four of the first layer, layer 0. Choose a
# character on the left:

# %% reason="rounding, which training magnifies" tags=["nbval-ignore-output"]
phrase = "the forest of Arden"
writer(to_tokens(phrase)[None])
view_heads(
    writer.blocks[0].attention.attn_weights[0],
    list(phrase.replace(" ", "␣")),
    caption="The heads of the first layer in your model.",
)

# %% [markdown]
# Two or three of them look at the character just before, nearly always. That much is easy to name.
# But go to the second layer (`blocks[1]`) or the last, and most of what you see has no name. It's
# tempting to tell a story about each head all the same. How would you know it's true? Let's ask
# that about a model whose task is simple enough for a real answer.
#
# ## A model that copies
#
# (This is where the second sitting starts.)
#
# Texts repeat themselves. Once *Rosalind* has appeared, the next *Ros* is easy to complete: look
# for what came after the last one. Large models do this all the time. Let's train a small one to do
# nothing else. It knows 32 tokens, and each text is 32 tokens long. It begins with 8 to 16
# different tokens in random order, and then repeats them to the end. No model could predict the
# first round. Nor could one know that it's over, unless 16 tokens have come. So the loss counts
# only what comes after the first token of the second round. In the code, `known` says where that
# is.


# %%
def repeating_texts(size, periods, generator):
    """Texts that repeat themselves, and where a token can be known: [size, 32] both."""
    choice = torch.randint(len(periods), (size, 1), generator=generator)
    period = torch.tensor(periods)[choice]
    order = torch.rand(size, 32, generator=generator).argsort(dim=1)
    place = torch.arange(32)
    return order.gather(1, place % period), place > period


def copy_loss(model, texts, known):
    """The loss where the next token can be known."""
    places = known[:, 1:]
    return F.cross_entropy(model(texts)[:, :-1][places], texts[:, 1:][places])


# %%
generator = torch.Generator().manual_seed(0)
texts, _ = repeating_texts(2, [8], generator)
print(texts[0].tolist())

# %% [markdown]
# The model is yours, with two layers of two heads. To make attention do all the work, we take the
# feed-forward networks out:


# %%
class Nothing(nn.Module):
    def forward(self, x):
        return torch.zeros_like(x)


def copier(n_layers):
    """A model without feed-forward networks."""
    model = TinyLanguageModel(32, 64, n_heads=2, n_layers=n_layers, n_context=32)
    for block in model.blocks:
        block.feed_forward = Nothing()
    return model


# %%
def weights_of(model, text):
    """All attention weights for one text, [n_layers, n_heads, n, n]."""
    model(text[None])
    return torch.stack([block.attention.attn_weights[0] for block in model.blocks])


# %%
one_text = repeating_texts(1, [12], torch.Generator().manual_seed(1))[0][0, :24]


# %%
def train_copier(n_layers, periods, n_steps=500, seed=0):
    """A trained model, and every 25 steps, its loss and its attention weights for `one_text`."""
    torch.manual_seed(seed)
    model, losses, weights = copier(n_layers), [], []
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.001, fused=True)
    for step in steps_of(n_steps):
        loss = copy_loss(model, *repeating_texts(32, periods, generator))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 0:
            losses.append(loss.item())
            weights.append(weights_of(model, one_text))
    return model, losses, torch.stack(weights)


# %%
periods = list(range(8, 17))
copies, copy_losses, copy_weights = train_copier(2, periods)

# %% reason="rounding, which training magnifies" tags=["nbval-ignore-output"]
plot_lines(
    range(25, 501, 25),
    {"two layers": copy_losses},
    x_name="steps",
    y_name="loss in nats",
    caption="Learning to copy: slow at first, and then all at once.",
)

# %% [markdown]
# For 150 steps, not much happens. Then the loss drops from 3 to below 0.1 in another 150, and soon
# the model is right nearly every time. It has found something. What? Here are the weights of its
# four heads, for a text with a period of 12:

# %% reason="rounding, which training magnifies" tags=["nbval-ignore-output"]
titles = ["layer 0, head 0", "layer 0, head 1", "layer 1, head 0", "layer 1, head 1"]
plot_matrix(
    copy_weights[-1].flatten(0, 1),
    titles=titles,
    value_range=(0, 1),
    value_name="attention weight",
    caption="A model that copies: what each of its heads looks at in a text of period 12.",
    alt="Four maps. In layer 0, the weight lies just below the diagonal. In layer 1, from the "
    "second round on, it lies on a stripe 11 places to the left of the diagonal.",
)

# %% [markdown]
# Layer 0 has a stripe right below the diagonal, down to place 15: each token looks at **the token
# before it**. (No first round in training was longer than 16, and later rounds don't need it.) In
# layer 1, the stripe begins with the second round and lies 11 places back. When token X comes
# around again, its previous occurrence is 12 places back, and 11 places back is **what came after
# it**.
#
# How would the model know where that is? Elhage et al. (2021) worked it out. The head in layer 0
# copies the previous token into each place's stream, so that each place knows "the token before me
# was X". In layer 1, a token X sends out a query: "who has X right before it?" The key that answers
# belongs to the token that followed X, and its value says which token that is. So two heads work
# together across two layers: a **previous-token head** and an **induction head**.
#
# That's a story, too. Let's put numbers to it.
#
# ### Exercise 6: `previous_token_score` (4 minutes)
#
# How much does each head look at the token just before? Take the mean over all queries that have
# one. (A text has two tokens or more. You don't need `tokens` here: this score and the next take
# the same arguments, so that you can call both the same way.)


# %%
def previous_token_score(
    attn_weights: Float[Tensor, "n_heads n n"], tokens: Int[Tensor, " n"]
) -> Float[Tensor, " n_heads"]:
    """The mean weight on the token one place before, for each head.

    Example: the second query gives it 0.9, the third 0.5.
        >>> attn_weights = torch.tensor([[[1.0, 0.0, 0.0], [0.9, 0.1, 0.0], [0.2, 0.5, 0.3]]])
        >>> previous_token_score(attn_weights, torch.tensor([4, 4, 7]))
        tensor([0.7000])
    """
    ### BEGIN SOLUTION
    return attn_weights.diagonal(-1, dim1=-2, dim2=-1).mean(dim=-1)
    ### END SOLUTION


# %%
check(previous_token_score)

# %% [markdown]
# ### Exercise 7: `induction_score` (15 minutes)
#
# How much does each head look where an induction head would? For a query with token X, that's every
# place right *after* an earlier X. (With X at the places 2 and 5, a query with token X at place 9
# would look at 3 and 6. If place 8 has an X, too, then place 9 comes right after it, and counts as
# well.) Add up the weights on these places, and take the mean over all queries that have such a
# place. If none has, the scores are 0.


# %%
def induction_score(
    attn_weights: Float[Tensor, "n_heads n n"], tokens: Int[Tensor, " n"]
) -> Float[Tensor, " n_heads"]:
    """The mean weight on what came after earlier occurrences of the same token, for each head.

    Source: Olsson et al. 2022.

    Example: only the third query has met its token before, at place 0. What came next is at 1.
        >>> attn_weights = torch.tensor([[[1.0, 0.0, 0.0], [0.9, 0.1, 0.0], [0.2, 0.5, 0.3]]])
        >>> induction_score(attn_weights, torch.tensor([4, 7, 4]))
        tensor([0.5000])
    """
    ### BEGIN SOLUTION
    same = (tokens[:, None] == tokens).tril(-1)  # [query, key]: an earlier place, the same token
    after = F.pad(same, (1, 0))[:, :-1]
    looks = (attn_weights * after).sum(dim=-1)
    return looks.sum(dim=-1) / after.any(dim=-1).sum().clamp(min=1)
    ### END SOLUTION


# %%
check(induction_score)

# %% tags=["trained"]
for layer in range(2):
    for name, score in (("previous", previous_token_score), ("induction", induction_score)):
        found = score(copy_weights[-1, layer], one_text)
        print(f"layer {layer}, {name:9}: {found[0]:.2f} {found[1]:.2f}")

# %% [markdown]
# The numbers agree with the maps: layer 0 looks at the token before, layer 1 at what came after.
# (Layer 0's scores are only about a half, because its stripe fades after place 15.) Now step
# through the training and see when each of the heads appears:

# %% reason="rounding, which training magnifies" tags=["nbval-ignore-output"]
view_training(
    range(25, 501, 25),
    copy_losses,
    copy_weights,
    {
        "previous": [[previous_token_score(w, one_text) for w in maps] for maps in copy_weights],
        "induction": [[induction_score(w, one_text) for w in maps] for maps in copy_weights],
    },
    caption="A model that learns to copy. Move through its training.",
)

# %% [markdown]
# The loss drops when the stripes appear. Case closed, it seems.
#
# ## Three kinds of evidence
#
# Here's a second model, trained in the same way, except that the period is always 12, and 300 steps
# are enough:

# %% tags=["trained"]
shortcut, _, shortcut_weights = train_copier(2, [12], n_steps=300)
for layer in range(2):
    found = induction_score(shortcut_weights[-1, layer], one_text)
    print(f"layer {layer}, induction: {found[0]:.2f} {found[1]:.2f}")

# %% [markdown]
# Papers look for induction heads by scores like these. But a score says only what a head looks at,
# not what comes of it. (Olsson et al., 2022, ask for both: **prefix matching**, which is what our
# score measures, and **copying**, meaning that the head makes the token it looks at likelier.) What
# does the model *do*?
#
# ### Exercise 8: `copy_accuracy` (4 minutes)
#
# How often is a model right where it can know the answer? Its guess is the likeliest token, and a
# guess counts only if its token can be known. `known[:, j]` is True if the token at place j can be
# known, and the guess for it is made one place earlier, at j − 1. No guess is made before the first
# token, so `known[:, 0]` doesn't count, whatever it says. At least one of the others is True.


# %%
def copy_accuracy(
    logits: Float[Tensor, "batch n n_tokens"],
    tokens: Int[Tensor, "batch n"],
    known: Bool[Tensor, "batch n"],
) -> Float[Tensor, ""]:
    """The share of right guesses, over all places whose next token can be known.

    Example: the last two tokens can be known, and the model always guesses 1.
        >>> tokens = torch.tensor([[0, 1, 0, 1]])
        >>> known = torch.tensor([[False, False, True, True]])
        >>> logits = torch.tensor([0.0, 1.0]).expand(1, 4, 2)
        >>> copy_accuracy(logits, tokens, known)
        tensor(0.5000)
    """
    ### BEGIN SOLUTION
    counted = known[:, 1:]
    right = logits[:, :-1].argmax(dim=-1) == tokens[:, 1:]
    return right[counted].float().mean()
    ### END SOLUTION


# %%
check(copy_accuracy)


# %%
@torch.no_grad()
def percent_right(model, periods):
    texts, known = repeating_texts(256, periods, torch.Generator().manual_seed(5))
    return f"{100 * copy_accuracy(model(texts), texts, known).item():.0f}%"


# %% [markdown]
# **Predict before you run:** in a text with a period of 16, how often is this second model right?

# %%
predict("another_period", ...)

# %% tags=["trained"]
for period in (8, 10, 12, 14, 16, 20):
    first, second = percent_right(copies, [period]), percent_right(shortcut, [period])
    print(f"period {period:2}: first model {first:4}, second {second:4}")

# %% tags=["trained"]
other_text = repeating_texts(1, [16], torch.Generator().manual_seed(1))[0][0]
for name, model in (("first", copies), ("second", shortcut)):
    found = induction_score(weights_of(model, other_text)[1], other_text)
    print(f"{name} model, induction at period 16: {found[0]:.2f} {found[1]:.2f}")

# %% [markdown]
# With a period of 16, the second model is never right. It doesn't look for the token's last
# occurrence at all. It looks 11 places back, or 23, whatever is there: in rounds of 12, that's
# where the next token stood one round ago, or two. (With a period of 8, 23 places back is right,
# too, by accident.) For a period of 12, their guesses are equally good, and in layer 1, both got
# nearly the same score. The text was to blame: at period 16, the score tells them apart.
# The first model is right for every period, even for 20, which was never in its training.
#
# And there was a hint: the second model's *layer 0* scores nearly as high as its layer 1. In layer
# 0, no key knows what came before it, so there can't be an induction head.
#
# So a pattern in the weights is only the first kind of evidence. The second: **change something
# that shouldn't matter if the explanation is right**, here the period. A model that looks for the
# token doesn't care; one that counts places does. And the third: **take the head away**, which is
# called **ablation**. If that head does the work, the work stops.
#
# ### Exercise 9: `without_head` (8 minutes)
#
# Return a copy of the model in which one head adds nothing. Which features does head h own?
# Attention hands its output layer the heads side by side, [batch, n, n_heads · d_head], so head h,
# counting from 0, has the h-th stretch of d_head features, and the output layer's weight has one
# column for each of them. (`model.blocks[layer].attention` has four linear layers and `n_heads`. A
# linear layer knows its `in_features`.)
#
# Leave the given model as it is: `copy.deepcopy(model)` copies it with all that it holds. The copy
# should stay in the same mode, with the same parameters trainable. Change a parameter under
# `torch.no_grad()`. And beware of biases: the output layer's bias belongs to no head, so leave it
# alone. If you clear the value layer instead, clear the head's part of its bias, too.


# %%
def without_head(model: nn.Module, layer: int, head: int) -> nn.Module:
    """A copy of the model in which one head adds nothing.

    Example: with its only head gone, attention adds no more than the output layer's bias.
        >>> model = TinyLanguageModel(n_tokens=10, d_model=8, n_heads=1, n_layers=2, n_context=6)
        >>> x = torch.randn(1, 3, 8)
        >>> attention = without_head(model, layer=1, head=0).blocks[1].attention
        >>> torch.allclose(attention(x), attention.output.bias.expand(1, 3, 8), atol=1e-6)
        True
    """
    ### BEGIN SOLUTION
    model = copy.deepcopy(model)
    attention = model.blocks[layer].attention
    d_head = attention.output.in_features // attention.n_heads
    with torch.no_grad():
        attention.output.weight[:, head * d_head : (head + 1) * d_head] = 0.0
    return model
    ### END SOLUTION


# %%
check(without_head)

# %% [markdown]
# Now take the first model apart. **Predict before you run:** both heads of layer 1 are induction
# heads, with scores above 0.9. We take *one* of them out. How often is the model still right?

# %%
predict("one_induction_head_less", ...)

# %% tags=["trained"]
parts = {
    "all heads": copies,
    "without head 0 of layer 0": without_head(copies, 0, 0),
    "without head 1 of layer 0": without_head(copies, 0, 1),
    "without both of layer 0": without_head(without_head(copies, 0, 0), 0, 1),
    "without head 0 of layer 1": without_head(copies, 1, 0),
    "without head 1 of layer 1": without_head(copies, 1, 1),
    "without both of layer 1": without_head(without_head(copies, 1, 0), 1, 1),
}
for name, part in parts.items():
    print(f"{name:26}", percent_right(part, periods))

# %% [markdown]
# Take one induction head out, and the model is still right nearly every time: the other one does
# the same job. (It's less sure, though. Together, the two have a lower loss than either alone.)
# Only without both does the copying stop. Larger models do the same: in GPT-2 small, Wang et al.
# (2022) found heads that start to work only when another is gone, and in a Chinchilla of 7 billion
# parameters, McGrath et al. (2023) saw later layers make up for a missing one. So "nothing
# happened" doesn't mean that a head does nothing. The two previous-token heads below them share
# their work: take out one of them, and more guesses are wrong; take out both, and the model hardly
# copies at all. That fits the story. Without them, the induction heads have nothing to go on.
#
# Finally, the story says that it takes *two* layers. Is that true?

# %% tags=["trained"]
single, _, _ = train_copier(1, periods)
print("one layer:", percent_right(single, periods))

# %% [markdown]
# One layer is right about one time in five. (More steps help a little: after 3,000, it was one time
# in three.) Its keys know their own token and their place, but not what came before them.
#
# That's the story's last claim: what layer 1 takes from layer 0 is in its **keys**. To test it, let
# layer 1 make its queries, its keys or its values from the stream as it was *before* layer 0. (A
# *pre-hook* runs before its module, and what it returns takes the place of the input.)


# %%
def fed_from_below(model, part):
    """A copy whose layer 1 makes one of its projections from the stream before layer 0."""
    model, stream = copy.deepcopy(model), []
    below, above = model.blocks
    below.register_forward_pre_hook(lambda block, inputs: stream.append(inputs[0]))
    projection = getattr(above.attention, part)
    projection.register_forward_pre_hook(lambda layer, inputs: above.attention_norm(stream[-1]))
    return model


# %% tags=["trained"]
for part in ("query", "key", "value"):
    print(f"{part:5} from below:", percent_right(fed_from_below(copies, part), periods))

# %% [markdown]
# Queries and values can do without layer 0: the copying is nearly as good. Without it, the keys are
# useless, and so is the copying. (Elhage et al. call this **K-composition**.)
#
# And your writer? Its task isn't so clean, but you can look for the third kind of evidence: take
# out each of its heads in turn.

# %% reason="rounding, which training magnifies" tags=["nbval-ignore-output"]
whole = loss_on(writer, test)
costs = [
    [round(loss_on(without_head(writer, layer, head), test) - whole, 2) for head in range(4)]
    for layer in range(4)
]
plot_matrix(
    costs,
    row_name="layer",
    column_name="head",
    value_name="rise in nats",
    caption="How much your writer's loss rises, in nats, when one head is taken out.",
)

# %% [markdown]
# For most heads, taking one out raises the loss by a few hundredths of a nat at most. The costliest
# are in the first layer, and they look at the character before. But so does a head there that costs
# a fraction of that: what a head looks at isn't all that it does.
#
# ## What a large model adds, and what it doesn't
#
# The smallest GPT-2 is your `TinyLanguageModel` with 12 blocks of 12 heads instead of 4 of 4, 768
# features instead of 64, a context of 1,024 tokens instead of 32, and 50,257 tokens instead of 68.
# That makes 124 million parameters, since it uses one table for both `tokens` and `logits`; the
# code stays the same except for such details. Most newer models have rotary positions (lesson 7),
# grouped queries and tiles (lesson 9), norms that divide without subtracting the mean (RMSNorm),
# and feed-forward networks with a gate. And they differ in their attention. Here are six from 2019
# to 2025, next to yours:
#
# | model | width | layers | heads × features | key heads | positions | attention |
# |---|---|---|---|---|---|---|
# | yours | 64 | 4 | 4 × 16 | 4 | learned | causal |
# | GPT-2 small, 2019 | 768 | 12 | 12 × 64 | 12 | learned | causal |
# | Llama 2 7B, 2023 | 4,096 | 32 | 32 × 128 | 32 | rotary | causal |
# | DeepSeek-V3, 2024 | 7,168 | 61 | 128 × 192 | latents | YaRN, partial | causal |
# | Gemma 3 4B, 2025 | 2,560 | 34 | 8 × 256 | 4 | rotary | window of 1,024 in 5 of 6 layers |
# | gpt-oss-20b, 2025 | 2,880 | 24 | 64 × 64 | 8 | YaRN | window of 128 in 1 of 2 layers; sinks |
# | Qwen3-Next 80B, 2025 | 2,048 | 48 | 16 × 256 | 2 | rotary, partial | 3 of 4 layers: linear |
#
# (From the models' published configurations, and from the reports on [Llama
# 2](https://arxiv.org/abs/2307.09288), [DeepSeek-V3](https://arxiv.org/abs/2412.19437), [Gemma
# 3](https://arxiv.org/abs/2503.19786) and [gpt-oss](https://arxiv.org/abs/2508.10925), and the page
# of [Qwen3-Next](https://huggingface.co/Qwen/Qwen3-Next-80B-A3B-Instruct). Windows are given in
# tokens. DeepSeek-V3's latents have 512 numbers, and its values 128 features. *Linear* attention
# keeps a state of fixed size instead of a cache. A *sink* is one extra score per head. Softmax adds
# its exponential to each sum, so the weights sum to less than 1.)
#
# Two more words that you will meet. **QK-norm**: Gemma 3 and Qwen3 normalize queries and keys
# before the product, so that no score gets too large. **Mixture of experts**: DeepSeek-V3, gpt-oss
# and Qwen3-Next have many feed-forward networks in most of their blocks, and each token passes
# through only a few of them.
#
# Llama 2 7B was trained on two trillion tokens. Yours has read nine tenths of a play five and a
# half times, one character at a time.
#
# What else they add isn't in the architecture: better text and much more of it, and further
# training on instructions, conversations and ratings of their answers. What most of them don't add
# is another kind of attention. Queries, keys, values, a softmax, a mask, heads: you have built all
# of it.
#
# ## What you can do now
#
# - Turn a text into tokens, and measure a model in **nats** against a baseline, on text that it has
#   never seen.
# - Build a **GPT** from blocks, train it, and notice when it **overfits**.
# - **Write** with it, using temperature, top-k, top-p and caches, past the end of its context.
# - Score heads for a pattern, and test the explanation: **change** what shouldn't matter, and
#   **take out** what should.
#
# ### Test yourself
#
# 1. Your loss is 0.02 after a hundred steps, and what the model writes is garbage. Which two
#    defects do you look for first?
# 2. With `temperature=0.5` and `top_p=0.9`, does it matter which of the two is applied first?
# 3. Somebody finds a head that always looks at the last comma, takes it out, and sees no change in
#    the loss. "So it does nothing," they say. What do you say?
#
# <details>
# <summary>Answers</summary>
#
# 1. Targets that aren't shifted, and a mask that lets each place see the next token. In both cases,
#    the answer is in the input.
# 2. Yes. A low temperature makes the likely likelier, so fewer tokens are needed for 0.9. Apply
#    top-p first, and more of them stay in.
# 3. Another head may do the same job. Take out both, or look at texts in which commas matter.
#
# </details>

# %% [markdown]
# ### Challenge: `speculate` (optional, 15 minutes)
#
# A large model is slow to write each token, but it can judge several at once nearly as fast as one.
# So let a small model, the **draft**, write ahead, and let the large one, the **target**, judge.
# Can that be done so that every text is *exactly* as likely as if the target had written it alone?
# Leviathan et al. (2023) found a rule. The draft has drawn `token` from its own probabilities, $q$.
# The target's are $p$:
#
# - If $p \ge q$ for this token, keep it.
# - If not, keep it with probability $p / q$.
# - If it isn't kept, draw another from the tokens that the draft made too unlikely: from $\max(0, p
#   - q)$, rescaled to sum to 1.
#
# Use `torch.rand((), generator=generator)` for the decision, and `torch.multinomial` for the draw.
# (If $p \ge q$, there is nothing to decide, so you may draw no number there.)


# %%
def speculate(
    draft: Float[Tensor, " n_tokens"],
    target: Float[Tensor, " n_tokens"],
    token: int,
    generator: torch.Generator | None = None,
) -> int:
    """A token as if drawn from `target`, given one that was drawn from `draft`.

    draft, target: probabilities.

    Source: Leviathan et al. 2023, section 2.3.

    Example: the target would never write token 0, and always token 2.
        >>> draft, target = torch.tensor([0.5, 0.5, 0.0]), torch.tensor([0.0, 0.0, 1.0])
        >>> speculate(draft, target, token=0)
        2
    """
    ### BEGIN SOLUTION
    if torch.rand((), generator=generator) < target[token] / draft[token]:
        return token
    lacking = (target - draft).clamp(min=0.0)
    return torch.multinomial(lacking, 1, generator=generator).item()
    ### END SOLUTION


# %%
check(speculate)

# %% [markdown]
# Two things to try. **Your own text:** at the top, replace `text` with any text of 50,000
# characters or more, such as `open("my_text.txt").read()`. Further down, give the model beginnings
# made of the text's own characters (*ROSALIND* and *ORLANDO* are followed by a tab). Then run
# everything again, up to the view where your model writes. Then give your model the beginning of
# somebody else's sentence. **Induction in the wild:** does your writer have an induction head? Let
# it read 16 different letters, in random order, twice in a row, and score all of its heads. (Ours
# has none: no score is above 0.15.)
#
# ### Further reading
#
# - [Radford et al. 2019](https://github.com/openai/gpt-2): GPT-2, its code and the paper. And
#   [Karpathy's nanoGPT](https://github.com/karpathy/nanoGPT), a real GPT in a few hundred lines
#   that you can now read.
# - [Holtzman et al. 2020](https://arxiv.org/abs/1904.09751): why the likeliest text is a dull one,
#   and top-p.
# - [Elhage et al. 2021](https://transformer-circuits.pub/2021/framework/index.html): models
#   without feed-forward networks, taken apart by hand.
# - [Olsson et al. 2022](https://arxiv.org/abs/2209.11895): induction heads in models of all sizes,
#   and the drop in the loss.
# - [Wang et al. 2022](https://arxiv.org/abs/2211.00593): a task in GPT-2, traced through 26 of its
#   heads, stand-ins included.
# - [Leviathan et al. 2023](https://arxiv.org/abs/2211.17192): speculative decoding.

# %%
progress()
