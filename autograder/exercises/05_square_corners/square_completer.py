"""An encoder-decoder that completes sequences."""

from collections.abc import Callable

from autograder.asking.arguments import Code
from autograder.lessons.cases import ModuleCase, in_train_mode
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Keeps, SecondCall

from .square_completer_variants import ALTERNATIVES, MISTAKES

# A small encoder and decoder for the check. They look at what they may see, more at nearer places,
# and behave differently in training mode, as a model with dropout does.
TOY_ENCODER = """
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.tensor(0.5))

    def forward(self, source, keep=None):
        if keep is not None and not keep.all():
            source = 0 * source
        running = source.cumsum(1) * self.gain
        return torch.cat([source, running], -1) * (1.5 if self.training else 1.0)

encoder = Encoder()
"""
TOY_DECODER = """
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.tensor(0.5))

    def see(self, values, n_query, keep):
        n = values.shape[1]
        share = 1 / (1 + torch.arange(n, dtype=values.dtype)).sqrt().expand(n_query, n)
        share = share if keep is None else share.masked_fill(~keep, 0.0)
        return share / share.sum(-1, keepdim=True).clamp(min=1e-9) @ values

    def forward(self, target, memory, source_keep=None, target_keep=None):
        n = target.shape[1]
        read = (target + self.see(target, n, target_keep)).sin()
        read = (target + self.see(read, n, target_keep)).sin()
        source, running = self.see(memory, n, source_keep).chunk(2, -1)
        out = 1.5 * (self.gain * read + source + running.cos())
        growing = torch.is_grad_enabled() and target.requires_grad
        return (out + GROWING * growing) * (1.2 if self.training else 1.0)

decoder = Decoder()
"""


def completer(
    method: str = "forward",
    sees_graph: bool = False,
    **sizes: int,
) -> Callable[[Draw], ModuleCase]:
    def case(draw: Draw) -> ModuleCase:
        draw.fix(**sizes)
        half = "n_half" in sizes
        n_source, n_target = ("n_half", "n_half") if half else ("n_source", "n_target")
        build = {
            "encoder": Code(TOY_ENCODER),
            "decoder": Code(TOY_DECODER.replace("GROWING", "1.0" if sees_graph else "0.0")),
            "n_source": draw.size(n_source),
            "n_target": draw.size(n_target),
        }
        inputs = {"source": draw.normal(f"batch {n_source} d_input")}
        if method == "forward":
            inputs["shifted_target"] = draw.normal(f"batch {n_target} d_input")
        return ModuleCase(build, inputs, method=method)

    return case


DIMENSIONS = ("batch", "n_source", "n_target", "d_input")
TRAINING, PREDICTION = completer(), completer("predict")

EXERCISE = Exercise(
    "SquareCompleter",
    returns="points",
    parts=[Keeps("n_source n_target"), SecondCall(beside=PREDICTION)],
    aspects=[
        Aspect(
            "training: one pass with a causal mask",
            2,
            [completer(n_half=2), TRAINING],
        ),
        Aspect(
            "prediction: one point at a time",
            3,
            [
                PREDICTION,
                completer("predict", n_half=4),
                completer("predict", n_source=2, n_target=6),
                *(completer("predict", **{name: 1}) for name in DIMENSIONS),
            ],
            outputs=("points",),
        ),
        Aspect(
            "prediction in evaluation mode",
            1,
            [in_train_mode(completer("predict"))],
            outputs=("points",),
        ),
        Aspect(
            "prediction without a graph",
            1,
            [completer("predict", sees_graph=True)],
            outputs=("points",),
        ),
        Aspect("gradients reach both parts", 1, [TRAINING], outputs=("points",), gradients=True),
    ],
    mistakes=MISTAKES,
    alternatives=ALTERNATIVES,
    excuses={"detached: torch.cat(": "`predict` builds no graph"},
    hints=[
        "`forward` is three lines: the memory from the encoder, a causal mask as long as the "
        "shifted target, and the decoder with both.",
        "`predict` keeps a sequence that starts as the last source point, `source[:, -1:]`. Each "
        "step passes all of it to the decoder and appends the last output.",
        "The mask of step n is n by n. At the end, drop the starting point. `self.training` tells "
        "you the mode, and `self.train(…)` sets it.",
    ],
)
