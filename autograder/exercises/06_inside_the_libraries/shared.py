"""PyTorch's own layer, the names of parameters, and wrong cuts of the packed ones."""

import torch

from autograder.asking.arguments import Library, StandIn
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


# That of the lesson's `MultiHeadAttention`.
FORWARD = """
def forward(self, query, key, value, keep=None):
    def heads(x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    query, key, value = heads(self.query(query)), heads(self.key(key)), heads(self.value(value))
    attn_scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if keep is not None:
        keep = keep[:, None] if keep.dim() == 3 else keep
        attn_scores = attn_scores.masked_fill(~keep, torch.finfo(attn_scores.dtype).min)
    attn_weights = attn_scores.softmax(dim=-1)
    if keep is not None:
        attn_weights = attn_weights.masked_fill(~keep, 0.0)
    self.attn_weights = attn_weights.detach()
    return self.output((attn_weights @ value).transpose(1, 2).flatten(2))
"""


def torchs_layer(draw: Draw) -> Library:
    """An `nn.MultiheadAttention` in either mode, whose parameters are drawn, biases included."""
    sizes = draw.heads()
    build = {"embed_dim": sizes["d_model"], "num_heads": sizes["n_heads"], "batch_first": True}
    return Library("torch.nn.MultiheadAttention", build, training=either(draw))


def our_layer(draw: Draw) -> StandIn:
    """The lesson's `MultiHeadAttention` in either mode, biases included."""
    shapes = {name: "d_model d_model" for name in WEIGHTS} | {name: "d_model" for name in BIASES}
    parameters = {name: draw.normal(dims) for name, dims in shapes.items()}
    return StandIn(parameters, {"n_heads": draw.size("n_heads")}, either(draw), FORWARD)


def either(draw: Draw) -> bool:
    return bool(torch.randint(2, (), generator=draw.generator))


def parameters(*names: str) -> tuple[str, ...]:
    return (*(f"layer.{name}" for name in names), "layer.training")
