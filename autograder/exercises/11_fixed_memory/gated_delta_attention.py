"""Causal attention with a memory of fixed size, in one go or in pieces."""

from autograder.exercises.pieces import NO_OUTPUT_PROJECTION, in_pieces
from autograder.lessons.cases import Inputs, ModuleCase, in_train_mode
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Trial
from autograder.lessons.variants import Alternative, Mistake


def reading(
    *pieces: int, n: int = 0, scale: float = 1.0, untrained: bool = False, zeros: int = 0
) -> Inputs:
    """A text in pieces or, with n, in one go.

    untrained: with the layer's own first parameters.
    zeros: how many words of zeros it begins with.
    """

    def case(draw: Draw) -> ModuleCase:
        read = [draw.same] * 2 if draw.same > 1 and pieces else list(pieces)
        draw.fix(n=sum(read) or draw.same or n)
        draw.label("just made" if untrained else in_pieces(read))
        draw.choose("n_heads", 2, 3)
        build = draw.named("d_model n_heads d_k d_v")
        x = draw.normal("batch n d_model", scale)
        x[:, :zeros] = 0
        return ModuleCase(build, {"x": x, "pieces": read}, own_parameters=untrained)

    return case


MEMORY = "memory = Memory() if memory is None else memory"
JOINED = "words = torch.cat([self.query(x), self.key(x), self.value(x)], dim=-1)"
CONVOLVED = "words, memory.tail = short_convolution(words, self.convolution, memory.tail)"
PARTS = "parts = words.split(self.widths, dim=-1)"
APART = "query, key, value = (split_heads(part, self.n_heads) for part in parts)"
LENGTHS = "query, key = F.normalize(query, dim=-1), F.normalize(key, dim=-1)"
BETA = "self.beta(x).sigmoid()"
DECAY = "F.logsigmoid(self.decay(x))"
READ = """context, memory.state = chunked_gated_delta(
            query, key, value, beta, log_decay, state=memory.state
        )"""
NORM = "context = self.norm(context)"
MERGED = "context.transpose(1, 2).flatten(2)"
BY_HEAD = "lambda y, n_heads: y.unflatten(-1, (-1, n_heads)).movedim(-1, 1)"

EXERCISE = Exercise(
    "GatedDeltaAttention",
    returns="result",
    parts=[Trial("read_with_memory")],
    builds_on=("short_convolution", "chunked_gated_delta"),
    aspects=[
        Aspect(
            "a text in pieces",
            2,
            [reading(4, 2, 1, 3), in_train_mode(reading(1, 1, 1, 1, 1, 1)), reading(2, 6)],
            outputs=("result", "afterwards"),
        ),
        Aspect(
            "a text in one go",
            4,
            [
                reading(n=7),
                reading(n=9, scale=20.0),
                reading(n=6, scale=500.0),
                in_train_mode(reading(n=6)),
                reading(n=8, untrained=True),
                reading(n=70),
                reading(n=6, scale=0.01),
                reading(n=5, zeros=1),
            ],
            outputs=("result",),
        ),
        Aspect(
            "a memory of fixed size",
            1,
            [reading(*[1] * 20, 70, 3), reading(5, 2)],
            outputs=("result", "state", "tail", "fixed", "old", "afresh", "nothing_kept"),
        ),
        Aspect(
            "gradients",
            1,
            [reading(n=5, scale=0.5), reading(1, 3, 2, scale=0.5)],
            outputs=("result",),
            gradients=True,
        ),
    ],
    mistakes=[
        Mistake(
            "no convolution",
            "You left out the short convolution.",
            {CONVOLVED: "pass"},
            {CONVOLVED: CONVOLVED.replace("words, memory", "_, memory")},
        ),
        Mistake(
            "values not convolved",
            "Your values skip the convolution. It is for queries, keys and values.",
            {
                CONVOLVED: f"value = words[..., -self.widths[-1] :]\n        {CONVOLVED}",
                PARTS: "parts = [*words.split(self.widths, dim=-1)[:2], value]",
            },
        ),
        Mistake(
            "another order side by side",
            "You put queries, keys and values side by side in another order. The rows of "
            "`convolution` are for queries, then keys, then values.",
            {JOINED: JOINED.replace("[self.query(x), self.key(x),", "[self.key(x), self.query(x),")}
            | {"query, key, value = (": "key, query, value = ("},
            {
                JOINED: "words = torch.cat([self.value(x), self.key(x), self.query(x)], dim=-1)",
                "words.split(self.widths": "words.split(self.widths[::-1]",
                "query, key, value = (": "value, key, query = (",
            },
            {
                JOINED: "words = torch.cat([self.query(x), self.value(x), self.key(x)], dim=-1)",
                "words.split(self.widths": "words.split([self.widths[i] for i in (0, 2, 1)]",
                "query, key, value = (": "query, value, key = (",
            },
        ),
        Mistake(
            "queries and keys swapped",
            "You swapped queries and keys.",
            {"query, key, value = (": "key, query, value = ("},
            {"[self.query(x), self.key(x),": "[self.key(x), self.query(x),"},
        ),
        Mistake(
            "an activation",
            "There's an activation after your convolution. Many models have one there, but not "
            "this layer.",
            {CONVOLVED: f"{CONVOLVED}\n        words = F.silu(words)"},
            {CONVOLVED: f"{CONVOLVED}\n        words = words.relu()"},
        ),
        Mistake(
            "queries of any length",
            "You didn't bring the queries to length 1.",
            {LENGTHS: "key = F.normalize(key, dim=-1)"},
        ),
        Mistake(
            "keys of any length",
            "You didn't bring the keys to length 1.",
            {LENGTHS: "query = F.normalize(query, dim=-1)"},
        ),
        Mistake(
            "no lengths",
            "You brought neither queries nor keys to length 1.",
            {LENGTHS: "pass"},
        ),
        Mistake(
            "values of length 1",
            "You brought the values to length 1, too. They may be as long as they are.",
            {LENGTHS: f"{LENGTHS}\n        value = F.normalize(value, dim=-1)"},
        ),
        Mistake(
            "all heads together of length 1",
            "You brought queries and keys to length 1 before you split them into heads. Each "
            "head's own should have length 1, so split first.",
            {
                LENGTHS: "pass",
                APART: "parts = [F.normalize(parts[0], dim=-1), F.normalize(parts[1], dim=-1), "
                f"parts[2]]\n        {APART}",
            },
        ),
        Mistake(
            "lengths along the words",
            "Your norm runs along the words. Bring each word's features to length 1: `dim=-1`.",
            {LENGTHS: LENGTHS.replace("dim=-1", "dim=-2")},
        ),
        Mistake(
            "lengths along the heads",
            "Your norm runs along the heads. They are dimension 1, which `F.normalize` takes by "
            "default. Bring each word's features to length 1: `dim=-1`.",
            {LENGTHS: LENGTHS.replace(", dim=-1", "")},
        ),
        Mistake(
            "sums of 1",
            "You divided queries and keys by the sum of their absolute values, as `p=1` does. A "
            "length is the root of the sum of squares: leave `p` at 2.",
            {LENGTHS: LENGTHS.replace("dim=-1", "p=1, dim=-1")},
        ),
        Mistake(
            "queries scaled",
            "You divided the queries by √d_k. Leave their length at 1.",
            {LENGTHS: f"{LENGTHS}\n        query = query * query.shape[-1] ** -0.5"},
        ),
        Mistake(
            "three equal parts",
            "You cut the features into three equal parts. Values may have other widths than "
            "queries and keys: `split(self.widths, dim=-1)`.",
            {PARTS: "parts = words.chunk(3, dim=-1)"},
        ),
        Mistake(
            "lengths before the convolution",
            "You brought queries and keys to length 1 before the convolution, which changes their "
            "length again.",
            {
                LENGTHS: "pass",
                JOINED: "query, key = (split_heads(y, self.n_heads) for y in (self.query(x), "
                "self.key(x)))\n"
                "        query, key = (F.normalize(y, dim=-1).transpose(1, 2).flatten(2) for y in "
                "(query, key))\n"
                "        words = torch.cat([query, key, self.value(x)], dim=-1)",
            },
        ),
        Mistake(
            "beta without the sigmoid",
            "Your β isn't between 0 and 1. Send it through a sigmoid.",
            {BETA: "self.beta(x)"},
            {BETA: "self.beta(x).tanh()"},
        ),
        Mistake(
            "beta by softmax",
            "Your β comes from softmax. Each head has a β of its own, from a sigmoid.",
            {BETA: "self.beta(x).softmax(dim=-1)"},
            {BETA: "self.beta(x).softmax(dim=1)"},
        ),
        Mistake(
            "beta up to 2",
            "Your β goes up to 2. Here it's at most 1.",
            {BETA: "2 * self.beta(x).sigmoid()"},
        ),
        Mistake(
            "the log of beta",
            "You took `logsigmoid` for β, too. It takes the sigmoid itself.",
            {BETA: "F.logsigmoid(self.beta(x))"},
        ),
        Mistake(
            "the decay without its log",
            "`chunked_gated_delta` takes the decay's logarithm, and you gave it the sigmoid "
            "itself. So the state grows with each word.",
            {DECAY: "self.decay(x).sigmoid()"},
        ),
        Mistake(
            "the decay as it is",
            "You took `decay` as it is, so its factor may be larger than 1. It goes through "
            "`F.logsigmoid`.",
            {DECAY: "self.decay(x)"},
        ),
        Mistake(
            "the log of the sigmoid",
            "You took the logarithm of a sigmoid. For a very negative number, the sigmoid is 0, "
            "and its logarithm −∞. `F.logsigmoid` does both at once, and stays finite.",
            {DECAY: "self.decay(x).sigmoid().log()"},
        ),
        Mistake(
            "minus the exponential",
            "Your decay is minus an exponential, as in some other models. Here, `decay` goes "
            "through `F.logsigmoid`.",
            {DECAY: "-self.decay(x).exp()"},
        ),
        Mistake(
            "minus the sigmoid",
            "Your decay is minus a sigmoid. It is the *logarithm* of the sigmoid.",
            {DECAY: "-self.decay(x).sigmoid()"},
        ),
        Mistake(
            "1 minus the sigmoid",
            "Your factor is 1 − the sigmoid: the sign inside is the wrong way round.",
            {DECAY: "-F.softplus(self.decay(x))"},
            {DECAY: "F.logsigmoid(-self.decay(x))"},
        ),
        Mistake(
            "beta and decay swapped",
            "You swapped the layers `beta` and `decay`.",
            {BETA: BETA.replace("beta", "decay"), DECAY: DECAY.replace("decay", "beta")},
        ),
        Mistake(
            "the decay before beta",
            "You handed the decay to `chunked_gated_delta` where it takes β, and β where it takes "
            "the decay.",
            {"value, beta, log_decay, state": "value, log_decay, beta, state"},
        ),
        Mistake(
            "beta for the decay",
            "You made the decay with the layer `beta`. It has one of its own.",
            {DECAY: DECAY.replace("decay", "beta")},
        ),
        Mistake(
            "decay for beta",
            "You made β with the layer `decay`. It has one of its own.",
            {BETA: BETA.replace("beta", "decay")},
        ),
        Mistake(
            "beta cut up",
            "You cut the table of β into pieces that mix words and heads. Exchange its dimensions: "
            "`transpose(1, 2)`.",
            {f"{BETA}.transpose(1, 2)": f"{BETA}.reshape(len(x), self.n_heads, -1)"},
        ),
        Mistake(
            "the decay cut up",
            "You cut the table of decays into pieces that mix words and heads. Exchange its "
            "dimensions: `transpose(1, 2)`.",
            {f"{DECAY}.transpose(1, 2)": f"{DECAY}.reshape(len(x), self.n_heads, -1)"},
        ),
        Mistake(
            "both cut up",
            "You cut the tables of β and of the decay into pieces that mix words and heads. "
            "Exchange their dimensions: `transpose(1, 2)`.",
            {
                f"{BETA}.transpose(1, 2)": f"{BETA}.reshape(len(x), self.n_heads, -1)",
                f"{DECAY}.transpose(1, 2)": f"{DECAY}.reshape(len(x), self.n_heads, -1)",
            },
        ),
        Mistake(
            "nothing fades",
            "You left the decay out.",
            {DECAY: "torch.zeros_like(self.decay(x))"},
        ),
        Mistake(
            "beta always 1",
            "You left β out.",
            {BETA: "torch.ones_like(self.beta(x))"},
        ),
        Mistake(
            "no norm",
            "You left out `norm`.",
            {f"{NORM}\n        ": ""},
        ),
        Mistake(
            "the norm's scale alone",
            "You took a norm of your own, without the weights of `norm`.",
            {NORM: "context = F.normalize(context, dim=-1) * context.shape[-1] ** 0.5"},
            {NORM: "context = F.rms_norm(context, context.shape[-1:])"},
            {NORM: "context = F.rms_norm(context, context.shape[-1:], eps=1e-6)"},
        ),
        Mistake(
            "all heads normed together",
            "You normed all heads together. Each head's context is normed by itself.",
            {
                NORM: "size = (context.square().mean(dim=(1, 3), keepdim=True) + 1e-6).sqrt()\n"
                "        context = context / size * self.norm.weight"
            },
        ),
        Mistake(
            "values normed",
            "You sent the values through `norm`. It is for the contexts.",
            {
                f"{NORM}\n        ": "",
                "query, key, value, beta,": "query, key, self.norm(value), beta,",
            },
        ),
        Mistake(
            "heads take turns",
            "Your heads take turns among the features. Each head owns features that lie side by "
            "side: split them by `split_heads`.",
            {APART: APART.replace("split_heads", f"({BY_HEAD})")},
        ),
        Mistake(
            "heads by view",
            "Your split mixes words: `view` straight to [batch, n_heads, n, d_head] cuts the rows. "
            "Use `split_heads`.",
            {
                APART: APART.replace(
                    "split_heads(part, self.n_heads)",
                    "part.reshape(len(x), self.n_heads, x.shape[1], -1)",
                )
            },
        ),
        Mistake(
            "heads not put back",
            "You flattened the heads without moving them back behind the words: `transpose(1, 2)` "
            "first.",
            {MERGED: "context.reshape(*x.shape[:2], -1)"},
        ),
        NO_OUTPUT_PROJECTION,
        Mistake(
            "x added",
            "You added `x`. The block does that, as in lesson 10.",
            {f"return self.output({MERGED})": f"return x + self.output({MERGED})"},
        ),
        Mistake(
            "no state from piece to piece",
            "Your second piece doesn't go on from the state of the first. Hand `memory.state` to "
            "`chunked_gated_delta`, and put what it returns back there.",
            {"context, memory.state = chunked": "context, _ = chunked"},
            {", state=memory.state": ""},
        ),
        Mistake(
            "no tail from piece to piece",
            "Your second piece doesn't go on from the tail of the first. Hand `memory.tail` to "
            "`short_convolution`, and put what it returns back there.",
            {"words, memory.tail = short": "words, _ = short"},
            {"self.convolution, memory.tail)": "self.convolution)"},
        ),
        Mistake(
            "the memory ignored",
            "Each of your pieces starts from nothing. Read the state and the tail from the "
            "`memory` that you're given, and put the new ones there.",
            {MEMORY: "memory = Memory()"},
            {"self.convolution, memory.tail)": "self.convolution)", ", state=memory.state": ""},
            {MEMORY: "memory = type('M', (), dict(vars(memory)))() if memory else Memory()"},
        ),
        Mistake(
            "a memory of the layer's own",
            "Your layer remembers earlier texts by itself, even without a `memory`. Keep nothing "
            "but what's in the memory.",
            {
                MEMORY: "self.own = getattr(self, 'own', None) or Memory()\n"
                "        memory = self.own if memory is None else memory"
            },
            {MEMORY: "memory = self.own = getattr(self, 'own', None) or memory or Memory()"},
        ),
        Mistake(
            "the old tensors written over",
            "You wrote the new state or tail over the old one. Somebody may still need that, to "
            "go on from it with other words: leave the old tensors as they are, and put new ones "
            "in the memory.",
            {
                READ: READ.replace("context, memory.state", "context, state")
                + "\n        if memory.state is None or torch.is_grad_enabled():\n"
                "            memory.state = state\n"
                "        else:\n"
                "            memory.state.copy_(state)"
            },
        ),
        Mistake(
            "all words kept",
            "What you keep grows with the text. Keep the last state and the last tail, in the "
            "memory, and nothing else.",
            {
                MEMORY: f"{MEMORY}\n"
                "        x = x if memory.state is None else torch.cat([memory.state, x], dim=1)\n"
                "        memory.state, n = x, 0 if memory.state is None else "
                "memory.state.shape[1]\n"
                "        memory.tail = None",
                CONVOLVED: CONVOLVED.replace("words, memory.tail", "words, _"),
                READ: READ.replace("context, memory.state", "context, _").replace(
                    ", state=memory.state", ""
                ),
                f"return self.output({MERGED})": f"return self.output({MERGED})[:, n:]",
            },
        ),
    ],
    alternatives=[
        Alternative(
            "step by step",
            {
                MEMORY: "if memory is None:\n            memory = Memory()",
                LENGTHS: "query = query / query.norm(dim=-1, keepdim=True).clamp(min=1e-12)\n"
                "        key = key / key.norm(dim=-1, keepdim=True).clamp(min=1e-12)",
                f"{BETA}.transpose(1, 2)": "torch.sigmoid(self.beta(x)).mT",
                f"{DECAY}.transpose(1, 2)": "(-F.softplus(-self.decay(x))).mT",
            },
        ),
        Alternative(
            "three convolutions",
            {
                f"{JOINED}\n        {CONVOLVED}\n        {PARTS}": (
                    "weights = self.convolution.split(self.widths)\n"
                    "        tails = (None,) * 3\n"
                    "        if memory.tail is not None:\n"
                    "            tails = memory.tail.split(self.widths, dim=-1)\n"
                    "        projected = self.query(x), self.key(x), self.value(x)\n"
                    "        done = [short_convolution(*each) for each in zip(projected, weights, "
                    "tails)]\n"
                    "        parts, tails = zip(*done)\n"
                    "        memory.tail = torch.cat(tails, dim=-1)"
                ),
            },
            excuses={"another number: 3 → 4": "`zip` stops after three"},
        ),
    ],
    hints=[
        "The first three steps give `query`, `key` and `value`, [batch, n_heads, n, …] each. "
        "`words.split(self.widths, dim=-1)` takes them apart.",
        "`self.beta(x)` is [batch, n, n_heads], and `chunked_gated_delta` needs [batch, n_heads, "
        "n]: transpose, after the sigmoid. Likewise for the decay.",
        "Make a `Memory()` if there's none, and the rest is the same with and without: hand over "
        "`memory.tail` and `memory.state`, and assign what comes back.",
    ],
)
