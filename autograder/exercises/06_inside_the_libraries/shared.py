"""PyTorch's own layer, the names of parameters, and wrong cuts of the packed ones."""

from autograder.asking.arguments import Library
from autograder.lessons.draw import Draw

PROJECTIONS = ("query", "key", "value", "output")
WEIGHTS = tuple(f"{name}.weight" for name in PROJECTIONS)
BIASES = tuple(f"{name}.bias" for name in PROJECTIONS)
# What is said about rows of the packed weights that were cut or copied wrong.
EVERY_THIRD_ROW = (
    "You took every third row. The three projections do not alternate: the first "
    "third of the rows is the query's."
)
HEAD_BY_HEAD = (
    "You took the rows as if each head were packed with its own query, key and value. "
    "Here the query rows of all heads come first, then the key rows, then the value rows."
)
ONE_BIAS = (
    "Query, key and value got the same bias, the query's. Each has its own third of `in_proj_bias`."
)
BIASES_EXCHANGED = (
    "The biases of query and key are swapped. `in_proj_bias` has the same order as the "
    "weights: query, key, value."
)


def torchs_layer(draw: Draw) -> Library:
    """An `nn.MultiheadAttention` whose parameters are drawn, biases included."""
    sizes = draw.heads()
    build = {"embed_dim": sizes["d_model"], "num_heads": sizes["n_heads"], "batch_first": True}
    return Library("torch.nn.MultiheadAttention", build)


def parameters(*names: str) -> tuple[str, ...]:
    return (*(f"layer.{name}" for name in names), "layer.training")
