"""nbgrader's gradebook: the only room that knows its tables.

`grades` is what others get from here: grades, as plain data. `opening` opens a gradebook, or says
why it can't be read. `lesson_grades`, `notebook_facts` and `released` read it. `entries` writes
what grading found, `follow_tables` what the tables of the term say; `new_version` follows a lesson
that is released again.
"""
