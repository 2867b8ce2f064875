"""Where words are on the site, section by section, for its search.

Sphinx's own search fetches the pages that it finds to show where the words are, and a browser
refuses to fetch pages that are opened from disk.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

SCRIPT = "sections.js"


def setup(app: Sphinx) -> None:
    """Let Sphinx write the sections' texts, and load them on the search page alone."""
    app.connect("html-page-context", _load)
    app.connect("build-finished", _write)


def _load(app: Sphinx, page: str, *_: Any) -> None:
    if page == "search":
        app.add_js_file(SCRIPT)


def _write(app: Sphinx, error: Exception | None) -> None:
    if error is None:
        texts = json.dumps([*sections(app.env)], ensure_ascii=False)
        script = Path(app.outdir, "_static", SCRIPT)
        script.write_text(f"const SECTIONS = {texts};\n", encoding="utf-8")


def sections(env: BuildEnvironment) -> Iterator[tuple[str, str, str, str]]:
    """Yield page, id, heading and text of each section, without the sections in it."""
    for page in sorted(env.found_docs):
        for section in env.get_doctree(page).findall(nodes.section):
            heading, *below = section.children
            text = " ".join(text for node in below for text in _texts(node))
            yield f"{page}.html", section["ids"][0], heading.astext(), " ".join(text.split())


def _texts(node: nodes.Node) -> Iterator[str]:
    """Yield what a reader reads: no scripts, no outputs."""
    if isinstance(node, nodes.Text):
        yield node.astext()
    elif isinstance(node, nodes.Element) and not _is_left_out(node):
        for child in node.children:
            yield from _texts(child)


def _is_left_out(node: nodes.Element) -> bool:
    return isinstance(node, nodes.raw | nodes.section) or "cell_output" in node["classes"]
