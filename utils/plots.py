"""The plots of the course: each function returns a `Picture` and leaves no figure behind."""

from utils.bars import plot_bars
from utils.growth import growth_slope, plot_growth
from utils.maps import plot_attention, plot_matrix
from utils.picture import Picture
from utils.plane import plot_words

__all__ = [
    "Picture",
    "growth_slope",
    "plot_attention",
    "plot_bars",
    "plot_growth",
    "plot_matrix",
    "plot_words",
]
