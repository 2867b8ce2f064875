"""What a learner's notebook calls, and what its kernel remembers."""
