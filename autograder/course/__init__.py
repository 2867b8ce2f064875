"""The course's commands: what `make` runs for authors and instructors."""
