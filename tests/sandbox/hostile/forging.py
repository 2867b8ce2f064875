"""Forge what a kernel sends: answers, and messages to the supervisor."""

import base64
import json
import struct
import zlib
from textwrap import dedent, indent

from autograder.asking import MIME
from autograder.asking.answer import Answer
from autograder.asking.codec import encode
from tests.sandbox.hostile.attack import Attack

SHOW = f"""
import base64, pickle, zlib
from IPython.display import display, update_display
from autograder.asking import sending
def unpacked(text):
    return base64.b64encode(zlib.decompress(base64.b64decode(text))).decode()
def hand_in(text, **more):
    display({{{MIME!r}: text}}, raw=True, **more)
"""


FORGE = """
import base64, json, struct
from IPython.display import display
from autograder.asking import MIME, sending
from autograder.asking.answer import Answer
from autograder.asking.codec import encode
honest_check, question = check, sending._questions(os.environ["AUTOGRADER_QUESTIONS"])["softmax"]

def safetensors(header, data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data

def with_tree(text, **rows):
    \"\"\"Make a file by hand: the tree as text, and rows of bytes by dtype.\"\"\"
    header, data = {}, b""
    for name, (kind, raw) in (rows | {"tree": ("U8", text)}).items():
        size = [len(raw) // {"U8": 1, "F32": 4, "I64": 8, "F64": 8}[kind]]
        places = [len(data), len(data) + len(raw)]
        header[name] = {"dtype": kind, "shape": size, "data_offsets": places}
        data += raw
    return safetensors(header, data)

def forge(answer):
    if answer.__name__ != "softmax":
        return honest_check(answer)
    answers = [Answer().to_tree() for call in question.calls]
    tree, data = {"exercise": "softmax", "answers": answers, "uses": []}, None
CHANGE
    data = encode(tree) if data is None else data
    display({MIME: base64.b64encode(data).decode()}, raw=True)

sending.check = forge
"""


def forged(name: str, tries: str, text: str, outcome: str = "graded") -> Attack:
    """Make an attack that hands in the value of an expression instead of every answer."""
    code = f"{SHOW}\nsending.check = lambda answer: hand_in({text})"
    return Attack(name, tries, first=code, earns=(), outcome=outcome)


def changed(name: str, tries: str, change: str, **facts: object) -> Attack:
    """Make an attack that changes `tree`, an empty answer to each call of softmax, and sends it.

    change: code that may also set `data`, the bytes that are sent, and `header`, of safetensors.
    """
    code = FORGE.replace("CHANGE", indent(dedent(change).strip(), "    "))
    return Attack(name, tries, first=code, **({"outcome": "graded"} | facts))


def packed(tree: object) -> str:
    return in_short(encode(tree))


def shaped(*shape: object) -> str:
    """Make answers whose tensors claim to have this shape."""
    tensor = {"$tensor": ["float32", 0, list(shape)]}
    answer = Answer().to_tree() | {"tensors": {"": tensor}}
    text = json.dumps({"exercise": "query_scores", "answers": [answer] * 4}).encode()
    return safetensors({"float32": ("F32", [2], bytes(8)), "tree": ("U8", [len(text)], text)})


def safetensors(tensors: dict[str, tuple[str, list[int], bytes]]) -> str:
    header, data = {}, b""
    for name, (dtype, shape, raw) in tensors.items():
        places = [len(data), len(data) + len(raw)]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": places}
        data += raw
    text = json.dumps(header).encode()
    return in_short(struct.pack("<Q", len(text)) + text + data)


def in_short(data: bytes) -> str:
    """Make a short expression for the bytes, in base64: a cell with megabytes would be slow."""
    return f"unpacked({base64.b64encode(zlib.compress(data)).decode()!r})"


def kernel(code: str) -> str:
    return f"""
from IPython.display import display
kernel = get_ipython().kernel
def send(kind, content, parent=None, **more):
    kernel.session.send(kernel.iopub_socket, kind, content, parent or kernel.get_parent(), **more)
{code}
"""
