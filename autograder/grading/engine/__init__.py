"""The grading command's own work: nbgrader's part, the workers, the gradebook."""
