"""Keras 3 on its torch backend: `from autograder.utils.keras_on_torch import keras, ops`.

This is a module so that a lesson can import it at its top, before classes that inherit from
Keras's.
"""

from autograder.utils.libraries import load_keras

keras = load_keras()
ops = keras.ops

__all__ = ["keras", "ops"]
