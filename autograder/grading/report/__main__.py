"""Write an HTML page on how a class did on a lesson; without a lesson, on each, and on the term.

They are made from the autograded notebooks and the gradebook, so grade first.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from autograder.atomic_writes import write_whole
from autograder.errors import CourseError
from autograder.grading.report.course_files import CourseFiles, course_files
from autograder.grading.report.gather import gather, shown_path
from autograder.grading.report.report_pages import render_page, render_term_page
from autograder.grading.report.term_report import gather_term
from autograder.lessons.lesson import ROOT


def main(arguments: list[str] | None = None) -> int:
    """Return exit code 0, or 2 with a sentence on stderr if the report can't be written."""
    parser = argparse.ArgumentParser(
        prog="python -m autograder.grading.report", description=__doc__
    )
    parser.add_argument(
        "lesson", nargs="?", default="", help="such as 01_dot_product_attention; default: all"
    )
    parser.add_argument("--course", type=Path, default=ROOT, help="the course directory")
    parser.add_argument(
        "--output",
        type=Path,
        help="the file to write; default: COURSE/build/report/LESSON.html, or for the page on the "
        "term COURSE/build/report/term/index.html",
    )
    options = parser.parse_args(arguments)
    try:
        for about, path in write_reports(options.lesson, options.course, options.output):
            print(f"The report on {about} is in {shown_path(path)}", flush=True)
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def write_reports(
    lesson: str, course: Path, output: Path | None = None
) -> Iterator[tuple[str, Path]]:
    """Write the page on a lesson of the course in `course`, or all pages; yield what is where.

    output: where the page goes on the lesson, or else on the term.
    Raises CourseError if there is nothing to report on, or nowhere to write it.
    """
    if not course.is_dir():
        raise CourseError(f"There is no course directory {course}: name one with --course.")
    files = course_files(course)
    if lesson:
        path = (output or _page(files, lesson)).absolute()
        _write(path, render_page(gather(lesson, files), path.parent, files.feedback))
        yield lesson, path
    else:
        yield from _write_all(files, output)


def _write_all(files: CourseFiles, output: Path | None) -> Iterator[tuple[str, Path]]:
    term = gather_term(files)
    pages = {one.lesson: _page(files, one.lesson) for one in term.lessons}
    for one in term.lessons:
        page = pages[one.lesson]
        _write(page, render_page(one, page.parent, files.feedback))
        yield one.lesson, page
    # In a folder of its own, because a lesson may have any name.
    path = (output or files.root / "build" / "report" / "term" / "index.html").absolute()
    _write(path, render_term_page(term, path.parent, files.feedback, pages))
    yield "the term", path


def _page(files: CourseFiles, lesson: str) -> Path:
    return files.root / "build" / "report" / f"{lesson}.html"


def _write(path: Path, page: str) -> None:
    try:
        write_whole(path, page.encode())
    except OSError as error:
        raise CourseError(
            f"{path} can't be written ({error.strerror}): name another file with --output."
        ) from error


if __name__ == "__main__":
    sys.exit(main())
