"""`make report LESSON=…`: one HTML page that tells an instructor how a class did on a lesson.

Everything on it comes from submissions, so everything is checked and bounded when it is read
(`facts`), and escaped when it is written (`page`).
"""
