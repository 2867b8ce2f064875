"""What nbgrader's handlers for formgrader do differently here; `engine.patches` applies it.

This module is imported only where formgrader runs.
"""

import os
import secrets
from pathlib import Path
from typing import Any

from jupyter_server.base.handlers import JupyterHandler
from nbgrader.server_extensions.formgrader.base import BaseHandler
from nbgrader.server_extensions.formgrader.handlers import FormgraderHandler
from tornado.web import authenticated

from autograder.grading.formgrader import templates
from autograder.grading.formgrader.submission_page import page_parts
from autograder.grading.gradebook.notebook_facts import fields_of

POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'"
)
# For files of a submission, and for responses to scripts, which nbgrader sends as HTML.
NO_PAGE = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
open_formgrader = FormgraderHandler.get


class Page:
    """A handler for pages: values are escaped, and only the page's own scripts run."""

    @property
    def nonce(self) -> str:
        """A value that the scripts in this response carry and nobody can guess."""
        if not hasattr(self, "drawn_nonce"):
            self.drawn_nonce = secrets.token_urlsafe(16)
        return self.drawn_nonce

    @property
    def content_security_policy(self) -> str:
        return _and_the_servers(self, POLICY.format(nonce=self.nonce))

    @property
    def exporter(self) -> "SubmissionPages":
        """Makes the page of a submission, in place of nbconvert's exporter."""
        return SubmissionPages(self)

    def render(self, name: str, **values: Any) -> str:
        if name == "formgrade_404.tpl":  # the page of a submission without its notebook
            return SubmissionPages(self).from_filename(**values)[0]
        return templates.render(name, self.nonce, **values)


class NoPage:
    """A handler whose responses are not pages for a browser to show."""

    @property
    def content_security_policy(self) -> str:
        return _and_the_servers(self, NO_PAGE)


class OneCourse:
    """The handler that opens formgrader, for the server's own course only."""

    @authenticated
    def get(self: FormgraderHandler) -> None:
        """Open formgrader. nbgrader's own would run the nbgrader_config.py of any linked folder."""
        path, root = self.get_argument("path", ""), self.coursedir.root
        if path and os.path.realpath(path) != os.path.realpath(root):
            self.set_status(403)
            self.write(self.render("other_course.html.jinja", root=root, base_url=self.base_url))
        else:
            open_formgrader(self)


class SubmissionPages:
    """Makes the pages of submissions for a handler, which calls it like nbconvert's exporter."""

    def __init__(self, handler: BaseHandler) -> None:
        self._handler = handler

    def from_filename(
        self, filename: str = "", *, resources: dict[str, Any]
    ) -> tuple[str, dict[str, Any]]:
        """Return the page with the notebook in a file; without one, only the fields."""
        fields = fields_of(self._handler.gradebook, resources["submission_id"])
        parts, trouble = page_parts(_read(filename), fields)
        values = {"resources": resources, "parts": parts, "trouble": trouble}
        return self._handler.render("submission.html.jinja", **values), resources


def _and_the_servers(handler: BaseHandler, policy: str) -> str:
    """Add the server's own policy, such as who may frame the page."""
    # mypy takes a property of a class for a method.
    server = JupyterHandler.content_security_policy.fget(handler)  # type: ignore[attr-defined]
    return f"{policy}; {server}"


def _read(filename: str) -> bytes | None:
    try:
        return Path(filename).read_bytes()
    except OSError:
        return None
