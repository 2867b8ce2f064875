"""`make report`: HTML pages that tell an instructor how a class did, on a lesson and over the term.

Everything on them comes from submissions, so it is checked and bounded when read (`untrusted`), and
escaped when written (`page`).
"""
