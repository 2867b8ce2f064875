"""A made-up class whose true marks are known, and its way through nbgrader's commands."""
