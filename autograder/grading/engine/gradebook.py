"""How gradebooks are opened: with patience for others at work in them, and quickly."""

import sqlite3
from functools import cache

from nbgrader import api
from sqlalchemy import Engine, create_engine, event

PATIENCE = 60  # seconds; Python's own are five


def wait_for_sqlite() -> None:
    """Let whoever finds an SQLite gradebook locked wait, a long time if need be."""
    if not event.contains(Engine, "connect", _be_patient):
        event.listen(Engine, "connect", _be_patient)


def keep_statements() -> None:
    """Let whoever opens a gradebook again find its SQL compiled.

    nbgrader opens it seven times for each submission. Each still has its own connection.
    """
    api.create_engine = _engine


@cache
def _engine(db_url: str, **options: object) -> Engine:
    return create_engine(db_url, **options)


def _be_patient(connection: object, _: object) -> None:
    if isinstance(connection, sqlite3.Connection):
        connection.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000}")
