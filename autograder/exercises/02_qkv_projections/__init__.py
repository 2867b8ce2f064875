"""Lesson 2: query, key and value."""
