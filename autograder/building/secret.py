"""The course's secret, and the seeds made from it. This module is quick to import."""

import hashlib
import hmac
import os

from autograder.lessons import ROOT

SECRET_FILE = ROOT / "course_secret.txt"
SECRET_VARIABLE = "COURSE_SECRET"
SHIPPED_SECRET = "a course of your own should have a secret of its own"


def own_secret() -> str:
    """Read the secret from the environment or course_secret.txt; "" if there is none."""
    if SECRET_VARIABLE in os.environ:
        secret = os.fsencode(os.environ[SECRET_VARIABLE])
    else:
        secret = SECRET_FILE.read_bytes() if SECRET_FILE.exists() else b""
    # Any bytes will do, but they must mean the same in every locale.
    return secret.decode("utf-8", "backslashreplace").strip()


def course_secret() -> str:
    """Return the course's own secret, or else the one that ships."""
    return own_secret() or SHIPPED_SECRET


def seed_for(submission: str) -> str:
    """Return the seed of a submission's hidden cases. submission: its digest."""
    return hmac.new(course_secret().encode(), submission.encode(), hashlib.sha256).hexdigest()
