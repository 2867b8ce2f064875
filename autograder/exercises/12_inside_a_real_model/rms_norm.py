"""Division by the root of the mean square, over the last dimension."""

from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES, Inputs, ModuleCase, in_train_mode
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Loaded
from autograder.lessons.variants import Alternative, Mistake


def normed(dims: str = "batch n", scale: float = 1.0, **settings: float) -> Inputs:
    """Tokens of some shape, with a weight as if it were trained."""

    def case(draw: Draw) -> ModuleCase:
        build = draw.named("d_model") | settings
        return ModuleCase(build, {"x": draw.normal(f"{dims} d_model", scale)})

    return case


def untrained(draw: Draw) -> ModuleCase:
    draw.label("just made")
    return ModuleCase(
        draw.named("d_model"), {"x": draw.normal("batch n d_model")}, own_parameters=True
    )


MEAN = "mean_square = x.square().mean(dim=-1, keepdim=True)"
ROOT = "(mean_square + self.eps).sqrt()"
NORMED = f"return x / {ROOT} * self.weight"
WEIGHT = "nn.Parameter(torch.ones(d_model))"

EXERCISE = Exercise(
    "RMSNorm",
    returns="normed",
    parts=[Loaded(from_file=True)],
    also=(*SIZES, Form.DOUBLE, *CALLS),
    aspects=[
        Aspect(
            "divided by the root mean square",
            2,
            [normed(), in_train_mode(normed("n")), normed("batch n_heads n", 40.0), untrained],
        ),
        Aspect("ε", 1, [normed(scale=0.003), normed(eps=0.3), normed(scale=0.0)]),
        Aspect("gradients", 1, [normed(), normed(scale=0.003)], gradients=True),
    ],
    mistakes=[
        Mistake(
            "the mean subtracted",
            "You subtracted the mean, as LayerNorm does. This norm leaves it in.",
            {NORMED: f"return (x - x.mean(dim=-1, keepdim=True)) / {ROOT} * self.weight"},
            {
                MEAN: f"x = x - x.mean(dim=-1, keepdim=True)\n        {MEAN}",
            },
        ),
        Mistake(
            "divided by the standard deviation",
            "You divided by the standard deviation. Divide by the root of the mean square: the "
            "mean isn't subtracted before squaring.",
            {MEAN: "mean_square = x.var(dim=-1, keepdim=True, correction=0)"},
            {MEAN: "mean_square = x.var(dim=-1, keepdim=True)"},
        ),
        Mistake(
            "the sum of squares",
            "You took the sum of the squares, so all tokens get length 1. Take their mean.",
            {MEAN: MEAN.replace("mean(", "sum(").replace("sum_", "mean_")},
        ),
        Mistake(
            "no root",
            "You divided by the mean square itself. Divide by its root.",
            {ROOT: "(mean_square + self.eps)"},
        ),
        Mistake(
            "multiplied by the root",
            "You multiplied by the root. Divide by it.",
            {f"x / {ROOT}": f"x * {ROOT}"},
        ),
        Mistake(
            "ε outside of the root",
            "You added ε to the root. Add it under the root.",
            {ROOT: "(mean_square.sqrt() + self.eps)"},
        ),
        Mistake(
            "no ε",
            "You left out ε, so zeros give NaN.",
            {ROOT: "mean_square.sqrt()"},
        ),
        Mistake(
            "at least ε",
            "You raised small mean squares to ε. Add ε to all of them.",
            {ROOT: "mean_square.clamp(min=self.eps).sqrt()"},
        ),
        Mistake(
            "another ε",
            "Your ε isn't the one that was given: use `eps`.",
            {"self.eps, self.weight = eps,": "self.eps, self.weight = 1e-5,"},
            {"self.eps, self.weight = eps,": "self.eps, self.weight = 1e-6,"},
            {f"{MEAN}\n        {NORMED}": "return F.rms_norm(x, self.weight.shape, self.weight)"},
        ),
        Mistake(
            "hardly any ε",
            "In your norm, ε hardly counts: it is far too small, or it only keeps zeros from being "
            "divided by 0. Add it, as it is, to each mean square, under the root.",
            {ROOT: "(mean_square + self.eps**2).sqrt()"},
            {
                f"{MEAN}\n        {NORMED}": (
                    "return F.normalize(x, dim=-1) * x.shape[-1] ** 0.5 * self.weight"
                )
            },
        ),
        Mistake(
            "no weight",
            "You didn't multiply by the weight.",
            {NORMED: f"return x / {ROOT}"},
        ),
        Mistake(
            "the weight plus 1",
            "You multiplied by weight + 1. Some models store it that way (Gemma), but not this "
            "one.",
            {NORMED: f"return x / {ROOT} * (1 + self.weight)"},
            {WEIGHT: "nn.Parameter(torch.zeros(d_model))", "* self.weight": "* (1 + self.weight)"},
        ),
        Mistake(
            "the weight inside",
            "You multiplied by the weight before you took the mean square. It comes last.",
            {MEAN: f"x = x * self.weight\n        {MEAN}", NORMED: f"return x / {ROOT}"},
        ),
        Mistake(
            "the mean over all tokens",
            "You took one mean over all tokens. Each token has its own: `dim=-1`.",
            {MEAN: "mean_square = x.square().mean()"},
            {MEAN: "mean_square = x.square().mean(dim=(-2, -1), keepdim=True)"},
        ),
        Mistake(
            "the mean over another dimension",
            "Your mean runs over the tokens. It runs over each token's features, the last "
            "dimension.",
            {MEAN: MEAN.replace("dim=-1", "dim=0")},
            {MEAN: MEAN.replace("dim=-1", "dim=-2")},
        ),
        Mistake(
            "one dimension taken for the features",
            "A dimension is counted from the left, as in `dim=1` or `dim=2`. Which one has the "
            "features depends on how many there are; counted from the end, it is always `dim=-1`.",
            {MEAN: MEAN.replace("dim=-1", "dim=1")},
            {MEAN: MEAN.replace("dim=-1", "dim=2")},
        ),
        Mistake(
            "the mean of the sizes",
            "You took the mean of the absolute values. Square, take the mean, then the root.",
            {MEAN: "mean_square = x.abs().mean(dim=-1, keepdim=True) ** 2"},
        ),
        Mistake(
            "a weight of zeros",
            "Your weight starts at 0, so a new norm makes zeros of everything. It starts at 1.",
            {WEIGHT: "nn.Parameter(torch.zeros(d_model))"},
        ),
        Mistake(
            "a drawn weight",
            "Your weight starts with drawn numbers. It starts at 1.",
            {WEIGHT: "nn.Parameter(torch.randn(d_model))"},
            {WEIGHT: "nn.Parameter(torch.rand(d_model))"},
        ),
        Mistake(
            "the norm detached",
            "You cut the path of the gradient through the root. It flows through all of this.",
            {ROOT: f"{ROOT}.detach()"},
        ),
    ],
    alternatives=[
        Alternative(
            "torch's function",
            {
                f"{MEAN}\n        {NORMED}": (
                    "return F.rms_norm(x, self.weight.shape, self.weight, self.eps)"
                )
            },
        ),
        Alternative(
            "by the length",
            {
                f"{MEAN}\n        {NORMED}": (
                    "length = x.norm(dim=-1, keepdim=True)\n"
                    "        root = torch.sqrt(length**2 / x.shape[-1] + self.eps)\n"
                    "        return self.weight * (x / root)"
                )
            },
        ),
        Alternative(
            "by powers",
            {
                f"{MEAN}\n        {NORMED}": "power = (x * x).mean(-1)[..., None] + self.eps\n"
                "        return x / power**0.5 * self.weight"
            },
        ),
    ],
    hints=[
        "Square, take the mean of the last dimension, add ε, take the root.",
        "`mean(dim=-1, keepdim=True)` leaves a dimension of 1, so that it can be divided by.",
        "Divide `x` by the root, and multiply by the weight at the end.",
    ],
)
