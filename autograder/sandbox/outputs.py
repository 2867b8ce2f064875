"""Turn what a sandbox sends as a cell's outputs into outputs that are valid in a notebook.

The input may be any JSON. Anything that does not look like an output is dropped.
"""

import json
import math
import re
from typing import Any

from nbformat import NotebookNode, from_dict

DEEPEST = 20
UNREADABLE = "what this cell showed can't be read"
MOST_OUTPUTS = 2000
MOST_COUNT = 1 << 31
MIME = re.compile(r"[\w.+-]{1,100}/[\w.+-]{1,100}", re.ASCII)
JSON = re.compile(r".*[/+]json")


def read_outputs(sent: bytes) -> list[NotebookNode]:
    """Read what a sandbox sent as a cell's outputs."""
    try:
        message = json.loads(sent)
    except (ValueError, RecursionError):
        error = {"output_type": "error", "ename": "OutputError", "evalue": UNREADABLE}
        return clean_outputs([error | {"traceback": [f"OutputError: {UNREADABLE}"]}])
    return clean_outputs(message.get("outputs") if isinstance(message, dict) else None)


def clean_outputs(sent: Any) -> list[NotebookNode]:
    """Return the valid outputs among what was sent, in nbformat's form.

    Merges consecutive pieces of a stream, as JupyterLab does; a kernel may send it in pieces.
    """
    outputs = sent[:MOST_OUTPUTS] if isinstance(sent, list) else []
    cleaned: list[NotebookNode] = []
    for output in filter(None, map(_clean, outputs)):
        if cleaned and _stream(output) and _stream(output) == _stream(cleaned[-1]):
            cleaned[-1].text += output.text
        else:
            cleaned.append(output)
    return cleaned


def utf8_text(value: Any) -> str:
    """Return text that can be encoded as UTF-8; "" if the value is not text."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def plain_count(value: Any) -> int | None:
    """Return the value if it is a valid execution count."""
    return value if type(value) is int and 0 <= value < MOST_COUNT else None


def _stream(output: NotebookNode) -> str:
    """Return the name of a stream output's stream; "" for other outputs."""
    return output.get("name", "") if output.output_type == "stream" else ""


def _clean(output: Any) -> NotebookNode | None:
    kind = output.get("output_type") if isinstance(output, dict) else None
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return _output(kind, name=name, text=utf8_text(output.get("text")))
    if kind == "error":
        lines = output.get("traceback")
        traceback = [utf8_text(line) for line in lines] if isinstance(lines, list) else []
        name, value = utf8_text(output.get("ename")), utf8_text(output.get("evalue"))
        return _output(kind, ename=name, evalue=value, traceback=traceback)
    if kind == "display_data":
        return _output(kind, data=_data(output.get("data")), metadata={})
    if kind == "execute_result":
        count = plain_count(output.get("execution_count"))
        data = _data(output.get("data"))
        return _output(kind, data=data, metadata={}, execution_count=count)
    return None


def _output(kind: str, **fields: Any) -> NotebookNode:
    return from_dict({"output_type": kind, **fields})


def _data(sent: Any) -> dict[str, Any]:
    """Return the displayed data by media type: text, or anything for JSON types."""
    data = {}
    for kind, value in sent.items() if isinstance(sent, dict) else ():
        if not MIME.fullmatch(kind):
            continue
        if JSON.fullmatch(kind):
            data[kind] = _plain_json(value, DEEPEST)
        elif text := _text(value):
            data[kind] = text
    return data


def _text(value: Any) -> str:
    lines = value if isinstance(value, list) else [value]
    return "".join(map(utf8_text, lines))


def _plain_json(value: Any, depth: int) -> Any:
    """Clean the text in a value, and drop NaN, infinities and anything nested too deeply."""
    if isinstance(value, str):
        return utf8_text(value)
    if depth == 0 or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if isinstance(value, dict):
        return {utf8_text(key): _plain_json(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain_json(item, depth - 1) for item in value]
    return value
