"""What encoder and decoder share: their sizes, and what goes wrong in the feed-forward net."""

from autograder.lessons.draw import Draw
from autograder.lessons.variants import Mistake

NOT_A_RELU = (
    Mistake(
        "no ReLU",
        "There is no ReLU between the two layers. Two linear layers in a row amount to one.",
        {"nn.ReLU()": "nn.Identity()"},
    ),
    Mistake(
        "another activation",
        "There is another activation than a ReLU between the two layers. Use `nn.ReLU()` here.",
        *(
            {"nn.ReLU()": f"nn.{name}()"}
            for name in ("GELU", "SiLU", "ELU", "LeakyReLU", "Tanh", "Sigmoid", "Softplus")
        ),
    ),
)

SIZES = "n_heads d_model d_feedforward d_input"


def few_heads(draw: Draw) -> Draw:
    """Choose how many heads, before any other size. Each has three layers, which take time."""
    return draw.choose("n_heads", 2, 3)
