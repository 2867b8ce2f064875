"""nbgrader's settings for this course; the plug-ins are those of autograder.grading."""

import warnings
from pathlib import Path

from sqlalchemy.exc import SAWarning

from autograder.grading.engine.autograde import install

c = get_config()

# nbgrader 0.9.6 with SQLAlchemy 2.1: harmless, and dozens for each submission.
warnings.simplefilter("ignore", SAWarning)

c.CourseDirectory.course_id = "attention-from-scratch"
c.CourseDirectory.root = str(Path(__file__).parent.resolve())
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"

# A sealed worker restores, runs and judges a submission. The grader then takes these steps.
c.Autograde.saving_preprocessors = [
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "autograder.grading.engine.save_marks.SaveMarks",
    "nbgrader.preprocessors.AssignLatePenalties",
]
# Unsealed, one process takes all steps, as nbgrader's own does. The order matters: judging reads
# what the kernel sent, saving reads the verdicts.
c.Autograde.autograde_preprocessors = [
    "autograder.grading.engine.collect_answers.CollectAnswers",
    "autograder.grading.engine.judge_answers.JudgeAnswers",
    *c.Autograde.saving_preprocessors,
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.Execute.extra_arguments = [
    "--HistoryManager.hist_file=:memory:",
    "--IPKernelApp.log_level=ERROR",  # each kernel would warn of its transport
]
# A check cell that a learner deleted comes back; otherwise an earlier mark would stay.
c.OverwriteCells.add_missing_cells = True
# Validate a notebook after the last of these, not after each.
c.Exporter.optimistic_validation = True

# A script in what a learner wrote or showed would run with the rights of whoever looks at it.
c.HTMLExporter.sanitize_html = True
c.HTMLExporter.filters = {
    "clean_html": "autograder.grading.report.harmless.harmless_html",
    "markdown2html": "autograder.grading.report.harmless.harmless_markdown",
}

# Submissions are run behind walls, many at a time.
install()
