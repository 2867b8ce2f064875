"""Move a gradebook to another database, with grades, comments and points given by hand."""

from contextlib import closing

from nbgrader.api import Base, Gradebook
from sqlalchemy import Connection, create_engine, delete, func, insert, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from autograder.errors import CourseError
from autograder.grading.gradebook.opening import reading

TABLES = {table.name: table for table in Base.metadata.sorted_tables}
AT_ONCE = 1000  # rows


def move_gradebook(source: str, target: str) -> str:
    """Copy a gradebook to an empty database, both given by address. The old one stays as it is.

    Returns what was copied, in a sentence. Raises CourseError; the target is then still empty.
    """
    if target == source:
        raise CourseError("The gradebook is there already: name another database.")
    _make_tables(target)
    engine = create_engine(target)
    try:
        with reading(source) as old, engine.begin() as new:
            _require_empty(new, target)
            for table in TABLES.values():
                rows = old.db.execute(select(table)).mappings()
                for part in rows.partitions(AT_ONCE):
                    new.execute(insert(table), [dict(row) for row in part])
            counts = {name: _count(new, name) for name in ("student", "submitted_assignment")}
    except SQLAlchemyError as error:
        raise CourseError(_failed(target, error)) from error
    finally:
        engine.dispose()
    return (
        f"{counts['student']} learners and {counts['submitted_assignment']} submissions are now in "
        f"{_shown(target)}, with all grades, comments and points by hand. To use it, put its "
        "address into nbgrader_config.py, as c.CourseDirectory.db_url."
    )


def _make_tables(target: str) -> None:
    """Let nbgrader make the tables, with the version that it marks them with."""
    try:
        with closing(Gradebook(target)):
            pass
    except (ArgumentError, ImportError, SQLAlchemyError) as error:
        raise CourseError(_failed(target, error)) from error


def _require_empty(new: Connection, target: str) -> None:
    """Raise CourseError if there are grades already; remove the course that nbgrader entered."""
    if any(_count(new, name) for name in TABLES if name != "course"):
        raise CourseError(f"{_shown(target)} holds a gradebook already. Name an empty database.")
    new.execute(delete(TABLES["course"]))


def _count(connection: Connection, table: str) -> int:
    return connection.scalar(select(func.count()).select_from(TABLES[table])) or 0


def _failed(target: str, error: Exception) -> str:
    return f"The gradebook could not be moved to {_shown(target)} ({type(error).__name__})."


def _shown(address: str) -> str:
    """Return a database's address without its password."""
    try:
        return make_url(address).render_as_string(hide_password=True)
    except ArgumentError:
        return "this address"
