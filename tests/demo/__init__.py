"""Put a made-up class whose true marks are known through nbgrader's commands."""
