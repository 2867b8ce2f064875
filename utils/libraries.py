"""Libraries that a lesson loads only where it needs them, since loading them takes seconds."""

import os
from types import ModuleType


def load_keras() -> ModuleType:
    """Keras 3, computing with torch on the CPU whatever the reader's own settings say.

    Keras reads them once, when it is first imported. By itself it would take a GPU where there is
    one, as on every newer Mac, and the lessons' own tensors are on the CPU.
    """
    os.environ.update(KERAS_BACKEND="torch", KERAS_TORCH_DEVICE="cpu")
    import keras

    return keras
