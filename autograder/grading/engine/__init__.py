"""What the grading command does itself: nbgrader's part, the workers, the gradebook."""
