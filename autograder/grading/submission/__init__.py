"""Read whatever a learner handed in, and restore it according to the released notebook."""
