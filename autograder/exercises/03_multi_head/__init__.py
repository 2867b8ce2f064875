"""Lesson 3: multi-head attention."""
