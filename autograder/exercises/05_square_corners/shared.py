"""What encoder and decoder share: sizes, masks, and what goes wrong in the feed-forward net."""

import torch

from autograder.lessons.cases import Inputs, ModuleCase
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


def as_many_sequences(make: Inputs, *masks: str) -> Inputs:
    """A case with masks for all sequences, of which there are as many as places."""

    def case(draw: Draw) -> ModuleCase:
        made = make(draw)
        assert isinstance(made, ModuleCase)
        for name, value in made.inputs.items():
            made.inputs[name] = draw.normal_of((4, 4, value.shape[-1]))
        made.inputs.update(dict.fromkeys(masks, torch.ones(4, 4, dtype=torch.bool).tril()))
        draw.label("as many sequences as places, one causal mask for all")
        return made

    return case


def nothing_kept(make: Inputs, mask: str) -> Inputs:
    """A case with a mask that hides everything from everyone."""

    def case(draw: Draw) -> ModuleCase:
        made = make(draw)
        assert isinstance(made, ModuleCase)
        made.inputs[mask] = torch.zeros_like(made.inputs[mask])
        draw.label("no place may attend to any other, or to itself")
        return made

    return case
