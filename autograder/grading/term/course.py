"""Find the course directory that an nbgrader plugin works for, and its tables."""

from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from traitlets.config import LoggingConfigurable

from autograder.grading.term.tables import Term, read_term


def course_directory(plugin: LoggingConfigurable) -> CourseDirectory:
    """Return the course directory of the app or converter that started a plugin.

    A program can set that directory without any configuration, so the owner is asked first. A
    plugin without such an owner goes by nbgrader's configuration.
    """
    owner = plugin
    while owner is not None:
        if getattr(owner, "coursedir", None) is not None:
            return owner.coursedir
        owner = owner.parent
    return CourseDirectory(parent=plugin)


def course_term(coursedir: CourseDirectory) -> Term:
    """Read the tables of a course. They may only name lessons that have a source, if any has.

    Raises CourseError.
    """
    root = Path(coursedir.root)
    sources = root / coursedir.source_directory
    lessons = {folder.parent.name for folder in sources.glob("*/*.ipynb")}
    return read_term(root, lessons or None)
