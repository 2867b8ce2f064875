"""nbgrader's settings for this course; the plug-ins are in autograder.grading."""

import warnings
from pathlib import Path

from sqlalchemy.exc import SAWarning

from autograder.grading.engine.autograde import install
from autograder.grading.worker.job import TIDYING

c = get_config()

# nbgrader 0.9.6 with SQLAlchemy 2.1 causes dozens per submission, all harmless.
warnings.simplefilter("ignore", SAWarning)

# What a message quotes can't send commands to the terminal.
c.Application.logging_config = {
    "filters": {"printable": {"()": "autograder.grading.engine.messages.Printable"}},
    "handlers": {"console": {"filters": ["printable"]}},
}

c.CourseDirectory.course_id = "attention-from-scratch"
c.CourseDirectory.root = str(Path(__file__).parent.resolve())
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"

# A sealed worker restores, runs and judges a submission, and takes these steps with it.
c.Autograde.tidying_preprocessors = [*TIDYING]
# The grader gets the points. It takes these steps with them, and never reads the notebook.
c.Autograde.saving_preprocessors = [
    "autograder.grading.engine.plugins.SavePoints",
    "autograder.grading.engine.plugins.SetDueDate",
    "nbgrader.preprocessors.AssignLatePenalties",
]
# Unsealed, one process applies all steps, as in stock nbgrader. The order matters: judging reads
# what the kernel sent, and saving reads the verdicts.
c.Autograde.sanitize_preprocessors = ["autograder.grading.engine.unsealed.RestoreCells"]
c.Autograde.autograde_preprocessors = [
    "autograder.grading.engine.unsealed.CollectAnswers",
    "autograder.grading.engine.unsealed.JudgeAnswers",
    *c.Autograde.tidying_preprocessors,
    *c.Autograde.saving_preprocessors,
    "nbgrader.preprocessors.CheckCellMetadata",
]
# nbgrader's own classes follow links in submissions, and unpack whatever is in a zip.
c.ExchangeFactory.collect = "autograder.grading.engine.exchange.CollectPlainFiles"
c.ExchangeFactory.release_feedback = "autograder.grading.engine.release_feedback.ReleasePages"
c.ZipCollectApp.extractor_plugin = "autograder.grading.lms.extract.ExtractPlainFiles"
# lessons.csv says what a late submission costs.
c.AssignLatePenalties.plugin_class = "autograder.grading.engine.plugins.LatePercent"
# Names are quoted, and a missing grade is empty, not 0.
c.ExportApp.plugin_class = "autograder.grading.lms.export.CsvExporter"
c.Execute.extra_arguments = [
    "--HistoryManager.hist_file=:memory:",
    "--IPKernelApp.log_level=ERROR",  # each kernel would warn about its transport
]
# Validate a notebook only after the last step, not after each.
c.Exporter.optimistic_validation = True

# Run submissions in sandboxes, many at a time, and show them in formgrader with nothing active.
install()
