"""Build a reference from a lesson and its exercises, with hidden cases for grading."""
