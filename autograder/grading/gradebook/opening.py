"""Open nbgrader's gradebook, or say why it can't be read.

nbgrader opens it ten times per submission; `open_faster` and `complete_gradebook` keep that cheap.
Everything else that is patched in nbgrader is in `grading.engine.patches`.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import SimpleNamespace

from nbgrader import api
from nbgrader.api import Assignment, Gradebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import Engine, create_engine, event, inspect, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.orm import Session

from autograder.errors import CourseError
from autograder.sandbox.inside.expect import expect

PATIENCE = 60  # seconds; Python's default is five
REMEDY = (
    "If the gradebook was lost, restore a backup, which has the points given by hand too; if it "
    "was moved, write its address into nbgrader_config.py (c.CourseDirectory.db_url). To fill a "
    "new one: `nbgrader generate_assignment --force LESSON`, then `make grade LESSON=…`."
)


class NoGradebook(CourseError):
    """There is no gradebook, or the lesson is not in it."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}. {REMEDY}")


class _Reading(Gradebook):
    """A gradebook for reading, from a session: nbgrader's constructor would make a missing one."""

    def __init__(self, session: Session) -> None:
        self.db = session


def open_gradebook(coursedir: CourseDirectory) -> Gradebook:
    """Open the gradebook of a course; a missing one is made."""
    return Gradebook(coursedir.db_url, coursedir.course_id)


def open_at(db_url: str) -> Gradebook:
    """Open the gradebook that nbgrader named to one of its preprocessors."""
    return Gradebook(db_url)


def require_readable(coursedir: CourseDirectory) -> None:
    """Raise CourseError if there is a gradebook that can't be read."""
    with suppress(NoGradebook), reading(coursedir.db_url):
        pass


@contextmanager
def reading(db_url: str, lesson: str = "") -> Iterator[Gradebook]:
    """Open a gradebook to read it; unlike nbgrader's `Gradebook`, this makes no missing one.

    Raises NoGradebook if there is none, or if it lacks the lesson or has none at all; CourseError
    if there is one that can't be read.
    """
    try:
        url = make_url(db_url)
        if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
            name = Path(url.database or "").name
            raise NoGradebook(f"There is no gradebook: there is no file {name}")
        engine = create_engine(url)
    except (ArgumentError, ImportError) as error:
        raise _unreadable(error) from error
    try:
        with readable(), Session(engine) as session:
            _require_lesson(session, lesson)
            yield _Reading(session)
    finally:
        engine.dispose()


def _require_lesson(session: Session, lesson: str) -> None:
    has_tables = inspect(session.connection()).has_table(Assignment.__tablename__)
    query = select(Assignment.name).order_by(Assignment.name)
    names = list(session.scalars(query)) if has_tables else []
    if not names:
        raise NoGradebook("The gradebook has no lesson")
    if lesson and lesson not in names:
        raise NoGradebook(f"The gradebook has no lesson {lesson!r}, only {', '.join(names)}")


@contextmanager
def readable() -> Iterator[None]:
    """Raise CourseError if the body finds that a gradebook can't be read."""
    try:
        yield
    except SQLAlchemyError as error:
        raise _unreadable(error) from error


def _unreadable(error: Exception) -> CourseError:
    """Return an error that says what to do; the text of `error` could contain a password."""
    return CourseError(
        f"The gradebook can't be read ({type(error).__name__}); nothing was done. Is its address "
        "right (c.CourseDirectory.db_url), and may it be written? If its file is damaged, restore "
        "a backup."
    )


def open_faster() -> None:
    """Make nbgrader reuse its engines, and wait for a locked SQLite file. Raises ChangedLibrary."""
    for name in ("create_engine", "inspect", "Base"):
        expect(api, name)
    expect(Gradebook, "check_course", "self", "course_id", "kwargs")
    api.create_engine = _engine
    wait_for_sqlite()


def wait_for_sqlite() -> None:
    """Wait up to a minute for a locked SQLite gradebook."""
    if not event.contains(Engine, "connect", _be_patient):
        event.listen(Engine, "connect", _be_patient)


def _be_patient(connection: object, _: object) -> None:
    if isinstance(connection, sqlite3.Connection):
        connection.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000}")


@cache
def _engine(db_url: str, **options: object) -> Engine:
    """Reuse the engine of a gradebook that is opened again, with its compiled SQL.

    Each time still gets its own connection.
    """
    return create_engine(db_url, **options)


@contextmanager
def complete_gradebook() -> Iterator[None]:
    """Skip nbgrader's checks of tables and course: this run has opened the gradebook before."""
    before = api.inspect, api.Base, Gradebook.check_course
    api.inspect = lambda engine: SimpleNamespace(get_table_names=lambda: ["all of them"])
    api.Base = SimpleNamespace(metadata=SimpleNamespace(create_all=lambda bind: None))
    Gradebook.check_course = lambda self, course_id: None
    try:
        yield
    finally:
        api.inspect, api.Base, Gradebook.check_course = before
