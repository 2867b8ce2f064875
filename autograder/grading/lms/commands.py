"""The commands that move grades, submissions and feedback to and from Canvas and Moodle.

The work is done by nbgrader's own commands `export` and `zip_collect`, with this course's plugins.
"""

import argparse
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from nbgrader.apps import ExportApp, ZipCollectApp
from nbgrader.apps.baseapp import NbGrader
from traitlets.config import Config

from autograder.atomic_writes import write_whole
from autograder.errors import CourseError
from autograder.grading.engine.plugins import course_term
from autograder.grading.gradebook.opening import readable, reading
from autograder.grading.gradebook.released import released_notebooks
from autograder.grading.lms.class_grades import class_list
from autograder.grading.lms.collector import download_folder
from autograder.grading.lms.downloaded_names import remembered_names
from autograder.grading.lms.export import write_output
from autograder.grading.lms.feedback_zip import (
    FeedbackZip,
    canvas_zip,
    moodle_zip,
    participant_numbers,
)
from autograder.grading.lms.github import zip_of_clones
from autograder.grading.term.learner_names import printable
from autograder.grading.term.tables import Learner

PACKAGE = "autograder.grading.lms"
EXPORTERS = {
    "": f"{PACKAGE}.export.CsvExporter",
    "canvas": f"{PACKAGE}.canvas.CanvasExporter",
    "moodle": f"{PACKAGE}.moodle.MoodleExporter",
}
GITHUB = "github"
EXTRACTOR = f"{PACKAGE}.extract.ExtractPlainFiles"
COLLECTORS = {
    "canvas": f"{PACKAGE}.canvas.CanvasCollector",
    "moodle": f"{PACKAGE}.moodle.MoodleCollector",
    GITHUB: f"{PACKAGE}.github.GithubCollector",
}


def run(command: str, options: argparse.Namespace) -> int:
    """Run a command. Return 0, or 1 if some grades or pages could not be placed.

    Raises CourseError if nothing was done. nbgrader's own errors, and those of the exporters, end
    with exit code 1 as well.
    """
    with readable():
        return COMMANDS[command](options)


def export(options: argparse.Namespace) -> int:
    """Export grades with the exporter for a system. Raises CourseError, SystemExit."""
    if options.percent and not options.lms:
        raise CourseError(
            "Percentages are for Canvas or Moodle: add LMS=… (--lms), or leave PERCENT=1 out."
        )
    app = _app(ExportApp, options, f"--exporter={EXPORTERS[options.lms]}")
    app.update_config(
        Config(
            ExportPlugin={"to": options.to, "assignment": options.lessons},
            LmsExporter={
                "worksheet": options.worksheet,
                "any_maximum": options.any_maximum,
                "percent": options.percent,
            },
        )
    )
    app.start()
    return 0


def collect(options: argparse.Namespace) -> int:
    """Collect the submissions in a zip or in clones. Raises CourseError, SystemExit."""
    force = ["--force"] if options.force else []
    plugins = f"--extractor={EXTRACTOR}", f"--collector={COLLECTORS[options.lms]}"
    # nbgrader warns about each folder that it makes.
    app = _app(ZipCollectApp, options, options.lesson, *plugins, "--log-level=ERROR", *force)
    told_by = str(options.zip) if options.lms == GITHUB else options.worksheet
    app.update_config(Config(LmsCollector={"worksheet": told_by}))
    _put_into_archive(app, options)
    app.start()
    collector = app.collector_plugin_inst
    plan = collector.plan
    told = [*collector.left_out(), *collector.report()]
    sys.stderr.writelines(f"{printable(line)}\n" for line in told)
    if not plan.files:
        raise CourseError(
            f"{options.zip} has nothing from the learners in learners.csv. Does it have all "
            f"submissions from {collector.system}, and does learners.csv say who they are there?"
        )
    collector.share_with_groups()
    print(f"Collected {options.lesson} from {len(plan.by_learner)} learners")
    return 1 if plan.unknown or plan.nameless or plan.without else 0


def feedback(options: argparse.Namespace) -> int:
    """Write a zip of feedback pages. Raises CourseError if there are none."""
    app = _app(ZipCollectApp, options, options.lesson, "--log-level=ERROR")
    pages = _pages(app)
    if not any(pages.values()):
        raise CourseError(
            f"There is no feedback on {options.lesson}: write it with "
            f"nbgrader generate_feedback {options.lesson}"
        )
    filled = _filled(app, options, pages)
    if not filled.pages:
        raise CourseError(
            f"{options.lms.title()} knows submissions by the names that it gave them: collect its "
            f"zip first, with make collect LESSON={options.lesson} LMS={options.lms} ZIP=…"
        )
    write_output(options.to, filled.to_bytes())
    _list("Without a feedback page", filled.without_page)
    collect = f"make collect LESSON={options.lesson} LMS={options.lms} ZIP=…"
    _list(f"There is a page, but not in the zip; first run {collect}", filled.without_place)
    print(f"{len(filled.pages)} pages are in {options.to}")
    return 1 if filled.without_place else 0


def _app(kind: type[NbGrader], options: argparse.Namespace, *arguments: str) -> NbGrader:
    """Make one of nbgrader's apps for the course directory."""
    if not options.course.is_dir():
        raise CourseError(f"There is no course directory {options.course}: name one with --course.")
    app = kind()
    app.initialize([*arguments, f"--CourseDirectory.root={options.course.resolve()}"])
    return app


def _put_into_archive(app: ZipCollectApp, options: argparse.Namespace) -> None:
    """Copy the zip to where nbgrader collects from. Raises CourseError if it can't be collected."""
    course = app.coursedir
    released = course.format_path(course.release_directory, ".", options.lesson)
    if not any(Path(released).glob("*.ipynb")):
        raise CourseError(
            f"{options.lesson} was not released: nbgrader generate_assignment {options.lesson}"
        )
    data = _zip(options)
    archive = download_folder(app, app.archive_directory)
    if not options.force:
        if remembered_names(archive.parent):
            raise CourseError(
                f"{options.lesson} was collected before: FORCE=1 (--force) collects it again, and "
                "replaces the notebooks of the learners who are in the zip."
            )
        # A run that recognized nobody may have left the zip's files.
        shutil.rmtree(download_folder(app, app.extracted_directory), ignore_errors=True)
    write_whole(archive / "submissions.zip", data)


def _zip(options: argparse.Namespace) -> bytes:
    """Return the zip of submissions. Raises CourseError."""
    if options.lms == GITHUB:
        if not options.zip.is_dir():
            raise CourseError(f"There is no folder {options.zip}: name the one with the clones.")
        return zip_of_clones(options.zip)
    if not options.zip.is_file():
        raise CourseError(f"There is no file {options.zip}: name the zip that you downloaded.")
    if not zipfile.is_zipfile(options.zip):
        raise CourseError(f"{options.zip} is not a zip: download all submissions again.")
    return options.zip.read_bytes()


def _pages(app: ZipCollectApp) -> dict[Learner, list[Path]]:
    """Find the feedback pages on a lesson, for each learner of the class."""
    course = app.coursedir
    with reading(course.db_url, course.assignment_id) as gradebook:
        learners = class_list(gradebook, course_term(course))
        notebooks = released_notebooks(gradebook).get(course.assignment_id, [])
    lesson, step = course.assignment_id, course.feedback_directory
    folders = {one: Path(course.format_path(step, one.learner, lesson)) for one in learners}
    return {
        one: [page for name in notebooks if (page := folder / f"{name}.html").is_file()]
        for one, folder in folders.items()
    }


def _filled(
    app: ZipCollectApp, options: argparse.Namespace, pages: dict[Learner, list[Path]]
) -> FeedbackZip:
    names = remembered_names(download_folder(app, app.archive_directory).parent)
    if options.lms == "canvas":
        return canvas_zip(pages, names)
    return moodle_zip(pages, participant_numbers(pages, names, options.worksheet))


def _list(problem: str, learners: list[Learner]) -> None:
    if learners:
        print(printable(f"{problem}: {'; '.join(map(str, learners))}"), file=sys.stderr)


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    command.__name__: command for command in (export, collect, feedback)
}
