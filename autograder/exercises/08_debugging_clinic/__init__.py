"""Lesson 8: tests that find what is wrong with attention, and repairs."""
