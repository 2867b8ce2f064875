"""How each exercise is checked: its cases, known mistakes, alternatives and hints.

Each lesson has a folder, and each of its exercises a file there that describes it in `EXERCISE`.
`predictions.py` has the lesson's predictions, and `shared.py` what several exercises share. The
lesson's text determines the order of the exercises and the predictions.
"""
