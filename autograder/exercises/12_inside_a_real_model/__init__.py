"""Lesson 12: a memory of fixed size."""
