"""Clones of learners' repositories on GitHub, as `gh classroom clone student-repos` makes them."""

import os
import subprocess
from pathlib import Path

WHEN = "2026-10-05T23:59:00+02:00"


def clone(folder: Path, name: str, files: dict[str, str]) -> Path:
    """Make a repository with a commit; return it."""
    made = folder / name
    made.mkdir()
    for file, content in files.items():
        (made / file).write_text(content, encoding="utf-8")
    clock = {"GIT_COMMITTER_DATE": WHEN, "GIT_AUTHOR_DATE": WHEN}
    about = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "."], [*about, "commit", "-q", "-m", "done"]):
        subprocess.run(["git", *command], cwd=made, check=True, env=os.environ | clock)
    return made
