"""Lesson 10: a tiny language model, and what its heads do."""
