"""A copy of the model in which one head adds nothing."""

from typing import Any

from autograder.asking.arguments import Code
from autograder.lessons.cases import Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Trial
from autograder.lessons.variants import Alternative, Mistake

from .shared import tokens_of

STACK = """
class Attention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(d_model, d_model))
        self.n_heads, self.attn_weights = n_heads, None

    def forward(self, x, cache=None):
        parts = (part(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
                 for part in (self.query, self.key, self.value))
        query, key, value = parts
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        shares = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
        self.attn_weights = shares.detach()
        side_by_side = (shares @ value).transpose(1, 2).flatten(2)
        return self.output(side_by_side)

class Layer(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention_norm, self.feed_forward_norm = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = Attention(d_model, n_heads)
        width = 4 * d_model
        layers = nn.Linear(d_model, width), nn.GELU(), nn.Linear(width, d_model)
        self.feed_forward = nn.Sequential(*layers)

    def forward(self, x, cache=None):
        x = x + self.attention(self.attention_norm(x), cache)
        return x + self.feed_forward(self.feed_forward_norm(x))

class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.n_context = {n_context}
        self.tokens = nn.Embedding({n_tokens}, {d_model})
        self.positions = nn.Embedding({n_context}, {d_model})
        self.blocks = nn.ModuleList(Layer({d_model}, {n_heads}) for _ in range({n_layers}))
        self.norm, self.logits = nn.LayerNorm({d_model}), nn.Linear({d_model}, {n_tokens})

    def forward(self, tokens, caches=None):
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        average = x.mean(dim=-1, keepdim=True)  # or else, nobody would see it behind the norm
        return self.logits(self.norm(x)) + average

def built(weights):
    stack = Stack().to(weights.dtype)
    torch.nn.utils.vector_to_parameters(weights.clone(), stack.parameters())
    for layer in stack.blocks:
        layer.attention.requires_grad_({trains})
    return stack
"""


SIZES = "d_model n_heads n_layers n_tokens n_context"


def taken_out(
    layer: int, head: int, n_layers: int, n_heads: int, trains: bool = True, **given: int
) -> Inputs:
    """A head to take out. trains: whether attention can be trained, or is frozen."""

    def case(draw: Draw) -> dict[str, Any]:
        draw.fix(n_heads=n_heads, n_layers=n_layers, **given).among("n_context", 21, 23).heads()
        which = f"head {head} of {n_heads}, layer {layer} of {n_layers}"
        draw.label(which if trains else f"{which}, attention frozen")
        d_model = draw.size("d_model")
        sizes = draw.choose("n_tokens", 11, 13).named(SIZES)
        of_layer, n_places = 12 * d_model**2 + 13 * d_model, sizes["n_context"]
        others = (2 * sizes["n_tokens"] + n_places + 2) * d_model + sizes["n_tokens"]
        weights = draw.normal_of((n_layers * of_layer + others,), 0.4)
        model = Code(STACK.format(**sizes, trains=trains), given=["weights"])
        tokens = tokens_of(draw)
        return {"weights": weights, "model": model, "layer": layer, "head": head, "tokens": tokens}

    return case


COPIED = "model = copy.deepcopy(model)"
OWNED = "head * d_head : (head + 1) * d_head"
ZEROED = f"attention.output.weight[:, {OWNED}] = 0.0"

EXERCISE = Exercise(
    "without_head",
    returns="result",
    parts=[Trial("run_without_head")],
    also=(),
    aspects=[
        Aspect(
            "the head adds nothing",
            3,
            [taken_out(0, 1, 2, 3), taken_out(2, 0, 3, 2), taken_out(3, 4, 4, 5, d_head=3)],
            outputs=("result", "without the next"),
        ),
        Aspect(
            "so in a copy, with the given model as it was",
            1,
            [taken_out(1, 1, 3, 2), taken_out(1, 0, 2, 3, trains=False)],
        ),
    ],
    mistakes=[
        Mistake(
            "no copy",
            "You changed the model that you were given. Change a copy: `copy.deepcopy(model)`. "
            "(`copy.copy` copies the module, but shares its layers.)",
            {COPIED: "pass"},
            {COPIED: "model = copy.copy(model)"},
        ),
        Mistake(
            "a part returned",
            "You returned only a part of the model. Return the whole copy.",
            {"return model": "return attention"},
            {"return model": "return model.blocks[layer]"},
        ),
        Mistake(
            "rows instead of columns",
            "You cleared rows of the output layer's weight. A row makes one feature of the result; "
            "the heads come in along the columns.",
            {ZEROED: f"attention.output.weight[{OWNED}] = 0.0"},
        ),
        Mistake(
            "every n-th column",
            "Your columns are spread over all heads. A head's features lie side by side.",
            {ZEROED: "attention.output.weight[:, head :: attention.n_heads] = 0.0"},
        ),
        Mistake(
            "one column",
            "You cleared one column. A head has d_head of them.",
            {ZEROED: "attention.output.weight[:, head] = 0.0"},
        ),
        Mistake(
            "more than its columns",
            "You cleared the columns of other heads, too. This head's own start at head · d_head "
            "and end before (head + 1) · d_head.",
            {OWNED: "head * d_head :"},
            {OWNED: ": (head + 1) * d_head"},
        ),
        Mistake(
            "a model made anew",
            "You made a new model and loaded the weights into it. The given one may have parts of "
            "another kind, or frozen ones: copy it as it is, with `copy.deepcopy(model)`.",
            {
                COPIED: "weights, n_heads = model.state_dict(), model.blocks[0].attention.n_heads\n"
                "    sizes = n_heads, len(model.blocks), model.n_context\n"
                "    model = TinyLanguageModel(*model.tokens.weight.shape, *sizes)\n"
                "    model.load_state_dict(weights, strict=False)"
            },
        ),
        Mistake(
            "trained again",
            "What was frozen in the given model can be trained in your copy. Change the copy's own "
            "weight, under `torch.no_grad()`: a new `nn.Parameter` isn't frozen.",
            {COPIED: f"{COPIED}.requires_grad_(True)"},
            {
                ZEROED: "weight = attention.output.weight.clone()\n"
                f"        weight[:, {OWNED}] = 0.0\n"
                "        attention.output.weight = nn.Parameter(weight)"
            },
        ),
        Mistake(
            "another head",
            "You took out another head. Heads are counted from 0.",
            {OWNED: "(head - 1) * d_head : head * d_head or None"},
            {OWNED: "(head - 1) * d_head : head * d_head"},
            {COPIED: f"{COPIED}\n    head = (head + 1) % model.blocks[layer].attention.n_heads"},
            {COPIED: f"{COPIED}\n    head = model.blocks[layer].attention.n_heads - 1 - head"},
        ),
        Mistake(
            "all heads",
            "You took out all heads of the layer.",
            {ZEROED: "attention.output.weight[:] = 0.0"},
        ),
        Mistake(
            "all other heads",
            "You took out all heads but this one.",
            {
                ZEROED: "weight = attention.output.weight.clone()\n"
                "        attention.output.weight[:] = 0.0\n"
                f"        attention.output.weight[:, {OWNED}] = weight[:, {OWNED}]"
            },
        ),
        Mistake(
            "another layer",
            "You took the head out of another layer. Layers are counted from 0.",
            {"model.blocks[layer]": "model.blocks[layer - 1]"},
            {"model.blocks[layer]": "model.blocks[-1]"},
            {"model.blocks[layer]": "model.blocks[(layer + 1) % len(model.blocks)]"},
        ),
        Mistake(
            "all layers",
            "You took the head out of every layer.",
            {
                ZEROED: "for block in model.blocks:\n"
                f"            block.attention.output.weight[:, {OWNED}] = 0.0"
            },
        ),
        Mistake(
            "queries instead",
            "You cleared the head's queries. Then all its scores are equal, and it still adds the "
            "average of its values.",
            {
                ZEROED: f"attention.query.weight[{OWNED}] = 0.0\n"
                f"        attention.query.bias[{OWNED}] = 0.0"
            },
        ),
        Mistake(
            "the values' bias forgotten",
            "You cleared the head's rows in the value layer, but not its part of the bias, so the "
            "head still adds that.",
            {ZEROED: f"attention.value.weight[{OWNED}] = 0.0"},
        ),
        Mistake(
            "the bias of all values",
            "You cleared the value layer's whole bias. Only a part of it belongs to this head: "
            "leave the other heads theirs.",
            {
                ZEROED: f"attention.value.weight[{OWNED}] = 0.0\n"
                "        attention.value.bias[:] = 0.0"
            },
        ),
        Mistake(
            "columns of the value layer",
            "You cleared columns of the value layer, which are what every head takes from these "
            "features. A head's own values are rows there; its columns are in the output layer.",
            {ZEROED: f"attention.value.weight[:, {OWNED}] = 0.0"},
        ),
        Mistake(
            "the output's bias cleared",
            "You cleared the output layer's bias, too. It belongs to no head: leave it.",
            {ZEROED: f"{ZEROED}\n        attention.output.bias[:] = 0.0"},
        ),
        Mistake(
            "nothing taken out",
            "The model you returned is still whole. Did you change a copy of a slice, or another "
            "model?",
            {ZEROED: f"attention.output.weight[:, {OWNED}].clone().zero_()"},
            {
                "    return model\n": "    return copy.deepcopy(model) and model_given\n",
                COPIED: f"model_given = model\n    {COPIED}",
            },
        ),
    ],
    alternatives=[
        Alternative(
            "a new weight",
            {
                ZEROED: "old = attention.output.weight\n"
                "        weight = old.clone()\n"
                f"        weight[:, {OWNED}] = 0.0\n"
                "        attention.output.weight = nn.Parameter(weight, old.requires_grad)"
            },
            excuses={"call dropped: old.clone": "what it changes is the copy's own"},
        ),
        Alternative(
            "no values",
            {
                ZEROED: f"attention.value.weight[{OWNED}] = 0.0\n"
                f"        attention.value.bias[{OWNED}] = 0.0"
            },
        ),
        Alternative(
            "by heads",
            {
                ZEROED: "columns = attention.output.weight.unflatten(1, (-1, d_head))\n"
                "        columns[:, head] = 0.0"
            },
        ),
        Alternative(
            "by a factor",
            {
                ZEROED: "factor = (torch.arange(attention.n_heads) != head).float()\n"
                "        attention.output.weight.mul_(factor.repeat_interleave(d_head))"
            },
            excuses={"call dropped": "True and False are 1 and 0"},
        ),
    ],
    hints=[
        "Copy the model, find the attention of that layer in the copy, and change its output "
        "layer.",
        "`linear.weight` is [out, in]: column j is what input feature j adds. Head 0 has the first "
        "d_head columns, head 1 the next ones.",
        "d_head is `attention.output.in_features // attention.n_heads`. Set the head's columns to "
        "0, under `torch.no_grad()`.",
    ],
    excuses={
        "input changed": "it takes no tensor",
        "inputs require gradients": "likewise",
        "half precision inside": "likewise",
        "float32 inside": "likewise",
    },
)
