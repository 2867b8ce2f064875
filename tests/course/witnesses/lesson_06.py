"""Witnesses for lesson 6."""

from itertools import product

import torch
import torch.nn.functional as F


def unpack_projections(mha):
    """Observe each projection: a layer is linear, so unit vectors reveal its weight.

    The library's own function for packed weights projects the inputs.
    """
    d_model = mha.embed_dim
    eye, zero = torch.eye(d_model).to(mha.in_proj_weight), torch.zeros(d_model).to(mha.in_proj_bias)
    seen = {}
    weight, bias = mha.in_proj_weight, mha.in_proj_bias
    together = {
        "units": F._in_projection_packed(eye, eye, eye, weight, bias),
        "zero": F._in_projection_packed(zero, zero, zero, weight, bias),
    }
    for number, name in enumerate(("query", "key", "value")):
        seen[f"{name}.bias"] = together["zero"][number]
        seen[f"{name}.weight"] = (together["units"][number] - together["zero"][number]).T
    seen["output.bias"] = mha.out_proj(zero)
    seen["output.weight"] = (mha.out_proj(eye) - mha.out_proj(zero)).T
    return {name: value.detach() for name, value in seen.items()}


def per_head(weight, n_heads):
    d_model = len(weight)
    d_head = d_model // n_heads
    rows = [[weight[head * d_head + row] for row in range(d_head)] for head in range(n_heads)]
    return torch.stack([torch.stack(head) for head in rows])


def fold_heads(x, n_heads):
    n, batch, d_model = x.shape
    d_head = d_model // n_heads
    cells = [
        x[word, sentence, head * d_head + feature]
        for sentence, head, word, feature in product(
            range(batch), range(n_heads), range(n), range(d_head)
        )
    ]
    return torch.stack(cells).view(batch * n_heads, n, d_head)


def load_from_torch(ours, theirs):
    """Load what unpacking observes; theirs stays the same."""
    loaded = {f"ours.{name}": value for name, value in unpack_projections(theirs).items()}
    kept = {f"theirs.{name}": value.detach() for name, value in theirs.named_parameters()}
    return loaded | kept


def keras_multi_head_attention(build, parameters, query, key, value, keep=None):
    """Run torch's function head by head; sum over slices of the output's rows."""
    d_k, d_v = build["d_k"], build["d_v"]
    result = parameters["output_dense.bias"].expand(*query.shape[:2], build["d_model"])
    for head in range(build["n_heads"]):
        own, own_v = slice(head * d_k, (head + 1) * d_k), slice(head * d_v, (head + 1) * d_v)
        q, k, v = (
            x @ parameters[f"{name}.kernel"][:, part] + parameters[f"{name}.bias"][part]
            for name, x, part in (("query", query, own), ("key", key, own), ("value", value, own_v))
        )
        context = F.scaled_dot_product_attention(q, k, v, keep)
        result = result + context @ parameters["output_dense.kernel"][own_v]
    return result


def hide_change(layer, head, mix):
    """Observe what queries and keys of a head should be for unit vectors and for zero."""
    before = {name: value.detach().clone() for name, value in layer.named_parameters()}
    for name, matrix in (("query", mix), ("key", torch.linalg.pinv(mix.T))):
        for feature, other in product(range(len(mix)), repeat=2):
            row, from_row = head * len(mix) + feature, head * len(mix) + other
            old = dict(layer.named_parameters())
            for kind in ("weight", "bias"):
                if not other:
                    before[f"{name}.{kind}"][row] = 0
                part = matrix[feature, other] * old[f"{name}.{kind}"][from_row].detach()
                before[f"{name}.{kind}"][row] += part
    modes = {"layer.training": torch.tensor(layer.training)}
    return {f"layer.{name}": value for name, value in before.items()} | modes


WITNESSES = {
    "unpack_projections": unpack_projections,
    "per_head": per_head,
    "fold_heads": fold_heads,
    "load_from_torch": load_from_torch,
    "KerasMultiHeadAttention": keras_multi_head_attention,
    "hide_change": hide_change,
}
