"""What a learner calls in a notebook, and what these calls store and show."""
