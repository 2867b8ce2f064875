"""Lesson 6: PyTorch's attention layer taken apart, and the same layer for Keras."""
