"""PyTorch's own layer, and the names of parameters."""

from autograder.asking.arguments import Library
from autograder.lessons.draw import Draw

PROJECTIONS = ("query", "key", "value", "output")
WEIGHTS = tuple(f"{name}.weight" for name in PROJECTIONS)
BIASES = tuple(f"{name}.bias" for name in PROJECTIONS)


def torchs_layer(draw: Draw) -> Library:
    """An `nn.MultiheadAttention` whose parameters are drawn, biases included."""
    sizes = draw.heads()
    build = {"embed_dim": sizes["d_model"], "num_heads": sizes["n_heads"], "batch_first": True}
    return Library("torch.nn.MultiheadAttention", build)


def parameters(*names: str) -> tuple[str, ...]:
    return (*(f"layer.{name}" for name in names), "layer.training")
