"""The plots of the course: each function returns a `Picture` and leaves no figure behind."""

from autograder.utils.bars import plot_bars
from autograder.utils.growth import growth_slope, plot_growth
from autograder.utils.leaks import plot_leak
from autograder.utils.lines import plot_lines
from autograder.utils.losses import plot_errors, plot_losses
from autograder.utils.maps import plot_attention, plot_matrix
from autograder.utils.masking import plot_masking
from autograder.utils.picture import Picture
from autograder.utils.plane import plot_words
from autograder.utils.squares import plot_predictions, plot_square_attention, plot_squares

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
