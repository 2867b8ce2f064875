"""`make report LESSON=…`: one HTML page that tells an instructor how a class did on a lesson.

Everything on it comes from submissions, so it is checked and bounded when read (`untrusted`), and
escaped when written (`page`).
"""
