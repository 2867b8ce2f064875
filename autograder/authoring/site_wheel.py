"""The learners' wheel on the site, where notebooks that lack the course find it."""

from pathlib import Path
from urllib.parse import quote

from sphinx.application import Sphinx

from autograder.authoring.published import published
from autograder.building.wheels import LEARNERS, build_wheel


def setup(app: Sphinx) -> None:
    """Let Sphinx add the wheel, if the site has an address."""
    if published().site:
        app.connect("build-finished", _write)


def _write(app: Sphinx, error: Exception | None) -> None:
    if error is None:
        write_wheel(Path(app.outdir, "wheels"))


def write_wheel(folder: Path) -> None:
    """Write the wheel, and the page that pip's --find-links reads. Raises CourseError."""
    folder.mkdir(exist_ok=True)
    for older in folder.glob("*.whl"):
        older.unlink()
    name = build_wheel(LEARNERS, folder)
    link = f'<!DOCTYPE html>\n<title>Wheels</title>\n<a href="{quote(name)}">{name}</a>\n'
    (folder / "index.html").write_text(link, encoding="utf-8")
