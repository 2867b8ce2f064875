"""Attacks by messages: forged answers, forged Jupyter messages, outputs that harm their readers."""

import base64
import json
import pickle
import struct
import zlib

from autograder.asking import MIME
from autograder.asking.answer import Answer
from autograder.asking.codec import encode
from tests.sandbox.hostile.attack import Attack

SHOW = f"""
import base64, pickle, zlib
from IPython.display import display, update_display
def unpacked(text):
    return base64.b64encode(zlib.decompress(base64.b64decode(text))).decode()
def hand_in(text, **more):
    display({{{MIME!r}: text}}, raw=True, **more)
"""


def _forged(name: str, tries: str, text: str, outcome: str = "graded") -> Attack:
    """Make an attack that hands in the value of an expression instead of every answer."""
    code = f"{SHOW}\ncheck = lambda answer: hand_in({text})"
    return Attack(name, tries, first=code, earns=(), outcome=outcome)


def _packed(tree: object) -> str:
    return _in_short(encode(tree))


def _shaped(*shape: object) -> str:
    """Make answers whose tensors claim to have that shape."""
    tensor = {"$tensor": ["float32", 0, list(shape)]}
    answer = Answer().to_tree() | {"tensors": {"": tensor}}
    text = json.dumps({"exercise": "query_scores", "answers": [answer] * 4}).encode()
    return _safetensors({"float32": ("F32", [2], bytes(8)), "tree": ("U8", [len(text)], text)})


def _safetensors(tensors: dict[str, tuple[str, list[int], bytes]]) -> str:
    header, data = {}, b""
    for name, (dtype, shape, raw) in tensors.items():
        places = [len(data), len(data) + len(raw)]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": places}
        data += raw
    text = json.dumps(header).encode()
    return _in_short(struct.pack("<Q", len(text)) + text + data)


def _in_short(data: bytes) -> str:
    """Make a short expression for the bytes, in base64: a cell of megabytes would be slow."""
    return f"unpacked({base64.b64encode(zlib.compress(data)).decode()!r})"


def _kernel(code: str) -> str:
    return f"""
from IPython.display import display
kernel = get_ipython().kernel
def send(kind, content, parent=None, **more):
    kernel.session.send(kernel.iopub_socket, kind, content, parent or kernel.get_parent(), **more)
{code}
"""


ATTACKS = [
    _forged("answers that are nothing", "hands in an empty text", "''"),
    _forged("answers that are no base64", "hands in words", "'all points, please'"),
    _forged("answers that are no text", "hands in lists in lists", "[[[[[]]]]] * 1000"),
    _forged(
        "a pickle for tensors",
        "hands in a pickle that would run a program where it is opened",
        repr(base64.b64encode(pickle.dumps(print)).decode()),
    ),
    _forged("answers of 30 MB", "hands in very much", "base64.b64encode(bytes(22 << 20)).decode()"),
    _forged("answers of 7 MB", "hands in a lot", "base64.b64encode(bytes(5 << 20)).decode()", ""),
    _forged(
        "answers to something else",
        "hands in answers to another exercise",
        _packed({"exercise": "no_such", "answers": []}),
    ),
    _forged(
        "too many answers",
        "hands in a thousand empty answers",
        _packed({"exercise": "query_scores", "answers": [{}] * 1000}),
    ),
    _forged("a shape of giants", "hands in tensors of 2^120 numbers", _shaped(1 << 60, 1 << 60)),
    _forged(
        "a shape of words", "makes whoever multiplies it write gigabytes", _shaped("ab", 1 << 33)
    ),
    _forged(
        "a shape of lists", "makes whoever multiplies it write gigabytes", _shaped([0], 1 << 31)
    ),
    _forged("a shape below zero", "hands in tensors of negative size", _shaped(-1, -2)),
    _forged(
        "a shape of 1000 dimensions", "hands in a number in many brackets", _shaped(*[1] * 1000)
    ),
    _forged("a shape of 60 dimensions", "would have all their orders tried", _shaped(*[1] * 60)),
    _forged(
        "a tree too deep",
        "hands in answers nested ten thousand deep",
        _safetensors({"tree": ("U8", [20_000], b"[" * 10_000 + b"]" * 10_000)}),
    ),
    _forged(
        "a tree too wide",
        "hands in half a million empty lists",
        _safetensors({"tree": ("U8", [1_500_003], b"[" + b"[]," * 500_000 + b"1]")}),
    ),
    Attack(
        "answers put in later",
        "updates what an earlier check has shown, and clears what a later one shows",
        first=f"""{SHOW}
            def check(answer):
                hand_in("", display_id="mine")
        """.replace("            ", ""),
        last="""
            from IPython.display import clear_output
            update_display({"text/plain": "5"}, raw=True, display_id="mine")
            clear_output()
        """,
        earns=(),
    ),
    Attack(
        "cells that claim to be done",
        "tells the supervisor that its cell has ended while it goes on",
        answers={
            "softmax": _kernel("""
send("execute_result", {"data": {"text/plain": "5"}, "metadata": {}, "execution_count": 5})
send("status", {"execution_state": "idle"})
parent = kernel.get_parent()
kernel.session.send(kernel.shell_stream if hasattr(kernel, "shell_stream") else kernel.iopub_socket,
    "execute_reply", {"status": "ok", "execution_count": 7}, parent)
time.sleep(1)
""")
        },
    ),
    Attack(
        "messages of the wrong form",
        "sends messages to the supervisor that lack what they should have",
        last=_kernel("""
for content in ({}, {"data": 5}, {"data": {"text/plain": {"a": [1]}, "": 3}, "metadata": []}):
    for kind in ("display_data", "execute_result", "stream", "error", "update_display_data",
                 "clear_output", "comm_open", "comm_msg", "input_request", "no_such_kind"):
        send(kind, content)
"""),
        told="OutputError",
    ),
    Attack(
        "messages that are no messages",
        "sends bytes, wrong signatures, pickles and deep JSON to the supervisor",
        last=_kernel("""
deep = b"[" * 100_000 + b"]" * 100_000
session = kernel.session
for content in (b"", b"\\xff", deep, b'{"a": NaN}', b"5", b"null"):
    parts = [b"{}", b"{}", b"{}", content]
    kernel.iopub_socket.send_multipart([b"x", b"<IDS|MSG>", session.sign(parts), *parts])
    kernel.iopub_socket.send_multipart([b"<IDS|MSG>", b"wrong", *parts])
    kernel.iopub_socket.send_multipart([content])
"""),
        told="its kernel sent what can't be read",
    ),
    Attack(
        "counts that are none",
        "tells the supervisor numbers of cells that are no numbers, or have a thousand digits",
        first=_kernel("""
for count in (-1, 10**400, "x", None, [1], True, 1.5, float("nan")):
    send("execute_input", {"code": "", "execution_count": count})
    send("execute_result", {"data": {"text/plain": "5"}, "metadata": {}, "execution_count": count})
"""),
        answers={
            "softmax": _kernel("""
send("execute_input", {"code": "", "execution_count": int("9" * 4000)})
""")
        },
    ),
    Attack(
        "half characters in raw messages",
        "sends lone surrogates past the kernel's own encoding",
        first=_kernel("""
session, parts = kernel.session, []
header = session.msg_header("display_data")
for part in (header, kernel.get_parent()["header"], {}):
    parts.append(session.pack(part))
odd = r'"\\ud800 \\u0000 \\udfff"'
parts.append(f'{{"data": {{"text/plain": {odd}, {odd}: {odd}}}, "metadata": {{}}}}'.encode())
kernel.iopub_socket.send_multipart([b"x", b"<IDS|MSG>", session.sign(parts), *parts])
"""),
        told=r"\? .* \?",
    ),
    Attack(
        "reports forged on every socket",
        "writes what the supervisor would report to everything that may lead out",
        answers={
            "softmax": """
                import json, stat, struct
                report = json.dumps({"outputs": [], "execution_count": 1, "seconds": 1e400})
                frame = struct.pack("!Q", len(report)) + report.encode()
                for number in range(3, 256):
                    try:
                        if stat.S_ISSOCK(os.fstat(number).st_mode): os.write(number, frame * 9)
                    except OSError: pass
            """
        },
    ),
    Attack(
        "the connection taken over",
        "removes the sockets and the connection file that lead to its kernel",
        first="""
            import glob
            print(open(glob.glob("/scratch/.kernel/*.json")[0]).read())
            for path in glob.glob("/scratch/.kernel/*"):
                os.remove(path)
        """,
        told="signature_scheme",
    ),
    Attack(
        "comm messages",
        "opens hundreds of comm channels with large data",
        first="""
            from comm import create_comm
            for number in range(200): create_comm("x" * 1000, data={"y": "z" * 1000})
        """,
    ),
    Attack(
        "outputs nested deep",
        "shows JSON a hundred thousand deep, and of a size that no text tells",
        last=_kernel("""
display({"application/json": [[]] * 100_000, "text/plain": "x"}, raw=True)
display({"application/json": [float("nan"), float("inf"), 10**400]}, raw=True)
for depth in (50, 100, 200, 300, 500, 900):
    nested = []
    for _ in range(depth): nested = [nested]
    display({"application/json": nested, "text/plain": "x"}, raw=True)
"""),
    ),
    Attack(
        "outputs of odd types",
        "shows media types that hold what they should not, and types that are none",
        first=_kernel("""
for value in ({"a": 1}, [1, [2]], 5, None, True, ["a", "b"]):
    for kind in ("text/html", "text/plain", "image/png", "image/svg+xml", "text/latex",
                 "application/vnd.jupyter.widget-view+json", "no type", "", "x" * 10_000):
        send("display_data", {"data": {kind: value}, "metadata": {"x": value}})
"""),
        earns=None,
    ),
    Attack(
        "half characters",
        "prints, shows and raises lone surrogates and control characters",
        first="""
            from IPython.display import display
            odd = "\\ud800 \\udfff \\x00 \\x1b[31m \\u202e \\ufffe"
            print(odd.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
            kernel = get_ipython().kernel
            for text in (odd, odd[10:]):
                for data in ({"text/plain": text}, {"text/html": text}, {text: text}):
                    attempt(lambda: 1 / len(display(data, raw=True) or ""))
        """
        '# NEXT CELL\nraise ValueError("\\ud800\\x00")# NEXT CELL\nprint("\\ud800")',
        told="held: ",
    ),
    Attack(
        "scripts in outputs",
        "shows HTML, JavaScript and SVG that would act on whoever looks at them",
        first="""
            from IPython.display import HTML, Javascript, SVG, display
            script = "<script>parent.fetch('/formgrader/api')</script>"
            display(HTML(script), Javascript("parent.fetch('/formgrader/api')"))
            display({"image/svg+xml": f"<svg onload='x()'>{script}</svg>"}, raw=True)
            display({"image/png": f'"><script>x()</script>', "text/markdown": script}, raw=True)
            raise ValueError(script)
        """,
        told="ValueError",
    ),
]
