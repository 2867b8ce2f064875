"""Cells with which a submission could act on formgrader's pages, in several variants."""

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from tests.support.pictures import png

RUN = "window.evil = 1"
COVER = "top:0;left:0;width:100vw;height:100vh;z-index:99999;background:red"
PNG = png()


def displayed(kind, text):
    return new_code_cell("1", outputs=[new_output("display_data", {kind: text})])


def shown(html):
    """Make a cell that displays HTML."""
    return displayed("text/html", html)


def with_metadata(cell, **metadata):
    cell.metadata.update(metadata)
    return cell


def attached(name, source, data=PNG):
    return new_markdown_cell(source, attachments={name: {"image/png": data}})


def picture(**metadata):
    return new_output("display_data", {"image/png": PNG}, metadata={"image/png": metadata})


def attacks(name):
    """Return the attacks by name, each a list of cells.

    name: that of a graded cell in the lesson.
    """
    graded = {"grade": True, "solution": False, "locked": True, "points": 99, "schema_version": 3}
    return {
        # A script that runs, at once or on a click.
        "link-files": [new_markdown_cell(f"[click](files/javascript:{RUN})")],
        "link-files-twice": [shown(f'<a href="files/files/javascript:{RUN}">click</a>')],
        "link-plain": [new_markdown_cell(f"<a href='javascript:{RUN}'>click</a>")],
        "on-error": [shown(f"<img src=x onerror='{RUN}'>")],
        "script": [new_markdown_cell(f"<script>{RUN}</script>")],
        "svg": [displayed("image/svg+xml", f"<svg onload='{RUN}'>")],
        "javascript": [displayed("application/javascript", RUN)],
        "call": [shown("<b data-call='alert' onclick='evil=1'>click</b>")],
        # Through what a template prints unescaped.
        "picture-width": [new_code_cell("1", outputs=[picture(width=f"1 onerror={RUN!r}")])],
        "picture-alt": [new_code_cell("1", outputs=[picture(alt=f'"onerror="{RUN}')])],
        "count": [NotebookNode(new_code_cell("1"), execution_count=f"<img src=x onerror='{RUN}'>")],
        "cell-name": [
            with_metadata(
                new_markdown_cell("x"),
                nbgrader=graded | {"grade_id": f'"><img src=x onerror="{RUN}">'},
            )
        ],
        # The look of the page's own parts.
        "modal": [shown(f'<div class="modal in" style="display:block">{"<br>" * 99}</div>')],
        "backdrop": [shown('<div class="modal-backdrop in">x</div>')],
        "navbar": [new_markdown_cell('<div class="navbar-fixed-top" style="height:900px">x</div>')],
        "help": [shown('<div class="help" style="font-size:900px">x</div>')],
        "status": [new_markdown_cell('<div id="statusmessage" style="height:900px">x</div>')],
        # The page's own names: a score that goes nowhere.
        "same-id": [new_markdown_cell(f'<div id="{name}">x</div>')],
        "same-class": [shown(f'<div class="nbgrader_cell"><p id="{name}">x</p></div>')],
        "score": [new_markdown_cell(f'<b id="{name}" class="score tabbable">9</b>')],
        "same-name": [with_metadata(new_markdown_cell("x"), nbgrader=graded | {"grade_id": name})],
        # Styles that break out of their box.
        "fixed": [shown(f'<div style="position:fixed;{COVER}">x</div>')],
        "absolute": [new_markdown_cell(f'<div style="position:absolute;{COVER}">x</div>')],
        "margin": [shown('<div style="margin-top:-9999px;height:99999px;background:red">x</div>')],
        "moved": [shown(f'<div style="transform:translate(-50px,-900px);{COVER}">x</div>')],
        "sticky": [new_markdown_cell(f'<div style="position:sticky;{COVER}">x</div>')],
        "style": [shown(f"<style>* {{ position:fixed; {COVER} }}</style>")],
        # A page that can't be made, or is huge.
        "attachment": [new_markdown_cell("![lost](attachment:x.png)")],
        "attachment-empty": [new_markdown_cell("![lost](attachment:)", attachments={"x.png": {}})],
        "attachment-other": [attached("y.png", "![lost](attachment:x.png)")],
        "attachment-400": [attached("x.png", "![x](attachment:x.png)\n" * 400, "A" * 100_000)],
        "escapes": [new_code_cell("1", outputs=[new_output("stream", text="\x1b[31m" * 200_000)])],
        "lines": [new_markdown_cell("\n" * 60_000), new_code_cell("\n" * 60_000)],
        "parentheses": [shown(f'<p style="color:{"(" * 20_000}">x</p>')],
        "deep": [shown("<div>" * 9_000), new_markdown_cell("> " * 4_000 + "x")],
    }


# Whole files that are not notebooks.
BROKEN = {
    "not-json": b"{",
    "not-text": b"\xff\xfe\x00",
    "no-cells": b'{"cells": 1}',
    "list": b"[" * 100_000,
    "odd-cells": b'{"cells": [1, null, {"cell_type": 7, "source": {}, "metadata": []}]}',
}
# What a learner could be called in a gradebook that an earlier version filled.
NAMES = {
    "img": f"<img src=x onerror='{RUN}'>",
    "quoted": f'";{RUN};"',
    "closed": f"</script><script>{RUN}</script>",
    "slash": "back\\",
    "entity": f"&lt;img src=x onerror='{RUN}'&gt;",
    "apostrophe": "O'Brien",
}
