"""The instructor's tools: grading with nbgrader, and reports on a class."""
