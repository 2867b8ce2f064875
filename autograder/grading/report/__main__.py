"""Write one HTML page on how a class did on a lesson, and say where it is.

It is made from the autograded notebooks and the gradebook, so grade first.
"""

import argparse
import sys
from pathlib import Path

from autograder.atomic_writes import write_whole
from autograder.errors import CourseError
from autograder.grading.report.course_files import course_files
from autograder.grading.report.gather import gather, shown_path
from autograder.grading.report.page import render_page
from autograder.lessons.lesson import ROOT


def main(arguments: list[str] | None = None) -> int:
    """Return exit code 0, or 2 with a sentence on stderr if the report can't be written."""
    parser = argparse.ArgumentParser(
        prog="python -m autograder.grading.report", description=__doc__
    )
    parser.add_argument("lesson", nargs="?", default="", help="such as 01_dot_product_attention")
    parser.add_argument("--course", type=Path, default=ROOT, help="the course directory")
    parser.add_argument(
        "--output", type=Path, help="the file to write; default: COURSE/build/report/LESSON.html"
    )
    options = parser.parse_args(arguments)
    try:
        path = write_report(options.lesson, options.course, options.output)
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"The report on {options.lesson} is in {shown_path(path)}")
    return 0


def write_report(lesson: str, course: Path, output: Path | None = None) -> Path:
    """Write the page on a lesson of the course in `course`, and return its path.

    Raises CourseError if there is nothing to report on, or nowhere to write it.
    """
    if not course.is_dir():
        raise CourseError(f"There is no course directory {course}: name one with --course.")
    files = course_files(course)
    output = (output or files.root / "build" / "report" / f"{lesson}.html").absolute()
    page = render_page(gather(lesson, files), output.parent, files.feedback)
    try:
        write_whole(output, page.encode())
    except OSError as error:
        raise CourseError(
            f"{output} can't be written ({error.strerror}): name another file with --output."
        ) from error
    return output


if __name__ == "__main__":
    sys.exit(main())
