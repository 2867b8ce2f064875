"""Lesson 12: inside a real model."""
