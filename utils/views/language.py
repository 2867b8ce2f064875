"""Views of language models: one that writes, and the heads of one that learns."""

import base64
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from autograder.utils.plots.bars import plot_bars
from autograder.utils.plots.maps import plot_matrix
from autograder.utils.views.live import View

LIKELIEST = 12  # characters that have a bar
SIGNS = {" ": "␣", "\n": "⏎", "\t": "⇥"}
SCALE = 99  # weights are kept as whole numbers up to this


def view_writing(model: nn.Module, letters: Sequence[str], prompt: str, *, caption: str) -> View:
    """Let a language model write on the page, with knobs for its sampling.

    model: has the parameters of lesson 10's `TinyLanguageModel`; the page gets them in half
    precision.
    letters: the characters, by token.
    prompt: the text that it starts from.
    Raises ValueError if the prompt is empty or has a character that the model doesn't know.
    """
    unknown = sorted({*prompt} - {*letters})
    if unknown or not prompt:
        which = f"{unknown[0]!r}, which is none of the letters" if unknown else "nothing"
        raise ValueError(f"the prompt has {which}: give at least one of {''.join(letters)!r}")
    n_read = -model.n_context  # type: ignore[operator]  # to torch, a tensor or module
    tokens = [letters.index(letter) for letter in prompt][n_read:]
    with torch.no_grad():
        probs = model(torch.tensor([tokens]))[0, -1].softmax(dim=-1)
    best = probs.topk(min(LIKELIEST, len(letters)))
    labels = [SIGNS.get(letters[token], letters[token]) for token in best.indices]
    still = plot_bars({"the next character": best.values}, labels, caption=caption)
    weights = torch.cat([value.detach().flatten() for value in model.parameters()])
    data = {
        "letters": list(letters),
        "signs": SIGNS,
        "prompt": prompt,
        "n_bars": len(labels),
        "n_heads": model.get_submodule("blocks.0.attention").n_heads,
        "n_context": model.n_context,
        "shapes": [[name, list(value.shape)] for name, value in model.named_parameters()],
        "weights": base64.b64encode(weights.numpy().astype("<f2").tobytes()).decode(),
    }
    return View(still, "writing", data)


def view_next_tokens(
    tokens: Sequence[str],
    likeliest: Sequence[Mapping[str, float]],
    *,
    caption: str,
    opens_on: int = -1,
) -> View:
    """Show a text token by token, and what a model found likeliest to come after each of them.

    likeliest: for each token, some that may come next, the likeliest first, and how likely they
    are.
    opens_on: the place of the token that it begins with.
    Raises ValueError if there is no token, or one without any that may come next.
    """
    if len(tokens) != len(likeliest) or not all(likeliest) or not tokens:
        raise ValueError(
            f"there are {len(tokens)} tokens, and what comes next after {len(likeliest)}: give at "
            "least one token, and one or more after each"
        )
    shown = [[(_signed(token), round(p, 4)) for token, p in each.items()] for each in likeliest]
    labels, shares = zip(*shown[opens_on], strict=True)
    still = plot_bars({"likeliest next tokens": shares}, labels, caption=caption)
    data = {
        "tokens": [*map(_signed, tokens)],
        "likeliest": shown,
        "start": range(len(tokens))[opens_on],
    }
    return View(still, "next", data)


def _signed(token: str) -> str:
    """Return a token with signs in place of spaces, line breaks and tabs."""
    return "".join(SIGNS.get(letter, letter) for letter in token)


def view_training(
    steps: Sequence[int],
    losses: Sequence[float],
    attn_weights: Float[Tensor, "n_moments n_layers n_heads n n"],
    scores: Mapping[str, Sequence],
    *,
    caption: str,
) -> View:
    """Show the heads of a model at moments of its training.

    steps and losses: one for each moment.
    scores: name → [n_moments, n_layers, n_heads].
    Raises ValueError if the numbers of moments differ.
    """
    moments = {len(steps), len(losses), len(attn_weights), *map(len, scores.values())}
    if len(moments) > 1:
        raise ValueError(f"steps, losses, weights and scores have {sorted(moments)} moments")
    last = attn_weights[-1].flatten(0, 1)
    _, n_layers, n_heads, n, _ = attn_weights.shape
    titles = [f"layer {layer}, head {head}" for layer in range(n_layers) for head in range(n_heads)]
    still = plot_matrix(
        last, titles=titles, value_range=(0, 1), value_name="attention weight", caption=caption
    )
    whole = (attn_weights.flatten(1, 2) * SCALE).round().int()
    data = {
        "steps": list(steps),
        "losses": [round(float(loss), 3) for loss in losses],
        "titles": titles,
        "n": n,
        "scale": SCALE,
        "weights": [[_lower_part(head) for head in moment] for moment in whole],
        "scores": {name: _rounded(values) for name, values in scores.items()},
    }
    return View(still, "training", data)


def _lower_part(weights: Tensor) -> list[int]:
    """Return what causal weights, [n, n], have on the diagonal and below, row by row."""
    return weights[tuple(torch.tril_indices(*weights.shape))].tolist()


def _rounded(scores: Sequence) -> list[list[float]]:
    """Return scores of [n_moments, n_layers, n_heads] as [n_moments, n_layers · n_heads]."""
    values = np.array([[[float(x) for x in layer] for layer in moment] for moment in scores])
    return np.round(values.reshape(len(values), -1), 2).tolist()
