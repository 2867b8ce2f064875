"""One block of a GPT, pre-norm."""

from autograder.exercises.pieces import in_pieces
from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES, Inputs, ModuleCase, in_train_mode
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Trial
from autograder.lessons.variants import Alternative, Mistake


def block_case(*pieces: int, n: int = 0, scale: float = 1.0) -> Inputs:
    """A text in pieces or, with n, in one go."""

    def case(draw: Draw) -> ModuleCase:
        draw.fix(n=n or sum(pieces))
        draw.label(in_pieces(pieces))
        build = draw.heads() | draw.named("d_feedforward")
        x = draw.normal("batch n d_model", scale)
        inputs = {"x": x, "pieces": list(pieces), "window": None}
        return ModuleCase(build, inputs)

    return case


ATTENTION = "x = x + self.attention(self.attention_norm(x), cache)"
NETWORK = "return x + self.feed_forward(self.feed_forward_norm(x))"
GELU = "nn.GELU()"
NORMS = [f"self.{part}_norm = nn.LayerNorm(d_model)" for part in ("attention", "feed_forward")]

EXERCISE = Exercise(
    "Block",
    returns="result",
    parts=[Trial("read_in_pieces")],
    also=(*SIZES, Form.DOUBLE, *CALLS),
    aspects=[
        Aspect(
            "attention and network, added",
            2,
            [block_case(n=9), block_case(n=33, scale=40.0), block_case(n=7)],
        ),
        Aspect("with a cache", 1, [in_train_mode(block_case(1, 1, 1, 1)), block_case(3, 2, 4)]),
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
            "the network's norm for both",
            "Both branches use `feed_forward_norm`. Attention has a norm of its own, "
            "`attention_norm`.",
            {"self.attention_norm(x), cache": "self.feed_forward_norm(x), cache"},
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
            {ATTENTION: "x = self.attention_norm(x)\n        x = x + self.attention(x, cache)"},
            {NETWORK: "x = self.feed_forward_norm(x)\n        return x + self.feed_forward(x)"},
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
            "the network behind attention alone",
            "Your network reads attention's part alone. Give it `x` with that part added.",
            {
                ATTENTION: (
                    "part = self.attention(self.attention_norm(x), cache)\n        x = x + part"
                ),
                "self.feed_forward_norm(x))": "self.feed_forward_norm(part))",
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
            *(
                {norm: norm.replace(")", f", eps={eps})")}
                for norm in NORMS
                for eps in ("1e-6", "1e-8", "1e-12")
            ),
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
