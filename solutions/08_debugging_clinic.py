# %% [markdown]
# # 8. The debugging clinic
#
# **The loss falls, the shapes fit, nothing raises an error. How would you know that the code is
# wrong?** Somebody once trained a small language model to a loss of 0.06, asked it for a sentence,
# and got garbage. One line was wrong. Attention is good at hiding such lines: whatever you do to
# its weights, they still average *something*, and training makes the best of it. In this lesson you
# write tests that find such defects, on twenty patients. Sixteen have a defect from real, published
# code; the other four are sound and only look ill.
#
# | | |
# |---|---|
# | **You need** | Lessons 3, 4 and 7: heads, masks, rotary positions |
# | **You can then** | test attention that you didn't write, find what is wrong, and repair it |
#
# Each exercise is followed by a check; `hint`, `failing_case` and `give_up` help as in lesson 1.

# %%
import copy
from dataclasses import replace

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from autograder import check, failing_case, give_up, hint, predict, progress
from autograder.utils.models import HEALTHY, PATIENTS, admit, build_stack, rotate_pairs
from autograder.utils.plots import plot_attention
from autograder.utils.plots.scoreboard import plot_scoreboard
from autograder.utils.views import view_probe

# %%
torch.manual_seed(0)
torch.set_num_threads(1)  # small tensors are fastest on one thread
torch.set_printoptions(precision=4, sci_mode=False)

# %% [markdown]
# ## Health
#
# First, what does healthy attention look like? Here is causal self-attention, much as you wrote it.
# One thing is new: keys and values have fewer heads than queries, and neighboring query heads share
# them. With four query heads and two key heads, query heads 0 and 1 use key head 0, and query heads
# 2 and 3 use key head 1. This is called **grouped-query attention**, and many large models of 2023
# to 2026 have it, because it leaves fewer keys and values to keep. `repeat_interleave` gives each
# query head its copy.

# %%
print(HEALTHY.code)

# %% [markdown]
# Some patients read their words two at a time, and keep the keys and values for the words that
# follow, as a model does when it writes. What they keep is called a **cache**. It must not change
# the result. Patient B works this way (see `print(PATIENTS["B"].code)`), and is sound:

# %%
healthy, patient_b = HEALTHY.make(), PATIENTS["B"].make()
x = torch.randn(1, 7, 30)
torch.allclose(healthy(x), patient_b(x), atol=1e-5)

# %% [markdown]
# Patients A, E, J and Q are not sound. Change one word after another and watch which outputs move.
# In the healthy module, it's the word's own output and all later ones. Changing which words makes J
# look healthy, too?

# %%
view_probe(
    {"healthy": healthy} | {name: PATIENTS[name].make() for name in "AEJQ"},
    x[0],
    [f"word {place}" for place in range(7)],
    changed=3,
    caption="Outputs that move when one word is changed, in the healthy module and four patients.",
)

# %% [markdown]
# J looks healthy for words 0, 2, 4 and 6. It reads two words at a time without a mask, so only the
# second of them leaks, into the first.

# %% [markdown]
# In a clinic, no patient comes with a healthy twin. All you have is the module itself. You may call
# it as often as you like, look at its `n_heads`, `n_kv_heads` and `d_head`, and use its four
# layers, `query`, `key`, `value` and `output`. All patients have these, without biases. All are in
# evaluation mode, need no gradients, and give finite outputs. (A module that gives NaN needs no
# test to be found.) d_model is `attention.query.in_features`.
#
# ### How not to test
#
# Your friend tests patient A against the healthy module, and is glad to see it pass:

# %%
patient_a, small = PATIENTS["A"].make(), x / 20
torch.allclose(patient_a(small), healthy(small), atol=0.5)

# %% [markdown]
# The tolerance is larger than any of the numbers. **Predict before you run:** would a module that
# always answers 0 pass this test?

# %%
predict("zeros_pass", ...)

# %%
torch.allclose(torch.zeros(1, 7, 30), healthy(small), atol=0.5)

# %% [markdown]
# It would. You think nobody writes such a test? Somebody [published
# one](https://github.com/Xilinx/mlir-air/issues/1427) that zeros would fail, but only just: its
# tolerance was 0.5 and a fifth of each value, on values between 0.5 and 1, and it printed PASS for
# attention whose correlation with the right result was 0.086. So here is the first rule of the
# clinic: **a test is only worth something once you have seen it fail.** That's what the twenty
# patients are for. Each test you write has to catch the ill ones and leave the healthy ones alone:
# a **false alarm** costs somebody a day.
#
# ## Change something, and watch
#
# There is a **leak** when a word sees what comes later. In lesson 4 you made it visible: change a
# later word, and watch the earlier outputs.
#
# ### Exercise 1: `find_leak` (8 minutes)
#
# Does any output depend on a later word? Beware of leaks that touch only a few words: patient Q's
# words see just one word ahead, and with a cache, a leak may show only between the two words that
# are read together. So test every place in texts of 12 words. And call the module with several
# different texts at once: some masks go wrong only in a batch. Rounding moves outputs by less than
# 1e-5.


# %%
def find_leak(attention: nn.Module) -> bool:
    """Whether an output depends on a word that comes later, in texts of 12 words.

    Example:
        >>> find_leak(PATIENTS["A"].make()), find_leak(HEALTHY.make())
        (True, False)
    """
    ### BEGIN SOLUTION
    x = torch.randn(4, 12, attention.query.in_features)
    before = attention(x)
    for place in range(1, 12):
        changed = x.clone()
        changed[:, place:] = torch.randn_like(x[:, place:])
        if not torch.allclose(attention(changed)[:, :place], before[:, :place], atol=1e-5):
            return True
    return False
    ### END SOLUTION


# %%
check(find_leak)

# %% [markdown]
# The scoreboard shows what a test finds in the ward, among all twenty patients. Blue with a check
# mark: the patient has what the test looks for, and the test finds it. Empty with a dot: the
# patient is sound in this respect, and the test says so. A red × is a patient that the test misses,
# and a red ! is a false alarm. Patients without a mark aren't tested: they have another disease
# that could trip this test.

# %%
plot_scoreboard({"leak": find_leak}, caption="What find_leak finds among the twenty patients.")

# %% [markdown]
# ## Let the output tell you
#
# The opposite of a leak is a **blind spot**: a word that should be seen and isn't. You might test
# for it the same way: change a word, and see whether all later outputs move. Patient T has this
# very disease: with a cache, its words don't see themselves. **Predict before you run:** we change
# the last word. Does the last output move?

# %%
predict("the_last_output_moves", ...)

# %%
patient_t = PATIENTS["T"].make()
changed = x.clone()
changed[:, -1] += 1
print(f"it moves by {(patient_t(changed) - patient_t(x))[0, -1].abs().max():.1f}")

# %% [markdown]
# It moves: a different word asks a different *question*, so it weighs the others differently.
# Seeing takes more than that: a word is seen only if its **value** arrives.
#
# So let's rewire the module so that its output tells us what we want to know. We may change its
# weights, after all. We take a copy and
#
# - set the output layer to the identity, so that nothing is mixed after the heads;
# - let `query` and `key` ignore feature 0, so that it changes no score;
# - let `value` read feature 0 and nothing else.
#
# Then each feature of an output is a weighted sum of feature 0 over the words, and *we* choose
# feature 0.


# %%
def opened(attention):
    """A copy whose values are feature 0 of each word, which no query and no key can see."""
    module = copy.deepcopy(attention)  # the patient itself stays as it is
    nn.init.eye_(module.output.weight)
    module.query.weight[:, 0] = 0  # patients have no gradients, so this is allowed
    module.key.weight[:, 0] = 0
    module.value.weight[:] = 0
    module.value.weight[:, 0] = 1
    return module


# %% [markdown]
# Set feature 0 to 1 in one word and to 0 in all others, and the outputs *are* the weights of that
# word. One call per word gives you all the weights, though the module never shows them:


# %%
def weights_of(attention, x):
    """The weights of all heads, [n_heads, n, n], for one text [1, n, d_model]."""
    attention, x = opened(attention), x.clone()
    columns = []
    for place in range(x.shape[1]):
        x[..., 0] = 0
        x[:, place, 0] = 1
        columns.append(attention(x)[0].unflatten(-1, (attention.n_heads, -1))[..., 0])
    return torch.stack(columns, dim=-1).transpose(0, 1)


# %%
words = [f"word {place}" for place in range(7)]
plot_attention(
    weights_of(patient_t, x)[:2],
    words,
    words,
    caption="The weights of patient T in two of its heads. With a cache, from word 2 on, no word "
    "sees itself.",
)

# %% [markdown]
# And if feature 0 is 1 in *all* words? Then each output is the sum of its weights. (That's how
# [somebody found out](https://github.com/ROCm/FlyDSL/pull/1020) that the weights of a fast kernel
# summed to 0.64.) So the next test is short, and this one is on us:


# %%
def find_wrong_sum(attention):
    """Whether the weights of a word sum to anything but 1."""
    d_model = attention.query.in_features
    x = torch.randn(1, 12, d_model)
    x[..., 0] = 1
    sums = opened(attention)(x)
    return not torch.allclose(sums, torch.ones_like(sums), atol=1e-4)


# %% [markdown]
# ### Exercise 2: `find_blind_spot` (6 minutes)
#
# Is there a word that, in any head, fails to see itself or an earlier word? `opened` helps. Here,
# the weight of a word that is seen is never exactly 0; the weight of a hidden word always is. (For
# the weights on and below the diagonal, `tril_indices` or a loop will do.)


# %%
def find_blind_spot(attention: nn.Module) -> bool:
    """Whether a word fails to see itself or an earlier word, in a text of 12 words.

    Example:
        >>> find_blind_spot(PATIENTS["T"].make()), find_blind_spot(HEALTHY.make())
        (True, False)
    """
    ### BEGIN SOLUTION
    attention_weights = weights_of(attention, torch.randn(1, 12, attention.query.in_features))
    return any((attention_weights[:, place, : place + 1] == 0).any() for place in range(12))
    ### END SOLUTION


# %%
check(find_blind_spot)

# %% [markdown]
# ## Read, and repair
#
# A test says *what* is wrong. To find out *where*, you have to read. Here is the first of four
# pieces of code that run but are wrong. **Repair it in place**, and change as little as you can. If
# you can't see the defect, do what you did above: take a small input, and look at the weights.
#
# ### Exercise 3: `repair_1` (6 minutes)
#
# Attention with a **sliding window**: each word sees itself and the `window` − 1 words before it.
# The queries are the last n_query of n_key words. Keys that no query can see are cut off first, to
# save work. (You may leave them all in.) With a single query, all is well. With several in a long
# text, all but the last get NaN or see too little. (After [LLMs-from-scratch
# #1008](https://github.com/rasbt/LLMs-from-scratch/issues/1008).)


# %%
def repair_1(
    query: Float[Tensor, "*batch n_query d_k"],
    key: Float[Tensor, "*batch n_key d_k"],
    value: Float[Tensor, "*batch n_key d_v"],
    window: int,
) -> Float[Tensor, "*batch n_query d_v"]:
    """Causal attention to the last `window` words, for the last n_query of n_key words.

    Example: the second of two queries sees keys 1 and 2; the first sees 0 and 1.
        >>> value = torch.tensor([[0.0], [2.0], [6.0]])
        >>> repair_1(torch.zeros(2, 4), torch.zeros(3, 4), value, window=2)
        tensor([[1.],
                [4.]])
    """
    ### BEGIN SOLUTION
    n_query, n_key = query.shape[-2], key.shape[-2]
    first = max(0, n_key - n_query - window + 1)
    key, value = key[..., first:, :], value[..., first:, :]
    distance = torch.arange(n_key - n_query, n_key)[:, None] - torch.arange(first, n_key)
    keep = (distance >= 0) & (distance < window)
    attn_scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    return attn_scores.masked_fill(~keep, -torch.inf).softmax(dim=-1) @ value
    ### END SOLUTION


# %%
check(repair_1)

# %% [markdown]
# ## One head, one text
#
# Numbers can also end up in the wrong **head** or the wrong **text**. Shapes don't protect you: all
# it takes is a `view` that happens to fit, or one dimension mistaken for another. And training
# learns to live with it. In one
# [repository](https://github.com/jsbaan/transformer-from-scratch/pull/6), pieces of different words
# were glued together into one, and the model still passed its training test.
#
# ### Exercise 4: `find_mixing` (18 minutes)
#
# Once more, change something and watch. Test two properties, in texts of 12 words:
#
# - **Texts.** Change one text of a batch. That text must move, and no other. (Try each text: a mask
#   may hide some from the others.)
# - **Heads.** Take a copy with the identity as its output layer, so that each head has its own
#   features in the output. In one of the three other layers, change the weights of a single head;
#   multiplying them by −1 will do. The part of the output that belongs to that head must move, and
#   no other. Try all n_heads heads of `query`, with the output cut into n_heads parts. Then try all
#   n_kv_heads heads of `key` and of `value`, with the output cut into n_kv_heads parts: such a head
#   serves several neighbors.
#
# `weight.unflatten(0, (n_heads, -1))` splits a layer's weights by head, and you can split outputs
# the same way. This function tells you where something moved:


# %%
def moved(difference, dim):
    """For each index along a dimension, whether anything is larger than rounding there."""
    return (difference.abs().transpose(0, dim).flatten(1).amax(dim=1) > 1e-5).tolist()


# %%
moved(torch.tensor([[0.0, 0.0, 3.0], [0.0, 0.0, 0.0]]), dim=1)


# %%
def find_mixing(attention: nn.Module) -> bool:
    """Whether one text gets into another, or a head gets where it doesn't belong.

    Example:
        >>> find_mixing(PATIENTS["C"].make()), find_mixing(HEALTHY.make())
        (True, False)
    """
    ### BEGIN SOLUTION
    x = torch.randn(4, 12, attention.query.in_features)
    for text in range(4):
        changed = x.clone()
        changed[text] = torch.randn_like(x[text])
        if moved(attention(changed) - attention(x), 0) != [t == text for t in range(4)]:
            return True
    attention = copy.deepcopy(attention)
    nn.init.eye_(attention.output.weight)
    n_heads, n_kv_heads = attention.n_heads, attention.n_kv_heads
    for layer, n in [("query", n_heads), ("key", n_kv_heads), ("value", n_kv_heads)]:
        for head in range(n):
            other = copy.deepcopy(attention)
            getattr(other, layer).weight.unflatten(0, (n, -1))[head] *= -1
            difference = (other(x) - attention(x)).unflatten(-1, (n, -1))
            if moved(difference, 2) != [h == head for h in range(n)]:
                return True
    return False
    ### END SOLUTION


# %%
check(find_mixing)

# %% [markdown]
# Patient C mixes heads only with some numbers of them. **Predict before you run:** there are 6
# query heads, and 1, 2 or 6 key heads. With how many key heads is its result right?

# %%
predict("right_by_luck", ...)

# %%
for n_kv_heads in (1, 2, 6):
    sizes = {"n_heads": 6, "n_kv_heads": n_kv_heads}
    same = torch.allclose(PATIENTS["C"].make(**sizes)(x), HEALTHY.make(**sizes)(x), atol=1e-5)
    print(f"n_heads=6, n_kv_heads={n_kv_heads}: {'right' if same else 'wrong'}")

# %% [markdown]
# Patient C tiles its key heads (0, 1, 0, 1) instead of repeating them (0, 0, 1, 1). With a single
# key head, or with one for each query head, the two are the same. That's why a test with the
# smallest sizes, or with the usual ones, can be blind. Small is good, but **no two of the sizes
# that you choose should be equal, and none should be 1.**
#
# ## One query, two keys
#
# Is the **scale** right? Twelve scores in one softmax are a lot to untangle. So look at just
# two keys. The ratio of their weights tells you the difference between their scores, whatever the
# other scores are:
#
# $$\frac{w_1}{w_0} = \frac{e^{s_1}}{e^{s_0}} \quad\Rightarrow\quad \ln\frac{w_1}{w_0} = s_1 - s_0$$
#
# ### Exercise 5: `find_scale` (14 minutes)
#
# Are the scores anything other than query · key / √d_head? Open the module, and let `query` and
# `key` read feature 1 alone, with weights of 1. Then all d_head features of a word's query and key
# are its feature 1, and a score is √d_head times the product of two words' features. Set feature 1
# to 0 in the first word and to *b* in the other eleven. For every query but the first, s₀ is 0, and
# you know s₁. Choose *b* so that s₁ is near 1 and neither weight gets lost. Two calls give you both
# weights: one with feature 0 set to 1 in the first word, one with feature 0 set to 1 in the second.
# Leave a margin for rounding: 0.001 in the logarithm of their ratio is plenty, and scores that are
# 5% too large should show.


# %%
def find_scale(attention: nn.Module) -> bool:
    """Whether a query other than the first of 12 has scores that aren't query · key / √d_head.

    Example:
        >>> find_scale(PATIENTS["D"].make()), find_scale(HEALTHY.make())
        (True, False)
    """
    ### BEGIN SOLUTION
    d_model, d_head = attention.query.in_features, attention.d_head
    attention = opened(attention)
    for layer in (attention.query, attention.key):
        layer.weight[:] = 0
        layer.weight[:, 1] = 1
    x = torch.zeros(1, 12, d_model)
    x[0, 1:, 1] = d_head**-0.25  # a score is d_head * x² / √d_head = 1, or 0 with the first word
    first, second = x.clone(), x.clone()
    first[0, 0, 0] = second[0, 1, 0] = 1
    difference = (attention(second)[0, 1:] / attention(first)[0, 1:]).log()
    return not torch.allclose(difference, torch.ones_like(difference), atol=1e-3)
    ### END SOLUTION


# %%
check(find_scale)

# %% [markdown]
# ### Exercise 6: `repair_2` (4 minutes)
#
# The second piece of code to repair is softmax by hand. It's right as long as all rows are similar,
# so it passed its tests. Then a model produced rows that were far apart, and the result was NaN.


# %%
def repair_2(
    attn_scores: Float[Tensor, "*batch n_query n_key"],
) -> Float[Tensor, "*batch n_query n_key"]:
    """Softmax over the last dimension, for scores of any size.

    Example:
        >>> repair_2(torch.tensor([[0.0, 0.0], [300.0, 300.0]]))
        tensor([[0.5000, 0.5000],
                [0.5000, 0.5000]])
    """
    ### BEGIN SOLUTION
    exps = (attn_scores - attn_scores.amax(dim=-1, keepdim=True)).exp()
    return exps / exps.sum(dim=-1, keepdim=True)
    ### END SOLUTION


# %%
check(repair_2)

# %% [markdown]
# Back to the ward, with all five tests:

# %%
tests = {
    "leak": find_leak,
    "blind spot": find_blind_spot,
    "mixing": find_mixing,
    "wrong sum": find_wrong_sum,
    "wrong scale": find_scale,
}
plot_scoreboard(tests, caption="All five tests and all twenty patients.")

# %% [markdown]
# Read the columns of B, G, K and P. They are sound, though their code looks different: a cache, a
# large negative number instead of −∞, the root split between query and key, powers of 2 in place of
# *e*. Anyone who compares code line by line would raise four false alarms. Your tests ask what the
# code *does*. (One more caution: code that computes the same thing in another way rounds
# differently. A tolerance of 0 is a false alarm waiting to happen.)
#
# Patient H's disease has no row of its own yet. Its dropout drops weights even when it shouldn't:
# in evaluation mode. **Predict before you run:** what does `find_leak` say?

# %%
predict("a_leak_in_h", ...)

# %%
find_leak(PATIENTS["H"].make())

# %% [markdown]
# A false alarm. H's outputs move because they always do. Before you change something and watch,
# watch *without* changing anything.
#
# ### Exercise 7: `diagnose` (5 minutes)
#
# Put it all together: name what is wrong with a module. `check` asks about modules with at most one
# disease, so the first one that you find is the answer. Mind the order: `find_scale` compares
# weights, and stumbles if one is hidden or computed in another way, so ask it last. This exercise
# builds on your tests.


# %%
def diagnose(attention: nn.Module) -> str:
    """One of "dropout", "leak", "blind spot", "mixing", "wrong sum", "wrong scale", "sound".

    Example:
        >>> diagnose(PATIENTS["H"].make()), diagnose(PATIENTS["K"].make())
        ('dropout', 'sound')
    """
    ### BEGIN SOLUTION
    x = torch.randn(1, 12, attention.query.in_features)
    if not torch.equal(attention(x), attention(x)):
        return "dropout"
    if find_leak(attention):
        return "leak"
    if find_blind_spot(attention):
        return "blind spot"
    if find_mixing(attention):
        return "mixing"
    if find_wrong_sum(attention):
        return "wrong sum"
    return "wrong scale" if find_scale(attention) else "sound"
    ### END SOLUTION


# %%
check(diagnose)

# %% [markdown]
# ## What sound means
#
# "Sound" is a big word. All it means is that your tests found nothing, with texts of 12 words and
# the sizes that you chose. A defect that shows only in texts of odd length slips past them, and so
# does one that nobody has thought of yet. Some defects aren't even in the attention. Here's one in
# the loss:
#
# ### Exercise 8: `repair_3` (5 minutes)
#
# The loss of a language model on padded texts: the mean over all targets that count. The target at
# each place is the next word. Padding is one of the `n_words` words, not always the first. It never
# counts as a target, wherever it is. The loss below falls nicely in training. But the shorter a
# text, the more each of its words counts. (In 2024, [many
# trainers](https://huggingface.co/blog/gradient_accumulation) had a relative of this defect, in the
# way they added up the gradients of several batches.)


# %%
def repair_3(
    logits: Float[Tensor, "batch n n_words"], tokens: Int[Tensor, "batch n"], padding: int
) -> Float[Tensor, ""]:
    """The mean cross-entropy of each next word, in all texts, without padding.

    Example: all words are equally likely, so each target costs the logarithm of 4.
        >>> repair_3(torch.zeros(1, 3, 4), torch.tensor([[2, 1, 0]]), padding=0)
        tensor(1.3863)
    """
    ### BEGIN SOLUTION
    target = tokens[:, 1:]
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), target, reduction="none")
    counts = target != padding
    return (losses * counts).sum() / counts.sum()
    ### END SOLUTION


# %%
check(repair_3)

# %% [markdown]
# ## Another dtype
#
# Your tests ran in float32. Many large models, such as Llama 3 (2024) and Qwen3 (2025), are
# published in **bfloat16**: half the memory, and only eight significant bits. That's enough for
# whole numbers up to 256. **Predict before you run:** of 0, 1, …, 999, how many different numbers
# are left?

# %%
predict("places_in_bfloat16", ...)

# %%
len(torch.arange(1000, dtype=torch.bfloat16).unique())

# %% [markdown]
# From 256 on, only every second number is there, and from 512 on, every fourth. Patient U, who
# isn't in the ward, turns words by their places, and keeps the places in whatever dtype the words
# have. (`rotate_pairs(x, positions)` is lesson 7's `rotate`.)


# %%
def turn(x, positions):
    """Turn words by their places, in float32 whatever their dtype."""
    return rotate_pairs(x.float(), positions).to(x.dtype)


def patient_u(x, positions):
    """The same, but the places have the dtype of the words."""
    return turn(x, positions.to(x.dtype))


# %% [markdown]
# Give both the same word in 1,000 places. A score depends only on the distance, and between
# neighbors that's always 1. So all scores of a word with the one before it should be equal, up to
# rounding:

# %%
word = torch.randn(64)
for dtype in (torch.float32, torch.bfloat16):
    for name, rotation in {"healthy": turn, "patient U": patient_u}.items():
        turned = rotation(word.to(dtype).expand(1000, 64), torch.arange(1000)).float()
        scores = (turned[1:] * turned[:-1]).sum(dim=-1) / 8
        print(f"{dtype}  {name:9}  scores from {scores.min():.2f} to {scores.max():.2f}")

# %% [markdown]
# In float32, patient U is as healthy as can be. In bfloat16, all is well for texts up to 257 words;
# after that, neighbors share a place, or are two or four places apart.
# [GPT-NeoX](https://github.com/EleutherAI/gpt-neox/issues/1003) computed its angles in the model's
# dtype. And in 2026, an [image model](https://github.com/huggingface/diffusers/issues/13920) had
# places from 65,536 on, where bfloat16 has only every 512th number. Under autocast, all parts of a
# picture were in the same place, and the picture was a single color. **Test with the dtype and the
# lengths that you will use**, and compare with the same module in float64.
#
# ### Exercise 9: `repair_4` (5 minutes)
#
# Rotary attention with a cache: the keys of earlier words have been turned already, and new words
# come after them. The first call, with an empty cache, is always right. After that, the text gets
# worse with every piece. `rotate_pairs` isn't to blame.


# %%
def repair_4(
    query: Float[Tensor, "*batch n d_head"],
    key: Float[Tensor, "*batch n d_head"],
    value: Float[Tensor, "*batch n d_v"],
    past_key: Float[Tensor, "*batch n_past d_head"],
    past_value: Float[Tensor, "*batch n_past d_v"],
) -> Float[Tensor, "*batch n d_v"]:
    """Causal rotary attention of n new words to themselves and to n_past words before them.

    Example: a text, and the same text in two pieces.
        >>> x = torch.randn(5, 4)
        >>> whole = repair_4(x, x, x, x[:0], x[:0])
        >>> turned = rotate_pairs(x[:3], torch.arange(3))
        >>> torch.allclose(repair_4(x[3:], x[3:], x[3:], turned, x[:3]), whole[3:], atol=1e-5)
        True
    """
    ### BEGIN SOLUTION
    n, n_past = query.shape[-2], past_key.shape[-2]
    place = torch.arange(n_past, n_past + n)
    query, key = rotate_pairs(query, place), rotate_pairs(key, place)
    key, value = torch.cat([past_key, key], dim=-2), torch.cat([past_value, value], dim=-2)
    keep = torch.ones(n, n_past + n, dtype=torch.bool).tril(n_past)
    attn_scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    return attn_scores.masked_fill(~keep, -torch.inf).softmax(dim=-1) @ value
    ### END SOLUTION


# %%
check(repair_4)

# %% [markdown]
# ## The smallest input
#
# A good bug report has one input that shows the defect. That input is as small as possible, so that
# the reader can follow every number. And the size alone tells you something. With one word, a
# causal mask has nothing to hide and all weights should be 1, so a defect that shows there is in
# the values, in the sum or after it, or it hides the word from itself. A wrong scale takes two
# words to show, and so does a mask that lets too much through.

# %% [markdown]
# ### Exercise 10: `smallest_input` (9 minutes)
#
# Find the smallest input that tells two modules apart: some output must differ by more than 1e-4.
# The size of an input is the number of *words* in all its texts together: four texts of one word
# are as large as one text of four. Random words will do, but some defects don't show in every text,
# so draw ten inputs of each shape. 16 words are always enough.


# %%
def smallest_input(healthy: nn.Module, ill: nn.Module) -> Float[Tensor, "batch n d_model"]:
    """An input for which the two differ by more than 1e-4, with as few words as possible.

    Example: softmax over the wrong dimension shows in a text of two words.
        >>> smallest_input(HEALTHY.make(), PATIENTS["S"].make()).shape
        torch.Size([1, 2, 30])
    """
    ### BEGIN SOLUTION
    d_model = healthy.query.in_features
    for words in range(1, 17):
        for batch in range(1, words + 1):
            if words % batch == 0:
                for _ in range(10):
                    x = torch.randn(batch, words // batch, d_model)
                    if (healthy(x) - ill(x)).abs().max() > 1e-4:
                        return x
    ### END SOLUTION


# %%
check(smallest_input)

# %%
for name, patient in PATIENTS.items():
    if patient.diseases and name != "H":
        x = smallest_input(HEALTHY.make(), patient.make())
        print(f"{name}: {len(x)} × {x.shape[1]}  {', '.join(patient.diseases)}")

# %% [markdown]
# The sizes are texts × words. Read them like a doctor. C and I show up with a single word, so their
# masks aren't the first suspects (unless they hide the word from itself). N, whose cache is too
# short, needs the most words: a defect that depends on a limit shows only beyond it.
#
# ## The stories
#
# Here's where the patients come from. Each link leads to where the defect was reported or repaired.

# %%
for name, patient in PATIENTS.items():
    print(f"{name}: {', '.join(patient.diseases) or 'sound'}. {patient.story}")
    print(f"   {patient.link}\n" if patient.link else "")

# %% [markdown]
# ## What you can do now
#
# - Test attention by **what it does**: change something and watch, rewire it so that its output
#   tells you what you want to know, and make the case so small that you know the answer.
# - Check a **test**: see it fail on something wrong, and stay silent on sound code that is written
#   differently.
# - **Choose sizes** that hide nothing: no two equal, none 1, and texts longer than every limit.
#   Test with the **dtype** that you will use.
# - Find a defect by reading the code, **repair** it, and report it with the **smallest input**.
#
# ### Test yourself
#
# 1. Patient J's model had a training loss of 0.06 and wrote garbage. Training didn't use the cache.
#    Why didn't the loss show the defect? Which comparison would have found it in a second?
# 2. A module passes all your tests in evaluation mode. Name a defect it may still have.
# 3. A colleague fixes patient L, and the trained model gets *worse*. Was it a defect?
#
# <details>
# <summary>Answers</summary>
#
# 1. Without a cache, the mask was there, and the loss was honest. When the model writes, it first
#    reads its prompt with a cache, in one go and without a mask, so words see later words and get
#    contexts that training never produced. Run the same text with a cache and without: the outputs
#    must be equal.
# 2. One that your sizes don't show (it takes texts of odd length, or longer ones), or one that
#    shows only in training: dropout that drops too much, a gradient that doesn't arrive, a mask
#    that only training uses.
# 3. Yes, and the weights have adapted to it. They were trained with smaller scores. Code that loads
#    them has to keep that scale; otherwise, convert the weights (as in lesson 7) or train them
#    again.
#
# </details>

# %% [markdown]
# ### Challenge: `first_difference` (optional, 15 minutes)
#
# A whole model gives a wrong result. Which part is to blame? If you have a healthy model with the
# same weights, compare the outputs of the parts, **in the order in which they run**: everything
# before the ill part agrees. A **hook** is a function of yours that PyTorch calls each time a
# module has run. (It should return nothing: what it returns would replace the output.)

# %%
stack = build_stack(3, 8, 2, 0)
hook = stack.blocks[0].norm.register_forward_hook(
    lambda module, inputs, output: print(f"{type(module).__name__} gives {tuple(output.shape)}")
)
result = stack(torch.randn(1, 5, 8))
hook.remove()

# %% [markdown]
# Find the first part that differs. Each model has three blocks, and each block has a `norm`, an
# `attention` and a `feed_forward`: nine parts. The layers inside them don't count.
# `named_modules()` lists them in the order in which they were *defined*, not the one in which they
# run. Take your own hooks off again, and leave all others on. (`torch.allclose` also forgives a
# small fraction of each number, unless you pass `rtol=0`.)


# %%
def first_difference(
    healthy: nn.Module, ill: nn.Module, x: Float[Tensor, "batch n d_model"]
) -> str:
    """The name of the first part whose output differs by more than 1e-4, such as "blocks.1.norm".

    Example: from an ill part on, all outputs differ.
        >>> ill = build_stack(3, 8, 2, 0, "blocks.1.attention")
        >>> first_difference(build_stack(3, 8, 2, 0), ill, torch.randn(1, 5, 8))
        'blocks.1.attention'
    """
    ### BEGIN SOLUTION
    parts = ("norm", "attention", "feed_forward")

    def outputs_of(model):
        outputs, hooks = {}, []
        for name, part in model.named_modules():
            if name.endswith(parts):

                def keep(module, inputs, output, name=name):
                    outputs[name] = output

                hooks.append(part.register_forward_hook(keep))
        model(x)
        for hook in hooks:
            hook.remove()
        return outputs

    others = outputs_of(ill)
    for name, output in outputs_of(healthy).items():
        if not torch.allclose(output, others[name], rtol=0, atol=1e-4):
            return name
    ### END SOLUTION


# %%
check(first_difference)

# %% [markdown]
# One more thing to try: **write patients.** Change a piece of `HEALTHY.code` so that it still runs
# but is wrong, say what disease that is, and see whether your tests find it. Here are three.
# Patient 1 divides by d_head, not by its root. Patient 2 has no mask after the twelfth word.
# Patient 3 swaps query and key, which we count as mixing:

# %%
masked, scores = "return scores.masked_fill(future, -torch.inf)", "query @ key.transpose(-2, -1)"
mine = {
    "1": ("wrong scale", {"/ self.d_head**0.5": "/ self.d_head"}),
    "2": ("leak", {masked: f"future[12:] = False\n        {masked}"}),
    "3": ("mixing", {scores: "key @ query.transpose(-2, -1)"}),
}
patients = {
    name: replace(HEALTHY, diseases=(disease,), edits=edits)
    for name, (disease, edits) in mine.items()
}
plot_scoreboard(tests, patients, caption="What the five tests find in three patients of my own.")

# %%
{name: diagnose(patient.make()) for name, patient in patients.items()}

# %% [markdown]
# If a test misses a patient, you have found something better than a bug: a gap in your tests. How
# would you close these two?
#
# <details>
# <summary>One way</summary>
#
# Patient 2 needs longer texts: its mask ends where the tests do. For patient 3, let `query` read
# feature 1 alone, and `key` feature 2 alone. Give feature 1 to the last word and feature 2 to the
# first, and nothing else to any word. The last word asks, the first one answers, so the last word
# should look at the first more than at the others. In patient 3, it doesn't.
#
# </details>
#
# And beware of a patient that gives NaN. NaN isn't equal to itself, so `diagnose` may take it for
# dropout, or miss it.
#
# Your tests run on **modules of your own**, too, if they are causal, have these four layers and
# `n_heads`, and turn nothing (a rotation looks like a wrong scale). `admit` makes a copy that is
# ready for the ward: in evaluation mode and float32, without gradients and biases.

# %%
module = HEALTHY.make(d_model=64, n_heads=4, n_kv_heads=2).train().requires_grad_()
diagnose(admit(module))

# %% [markdown]
# ### Further reading
#
# - [ARENA](https://github.com/callummcdougall/ARENA_3.0), the Transformer chapter: tests in stages,
#   from one word and one head up.
# - [PyTorch on reproducibility](https://docs.pytorch.org/docs/stable/notes/randomness.html): what a
#   seed does and doesn't fix.
# - [MacIver and Donaldson 2020](https://doi.org/10.4230/LIPIcs.ECOOP.2020.13), on shrinking failing
#   inputs automatically while keeping them valid.
# - [DeMillo, Lipton and Sayward 1978](https://doi.org/10.1109/C-M.1978.218136): the classic paper
#   on mutation testing, which is what the ward does to your tests. (The idea is Lipton's, from
#   1971.)

# %%
progress()
