"""The feedback page: what a learner gets back, to be read in one minute.

The gradebook and the graded notebook give exercises with points and a sentence each (`exercises`);
`feedback_page` puts them in front of the answers, and folds the rest away. `grading.pages`
sanitizes whatever a submission brought.
"""
