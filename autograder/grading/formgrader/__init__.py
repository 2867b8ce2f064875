"""nbgrader's formgrader, made safe to open whatever learners hand in.

The pages are nbgrader's, with every name in them escaped (`templates`) and a policy under which
only their own scripts run (`handlers`). The page of a submission is ours (`submission_page`): what
the learner wrote is sanitized as on feedback pages, and the fields for points and comments are
those of the gradebook, whatever the notebook holds.
"""
