"""Grade whatever arrives in nbgrader's exchange, while it arrives, and give feedback."""
