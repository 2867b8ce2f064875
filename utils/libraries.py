"""Libraries that take seconds to load, so lessons load them only where needed."""

import os
from types import ModuleType


def load_keras() -> ModuleType:
    """Load Keras 3, computing with torch on the CPU whatever the reader's own settings say.

    Keras reads its settings once, when first imported. By default it would use a GPU if there is
    one, as on every newer Mac, but the lessons' own tensors are on the CPU.
    """
    os.environ.update(KERAS_BACKEND="torch", KERAS_TORCH_DEVICE="cpu")
    import keras

    return keras
