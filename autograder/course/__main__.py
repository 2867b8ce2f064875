"""The course's commands, as `make` runs them.

Each imports what it needs only when it runs: torch and nbgrader take seconds.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import NoReturn

from autograder.errors import CourseError
from autograder.grading.engine.ctrl_c import INTERRUPTED
from autograder.grading.engine.disk import disk_trouble
from autograder.grading.term.learner_names import printable_lines
from autograder.places import IS_REPOSITORY, ROOT

AUTHORS = {
    "reference": "solutions and exercises → reference tensors, if no mutant passes",
    "draft": "the same without the mutants, while you write",
    "lessons": "the lessons' texts → executed source notebooks",
    "text": "the way back: an edited source notebook → its text",
    "release": "source notebooks → what learners open",
    "site": "source notebooks → the pages of the site, for Sphinx",
    "mistakes": "what becomes of every known mistake",
    "mutants": "what becomes of answers with one fault each, made by rule",
}
BY_EXERCISE = ("mistakes", "mutants")
GITHUB = "github"
SYSTEMS = ("canvas", "moodle")
COLLECTED = (*SYSTEMS, GITHUB)
PLATFORMS = ("gradescope", "prairielearn")  # that grade by themselves
PACKED = (*PLATFORMS, GITHUB)
# Gradescope's words for the time when learners see the parts of a result.
SHOW = ("visible", "after_due_date", "after_published", "hidden")


class Parser(argparse.ArgumentParser):
    """Reports an error in one sentence, where argparse would also print its usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{message[:1].upper()}{message[1:]}. {self.prog} --help tells more.\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Return exit code 0; 1 if something failed; 2, with a sentence, if nothing was done.

    `INTERRUPTED` after Ctrl-C.
    """
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal may lack √, or letters of a name
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except CourseError as error:
        print(printable_lines(str(error)), file=sys.stderr)
        return 2
    except OSError as error:
        if not (told := disk_trouble(error)):
            raise
        print(printable_lines(told), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return INTERRUPTED


def _author(options: argparse.Namespace) -> int:
    from autograder.authoring import commands

    return commands.run(options.command, options.lessons, options.exercise)


def _grade_one(options: argparse.Namespace) -> int:
    from autograder.grading.single.command import run

    return run(options)


def _grade_on(options: argparse.Namespace) -> int:
    from autograder.grading.platforms.command import run

    return run(options)


def _pack(options: argparse.Namespace) -> int:
    from autograder.grading.packing.command import run

    return run(options)


def _serve(options: argparse.Namespace) -> int:
    from autograder.grading.serving.command import run

    return run(options)


def _exchange(options: argparse.Namespace) -> int:
    from autograder.grading.lms import commands

    return commands.run(options.command, options)


def _report(options: argparse.Namespace) -> int:
    from autograder.grading.report.write_reports import run

    return run(options.lesson, options.course, options.output)


def _learners(options: argparse.Namespace) -> int:
    from autograder.grading.term.roster import make_learners

    print(make_learners(options.roster, options.course))
    return 0


def _adjust(options: argparse.Namespace) -> int:
    from autograder.grading.gradebook.adjust import adjust
    from autograder.grading.gradebook.course_files import course_files

    files = course_files(options.course)
    print(adjust(files, options.lesson, options.cell, options.points, options.learners))
    return 0


def _gradebook(options: argparse.Namespace) -> int:
    from autograder.grading.gradebook.course_files import course_files
    from autograder.grading.gradebook.move import move_gradebook

    print(move_gradebook(course_files(options.course).db_url, options.to))
    return 0


def _parser() -> Parser:
    parser = Parser(prog="python -m autograder.course", description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, about: str, run: Callable[[argparse.Namespace], int]) -> Parser:
        command = commands.add_parser(name, description=about, help=about)
        command.set_defaults(run=run)
        return command

    _add_grade_one(add("grade-one", "grade one notebook, without a gradebook", _grade_one))
    if not IS_REPOSITORY:  # so there is no course directory
        _add_grade_on(add("grade-on", "grade what a platform put into this container", _grade_on))
        return parser
    _add_pack(add("pack", "write what a platform needs in order to grade a lesson", _pack))
    for name, about in AUTHORS.items():
        _add_author(add(name, about, _author), by_exercise=name in BY_EXERCISE)
    _add_serve(add("serve", "grade what arrives in nbgrader's exchange", _serve))
    _add_export(add("export", "export grades", _exchange))
    _add_collect(add("collect", "collect the submissions in a zip", _exchange))
    _add_feedback(add("feedback", "zip the feedback pages", _exchange))
    _add_report(add("report", "write HTML pages on how a class did, and on the term", _report))
    _add_learners(add("learners", "learners.csv from a roster", _learners))
    _add_adjust(add("adjust", "points for a cell, for everyone or some", _adjust))
    _add_gradebook(add("gradebook", "copy the gradebook to another database", _gradebook))
    return parser


def _add_grade_one(command: Parser) -> None:
    command.add_argument("notebook", type=Path, metavar="NOTEBOOK", help="as handed in")
    command.add_argument("--lesson", required=True, metavar="LESSON")
    command.add_argument(
        "--secret", type=Path, metavar="FILE", help="default: COURSE_SECRET or course_secret.txt"
    )
    command.add_argument("--json", type=Path, metavar="FILE", help="write the result")
    command.add_argument("--html", type=Path, metavar="FILE", help="write the feedback page")
    command.add_argument(
        "--in-container",
        action="store_true",
        help="for a container where there can be no sandbox: the container is the wall",
    )


def _add_grade_on(command: Parser) -> None:
    _add_platform(command, PLATFORMS)
    command.add_argument("--lesson", required=True, metavar="LESSON")


def _add_serve(command: Parser) -> None:
    _add_lessons(command, "default: those that are released")
    _add_course(command)
    command.add_argument(
        "--every", type=float, default=5.0, metavar="SECONDS", help="how often it looks; default: 5"
    )


def _add_pack(command: Parser) -> None:
    _add_platform(command, PACKED)
    command.add_argument("lesson", metavar="LESSON")
    command.add_argument(
        "--to", type=Path, metavar="PATH", help="default: autograder.zip, or a folder in packed/"
    )
    command.add_argument(
        "--index", default="", metavar="URL", help="a package index with a smaller torch"
    )
    command.add_argument("--image", default="", metavar="NAME", help="of PrairieLearn's grader")


def _add_platform(command: Parser, platforms: Sequence[str]) -> None:
    command.add_argument("platform", choices=platforms, metavar="PLATFORM")
    command.add_argument(
        "--show",
        choices=SHOW,
        default=SHOW[0],
        help="on Gradescope, when learners see what is right and wrong",
    )


def _add_learners(command: Parser) -> None:
    _add_course(command)
    command.add_argument(
        "roster", type=Path, metavar="TABLE", help="Canvas's, Moodle's or any other"
    )


def _add_adjust(command: Parser) -> None:
    _add_course(command)
    command.add_argument("lesson", metavar="LESSON")
    command.add_argument("cell", metavar="CELL", help="an exercise, or nbgrader's name of a cell")
    command.add_argument("points", metavar="POINTS", help="a number, full, excused or none")
    command.add_argument(
        "learners",
        nargs="*",
        metavar="LEARNER",
        help="default: everyone; or lacking: those whose submission had no cell for the answer",
    )


def _add_gradebook(command: Parser) -> None:
    _add_course(command)
    command.add_argument("--to", required=True, metavar="URL", help="postgresql+psycopg://…")


def _add_export(command: Parser) -> None:
    _add_lessons(command)
    _add_system(command)
    command.add_argument(
        "--to", default="", metavar="FILE", help="default: grades.csv, canvas.csv or moodle.csv"
    )
    command.add_argument(
        "--any-maximum", action="store_true", help="even if the system's maximum is another"
    )
    command.add_argument("--percent", action="store_true", help="percentages instead of points")


def _add_collect(command: Parser) -> None:
    command.add_argument("lesson", metavar="LESSON")
    command.add_argument("zip", type=Path, metavar="ZIP", help="as downloaded; a folder of clones")
    _add_system(command, required=True, systems=COLLECTED)
    command.add_argument("--force", action="store_true", help="replace what is there already")


def _add_feedback(command: Parser) -> None:
    command.add_argument("lesson", metavar="LESSON")
    _add_system(command, required=True)
    command.add_argument("--to", type=Path, required=True, metavar="ZIP", help="to be uploaded")


def _add_report(command: Parser) -> None:
    command.add_argument(
        "lesson", nargs="?", default="", metavar="LESSON", help="default: all, and the term"
    )
    _add_course(command)
    command.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="default: COURSE/build/report/LESSON.html, or for the page on the term "
        "COURSE/build/report/term/index.html",
    )


def _add_author(command: Parser, by_exercise: bool) -> None:
    _add_lessons(command)
    command.set_defaults(exercise="")
    if by_exercise:
        command.add_argument("--exercise", metavar="NAME", help="only this one")


def _add_lessons(command: Parser, about: str = "default: all of them") -> None:
    command.add_argument("lessons", nargs="*", metavar="LESSON", help=about)


def _add_course(command: Parser) -> None:
    command.add_argument("--course", type=Path, default=ROOT, help="the course directory")


def _add_system(
    command: Parser, required: bool = False, systems: tuple[str, ...] = SYSTEMS
) -> None:
    _add_course(command)
    command.add_argument(
        "--lms", type=_one_of(systems), default="", required=required, metavar="LMS"
    )
    command.add_argument(
        "--worksheet", default="", metavar="FILE", help="the system's table, as downloaded"
    )


def _one_of(systems: tuple[str, ...]) -> Callable[[str], str]:
    def known(name: str) -> str:
        if name and name not in systems:
            *others, last = systems
            choice = f"{', '.join(others)} or {last}"
            raise argparse.ArgumentTypeError(f"{name!r} is unknown: write {choice} (LMS=…)")
        return name

    return known


if __name__ == "__main__":
    sys.exit(main())
