"""Grade on a platform that starts a container for what a learner hands in.

Each platform says where the notebook lies and in what form it takes the result. `packing` makes
what an instructor uploads there.
"""
