"""Libraries that a lesson loads only where it needs them, since loading them takes seconds."""

import os
from types import ModuleType


def load_keras() -> ModuleType:
    """Keras 3, computing with torch whatever the reader's own settings say.

    Keras reads the choice of its backend once, when it is first imported.
    """
    os.environ["KERAS_BACKEND"] = "torch"
    import keras

    return keras
