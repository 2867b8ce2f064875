"""Lesson 7: positions, in five ways, and what each of them delivers."""
