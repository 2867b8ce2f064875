"""Train a model on every batch once, with teacher forcing."""

from collections.abc import Callable

import torch

from autograder.asking.arguments import Code
from autograder.lessons.cases import CALLS, SIZES
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Reads, Result

from .train_epoch_variants import ALTERNATIVES, MISTAKES

TOY_MODEL = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.from_source = nn.Linear(D, D)
        self.from_target = nn.Linear(D, D)
        numbers = torch.Generator().manual_seed(SEED)
        with torch.no_grad():
            for parameter in self.parameters():
                shape = parameter.shape
                drawn = torch.randn(shape, dtype=torch.float64, generator=numbers)
                parameter.copy_(drawn * 0.5)
                if LEFT:
                    parameter.grad = torch.full(shape, 0.1)
        self.eval()

    def forward(self, source, shifted_target):
        seen = self.from_source(source.mean(1, keepdim=True)) * (1.0 if self.training else 0.5)
        return seen + self.from_target(shifted_target).tanh()

    def predict(self, source):
        points = [source[:, -1:]]
        for _ in range(N_TARGET):
            points.append(self(source, points[-1]).detach())
        return torch.cat(points[1:], 1)

model = Model()
"""
# A DataLoader has a length and no index.
TOY_LOADER = """
from torch.utils.data import DataLoader, TensorDataset
numbers = torch.Generator().manual_seed(SEED)
def points(n):
    return torch.randn(sum(SIZES), n, D, dtype=torch.float64, generator=numbers).float()
batches = torch.arange(sum(SIZES)).split(SIZES)
loader = DataLoader(TensorDataset(points(N_SOURCE), points(N_TARGET)), batch_sampler=batches)
"""
SGD = "def make(model):\n    return torch.optim.SGD(model.parameters(), lr=0.2)"
ADAM = "def make(model):\n    return torch.optim.Adam(model.parameters(), lr=0.1)"
MSE = "loss = nn.MSELoss()"

# Exchanging its two arguments gives another loss.
UNEVEN = """
def loss(prediction, target):
    return ((prediction - target).square() * (1 + target.square())).mean()
"""


def epoch(
    *more: int, optimizer: str = SGD, loss: str = MSE, left: bool = False, **sizes: int
) -> Callable[[Draw], dict[str, Code]]:
    """Train on a batch for each number in `more`, with that many more sequences than the smallest.

    left: whether the model comes with gradients, as from an earlier training.
    """

    def case(draw: Draw) -> dict[str, Code]:
        named = draw.fix(**sizes).named("batch n_source n_target d")
        smallest, n_source, n_target, d = named.values()
        many = [smallest + extra for extra in more]
        numbers = {
            "SEED": int(torch.randint(1000, (), generator=draw.generator)),
            **{"N_SOURCE": n_source, "N_TARGET": n_target, "D": d, "LEFT": int(left)},
        }
        batches = "one batch" if len(many) == 1 else f"batches of {', '.join(map(str, many))}"
        draw.label(f"{batches}{', gradients left in the model' if left else ''}")
        return {
            "model": Code(TOY_MODEL, numbers=numbers),
            "loader": Code(TOY_LOADER.replace("SIZES", str(many)), numbers=numbers),
            "loss": Code(loss),
            "optimizer": Code(optimizer, given=["model"]),
        }

    return case


EXERCISE = Exercise(
    "train_epoch",
    returns="mean_loss",
    parts=[Reads("model"), Result(plain=True)],
    also=(*SIZES, *CALLS),
    aspects=[
        Aspect("one batch", 1, [epoch(0, n_source=2)]),
        Aspect(
            "several batches",
            2,
            [
                epoch(0, 0, 0),
                epoch(0, 0, 0, 0, optimizer=ADAM, loss=UNEVEN, batch=2),
                epoch(0, 0, left=True),
            ],
        ),
        Aspect(
            "the mean loss",
            1,
            [epoch(5, 1, 0, batch=2), epoch(0, 0, 0, 0, 0)],
            outputs=("mean_loss",),
        ),
    ],
    mistakes=MISTAKES,
    alternatives=ALTERNATIVES,
    hints=[
        "Inside the loop: make the shifted target, call the model, measure the loss. Then the "
        "three calls that every training loop has.",
        "The three calls are the optimizer's `zero_grad` and `step` and the loss's `backward`. "
        "Which order makes sense?",
        "`.item()` takes the number out of a tensor. Collect the numbers, and divide their sum by "
        "how many there are.",
    ],
    excuses={
        "another argument: optimizer → model in optimizer.zero_grad()": (
            "the optimizer has all parameters of the model"
        ),
        "detached: torch.cat(": "what it shifts is data: no gradient flows there",
    },
)
