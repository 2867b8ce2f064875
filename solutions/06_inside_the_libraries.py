# %% [markdown]
# # 6. Inside the libraries
#
# **If two layers give the same results, are they the same?** You have written multi-head attention
# by hand. PyTorch and Keras ship it ready-made, with the weights packed differently, the axes in a
# different order, and a few traps. In this lesson you take PyTorch's layer apart weight by weight,
# write the same layer for Keras, and compare all of them in ways that would notice a difference.
# Then you meet a wrong number that none of these comparisons can see.
#
# | | |
# |---|---|
# | **You need** | Lesson 3: multi-head attention; lesson 4: the meaning of `keep` |
# | **You can then** | move weights between layers, and say what a comparison of two layers shows |
#
# Each exercise is followed by a check; `hint`, `failing_case` and `give_up` help as in lesson 1.
# Loading Keras takes a few seconds.

# %%
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from autograder import check, failing_case, give_up, hint, predict, progress
from autograder.utils.costs import peak_megabytes, seconds
from autograder.utils.keras_on_torch import keras, ops
from autograder.utils.plots import plot_attention, plot_growth, plot_lines, plot_matrix
from autograder.utils.views import view_packing

# %%
keras.utils.set_random_seed(0)  # Python's, numpy's and torch's
torch.set_num_threads(1)  # small tensors are fastest on one thread
torch.set_printoptions(precision=4, sci_mode=False)

# %% [markdown]
# ## Ours
#
# This is the module from lesson 3 in a few lines, without dropout, so that this lesson works on its
# own. It has four `nn.Linear`s and keeps the weights of every head.


# %%
def attend(query, key, value, keep=None):
    """Context and weights; a row of `keep` with no True gives zeros."""
    attn_scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if keep is None:
        attn_weights = attn_scores.softmax(dim=-1)
    else:
        lowest = torch.finfo(attn_scores.dtype).min
        attn_weights = attn_scores.masked_fill(~keep, lowest).softmax(dim=-1)
        attn_weights = attn_weights.masked_fill(~keep, 0.0)
    return attn_weights @ value, attn_weights


def heads_of(x, n_heads):
    """[batch, n, d_model] as [batch, n_heads, n, d_head]."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


# %%
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.output = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, query, key, value, keep=None):
        keep = keep[:, None] if keep is not None and keep.dim() == 3 else keep
        projected = self.query(query), self.key(key), self.value(value)
        query, key, value = (heads_of(x, self.n_heads) for x in projected)
        context, attn_weights = attend(query, key, value, keep)
        self.attn_weights = attn_weights.detach()
        return self.output(context.transpose(1, 2).flatten(2))


# %% [markdown]
# And this is PyTorch's, of the same size: 12 features, 3 heads of 4. **Predict before you run:**
# ours has eight parameters, a weight and a bias for each `nn.Linear`. How many does theirs have?

# %%
predict("parameters_of_theirs", ...)

# %%
ours = MultiHeadAttention(d_model=12, n_heads=3)
theirs = nn.MultiheadAttention(embed_dim=12, num_heads=3, batch_first=True)
for layer in (ours, theirs):
    for name, value in layer.named_parameters():
        print(f"{name:<16}{list(value.shape)}")
    print("numbers in all:", sum(value.numel() for value in layer.parameters()), end="\n\n")

# %% [markdown]
# Four instead of eight, and 624 numbers in both. Three of our weights must be hidden in
# `in_proj_weight`: its 36 rows are three times 12.
#
# (When keys or values differ in size from queries, as `kdim` and `vdim` allow, the three can't be
# stacked, and `nn.MultiheadAttention` keeps them apart, as `q_proj_weight` and so on.)

# %% [markdown]
# ## One matrix for three projections
#
# In the paper, every head has three matrices of its own, for queries, keys and values (Vaswani et
# al. 2017, section 3.2.2). Put the heads' matrices together, as in lesson 3, and three large ones
# are left. Stack those, and a single product does all the projecting:
#
# $$x \, [W_Q;\, W_K;\, W_V]^\top = [\,x W_Q^\top,\; x W_K^\top,\; x W_V^\top\,]$$
#
# Lesson 2 wrote a projection as x W. Here the weights are stored the other way around, [d_out,
# d_in], and `F.linear(x, W)` computes `x @ W.T`. Row *i* of a weight makes feature *i* of the
# result. So what we stack along dimension 0 of the weight comes out side by side.
#
# Follow it with numbers you can check by hand: two words of four features, 51 to 58, and packed
# weights 1 to 48.

# %%
x = torch.arange(51.0, 59.0).view(2, 4)
packed = torch.arange(1.0, 49.0).view(12, 4)
print(x)
F.linear(x, packed).shape

# %%
plot_matrix(
    packed.view(3, 4, 4),
    titles=["rows 0–3: query", "rows 4–7: key", "rows 8–11: value"],
    row_labels=[f"makes feature {i}" for i in range(4)],
    column_labels=[f"{i}" for i in range(4)],
    column_name="reads feature",
    row_name="",
    caption="The packed weights of a layer with four features, cut in three.",
)

# %% [markdown]
# Cutting in three is right for PyTorch. The rows below are packed the way GPT-NeoX packs them, head
# by head, but they are cut in three all the same. Choose a row and see where it arrives. Then find
# the settings that bring every row home.

# %%
view_packing(
    n_heads=2,
    d_head=2,
    caption="Two heads of two features. Rows in red arrive in the wrong place.",
)

# %% [markdown]
# **Predict before you run:** feature 0 of the first word's query is row 0 of the weights times the
# word: 1·51 + 2·52 + 3·53 + 4·54. What is it?

# %%
predict("first_feature", ...)

# %%
queries = F.linear(x, packed[:4])
print(queries)
print(x @ packed[:4])

# %% [markdown]
# 530 is the right one. Without the transpose, the shapes fit too, because the weight is square.
# Only the numbers are wrong.
#
# How do we know that the order is query, key, value, and that the rows aren't packed head by head,
# each with its own query, key and value? (GPT-NeoX packs them that way.) We could read PyTorch's
# source. But we can also ask the layer: set a third of the rows to zero, and see what happens. (Its
# biases start at zero, so a third that is zero really makes nothing but zeros.)

# %%
words = torch.randn(2, 5, 12)
rows = {"none": slice(0, 0), "0–11": slice(0, 12), "12–23": slice(12, 24), "24–35": slice(24, 36)}
for name, zeroed in rows.items():
    layer = nn.MultiheadAttention(12, 3, batch_first=True)
    with torch.no_grad():
        layer.in_proj_weight[zeroed] = 0
        result, weights = layer(words, words, words)
    print(f"{name:>5} zero: weights even {weights.std() < 1e-6}, result zero {not result.any()}")

# %% [markdown]
# Without queries or without keys, all scores are 0, and every word gets the same weight. Without
# values, there is nothing to collect. So the last third holds the values, of all heads. The
# comparison after the exercise will tell which of the first two is the query.

# %% [markdown]
# ### Exercise 1: `unpack_projections` (10 minutes)
#
# Take PyTorch's layer apart into a dict of eight tensors, under the names of our module's
# parameters. Cut the packed bias, `in_proj_bias`, as you cut the packed weight. The output
# projection is `out_proj`. Slices will do; `chunk(3)` cuts a tensor into three in one go. And
# `mha.state_dict()` is a dict of all parameters by name.


# %%
def unpack_projections(mha: nn.MultiheadAttention) -> dict[str, Tensor]:
    """Weights and biases of the four projections, by the names of our module's parameters.

    The names are query.weight, query.bias, key.weight, key.bias, value.weight, value.bias,
    output.weight and output.bias. A weight is [d_model, d_model], as in an nn.Linear.

    Example:
        >>> mha = nn.MultiheadAttention(embed_dim=2, num_heads=1)
        >>> with torch.no_grad():
        ...     _ = mha.in_proj_weight.copy_(torch.arange(12.0).view(6, 2))
        >>> unpack_projections(mha)["key.weight"].tolist()
        [[4.0, 5.0], [6.0, 7.0]]
    """
    ### BEGIN SOLUTION
    packed = mha.state_dict()
    unpacked = {"output.weight": packed["out_proj.weight"], "output.bias": packed["out_proj.bias"]}
    for kind in ("weight", "bias"):
        query, key, value = packed[f"in_proj_{kind}"].chunk(3, dim=0)
        unpacked |= {f"query.{kind}": query, f"key.{kind}": key, f"value.{kind}": value}
    return unpacked
    ### END SOLUTION


# %%
check(unpack_projections)

# %% [markdown]
# The names match our module's, so `load_state_dict`, which copies tensors into parameters by their
# names, can load them. Then the two layers should agree. If the first third belonged to the keys,
# they wouldn't: all scores would be transposed. (The reason for `atol=1e-6` comes later.)

# %%
ours.load_state_dict(unpack_projections(theirs))
result, _ = theirs(words, words, words)
torch.allclose(ours(words, words, words), result, atol=1e-6)

# %% [markdown]
# ## A comparison that shows nothing
#
# Someone forgets the biases. They copy only the weights, and their own module starts with biases of
# zero. **Predict before you run:** does the comparison notice?

# %%
predict("does_it_notice", ...)


# %%
def copy_weights_only(ours, theirs):
    """Give ours the weights of theirs, and biases of zero; `state_dict` holds no copies."""
    for name, value in unpack_projections(theirs).items():
        ours.state_dict()[name].copy_(value if name.endswith("weight") else torch.zeros(12))


def difference(ours, theirs, words):
    with torch.no_grad():
        return (ours(words, words, words) - theirs(words, words, words)[0]).abs().max().item()


# %%
copy_weights_only(ours, theirs)
print(f"as it is made:       {difference(ours, theirs, words):.4f}")
nn.init.normal_(theirs.in_proj_bias)
nn.init.normal_(theirs.out_proj.bias)
copy_weights_only(ours, theirs)
print(f"with biases not 0:   {difference(ours, theirs, words):.4f}")

# %% [markdown]
# It doesn't. `nn.MultiheadAttention` starts with all biases at zero, so a layer without biases
# agrees with it. After the first training step, the two would no longer agree. **Before you
# compare, set every parameter to something that can't be mistaken for nothing.** From here on, the
# biases of `theirs` are not zero.

# %% [markdown]
# ## Whose rows are these?
#
# The heads are in there too. Row *i* of the query's weight makes feature *i* of the query, and
# head *h* owns the features from h · d_head up to, but not including, (h + 1) · d_head. So it owns
# those *rows* of the weight, and all columns: every head reads the whole word.
#
# By hand, in the packed weights from above, with two heads:

# %%
print("head 0 of the query:", packed[0:2].tolist())
print("head 1 of the query:", packed[2:4].tolist())

# %% [markdown]
# ### Exercise 2: `per_head` (5 minutes)
#
# Cut the weight of a query, key or value projection into the weights of its heads. A gradient for a
# head's weights has to find its way back to `weight`.


# %%
def per_head(
    weight: Float[Tensor, "d_model d_model"], n_heads: int
) -> Float[Tensor, "n_heads d_head d_model"]:
    """The rows of each head, as a matrix [d_head, d_model].

    Example:
        >>> per_head(torch.arange(16.0).view(4, 4), n_heads=2)[1]
        tensor([[ 8.,  9., 10., 11.],
                [12., 13., 14., 15.]])
    """
    ### BEGIN SOLUTION
    return weight.view(n_heads, -1, weight.shape[1])
    ### END SOLUTION


# %%
check(per_head)

# %% [markdown]
# Now you can compute one head by hand and put it next to the library's. (In a bias, too, a head
# owns d_head consecutive numbers.) Ask the library for the weights of each head with
# `average_attn_weights=False`. Otherwise it gives their mean.

# %%
parts = unpack_projections(theirs)
query = words @ per_head(parts["query.weight"], 3)[1].T + parts["query.bias"].view(3, 4)[1]
key = words @ per_head(parts["key.weight"], 3)[1].T + parts["key.bias"].view(3, 4)[1]
_, head_1 = attend(query, key, key)  # any value will do: we only look at the weights
_, all_heads = theirs(words, words, words, average_attn_weights=False)
print(list(all_heads.shape), torch.allclose(head_1, all_heads[:, 1], atol=1e-6))

# %% [markdown]
# ### What the mean hides
#
# Unless told otherwise, `nn.MultiheadAttention` returns the mean of the weights over the heads.
# Here is a module in which two heads have traded their queries and keys but kept their values.
# **Predict before you run:** compare the mean of the weights, the weights of each head, and the
# result. Which of the three comparisons find it?

# %%
predict("what_finds_the_trade", ...)

# %%
ours.load_state_dict(unpack_projections(theirs))
exchanged = [1, 0, 2]
with torch.no_grad():
    for layer in (ours.query, ours.key):
        layer.weight.copy_(per_head(layer.weight, 3)[exchanged].flatten(0, 1))
        layer.bias.copy_(layer.bias.view(3, 4)[exchanged].flatten())

# %%
result, mean = theirs(words, words, words)
mixed_up = ours(words, words, words)
print("mean of the weights:  ", torch.allclose(ours.attn_weights.mean(1), mean, atol=1e-6))
print("weights of each head: ", torch.allclose(ours.attn_weights, all_heads, atol=1e-6))
print("result:               ", torch.allclose(mixed_up, result, atol=1e-6))

# %% [markdown]
# The mean agrees, and the layer is wrong. Compare the weights of each head, and the result.

# %% [markdown]
# ## Folding the heads into the batch
#
# In lesson 3, the heads got their own axis: [batch, n_heads, n, d_head]. `nn.MultiheadAttention`
# was written for `torch.bmm`, which takes stacks of matrices with *one* axis in front. So it
# **folds** the heads into the batch: two sentences of three heads become six little sentences.
#
# Inside, it puts words first: [n, batch, d_model]. (With `batch_first=True`, it transposes on the
# way in and on the way out.) Then the heads of sentence 0 come first, followed by those of sentence
# 1:
#
# $$\text{folded}[\,b\, n_{\text{heads}} + h,\, i\,] = \text{head } h \text{ of } x[\,i,\, b\,]$$
#
# Take the queries from above. There is one sentence with two words, and two heads of two features,
# so the folded queries are [2, 2, 2]. Head 0 of each word is its first two numbers:

# %%
print(queries)
print("head 0:", queries[:, 0:2].tolist())
print("head 1:", queries[:, 2:4].tolist())

# %% [markdown]
# ### Exercise 3: `fold_heads` (14 minutes)
#
# Words come first here. Remember what `view` does: it reads the same numbers in the same order,
# with different line breaks. In [n, batch, d_model], all numbers of a word are together, head after
# head. Then comes the same word of the next sentence.


# %%
def fold_heads(
    x: Float[Tensor, "n batch d_model"], n_heads: int
) -> Float[Tensor, "batch*n_heads n d_head"]:
    """The heads as if they were sentences: entry b * n_heads + h is head h of sentence b.

    Example:
        >>> x = torch.tensor([[[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]]])
        >>> fold_heads(x, n_heads=2).squeeze(-1)
        tensor([[1., 3., 5.],
                [2., 4., 6.]])
    """
    ### BEGIN SOLUTION
    n, batch, d_model = x.shape
    return x.reshape(n, batch * n_heads, d_model // n_heads).transpose(0, 1)
    ### END SOLUTION


# %%
check(fold_heads)

# %% [markdown]
# Here are the numbers from above, folded. The sentence needs its own axis, between words and
# features:

# %%
folded = fold_heads(queries[:, None], n_heads=2)
folded

# %% [markdown]
# Now two sentences of three words and four features. A number's hundreds say which sentence it is
# from, its tens which word, its ones which feature. **Predict before you run:** what is in entry 2?

# %%
predict("entry_2", ...)

# %%
ones = torch.arange(4.0)
two = torch.stack([torch.stack([100 * b + 10 * i + ones for b in range(2)]) for i in range(3)])
plot_matrix(
    fold_heads(two, n_heads=2),
    titles=[f"{2 * b + h}: b = {b}, h = {h}" for b in range(2) for h in range(2)],
    row_labels=["word 0", "word 1", "word 2"],
    column_labels=["0", "1"],
    row_name="",
    column_name="feature of the head",
    caption="Two sentences b with two heads h each, folded. Hundreds: sentence. Tens: word. "
    "Ones: feature.",
)

# %% [markdown]
# Entry 2 is head 0 of sentence 1, since 2 = 1 · 2 + 0: the first half of each of its words.

# %% [markdown]
# ## All the way through
#
# Now you have all the parts of `nn.MultiheadAttention`. This is what it does in self-attention that
# returns weights, step by step: project with one product, cut in three, fold, attend, unfold,
# project. (A slice of the last dimension is not contiguous in memory. `contiguous` makes a copy
# that is, in case your `fold_heads` calls `view`.)

# %%
x = words.transpose(0, 1)  # words first
packed_result = F.linear(x, theirs.in_proj_weight, theirs.in_proj_bias)
chunks = packed_result.chunk(3, dim=-1)
query, key, value = (fold_heads(chunk.contiguous(), 3) for chunk in chunks)
attn_scores = torch.bmm(query, key.transpose(1, 2)) / 4**0.5
attn_weights = attn_scores.softmax(dim=-1)
context = torch.bmm(attn_weights, value)
unfolded = context.transpose(0, 1).reshape(5, 2, 12)
by_hand = theirs.out_proj(unfolded).transpose(0, 1)

# %%
steps = {
    "words first": x,
    "projected": packed_result,
    "folded": query,
    "attn_weights": attn_weights,
    "context": context,
    "unfolded": unfolded,
    "by hand": by_hand,
}
for name, tensor in steps.items():
    print(f"{name:<13}{list(tensor.shape)}")

# %%
print("result:", torch.allclose(by_hand, theirs(words, words, words)[0], atol=1e-6))
print("weights:", torch.allclose(attn_weights.view(2, 3, 5, 5), all_heads, atol=1e-6))

# %% [markdown]
# ### Masks through the fold
#
# When each sentence has its own mask, [batch, n_query, n_key], the library needs [batch · n_heads,
# n_query, n_key]: folded, with a copy for each head. And True must mean hidden (lesson 4).
#
# PyTorch has two methods that make three copies of two masks, `repeat` and `repeat_interleave`, and
# both have the right shape. **Predict before you run:** which one matches b · n_heads + h?

# %%
predict("copies_of_masks", ...)

# %%
marks = torch.tensor([0, 1])  # the masks of sentence 0 and of sentence 1
print(marks.repeat(3), marks.repeat_interleave(3))

# %%
keep = torch.rand(2, 5, 5) < 0.6
keep[..., 0] = True  # every word may attend to the first at least
ours.load_state_dict(unpack_projections(theirs))
result = ours(words, words, words, keep)
for copies in ((~keep).repeat(3, 1, 1), (~keep).repeat_interleave(3, dim=0)):
    masked, _ = theirs(words, words, words, attn_mask=copies)
    print(torch.allclose(result, masked, atol=1e-6))

# %% [markdown]
# `repeat` gives head 1 of sentence 0 the mask of sentence 1, without a word of complaint.
# `repeat_interleave` keeps the copies of a mask together, as the fold keeps the heads of a sentence
# together.

# %% [markdown]
# ### Exercise 4: `load_from_torch` (7 minutes)
#
# Fill our module with the weights of theirs. Afterward, both give the same results and the same
# weights for every head. Theirs must stay as it is, and share no memory with ours. (Writing into a
# parameter takes `torch.no_grad()`; `load_state_dict` sees to that itself. You may use your
# `unpack_projections`, but you don't have to.)


# %%
def load_from_torch(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    """Copy the parameters of PyTorch's layer into ours, which has the same size.

    Example:
        >>> theirs = nn.MultiheadAttention(embed_dim=4, num_heads=2)
        >>> ours = MultiHeadAttention(d_model=4, n_heads=2)
        >>> load_from_torch(ours, theirs)
        >>> torch.equal(ours.key.weight, theirs.in_proj_weight[4:8])
        True
    """
    ### BEGIN SOLUTION
    d_model = theirs.embed_dim
    with torch.no_grad():
        for number, layer in enumerate((ours.query, ours.key, ours.value)):
            rows = slice(number * d_model, (number + 1) * d_model)
            layer.weight.copy_(theirs.in_proj_weight[rows])
            layer.bias.copy_(theirs.in_proj_bias[rows])
        ours.output.weight.copy_(theirs.out_proj.weight)
        ours.output.bias.copy_(theirs.out_proj.bias)
    ### END SOLUTION


# %%
check(load_from_torch)

# %% [markdown]
# Test it the way the last sections ask: with fresh layers, nonzero biases, a mask, and every head
# by itself.

# %%
theirs = nn.MultiheadAttention(12, 3, batch_first=True)
nn.init.normal_(theirs.in_proj_bias)
nn.init.normal_(theirs.out_proj.bias)
ours = MultiHeadAttention(12, 3)
load_from_torch(ours, theirs)
hidden = (~keep).repeat_interleave(3, dim=0)
mine = ours(words, words, words, keep)
result, weights = theirs(words, words, words, attn_mask=hidden, average_attn_weights=False)

# %%
print("result:", torch.allclose(mine, result, atol=1e-6))
print("weights of each head:", torch.allclose(ours.attn_weights, weights, atol=1e-6))

# %%
plot_attention(
    torch.cat([ours.attn_weights[0], weights[0]]).detach(),
    titles=[f"{whose}: head {h}" for whose in ("ours", "theirs") for h in range(3)],
    caption="The weights of the first sentence, head by head: ours and theirs.",
)

# %% [markdown]
# ## Three more ways to be fooled
#
# **Batch or words first?** `nn.MultiheadAttention` takes [n, batch, d_model] unless you tell it
# `batch_first=True`. **Predict before you run:** what does it do with [batch, n, d_model] when you
# don't?

# %%
predict("without_batch_first", ...)

# %%
words_first = nn.MultiheadAttention(12, 3)
words_first.load_state_dict(theirs.state_dict())
wrong, weights = words_first(words, words, words)
print(list(wrong.shape), list(weights.shape))

# %% [markdown]
# The result has the right shape. But the weights are [5, 2, 2]: it took our 2 sentences for 2
# words, and let the first word of one sentence attend to the first word of the other.
#
# **Train or eval?** A layer with dropout drops weights at random while it is in train mode, and
# every module starts out in train mode. Then two correct layers differ:

# %% reason="which numbers are dropped depends on the processor" tags=["nbval-ignore-output"]
with_dropout = nn.MultiheadAttention(12, 3, dropout=0.2, batch_first=True)
load_from_torch(ours, with_dropout)
print(f"train mode: {difference(ours, with_dropout, words):.4f}")
print(f"eval mode:  {difference(ours, with_dropout.eval(), words):.4f}")

# %% [markdown]
# **How close is close?** Two correct layers don't agree to the last bit: they add the same numbers
# in a different order, and floats round after each step. `torch.allclose(a, b)` allows a difference
# of
#
# $$10^{-8} + 10^{-5} \cdot |b|$$
#
# (from its documentation, which calls the two numbers `atol` and `rtol`). That is a lot for a large
# number and nothing for one near 0. But a result near 0 is often the sum of terms that are not, and
# it carries *their* rounding. Let's try two hundred seeds, with a tiny layer: 6 features, 2 heads.


# %%
def two_results(seed, d_model=6, n=3):
    """The results of a layer with two heads and of its copy in our module, on n words."""
    torch.manual_seed(seed)
    theirs = nn.MultiheadAttention(d_model, 2, batch_first=True)
    nn.init.normal_(theirs.in_proj_bias)
    nn.init.normal_(theirs.out_proj.bias)
    ours = MultiHeadAttention(d_model, 2)
    load_from_torch(ours, theirs)
    words = torch.randn(2, n, d_model)
    return ours(words, words, words).detach(), theirs(words, words, words)[0].detach()


# %%
larger = [torch.allclose(*two_results(seed, d_model=64, n=10)) for seed in range(200)]
pairs = [two_results(seed) for seed in range(200)]
fails = [seed for seed, (a, b) in enumerate(pairs) if not torch.allclose(a, b)]
apart = max((a - b).abs().max().item() for a, b in pairs)

# %% reason="rounding differs from machine to machine" tags=["nbval-ignore-output"]
print(f"the default rejects {len(fails)} of 200 correct layers, with the seeds {fails}")
print(f"largest difference of all: {apart:.0e}")
print(f"with 64 features and 10 words, it rejects {larger.count(False)} of 200")

# %% [markdown]
# A test that fails on a few seeds in a hundred is worse than one that always fails: it passes
# today, and in a month someone hunts for a mistake that isn't there. (How many fail depends on your
# processor, which decides in which order numbers are added.) With the larger layer, the problem
# shows at once: among more numbers, there is nearly always one near 0. What tolerance would have
# been enough for the tiny layer? The plot shows each seed's largest difference as a share of what
# is allowed, in order of size. Above 1, a comparison fails.


# %%
def shares(atol):
    """The largest difference of each seed, divided by what is allowed, in order of size."""
    worst = [((a - b).abs() / (atol + 1e-5 * b.abs())).max().item() for a, b in pairs]
    return torch.tensor(worst).sort().values.clamp(min=1e-4)


# %% reason="rounding differs from machine to machine" tags=["nbval-ignore-output"]
plot_lines(
    torch.arange(200),
    {
        "atol=1e-8, the default": shares(1e-8),
        "atol=1e-6": shares(1e-6),
        "allowed": torch.ones(200),
    },
    dashed=["allowed"],
    log_y=True,
    x_name="seeds, in order of size",
    y_name="difference ÷ allowed",
    caption="The default tolerance rejects some correct layers; atol=1e-6 rejects none.",
)

# %% [markdown]
# float32 has about 7 digits, so for numbers of size 1, a few times 10⁻⁷ is all you can ask. An
# `atol` of 10⁻⁶ leaves room for that, and a mistake is usually larger by orders of magnitude: the
# forgotten biases changed the result by 3.4493. The larger the numbers and the longer the sums, the
# more room they need.

# %% [markdown]
# ## The same layer in Keras
#
# In Keras, an `nn.Module` is a `keras.layers.Layer`, its `forward` is `call`, and an `nn.Linear` is
# a `Dense`. Here Keras 3 computes with PyTorch, so its tensors are PyTorch tensors. Two things
# differ:
#
# - You tell a `Dense` only how many features come out. It makes its parameters when you first call
#   it.
# - Its weight is called the **kernel** and is used as `x @ kernel`: [d_in, d_out], the transpose of
#   PyTorch's.

# %%
dense = keras.layers.Dense(7)
print(list(dense(words).shape), list(dense.kernel.shape), list(dense.bias.shape))
dense.bias.assign(torch.arange(7.0))  # a Dense, too, starts with a bias of zero
torch.allclose(dense(words), words @ dense.kernel.value + dense.bias.value, atol=1e-6)

# %% [markdown]
# ### A published layer, and what is wrong with it
#
# This code makes attention scores the way a widely copied [Keras
# tutorial](https://machinelearningmastery.com/how-to-implement-multi-head-attention-from-scratch-in-tensorflow-and-keras/)
# does. `d_k` is the size of all heads together; `reshape_tensor` cuts it into heads. Read it with
# one question in mind: what is a score divided by?


# %%
class PublishedScores(keras.layers.Layer):
    def __init__(self, n_heads, d_k):
        super().__init__()
        self.n_heads, self.d_k = n_heads, d_k
        self.query, self.key = keras.layers.Dense(d_k), keras.layers.Dense(d_k)

    def reshape_tensor(self, x):
        x = ops.reshape(x, (x.shape[0], x.shape[1], self.n_heads, -1))
        return ops.transpose(x, (0, 2, 1, 3))

    def call(self, query, key):
        query = self.reshape_tensor(self.query(query))
        key = self.reshape_tensor(self.key(key))
        return ops.matmul(query, ops.transpose(key, (0, 1, 3, 2))) / self.d_k**0.5


# %% [markdown]
# A query and a key that meet in a score have d_k / n_heads features each, because every head sees
# only its part. The rule of lesson 2 is to divide by the root of what the dot product sums over.
# This layer divides by the root of the whole d_k.
#
# Let the library be the judge. `keras.layers.MultiHeadAttention` takes `key_dim`, the size of *one*
# head. **Predict before you run:** with d_k 64 and 8 heads, how many times as large are the
# library's scores?

# %%
predict("times_as_large", ...)

# %%
words = torch.randn(4, 5, 32)
published = PublishedScores(n_heads=8, d_k=64)
library = keras.layers.MultiHeadAttention(num_heads=8, key_dim=8)
too_soft = published(words, words)
library(words, words)  # makes its parameters
for mine, its in ((published.query, library.query_dense), (published.key, library.key_dense)):
    its.kernel.assign(ops.reshape(mine.kernel, its.kernel.shape))
_, weights = library(words, words, return_attention_scores=True)

# %% [markdown]
# The library shows weights, not scores. But the logarithm of a weight is its score, up to a number
# that is the same for the whole row. So take differences from the first key:

# %%
scores = weights.log()
ratio = (scores - scores[..., :1])[..., 1:] / (too_soft - too_soft[..., :1])[..., 1:]
print(f"the library's are {ratio.median():.2f} times as large; √8 is {8**0.5:.2f}")

# %%
plot_attention(
    torch.stack([too_soft.softmax(-1)[0, 0], weights[0, 0]]).detach(),
    titles=["divided by √64", "divided by √8"],
    caption="Head 0 of the first sentence: as published, and as the library computes it.",
)

# %% [markdown]
# Every head is too soft: its scores are too small by a factor of √n_heads, so its weights are
# closer to an even mean than they should be. Put weights from another library into this layer, and
# you get different results. And yet it can learn whatever the right layer can: with queries √8
# times as large, it does the same.

# %%
grown = PublishedScores(n_heads=8, d_k=64)
grown(words, words)
grown.set_weights(published.get_weights())
for variable in grown.query.weights:
    variable.assign(variable * 8**0.5)
torch.allclose(grown(words, words).softmax(-1), weights, atol=1e-6)

# %% [markdown]
# So training can make up for the mistake, and a falling loss doesn't show that a layer is right.
#
# The repair is one term. Take the right size where you use it, from the tensor itself: the last
# dimension of the query that goes into the product. Then it can't be anything else.


# %%
class RepairedScores(PublishedScores):
    def call(self, query, key):
        query = self.reshape_tensor(self.query(query))
        key = self.reshape_tensor(self.key(key))
        return ops.matmul(query, ops.transpose(key, (0, 1, 3, 2))) / query.shape[-1] ** 0.5


# %%
repaired = RepairedScores(n_heads=8, d_k=64)
repaired(words, words)
repaired.set_weights(published.get_weights())
torch.allclose(repaired(words, words).softmax(-1), weights, atol=1e-6)

# %% [markdown]
# ### Exercise 5: `KerasMultiHeadAttention` (25 minutes)
#
# Write the whole layer; `heads_of` and `attend` from above may help. Here d_k and d_v are the sizes
# of *one* head, as in the paper, and they may differ. The check looks for:
#
# - four `Dense` layers with biases, named `query`, `key`, `value` and `output_dense`. The first two
#   make d_k features for every head, the third makes d_v, and the last makes d_model;
# - `call`, where there may be more keys than queries;
# - scores divided by the root of what one head sums over;
# - `keep`, a mask, True where a query may attend: [n_query, n_key] or [batch, n_query, n_key]. A
#   query that may attend to nothing gets a context of zeros, never NaN;
# - gradients that flow back to inputs and parameters, with no NaN on the way.
#
# Use `keras.ops` (here `ops`: `reshape`, `swapaxes`, `matmul`, `softmax`, `where` …, with `axis=`
# for PyTorch's `dim=`) or PyTorch's own functions; both work. (Why not `output`, as in our layer?
# Every Keras layer already has an attribute of that name, for models built from `keras.Input`.)


# %%
class KerasMultiHeadAttention(keras.layers.Layer):
    """Attention of several heads as a Keras layer; d_k and d_v are the sizes of one head.

    Example:
        >>> attention = KerasMultiHeadAttention(n_heads=8, d_k=64, d_v=64, d_model=512)
        >>> words = torch.zeros(64, 5, 512)
        >>> attention(words, words, words).shape
        torch.Size([64, 5, 512])
    """

    def __init__(self, n_heads: int, d_k: int, d_v: int, d_model: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.heads = n_heads
        self.query = keras.layers.Dense(n_heads * d_k)
        self.key = keras.layers.Dense(n_heads * d_k)
        self.value = keras.layers.Dense(n_heads * d_v)
        self.output_dense = keras.layers.Dense(d_model)

    def heads_first(self, x: Tensor) -> Tensor:
        """[batch, n, n_heads * d_head] as [batch, n_heads, n, d_head]."""
        heads = ops.reshape(x, (*x.shape[:2], self.heads, -1))
        return ops.swapaxes(heads, 1, 2)
        ### END SOLUTION

    def call(
        self,
        query: Float[Tensor, "batch n_query d_query"],
        key: Float[Tensor, "batch n_key d_input"],
        value: Float[Tensor, "batch n_key d_input"],
        keep: Bool[Tensor, "*batch n_query n_key"] | None = None,
    ) -> Float[Tensor, "batch n_query d_model"]:
        ### BEGIN SOLUTION
        query = self.heads_first(self.query(query))
        key = self.heads_first(self.key(key))
        value = self.heads_first(self.value(value))
        attn_scores = ops.matmul(query, ops.swapaxes(key, -2, -1)) / query.shape[-1] ** 0.5
        if keep is None:
            attn_weights = ops.softmax(attn_scores, axis=-1)
        else:
            keep = keep if len(keep.shape) == 2 else keep[:, None]
            low = torch.finfo(attn_scores.dtype).min
            attn_weights = ops.softmax(ops.where(keep, attn_scores, low), axis=-1)
            attn_weights = ops.where(keep, attn_weights, 0.0)
        context = ops.swapaxes(ops.matmul(attn_weights, value), 1, 2)
        return self.output_dense(ops.reshape(context, (*context.shape[:2], -1)))
        ### END SOLUTION


# %%
check(KerasMultiHeadAttention)

# %% [markdown]
# ### Three layers, one result
#
# First, compare yours with Keras's own layer. Its kernels have an axis for the heads, [d_model,
# n_heads, d_k] (for the output, [n_heads, d_v, d_model]), and you call it with the *value* before
# the key: `layer(query, value, key)`. That is one more silent trap, because both have the same
# shape.

# %%
words = torch.randn(2, 5, 12)
mine = KerasMultiHeadAttention(n_heads=3, d_k=4, d_v=4, d_model=12)
library = keras.layers.MultiHeadAttention(num_heads=3, key_dim=4)
mine(words, words, words), library(words, words)  # make their parameters
layers = {"query": mine.query, "key": mine.key, "value": mine.value, "output": mine.output_dense}
for name, dense in layers.items():
    its = getattr(library, f"{name}_dense")
    dense.bias.assign(torch.randn(12))  # zero at the start, here too
    its.kernel.assign(ops.reshape(dense.kernel, its.kernel.shape))
    its.bias.assign(ops.reshape(dense.bias, its.bias.shape))

# %%
memory, values = torch.randn(2, 6, 12), torch.randn(2, 6, 12)
keep = torch.rand(2, 5, 6) < 0.6
keep[..., 0] = True
result = mine(words, memory, values, keep)
right = library(words, values, memory, attention_mask=keep)
wrong = library(words, memory, values, attention_mask=keep)
print("query, value, key:", torch.allclose(result, right, atol=1e-5))
print("query, key, value:", torch.allclose(result, wrong, atol=1e-5))

# %% [markdown]
# Then compare it with ours. A kernel is the transpose of a weight:

# %%
ours = MultiHeadAttention(d_model=12, n_heads=3)
for name, dense in layers.items():
    with torch.no_grad():
        getattr(ours, name).weight.copy_(dense.kernel.value.T)
        getattr(ours, name).bias.copy_(dense.bias.value)
torch.allclose(ours(words, memory, values, keep), result, atol=1e-5)

# %% [markdown]
# With equal weights, and at least one key for every query, all four compute the same thing: ours,
# PyTorch's, Keras's, and yours for Keras.

# %% [markdown]
# ## What agreeing numbers don't show
#
# By now your comparisons are careful: no bias is zero, a mask is in play, every head is compared by
# itself, and the tolerance fits the numbers. Can a wrong parameter still get past them? Let's try.
# Copy PyTorch's layer into ours, then spoil one of our biases by filling it with sevens. **Predict
# before you run:** we spoil the bias of the query, the key, the value and the output, one at a
# time. Which ones change the result?

# %%
predict("biases_that_count", ...)

# %%
nn.init.normal_(theirs.in_proj_bias)
nn.init.normal_(theirs.out_proj.bias)
hidden = (~keep).repeat_interleave(3, dim=0)
result, weights = theirs(words, memory, values, attn_mask=hidden, average_attn_weights=False)
for name in ("query", "key", "value", "output"):
    load_from_torch(ours, theirs)
    with torch.no_grad():
        getattr(ours, name).bias.fill_(7.0)
    same = torch.allclose(ours(words, memory, values, keep), result, atol=1e-5)
    same_weights = torch.allclose(ours.attn_weights, weights, atol=1e-5)
    print(f"{name:6} bias all sevens: same result {same}, same weights {same_weights}")

# %% [markdown]
# **The key's bias can be anything.** Every test you have passes, with twelve of our numbers
# plainly wrong. Write down a score, and you see why:
#
# $$q_i \cdot (k_j + b) = q_i \cdot k_j + q_i \cdot b$$
#
# The last term depends on the query but not on the key. So it adds the same number to every score
# of a row, and softmax doesn't see that (that's why lesson 1 could subtract the largest score). A
# parameter that doesn't change the result can't be learned, either. **Predict before you run:**
# what is the gradient?

# %%
predict("gradient_of_the_keys_bias", ...)

# %%
load_from_torch(ours, theirs)
ours(words, memory, values, keep).square().sum().backward()
for name in ("query", "key", "value", "output"):
    print(f"{name:6} bias, largest gradient: {getattr(ours, name).bias.grad.abs().max():.4f}")

# %% [markdown]
# It is zero, except for rounding. Training has nothing to teach the key's bias: with plain gradient
# descent, it stays where it starts, and with Adam, which magnifies tiny gradients, it drifts a
# little. (Some models leave it out: OpenAI's Whisper has biases for queries and values, and none
# for keys.)
#
# So what did the comparisons show? That the two layers *do* the same thing, on the inputs we tried.
# They didn't show that the layers *hold* the same numbers. That matters as soon as somebody changes
# the code in between. Rotate queries and keys by their places, for instance, as many language
# models do, and q · b is no longer the same for all keys: the wrong bias comes to light, long after
# the copy that caused it. When the claim is "the parameters were copied", compare the parameters:

# %%
with torch.no_grad():
    ours.key.bias.fill_(7.0)
copied, originals = ours.state_dict(), unpack_projections(theirs)
[name for name in originals if not torch.equal(copied[name], originals[name])]

# %% [markdown]
# ## What it costs
#
# One thing is left to compare: what the layers cost. All of them have the same small formula
# between the projections. `F.scaled_dot_product_attention(query, key, value)` is that formula as
# one call. PyTorch chooses among several ways to compute it. The one it takes here never holds all
# weights at once. It goes through the keys block by block, keeps a running maximum and a running
# sum for each query, and corrects what it has when a larger score comes along. (The running softmax
# is from Milakov and Gimelshein 2018. Attention in blocks, with blocks that fit into fast memory,
# is from Dao et al. 2022, "FlashAttention".)


# %%
def with_sdpa(words):
    """Our module, with the library's function instead of `attend`."""
    projected = ours.query(words), ours.key(words), ours.value(words)
    query, key, value = (heads_of(x, ours.n_heads) for x in projected)
    context = F.scaled_dot_product_attention(query, key, value)
    return ours.output(context.transpose(1, 2).flatten(2))


# %%
ours = MultiHeadAttention(d_model=64, n_heads=4)
theirs = nn.MultiheadAttention(64, 4, batch_first=True)
words = torch.randn(1, 8, 64)
torch.allclose(with_sdpa(words), ours(words, words, words), atol=1e-6)

# %% [markdown]
# We have four candidates: ours; theirs out of the box; theirs when it doesn't have to return the
# weights; and ours with F.scaled_dot_product_attention. **Predict before you run:** with twice the
# words, how many times as much memory does each need?

# %%
predict("memory_of_twice_the_words", ...)

# %%
candidates = {
    "ours": lambda x: ours(x, x, x),
    "nn.MultiheadAttention": lambda x: theirs(x, x, x),
    "…, need_weights=False": lambda x: theirs(x, x, x, need_weights=False),
    "F.scaled_dot_product_attention": with_sdpa,
}
sizes = [128, 256, 512, 1024, 2048]
sentences = [torch.randn(1, n, 64) for n in sizes]
took = {name: [seconds(f, x, repeats=5) for x in sentences] for name, f in candidates.items()}
held = {name: [peak_megabytes(f, x) for x in sentences] for name, f in candidates.items()}

# %% reason="timings differ from run to run" tags=["nbval-ignore-output"]
plot_growth(sizes, took, caption="Seconds for one sentence (64 features, 4 heads), on log axes.")

# %% reason="memory differs a little from machine to machine" tags=["nbval-ignore-output"]
plot_growth(
    sizes,
    held,
    y_name="MB",
    caption="Peak memory in MB, on log axes. Ours takes as much as nn.MultiheadAttention, whose "
    "line hides it.",
)

# %% reason="timings differ from run to run" tags=["nbval-ignore-output"]
for name in candidates:
    print(f"{name:<31} 2048 words: {1000 * took[name][-1]:4.0f} ms, {held[name][-1]:6.1f} MB")

# %% [markdown]
# Memory: any version that makes all the weights, 4 heads · n² numbers of 4 bytes, needs four times
# as much for twice the words, and 2048 words take 67 MB for each copy of them. The scores and the
# weights make two such copies, and that accounts for our module's line.
# F.scaled_dot_product_attention holds one block at a time. Twice the words need twice the memory.
#
# Time: the four projections take 4nd² multiplications (d is d_model), and the scores and the
# weighted sums take 2n²d. So by multiplications alone, the projections cost more up to n = 2d, here
# 128 words, and the attention after that. (On the clock it takes over sooner, because softmax costs
# time too.) All four versions do those n² dot products, so none escapes a slope of 2 in the end.
# The fused call spends less on each, because a block fits into the processor's cache. Versions that
# write all weights to memory can look even steeper for a while: for large tensors, each call may
# have to ask the system for fresh memory, and that can cost more than the products do.
#
# And `nn.MultiheadAttention` is as good as the function it is built on, *if you don't ask for the
# weights*. By default, it computes and averages them for you, whether you look at them or not. In
# training, you usually want `need_weights=False`.
#
# But there is some fine print. **Predict before you run:** with 2048 words and without weights to
# return, which of these cost memory: dropout, a causal mask, eval mode without gradients?

# %%
predict("small_print", ...)

# %%
later = torch.ones(2048, 2048, dtype=torch.bool).triu(1)
dropping = nn.MultiheadAttention(64, 4, dropout=0.1, batch_first=True)
evaluated = nn.MultiheadAttention(64, 4, batch_first=True).eval()
small_print = {
    "in training": lambda x: theirs(x, x, x, need_weights=False),
    "with dropout": lambda x: dropping(x, x, x, need_weights=False),
    "with a causal mask": lambda x: theirs(x, x, x, need_weights=False, attn_mask=later),
    "in eval mode": torch.no_grad()(lambda x: evaluated(x, x, x, need_weights=False)),
}

# %% reason="memory differs a little from machine to machine" tags=["nbval-ignore-output"]
for name, f in small_print.items():
    print(f"{name:18} {peak_megabytes(f, sentences[-1]):6.1f} MB")

# %% [markdown]
# Dropout works on single weights, and on a CPU that means holding all of them at once. A mask of n²
# entries is n² numbers of its own. And in eval mode without gradients, self-attention on a batch,
# with `batch_first=True`, biases, an even number of heads and no float mask, takes yet another
# path, which makes all the weights on a CPU, needed or not. So when memory matters, measure the
# case you have.

# %% [markdown]
# ## What you can do now
#
# - Take `nn.MultiheadAttention` apart: its weights are **packed** along dimension 0, its heads
#   **folded** into the batch.
# - Move weights between PyTorch, Keras and your own module.
# - Set up a comparison that has a chance to fail: no parameter zero, a mask in play, each head by
#   itself, eval mode, a tolerance that fits the numbers.
# - Say what such a comparison **doesn't** show. It can't see the key's bias, so when parameters are
#   the point, compare **parameters**.
# - Write the layer in **Keras**, with the scale that one head needs.
# - Choose **F.scaled_dot_product_attention**, always with a dimension for the heads, or
#   `need_weights=False` when memory matters: without dropout, without a mask of n² entries, and
#   with values as wide as the keys, what they need in training grows with n, not with n².
#
# ### Test yourself
#
# 1. `nn.MultiheadAttention(512, 8)` returns weights of shape [32, 10, 10]. The batch has 32
#    sentences. Where are the heads?
# 2. You copy a layer and forget the *value's* bias. But you set the output's bias so that the
#    results agree. Can that be done? And what would give it away?
# 3. A comparison fails with a largest difference of 3e-7, on results of size 1. What do you do?
#
# <details>
# <summary>Answers</summary>
#
# 1. Gone: they were averaged. Ask for `average_attn_weights=False`.
# 2. Yes. The weights of a row sum to 1, so every context contains the value's bias exactly once,
#    and the output projection turns it into a constant that the output's bias can absorb. Comparing
#    the parameters gives it away. So does a query that may attend to nothing, in a layer that gives
#    such queries zeros: its context holds no value bias.
# 3. That looks like rounding: float32 has about 7 digits. (Lesson 9 makes sure.) Give the
#    comparison an `atol` of about 1e-6, and then check that it would still notice a real mistake,
#    by making one.
#
# </details>

# %% [markdown]
# ### Challenge: `hide_change` (optional, 30 minutes)
#
# The key's bias isn't the only thing that results can't see. Double all queries of a head and halve
# its keys: every score stays the same. In fact, in this layer you can multiply a head's queries by
# *any* matrix that has an inverse, if you do the right thing to its keys. (Lesson 7's rotary
# positions will take most of that freedom away.) How many numbers of a head can you change like
# this without anybody noticing?
#
# Change the weights and both biases (although results can't see the key's), and leave all other
# heads as they are. `torch.linalg.inv` inverts a matrix.


# %%
def hide_change(layer: nn.Module, head: int, mix: Float[Tensor, "d_head d_head"]) -> None:
    """Multiply a head's queries by `mix`, and change its keys so that no result changes.

    A query q becomes mix @ q. layer: our `MultiHeadAttention`, which it changes.

    Example: with one feature, the query doubles and the key is halved.
        >>> tiny = MultiHeadAttention(1, 1)
        >>> before = tiny.query.weight.item(), tiny.key.weight.item()
        >>> hide_change(tiny, 0, torch.tensor([[2.0]]))
        >>> tiny.query.weight.item() / before[0], tiny.key.weight.item() / before[1]
        (2.0, 0.5)
    """
    ### BEGIN SOLUTION
    d_head = len(mix)
    rows = slice(head * d_head, (head + 1) * d_head)
    with torch.no_grad():
        for projection, matrix in ((layer.query, mix), (layer.key, torch.linalg.inv(mix).T)):
            projection.weight[rows] = matrix @ projection.weight[rows]
            projection.bias[rows] = matrix @ projection.bias[rows]
    ### END SOLUTION


# %%
check(hide_change)

# %% [markdown]
# A matrix has d_head² numbers, and any matrix with an inverse will do. So don't read too much into
# single numbers of a trained query or key: only the products $W_Q^\top W_K$ and $b_Q^\top W_K$ of a
# head have a meaning of their own.

# %% [markdown]
# ### Further reading
#
# - PyTorch's
#   [`multi_head_attention_forward`](https://github.com/pytorch/pytorch/blob/main/torch/nn/functional.py)
#   and Keras's
#   [`MultiHeadAttention`](https://github.com/keras-team/keras/blob/master/keras/src/layers/attention/multi_head_attention.py):
#   the code that you have just traced. You can read most of it now.
# - Namazifar, Hazarika and Hakkani-Tur 2023, [*Role of Bias Terms in Dot-Product
#   Attention*](https://arxiv.org/abs/2302.08626): the key's bias is redundant; what the other two
#   do.
# - Milakov and Gimelshein 2018, [*Online Normalizer Calculation for
#   Softmax*](https://arxiv.org/abs/1805.02867): the maximum and the sum in a single pass.
# - Dao et al. 2022, [*FlashAttention*](https://arxiv.org/abs/2205.14135), and Rabe and Staats 2021,
#   [*Self-Attention Does Not Need O(n²) Memory*](https://arxiv.org/abs/2112.05682): from that trick
#   to attention in blocks, for speed and for memory.
# - Goldberg 1991, [*What Every Computer Scientist Should Know About Floating-Point
#   Arithmetic*](https://docs.oracle.com/cd/E19957-01/806-3568/ncg_goldberg.html): why sums taken in
#   a different order differ in the last digits.
#
# You began with six words and a dot product. Now you can open a library's attention and recognize
# every step, and you know how to check the steps that others wrote, and what checking can't tell.
# Lesson 7 adds what attention has lacked all along: a sense of place.

# %%
progress()
