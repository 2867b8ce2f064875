"""Lesson 9: attention with a cache, and in tiles."""
