"""A feed-forward network whose inner features pass a gate (SwiGLU)."""

from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES, Inputs, ModuleCase, in_train_mode
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Loaded
from autograder.lessons.variants import Alternative, Mistake


def network(dims: str = "batch n", scale: float = 1.0) -> Inputs:
    def case(draw: Draw) -> ModuleCase:
        build = draw.named("d_model d_feedforward")
        return ModuleCase(build, {"x": draw.normal(f"{dims} d_model", scale)})

    return case


GATED = "F.silu(self.gate(x)) * self.up(x)"
LAYERS = {
    "gate": "self.gate = nn.Linear(d_model, d_feedforward, bias=False)",
    "up": "self.up = nn.Linear(d_model, d_feedforward, bias=False)",
    "down": "self.down = nn.Linear(d_feedforward, d_model, bias=False)",
}
WITH_BIAS = {layer: layer.replace(", bias=False", "") for layer in LAYERS.values()}

EXERCISE = Exercise(
    "GatedFeedForward",
    returns="result",
    parts=[Loaded(from_file=True)],
    also=(*SIZES, Form.DOUBLE, *CALLS),
    aspects=[
        Aspect(
            "a gate for each inner feature",
            2,
            [network(), in_train_mode(network("n")), network("batch n", 20.0), network("n", 0.1)],
        ),
        Aspect("gradients", 1, [network()], gradients=True),
    ],
    mistakes=[
        Mistake(
            "gate and up swapped",
            "You swapped the two: SiLU is for what `gate` returns, and `up` stays as it is.",
            {GATED: "self.gate(x) * F.silu(self.up(x))"},
        ),
        Mistake(
            "both through SiLU",
            "You sent both through SiLU. It is for the gate alone.",
            {GATED: "F.silu(self.gate(x)) * F.silu(self.up(x))"},
        ),
        Mistake(
            "SiLU at the end",
            "You multiplied first, and took SiLU of the product. It is for the gate alone.",
            {GATED: "F.silu(self.gate(x) * self.up(x))"},
        ),
        Mistake(
            "a sigmoid",
            "Your gate is a plain sigmoid. SiLU multiplies it by what goes in: z · sigmoid(z).",
            {GATED: "self.gate(x).sigmoid() * self.up(x)"},
        ),
        Mistake(
            "another activation",
            "Your gate has another activation. Take SiLU.",
            {"F.silu": "F.gelu"},
            {"F.silu": "F.relu"},
            {"F.silu": "torch.tanh"},
            {"F.silu(self.gate(x))": 'F.gelu(self.gate(x), approximate="tanh")'},
        ),
        Mistake(
            "no activation",
            "Your gate has no activation. Take SiLU of what `gate` returns.",
            {"F.silu(self.gate(x))": "self.gate(x)"},
        ),
        Mistake(
            "added",
            "You added the two. Multiply them.",
            {GATED: "F.silu(self.gate(x)) + self.up(x)"},
        ),
        Mistake(
            "no gate",
            "You didn't use the gate.",
            {GATED: "F.silu(self.up(x))"},
            {GATED: "self.up(x)"},
        ),
        Mistake(
            "no up",
            "You didn't use `up`: multiply the gate by what it returns.",
            {GATED: "F.silu(self.gate(x))"},
            {GATED: "F.silu(self.gate(x)) * self.gate(x)"},
        ),
        Mistake(
            "x added",
            "You added `x`. The block does that.",
            {"return self.down(": "return x + self.down("},
        ),
        Mistake(
            "the gate detached",
            "You cut the path of the gradient through the gate.",
            {"F.silu(self.gate(x))": "F.silu(self.gate(x)).detach()"},
        ),
        Mistake(
            "biases",
            "Your layers have biases. These three have none: `bias=False`.",
            WITH_BIAS,
            *({layer: biased} for layer, biased in WITH_BIAS.items()),
        ),
        Mistake(
            "an activation at the end",
            "There's an activation after `down`. The last thing is the linear layer.",
            {f"return self.down({GATED})": f"return F.silu(self.down({GATED}))"},
        ),
        Mistake(
            "one layer for both",
            "`gate` and `up` are one and the same layer. Make two.",
            {LAYERS["up"]: "self.up = self.gate"},
        ),
    ],
    alternatives=[
        Alternative(
            "SiLU by hand",
            {
                f"return self.down({GATED})": "gate = self.gate(x)\n"
                "        return self.down(self.up(x) * gate * gate.sigmoid())"
            },
        ),
        Alternative(
            "with modules",
            {
                f"return self.down({GATED})": (
                    "gate = nn.SiLU()(self.gate(x))\n        return self.down(gate.mul(self.up(x)))"
                )
            },
        ),
    ],
    hints=[
        "Send `x` through `gate` and through `up`. You get two tensors of d_feedforward features.",
        "One of the two goes through `F.silu`; then multiply them, feature by feature.",
        "`down` comes last.",
    ],
)
