"""What an instructor runs: grading with nbgrader, and reports on a class."""
