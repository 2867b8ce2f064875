"""A view of modules that are probed by hand: change a word, and see which outputs move."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.utils.plots.leaks import outputs_moved, plot_leak
from autograder.utils.views.live import View


def view_probe(
    attentions: Mapping[str, Callable],
    words: Any,
    labels: Sequence[str],
    *,
    changed: int,
    caption: str,
) -> View:
    """Show which outputs of each module move when a word changes its sign; choose the word.

    attentions: name → function of a tensor [1, n, d] that returns outputs [1, n, anything].
    words: a tensor, [n, d].
    changed: the word to begin with.
    Raises ValueError as `plot_leak` does.
    """
    still = plot_leak(attentions, words, labels, changed=changed, caption=caption)
    moved = [
        [outputs_moved(attention, words, place, name).tolist() for place in range(len(words))]
        for name, attention in attentions.items()
    ]
    data = {"labels": list(labels), "names": list(attentions), "moved": moved, "start": changed}
    return View(still, "probe", data)
