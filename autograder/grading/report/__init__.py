"""`make report`: HTML pages that tell an instructor how a class did, on a lesson and over the term.

`gather` reads the notebooks and the gradebook. From these, `classroom` makes the report on a
lesson, `term_report` the one on the term, and `report_pages` the pages. Everything on them comes
from submissions, so `grading.pages` checks it when it is read and escapes it when it is written.
"""
