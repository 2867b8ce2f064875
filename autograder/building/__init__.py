"""From a lesson and its exercises to a reference, with hidden cases for grading."""
