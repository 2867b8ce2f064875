"""Lesson 4: masks, and a test that finds leaks in them."""
