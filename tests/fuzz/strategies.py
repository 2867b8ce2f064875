"""Inputs for everything that reads other people's files: random ones, and nearly right ones."""

import base64
import copy
import json
import zipfile
from io import BytesIO

import torch
from hypothesis import strategies as st

from autograder.asking.codec import encode
from autograder.asking.collect import collect
from autograder.asking.sending import pack
from autograder.building.hidden import shown_reference
from autograder.lessons.lesson import Lesson

LESSON = Lesson("01_dot_product_attention")
# Text with a special meaning somewhere: markup, formulas, paths, surrogates, escapes.
TELLING = st.sampled_from(
    [
        *(
            "<script>alert(1)</script>",
            "=1+1",
            '=HYPERLINK("http://x")',
            "2.02612E+11",
            "²",
            "jose\u0301",
            "\ufeff",
            "../../etc/passwd",
            "\x1b[31m",
            "\ud800",
            "\0",
            "NaN",
        ),
        *("### BEGIN SOLUTION", "YOUR ANSWER HERE", "2026-10-05 23:59 +0200", "9" * 400, "1e400"),
        *(
            "$$x",
            "![a](attachment:a.png)",
            "`" * 50,
            "[" * 90,
            "&lt;b&gt;",
            "\u202eabc",
            ",;\t\"'\n",
        ),
    ]
)
TEXT = st.text(max_size=40) | TELLING
NUMBERS = st.integers(-(2**70), 2**70) | st.floats() | st.booleans()
TREES = st.recursive(
    st.none() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def changed(draw, tree):
    """A tree with a few of its parts replaced, removed or doubled."""
    tree = copy.deepcopy(tree)
    for _ in range(draw(st.integers(0, 4))):
        holder, key = draw(st.sampled_from(_places(tree)))
        match draw(st.sampled_from(["replace", "remove", "double"])):
            case "replace":
                holder[key] = draw(TREES)
            case "remove":
                del holder[key]
            case "double" if isinstance(holder, list):
                holder.insert(key, copy.deepcopy(holder[key]))
    return tree


@st.composite
def damaged(draw, data):
    """Bytes with a piece cut out, overwritten or repeated."""
    start = draw(st.integers(0, len(data)))
    end = min(len(data), start + draw(st.integers(0, 60)))
    middle = draw(st.binary(max_size=30) | st.just(data[start:end] * 3))
    return data[:start] + middle + data[end:]


def _places(tree, most=4000):
    """List every part of a tree as the list or dict that holds it, and its key there."""
    found, waiting = [], [tree]
    while waiting and len(found) < most:
        holder = waiting.pop()
        pairs = holder.items() if isinstance(holder, dict) else enumerate(holder)
        for key, part in list(pairs):
            found.append((holder, key))
            if isinstance(part, dict | list) and part:
                waiting.append(part)
    return found or [({"": None}, "")]


def _json(tree):
    return json.dumps(tree, ensure_ascii=True).encode()


def _message(tree):
    """Encode a tree as the answers that a check sends."""
    return base64.b64encode(encode(tree)).decode()


REFERENCE = shown_reference(LESSON.name)
QUESTION, KEY = REFERENCE.questions["softmax"], REFERENCE.keys["softmax"]
RIGHT = collect(LESSON.namespace()["softmax"], QUESTION)
MESSAGE = pack("softmax", RIGHT)
ANSWERS = {"exercise": "softmax", "answers": [one.to_tree() for one in RIGHT], "uses": []}
NOTEBOOK = json.loads(LESSON.released_path.read_bytes())
SHORT = NOTEBOOK | {"cells": [c for c in NOTEBOOK["cells"] if "nbgrader" in c["metadata"]][:6]}
OUTPUTS = [
    {"output_type": "stream", "name": "stdout", "text": "six\n"},
    {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["t"]},
    {
        "output_type": "display_data",
        "data": {"text/plain": "x", "image/png": "aGk="},
        "metadata": {},
    },
    {"output_type": "execute_result", "data": {"text/html": "<b>x</b>"}, "execution_count": 3},
]
ROWS = 'learner,first_name,last_name,email\nada,Ada,King,a@example.org\nben,Ben,"O\'Neil, Jr.",\n'


@st.composite
def _tensors(draw):
    shape = draw(st.lists(st.integers(0, 4), max_size=5))
    dtype = draw(st.sampled_from([torch.float32, torch.float64, torch.int64, torch.bool]))
    return torch.ones(shape).to(dtype)


@st.composite
def forged_answers(draw):
    """A message whose tree is nearly right, with tensors of any shape in it."""
    tree = copy.deepcopy(ANSWERS)
    answer = tree["answers"][draw(st.integers(0, len(RIGHT) - 1))]
    name = draw(st.sampled_from([*answer["tensors"], "", "other"]))
    answer["tensors"][name] = draw(_tensors())
    answer[draw(st.sampled_from(list(answer)))] = draw(TREES)
    return _message(tree)


NOTEBOOKS = st.binary(max_size=200) | TREES.map(_json) | changed(SHORT).map(_json)
NOTEBOOKS |= damaged(_json(SHORT))
MESSAGES = TEXT | st.binary(max_size=80).map(lambda b: base64.b64encode(b).decode())
MESSAGES |= damaged(base64.b64decode(MESSAGE)).map(lambda b: base64.b64encode(b).decode())
MESSAGES |= forged_answers()
SENT = st.binary(max_size=80) | changed({"outputs": OUTPUTS}).map(_json)
ROSTER = 'Student,ID,SIS User ID,Section\n    Points Possible,,,\n"King, Ada",101,7,A\nBen,102,,\n'
SHEET = (
    "\ufeffIdentifier,Full name,Email,Status,Grade,Maximum,Changeable,Modified\r\n"
    "Participant 1001,Ada King,a@example.org,Submitted,,15,Yes,-\r\n"
    "Participant 1002,Ben,b@example.org,Draft,3,15,Yes,-\r\n"
)
CANVAS = [
    {"user_id": 101, "submitted_at": "2026-10-05T21:59:00Z"},
    {"user_id": 1, "submitted_at": None},
]


def _near(text):
    """A text with damage, or with something telling at its end."""
    ends = TEXT.map(lambda end: (text + end).encode("utf-8", "surrogatepass"))
    return st.binary(max_size=120) | damaged(text.encode()) | ends


TABLES, ROSTERS, WORKSHEETS = _near(ROWS), _near(ROSTER), _near(SHEET)
CANVAS_TIMES = _near(json.dumps(CANVAS)) | changed({"": CANVAS}).map(lambda t: _json(t.get("")))


NAMES = [
    "adaking_101_77_l.ipynb",
    "a/../../b.ipynb",
    "/etc/x.ipynb",
    "x.zip",
    ".zip",
    "a/",
    "..",
    "~",
]


@st.composite
def zips(draw, deep=True):
    """A zip with odd names, links, and zips in it."""
    data = st.binary(max_size=60) | st.just(b"{}")
    if deep:
        data |= zips(deep=False)
    made = BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        for _ in range(draw(st.integers(0, 3))):
            name = draw(TEXT | st.sampled_from(NAMES)).encode("utf-8", "ignore").decode()
            info = zipfile.ZipInfo(name or "x")
            info.compress_type = draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
            info.external_attr = draw(st.sampled_from([0o644, 0o120777, 0o40755, 0o10644])) << 16
            file.writestr(info, draw(data))
    return made.getvalue()


ZIPS = st.binary(max_size=120) | zips() | zips().flatmap(damaged)
TIMES = (
    st.binary(max_size=40)
    | damaged(b"2026-10-05 23:59:00 +0200")
    | TEXT.map(lambda t: t.encode("utf-8", "surrogatepass"))
)
