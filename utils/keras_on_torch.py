"""Keras 3 on its torch backend: `from autograder.utils.keras_on_torch import keras, ops`.

As an import, it fits among a lesson's other imports, before classes that inherit from Keras's.
"""

from autograder.utils.libraries import load_keras

keras = load_keras()
ops = keras.ops

__all__ = ["keras", "ops"]
