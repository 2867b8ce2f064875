"""How each exercise is checked: its cases, known mistakes, alternatives and hints.

Each lesson has a folder, and each of its exercises a file there that describes it in `EXERCISE`.
`predictions.py` has the lesson's predictions, `shared.py` what several exercises share. Their order
follows from the lesson's text.
"""
