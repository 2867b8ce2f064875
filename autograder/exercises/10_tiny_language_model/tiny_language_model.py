"""A GPT: tokens in, logits of the next token out, at every place."""

from autograder.exercises.blocks import CALLED, LOOP, OF_THE_LOOP, in_a_plain_list
from autograder.exercises.pieces import in_pieces
from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES, Inputs, ModuleCase, in_train_mode
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Trial
from autograder.lessons.variants import Alternative, Mistake

from .shared import whole_numbers


def language(
    *pieces: int,
    n: int = 0,
    n_context: int = 13,
    n_layers: int = 3,
    **sizes: int,
) -> Inputs:
    """Tokens in pieces, with caches, or n tokens in one go."""

    def case(draw: Draw) -> ModuleCase:
        draw.label(in_pieces(pieces))
        length = n or sum(pieces)
        if length < n_context:  # named sizes have to differ
            draw.fix(n=length)
        draw.fix(**sizes).choose("n_layers", n_layers).choose("n_heads", 5 - n_layers)
        draw.choose("n_tokens", 16, 17, 19)
        draw.fix(n_context=n_context).heads()
        build = draw.named("n_tokens d_model n_heads n_layers n_context")
        tokens = whole_numbers(draw, draw.size("n_tokens"), draw.size("batch"), length)
        tokens[0, 0] = 0
        return ModuleCase(build, {"tokens": tokens, "pieces": list(pieces)})

    return case


FIRST = "first = 0 if caches is None else caches[0].length"
PLACES = "places = torch.arange(first, first + tokens.shape[1])"
EMBEDDED = "x = self.tokens(tokens) + self.positions(places)"
BLOCKS = "nn.ModuleList(Block(d_model, n_heads, 4 * d_model) for _ in range(n_layers))"
LOGITS = "self.logits(self.norm(x))"

EXERCISE = Exercise(
    "TinyLanguageModel",
    returns="logits",
    parts=[Trial("read_tokens")],
    builds_on=("Block",),
    also=(*SIZES, Form.DOUBLE, *CALLS),
    aspects=[
        Aspect(
            "a text in one go",
            2,
            [in_train_mode(language(n=7)), language(n=9)],
            outputs=("logits",),
        ),
        Aspect(
            "a text in pieces",
            2,
            [
                language(2, 3, n_context=41),  # room for places that are wrong
                in_train_mode(language(*[1] * 7)),
                language(4, 7, n_context=11),
            ],
            outputs=("logits", "afterwards"),
        ),
        Aspect(
            "the number of places, and weights to look at",
            1,
            [
                language(6, 2, n_layers=1),
                language(3, 4, n_layers=2),
                language(n=29, n_context=33, n_layers=6, n_heads=5, d_head=3, batch=2),
                language(n=8, n_context=11),
            ],
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
            {FIRST: f"{FIRST} - 1"},
        ),
        Mistake(
            "what was read counted twice",
            "Your places count what has been read twice: `torch.arange(first, first + n)` begins "
            "at `first`, and you add it once more.",
            {PLACES: f"{PLACES} + first"},
        ),
        Mistake(
            "the sum of all lengths",
            "You added up the lengths of all caches. Each of them has all tokens so far: the "
            "length of one is enough.",
            {FIRST: FIRST.replace("caches[0].length", "sum(cache.length for cache in caches)")},
        ),
        Mistake(
            "a counter of its own",
            "Your model counts the tokens itself, and goes on counting when another text begins. "
            "The caches know how many tokens of this text have been read.",
            {
                "self.n_context = n_context": "self.n_context, self.n_read = n_context, 0",
                FIRST: "first = 0 if caches is None else self.n_read\n"
                "        self.n_read = first + tokens.shape[1]",
            },
            {
                "self.n_context = n_context": "self.n_context, self.n_read = n_context, 0",
                FIRST: "first = self.n_read\n"
                "        self.n_read = 0 if caches is None else first + tokens.shape[1]",
            },
        ),
        Mistake(
            "the number of caches",
            "`len(caches)` is the number of blocks. How many tokens have been read is the "
            "length of a cache, `caches[0].length`.",
            {FIRST: "first = 0 if caches is None else len(caches)"},
        ),
        Mistake(
            "token 0 taken for padding",
            "With `padding_idx=0`, token 0 never learns: its gradient stays 0. In this model, it "
            "is a token like any other, so leave `padding_idx` out.",
            {"nn.Embedding(n_tokens, d_model)": "nn.Embedding(n_tokens, d_model, padding_idx=0)"},
        ),
        Mistake(
            "dropout",
            "You drop some of the embeddings, which makes the model random in training. This one "
            "has no dropout.",
            {EMBEDDED: f"{EMBEDDED}\n        x = F.dropout(x, 0.1, self.training)"},
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
            "positions in each block",
            "You add the positions in each block. Add them once, before the first one.",
            {
                EMBEDDED: "x = self.tokens(tokens)",
                CALLED: CALLED.replace("block(x,", "block(x + self.positions(places),"),
            },
            {CALLED: CALLED.replace("block(x,", "block(x + self.positions(places),")},
            {
                EMBEDDED: "x = self.tokens(tokens)",
                CALLED: f"{CALLED} + self.positions(places)",
            },
            {CALLED: f"{CALLED} + self.positions(places)"},
        ),
        Mistake(
            "positions after the blocks",
            "You add the positions after the blocks, where no attention sees them. Add them to the "
            "tokens' vectors, before the first block.",
            {
                EMBEDDED: "x = self.tokens(tokens)",
                "self.norm(x)": "self.norm(x + self.positions(places))",
            },
            {
                EMBEDDED: "x = self.tokens(tokens)",
                "self.norm(x)": "self.norm(x) + self.positions(places)",
            },
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
            "You returned probabilities, or their logarithms. Return the logits as they are; "
            "whoever needs probabilities takes a softmax.",
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
        *OF_THE_LOOP,
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
        in_a_plain_list(BLOCKS),
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
            excuses={"another number: 0 → -1": "all caches are equally long"},
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
    },
)
