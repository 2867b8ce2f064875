"""A view of rotary positions: how one pair of features turns."""

from autograder.utils.plots.dials import Pair, plot_dials
from autograder.utils.views.live import View


def view_dial(query: Pair, key: Pair, *, caption: str) -> View:
    """Show one pair of features of a query and a key, turned by one radian per place.

    query and key: two features each, before they are turned.
    """
    still = plot_dials(query, key, caption=caption)
    return View(still, "dial", {"query": list(query), "key": list(key)})
