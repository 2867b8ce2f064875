"""Lesson 11: a memory of fixed size."""
