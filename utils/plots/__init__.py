"""The course's plots and diagrams: captioned pictures that leave no figure behind.

This loads without torch; `plots.scoreboard` runs models, so it is imported by its own name.
"""

from autograder.utils.plots.bars import plot_bars
from autograder.utils.plots.diagrams import (
    draw_attention,
    draw_encoder_decoder,
    draw_keepdim,
    draw_projections,
    draw_split,
)
from autograder.utils.plots.growth import growth_slope, plot_growth
from autograder.utils.plots.leaks import plot_leak
from autograder.utils.plots.lines import plot_lines
from autograder.utils.plots.losses import plot_errors, plot_losses
from autograder.utils.plots.maps import plot_attention, plot_matrix
from autograder.utils.plots.masking import plot_masking
from autograder.utils.plots.picture import Picture
from autograder.utils.plots.plane import plot_words
from autograder.utils.plots.squares import plot_predictions, plot_square_attention, plot_squares
