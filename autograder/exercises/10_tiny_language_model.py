"""Lesson 10: a tiny language model, and what its heads do."""

import math
from collections.abc import Mapping
from typing import Any

import torch

from autograder.asking.arguments import Code
from autograder.exercises.pieces import in_pieces
from autograder.judging.prediction import Prediction
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import (
    AGAIN,
    DOUBLE,
    GRADIENTS,
    ONES,
    Aspect,
    Exercise,
    Goal,
    Inputs,
    ModuleCase,
)
from autograder.lessons.variants import Alternative, Mistake


def whole_numbers(draw: Draw, most: int, *shape: int) -> torch.Tensor:
    """Draw whole numbers from 0 to most − 1."""
    return torch.randint(most, shape, generator=draw.generator)


def tokens_of(draw: Draw, dims: str = "batch n") -> torch.Tensor:
    return whole_numbers(draw, draw.size("n_tokens"), *draw.shape(dims))


# ---------------------------------------------------------------- next_token_loss


def guesses(scale: float = 1.0) -> Inputs:
    return lambda draw: draw.arguments(scale=scale, tokens=tokens_of(draw), ignore=None)


def padded(ignore: int, **sizes: int) -> Inputs:
    """Texts of which the first is the longest, and the last one short."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.fix(**sizes).label(f"padded with {ignore}")
        tokens = tokens_of(draw)
        tokens[tokens == ignore] = (ignore + 1) % draw.size("n_tokens")
        tokens[1:, -1], tokens[-1, 2:], tokens[1:2, 0] = ignore, ignore, ignore
        return draw.arguments(tokens=tokens, ignore=ignore)

    return case


def many_tokens(draw: Draw) -> dict[str, Any]:
    """More than a hundred tokens, and number 100 among those that count."""
    tokens = tokens_of(draw.fix(n_tokens=120))
    tokens[:, 1] = 100
    draw.label("120 tokens")
    return draw.arguments(tokens=tokens, ignore=None)


SHIFTED = "predicted, following = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()"
IGNORED = "-100 if ignore is None else ignore"
LOSS = "F.cross_entropy(predicted, following, ignore_index=ignored)"

next_token_loss = Exercise(
    "next_token_loss",
    returns="loss",
    also=(DOUBLE, GRADIENTS, AGAIN),
    aspects=[
        Aspect("the next token", 2, [many_tokens, guesses(scale=100.0), guesses()]),
        Aspect(
            "ignored tokens",
            2,
            [padded(1), padded(0), padded(1, batch=1), padded(2)],
        ),
    ],
    mistakes=[
        Mistake(
            "not shifted",
            "You compared each place's logits with the token at the same place. The logits are "
            "about the *next* token: drop the last place's logits and the first token.",
            {SHIFTED: "predicted, following = logits.flatten(0, 1), tokens.flatten()"},
        ),
        Mistake(
            "shifted backward",
            "You shifted the wrong way: your logits are compared with the token *before* them. "
            "Drop the last place's logits and the first token.",
            {
                SHIFTED: SHIFTED.replace("[:, :-1]", "[:, 1:]")
                .replace("tokens[:, 1:]", "X")
                .replace("X", "tokens[:, :-1]")
            },
        ),
        Mistake(
            "two places ahead",
            "You shifted twice: your logits are compared with the token after the next.",
            {SHIFTED: SHIFTED.replace(":-1", ":-2").replace("[:, 1:]", "[:, 2:]")},
        ),
        Mistake(
            "rolled around",
            "`roll` brings the first token around to the end, as if it came after the last place. "
            "The last place has no next token: leave it out.",
            {SHIFTED: "predicted, following = logits.flatten(0, 1), tokens.roll(-1, 1).flatten()"},
        ),
        Mistake(
            "shifted along the batch",
            "You shifted along the batch, so each text is compared with another one. Shift along "
            "the places, dimension 1.",
            {SHIFTED: "predicted, following = logits[:-1].flatten(0, 1), tokens[1:].flatten()"},
        ),
        Mistake(
            "shifted after flattening",
            "You flattened first, then shifted. Now the last place of each text is compared with "
            "the first token of the next text. Shift first.",
            {SHIFTED: "predicted, following = logits.flatten(0, 1)[:-1], tokens.flatten()[1:]"},
        ),
        Mistake(
            "the sum, not the mean",
            "You added up the losses. Take their mean, so that longer texts don't cost more.",
            {LOSS: LOSS[:-1] + ', reduction="sum")'},
        ),
        Mistake(
            "the mean of means",
            "You took the mean of each text first. With padding, short texts would count too much: "
            "take one mean over all the places that count.",
            {
                f"return {LOSS}": (
                    'losses = F.cross_entropy(predicted, following, reduction="none", '
                    "ignore_index=ignored)\n"
                    "    counted = (following != ignored).unflatten(0, (len(tokens), -1)).sum(1)\n"
                    "    return (losses.unflatten(0, (len(tokens), -1)).sum(1) / counted).mean()"
                ),
            },
        ),
        Mistake(
            "ignore not used",
            "You didn't use `ignore`: places whose next token is that one still count.",
            {IGNORED: "-100"},
        ),
        Mistake(
            "ignored places counted",
            "The ignored places add nothing to your sum, as they should, but you still divide by "
            "their number. Leave them out of the count, too.",
            {LOSS: LOSS[:-1] + ', reduction="sum") / following.numel()'},
        ),
        Mistake(
            "ignored by the token at the place",
            "You left out the places where the model *reads* the ignored token. Leave out those "
            "where it comes next.",
            {
                f"return {LOSS}": (
                    "counted = tokens[:, :-1].flatten() != ignored\n"
                    "    return F.cross_entropy(predicted[counted], following[counted])"
                )
            },
        ),
        Mistake(
            "ignored at both places",
            "You also left out the places where the model *reads* the ignored token. Only the next "
            "token decides.",
            {
                f"return {LOSS}": (
                    "counted = (tokens[:, :-1].flatten() != ignored) & (following != ignored)\n"
                    "    return F.cross_entropy(predicted[counted], following[counted])"
                )
            },
        ),
        Mistake(
            "token 0 ignored",
            "Without `ignore`, every token counts, and so does token 0. Write `ignore is None`: "
            "`not ignore` is True for 0 as well.",
            {IGNORED: "ignore or 0"},
        ),
        Mistake(
            "0 not ignored",
            "`ignore` may be 0, and 0 counts as False. Ask `if ignore is None`.",
            {IGNORED: "ignore or -100"},
        ),
        Mistake(
            "softmax first",
            "You took a softmax before `cross_entropy`, which takes one itself. Give it the logits "
            "as they are.",
            {LOSS: LOSS.replace("(predicted,", "(predicted.softmax(dim=-1),")},
        ),
        Mistake(
            "the logarithm of a softmax",
            "Softmax rounds very small probabilities down to 0, and the logarithm of 0 is −∞. Use "
            "`log_softmax` or `cross_entropy`, which never take that logarithm.",
            {
                f"return {LOSS}": (
                    "log_probs = predicted.softmax(dim=-1).log()\n"
                    "    return F.nll_loss(log_probs, following, ignore_index=ignored)"
                )
            },
        ),
        Mistake(
            "minus forgotten",
            "Your loss is negative. The loss is −ln p, and ln p is at most 0: put the minus back.",
            {LOSS: f"-{LOSS}"},
        ),
        Mistake(
            "in bits",
            "You measured in bits. Use the natural logarithm, as `cross_entropy` does.",
            {LOSS: f"{LOSS} / torch.tensor(2.0).log()"},
        ),
        Mistake(
            "softmax over the places",
            "Your softmax runs over the places. It should run over the tokens, the last dimension.",
            {
                f"return {LOSS}": (
                    "log_probs = logits.log_softmax(dim=1)[:, :-1].flatten(0, 1)\n"
                    "    return F.nll_loss(log_probs, following, ignore_index=ignored)"
                )
            },
            {
                f"return {LOSS}": (
                    "log_probs = logits[:, :-1].log_softmax(dim=1).flatten(0, 1)\n"
                    "    return F.nll_loss(log_probs, following, ignore_index=ignored)"
                )
            },
        ),
        Mistake(
            "reshaped, not transposed",
            "You reshaped to bring the tokens to dimension 1, which mixes places and tokens. Use "
            "`transpose(1, 2)`, or flatten the places.",
            {
                f"return {LOSS}": (
                    "classes = logits[:, :-1].reshape(len(tokens), -1, tokens.shape[1] - 1)\n"
                    "    return F.cross_entropy(classes, tokens[:, 1:], ignore_index=ignored)"
                )
            },
        ),
        Mistake(
            "only the last place",
            "You used only one place of each text. All places that have a next token count.",
            {SHIFTED: "predicted, following = logits[:, -2], tokens[:, -1]"},
        ),
        Mistake(
            "the logits, not their logarithms",
            "You took the logits of the right tokens as they are. Turn logits into logarithms of "
            "probabilities first, with `log_softmax`.",
            {f"return {LOSS}": ("return F.nll_loss(predicted, following, ignore_index=ignored)")},
        ),
    ],
    alternatives=[
        Alternative(
            "with gather",
            """
            log_probs = logits[:, :-1].log_softmax(dim=-1)
            following = tokens[:, 1:]
            losses = -log_probs.gather(-1, following[..., None]).squeeze(-1)
            if ignore is not None:
                losses = losses[following != ignore]
            return losses.mean()
            """,
        ),
        Alternative(
            "classes second",
            """
            predicted = logits[:, :-1].transpose(1, 2)
            if ignore is None:
                return F.cross_entropy(predicted, tokens[:, 1:])
            return F.cross_entropy(predicted, tokens[:, 1:], ignore_index=ignore)
            """,
        ),
    ],
    hints=[
        "Which logits have a token to be compared with? All but the last place's. And which tokens "
        "are predicted? All but the first.",
        "`logits[:, :-1]` and `tokens[:, 1:]` line up. `cross_entropy` wants the first as "
        "[places, n_tokens] and the second as [places]: flatten both.",
        "`ignore_index` is `cross_entropy`'s name for a token that doesn't count. It has to be a "
        "number, so without `ignore` pass one that no token has.",
    ],
    excuses={
        "result without signs": "the logarithm of a probability is at most 0",
        "result without negatives": "likewise",
        "result squeezed": "a loss is a single number",
        "result flipped": "likewise",
        "another number: 100 → 101": "no token has a negative number",
        "another number: 100 → 99": "likewise",
        "with gather / call dropped: log_probs.gather": "the mask removes the last dimension, too",
        "with gather / another number: 1 → 2 (5)": "likewise",
        "with gather / condition fixed": "a mask of True keeps everything",
        "with gather / another argument: ignore → logits in": "likewise",
        "with gather / another argument: ignore → tokens in": "likewise",
    },
)

# ---------------------------------------------------------------- Block


def block_case(*pieces: int, n: int = 0, scale: float = 1.0) -> Inputs:
    """A text that comes in pieces; with n, in one go."""

    def case(draw: Draw) -> ModuleCase:
        draw.fix(n=n or sum(pieces))
        draw.label(in_pieces(pieces))
        build = draw.heads() | draw.named("d_feedforward")
        x = draw.normal("batch n d_model", scale)
        return ModuleCase(build, {"x": x, "pieces": list(pieces), "window": None})

    return case


ATTENTION = "x = x + self.attention(self.attention_norm(x), cache)"
NETWORK = "return x + self.feed_forward(self.feed_forward_norm(x))"
GELU = "nn.GELU()"

BLOCK = Exercise(
    "Block",
    returns="result",
    trial="read_in_pieces",
    also=(ONES, DOUBLE, AGAIN),
    aspects=[
        Aspect("attention and network, added", 2, [block_case(n=9), block_case(n=7)]),
        Aspect("with a cache", 1, [block_case(1, 1, 1, 1), block_case(3, 2, 4)]),
        Aspect("gradients", 1, [block_case(n=4, scale=0.5)], gradients=True),
    ],
    mistakes=[
        Mistake(
            "normed after adding",
            "Your norms come after the additions, in the stream (post-norm). Norm what goes *into* "
            "attention and into the network, and leave the stream alone.",
            {
                ATTENTION: "x = self.attention_norm(x + self.attention(x, cache))",
                NETWORK: "return self.feed_forward_norm(x + self.feed_forward(x))",
            },
        ),
        Mistake(
            "the branch normed at its end",
            "You normed what comes out of attention and the network. Norm what goes in.",
            {
                ATTENTION: "x = x + self.attention_norm(self.attention(x, cache))",
                NETWORK: "return x + self.feed_forward_norm(self.feed_forward(x))",
            },
        ),
        Mistake(
            "attention without its norm",
            "Attention gets `x` without a norm: `attention_norm` comes first.",
            {"self.attention(self.attention_norm(x), cache)": "self.attention(x, cache)"},
        ),
        Mistake(
            "the network without its norm",
            "The network gets `x` without a norm: `feed_forward_norm` comes first.",
            {"self.feed_forward(self.feed_forward_norm(x))": "self.feed_forward(x)"},
        ),
        Mistake(
            "no norms",
            "You didn't use the norms.",
            {
                "self.attention(self.attention_norm(x), cache)": "self.attention(x, cache)",
                "self.feed_forward(self.feed_forward_norm(x))": "self.feed_forward(x)",
            },
        ),
        Mistake(
            "norms swapped",
            "You swapped the two norms: each branch has its own.",
            {
                "self.attention_norm(x)": "self.feed_forward_norm(x)",
                "self.feed_forward_norm(x))": "self.attention_norm(x))",
            },
        ),
        Mistake(
            "one norm for both",
            "Both branches use `attention_norm`. The network has a norm of its own, "
            "`feed_forward_norm`.",
            {"self.feed_forward_norm(x))": "self.attention_norm(x))"},
        ),
        Mistake(
            "attention not added",
            "What attention returns replaces `x`. Add it to `x`.",
            {ATTENTION: ATTENTION.replace("x + ", "")},
        ),
        Mistake(
            "the network not added",
            "What the network returns replaces `x`. Add it to `x`.",
            {NETWORK: NETWORK.replace("x + ", "")},
        ),
        Mistake(
            "nothing added",
            "Attention and network replace `x`. A block *adds* what they return.",
            {ATTENTION: ATTENTION.replace("x + ", ""), NETWORK: NETWORK.replace("x + ", "")},
        ),
        Mistake(
            "the normed x added",
            "You added to the normed `x`. Add to `x` itself: the stream isn't normed.",
            {
                ATTENTION: ("x = self.attention_norm(x)\n        x = x + self.attention(x, cache)"),
                NETWORK: "x = self.feed_forward_norm(x)\n        return x + self.feed_forward(x)",
            },
        ),
        Mistake(
            "the network beside attention",
            "Your network reads `x` as it was before attention. It comes second: give it `x` with "
            "attention's part added.",
            {
                ATTENTION: f"before = x\n        {ATTENTION}",
                "self.feed_forward_norm(x))": "self.feed_forward_norm(before))",
            },
        ),
        Mistake(
            "the network added to the old x",
            "You added the network's part to `x` as it was before attention, so attention's own "
            "part is lost. Add it to the new `x`.",
            {
                ATTENTION: f"before = x\n        {ATTENTION}",
                NETWORK: NETWORK.replace("return x", "return before"),
            },
        ),
        Mistake(
            "the network first",
            "You ran the network first. Attention comes first.",
            {
                ATTENTION: "x = x + self.feed_forward(self.feed_forward_norm(x))",
                NETWORK: "return x + self.attention(self.attention_norm(x), cache)",
            },
        ),
        Mistake(
            "no network",
            "Attention is right, but the network is missing.",
            {NETWORK: "return x"},
        ),
        Mistake(
            "no attention",
            "The attention is missing.",
            {f"{ATTENTION}\n        ": ""},
        ),
        Mistake(
            "cache not handed on",
            "You didn't pass the cache on to the attention, so each piece sees only itself.",
            {"self.attention_norm(x), cache)": "self.attention_norm(x))"},
        ),
        Mistake(
            "ReLU",
            "Your network uses a different activation. Use `nn.GELU()`.",
            {GELU: "nn.ReLU()"},
            {GELU: "nn.SiLU()"},
            {GELU: "nn.Tanh()"},
        ),
        Mistake(
            "GELU by tanh",
            "That's the tanh approximation of GELU. Use plain `nn.GELU()`.",
            {GELU: 'nn.GELU(approximate="tanh")'},
        ),
        Mistake(
            "no activation",
            "Nothing bends between your two linear layers, so together they are no more than one. "
            "Put `nn.GELU()` between them.",
            {GELU: "nn.Identity()"},
        ),
        Mistake(
            "dropout",
            "There is dropout in your network, which makes it random in training. This block has "
            "none.",
            {
                "nn.Linear(d_feedforward, d_model)\n": (
                    "nn.Linear(d_feedforward, d_model), nn.Dropout(0.1)\n"
                )
            },
        ),
        Mistake(
            "another eps",
            "Your norms have another `eps`. Leave it at its default.",
            {
                "self.attention_norm = nn.LayerNorm(d_model)": (
                    "self.attention_norm = nn.LayerNorm(d_model, eps=1e-6)"
                ),
                "self.feed_forward_norm = nn.LayerNorm(d_model)": (
                    "self.feed_forward_norm = nn.LayerNorm(d_model, eps=1e-6)"
                ),
            },
        ),
        Mistake(
            "activation at the end",
            "Your network ends with an activation. It should end with the linear layer.",
            {
                "nn.Linear(d_feedforward, d_model)\n": (
                    "nn.Linear(d_feedforward, d_model), nn.GELU()\n"
                )
            },
        ),
        Mistake(
            "another width",
            "Your network's inner layer has another width. It should have d_feedforward features.",
            {
                "nn.Linear(d_model, d_feedforward)": "nn.Linear(d_model, 4 * d_model)",
                "nn.Linear(d_feedforward, d_model)": "nn.Linear(4 * d_model, d_model)",
            },
        ),
        Mistake(
            "biases left out",
            "One of your layers has no bias. Leave `bias` at its default.",
            {"nn.Linear(d_model, d_feedforward)": "nn.Linear(d_model, d_feedforward, bias=False)"},
            {"nn.Linear(d_feedforward, d_model)": "nn.Linear(d_feedforward, d_model, bias=False)"},
        ),
    ],
    alternatives=[
        Alternative(
            "step by step",
            {
                ATTENTION: (
                    "normed = self.attention_norm(x)\n"
                    "        after_attention = x + self.attention(normed, cache=cache)"
                ),
                NETWORK: (
                    "normed = self.feed_forward_norm(after_attention)\n"
                    "        for layer in self.feed_forward:\n"
                    "            normed = layer(normed)\n"
                    "        return after_attention + normed"
                ),
            },
        ),
        Alternative(
            "without a name for the sum",
            {
                f"{ATTENTION}\n        {NETWORK}": (
                    "words = self.attention(self.attention_norm(x), cache).add(x)\n"
                    "        return self.feed_forward(self.feed_forward_norm(words)).add(words)"
                )
            },
        ),
    ],
    hints=[
        "Two steps, and each has the same form: norm, then do something, then add the result to "
        "what you had before the norm.",
        "The first step is `x = x + self.attention(…, cache)`, with the normed `x` inside.",
        "The second step uses the new `x`, with the other norm, and the network in place of "
        "attention.",
    ],
)

# ---------------------------------------------------------------- TinyLanguageModel


N_CONTEXT = 11


def language(*pieces: int, n: int = 0, n_layers: int = 4) -> Inputs:
    """Tokens that come in pieces, with caches; with n, in one go. Eleven fill the context."""

    def case(draw: Draw) -> ModuleCase:
        draw.label(in_pieces(pieces))
        length = n or sum(pieces)
        if length < N_CONTEXT:  # sizes with a name have to differ
            draw.fix(n=length)
        if not draw.ones:
            draw.fix(n_tokens=16)
        draw.fix(n_context=N_CONTEXT, n_layers=n_layers, n_heads=2, d_head=5, d_model=10)
        build = draw.named("n_tokens d_model n_heads n_layers n_context")
        tokens = whole_numbers(draw, draw.size("n_tokens"), draw.size("batch"), length)
        tokens[0, 0] = 0
        return ModuleCase(build, {"tokens": tokens, "pieces": list(pieces)})

    return case


FIRST = "first = 0 if caches is None else caches[0].length"
PLACES = "places = torch.arange(first, first + tokens.shape[1])"
EMBEDDED = "x = self.tokens(tokens) + self.positions(places)"
BLOCKS = "nn.ModuleList(Block(d_model, n_heads, 4 * d_model) for _ in range(n_layers))"
CALLED = "x = block(x, None if caches is None else caches[number])"
LOOP = f"        for number, block in enumerate(self.blocks):\n            {CALLED}\n"
LOGITS = "self.logits(self.norm(x))"

TINY_LANGUAGE_MODEL = Exercise(
    "TinyLanguageModel",
    returns="logits",
    trial="read_tokens",
    builds_on=("Block",),
    also=(ONES, DOUBLE, AGAIN),
    aspects=[
        Aspect("a text in one go", 2, [language(n=7), language(n=9)], outputs=("logits",)),
        Aspect(
            "a text in pieces",
            2,
            [language(*[1] * 7), language(4, 7)],
            outputs=("logits", "afterwards"),
        ),
        Aspect(
            "the number of places, and weights to look at",
            1,
            [language(n=8), language(3, 4), language(6, 2, n_layers=1)],
            outputs=("n_context", "attn_weights"),
        ),
        Aspect("gradients", 1, [language(n=8)], outputs=("logits",), gradients=True),
    ],
    mistakes=[
        Mistake(
            "no positions",
            "You left out the positions. Add each place's vector to its token's.",
            {EMBEDDED: "x = self.tokens(tokens)"},
        ),
        Mistake(
            "places start at 0",
            "Your places start at 0 in each piece. With caches, they go on where the last piece "
            "ended, at `caches[0].length`.",
            {FIRST: "first = 0"},
        ),
        Mistake(
            "places start one too late",
            "Your places are off by one. The first token of a piece is at place "
            "`caches[0].length`, counting from 0.",
            {PLACES: "places = torch.arange(first, first + tokens.shape[1]) + (first > 0)"},
            {PLACES: "places = torch.arange(first, first + tokens.shape[1]) - (first > 0) * 1"},
            {PLACES: "places = torch.arange(1, 1 + tokens.shape[1]) + first"},
        ),
        Mistake(
            "tokens as places",
            "You looked the tokens up in the table of positions. Look up their places: "
            "`torch.arange(…)`.",
            {"self.positions(places)": "self.positions(tokens % self.n_context)"},
        ),
        Mistake(
            "the same place for all",
            "All your tokens are at the same place. Each has its own.",
            {PLACES: "places = torch.tensor(first)"},
        ),
        Mistake(
            "positions multiplied",
            "You multiplied by the positions. Add them.",
            {"self.tokens(tokens) + self": "self.tokens(tokens) * self"},
        ),
        Mistake(
            "scaled by the root",
            "You multiplied the tokens' vectors by the root of d_model, as the first Transformer "
            "did. A GPT adds them as they are.",
            {"self.tokens(tokens) + ": "self.tokens(tokens) * self.norm.weight.numel() ** 0.5 + "},
        ),
        Mistake(
            "norm after every block",
            "You used `norm` after every block. It comes once, after the last one.",
            {
                LOOP: LOOP.replace("x = block(", "x = self.norm(block(").replace(
                    "number])", "number]))"
                ),
                LOGITS: "self.logits(x)",
            },
        ),
        Mistake(
            "norm forgotten",
            "The last norm is missing: `norm` comes before `logits`.",
            {LOGITS: "self.logits(x)"},
        ),
        Mistake(
            "normed before the blocks",
            "You used `norm` before the blocks. It comes after them.",
            {EMBEDDED: EMBEDDED.replace("= ", "= self.norm(") + ")", LOGITS: "self.logits(x)"},
        ),
        Mistake(
            "probabilities",
            "You returned probabilities. Return the logits as they are; whoever needs "
            "probabilities takes a softmax.",
            {LOGITS: f"{LOGITS}.softmax(dim=-1)"},
            {LOGITS: f"{LOGITS}.log_softmax(dim=-1)"},
        ),
        Mistake(
            "only the last place",
            "You returned the logits of the last place. Return those of all places: in training, "
            "each one counts.",
            {LOGITS: "self.logits(self.norm(x[:, -1:]))"},
            {LOGITS: "self.logits(self.norm(x))[:, -1]"},
        ),
        Mistake(
            "only the first block",
            "Only one of the blocks runs. Each one reads what the one before it returned.",
            {LOOP: "        x = self.blocks[0](x, caches and caches[0])\n"},
            {LOOP: "        x = self.blocks[-1](x, caches and caches[-1])\n"},
        ),
        Mistake(
            "blocks side by side",
            "Each of your blocks reads the embeddings. A block reads what the one before it "
            "returned.",
            {LOOP: "        start = x\n" + LOOP.replace("x = block(x, ", "x = block(start, ")},
        ),
        Mistake(
            "no blocks",
            "The blocks don't run: pass x through each of them.",
            {LOOP: ""},
        ),
        Mistake(
            "blocks added once more",
            "You added what a block returns to x. A block has already added its part.",
            {LOOP: LOOP.replace("x = block(", "x = x + block(")},
        ),
        Mistake(
            "blocks backward",
            "Your blocks run from the last to the first.",
            {LOOP: LOOP.replace("enumerate(self.blocks)", "reversed([*enumerate(self.blocks)])")},
        ),
        Mistake(
            "one cache for all blocks",
            "All blocks use `caches[0]`, so their keys end up together. Block i has `caches[i]`.",
            {"caches[number]": "caches[0]"},
        ),
        Mistake(
            "caches not handed on",
            "You didn't pass the caches on to the blocks.",
            {CALLED: "x = block(x)"},
            {FIRST: "first = 0", CALLED: "x = block(x)"},
        ),
        Mistake(
            "another network",
            "Your blocks have a d_feedforward other than 4 · d_model.",
            {"4 * d_model": "d_model"},
            {"4 * d_model": "2 * d_model"},
        ),
        Mistake(
            "the blocks in a plain list",
            "Your blocks are in a plain list, so the model doesn't know that they are parts of it. "
            "Put them in an `nn.ModuleList`.",
            {BLOCKS: f"[{BLOCKS.removeprefix('nn.ModuleList(')[:-1]}]"},
        ),
        Mistake(
            "one block several times",
            "All your blocks are one and the same. Make a new one for each layer.",
            {BLOCKS: "nn.ModuleList([Block(d_model, n_heads, 4 * d_model)] * n_layers)"},
        ),
        Mistake(
            "as many places as tokens",
            "Your table of positions has n_tokens rows. It has one row for each place, n_context.",
            {
                "nn.Embedding(n_context, d_model)": "nn.Embedding(n_tokens, d_model)",
            },
        ),
        Mistake(
            "n_context not kept",
            "Keep the number of places as an attribute, `n_context`.",
            {"        self.n_context = n_context\n": ""},
        ),
        Mistake(
            "logits without a bias",
            "Your `logits` layer has no bias. Leave `bias` at its default.",
            {"nn.Linear(d_model, n_tokens)": "nn.Linear(d_model, n_tokens, bias=False)"},
        ),
    ],
    alternatives=[
        Alternative(
            "with zip",
            {
                LOOP: (
                    "        for block, cache in zip(self.blocks, caches or n_none(self)):\n"
                    "            x = block(x, cache)\n"
                ).replace("n_none(self)", "[None] * len(self.blocks)")
            },
        ),
        Alternative(
            "two ways",
            {
                f"        {FIRST}\n        {PLACES}\n        {EMBEDDED}\n{LOOP}": (
                    "        x = self.tokens(tokens)\n"
                    "        if caches is None:\n"
                    "            x = x + self.positions.weight[: tokens.shape[1]]\n"
                    "            for block in self.blocks:\n"
                    "                x = block(x)\n"
                    "        else:\n"
                    "            first = caches[0].length\n"
                    "            x = x + self.positions.weight[first : first + x.shape[1]]\n"
                    "            for block, cache in zip(self.blocks, caches):\n"
                    "                x = block(x, cache)\n"
                )
            },
        ),
    ],
    hints=[
        "Four lines: the places, the sum of two embeddings, a loop over the blocks, and the logits "
        "of the normed result.",
        "`torch.arange(first, first + n)` are the places of n tokens, where `first` is 0 or "
        "`caches[0].length`.",
        "In the loop, block number i gets `caches[i]`, or None if there are no caches.",
    ],
    excuses={
        "input changed": "it takes no floating-point tensor",
        "inputs require gradients": "likewise",
        "half precision inside": "likewise",
        "float32 inside": "likewise",
        "another number: 0 → -1 (2)": "all caches are equally long",
        "two ways / another number: 0 → -1": "likewise",
    },
)

# ---------------------------------------------------------------- sample

MOST_ERROR = 8e-4  # of frequencies, six times what luck does to them


def chances(
    logits: torch.Tensor, temperature: float, top_k: int | None, top_p: float | None
) -> list[float]:
    """The probability of each token, in plain Python."""
    ranked = sorted(range(len(logits)), key=lambda token: -logits[token].item())
    if temperature == 0:
        return [float(token == ranked[0]) for token in range(len(logits))]
    exps = [math.exp(logit / temperature) for logit in logits.tolist()]
    kept = ranked[:top_k]
    if top_p is not None:
        total, reached = sum(exps[token] for token in kept), 0.0
        for count, token in enumerate(kept, start=1):
            reached += exps[token] / total
            if reached >= top_p:
                kept = kept[:count]
                break
    total = sum(exps[token] for token in kept)
    return [exps[token] / total if token in kept else 0.0 for token in range(len(logits))]


def drawing(
    *probs: float,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    shift: float = 1.5,
) -> Inputs:
    """Tokens with these probabilities, in random order; `shift` is added to all logits.

    The first token is not the likeliest.
    """

    def case(draw: Draw) -> Goal:
        order = torch.randperm(len(probs), generator=draw.generator)
        order = order.roll(int(order[0] == 0))
        logits = (torch.tensor(probs, dtype=torch.float64)[order].log() + shift).float()
        how = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
        told = [f"{name} {value}" for name, value in how.items() if value is not None]
        draw.label(", ".join(told))
        wanted = torch.tensor(chances(logits.double(), **how))
        goal = {
            "frequencies": wanted,
            "possible": wanted > 0,
            "by_generator": torch.tensor(True),
            "varies": (wanted > 0).sum() > 1,
        }
        return Goal({"logits": logits} | how, goal, MOST_ERROR)

    return case


EVEN = (0.28, 0.22, 0.18, 0.14, 0.1, 0.08)
STEEP = (0.55, 0.2, 0.11, 0.08, 0.06)
DIVIDED = "logits = logits / temperature"
LEAST = "least = logits.topk(min(top_k, len(logits))).values[-1]"
HIDDEN = "logits = logits.masked_fill(logits < least, -torch.inf)"
LIKELIER = "likelier = ranked.cumsum(dim=-1) - ranked"
REMOVED = "probs[order[likelier >= top_p]] = 0.0"
DRAWN = "torch.multinomial(probs, 1, generator=generator).item()"
SORTED = """
if temperature == 0:
    return int(logits.argmax())
ranked, order = (logits / temperature).softmax(dim=-1).sort(descending=True)
if top_k is not None:
    ranked = ranked[:top_k] / ranked[:top_k].sum()
if top_p is not None:
    ranked = ranked[: int((ranked.cumsum(0) < top_p).sum()) + 1]
return int(order[torch.multinomial(ranked, 1, generator=generator)])
"""
KEPT = "int((ranked.cumsum(0) < top_p).sum()) + 1"
FIRST_K = """if top_k is not None:
    ranked = ranked[:top_k] / ranked[:top_k].sum()
"""

sample = Exercise(
    "sample",
    returns="frequencies",
    trial="draw_often",
    also=(),
    seconds=15.0,
    aspects=[
        Aspect(
            "temperature",
            1,
            [
                drawing(*EVEN, temperature=0.4),
                drawing(*STEEP, temperature=2.5),
                drawing(*EVEN, temperature=0.0, shift=-2.0),
            ],
            outputs=("frequencies", "possible"),
        ),
        Aspect(
            "top-k",
            1,
            [
                drawing(*EVEN, top_k=2, shift=-300.0),
                drawing(*EVEN, top_k=9),
                drawing(*STEEP, top_k=1),
            ],
            outputs=("frequencies", "possible"),
        ),
        Aspect(
            "top-p",
            2,
            [
                drawing(*EVEN, top_p=0.6),
                drawing(*STEEP, top_p=0.3),
                drawing(*STEEP, top_p=0.9),
                drawing(*EVEN, top_p=1.0),
            ],
            outputs=("frequencies", "possible"),
        ),
        Aspect(
            "several knobs at once",
            1,
            [
                drawing(*EVEN, temperature=3.0, top_p=0.45),
                drawing(*EVEN, top_k=3, top_p=0.7),
                drawing(*STEEP, temperature=3.0, top_k=4, top_p=0.6),
            ],
            outputs=("frequencies", "possible"),
        ),
        Aspect(
            "the generator decides",
            1,
            [drawing(*STEEP)],
            outputs=("by_generator", "varies", "frequencies"),
        ),
    ],
    mistakes=[
        Mistake(
            "always the likeliest",
            "You always take the likeliest token. Draw one at random, with `torch.multinomial`.",
            {DRAWN: "probs.argmax().item()"},
        ),
        Mistake(
            "no zero",
            "At temperature 0, you divide by 0. Take the likeliest token there.",
            {
                "    if temperature == 0:\n        return logits.argmax().item()\n": "",
            },
        ),
        Mistake(
            "temperature ignored",
            "You didn't use the temperature: divide the logits by it.",
            {DIVIDED: "logits = logits.clone()"},
            SORTED.replace("(logits / temperature)", "logits"),
        ),
        Mistake(
            "times the temperature",
            "You multiplied by the temperature, so it works backward. Divide the logits by it.",
            {DIVIDED: "logits = logits * temperature"},
            SORTED.replace("logits / temperature", "logits * temperature"),
        ),
        Mistake(
            "temperature on the probabilities",
            "You divided the probabilities by the temperature, which changes nothing: they are "
            "made to sum to 1 again. Divide the logits.",
            {
                f"    {DIVIDED}\n": "",
                "probs = logits.softmax(dim=-1)": "probs = logits.softmax(dim=-1) / temperature",
            },
        ),
        Mistake(
            "the least likely",
            "Your top-k keeps the *least* likely tokens.",
            {
                LEAST: LEAST.replace("topk(", "neg().topk(").replace(".values", ".values.neg()"),
                "logits < least": "logits > least",
            },
        ),
        Mistake(
            "one too many",
            "Your top-k keeps one token too many.",
            {"min(top_k, len(logits))": "min(top_k + 1, len(logits))"},
        ),
        Mistake(
            "one too few",
            "Your top-k keeps one token too few: keep the k-th, too.",
            {"logits < least": "logits <= least"},
        ),
        Mistake(
            "only the k-th",
            "Your top-k keeps only the k-th token. Keep those above it, too.",
            {"logits < least": "logits != least"},
        ),
        Mistake(
            "top-k larger than the number of tokens",
            "If `top_k` is larger than the number of tokens, keep them all: `min(top_k, "
            "len(logits))`.",
            {"min(top_k, len(logits))": "top_k"},
        ),
        Mistake(
            "top-k ignored",
            "You didn't use `top_k`.",
            {HIDDEN: "pass"},
        ),
        Mistake(
            "logits of 0",
            "You set the other logits to 0, but a logit of 0 isn't a probability of 0: e⁰ is 1. "
            "Set them to −∞, or set probabilities to 0.",
            {HIDDEN: "logits = logits.masked_fill(logits < least, 0.0)"},
        ),
        Mistake(
            "without the token that crosses",
            "Your top-p leaves out the token that crosses the line. It stays in: keep a token if "
            "those *before* it haven't reached p.",
            {LIKELIER: "likelier = ranked.cumsum(dim=-1)", ">= top_p": "> top_p"},
            {
                LIKELIER: "likelier = ranked.cumsum(dim=-1)",
                REMOVED: "probs[order[1:][likelier[1:] > top_p]] = 0.0",
            },
            SORTED.replace(KEPT, "max(1, int((ranked.cumsum(0) < top_p).sum()))"),
        ),
        Mistake(
            "one after the one that crosses",
            "Your top-p keeps a token too many, the one after the one that crosses the line.",
            {
                REMOVED: "keep = int((likelier < top_p).sum()) + 1\n"
                "        probs[order[keep:]] = 0.0"
            },
            SORTED.replace(KEPT, KEPT.replace("+ 1", "+ 2")),
        ),
        Mistake(
            "each token against p",
            "You compared each single probability with p. What counts is the sum, from the "
            "likeliest token down.",
            {REMOVED: "probs[probs < min(top_p, probs.max())] = 0.0"},
            {REMOVED: "probs[probs < 1 - top_p] = 0.0"},
        ),
        Mistake(
            "not put back in order",
            "Your top-p removes tokens by their rank, not by their number. `sort` also returns "
            "where each value was; use that to get back.",
            {REMOVED: "probs[likelier >= top_p] = 0.0"},
        ),
        Mistake(
            "a rank, not a token",
            "You drew from the sorted probabilities and returned the rank. Look up which token has "
            "that rank.",
            {
                REMOVED: "probs = ranked.masked_fill(likelier >= top_p, 0.0)",
            },
            SORTED.replace("order[torch", "(torch").replace("generator)]", "generator))"),
        ),
        Mistake(
            "from the least likely up",
            "Your top-p adds up from the *least* likely token. Sort with `descending=True`.",
            {"probs.sort(descending=True)": "probs.sort()"},
        ),
        Mistake(
            "top-p ignored",
            "You didn't use `top_p`.",
            {REMOVED: "pass"},
        ),
        Mistake(
            "top-p before temperature",
            "Your top-p works with the probabilities at temperature 1. The temperature comes "
            "first.",
            {
                f"    {DIVIDED}\n": "",
                "probs.sort(descending=True)": "probs.sort(descending=True)",
                f"    return {DRAWN}": (
                    f"    probs = (probs.log() / temperature).softmax(dim=-1)\n    return {DRAWN}"
                ),
            },
            SORTED.replace("(logits / temperature)", "logits").replace(
                "(ranked, 1", "(ranked ** (1 / temperature), 1"
            ),
        ),
        Mistake(
            "top-p before top-k",
            "Your top-p works with the probabilities before top-k. Top-k comes first, and what it "
            "leaves sums to 1 again.",
            {
                HIDDEN: "pass",
                f"    return {DRAWN}": (
                    "    if top_k is not None:\n"
                    "        probs = probs.masked_fill(logits < least, 0.0)\n"
                    f"    return {DRAWN}"
                ),
            },
            SORTED.replace(FIRST_K, "").replace("return int(order", f"{FIRST_K}return int(order"),
        ),
        Mistake(
            "another source of randomness",
            "You didn't draw with `generator`, so the same generator doesn't give the same token.",
            {DRAWN: "torch.multinomial(probs, 1).item()"},
        ),
        Mistake(
            "a new generator",
            "Without a generator, you make a new one for each draw, and it always starts the same. "
            "Pass None on: torch then draws from a generator of its own.",
            {DRAWN: DRAWN.replace("=generator", "=generator or torch.Generator()")},
        ),
        Mistake(
            "the seed set anew",
            "You set the generator's seed, so it gives the same token each time. Leave its state "
            "to the caller.",
            {DRAWN: "torch.multinomial(probs, 1, generator=generator.manual_seed(1)).item()"},
        ),
        Mistake(
            "evenly",
            "All remaining tokens come up equally often. Draw according to their probabilities.",
            {DRAWN: "torch.multinomial((probs > 0).float(), 1, generator=generator).item()"},
        ),
        Mistake(
            "logits as probabilities",
            "You drew by something other than the probabilities. Take a softmax of the logits.",
            {"probs = logits.softmax(dim=-1)": "probs = logits.sigmoid()"},
            {"probs = logits.softmax(dim=-1)": "probs = logits.clamp(min=0.0) + 1e-9"},
        ),
    ],
    alternatives=[
        Alternative(
            "by a running sum",
            {
                f"return {DRAWN}": (
                    "level = torch.rand((), generator=generator) * probs.sum()\n"
                    "    return int(torch.searchsorted(probs.cumsum(dim=-1), level))"
                )
            },
        ),
        Alternative(
            "among the sorted",
            SORTED,
        ),
        Alternative(
            "by adding noise",
            {
                f"return {DRAWN}": (
                    "noise = torch.empty(len(probs)).exponential_(generator=generator)\n"
                    "    return int((probs / noise).argmax())"
                )
            },
        ),
    ],
    hints=[
        "Four steps, and the first three are skipped if nobody asks for them: temperature 0 "
        "returns at once; otherwise divide; then top-k; then softmax and top-p. At the end, draw.",
        "Top-k: `logits.topk(k).values` are the k largest, the last of them the smallest that "
        "stays. Set everything below it to −∞.",
        "Top-p: `probs.sort(descending=True)` returns the sorted values and their tokens. "
        "`cumsum` of the values is the sum up to each rank; minus the value itself, it's the sum "
        "*before* each rank. A token stays if that is below p.",
    ],
    excuses={
        "another comparison: likelier >= top_p": "no sum is exactly p",
        "among the sorted / another comparison": "likewise",
        "another fill: $X.masked_fill($M, -1e4)": "e to that power is 0 in float32",
        "another fill: $X.masked_fill($M, -1e9)": "likewise",
        "another fill: $X.masked_fill($M, torch.finfo": "likewise",
        "in place: logits.masked_fill": "what it changes is its own by then",
        "another number: 1 → 0 (2)": "there is one dimension",
        "another number: 1 → 0 (3)": "likewise",
        "among the sorted / another number: 1 → 0": "likewise",
        "among the sorted / another number: 0 → -1": "likewise",
        "by a running sum / another number: 1 → 0": "likewise",
        "among the sorted / call dropped: int((ranked": "a tensor can be an index",
        "arguments swapped: min(top_k": "the order does not matter",
        "float32 inside": "that is less than luck does to frequencies",
        "half precision inside": "likewise",
    },
)

# ---------------------------------------------------------------- generate

# Which token is likeliest depends on all that were read, and on their places. A second one is
# nearly as likely.
READER = """
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.n_context, self.read = {n_context}, []
        self.blocks = nn.ModuleList(nn.Identity() for _ in range({n_layers}))

    def forward(self, tokens, caches=None):
        n = tokens.shape[1]
        first = caches[0].length if caches else 0
        if first + n > self.n_context:
            raise IndexError(f"place {{first + n - 1}} is beyond the {n_context} places")
        self.read.append(n)
        total = torch.zeros(tokens.shape, dtype=torch.long)
        for number in range({n_layers}):
            new = ((tokens + number + 1) * torch.arange(first + 3, first + 3 + n))[:, None, :, None]
            seen = caches[number].append(new, new)[0] if caches else new
            total = total + (number + 1) * seen.cumsum(dim=2)[:, 0, -n:, 0]
        likeliest = total % {n_tokens}
        return sum(
            height * F.one_hot((likeliest + step) % {n_tokens}, {n_tokens})
            for step, height in enumerate((3.0, 2.0, 1.0))
        )

reader = Reader()
"""
GREEDY = {"temperature": 0.0}
# By right logits, only the likeliest is left.
SURE = {"temperature": 0.5, "top_p": 0.8}


def writing(
    n: int,
    n_new: int,
    n_context: int = 20,
    n_layers: int = 2,
    how: Mapping[str, Any] = GREEDY,
    **sizes: int,
) -> Inputs:
    """A text of n tokens to go on with."""

    def case(draw: Draw) -> dict[str, Any]:
        n_tokens = draw.fix(n=n, n_tokens=13, **sizes).size("n_tokens")
        draw.label(f"{n} tokens, {n_new} more, {n_context} places")
        reader = READER.format(n_context=n_context, n_tokens=n_tokens, n_layers=n_layers)
        return {"model": Code(reader), "tokens": tokens_of(draw), "n_new": n_new, "how": {**how}}

    return case


NEW_CACHES = "[Cache() for _ in model.blocks]"
STARTED = f"caches, unread = {NEW_CACHES}, tokens\n"
FULL = "caches[0].length + unread.shape[1] > model.n_context"
AGAIN_FROM = "tokens[:, -(model.n_context // 2) :]"
ASKED = "logits = model(unread, caches)[:, -1]"
CHOSEN = "unread = torch.tensor([[sample(row, **how)] for row in logits])"
STARTS_OVER = f"        if {FULL}:\n            caches, unread = {NEW_CACHES}, {AGAIN_FROM}\n"
JOINED = "tokens = torch.cat([tokens, unread], dim=1)"

generate = Exercise(
    "generate",
    returns="tokens",
    trial="write_on",
    builds_on=("sample",),
    also=(),
    aspects=[
        Aspect(
            "the text goes on",
            2,
            [
                writing(3, 5),
                writing(6, 1),
                writing(4, 3, batch=1, n_layers=1),
                writing(5, 0, n_layers=3),
            ],
            outputs=("tokens", "again"),
        ),
        Aspect(
            "no token is read twice",
            1,
            [writing(5, 4), writing(2, 7, n_layers=3)],
            outputs=("tokens per call",),
        ),
        Aspect(
            "past the end of the context",
            2,
            [
                writing(5, 12, n_context=8),
                writing(17, 3, n_context=8),
                writing(8, 2, n_context=8),
                writing(4, 9, n_context=7, n_layers=3),
            ],
            outputs=("tokens", "tokens per call"),
        ),
        Aspect(
            "the arguments of sample",
            1,
            [writing(4, 12, how=SURE), writing(4, 6, how={"temperature": 9.0, "top_k": 1})],
            outputs=("tokens", "random", "by_generator", "varies"),
        ),
    ],
    mistakes=[
        Mistake(
            "everything again",
            "You read the whole text again for each new token. With caches, only the new token is "
            "left to read.",
            {ASKED: "logits = model(tokens[:, -model.n_context :])[:, -1]"},
            {ASKED: "logits = model(tokens)[:, -1]"},
        ),
        Mistake(
            "everything again, with caches",
            "You give the model the whole text each time, and caches as well. They hold the "
            "earlier tokens already, so these are read twice. Give it only what is new.",
            {ASKED: "logits = model(tokens, caches)[:, -1]"},
        ),
        Mistake(
            "caches not handed on",
            "You made caches, but the model doesn't get them: `model(…, caches)`.",
            {ASKED: "logits = model(unread)[:, -1]"},
        ),
        Mistake(
            "one cache for all blocks",
            "All blocks share one cache: `[Cache()] * n` is the same cache n times. Make a new one "
            "for each.",
            {
                STARTED: "caches, unread = [Cache()] * len(model.blocks), tokens\n",
                f"caches, unread = {NEW_CACHES}, {AGAIN_FROM}": (
                    f"caches, unread = [Cache()] * len(model.blocks), {AGAIN_FROM}"
                ),
            },
        ),
        Mistake(
            "the logits of the first place",
            "You chose by the logits of the first place. What comes next is at the last one, "
            "`[:, -1]`.",
            {"[:, -1]\n": "[:, 0]\n"},
        ),
        Mistake(
            "only the new tokens",
            "You returned the new tokens alone. Return the whole text.",
            {"    return tokens\n": "    return tokens[:, -n_new:]\n"},
        ),
        Mistake(
            "in front",
            "You put the new tokens in front of the text. Append them.",
            {JOINED: "tokens = torch.cat([unread, tokens], dim=1)"},
        ),
        Mistake(
            "one token too many",
            "You wrote one token too many.",
            {"range(n_new)": "range(n_new + 1)"},
        ),
        Mistake(
            "one token too few",
            "You wrote one token too few.",
            {"range(n_new)": "range(n_new - 1)"},
        ),
        Mistake(
            "no end of the context",
            "Your text outgrows the context: the model has no place for another token. If the next "
            "piece doesn't fit, start over with new caches *before* you read it.",
            {STARTS_OVER: ""},
            {FULL: FULL.replace("model.n_context", "model.n_context + 1")},
        ),
        Mistake(
            "starts over too early",
            "You start over even though the next piece still fits. A piece that exactly fills the "
            "context fits.",
            {FULL: FULL.replace(">", ">=")},
        ),
        Mistake(
            "long texts not cut",
            "A text that's longer than the context from the start doesn't fit. The same rule "
            "helps: read its last n_context // 2 tokens.",
            {FULL: "caches[0].length == model.n_context"},
        ),
        Mistake(
            "long texts cut to the whole context",
            "You cut a text that's too long to n_context tokens. Read its last n_context // 2, so "
            "that there's room for more.",
            {STARTED: STARTED.replace("tokens\n", "tokens[:, -model.n_context :]\n")},
        ),
        Mistake(
            "the length of the text compared",
            "You start over whenever the whole *text* is longer than the context, so after the "
            "first time you start over for every token. Compare what the caches hold, and what is "
            "still unread.",
            {FULL: "tokens.shape[1] > model.n_context"},
        ),
        Mistake(
            "half a context, rounded up",
            "With an odd n_context, you read one token too many again: `-7 // 2` is −4. Write "
            "`-(n // 2)`.",
            {AGAIN_FROM: "tokens[:, -model.n_context // 2 :]"},
        ),
        Mistake(
            "old caches kept",
            "You go on with the old caches, which are full. Start over with new ones.",
            {f"caches, unread = {NEW_CACHES}, {AGAIN_FROM}": f"unread = {AGAIN_FROM}"},
        ),
        Mistake(
            "starts over with the new token alone",
            "After starting over, the model sees only the newest token. Let it read the last "
            "n_context // 2 again.",
            {f"caches, unread = {NEW_CACHES}, {AGAIN_FROM}": f"caches = {NEW_CACHES}"},
            {AGAIN_FROM: "tokens[:, -1:]"},
        ),
        Mistake(
            "starts over with everything that fits",
            "You read a whole context again, so it's full at once, and you start over for each "
            "token. Read only the last n_context // 2 tokens again.",
            {AGAIN_FROM: "tokens[:, -model.n_context :]"},
        ),
        Mistake(
            "starts over with the first tokens",
            "You start over with the beginning of the text. Read its *last* n_context // 2 tokens.",
            {AGAIN_FROM: "tokens[:, : model.n_context // 2]"},
        ),
        Mistake(
            "how not handed on",
            "You didn't pass the arguments on: `sample(…, **how)`.",
            {"sample(row, **how)": "sample(row)"},
        ),
        Mistake(
            "always the likeliest",
            "You take the likeliest token each time. `sample` chooses, with the arguments it gets.",
            {CHOSEN: "unread = logits.argmax(dim=-1, keepdim=True)"},
        ),
        Mistake(
            "the generator not passed on",
            "You kept the generator from `sample`. Pass on all that you are given: `**how`.",
            {
                "sample(row, **how)": (
                    'sample(row, **{k: v for k, v in how.items() if k != "generator"})'
                )
            },
        ),
        Mistake(
            "probabilities for logits",
            "You gave `sample` probabilities. It takes logits.",
            {"sample(row, **how)": "sample(row.softmax(dim=-1), **how)"},
        ),
        Mistake(
            "only the first text",
            "You chose one token for all texts of the batch. Each has logits of its own.",
            {CHOSEN: "unread = torch.tensor([[sample(logits[0], **how)]] * len(logits))"},
        ),
        Mistake(
            "one read too many",
            "You read the last token, too, though nothing is drawn after it.",
            {"    return tokens\n": ("    model(unread, caches)\n    return tokens\n")},
        ),
    ],
    alternatives=[
        Alternative(
            "with a list",
            """
            texts, caches, unread = [tokens], [], None
            for _ in range(n_new):
                if not caches or caches[0].length + unread.shape[1] > model.n_context:
                    caches = [Cache() for _ in range(len(model.blocks))]
                    whole = torch.cat(texts, dim=1)
                    fits = whole.shape[1] <= model.n_context
                    unread = whole if fits else whole[:, -(model.n_context // 2) :]
                rows = model(unread, caches)[:, -1]
                unread = torch.stack([torch.tensor([sample(row, **how)]) for row in rows])
                texts.append(unread)
            return torch.cat(texts, dim=1)
            """,
        ),
        Alternative(
            "until it is long enough",
            {
                "    for _ in range(n_new):\n": (
                    "    wanted = tokens.shape[1] + n_new\n    while tokens.shape[1] < wanted:\n"
                ),
                CHOSEN: (
                    "drawn = [sample(row, **how) for row in logits]\n"
                    "        unread = torch.tensor(drawn).view(-1, 1)"
                ),
            },
        ),
    ],
    hints=[
        "Keep three things: the text so far, the caches, and what the model hasn't read yet. At "
        "first that's the whole text, later the last token.",
        "In each round: make room if needed, ask for logits, draw a token for each row of the last "
        "place's logits, append.",
        "The next piece doesn't fit if `caches[0].length + unread.shape[1]` is above "
        "`model.n_context`. Then make new caches, and let the end of the text be unread.",
    ],
    excuses={
        "result squeezed at the end": "there are two tokens at least",
        "another number: 0 → -1": "all caches are equally long",
        "with a list / another number: 0 → -1": "likewise",
        "with a list / elements swapped": "the first round makes new caches",
    },
)

# ---------------------------------------------------------------- scores of heads


# Kinds of texts of n tokens.
TEXTS = {
    "a text of period 5": lambda draw, n: different(draw, 5).repeat(3)[:n],
    "three different tokens": lambda draw, n: whole_numbers(draw, 3, n),
    "no token comes twice": lambda draw, n: different(draw, n),
    "one token comes twice": lambda draw, n: different(draw, n - 1)[torch.arange(n) % (n - 1)],
}


def different(draw: Draw, n: int) -> torch.Tensor:
    return torch.randperm(n, generator=draw.generator)


def looked(text: str, scale: float = 1.5, **sizes: int) -> Inputs:
    """Causal weights of some heads, for a text of a kind. At a large scale, they are 0 or 1."""

    def case(draw: Draw) -> dict[str, Any]:
        tokens = TEXTS[text](draw, draw.fix(n=11, **sizes).size("n"))
        draw.label(text)
        scores = draw.normal("n_heads n n", scale)
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        weights = scores.double().masked_fill(hidden, -torch.inf).softmax(dim=-1).float()
        return {"attn_weights": weights, "tokens": tokens}

    return case


BEFORE = "attn_weights.diagonal(-1, dim1=-2, dim2=-1)"

previous_token_score = Exercise(
    "previous_token_score",
    returns="score",
    also=(DOUBLE, GRADIENTS, AGAIN),
    aspects=[
        Aspect(
            "the token before",
            2,
            [looked("three different tokens", n_heads=1), looked("no token comes twice")],
        )
    ],
    mistakes=[
        Mistake(
            "itself",
            "You measured how much each token looks at itself. The token before is one to the "
            "left of the diagonal.",
            {"diagonal(-1,": "diagonal(0,"},
        ),
        Mistake(
            "the token after",
            "You took the diagonal above the main one, the token *after*, which is always hidden. "
            "The token before is below it: `diagonal(-1, …)`.",
            {"diagonal(-1,": "diagonal(1,"},
        ),
        Mistake(
            "two before",
            "You measured the token two places before.",
            {"diagonal(-1,": "diagonal(-2,"},
        ),
        Mistake(
            "divided by n",
            "You divided by the number of all queries. The first has no token before it: divide "
            "by n − 1.",
            {".mean(dim=-1)": ".sum(dim=-1) / len(tokens)"},
        ),
        Mistake(
            "the sum",
            "You added up the weights. Take their mean.",
            {".mean(dim=-1)": ".sum(dim=-1)"},
        ),
        Mistake(
            "the mean over the heads",
            "You averaged over the heads. Each head has a score of its own.",
            {f"{BEFORE}.mean(dim=-1)": f"{BEFORE}.mean(dim=0)"},
            {f"{BEFORE}.mean(dim=-1)": f"{BEFORE}.mean()"},
        ),
        Mistake(
            "the largest",
            "You took the largest weight. Take the mean over the queries.",
            {".mean(dim=-1)": ".amax(dim=-1)"},
        ),
        Mistake(
            "heads taken for queries",
            "You took the diagonal of other dimensions. Queries and keys are the last two: "
            "`dim1=-2, dim2=-1`.",
            {
                f"return {BEFORE}.mean(dim=-1)": (
                    "return attn_weights.diagonal(-1).mean(dim=-1)[: len(attn_weights)]"
                )
            },
        ),
    ],
    alternatives=[
        Alternative(
            "by places",
            """
            query = torch.arange(1, len(tokens))
            return attn_weights[:, query, query - 1].mean(dim=1)
            """,
        ),
        Alternative(
            "query by query",
            """
            found = [attn_weights[:, i, i - 1] for i in range(1, attn_weights.shape[1])]
            return sum(found) / len(found)
            """,
        ),
    ],
    hints=[
        "For query i, the token before is key i − 1. The first query has none.",
        "`attn_weights[:, i, i - 1]` is that weight, for all heads. You need it for i from 1 on.",
        "`diagonal(-1, dim1=…, dim2=…)` returns all of them at once. Which dimensions are queries "
        "and keys?",
    ],
    excuses={
        "result clamped": "a mean of weights is from 0 to 1",
        "result without signs": "likewise",
        "result without negatives": "likewise",
        "query by query / another number: 1 → 2 (3)": "there are as many queries as keys",
    },
)

SAME = "same = (tokens[:, None] == tokens).tril(-1)"
AFTER = "after = F.pad(same, (1, 0))[:, :-1]"
LOOKS = "looks = (attn_weights * after).sum(dim=-1)"
SCORE = "looks.sum(dim=-1) / after.any(dim=-1).sum().clamp(min=1)"

induction_score = Exercise(
    "induction_score",
    returns="score",
    also=(DOUBLE, GRADIENTS, AGAIN),
    aspects=[
        Aspect(
            "a text that repeats",
            2,
            [looked("a text of period 5", n_heads=1), looked("a text of period 5")],
        ),
        Aspect(
            "tokens that appear several times, or only once",
            2,
            [
                looked("three different tokens"),
                looked("three different tokens", scale=1e4),
                looked("one token comes twice"),
                looked("no token comes twice"),
            ],
        ),
    ],
    mistakes=[
        Mistake(
            "the earlier token itself",
            "You measured how much a token looks at earlier tokens like itself. An induction head "
            "looks one place further, at what came *after* them.",
            {AFTER: "after = same"},
        ),
        Mistake(
            "the place before",
            "You looked one place *before* the earlier occurrence. What came after it is one place "
            "to the right.",
            {AFTER: "after = F.pad(same, (0, 1))[:, 1:]"},
        ),
        Mistake(
            "the last occurrence only",
            "You counted only the latest occurrence. A token may have appeared several times: add "
            "up the weights after all of them.",
            {
                AFTER: f"same = same & (same.flip(1).cumsum(dim=1).flip(1) == 1)\n    {AFTER}",
            },
        ),
        Mistake(
            "the first occurrence only",
            "You counted only the first occurrence. A token may have appeared several times: add "
            "up the weights after all of them.",
            {AFTER: f"same = same & (same.cumsum(dim=1) == 1)\n    {AFTER}"},
        ),
        Mistake(
            "all queries counted",
            "You divided by the number of all queries. Those whose token is new have nowhere to "
            "look, so they don't count.",
            {SCORE: "looks.mean(dim=-1)"},
        ),
        Mistake(
            "the query's own place left out",
            "You left out the query's own place. If the token before it is the same, that place "
            "comes right after it, and counts.",
            {AFTER: f"{AFTER}.tril(-1)"},
        ),
        Mistake(
            "only queries that look there",
            "You divided by the number of queries that do look there. Divide by the number of "
            "those that could.",
            {SCORE: "looks.sum(dim=-1) / (looks > 0).sum(dim=-1).clamp(min=1)"},
        ),
        Mistake(
            "the mean of the weights",
            "You took the mean over all those places. For each query, add the weights up; take "
            "the mean over the queries.",
            {SCORE: "(attn_weights * after).sum(dim=(-2, -1)) / after.sum().clamp(min=1)"},
        ),
        Mistake(
            "NaN without repetitions",
            "If no token comes twice, you divide 0 by 0. Return a score of 0 instead.",
            {".sum().clamp(min=1)": ".sum()"},
        ),
        Mistake(
            "the token itself counts as earlier",
            "You count a token as its own earlier occurrence. Earlier means before: `tril(-1)`.",
            {".tril(-1)": ".tril()"},
            {".tril(-1)": ""},
        ),
        Mistake(
            "later occurrences",
            "You took later occurrences for earlier ones. Queries come first, keys second.",
            {".tril(-1)": ".triu(1)"},
        ),
        Mistake(
            "the sum, not the mean",
            "You added up over the queries. Take the mean over those that have an earlier "
            "occurrence.",
            {SCORE: "looks.sum(dim=-1)"},
        ),
        Mistake(
            "one score for all heads",
            "You averaged over the heads. Each has a score of its own.",
            {SCORE: "looks.mean(dim=0).sum() / after.any(dim=-1).sum().clamp(min=1)"},
        ),
        Mistake(
            "a stripe at a fixed distance",
            "You measured a stripe at a fixed distance. Compare tokens: the distance differs.",
            {SAME: "same = torch.eye(len(tokens)).roll(5, 0).tril(-1).bool()"},
        ),
    ],
    alternatives=[
        Alternative(
            "query by query",
            """
            scores = []
            for i in range(len(tokens)):
                places = [j + 1 for j in range(i) if tokens[j] == tokens[i]]
                if places:
                    scores.append(attn_weights[:, i, places].sum(dim=-1))
            return torch.stack(scores).mean(dim=0) if scores else 0.0 * attn_weights[:, 0, 0]
            """,
        ),
        Alternative(
            "by comparing with the token before",
            """
            n = len(tokens)
            before = torch.cat([torch.full((1,), -1), tokens[:-1]])
            places = torch.arange(n)
            after = (before == tokens[:, None]) & (places <= places[:, None])
            found = torch.einsum("hqk,qk->hq", attn_weights, after.to(attn_weights.dtype))
            return found.sum(dim=1) / max(1, int(after.any(dim=1).sum()))
            """,
        ),
    ],
    hints=[
        "First a table, [query, key]: where does an earlier key have the same token as the query? "
        "`tokens[:, None] == tokens` compares all pairs, and `tril(-1)` keeps the earlier ones.",
        "An induction head looks one place to the right of these. `F.pad(table, (1, 0))` moves "
        "everything one column to the right; cut off the last one.",
        "For each query, add up the weights where the table is True. Queries whose row has no "
        "True don't count: divide by the number of the others, or by 1 if there are none.",
    ],
    excuses={
        "result clamped": "a mean of weights is from 0 to 1",
        "result without signs": "likewise",
        "result without negatives": "likewise",
        "another number: 1 → 2 (4)": "all of them are added up in the end",
        "another number: 1 → 2 (6)": "as many tokens come again as have come before",
        "another number: 1 → 0 (6)": "likewise",
        "by comparing with the token before / another number: 1 → 0 (6)": "likewise",
        "query by query / another number: 0 →": "it is multiplied by 0",
        "query by query / another operator: 0.0 *": "0 divided by a weight is 0, too",
        "by comparing with the token before / another number: 1 → 2 (2)": "no token is negative",
        "by comparing with the token before / call dropped: int(": "a tensor has a size, too",
        "by comparing with the token before / operands swapped": "the order does not matter",
        "by comparing with the token before / arguments swapped: max": "likewise",
    },
)

# ---------------------------------------------------------------- copy_accuracy


def guessed(draw: Draw) -> dict[str, Any]:
    """Texts that repeat from a place on that differs; about two of three guesses are right."""
    draw.fix(batch=3, n=11, n_tokens=13)
    tokens, place = tokens_of(draw), torch.arange(11)
    known = place > torch.tensor([4, 6, 7])[:, None]
    logits = draw.normal("batch n n_tokens")
    is_right = draw.uniform("batch n") < 2 / 3
    following = tokens.roll(-1, dims=1)[..., None]
    boosted = logits.scatter(-1, following, logits.amax(dim=-1, keepdim=True) + 1)
    return {
        "logits": torch.where(is_right[..., None], boosted, logits),
        "tokens": tokens,
        "known": known,
    }


COUNTED = "counted = known[:, 1:]"
RIGHT = "right = logits[:, :-1].argmax(dim=-1) == tokens[:, 1:]"
SHARE = "right[counted].float().mean()"

copy_accuracy = Exercise(
    "copy_accuracy",
    returns="accuracy",
    also=(AGAIN,),
    aspects=[Aspect("right guesses, where they count", 3, [guessed, guessed, guessed])],
    mistakes=[
        Mistake(
            "all places counted",
            "You counted all places. Where no model could know the next token, it doesn't count.",
            {SHARE: "right.float().mean()"},
        ),
        Mistake(
            "known not shifted",
            "You counted the places that *read* a known token. Count those where the *next* token "
            "is known: `known[:, 1:]`.",
            {COUNTED: "counted = known[:, :-1]"},
        ),
        Mistake(
            "the unknown counted",
            "You counted the places where no model could know the next token. Count the others.",
            {COUNTED: "counted = ~known[:, 1:]"},
        ),
        Mistake(
            "not shifted",
            "You compared each place's guess with the token at the same place. The guess is about "
            "the *next* token.",
            {RIGHT: "right = logits[:, 1:].argmax(dim=-1) == tokens[:, 1:]"},
            {
                RIGHT: "right = logits.argmax(dim=-1) == tokens",
                COUNTED: "counted = known",
            },
        ),
        Mistake(
            "shifted backward",
            "You shifted the wrong way: your guesses are compared with the token *before* them.",
            {RIGHT: "right = logits[:, 1:].argmax(dim=-1) == tokens[:, :-1]"},
            {
                RIGHT: "right = logits[:, 1:].argmax(dim=-1) == tokens[:, :-1]",
                COUNTED: "counted = known[:, :-1]",
            },
        ),
        Mistake(
            "the number, not the share",
            "You counted the right guesses. Divide by the number of guesses that count.",
            {SHARE: "right[counted].float().sum()"},
        ),
        Mistake(
            "divided by all",
            "You counted the right guesses where they count, but divided by the number of all "
            "places. Divide by the number of those that count.",
            {SHARE: "(right & counted).float().mean()"},
        ),
        Mistake(
            "the mean of means",
            "You took the mean of each text first. All places that count should count alike: take "
            "one mean over them.",
            {SHARE: "((right & counted).sum(dim=1) / counted.sum(dim=1)).mean()"},
        ),
        Mistake(
            "one accuracy for each text",
            "You returned an accuracy for each text. Return one over all of them.",
            {SHARE: "(right & counted).sum(dim=1) / counted.sum(dim=1)"},
        ),
        Mistake(
            "the probability, not the likeliest",
            "You took the probability of the right token. Ask whether it's the *likeliest* one: "
            "`argmax`.",
            {
                RIGHT: "probs = logits[:, :-1].softmax(dim=-1)\n"
                "    right = probs.gather(-1, tokens[:, 1:, None]).squeeze(-1)"
            },
        ),
        Mistake(
            "the error rate",
            "You returned how often the guess is wrong. Return how often it's right.",
            {"argmax(dim=-1) ==": "argmax(dim=-1) !="},
        ),
        Mistake(
            "only the last place",
            "You looked at one place of each text. All places that count should count.",
            {SHARE: "right[:, -1].float().mean()"},
        ),
        Mistake(
            "in percent",
            "You returned a percentage. Return a share, from 0 to 1.",
            {SHARE: f"100 * {SHARE}"},
        ),
        Mistake(
            "the least likely",
            "You took the *least* likely token. The guess is the likeliest: `argmax`.",
            {"argmax": "argmin"},
        ),
    ],
    alternatives=[
        Alternative(
            "by counting",
            """
            right = counted = 0
            for text, guesses, is_known in zip(tokens, logits.argmax(dim=-1), known):
                for place in range(1, len(text)):
                    if is_known[place]:
                        counted += 1
                        right += int(guesses[place - 1] == text[place])
            return torch.tensor(right / counted)
            """,
        ),
        Alternative(
            "select first",
            """
            following = known[:, 1:]
            guesses = logits[:, :-1][following].topk(1).indices.squeeze(-1)
            return (guesses == tokens[:, 1:][following]).double().mean().to(logits.dtype)
            """,
        ),
    ],
    hints=[
        "What does the model guess at each place? The likeliest token. And what is the guess "
        "about? The next place.",
        "`logits[:, :-1].argmax(dim=-1)` and `tokens[:, 1:]` line up, as in `next_token_loss`.",
        "`known[:, 1:]` says for each of these guesses whether it counts. Use it as an index, "
        "and take the mean of what is left.",
    ],
    excuses={
        "result clamped": "a share is from 0 to 1",
        "result without signs": "likewise",
        "result without negatives": "likewise",
        "result flipped": "a share is a single number",
        "result squeezed": "likewise",
        "result in float32": "the logits decide which token is likeliest, and nothing else",
        "result rounded to float32": "likewise",
        "half precision inside": "likewise",
        "float32 inside": "likewise",
        "result detached": "what is counted has no gradient",
        "without gradients": "likewise",
        "by counting / call dropped: int(": "True counts as 1",
        "by counting / argument dropped: range": "the first token is never known",
        "by counting / another number: 1 → 2 (2)": "likewise, and the second",
        "by counting / another number: 1 → 0 (2)": "likewise",
        "select first / argument dropped: logits": "several guesses count",
    },
)

# ---------------------------------------------------------------- without_head

STACK = """
class Attention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(d_model, d_model))
        self.n_heads, self.attn_weights = n_heads, None

    def forward(self, x, cache=None):
        parts = (part(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
                 for part in (self.query, self.key, self.value))
        query, key, value = parts
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        shares = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
        self.attn_weights = shares.detach()
        side_by_side = (shares @ value).transpose(1, 2).flatten(2)
        return self.output(side_by_side)

class Layer(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention = Attention(d_model, n_heads)

    def forward(self, x, cache=None):
        return x + self.attention(x)

class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Layer({d_model}, {n_heads}) for _ in range({n_layers}))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x

def built(weights):
    stack = Stack().to(weights.dtype)
    torch.nn.utils.vector_to_parameters(weights.clone(), stack.parameters())
    return stack
"""


def taken_out(layer: int, head: int, n_layers: int, n_heads: int) -> Inputs:
    def case(draw: Draw) -> dict[str, Any]:
        draw.fix(n_heads=n_heads, n_layers=n_layers, d_head=5, d_model=5 * n_heads)
        draw.label(f"head {head} of {n_heads}, layer {layer} of {n_layers}")
        d_model = draw.size("d_model")
        weights = draw.normal_of((n_layers * 4 * (d_model**2 + d_model),), 0.4)
        model = Code(STACK.format(**draw.named("d_model n_heads n_layers")), given=["weights"])
        x = draw.normal("batch n d_model")
        return {"weights": weights, "model": model, "layer": layer, "head": head, "x": x}

    return case


COPIED = "model = copy.deepcopy(model)"
OWNED = "head * d_head : (head + 1) * d_head"
ZEROED = f"attention.output.weight[:, {OWNED}] = 0.0"

without_head = Exercise(
    "without_head",
    returns="result",
    trial="run_without_head",
    also=(),
    aspects=[
        Aspect(
            "the head adds nothing",
            3,
            [taken_out(0, 1, 2, 3), taken_out(2, 0, 3, 2), taken_out(1, 3, 2, 4)],
            outputs=("result", "without the next"),
        ),
        Aspect("so in a copy, with the given model as it was", 1, [taken_out(1, 1, 3, 2)]),
    ],
    mistakes=[
        Mistake(
            "no copy",
            "You changed the model that you were given. Change a copy: `copy.deepcopy(model)`. "
            "(`copy.copy` copies the module, but shares its layers.)",
            {COPIED: "pass"},
            {COPIED: "model = copy.copy(model)"},
        ),
        Mistake(
            "rows instead of columns",
            "You cleared rows of the output layer's weight. A row makes one feature of the result; "
            "the heads come in along the columns.",
            {ZEROED: f"attention.output.weight[{OWNED}] = 0.0"},
        ),
        Mistake(
            "every n-th column",
            "Your columns are spread over all heads. A head's features lie side by side.",
            {ZEROED: "attention.output.weight[:, head :: attention.n_heads] = 0.0"},
        ),
        Mistake(
            "one column",
            "You cleared one column. A head has d_head of them.",
            {ZEROED: "attention.output.weight[:, head] = 0.0"},
        ),
        Mistake(
            "another head",
            "You took out another head. Heads are counted from 0.",
            {OWNED: "(head - 1) * d_head : head * d_head or None"},
            {COPIED: f"{COPIED}\n    head = (head + 1) % model.blocks[layer].attention.n_heads"},
        ),
        Mistake(
            "all heads",
            "You took out all heads of the layer.",
            {ZEROED: "attention.output.weight[:] = 0.0"},
        ),
        Mistake(
            "all other heads",
            "You took out all heads but this one.",
            {
                ZEROED: "weight = attention.output.weight.clone()\n"
                "        attention.output.weight[:] = 0.0\n"
                f"        attention.output.weight[:, {OWNED}] = weight[:, {OWNED}]"
            },
        ),
        Mistake(
            "another layer",
            "You took the head out of another layer. Layers are counted from 0.",
            {"model.blocks[layer]": "model.blocks[layer - 1]"},
            {"model.blocks[layer]": "model.blocks[(layer + 1) % len(model.blocks)]"},
        ),
        Mistake(
            "all layers",
            "You took the head out of every layer.",
            {
                ZEROED: "for block in model.blocks:\n"
                f"            block.attention.output.weight[:, {OWNED}] = 0.0"
            },
        ),
        Mistake(
            "queries instead",
            "You cleared the head's queries. Then all its scores are equal, and it still adds the "
            "average of its values.",
            {
                ZEROED: f"attention.query.weight[{OWNED}] = 0.0\n"
                f"        attention.query.bias[{OWNED}] = 0.0"
            },
        ),
        Mistake(
            "the values' bias forgotten",
            "You cleared the head's rows in the value layer, but not its part of the bias, so the "
            "head still adds that.",
            {ZEROED: f"attention.value.weight[{OWNED}] = 0.0"},
        ),
        Mistake(
            "columns of the value layer",
            "You cleared columns of the value layer, which are what every head takes from these "
            "features. A head's own values are rows there; its columns are in the output layer.",
            {ZEROED: f"attention.value.weight[:, {OWNED}] = 0.0"},
        ),
        Mistake(
            "the output's bias cleared",
            "You cleared the output layer's bias, too. It belongs to no head: leave it.",
            {ZEROED: f"{ZEROED}\n        attention.output.bias[:] = 0.0"},
        ),
        Mistake(
            "nothing taken out",
            "The model you returned is still whole. Did you change a copy of a slice, or another "
            "model?",
            {ZEROED: f"attention.output.weight[:, {OWNED}].clone().zero_()"},
            {
                "    return model\n": "    return copy.deepcopy(model) and model_given\n",
                COPIED: f"model_given = model\n    {COPIED}",
            },
        ),
    ],
    alternatives=[
        Alternative(
            "no values",
            {
                ZEROED: f"attention.value.weight[{OWNED}] = 0.0\n"
                f"        attention.value.bias[{OWNED}] = 0.0"
            },
        ),
        Alternative(
            "by heads",
            {
                ZEROED: "columns = attention.output.weight.unflatten(1, (-1, d_head))\n"
                "        columns[:, head] = 0.0"
            },
        ),
        Alternative(
            "by a factor",
            {
                ZEROED: "factor = (torch.arange(attention.n_heads) != head).float()\n"
                "        attention.output.weight.mul_(factor.repeat_interleave(d_head))"
            },
        ),
    ],
    hints=[
        "Copy the model, find the attention of that layer in the copy, and change its output "
        "layer.",
        "`linear.weight` is [out, in]: column j is what input feature j adds. Head 0 has the first "
        "d_head columns, head 1 the next ones.",
        "d_head is `attention.output.in_features // attention.n_heads`. Set the head's columns to "
        "0, under `torch.no_grad()`.",
    ],
    excuses={
        "input changed": "it takes no tensor",
        "inputs require gradients": "likewise",
        "half precision inside": "likewise",
        "float32 inside": "likewise",
        "by a factor / call dropped": "True and False are 1 and 0",
    },
)

# ---------------------------------------------------------------- speculate

MOST_PAIRS_ERROR = 2e-4


def two_models(draft: tuple[float, ...], target: tuple[float, ...]) -> Inputs:
    """Probabilities of both models, in random order."""

    def case(draw: Draw) -> Goal:
        order = torch.randperm(len(draft), generator=draw.generator)
        q, p = (torch.tensor(probs)[order] for probs in (draft, target))
        draw.label(f"{len(draft)} tokens")
        goal = {
            "pairs": pair_chances(q, p),
            "by_generator": torch.tensor(True),
            "varies": torch.tensor(not torch.equal(q, p)),
        }
        return Goal({"draft": q, "target": p}, goal, MOST_PAIRS_ERROR)

    return case


def pair_chances(draft: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """How often the draft's token becomes which, [n_tokens, n_tokens]."""
    n = len(draft)
    kept = [min(q, p) for q, p in zip(draft.tolist(), target.tolist(), strict=True)]
    lacking = [p - k for p, k in zip(target.tolist(), kept, strict=True)]
    refused = sum(lacking) or 1.0
    pairs = [
        [(draft[i].item() - kept[i]) * lacking[j] / refused + (i == j) * kept[i] for j in range(n)]
        for i in range(n)
    ]
    return torch.tensor(pairs)


CERTAIN = "torch.rand((), generator=generator) < target[token] / draft[token]"
LACKING = "(target - draft).clamp(min=0.0)"

speculate = Exercise(
    "speculate",
    returns="pairs",
    trial="draw_again",
    challenge=True,
    also=(),
    seconds=10.0,
    aspects=[
        Aspect(
            "tokens as likely as the target's own",
            1,
            [
                two_models((0.6, 0.3, 0.1), (0.2, 0.3, 0.5)),
                two_models((0.4, 0.3, 0.2, 0.1), (0.1, 0.35, 0.25, 0.3)),
            ],
        ),
        Aspect(
            "the draft's token, whenever possible",
            1,
            [
                two_models((0.5, 0.5, 0.0), (0.0, 0.25, 0.75)),
                two_models((0.2, 0.5, 0.3), (0.2, 0.5, 0.3)),
            ],
        ),
    ],
    mistakes=[
        Mistake(
            "always kept",
            "You keep the draft's token every time, so the text is the draft's.",
            {f"if {CERTAIN}:": "if True:"},
        ),
        Mistake(
            "never kept",
            "Your tokens come as often as they should, but you throw the draft's token away. Keep "
            "it with probability p / q (always, if p ≥ q), so that the draft's work isn't wasted.",
            "return torch.multinomial(target, 1, generator=generator).item()",
        ),
        Mistake(
            "from the target again",
            "If the draft's token isn't kept, you draw from the whole target. Some tokens then "
            "come too often. Draw from max(0, p − q).",
            {LACKING: "target"},
        ),
        Mistake(
            "from the draft again",
            "If the draft's token isn't kept, you draw from the draft once more. Draw from "
            "max(0, p − q).",
            {LACKING: "draft"},
        ),
        Mistake(
            "kept and refused exchanged",
            "You keep the token where you should refuse it. `torch.rand(())` is *below* p / q with "
            "probability p / q.",
            {CERTAIN: CERTAIN.replace("<", ">")},
        ),
        Mistake(
            "the ratio upside down",
            "Your ratio is upside down: keep the token with probability p / q, target by draft.",
            {"target[token] / draft[token]": "draft[token] / target[token]"},
        ),
        Mistake(
            "kept if it is more likely",
            "You keep the token only if p ≥ q. Otherwise keep it with probability p / q.",
            {CERTAIN: "target[token] >= draft[token]"},
        ),
        Mistake(
            "kept by p alone",
            "You keep the token with probability p. Divide by q: the draft drew it with that "
            "probability already.",
            {"target[token] / draft[token]": "target[token]"},
        ),
        Mistake(
            "the difference the wrong way",
            "You drew from the tokens that the draft made too likely. Draw from those it made too "
            "unlikely: max(0, p − q).",
            {LACKING: "(draft - target).clamp(min=0.0)"},
        ),
        Mistake(
            "another source of randomness",
            "You didn't draw with `generator`, so the same generator doesn't give the same token.",
            {CERTAIN: CERTAIN.replace("(), generator=generator", "()")},
            {"torch.multinomial(lacking, 1, generator=generator)": "torch.multinomial(lacking, 1)"},
        ),
        Mistake(
            "the difference without its sign",
            "You took |p − q|. Where q is larger, nothing is lacking: max(0, p − q).",
            {LACKING: "(target - draft).abs()"},
        ),
    ],
    alternatives=[
        Alternative(
            "without a division",
            {
                CERTAIN: "torch.rand((), generator=generator) * draft[token] < target[token]",
                LACKING: "torch.maximum(target - draft, torch.zeros(()))",
            },
        ),
        Alternative(
            "in two steps",
            {
                f"    if {CERTAIN}:\n        return token\n": (
                    "    if target[token] >= draft[token]:\n"
                    "        return token\n"
                    "    kept = torch.rand((), generator=generator)\n"
                    "    if kept < target[token] / draft[token]:\n"
                    "        return token\n"
                )
            },
        ),
    ],
    hints=[
        "`torch.rand(())` is below x with probability x, if x is at most 1. And above 1? Then it's "
        "always below.",
        "What the draft is missing: the target minus the draft, with negative numbers set to 0.",
        "`torch.multinomial` doesn't need numbers that sum to 1.",
    ],
    excuses={
        "another comparison: torch.rand": "no draw is exactly that",
        "without a division / another comparison": "likewise",
        "in two steps / another comparison": "either way, it is kept",
        "in two steps / condition fixed": ("a draw is always below a ratio of 1 or more"),
        "without a division / arguments swapped: torch.maximum": "the order does not matter",
        "float32 inside": "that is less than luck does to frequencies",
        "half precision inside": "likewise",
    },
)

EXERCISES = [
    next_token_loss,
    BLOCK,
    TINY_LANGUAGE_MODEL,
    sample,
    generate,
    previous_token_score,
    induction_score,
    copy_accuracy,
    without_head,
    speculate,
]

PREDICTIONS = [
    Prediction(
        "the_bigram_table",
        right="about 2.4",
        choices={
            "about 4.2": "That's a guess among 68 equally likely characters. Pairs tell more.",
            "about 3.3": "That's what you get without pairs, from how often each character comes.",
            "about 2.4": "Pairs alone leave 11 characters to choose from.",
            "about 1.4": "That takes words and phrases. A pair doesn't know what word it's in.",
        },
    ),
    Prediction(
        "before_training",
        right="about ln 68",
        choices={
            "0": "A loss of 0 means being sure and right every time.",
            "about ln 68": "All tokens are about equally likely, as in the uniform guess.",
            "far above ln 68": "Only if it were sure of wrong answers. It isn't sure of anything.",
        },
    ),
    Prediction(
        "too_little_text",
        right="It falls, and then rises back to about where it began.",
        choices={
            "It falls, and stays there.": "It would, if more training never hurt.",
            "It stays where it is.": "2,000 characters are enough to learn some English.",
            "It falls, and then rises back to about where it began.": (
                "Knowing one text by heart makes the model sure of what is wrong in another."
            ),
        },
    ),
    Prediction(
        "another_period",
        right="never",
        choices={
            "nearly always": "If it looked for the token, it would. It doesn't.",
            "about half the time": "There is nothing halfway: it looks at the wrong place.",
            "never": "It looks 11 places back, and what it needs is 15 places back.",
        },
    ),
    Prediction(
        "one_induction_head_less",
        right="nearly always",
        choices={
            "never": "If it were the only one. But there are two.",
            "half the time": (
                "They don't split the texts between them. Each can do nearly all of the work."
            ),
            "nearly always": "The other head does the same job, and is enough by itself.",
        },
    ),
]
