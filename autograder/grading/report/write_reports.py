"""Write an HTML page on how a class did on a lesson; without a lesson, on each, and on the term.

The pages are made from the autograded notebooks and the gradebook, so grade first.
"""

from collections.abc import Iterator
from pathlib import Path

from autograder.atomic_writes import write_whole
from autograder.errors import CourseError
from autograder.grading.gradebook.course_files import CourseFiles, course_files
from autograder.grading.report.gather import gather, shown_path
from autograder.grading.report.report_pages import render_lesson_page, render_term_page
from autograder.grading.report.term_report import gather_term


def run(lesson: str, course: Path, output: Path | None) -> int:
    """Write the reports, and say where they are. Raises CourseError."""
    for about, path in write_reports(lesson, course, output):
        print(f"The report on {about} is in {shown_path(path)}", flush=True)
    return 0


def write_reports(
    lesson: str, course: Path, output: Path | None = None
) -> Iterator[tuple[str, Path]]:
    """Write the page on a lesson of the course in `course`, or all pages; yield what is where.

    output: where to put the page on the lesson, or else the one on the term.
    Raises CourseError if there is nothing to report on, or nowhere to write it.
    """
    if not course.is_dir():
        raise CourseError(f"There is no course directory {course}: name one with --course.")
    files = course_files(course)
    if lesson:
        path = (output or _page(files, lesson)).absolute()
        _write(path, render_lesson_page(gather(lesson, files), path.parent, files.feedback))
        yield lesson, path
    else:
        yield from _write_all(files, output)


def _write_all(files: CourseFiles, output: Path | None) -> Iterator[tuple[str, Path]]:
    term = gather_term(files)
    pages = {one.lesson: _page(files, one.lesson) for one in term.lessons}
    for one in term.lessons:
        page = pages[one.lesson]
        _write(page, render_lesson_page(one, page.parent, files.feedback))
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
