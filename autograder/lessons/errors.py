"""Errors in building a course."""


class AuthoringError(Exception):
    """A lesson and its exercises are inconsistent; the message says how."""
