"""The format in which lessons and exercises are written."""
