"""Train a model on every batch once, with teacher forcing."""

from collections.abc import Callable

import torch

from autograder.asking.arguments import Code
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Reads, Result

from .train_epoch_variants import ALTERNATIVES, MISTAKES

TOY_MODEL = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.from_source = nn.Linear(3, 3)
        self.from_target = nn.Linear(3, 3)
        numbers = torch.Generator().manual_seed(SEED)
        with torch.no_grad():
            for parameter in self.parameters():
                shape = parameter.shape
                drawn = torch.randn(shape, dtype=torch.float64, generator=numbers)
                parameter.copy_(drawn * 0.5)
        self.eval()

    def forward(self, source, shifted_target):
        seen = self.from_source(source.mean(1, keepdim=True)) * (1.0 if self.training else 0.5)
        return seen + self.from_target(shifted_target).tanh()

    def predict(self, source):
        points = [source[:, -1:]]
        for _ in range(4):
            points.append(self(source, points[-1]).detach())
        return torch.cat(points[1:], 1)

model = Model()
"""
TOY_LOADER = """
numbers = torch.Generator().manual_seed(SEED)
def points(size, n):
    return torch.randn(size, n, 3, dtype=torch.float64, generator=numbers).float()
loader = [(points(size, GIVEN), points(size, 4)) for size in SIZES]
"""
SGD = "def make(model):\n    return torch.optim.SGD(model.parameters(), lr=0.2)"
ADAM = "def make(model):\n    return torch.optim.Adam(model.parameters(), lr=0.1)"
MSE = "loss = nn.MSELoss()"

# Exchanging its two arguments gives another loss.
UNEVEN = """
def loss(prediction, target):
    return ((prediction - target).square() * (1 + target.square())).mean()
"""


def epoch(*sizes: int, optimizer: str = SGD, loss: str = MSE, given: int = 2) -> Callable:
    """Train on batches of these sizes."""

    def case(draw: Draw) -> dict:
        number = int(torch.randint(1000, (), generator=draw.generator))
        settings = {"SEED": number, "SIZES": sizes, "GIVEN": given}
        loader = TOY_LOADER
        for name, value in settings.items():
            loader = loader.replace(name, str(value))
        many = ", ".join(map(str, sizes))
        draw.label(
            f"{'a batch' if len(sizes) == 1 else 'batches'} of {many} sequences, {given} points "
            "given and 4 to write"
        )
        return {
            "model": Code(TOY_MODEL.replace("SEED", str(number))),
            "loader": Code(loader),
            "loss": Code(loss),
            "optimizer": Code(optimizer, given=["model"]),
        }

    return case


EXERCISE = Exercise(
    "train_epoch",
    returns="mean_loss",
    parts=[Reads("model"), Result(plain=True)],
    also=(),
    aspects=[
        Aspect("one batch", 1, [epoch(5)]),
        Aspect(
            "several batches",
            2,
            [
                epoch(5, 5, 5),
                epoch(2, 2, 2, 2, optimizer=ADAM, loss=UNEVEN),
                epoch(5, 5, given=3),
            ],
        ),
        Aspect("the mean loss", 1, [epoch(7, 3, 2), epoch(5, 5, 5, 5, 5)], outputs=("mean_loss",)),
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
    },
)
