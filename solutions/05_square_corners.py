# %% [markdown]
# # 5. Square corners
#
# **How can a model built from correct parts fail at a job that a minus sign can do?** Given two
# corners of a square, draw the other two: flip the signs of the corners you have, and you're nearly
# there. You have all the parts of a model that learns this. Now you put them together: an encoder
# that reads, a decoder that writes, and a training loop. Your first model will fail. Then you find
# out why, and fix it until it succeeds on every seed you try.
#
# | | |
# |---|---|
# | **You need** | Lessons 3 and 4: attention with heads and masks; what an optimizer does |
# | **You can then** | build an encoder-decoder, train it, and, when it fails, find out why |
#
# Each exercise is followed by a check; `hint`, `failing_case` and `give_up` help as in lesson 1.
# This is the longest lesson. A good place for a break is just before "Train it".
#
# The squares and the first model come from chapter 9 of Daniel Voigt Godoy's *Deep Learning with
# PyTorch Step-by-Step* ([notebooks](https://github.com/dvgodoy/PyTorchStepByStep), MIT license).
# What we change, and why, comes below.

# %%
import math

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from autograder import check, failing_case, give_up, hint, predict, progress
from autograder.utils.data import RUNS, generate_squares
from autograder.utils.plots import (
    draw_encoder_decoder,
    plot_errors,
    plot_losses,
    plot_predictions,
    plot_square_attention,
    plot_squares,
)
from autograder.utils.training import Trainer, evaluate, make_loader, split_squares
from autograder.utils.views import view_square

# %%
torch.manual_seed(0)
torch.set_num_threads(1)  # small tensors are fastest on one thread
torch.set_printoptions(precision=4, sci_mode=False)

# %% [markdown]
# ## Squares
#
# A square is a sequence of four corners. It starts at any of them and goes around in either
# direction. A little noise moves each coordinate (standard deviation 0.1). The first two corners
# are the **source**, the last two the **target**.

# %%
train_squares = generate_squares(256, seed=13).points
test_squares = generate_squares(256, seed=19).points
print(train_squares.shape)
print(train_squares[0])

# %%
plot_squares(
    train_squares[:4],
    caption="Four of the squares. Filled corners are given; the model must draw the hollow ones.",
)

# %% [markdown]
# Could you draw corner 3 of the first square from corners 1 and 2? Two corners fix the start and
# the direction, so they fix the rest. But they don't fix the noise in the rest: nothing in the
# source says which way that noise goes. Its variance, 0.1² = 0.01, is the smallest mean squared
# error that any model can hope for on squares it hasn't seen. This is the **noise floor**. (It is
# an average. The noise that was drawn for one test set may be a little smaller or larger.)
#
# A loss means little without baselines. **Predict before you run:** the corner opposite (1, −1) is
# (−1, 1). How well do you do if you change the sign of both coordinates, to get corner 3 from
# corner 1 and corner 4 from corner 2? What if you keep only the sign, and flip it? And what if you
# always say (0, 0), or repeat the last corner? Which sits on the noise floor: minus the corner, or
# minus the sign?

# %%
predict("at_the_floor", ...)

# %%
source, target = split_squares(test_squares)
guesses = {
    "minus the corner": -source,
    "minus the sign": -source.sign(),
    "zeros": torch.zeros_like(target),
    "last corner": source[:, 1:].expand_as(target),
}
for name, guess in guesses.items():
    print(f"{name:16} {F.mse_loss(guess, target):.4f}")

# %% [markdown]
# "Minus the corner" pays for the noise twice: once in what it copies, once in what it tries to hit.
# "Minus the sign" throws the first away and sits on the noise floor, so the job can be done. A
# model that ignores its input does no better than "zeros", at about 1: zero is the mean of all
# corners, and without looking at the input, no answer beats the mean. "Last corner" is worse than
# not looking: for corner 4 it gets both signs wrong, and for corner 3 one of them.

# %% [markdown]
# ### Spot the defect
#
# These lines follow an early version of the book's notebook. (The current one has 256 squares, and
# the mistake is gone.) **Predict before you run** the cell that compares: what will the model be
# tested on?

# %%
points = generate_squares(128, seed=13).points
full_train = torch.as_tensor(points)
test_points = generate_squares(128, seed=19).points
full_test = torch.as_tensor(points)

# %%
predict("tested_on", ...)

# %%
print("test squares equal to training squares:", torch.equal(full_train, full_test))
print("and ours:", torch.equal(train_squares, test_squares))

# %% [markdown]
# On the training squares: the last line takes `points`, not `test_points`. Nothing fails, and the
# test loss tells you no more than the training loss does. You will meet such a run again below, and
# its losses will give it away.

# %% [markdown]
# ## What the decoder reads
#
# The model writes one corner at a time. Corner 3 comes from the source. Corner 4 comes from the
# source *and* from corner 3. So when the model predicts, what it has written goes back in.
#
# In training, we know the true corner 3, and we feed it in instead of the predicted one. That is
# **teacher forcing**: the model learns all corners at once, and a bad corner 3 doesn't spoil the
# lesson on corner 4. The decoder reads the target moved back by one place, with the last corner of
# the source in front:
#
# | place | reads | should write |
# |---|---|---|
# | 0 | corner 2 | corner 3 |
# | 1 | corner 3 | corner 4 |

# %%
letters = ["corner 1", "corner 2", "corner 3", "corner 4"]
print("reads", letters[1:3])
print("writes", letters[2:])

# %% [markdown]
# ### Exercise 1: `shift_target` (4 minutes)
#
# Cut the decoder's input out of whole sequences. The first `n_source` points are the source.


# %%
def shift_target(
    sequence: Float[Tensor, "batch n d"], n_source: int
) -> Float[Tensor, "batch n_target d"]:
    """What the decoder reads: the target one place back, the last source point in front.

    Example:
        >>> sequence = torch.tensor([[[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0]]])
        >>> shift_target(sequence, 2)
        tensor([[[2., 2.],
                 [3., 3.]]])
    """
    ### BEGIN SOLUTION
    return sequence[:, n_source - 1 : -1]
    ### END SOLUTION


# %%
check(shift_target)

# %% [markdown]
# An input moved one place too far, `sequence[:, 0:2]`, also has the right shape, but then the
# decoder reads the source. If the input isn't moved at all, `sequence[:, 2:4]`, the decoder reads
# what it should write, and learns to copy.

# %% [markdown]
# ## Heads as wide as the model
#
# In lesson 3, the heads shared d_model: each had d_model / n_heads features. Here d_model is only 2
# at first, and there is nothing to share. So each head is d_model wide and has its own projections,
# and the output projection brings n_heads · d_model features back to d_model:
#
# $$\text{result} = [\text{head}_1, \dots, \text{head}_h]\, W^O, \qquad
# \text{head}_i = \text{attention}(Q W_i^Q,\ M W_i^K,\ M W_i^V)$$
#
# (Vaswani et al. 2017, section 3.2.2, with d_k = d_v = d_model.) Queries come from one sequence,
# keys and values from another, the **memory**. In self-attention, both are the same.
#
# Here is the attention from lesson 4 again. Now `keep` may also be left out. Use it as it is.


# %%
def causal_keep(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def masked_attention(query, key, value, keep=None):
    """Context and attention weights; `keep` is True where a query may attend to a key."""
    attn_scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    if keep is not None:
        attn_scores = attn_scores.masked_fill(~keep, torch.finfo(attn_scores.dtype).min)
    attn_weights = torch.softmax(attn_scores, dim=-1)
    if keep is not None:
        attn_weights = attn_weights.masked_fill(~keep, 0.0)
    return attn_weights @ value, attn_weights


# %% [markdown]
# ### Exercise 2: `WideMultiHeadAttention` (24 minutes)
#
# From here on, you write whole classes: `forward` (and later `predict`) is yours to add.
#
# - `output` is an `nn.Linear` from n_heads · d_model to d_model. Make it **first**: layers draw
#   their random start when they are made, so the order decides what a seed gives.
# - `heads` is an `nn.ModuleList`, a list whose modules count as parts of yours, so that an
#   optimizer finds their parameters. Each head has three `nn.Linear`s with bias, `query`, `key` and
#   `value`, made in this order, from d_input to d_model. (`nn.ModuleDict` is a module with named
#   layers: `nn.ModuleDict({"query": …})["query"]`.)
# - `d_input` is d_model unless it is given.
# - `forward(query, memory, keep=None)` returns the result, [batch, n_query, d_model], and leaves
#   the weights of all heads, detached, in `self.attn_weights`: [n_heads, batch, n_query, n_key].
#   (In lesson 3, the batch came first, because all heads were one tensor. Here each head makes its
#   own weights in a loop, and `torch.stack` puts the heads in front.)


# %%
class WideMultiHeadAttention(nn.Module):
    """Attention of several heads, each d_model wide with projections of its own.

    `forward(query, memory, keep=None)`: queries from `query`, keys and values from `memory`;
    `keep` is True where a query may attend to a key.
    Source: Vaswani et al. 2017, section 3.2.2.

    Example:
        >>> attention = WideMultiHeadAttention(n_heads=3, d_model=4, d_input=2)
        >>> attention(torch.zeros(1, 2, 2), torch.zeros(1, 5, 2)).shape
        torch.Size([1, 2, 4])
        >>> attention.attn_weights[0, 0]
        tensor([[0.2000, 0.2000, 0.2000, 0.2000, 0.2000],
                [0.2000, 0.2000, 0.2000, 0.2000, 0.2000]])
    """

    def __init__(self, n_heads: int, d_model: int, d_input: int | None = None) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        d_input = d_model if d_input is None else d_input
        self.output = nn.Linear(n_heads * d_model, d_model)
        self.heads = nn.ModuleList()
        for _ in range(n_heads):
            names = ("query", "key", "value")
            head = nn.ModuleDict({name: nn.Linear(d_input, d_model) for name in names})
            self.heads.append(head)

    def forward(
        self,
        query: Float[Tensor, "batch n_query d_input"],
        memory: Float[Tensor, "batch n_key d_input"],
        keep: Bool[Tensor, "*#batch n_query n_key"] | None = None,
    ) -> Float[Tensor, "batch n_query d_model"]:
        contexts, weights = [], []
        for head in self.heads:
            projected = head["query"](query), head["key"](memory), head["value"](memory)
            context, attn_weights = masked_attention(*projected, keep)
            contexts.append(context)
            weights.append(attn_weights.detach())
        self.attn_weights = torch.stack(weights)
        return self.output(torch.cat(contexts, dim=-1))
        ### END SOLUTION


# %%
check(WideMultiHeadAttention)

# %% [markdown]
# ## The encoder
#
# You have the attention that all parts are made of, and you know what the decoder reads. Here is
# how everything fits together:

# %%
draw_encoder_decoder(caption="An encoder-decoder that completes squares.")

# %% [markdown]
# The encoder lets the source points look at each other, then works on each of them alone:
#
# $$\text{states} = \text{feedforward}(\text{attention}(S, S))$$
#
# The **feed-forward** net is two linear layers with a ReLU between them, which turns negative
# numbers into 0 (Vaswani et al. 2017, section 3.3). It is the same at every place. `nn.Sequential`
# hands the output of each layer to the next.
#
# **Predict before you run:** how many numbers does a layer from 2 to 10 features hold, bias
# included?

# %%
predict("numbers_of_a_layer", ...)

# %%
net = nn.Sequential(nn.Linear(2, 10), nn.ReLU(), nn.Linear(10, 2))
[parameter.numel() for parameter in net.parameters()]

# %% [markdown]
# ### Exercise 3: `Encoder` (7 minutes)
#
# Make two parts, in this order: `attention`, your `WideMultiHeadAttention` from d_input to d_model,
# and `feedforward`, an `nn.Sequential` of a linear layer to d_feedforward, a ReLU, and a linear
# layer back to d_model. `forward(source, keep=None)` hands `keep` to the attention. No residual
# connections yet. This exercise builds on `WideMultiHeadAttention`.


# %%
class Encoder(nn.Module):
    """Self-attention over the source, then a feed-forward net at each place.

    `forward(source, keep=None)`: [batch, n_source, d_input] → [batch, n_source, d_model].

    Example:
        >>> encoder = Encoder(n_heads=3, d_model=2, d_feedforward=10, d_input=2)
        >>> sum(parameter.numel() for parameter in encoder.parameters())
        120
        >>> encoder(torch.zeros(5, 2, 2)).shape
        torch.Size([5, 2, 2])
    """

    def __init__(self, n_heads: int, d_model: int, d_feedforward: int, d_input: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.attention = WideMultiHeadAttention(n_heads, d_model, d_input)
        self.feedforward = nn.Sequential(
            nn.Linear(d_model, d_feedforward), nn.ReLU(), nn.Linear(d_feedforward, d_model)
        )

    def forward(
        self,
        source: Float[Tensor, "batch n_source d_input"],
        keep: Bool[Tensor, "*#batch n_source n_source"] | None = None,
    ) -> Float[Tensor, "batch n_source d_model"]:
        attended = self.attention(source, source, keep)
        return self.feedforward(attended)
        ### END SOLUTION


# %%
check(Encoder)

# %% [markdown]
# With the same seed and the same order of layers, everyone gets the same numbers. For the square
# without noise, they are [−0.0498, 0.2193] and [−0.0642, 0.2258]:

# %%
square = torch.tensor([[[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]]])
torch.manual_seed(11)
encoder = Encoder(n_heads=3, d_model=2, d_feedforward=10, d_input=2)
memory = encoder(square[:, :2])
print(memory.detach())

# %% [markdown]
# These are the book's numbers too. Corner 1 is (−1, −1) and corner 2 is (−1, 1). They are far
# apart, yet their states are almost the same. Remember that.

# %% [markdown]
# ## The decoder
#
# The decoder looks twice. First it looks at what it has read so far, and here no place may see a
# later one: place 0 should write corner 3, and place 1 *reads* corner 3. Then, with the results as
# queries, it looks at the encoder's states, all of them:
#
# $$\begin{aligned}
# x &= \text{self-attention}(T, T,\ \text{target\_keep}) \\ y &= \text{cross-attention}(x,
# \text{memory},\ \text{source\_keep}) \\ \text{out} &= \text{feedforward}(y) \end{aligned}$$
#
# ### Exercise 4: `Decoder` (9 minutes)
#
# Make three parts, in this order: `self_attention` from d_input to d_model, `cross_attention` from
# d_model to d_model, and `feedforward` from d_model through d_feedforward to d_input, because
# corners come out. Mind which mask goes where. This exercise builds on `WideMultiHeadAttention`.


# %%
class Decoder(nn.Module):
    """Self-attention over the target, cross-attention over the memory, a feed-forward net.

    `forward(target, memory, source_keep=None, target_keep=None)`: [batch, n_target, d_input] and
    [batch, n_source, d_model] → [batch, n_target, d_input]. `target_keep` belongs to the
    self-attention, `source_keep` to the cross-attention.

    Example:
        >>> decoder = Decoder(n_heads=3, d_model=2, d_feedforward=10, d_input=2)
        >>> sum(parameter.numel() for parameter in decoder.parameters())
        188
        >>> decoder(torch.zeros(5, 3, 2), torch.zeros(5, 2, 2)).shape
        torch.Size([5, 3, 2])
    """

    def __init__(self, n_heads: int, d_model: int, d_feedforward: int, d_input: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.self_attention = WideMultiHeadAttention(n_heads, d_model, d_input)
        self.cross_attention = WideMultiHeadAttention(n_heads, d_model)
        self.feedforward = nn.Sequential(
            nn.Linear(d_model, d_feedforward), nn.ReLU(), nn.Linear(d_feedforward, d_input)
        )

    def forward(
        self,
        target: Float[Tensor, "batch n_target d_input"],
        memory: Float[Tensor, "batch n_source d_model"],
        source_keep: Bool[Tensor, "*#batch n_target n_source"] | None = None,
        target_keep: Bool[Tensor, "*#batch n_target n_target"] | None = None,
    ) -> Float[Tensor, "batch n_target d_input"]:
        asking = self.self_attention(target, target, target_keep)
        attended = self.cross_attention(asking, memory, source_keep)
        return self.feedforward(attended)
        ### END SOLUTION


# %%
check(Decoder)

# %%
torch.manual_seed(13)
decoder = Decoder(n_heads=3, d_model=2, d_feedforward=10, d_input=2)
shifted = shift_target(square, n_source=2)
out = decoder(shifted, memory, target_keep=causal_keep(2)).detach()
plot_square_attention(
    "decoder self",
    square[0],
    decoder.self_attention.attn_weights[:, 0],
    caption="Decoder self-attention, untrained. Arrows go from the corner that is written to those "
    "it may read. Corner 3 sees only corner 2, with a weight of 1.",
)

# %% [markdown]
# ### Spot the defect
#
# The decoder takes two masks. It is tempting to call the decoder like this, with a single mask
# after the memory. The decoder predicts the square corner by corner: it writes corner 3 first, then
# corner 4, and the mask grows:

# %%
step_1 = decoder(shifted[:, :1], memory, causal_keep(1))
step_2 = decoder(shifted, memory, causal_keep(2))

# %% [markdown]
# Place 0 writes corner 3 in both steps. **Predict before you run:** when the decoder predicts
# corner 4, should corner 3 move? Does it?

# %%
predict("does_corner_3_move", ...)

# %%
print(f"one mask, third: corner 3 moves by {(step_2 - step_1)[0, 0].norm():.4f}")
step_1 = decoder(shifted[:, :1], memory, target_keep=causal_keep(1))
step_2 = decoder(shifted, memory, target_keep=causal_keep(2))
print(f"by name:         corner 3 moves by {(step_2 - step_1)[0, 0].norm():.4f}")

# %% [markdown]
# It should not move at all, and with the mask in the right place, it doesn't. But the third
# argument is `source_keep`, so the target's mask went to the source. In step 2, corner 2 of the
# source is hidden from place 0, which saw it in step 1, and the target is not masked at all. Both
# masks are 2 by 2 here, and nothing complains. Pass masks by name.

# %% [markdown]
# ## The whole model
#
# In training, one pass does everything: encode the source, then decode the shifted target, with a
# causal mask. Predicting takes a loop. It starts from the last source point, and the sequence and
# its mask grow by one each time:
#
# | step | the decoder reads | we keep |
# |---|---|---|
# | 1 | corner 2 | corner 3 |
# | 2 | corner 2, corner 3 | corner 4 |
#
# Only the *last* output of each step is new. The ones before it are already written.
#
# ### Exercise 5: `SquareCompleter` (24 minutes)
#
# - Keep the two parts as `encoder` and `decoder`, and the two numbers as `n_source` and `n_target`.
# - `forward(source, shifted_target)` returns all outputs, with a causal mask on the target. The
#   source needs no mask: all of it is known from the start.
# - `predict(source)` predicts `n_target` points, one at a time, and returns them without the
#   starting point. It masks as `forward` does, so that the decoder meets what it was trained on. It
#   runs in evaluation mode and builds no graph (`torch.no_grad()`). Afterward, the model is in the
#   mode it was in before. (`self.training` tells whether that is train mode, and `self.train(mode)`
#   sets it.)
#
# The check uses its own encoder and decoder, so yours don't matter here.


# %%
class SquareCompleter(nn.Module):
    """An encoder-decoder that completes sequences.

    `forward(source, shifted_target)`, for training: [batch, n_source, d] and
    [batch, n_target, d] → [batch, n_target, d].
    `predict(source)`: [batch, n_source, d] → [batch, n_target, d], point by point.

    Example:
        >>> class AddOne(nn.Module):
        ...     def forward(self, target, memory, source_keep=None, target_keep=None):
        ...         return target + 1
        >>> model = SquareCompleter(nn.Identity(), AddOne(), n_source=2, n_target=3)
        >>> model.predict(torch.tensor([[[4.0], [5.0]]]))
        tensor([[[6.],
                 [7.],
                 [8.]]])
    """

    def __init__(
        self, encoder: nn.Module, decoder: nn.Module, n_source: int, n_target: int
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.encoder, self.decoder = encoder, decoder
        self.n_source, self.n_target = n_source, n_target

    def forward(
        self,
        source: Float[Tensor, "batch n_source d_input"],
        shifted_target: Float[Tensor, "batch n_target d_input"],
    ) -> Float[Tensor, "batch n_target d_input"]:
        memory = self.encoder(source)
        keep = causal_keep(shifted_target.shape[1])
        return self.decoder(shifted_target, memory, target_keep=keep)

    @torch.no_grad()
    def predict(
        self, source: Float[Tensor, "batch n_source d_input"]
    ) -> Float[Tensor, "batch n_target d_input"]:
        was_training = self.training
        self.eval()
        try:
            memory = self.encoder(source)
            written = source[:, -1:]
            for n in range(1, self.n_target + 1):
                out = self.decoder(written, memory, target_keep=causal_keep(n))
                written = torch.cat([written, out[:, -1:]], dim=1)
        finally:
            self.train(was_training)
        return written[:, 1:]
        ### END SOLUTION


# %%
check(SquareCompleter)

# %% [markdown]
# ## One epoch
#
# An **epoch** is one pass over the training squares, batch by batch. For each batch, predict with
# teacher forcing, measure the loss, clear the old gradients (`zero_grad()` on the optimizer),
# compute the new ones (`backward()` on the loss), and take a step (`step()` on the optimizer). Why
# clear? `backward` *adds* to the gradients that are there. **Predict before you run:** the
# derivative of w² at w = 3 is 6. What does the second line say?

# %%
predict("second_gradient", ...)

# %%
w = torch.tensor(3.0, requires_grad=True)
for _ in range(2):
    (w**2).backward()
    print(w.grad)

# %% [markdown]
# ### Exercise 6: `train_epoch` (9 minutes)
#
# `loader` gives batches of (source, target), and may have no length. `model(source,
# shifted_target)` gives the outputs. You make the shifted target yourself: the last source point,
# then the target without its last point. Put the model in training mode, and return the mean of the
# batches' losses as a number.


# %%
def train_epoch(model, loader, loss, optimizer) -> float:
    """Train a model on every batch once, with teacher forcing.

    loss: function of (prediction, target) that gives a scalar.
    Returns the mean loss of the batches, each taken before the step that it led to.

    Example:
        >>> class Constant(nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.c = nn.Parameter(torch.tensor(0.0))
        ...     def forward(self, source, shifted_target):
        ...         return self.c.expand(1, 1, 1)
        >>> model = Constant()
        >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.25)
        >>> loader = [(torch.ones(1, 2, 1), torch.ones(1, 1, 1))] * 2
        >>> train_epoch(model, loader, F.mse_loss, optimizer)
        0.625
        >>> model.c
        Parameter containing:
        tensor(0.7500, requires_grad=True)
    """
    ### BEGIN SOLUTION
    model.train()
    losses = []
    for source, target in loader:
        shifted_target = torch.cat([source[:, -1:], target[:, :-1]], dim=1)
        error = loss(model(source, shifted_target), target)
        optimizer.zero_grad()
        error.backward()
        optimizer.step()
        losses.append(error.item())
    return sum(losses) / len(losses)
    ### END SOLUTION


# %%
check(train_epoch)

# %% [markdown]
# ## Train it
#
# `Trainer` from `autograder.utils.training` calls your `train_epoch` again and again. After each
# epoch, it *predicts* the test squares, without gradients, and records both losses. It shows a
# progress bar. You may interrupt it and run it again, and it continues where it left off. (With a
# file, `trainer.run(120, checkpoint="plain.pt")`, a run survives even a kernel that dies.)
#
# The optimizer is Adam, which adapts the step size to each parameter (Kingma and Ba 2015). All 256
# squares are one batch here, so an epoch is one step, and 120 epochs are 120 steps. We found the
# learning rate of 0.007 by trial and error: with 0.001, the better model below would still be at
# 0.015 to 0.024 after 120 steps, and with 0.01, two seeds in ten ended above 0.016.

# %%
train, test = split_squares(train_squares), split_squares(test_squares)
baselines = {"noise floor": 0.01, "zeros": 1.01}


# %%
def plain():
    """The model as published: 3 heads, d_model 2, 10 hidden features."""
    return SquareCompleter(Encoder(3, 2, 10, 2), Decoder(3, 2, 10, 2), n_source=2, n_target=2)


# %% tags=["trained"]
torch.manual_seed(0)
plain_model = plain()
trainer = Trainer(plain_model, train_epoch, make_loader(*train), test)
history = trainer.run(120)
print(f"training {history.train[-1]:.2f}, test {history.test[-1]:.2f}")

# %% tags=["trained"]
plot_losses(
    {"the plain model": history},
    baselines=baselines,
    caption="The plain model over 120 epochs, between the noise floor and zeros.",
)

# %% [markdown]
# It learned something: its loss is below that of zeros. But it is more than forty times the floor.
# Look at what it draws:

# %% reason="rounding depends on the processor, and grows in training" tags=["nbval-ignore-output"]
prediction = plain_model.predict(test[0])
plot_predictions(
    test[0][:4],
    test[1][:4],
    prediction[:4],
    caption="Blue: the true corners 3 and 4. Orange crosses: what the plain model draws.",
)

# %% [markdown]
# With this seed, both crosses often land on almost the same spot, near the middle of a side: the
# model has learned which side it is, but not which of its ends is corner 3.
#
# Bad luck? A run depends on its seed, which decides where the parameters start. One run says
# little, so let's run three.


# %%
def test_error(build, start, n_epochs=120):
    """Test error of a model after training; the seed `start` decides where it starts."""
    torch.manual_seed(start)
    model, loader = build(), make_loader(*train)
    # `fused` steps all parameters in one call, which is faster than one by one.
    optimizer = torch.optim.Adam(model.parameters(), lr=0.007, fused=True)
    for _ in range(n_epochs):
        train_epoch(model, loader, F.mse_loss, optimizer)
    return evaluate(model, *test)


# %% tags=["trained"]
# The run above had seed 0.
errors = {"plain": [history.test[-1], test_error(plain, 1), test_error(plain, 2)]}
print([f"{error:.2f}" for error in errors["plain"]])

# %% [markdown]
# It fails on every seed, at least within these 120 steps. More steps help, but not enough. The book
# trains it on 256 squares in batches of 16 for 100 epochs, with a learning rate of 0.01. That makes
# 1,600 steps. We did that with twenty seeds: six runs came within twice the floor, and the others
# ended anywhere up to 41 times the floor. (`make bench BENCH=squares` repeats this; it takes too
# long to do here.)

# %% [markdown]
# ## Why does it fail?
#
# The crosses are a clue. Two things must get through to the output: *which square* it is, and
# *which of its places* is being written. The second seems to get lost. So measure both after each
# part: how much its output differs from square to square, and how much from place to place within
# one square. Both are standard deviations; in the source, they are 1.0 and 0.7. **Predict before
# you run:** what is left of each at the end of an untrained model?

# %%
predict("left_at_the_end", ...)

# %% [markdown]
# (The next three cells are machinery. You need to run them, but you don't need to read them. They
# use a *hook*, a function that a module calls with its output after each forward pass.)

# %%
PARTS = [
    "encoder.attention",
    "encoder",
    "decoder.self_attention",
    "decoder.cross_attention",
    "decoder",
]


# %%
def outputs_of(model, parts):
    """What the model's parts make of the training squares, by name."""
    outputs = {}

    def watch(name):
        def hook(part, inputs, out):
            outputs[name] = out

        return model.get_submodule(name).register_forward_hook(hook)

    hooks = [watch(name) for name in parts]
    model(train[0], shift_target(train_squares, 2))
    for hook in hooks:
        hook.remove()
    return outputs


# %%
def print_spread(model, parts):
    """For each part, how much its output differs from square to square and from place to place."""
    for name, out in outputs_of(model, parts).items():
        squares, places = (out.std(dim).mean() for dim in (0, 1))
        print(f"{name:24} squares {squares:.4f}, places {places:.4f}")


# %%
torch.manual_seed(0)
print_spread(plain(), PARTS)

# %% [markdown]
# Each part lets a fraction through, and the fractions multiply. (The decoder's self-attention
# starts over, because it reads the target.) Averaging two corners costs some of the difference, but
# the small random layers cost most of it. With this seed, the squares differ by less than a
# thousandth at the output; with other seeds, mostly by less than seven thousandths.
#
# The places fare worse. Attention gives every place an average of the same values, so the places of
# one square become more and more alike, as you saw in the two states of the encoder. (Dong et al.
# 2021 prove that in attention alone, with no path around it and weights that aren't too large,
# places soon become alike.) After the cross-attention, they differ by less than 0.0001. The model
# starts almost blind to the square, and blinder still to the place.
#
# Are the small layers to blame, then? Double every parameter, and the squares stay apart. **Predict
# before you run:** does that save the plain model?

# %%
predict("louder_numbers", ...)


# %% tags=["trained"]
def louder():
    """A plain model that starts with all parameters twice as large."""
    model = plain()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter *= 2
    return model


torch.manual_seed(0)
print_spread(louder(), ["decoder"])
print([f"{test_error(louder, seed):.2f}" for seed in range(3)])

# %% [markdown]
# On these three seeds it helps, but it's no cure. With seed 0, the squares now differ hundreds of
# times as much at the output. The places still differ by less than 0.001, and the errors stay at
# more than twenty times the floor. (On seven more seeds, it helped three and harmed four.)
#
# So larger numbers won't do. Each place should hold on to what is its own. This tells us what to
# try first: let the input get past each part. (That alone won't be enough, as you'll see. The model
# still has to learn from a signal that gets through.)

# %% [markdown]
# ## Four changes
#
# We make four changes to the model. Then we take each one out again, alone, to see what it is
# worth.
#
# **1. Residual connections.** Each part *adds* to what came in: $x + \text{layer}(x)$ (He et al.
# 2016, "Deep Residual Learning for Image Recognition"). Whatever the layer does, x gets through.
# This needs one width all the way, so a linear layer first brings the corners to d_model features,
# and another brings them back. (The better model also has 2 heads instead of 3, and 32 hidden
# features instead of 10. We don't test those two.)
#
# **2. Positions.** Without a mask, attention doesn't know order: swap corners 1 and 2 of the
# source, and the decoder sees the same set of states.

# %%
shifted = shift_target(train_squares, 2)
swapped = plain_model(train[0].flip(1), shifted)
print("the same:", torch.allclose(swapped, plain_model(train[0], shifted), atol=1e-5))

# %% [markdown]
# With its source points swapped, the plain model gives the same result. A **learned position** is a
# vector for each place, added to whatever is there. Do we need it here? The decoder also reads
# corner 2 itself, so it may find out which is which. We'll see.
#
# **3. Width.** 16 features instead of 2.
#
# **4. Layer norm** before each part, and once more at the end of the encoder and of the decoder. It
# shifts and scales the features of one place to mean 0 and variance 1, so that every part works at
# a scale it can use (Ba et al. 2016, "Layer Normalization"; before the part, as in Xiong et al.
# 2020, "On Layer Normalization in the Transformer Architecture"). **Predict before you run:**
# what's left of a place with two features?

# %%
predict("norm_of_two", ...)

# %%
F.layer_norm(torch.tensor([[0.3, 0.1], [5.0, -2.0], [0.1, 0.2]]), [2])

# %% [markdown]
# If two features have mean 0 and variance 1, one is 1 and the other −1 (nearly so, unless they were
# nearly equal). All that is left is which of them is larger. Change a feature a little, and hardly
# anything changes after the norm, so hardly any gradient comes back through it. With 16 features,
# there is more to say.
#
# Here are the parts. They take the class of attention to use; that will be yours.


# %%
class Around(nn.Module):
    """x + layer(norm(x)): what goes in stays in the sum."""

    def __init__(self, d_model, norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model) if norm else nn.Identity()

    def forward(self, x, layer):
        return x + layer(self.norm(x))


# %%
class Embedding(nn.Module):
    """Corners as vectors of d_model features, each with the vector of its place added."""

    def __init__(self, d_model, positions):
        super().__init__()
        self.features = nn.Linear(2, d_model)
        start = torch.randn(2, d_model) * 0.1 * positions
        self.positions = nn.Parameter(start, requires_grad=positions)

    def forward(self, corners):
        return self.features(corners) + self.positions[: corners.shape[1]]


# %%
def feed_forward(d_model):
    return nn.Sequential(nn.Linear(d_model, 32), nn.ReLU(), nn.Linear(32, d_model))


# %%
class BetterEncoder(nn.Module):
    def __init__(self, attention, d_model=16, positions=True, norm=True):
        super().__init__()
        self.embed = Embedding(d_model, positions)
        self.attention = attention(2, d_model)
        self.each_place = feed_forward(d_model)
        self.around = nn.ModuleList(Around(d_model, norm) for _ in range(2))
        self.norm = nn.LayerNorm(d_model) if norm else nn.Identity()

    def forward(self, source, keep=None):
        x = self.around[0](self.embed(source), lambda y: self.attention(y, y, keep))
        return self.norm(self.around[1](x, self.each_place))


# %%
class BetterDecoder(nn.Module):
    def __init__(self, attention, d_model=16, positions=True, norm=True):
        super().__init__()
        self.embed = Embedding(d_model, positions)
        self.self_attention = attention(2, d_model)
        self.each_place = feed_forward(d_model)
        self.cross_attention = attention(2, d_model)
        self.around = nn.ModuleList(Around(d_model, norm) for _ in range(3))
        self.norm = nn.LayerNorm(d_model) if norm else nn.Identity()
        self.corners = nn.Linear(d_model, 2)

    def forward(self, target, memory, source_keep=None, target_keep=None):
        x = self.around[0](self.embed(target), lambda y: self.self_attention(y, y, target_keep))
        x = self.around[1](x, lambda y: self.cross_attention(y, memory, source_keep))
        return self.corners(self.norm(self.around[2](x, self.each_place)))


# %%
def better(**parts):
    """A completer with better parts; `better()` has all of them."""
    encoder = BetterEncoder(WideMultiHeadAttention, **parts)
    decoder = BetterDecoder(WideMultiHeadAttention, **parts)
    return SquareCompleter(encoder, decoder, n_source=2, n_target=2)


# %% [markdown]
# The switches `positions`, `d_model` and `norm` take out three of the changes. The fourth needs a
# part that *replaces* what came in:


# %%
class Replace(Around):
    """layer(norm(x)): the input does not get past."""

    def forward(self, x, layer):
        return layer(self.norm(x))


def without_residual():
    model = better()
    for part in (model.encoder, model.decoder):
        part.around = nn.ModuleList(Replace(16, norm=True) for _ in part.around)
    return model


# %%
print(without_residual().encoder.around)

# %% [markdown]
# **Predict before you run:** which of the four will be missed most? Five training runs for each row
# take about a minute in all.

# %%
predict("most_missed", ...)

# %% reason="rounding depends on the processor, and grows in training" tags=["nbval-ignore-output"]
left_out = {
    "all four": better,
    "no residual": without_residual,
    "no positions": lambda: better(positions=False),
    "no norm": lambda: better(norm=False),
    "no width": lambda: better(d_model=2),
    "no width, no norm": lambda: better(d_model=2, norm=False),
}
for name, build in left_out.items():
    errors[name] = [test_error(build, seed) for seed in range(5)]
    print(f"{name:18}", [f"{error:.3f}" for error in errors[name]])

# %% tags=["trained"]
plot_errors(
    errors,
    baselines=baselines,
    caption="Test error of the plain model, of the better one, and of the better one with parts "
    "left out. Each point is a seed.",
    alt="A column of points for each model, a point for each seed. “All four” and “no positions”: "
    "each point near the noise floor. No norm: a little higher. No residual: from the noise "
    "floor up to a third of zeros. Plain: at half of zeros. No width: near zeros or not far "
    "below. No width and no norm: scattered.",
)

# %% [markdown]
# All four together reach 0.012 or 0.013 on every seed. Here is what each one adds when the other
# three are in place:
#
# - Without **residual connections**, the result is a lottery. One seed does very well, 0.011, and
#   another ends at 0.31.
# - Without **layer norm**, the seeds still agree, but at 0.015 or 0.016.
# - Without **width**, the model does no better than zeros on most seeds, and not much better on the
#   others. That is the norm's doing. After a norm, two features are soon stuck at (1, −1) or (−1,
#   1), so hardly any gradient gets back through it. (And with only those two to choose from, the
#   decoder couldn't draw corner 3, which needs four points.) Take the norm out too, and the lottery
#   is back.
# - Without **positions**, nothing changes: corner 2 does tell the decoder enough. (An encoder that
#   reads text can't do without them: to attention alone, "dog bites man" is "man bites dog".)
#
# Leaving one out says what a change adds *when the other three are in place*. It doesn't say what
# it is worth alone. And five seeds aren't many for a row as scattered as the one without residual
# connections. (`make bench` has ten.)
#
# What gets through now, before any training?

# %%
torch.manual_seed(0)
print_spread(better(), PARTS)
torch.manual_seed(0)
print("\nwithout residual connections:")
print_spread(without_residual(), PARTS)

# %% [markdown]
# The attention layers still average, but what they return is *added* to what came in. At the end of
# the encoder and of the decoder, both squares and places are easy to tell apart. Without residual
# connections, layer norm still keeps the squares apart; but from the cross-attention on, the places
# are nearly the same. Such a model has to learn to tell them apart, and it takes luck to succeed.

# %% [markdown]
# ## What the loss can't see
#
# The loss is at the floor, so is the code right? No. **Predict before you run:** suppose we forget
# to divide by √d_k. At the start, that is the same as making every query √d_k = 4 times as large,
# so do that. How much does it hurt?

# %%
predict("root_forgotten", ...)


# %%
def unscaled():
    """A model whose attention is not divided by √d_k, here 4."""
    model = better()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if ".query." in name:
                parameter *= 4
    return model


# %% tags=["trained"]
print([f"{test_error(unscaled, seed):.3f}" for seed in range(2)])

# %% [markdown]
# Not at all, on these squares. A wrong factor in front of the scores is a factor in the query
# projection, and training chooses that projection. A loss tells you whether a model *can* learn the
# job. It doesn't tell you whether the code does what you meant. In a model with 512 features, the
# same mistake can saturate softmax, as you saw in lesson 2. That is why we checked each of your
# parts by its numbers, before there was any loss.
#
# ### And the mask?
#
# Now forget the causal mask in training. Place 0 should write corner 3, and place 1 has it in its
# input. **Predict before you run:** how small can the model's error on corner 3 get, if it may read
# the true corners of squares it has never seen? And what about its test error, when it has to write
# corner 3 itself?

# %%
predict("copied_corner", ...)


# %% tags=["trained"]
def unmasked():
    """A better model that is trained without a causal mask."""
    model = better()
    model.forward = lambda source, shifted: model.decoder(shifted, model.encoder(source))
    return model


torch.manual_seed(0)
cheat = unmasked()
history = Trainer(cheat, train_epoch, make_loader(*train), test).run(300)
with torch.no_grad():
    wrong = (cheat(test[0], shift_target(test_squares, 2)) - test[1]).square().mean((0, 2))
print(f"reading the answer: corner 3 {wrong[0]:.4f}, corner 4 {wrong[1]:.4f}")
print(f"predicting: {history.test[-1]:.2f}")

# %% [markdown]
# As long as the model may read the true corners, its error on corner 3 is below the noise floor. No
# honest model can do that on new squares: this one copies corner 3 from what place 1 reads. When it
# predicts, there is nothing to copy, and it fails.
#
# Here the errors give the mistake away, once you have trained and looked at each corner. The leak
# test of lesson 4 needs no training: change what place 1 reads, and see whether the output at place
# 0 moves.


# %% tags=["trained"]
def corner_3_moves(model):
    """How far the output at place 0 moves, at most, when place 1 reads another corner."""
    source, shifted = train[0], shift_target(train_squares, 2)
    changed = shifted.clone()
    changed[:, 1] = torch.randn(len(changed), 2)
    with torch.no_grad():
        return (model(source, changed) - model(source, shifted))[:, 0].abs().max().item()


torch.manual_seed(0)
print(f"with the mask:    {corner_3_moves(better()):.2f}")
print(f"without the mask: {corner_3_moves(unmasked()):.2f}")

# %% [markdown]
# Remember lesson 4's first trap: a change has to get through. Take the mask away from an untrained
# *plain* model, and the same test sees corner 3 move by a hundred-thousandth or less on most seeds.
# The model would pass as sound.

# %% [markdown]
# ## Six broken runs
#
# The two losses *do* tell a lot. Here are six runs of the better model, each broken in one way.
# (They had fewer squares, and learning rates of their own.) The defects, in a different order, are:
#
# - `"no step"`: the optimizer never changes the model's parameters
# - `"gradients not cleared"`: there is no `zero_grad`
# - `"learning rate too small"`
# - `"too few squares"`: 8 squares to train on
# - `"tested on the training squares"`: the same 8 squares again
# - `"targets of other squares"`: source and target were shuffled separately
#
# **Predict before you write any code:** which is which? Look at the noise floor: can a test on new
# squares fall far below it?

# %%
plot_losses(
    RUNS,
    baselines=baselines,
    every=5,
    caption="Six broken runs, recorded every fifth epoch of 200.",
)

# %% [markdown]
# Here are the numbers behind the curves, for one run:

# %%
for moment, losses in zip(("train", "test"), RUNS["A"], strict=True):
    print(moment, losses[:3], "…", losses[-1])

# %% [markdown]
# ### Exercise 7: `diagnose_run` (16 minutes)
#
# Write down how you told them apart: a function that looks at the two losses and returns the name
# of the defect. The check tries it on these six runs, and again with all losses of a run multiplied
# by one factor, from 0.9 to 1.1, and with only every second, third or fourth loss kept. Grading
# also tries runs with the same defects from other seeds. So don't look up numbers. Ask what must be
# true.


# %%
def diagnose_run(
    train_losses: Float[Tensor, " n_noted"], test_losses: Float[Tensor, " n_noted"]
) -> str:
    """The defect of a broken run, one of the six names above.

    Example:
        >>> flat = torch.full((40,), 1.2)
        >>> diagnose_run(flat, flat + 0.1)
        'no step'
    """
    ### BEGIN SOLUTION
    noise_floor = 0.01
    if (train_losses - train_losses[0]).abs().max() < 1e-3:
        return "no step"
    if train_losses[-1] > train_losses[0]:
        return "gradients not cleared"
    if train_losses[-1] < noise_floor and test_losses[-1] < noise_floor:
        return "tested on the training squares"
    if train_losses[-1] < noise_floor:
        return "too few squares"
    if test_losses[-1] > 0.9:
        return "targets of other squares"
    return "learning rate too small"
    ### END SOLUTION


# %%
check(diagnose_run)

# %% [markdown]
# ## Your own
#
# ### Exercise 8: `train_completer` (10 minutes)
#
# Train a model and complete shapes it hasn't seen. You get training shapes, the sources of test
# shapes, and a seed: the same seed should always give the same predictions. Return the predicted
# corners. Use the model from above with your `train_epoch`, or anything else that learns.
#
# Your function is graded by what it does. The check draws fresh squares, with noise, in both
# directions and from all four starts, and computes the mean squared error itself. An error of
# **0.018** is enough; that is less than twice the noise floor. The better model reached 0.0145 or
# less on each of thirty seeds, so there is room; a linear fit to the four numbers ends near 0.020
# on average. Another case asks for the same error on shapes that aren't squares: their corners lie
# at uneven distances from the middle, the missing ones are drawn closer to it, and all shapes are
# turned and moved by the same amount. So what you return should come from the training shapes, not
# from what you know about squares. All cases together may take 60 seconds; one training run should
# take 3 or less.


# %%
def train_completer(
    source: Float[Tensor, "n 2 2"],
    target: Float[Tensor, "n 2 2"],
    test_source: Float[Tensor, "n_test 2 2"],
    seed: int,
) -> Float[Tensor, "n_test 2 2"]:
    """Corners 3 and 4 of test shapes, predicted by a model trained on (source, target).

    Example:
        >>> source, target = split_squares(generate_squares(256, seed=0).points)
        >>> prediction = train_completer(source, target, source[:8], seed=0)
        >>> prediction.shape
        torch.Size([8, 2, 2])
        >>> bool(F.mse_loss(prediction, target[:8]) < 0.018)
        True
    """
    ### BEGIN SOLUTION
    torch.manual_seed(seed)
    encoder = BetterEncoder(WideMultiHeadAttention)
    decoder = BetterDecoder(WideMultiHeadAttention)
    model = SquareCompleter(encoder, decoder, n_source=2, n_target=2).to(source.dtype)
    loader = make_loader(source, target)
    adam = torch.optim.Adam(model.parameters(), lr=0.007, fused=True)
    for _ in range(120):
        train_epoch(model, loader, F.mse_loss, adam)
    return model.predict(test_source)
    ### END SOLUTION


# %%
check(train_completer)

# %% [markdown]
# ## Where it looks
#
# Train once more, this time recording both losses, and what becomes of one square. Then look
# inside.


# %%
def completes(source):
    """The model's corners 3 and 4, and how much each asks corners 1 and 2, averaged over heads."""
    corners = model.predict(source)
    with torch.no_grad():
        model.eval()(source, torch.cat([source[:, 1:], corners[:, :1]], dim=1))
    return corners, model.decoder.cross_attention.attn_weights.mean(0)


# %% tags=["trained"]
torch.manual_seed(0)
model = better()
better_trainer = Trainer(model, train_epoch, make_loader(*train), test)
square, moments = test_squares[:1], {}
for n_epochs in (0, 5, 10, 20, 40, 60, 80, 100, 120):
    history = better_trainer.run(n_epochs)
    moments[n_epochs] = completes(square[:, :2])
print(f"training {history.train[-1]:.3f}, test {history.test[-1]:.3f}")

# %% tags=["trained"]
plot_losses(
    {"the better model": history},
    baselines=baselines,
    caption="The better model: the same 120 epochs, down to the noise floor.",
)

# %% tags=["trained"]
plot_predictions(
    test[0][:4],
    test[1][:4],
    model.predict(test[0][:4]),
    caption="Blue: the true corners 3 and 4. Orange crosses: what the better model draws.",
)

# %% [markdown]
# Why does the error stay a little above the floor? There are too few steps and too few squares. The
# training loss, 0.011, is still above the noise in the training targets, 0.0098, so there is more
# to learn. At the end of this section, you'll train this model further. Eight times as many squares
# help about as much. With these and 300 epochs, we got down to 0.0105 and 0.0103 on two seeds.
#
# The model has three attention layers, each with different queries and keys. An arrow goes from the
# corner that asks to the one that gets asked. The wider it is, the larger the weight; a ring is a
# corner that asks itself.

# %% tags=["trained"]
with torch.no_grad():
    model.eval()(square[:, :2], shift_target(square, 2))
plot_square_attention(
    "encoder self",
    square[0],
    model.encoder.attention.attn_weights[:, 0],
    caption="Encoder self-attention: each given corner asks both given corners.",
)

# %% tags=["trained"]
plot_square_attention(
    "decoder self",
    square[0],
    model.decoder.self_attention.attn_weights[:, 0],
    caption="Decoder self-attention: to write a corner, it asks those that it has read so far.",
)

# %% tags=["trained"]
plot_square_attention(
    "cross",
    square[0],
    model.decoder.cross_attention.attn_weights[:, 0],
    caption="Cross-attention: each corner to be written asks the two given corners.",
)

# %% [markdown]
# In this square, the last figure is easy to read. To write corner 3, both heads ask corner 1, and
# to write corner 4, they ask corner 2: the opposite corner each time. That looks like the rule
# "change both signs" from the beginning, and nobody told the model. **Predict before you run:** in
# how many of the 256 test squares does the opposite corner get more than half of the weight?

# %%
predict("opposite_corner", ...)

# %% tags=["trained"]
with torch.no_grad():
    model(test[0], shift_target(test_squares, 2))
to_opposite = model.decoder.cross_attention.attn_weights.diagonal(dim1=-2, dim2=-1)
for head, share in enumerate((to_opposite > 0.5).float().mean(1)):
    print(f"head {head}: corner 3 in {share[0]:.0%}, corner 4 in {share[1]:.0%} of the squares")

# %% [markdown]
# In nearly all for corner 4, by both heads. For corner 3, in most by one head, and in half by the
# other. No arrow shows what residual connections carry past an attention, and the decoder also
# reads corner 2 itself. Weights are a clue to the rule, not the rule. And with another seed, a
# model that is just as good may look elsewhere: try seed 1.
#
# See for yourself. Go back through the training of this square, then move corners 1 and 2 (with the
# mouse, or with arrow keys) and watch where your model puts the others, and where it looks:

# %% tags=["trained"]
view_square(
    completes,
    square[0],
    moments,
    caption="Drag a corner. The lines show where corners 3 and 4 look, averaged over both heads.",
)

# %% [markdown]
# When the corners are far from where the training squares were, the model makes something up: no
# loss has ever asked about such places.
#
# All of these weights are from one pass. In `predict`, the decoder runs twice, and afterward
# `attn_weights` holds only the *last* step.
#
# Now keep training. The trainer continues where it left off. **Predict before you run:** can the
# training loss fall below the noise floor? Can the test error?

# %%
predict("below_the_floor", ...)

# %% tags=["trained"]
history = better_trainer.run(500)
for epoch in (120, 300, 500):
    print(f"{epoch}: training {history.train[epoch - 1]:.4f}, test {history.test[epoch - 1]:.4f}")

# %% [markdown]
# From 120 to 300 epochs, both fall. By then, the training loss is below the noise that was drawn,
# and there is only one way to get there: fit that noise. From then on, next to nothing is gained:
# the test error goes up and down.

# %% [markdown]
# ## Shorter sources (optional)
#
# All our sources have two corners. When sources differ in length, you pad them, and the padding
# mask of lesson 4 is the encoder's `keep` and the decoder's `source_keep`. Here the source of two
# corners is padded to four with nonsense. **Predict before you run:** how far do the states of the
# two real corners move, with the mask and without it?

# %%
predict("moved_by_padding", ...)

# %%
source = test_squares[:1, :2]
real = torch.arange(4) < torch.tensor([2])[:, None, None]  # [batch, 1, n], as in lesson 4
padded = torch.cat([source, torch.full((1, 2, 2), 9.0)], dim=1)
with torch.no_grad():
    for name, keep in (("with the mask", real), ("without it", None)):
        moved = encoder(padded, keep)[:, :2] - encoder(source)
        print(f"{name:14} {moved.abs().max():.4f}")

# %% [markdown]
# ## What you can do now
#
# - Build an **encoder-decoder**: the encoder reads, and the decoder writes, one corner at a time.
# - Train it with **teacher forcing**, all corners at once, and check with a **leak test** that the
#   causal mask keeps it honest.
# - Say what a loss is worth, with a **noise floor**, **baselines** and several seeds.
# - Find where a signal dies, and bring it through with **residual connections**, width and layer
#   norm. Leave one out to see what each is worth.
# - Name a defect from a run's two losses. And know what the losses can't tell you: a good loss does
#   **not** prove the code right. Checking part by part finds what a loss hides.
#
# ### Test yourself
#
# 1. A friend's training loss is 0.004 and the test error 0.012, on squares like ours. Is that good
#    news?
# 2. When `predict` writes corner 4, the decoder computes corner 3 again. Why is it the same?
# 3. You change a model, run it with one seed, and the error falls from 0.30 to 0.06. What have you
#    learned?
#
# <details>
# <summary>Answers</summary>
#
# 1. The test error is fine. But a training loss far below the noise floor means that the model has
#    begun to learn the noise of its training squares by heart. More squares would help.
# 2. Place 0 has the same information to go by in both steps: corner 2, which it reads itself, and
#    the source. The causal mask hides the new corner from it.
# 3. Little. Without residual connections, the same model ended anywhere from 0.011 to 0.31,
#    depending on its seed. Run both models on several seeds and compare the scatter.
#
# </details>

# %% [markdown]
# ### Challenge: `complete_turned` (optional, 40 minutes)
#
# Can you beat a network by thinking? Here the squares are turned by any angle around zero; their
# corners still lie √2 away from it, and may go either way around. From corners 1 and 2, with noise
# as before, say where corners 3 and 4 *really* are. There is nothing to train.
#
# A minus sign is a good start: corner 3 lies opposite corner 1. But then all of corner 1's noise
# goes into your answer, a mean squared error of 0.01. Both corners tell you how the square is
# turned. Use both, and what you know about their distance from zero, and you can get down to a
# quarter of that error. (Anything below 0.0037 counts.)


# %%
def complete_turned(source: Float[Tensor, "batch 2 2"]) -> Float[Tensor, "batch 2 2"]:
    """Corners 3 and 4 of turned squares, without their noise, from corners 1 and 2.

    Example: with no noise, this is exact.
        >>> complete_turned(torch.tensor([[[1.0, 1.0], [-1.0, 1.0]]]))
        tensor([[[-1., -1.],
                 [ 1., -1.]]])
    """
    ### BEGIN SOLUTION
    first, second = source[:, 0], source[:, 1]

    def turned(points):  # by a quarter
        return torch.stack([-points[:, 1], points[:, 0]], dim=1)

    # 1 if the second corner follows the first by a quarter turn, -1 if it comes before it
    way = (turned(first) * second).sum(-1, keepdim=True).sign()
    direction = first - way * turned(second)  # the second, turned back onto the first
    corner = 2**0.5 * direction / direction.norm(dim=-1, keepdim=True)
    return torch.stack([-corner, -way * turned(corner)], dim=1)
    ### END SOLUTION


# %%
check(complete_turned)

# %% [markdown]
# For this, a network would have to learn a rule that holds for every angle. Train `better()` on
# squares turned by random angles, and see how close it comes.
#
# Here are two more to try. **How wide is wide enough?** Find the smallest d_model with which
# `better(d_model=…)` stays below 0.015 on five seeds. Guess first: a square that isn't turned has
# one of only eight answers. And **which residual connection matters most?** There are five.
# `Replace` each of them alone, then all but one. One of them, kept alone, makes every seed succeed.
# Which one, and why?

# %% [markdown]
# ### Further reading
#
# - Godoy, [*Deep Learning with PyTorch
#   Step-by-Step*](https://github.com/dvgodoy/PyTorchStepByStep), chapter 9: the squares, first with
#   recurrent networks, then with attention.
# - Bahdanau, Cho and Bengio 2014, [*Neural Machine Translation by Jointly Learning to Align and
#   Translate*](https://arxiv.org/abs/1409.0473): attention in translation. An encoder had to
#   squeeze a sentence into one vector; here a decoder looks back at all its states instead.
# - Dong, Cordonnier and Loukas 2021, [*Attention Is Not All You
#   Need*](https://arxiv.org/abs/2103.03404): why attention alone makes all words alike, and what
#   residual connections do about it.
# - Xiong et al. 2020, [*On Layer Normalization in the Transformer
#   Architecture*](https://arxiv.org/abs/2002.04745): before or after each part, and what that does
#   to the gradients. The norm itself is from [Ba et al. 2016](https://arxiv.org/abs/1607.06450),
#   residual connections from [He et al. 2016](https://arxiv.org/abs/1512.03385), Adam from [Kingma
#   and Ba 2015](https://arxiv.org/abs/1412.6980).
# - Bengio et al. 2015, [*Scheduled Sampling*](https://arxiv.org/abs/1506.03099): what goes wrong
#   when a model only ever trains on true inputs, and one way to wean it.
# - Jain and Wallace 2019, [*Attention Is Not Explanation*](https://arxiv.org/abs/1902.10186): how
#   much a map of weights tells you.
# - [*The Annotated Transformer*](https://nlp.seas.harvard.edu/annotated-transformer/): the
#   full-size model, line by line, on text.
#
# In lesson 6, you open the layers that PyTorch and Keras ship, and find your own attention in them.

# %%
progress()
