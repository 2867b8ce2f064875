"""Grading one submission, in whatever process does it: plain data in, plain data out."""
