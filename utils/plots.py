"""The plots of the course: each function returns a `Picture` and leaves no figure behind."""

from utils.bars import plot_bars
from utils.growth import growth_slope, plot_growth
from utils.leaks import plot_leak
from utils.lines import plot_lines
from utils.losses import plot_errors, plot_losses
from utils.maps import plot_attention, plot_matrix
from utils.masking import plot_masking
from utils.picture import Picture
from utils.plane import plot_words
from utils.squares import plot_predictions, plot_square_attention, plot_squares

__all__ = [
    "Picture",
    "growth_slope",
    "plot_attention",
    "plot_bars",
    "plot_errors",
    "plot_growth",
    "plot_leak",
    "plot_lines",
    "plot_losses",
    "plot_masking",
    "plot_matrix",
    "plot_predictions",
    "plot_square_attention",
    "plot_squares",
    "plot_words",
]
