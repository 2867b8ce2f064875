"""Lesson 4: masks, and a test that finds what they let through."""
