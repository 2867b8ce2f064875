"""Witnesses for lesson 5."""

import torch
import torch.nn.functional as F


def shift_target(sequence, n_source):
    """Go point by point: position i reads the point before the one it writes."""
    n_target = sequence.shape[1] - n_source
    return torch.stack([sequence[:, n_source + i - 1] for i in range(n_target)], dim=1)


def attend(parameters, prefix, n_heads, query, memory, keep=None):
    """Run the library's attention head by head; sum over slices of the output's columns."""
    weight, bias = parameters[f"{prefix}output.weight"], parameters[f"{prefix}output.bias"]
    d_model = len(bias)
    result, maps = bias.expand(*query.shape[:2], d_model), []
    for head in range(n_heads):
        q, k, v = (
            F.linear(
                x,
                parameters[f"{prefix}heads.{head}.{name}.weight"],
                parameters[f"{prefix}heads.{head}.{name}.bias"],
            )
            for name, x in (("query", query), ("key", memory), ("value", memory))
        )
        own = weight[:, head * d_model : (head + 1) * d_model]
        result = result + F.scaled_dot_product_attention(q, k, v, keep) @ own.T
        # With the identity as values, it gives the weights.
        eye = torch.eye(memory.shape[1], dtype=v.dtype).expand(len(memory), -1, -1)
        maps.append(F.scaled_dot_product_attention(q, k, eye, keep))
    return result, torch.stack(maps)


def feedforward(parameters, x):
    first, second = (
        (parameters[f"feedforward.{i}.weight"], parameters[f"feedforward.{i}.bias"]) for i in (0, 2)
    )
    return (x @ first[0].T + first[1]).clamp(min=0) @ second[0].T + second[1]


def wide_multi_head_attention(build, parameters, query, memory, keep=None):
    return attend(parameters, "", build["n_heads"], query, memory, keep)


def encoder(build, parameters, source, keep=None):
    states, _ = attend(parameters, "attention.", build["n_heads"], source, source, keep)
    return feedforward(parameters, states)


def decoder(build, parameters, target, memory, source_keep=None, target_keep=None):
    n_heads = build["n_heads"]
    asking, _ = attend(parameters, "self_attention.", n_heads, target, target, target_keep)
    states, _ = attend(parameters, "cross_attention.", n_heads, asking, memory, source_keep)
    return feedforward(parameters, states)


def toy_see(values, n_query, causal):
    """Return what each position of the toy decoder sees: a mean that weights early ones more."""
    rows = []
    for i in range(n_query):
        n = i + 1 if causal else values.shape[1]
        shares = [(1 + j) ** -0.5 for j in range(n)]
        rows.append(sum(s * values[:, j] for j, s in enumerate(shares)) / sum(shares))
    return torch.stack(rows, dim=1)


def toy_completer(build, parameters, source, target=None):
    """Write out the check's own encoder and decoder; predict if there is no target."""
    running = torch.stack([source[:, : i + 1].sum(1) for i in range(source.shape[1])], dim=1)
    running = running * parameters["encoder.gain"]
    seen, seen_running = (toy_see(x, 1, causal=False) for x in (source, running))

    def write(points):
        first = (points + toy_see(points, points.shape[1], causal=True)).sin()
        second = (points + toy_see(first, points.shape[1], causal=True)).sin()
        return 1.5 * (parameters["decoder.gain"] * second + seen + seen_running.cos())

    sizes = build["n_source"], build["n_target"]
    if target is not None:
        return write(target), *sizes
    points = [source[:, -1]]
    for _ in range(build["n_target"]):
        points.append(write(torch.stack(points, dim=1))[:, -1])
    return torch.stack(points[1:], dim=1), *sizes


def train_epoch(model, loader, loss, optimizer):
    """Get the derivatives from `torch.autograd.grad`, and pass them to the optimizer by hand."""
    model.train()
    parameters, total = list(model.parameters()), 0.0
    for source, target in loader:
        sequence = torch.cat([source, target], dim=1)
        read = sequence[:, source.shape[1] - 1 : -1]
        error = loss(model(source, read), target)
        gradients = torch.autograd.grad(error, parameters)
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient
        optimizer.step()
        total += error.item()
    after = {f"model.{name}": value for name, value in model.named_parameters()}
    return {"mean_loss": torch.tensor(total / len(loader)), **after}


def diagnose_run(train_losses, test_losses):
    """Return the index of the choice, judging by the curves' shape, not only their end."""
    train, test = train_losses.tolist(), test_losses.tolist()
    if len(set(train)) == 1:
        return 0
    if max(train) > 2 * train[0]:
        return 1
    if min(train) < 0.005:
        return 4 if min(test) < 0.005 else 3
    return 5 if min(test[-5:]) > 0.9 else 2


def train_completer(source, target, test_source, seed):
    """Do not train at all: average the known targets, weighting closer sources more."""
    distance = torch.cdist(test_source.flatten(1), source.flatten(1))
    shares = (-(distance**2) / 0.08).softmax(-1)
    return torch.einsum("qk,kij->qij", shares, target)


def complete_turned(source):
    """Fit an untouched square to both corners by Procrustes' rotation, once for each way around."""
    ways = [[[1, 1], [-1, 1], [-1, -1], [1, -1]], [[1, 1], [1, -1], [-1, -1], [-1, 1]]]
    fits, misses = [], []
    for way in ways:
        square = torch.tensor(way, dtype=source.dtype)
        left, _, right = torch.linalg.svd(source.mT @ square[:2])
        flip = torch.diag_embed(torch.stack([torch.ones(len(source)), (left @ right).det()], -1))
        fit = square @ (left @ flip.to(source.dtype) @ right).mT
        fits.append(fit[:, 2:])
        misses.append((fit[:, :2] - source).square().sum((1, 2)))
    nearer = (misses[0] < misses[1])[:, None, None]
    return torch.where(nearer, *fits)


WITNESSES = {
    "shift_target": shift_target,
    "WideMultiHeadAttention": wide_multi_head_attention,
    "Encoder": encoder,
    "Decoder": decoder,
    "SquareCompleter": toy_completer,
    "train_epoch": train_epoch,
    "diagnose_run": diagnose_run,
    "train_completer": train_completer,
    "complete_turned": complete_turned,
}
