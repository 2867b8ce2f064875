"""The form in which a lesson and its exercises are written."""
