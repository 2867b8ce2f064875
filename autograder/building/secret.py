"""The course's secret, and the seeds made from it. This module is quick to import."""

import hashlib
import hmac
import os
from pathlib import Path

from autograder.places import ROOT

SECRET_FILE = ROOT / "course_secret.txt"
SECRET_VARIABLE = "COURSE_SECRET"
SHIPPED_SECRET = "a course of your own should have a secret of its own"
NO_SECRET = "This course has no secret: anyone can work out the hidden cases."


def own_secret() -> str:
    """Read the secret from the environment or course_secret.txt; "" if there is none."""
    if SECRET_VARIABLE in os.environ:
        return _text(os.fsencode(os.environ[SECRET_VARIABLE]))
    return read_secret(SECRET_FILE) if SECRET_FILE.exists() else ""


def read_secret(file: Path) -> str:
    """Read a secret from a file; "" if there is nothing in it. Raises OSError."""
    return _text(file.read_bytes())


def course_secret() -> str:
    """Return the course's own secret, or else the one that ships."""
    return own_secret() or SHIPPED_SECRET


def seed_for(submission: str, secret: str = "") -> str:
    """Return the seed of a submission's hidden cases.

    submission: its digest.
    secret: "" for the course's.
    """
    drawn_from = secret or course_secret()
    return hmac.new(drawn_from.encode(), submission.encode(), hashlib.sha256).hexdigest()


def _text(secret: bytes) -> str:
    """Decode a secret. Any bytes will do, but they must mean the same in every locale."""
    return secret.decode("utf-8", "backslashreplace").strip()
