"""A class during a term: awkward names, and every reason for having no grade."""

import shutil
import sys
import zipfile

import pytest

from tests.grading.term.made_course import FIRST, SECOND, MadeCourse, make_course
from tests.support import commands

LEARNERS = """\
learner,last_name,first_name,email,section,canvas_id,sis_user_id,sis_login_id,moodle_id
ada,"King, Countess ""of"" Lovelace",Ada,ada@example.org,"A; morning",101,007,aking,1001
zoe,Müller-O'Brien,Zoë,Zoe@example.org,B,102,008,zmueller,
tim,_Under_Score/Slash,.Tim,tim@example.org,B,103,,,1003
new,Späth,Noor,noor@example.org,B,104,,,
ill,Excused,Ill,ill@example.org,=1+1,105,,,
"""
LESSONS = f"""\
lesson;due;late_percent;canvas
{FIRST};2026-10-05 12:00;10;Lesson 1, first (4711)
{SECOND};;;
"""


@pytest.fixture(scope="session")
def a_course(tmp_path_factory) -> MadeCourse:
    """Ada and Zoë have grades, Tim waits for one, Noor handed in nothing, and Ill is excused."""
    course = make_course(tmp_path_factory.mktemp("lms") / "course")
    course.write("learners.csv", LEARNERS, "utf-8-sig")
    course.write("lessons.csv", LESSONS)
    course.write("extensions.csv", f"learner,lesson,due\nill,{FIRST},excused\n")
    course.hand_in("ada", FIRST, 10, 4.5, timestamp="2026-10-05 11:00")
    course.hand_in("zoe", FIRST, 8, 2, timestamp="2026-10-06 11:00")
    course.hand_in("tim", FIRST, 10, None)
    return course


@pytest.fixture
def course(a_course, tmp_path) -> MadeCourse:
    """A copy of that course, for one test."""
    return MadeCourse(shutil.copytree(a_course.root, tmp_path / "my coursé [2]"))


@pytest.fixture
def lms(course):
    """Run the command in the course directory; return its exit status.

    It runs in its own process, because nbgrader's apps set up logging for the whole process.
    """

    def run(command: str, *arguments: object) -> int:
        options = [f"--course={course.root}", *map(str, arguments)]
        done = commands.run("autograder.course", command, *options)
        print(done.out, end="")
        print(done.err, end="", file=sys.stderr)
        return done.status

    return run


@pytest.fixture
def zipped(tmp_path):
    """Make a zip; each file's content is its name, if no other is given."""

    def make(*names, called="all submissions.zip", **contents):
        path = tmp_path / called
        with zipfile.ZipFile(path, "w") as file:
            for name, content in {**dict(zip(names, names, strict=True)), **contents}.items():
                file.writestr(name, content)
        return path

    return make
