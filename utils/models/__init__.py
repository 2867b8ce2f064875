"""Models that come with a lesson, most of them broken: learners have to find out how."""

from autograder.utils.models.language_models import DEFECTS, same_logits, same_words, writer
from autograder.utils.models.patient import (
    BLIND_SPOT,
    DROPOUT,
    LEAK,
    MIXING,
    SOUND,
    WRONG_SCALE,
    WRONG_SUM,
    Patient,
    admit,
)
from autograder.utils.models.patients import HEALTHY, PATIENTS
from autograder.utils.models.real_model import ModelMissing, RealModel, smollm2
from autograder.utils.models.rotations import WRONG_ROTATIONS, rotate_pairs
from autograder.utils.models.stacks import PART_NAMES, build_stack, stack_code
from autograder.utils.models.wrong_models import MISTAKES, broken, exchanged
