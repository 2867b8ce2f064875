"""Keras 3 on its torch backend: `from utils.keras_on_torch import keras, ops`.

As an import it can stand beside a lesson's other imports, above classes that inherit from Keras's.
"""

from utils.libraries import load_keras

keras = load_keras()
ops = keras.ops

__all__ = ["keras", "ops"]
