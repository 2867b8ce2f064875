"""Find the files of a course directory, and its gradebook, as nbgrader would."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbgrader.apps.baseapp import NbGrader
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Application

from autograder.grading.term.learner_names import is_learner_name


@dataclass(frozen=True)
class CourseFiles:
    """The paths of a course directory, and the address of its gradebook."""

    root: Path
    submitted: Path
    graded: Path
    feedback: Path
    source: Path
    db_url: str

    def lessons(self) -> list[str]:
        """List the lessons that have a source or a graded submission."""
        found = {*self.source.glob("[!.]*/"), *self.graded.glob("*/[!.]*/")}
        return sorted({folder.name for folder in found if folder.is_dir()})

    def learners(self, step: Path, lesson: str) -> Iterator[str]:
        """Yield the learners with a submission to a lesson in one of the course's folders."""
        names = (folder.parent.name for folder in sorted(step.glob(f"*/{lesson}")))
        return filter(is_learner_name, names)


def course_files(root: Path) -> CourseFiles:
    """Find the files of the course in `root`.

    This respects nbgrader's configuration, from all the places where nbgrader looks for it.
    """
    root = root.resolve()
    app = NbGrader(log_level=logging.ERROR)  # a missing configuration is fine
    app.load_config_file()
    Application.load_config_file(app, app.config_file_name, path=str(root))
    return files_of(CourseDirectory(config=app.config, root=str(root)))


def files_of(course: CourseDirectory) -> CourseFiles:
    """Find the files of a course that nbgrader has configured."""
    root = Path(course.root)
    return CourseFiles(
        root=root,
        submitted=root / course.submitted_directory,
        graded=root / course.autograded_directory,
        feedback=root / course.feedback_directory,
        source=root / course.source_directory,
        db_url=course.db_url,
    )
