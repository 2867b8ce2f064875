"""Lesson 1: dot-product attention without parameters."""
