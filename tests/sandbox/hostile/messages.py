"""Attacks by messages: forged answers, forged Jupyter messages, outputs that harm their readers."""

import base64
import pickle

from tests.sandbox.hostile.attack import Attack
from tests.sandbox.hostile.forging import SHOW, forged, kernel, packed, safetensors, shaped

ATTACKS = [
    forged("answers that are nothing", "hands in an empty text", "''"),
    forged("answers that are no base64", "hands in words", "'all points, please'"),
    forged("answers that are no text", "hands in lists in lists", "[[[[[]]]]] * 1000"),
    forged(
        "a pickle for tensors",
        "hands in a pickle that would run a program where it is opened",
        repr(base64.b64encode(pickle.dumps(print)).decode()),
    ),
    forged("answers of 30 MB", "hands in very much", "base64.b64encode(bytes(22 << 20)).decode()"),
    forged("answers of 7 MB", "hands in a lot", "base64.b64encode(bytes(5 << 20)).decode()", ""),
    forged(
        "answers to something else",
        "hands in answers to another exercise",
        packed({"exercise": "no_such", "answers": []}),
    ),
    forged(
        "too many answers",
        "hands in a thousand empty answers",
        packed({"exercise": "query_scores", "answers": [{}] * 1000}),
    ),
    forged("a shape of giants", "hands in tensors of 2^120 numbers", shaped(1 << 60, 1 << 60)),
    forged(
        "a shape of words", "makes whoever multiplies it write gigabytes", shaped("ab", 1 << 33)
    ),
    forged("a shape of lists", "makes whoever multiplies it write gigabytes", shaped([0], 1 << 31)),
    forged("a shape below zero", "hands in tensors of negative size", shaped(-1, -2)),
    forged("a shape of 1000 dimensions", "hands in a number in many brackets", shaped(*[1] * 1000)),
    forged("a shape of 60 dimensions", "would have all their orders tried", shaped(*[1] * 60)),
    forged(
        "a tree too deep",
        "hands in answers nested ten thousand deep",
        safetensors({"tree": ("U8", [20_000], b"[" * 10_000 + b"]" * 10_000)}),
    ),
    forged(
        "a tree too wide",
        "hands in half a million empty lists",
        safetensors({"tree": ("U8", [1_500_003], b"[" + b"[]," * 500_000 + b"1]")}),
    ),
    Attack(
        "answers put in later",
        "updates what an earlier check has shown, and clears what a later one shows",
        first=f"""{SHOW}
            def check(answer):
                hand_in("", display_id="mine")
            sending.check = check
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
            "softmax": kernel("""
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
        last=kernel("""
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
        last=kernel("""
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
        "tells the supervisor cell numbers that aren't numbers, or have a thousand digits",
        first=kernel("""
for count in (-1, 10**400, "x", None, [1], True, 1.5, float("nan")):
    send("execute_input", {"code": "", "execution_count": count})
    send("execute_result", {"data": {"text/plain": "5"}, "metadata": {}, "execution_count": count})
"""),
        answers={
            "softmax": kernel("""
send("execute_input", {"code": "", "execution_count": int("9" * 4000)})
""")
        },
    ),
    Attack(
        "half characters in raw messages",
        "sends lone surrogates past the kernel's own encoding",
        first=kernel("""
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
        "outputs nested deep",
        "shows JSON that is huge or nested deeply, and numbers that are not finite",
        last=kernel("""
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
        "shows media types with the wrong contents, and invalid types",
        first=kernel("""
for value in ({"a": 1}, [1, [2]], 5, None, True, ["a", "b"]):
    for kind in ("text/html", "text/plain", "image/png", "image/svg+xml", "text/latex",
                 "application/vnd.jupyter.widget-view+json", "no type", "", "x" * 10_000):
        send("display_data", {"data": {kind: value}, "metadata": {"x": value}})
"""),
        earns=None,
    ),
    Attack(
        "outputs updated without end",
        "updates one output hundreds of times, and outputs that don't exist",
        last=kernel("""
for number in range(300):
    about = {"data": {"text/plain": str(number)}, "metadata": {}, "transient": {"display_id": "a"}}
    send("display_data" if number == 0 else "update_display_data", about)
    send("update_display_data", about | {"transient": {"display_id": str(number)}})
"""),
        told="299|could not be interrupted",
    ),
    Attack(
        "outputs cleared",
        "clears what it shows hundreds of times, at once and later, and that of others",
        last=kernel("""
for number in range(300):
    send("stream", {"name": "stdout", "text": "x"})
    send("clear_output", {"wait": number % 2 == 0})
send("clear_output", {"wait": "yes"}); send("clear_output", {"wait": []})
print("cleared")
"""),
        told="cleared|could not be interrupted",
    ),
    Attack(
        "input requested by message",
        "asks for passwords by message, and answers in the user's place",
        first=kernel("""
for channel in (kernel.iopub_socket, kernel.shell_stream):
    for content in ({"prompt": "password?", "password": True}, {}, {"prompt": [1]}):
        kernel.session.send(channel, "input_request", content, kernel.get_parent())
        kernel.session.send(channel, "input_reply", {"value": "x"}, kernel.get_parent())
"""),
        earns=None,
        outcome="",
    ),
    Attack(
        "outputs of other cells",
        "sends outputs in the name of cells that ran before, and of no cell",
        first=kernel("""
before = kernel.get_parent()
""")
        + "# NEXT CELL"
        + kernel("""
for parent in (before, {}, {"header": {}}, {"header": {"msg_id": "x" * 9999}}):
    for kind in ("stream", "execute_result", "error", "status", "execute_input"):
        kernel.session.send(kernel.iopub_socket, kind, {"name": "stdout", "text": "5",
            "data": {"text/plain": "5"}, "metadata": {}, "execution_count": 5, "ename": "a",
            "evalue": "b", "traceback": [], "execution_state": "idle", "code": ""}, parent)
print("sent")
"""),
        told="sent",
    ),
    Attack(
        "messages with odd headers",
        "sends messages whose headers have invalid dates, types and versions",
        last=kernel("""
session = kernel.session
for header in ({}, {"date": "never"}, {"date": 5}, {"msg_type": 5}, {"msg_type": ["stream"]},
               {"msg_id": None}, {"version": "9" * 999}, {"username": {"a": 1}}):
    full = session.msg_header("stream") | header
    parts = [session.pack(part) for part in (full, kernel.get_parent()["header"], {}, {})]
    kernel.iopub_socket.send_multipart([b"x", b"<IDS|MSG>", session.sign(parts), *parts])
time.sleep(0.2)
"""),
        outcome="",
    ),
    Attack(
        "messages with buffers",
        "sends messages of a thousand parts, and buffers of many megabytes",
        last=kernel("""
about = {"data": {"text/plain": "5"}, "metadata": {}}
send("display_data", about, buffers=[b"x"] * 1000)
for _ in range(4): send("display_data", about, buffers=[bytes(1 << 20)])
send("comm_msg", {"comm_id": "x", "data": {"state": {}}}, buffers=[bytes(1 << 20)])
print("sent")
"""),
        told="sent",
    ),
    Attack(
        "widgets of its own",
        "opens widgets whose states, models and buffers are of odd types",
        first=kernel("""
for state in ({}, 5, {"_model_name": 5}, {"_model_module": "x" * 9999, "_model_name": ["a"]}):
    send("comm_open", {"comm_id": "a", "target_name": "jupyter.widget", "data": {"state": state}})
    for method in ("update", "request_state", "custom", 5):
        send("comm_msg", {"comm_id": "a", "data": {"method": method, "state": state,
             "buffer_paths": [["a", 0], [5]]}}, buffers=[b"x"])
send("comm_open", {"comm_id": [], "target_name": {}, "data": None}); send("comm_close", {})
print("opened")
"""),
        told="opened",
    ),
    Attack(
        "replies before the end",
        "replies to the cell's request before it has ended, and to those to come",
        answers={
            "softmax": kernel("""
parent = kernel.get_parent()
for status in ("ok", "error", "aborted", 5):
    content = {"status": status, "execution_count": 10**30, "payload": [5], "ename": 5}
    for channel in (kernel.shell_stream, kernel.control_stream):
        kernel.session.send(channel, "execute_reply", content, parent, ident=b"x")
        kernel.session.send(channel, "kernel_info_reply", content, parent)
""")
        },
        outcome="",
    ),
    Attack(
        "messages by the thousand",
        "sends more messages in a moment than anyone can read",
        last=kernel("""
for number in range(3000): send("no_such_kind", {"a": number})
for number in range(1000): send("status", {"execution_state": "busy"})
print("sent")
"""),
        told="sent|could not be interrupted",
        outcome="",
    ),
]
