"""The feedback page: what a learner gets back, to be read in one minute.

The gradebook (`gradebook`) and the graded notebook (`notebook`) give exercises with points and a
sentence each (`exercises`); `page` puts them in front of the answers, and folds the rest away.
Whatever a submission brought is sanitized (`sanitizer`) and kept within limits (`budget`).
"""
