"""A Llama with tied embeddings: tokens in, logits of the next token out, at every place."""

from autograder.exercises.blocks import CALLED, LOOP, OF_THE_LOOP, in_a_plain_list
from autograder.exercises.pieces import in_pieces
from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES, Inputs, ModuleCase, in_train_mode
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Loaded, Trial
from autograder.lessons.variants import Alternative, Mistake

from .shared import LLAMA, grouped_heads, tokens_of


def language(
    *pieces: int,
    n: int = 0,
    n_layers: int = 1,
    n_kv_heads: int = 2,
    base: float = 10000.0,
    eps: float = 1e-5,
) -> Inputs:
    """Tokens in pieces, with caches, or n tokens in one go."""

    def case(draw: Draw) -> ModuleCase:
        draw.label(in_pieces(pieces))
        grouped_heads(draw, n_kv_heads=n_kv_heads).choose("n_layers", n_layers)
        draw.choose("n_tokens", 16, 17, 19)
        if draw.same > 1:
            draw.fix(n_tokens=draw.size("d_model"))
        tokens = tokens_of(draw, n or sum(pieces))
        build = draw.named(LLAMA) | {"base": base, "eps": eps}
        return ModuleCase(build, {"tokens": tokens, "pieces": list(pieces)})

    return case


BLOCKS = "nn.ModuleList(LlamaBlock(*sizes) for _ in range(n_layers))"
LOGITS = "self.norm(x) @ self.tokens.weight.T"

EXERCISE = Exercise(
    "Llama",
    returns="logits",
    parts=[Loaded(from_file=True), Trial("read_with_caches")],
    builds_on=("RotaryGroupedAttention", "RMSNorm", "GatedFeedForward"),
    also=(*SIZES, Form.DOUBLE, *CALLS),
    aspects=[
        Aspect(
            "a text in one go",
            2,
            [
                in_train_mode(language(n=7, n_kv_heads=3)),
                language(n=9, n_layers=3, base=200.0, eps=0.1),
            ],
            outputs=("logits",),
        ),
        Aspect(
            "a text in pieces",
            2,
            [
                language(2, 3, n_layers=3),
                in_train_mode(language(*[1] * 6)),
                language(4, 5, base=100.0),
            ],
            outputs=("logits", "afterwards"),
        ),
        Aspect("gradients", 1, [language(n=8)], outputs=("logits",), gradients=True),
    ],
    mistakes=[
        Mistake(
            "no last norm",
            "The last norm is missing: `norm` comes before the logits.",
            {LOGITS: "x @ self.tokens.weight.T"},
        ),
        Mistake(
            "norm after every block",
            "You used `norm` after every block. It comes once, after the last one.",
            {
                LOOP: LOOP.replace("x = block(", "x = self.norm(block(").replace(
                    "number])", "number]))"
                ),
                LOGITS: "x @ self.tokens.weight.T",
            },
        ),
        Mistake(
            "normed before the blocks",
            "You used `norm` before the blocks. It comes after them.",
            {
                "x = self.tokens(tokens)": "x = self.norm(self.tokens(tokens))",
                LOGITS: "x @ self.tokens.weight.T",
            },
        ),
        Mistake(
            "a layer of its own for the logits",
            "Your logits come from a layer of their own. Here they are dot products with the rows "
            "of `tokens`.",
            {
                "self.norm = RMSNorm(d_model, eps)": "self.norm = RMSNorm(d_model, eps)\n"
                "        self.logits = nn.Linear(d_model, n_tokens, bias=False)",
                LOGITS: "self.logits(self.norm(x))",
            },
        ),
        Mistake(
            "tokens scaled",
            "You multiplied the tokens' vectors by √d_model. Some models do (Gemma), but not this "
            "one.",
            {"x = self.tokens(tokens)": "x = self.tokens(tokens) * self.tokens.embedding_dim**0.5"},
        ),
        Mistake(
            "logits scaled",
            "You scaled the logits. Return the dot products as they are.",
            {LOGITS: f"{LOGITS} / x.shape[-1] ** 0.5"},
        ),
        Mistake(
            "probabilities",
            "You returned probabilities, or their logarithms. Return the logits as they are.",
            {LOGITS: f"({LOGITS}).softmax(dim=-1)"},
            {LOGITS: f"({LOGITS}).log_softmax(dim=-1)"},
        ),
        Mistake(
            "only the last place",
            "You returned the logits of the last place. Return those of all places.",
            {LOGITS: "self.norm(x[:, -1:]) @ self.tokens.weight.T"},
            {LOGITS: f"({LOGITS})[:, -1]"},
        ),
        Mistake(
            "only the first block",
            "Only one of the blocks runs. Each one reads what the one before it returned.",
            {LOOP: "        x = self.blocks[0](x, caches and caches[0])\n"},
        ),
        *OF_THE_LOOP,
        Mistake(
            "caches not handed on",
            "You didn't pass the caches on to the blocks.",
            {CALLED: "x = block(x)"},
        ),
        Mistake(
            "another eps",
            "Your last norm has another `eps`. It has the same as the others.",
            {"self.norm = RMSNorm(d_model, eps)": "self.norm = RMSNorm(d_model)"},
            {"self.norm = RMSNorm(d_model, eps)": "self.norm = RMSNorm(d_model, eps=1e-6)"},
        ),
        Mistake(
            "one cache n times over",
            "`[Cache()] * n` is one cache, n times over, so all blocks fill the same one. And "
            "without `caches`, there's nothing to keep.",
            {
                "x = self.tokens(tokens)": "x = self.tokens(tokens)\n"
                "        caches = caches or [Cache()] * len(self.blocks)"
            },
        ),
        Mistake(
            "the blocks' eps fixed",
            "Your blocks have an `eps` of their own. Hand on the one that was given.",
            {"d_feedforward, base, eps": "d_feedforward, base, 1e-5"},
            {"d_feedforward, base, eps": "d_feedforward, base, 1e-6"},
        ),
        Mistake(
            "the blocks' base fixed",
            "Your blocks turn by a base of their own. Hand on the one that was given.",
            {"d_feedforward, base, eps": "d_feedforward, 10000.0, eps"},
        ),
        Mistake(
            "the blocks' arguments in another order",
            "You gave `LlamaBlock` its arguments in another order: d_model, n_heads, n_kv_heads, "
            "d_feedforward, base, eps.",
            {"d_feedforward, base, eps\n": "d_feedforward, eps, base\n"},
        ),
        in_a_plain_list(BLOCKS),
        Mistake(
            "one block several times",
            "All your blocks are one and the same. Make a new one for each layer.",
            {BLOCKS: "nn.ModuleList([LlamaBlock(*sizes)] * n_layers)"},
        ),
        Mistake(
            "LayerNorm",
            "Your last norm is an `nn.LayerNorm`. Use your `RMSNorm`.",
            {"self.norm = RMSNorm(d_model, eps)": "self.norm = nn.LayerNorm(d_model, eps)"},
            {
                "self.norm = RMSNorm(d_model, eps)": (
                    "self.norm = nn.LayerNorm(d_model, eps, bias=False)"
                )
            },
        ),
        Mistake(
            "the table detached",
            "The table gets no gradient from the logits. Use `self.tokens.weight` as it is.",
            {"self.tokens.weight.T": "self.tokens.weight.detach().T"},
        ),
    ],
    alternatives=[
        Alternative(
            "with zip",
            {
                LOOP: (
                    "        for block, cache in zip(self.blocks, caches or [None] * "
                    "len(self.blocks)):\n"
                    "            x = block(x, cache)\n"
                ),
                LOGITS: "F.linear(self.norm(x), self.tokens.weight)",
            },
        ),
        Alternative(
            "two ways",
            {
                LOOP: (
                    "        if caches is None:\n"
                    "            for block in self.blocks:\n"
                    "                x = block(x)\n"
                    "        else:\n"
                    "            for i in range(len(self.blocks)):\n"
                    "                x = self.blocks[i](x, cache=caches[i])\n"
                ),
                LOGITS: 'torch.einsum("bnd,td->bnt", self.norm(x), self.tokens.weight)',
            },
        ),
    ],
    hints=[
        "Three steps: the vectors of the tokens, a loop over the blocks, and the logits of the "
        "normed result.",
        "In the loop, block number i gets `caches[i]`, or None if there are no caches.",
        "`self.tokens.weight` is [n_tokens, d_model]. How do you multiply `self.norm(x)` by it?",
    ],
    excuses={
        "input changed": "it takes no floating-point tensor",
        "inputs require gradients": "likewise",
        "half precision inside": "likewise",
        "float32 inside": "likewise",
    },
)
