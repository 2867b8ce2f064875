"""Put a made-up class whose true grades are known through nbgrader's commands."""
