"""Views: figures that respond to the mouse and the keyboard.

Each is a still picture with a script that replaces it wherever scripts run. Views need no network
and no kernel. Where no script runs (GitHub, print, an untrusted notebook), the picture stays.
Graders and nbval see only its description.
"""

from autograder.utils.views.attention import view_heads, view_mask, view_scale
from autograder.utils.views.dial import view_dial
from autograder.utils.views.language import view_next_tokens, view_training, view_writing
from autograder.utils.views.live import View
from autograder.utils.views.packing import view_packing
from autograder.utils.views.probe import view_probe
from autograder.utils.views.recall import view_recall
from autograder.utils.views.serving import view_memory, view_tiles
from autograder.utils.views.square import view_square
from autograder.utils.views.wrong_models import view_wrong_models
