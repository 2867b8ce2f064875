"""The command `pack`: write what a platform needs in order to grade a lesson."""

import sys
from argparse import Namespace

from autograder.building.secret import NO_SECRET, own_secret
from autograder.errors import CourseError
from autograder.grading.packing import github, gradescope, prairielearn
from autograder.grading.single.command import lesson_named
from autograder.grading.single.released import released_blueprint

PACK = {
    "gradescope": gradescope.pack,
    "prairielearn": prairielearn.pack,
    "github": github.pack,
}


def run(options: Namespace) -> int:
    """Pack a lesson, and say what to do with it; return 0. Raises CourseError."""
    lesson = lesson_named(options.lesson)
    released_blueprint(lesson)  # an instructor may have worked in the notebook
    if options.platform != "github" and not own_secret():
        print(NO_SECRET, "Write a line of your own into course_secret.txt.", file=sys.stderr)
    try:
        print(PACK[options.platform](lesson, options))
    except OSError as error:
        why = error.strerror or type(error).__name__
        name = error.filename2 or error.filename
        raise CourseError(f"{name}: {why}. (TO=… names another place to write to.)") from error
    return 0
