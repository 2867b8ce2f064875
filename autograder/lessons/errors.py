"""What goes wrong when a course is built."""


class AuthoringError(Exception):
    """Something in a lesson or its exercises does not fit together; the message says what."""
