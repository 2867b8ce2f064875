"""Attacks on the judge: well-formed answers that would keep it busy, or make it fail."""

from tests.sandbox.hostile.forging import changed

ATTACKS = [
    changed(
        "a thousand dimensions of nothing",
        "hands in empty tensors whose other sizes are vast",
        """
        empty = {"$tensor": ["float32", 0, [0, 1 << 39, 1 << 39]]}
        for one in answers: one["tensors"] = {"weights": empty}
        data = with_tree(json.dumps(tree).encode(), float32=("F32", bytes(4)))
        """,
        outcome="",
    ),
    changed(
        "a shape of no numbers",
        "hands in tensors whose sizes are NaN, infinite, fractions and booleans",
        """
        for one, size in zip(answers, [float("nan"), float("inf"), 1.5, True, None, "1", 10**30]):
            one["tensors"] = {"weights": {"$tensor": ["float32", 0, [size]]}}
        data = with_tree(json.dumps(tree).encode(), float32=("F32", bytes(4)))
        """,
    ),
    changed(
        "a start beyond the end",
        "hands in tensors that begin below zero and far behind the last number",
        """
        for one, start in zip(answers, [-1, -(1 << 62), 1 << 62, 1 << 70, 3]):
            one["tensors"] = {"weights": {"$tensor": ["float32", start, [2]]}}
        data = with_tree(json.dumps(tree).encode(), float32=("F32", bytes(16)))
        """,
    ),
    changed(
        "rows of another type",
        "lays integers where floats are announced, and floats of 64 bits",
        """
        for one in answers: one["tensors"] = {"weights": {"$tensor": ["float32", 0, [2]]}}
        data = with_tree(json.dumps(tree).encode(), float32=("I64", b"\\xff" * 16))
        """,
    ),
    changed(
        "one tensor for all",
        "hands in the same million numbers as each of the answers",
        """
        million = torch.full((1000, 1000), 0.5)
        for one in answers: one["tensors"] = {"weights": million}
        """,
        outcome="",
    ),
    changed(
        "a million of every length",
        "hands in answers of different lengths, for each of which something would be kept",
        """
        million = torch.full((1_000_000,), 0.5)
        for less, one in enumerate(answers): one["tensors"] = {"weights": million[less:]}
        """,
        outcome="",
    ),
    changed(
        "matrices of a million",
        "hands in matrices that every rule for differences would look at",
        """
        values = torch.randn(1000, 1000, generator=torch.Generator().manual_seed(0))
        for one in answers: one["tensors"] = {"weights": values.T.contiguous()}
        """,
        outcome="",
    ),
    changed(
        "all that is no number",
        "hands in NaN, infinities, the smallest and the largest numbers in the right shapes",
        """
        odd = [float("nan"), float("inf"), -float("inf"), 5e-324, 3.4e38, -0.0]
        for number, (one, call) in enumerate(zip(answers, question.calls)):
            shape = call.arguments["scores"].shape
            one["tensors"] = {"weights": torch.full(shape, odd[number % 6])}
        """,
        told="NaN|number|softmax",
    ),
    changed(
        "tensors under many names",
        "hands in ten thousand tensors with each answer, under names that are HTML",
        """
        answers[0]["tensors"] = {f"<b id={n}>": torch.zeros(1) for n in range(10_000)}
        """,
    ),
    changed(
        "outputs that are lacking",
        "says why a thousand outputs, and the right one, are missing",
        """
        why = {"kind": "type", "detail": "<script>x()</script>" * 9, "where": ""}
        for one in answers: one["lacks"] = {str(n): why for n in range(900)} | {"weights": why}
        """,
    ),
    changed(
        "problems that nobody knows",
        "hands in problems with kinds and places that are forms, codes and escapes",
        """
        odd_texts = ["{0.__class__}", "%s%n", "\\x1b[31m", "`" * 999, "\\n" * 999]
        for one, odd in zip(answers, odd_texts):
            one["problem"] = {"kind": odd, "detail": odd * 99, "where": odd}
        """,
    ),
    changed(
        "problems that are excused",
        "claims that each call raised, was not reached, or could not be judged",
        """
        kinds = ["raised", "not judged", "undefined", "no answer", "check waited", "setting"]
        for number, one in enumerate(answers):
            one["problem"] = {"kind": kinds[number % 6], "detail": "ValueError", "where": ""}
        """,
        outcome="",
    ),
    changed(
        "lines without number",
        "claims to have printed more lines than a number of 64 bits holds, or fewer than none",
        """
        for one, lines in zip(answers, [1e308, 10**300, -(10**300), True, 0.5]):
            one["printed"] = lines
        """,
    ),
    changed(
        "a number of a thousand digits",
        "gives a number of printed lines that takes long to read",
        """
        text = json.dumps(tree).replace('"printed": 0', '"printed": ' + "9" * 100_000, 1)
        data = with_tree(text.encode())
        """,
    ),
    changed(
        "everything twice",
        "hands in a tree and a header in which each name occurs twice",
        """
        text = json.dumps(tree)
        data = with_tree(("{" + text[1:-1] + ", " + text[1:-1] + "}").encode())
        """,
    ),
    changed(
        "a header of its own",
        "hands in a header that overlaps, points outside and claims terabytes",
        """
        tree_at = {"dtype": "U8", "shape": [1 << 42], "data_offsets": [0, 1 << 42]}
        data = safetensors({"tree": tree_at, "float32": tree_at, "__metadata__": {"a": "b"}}, b"x")
        """,
    ),
    changed(
        "a header without an end",
        "hands in a header that is longer than the file, and nested deep",
        """
        data = safetensors(b'{"a":' * 50_000, b"")[:200_000]
        data = struct.pack("<Q", (1 << 63) - 1) + data[8:]
        """,
    ),
    changed(
        "names borrowed by the thousand",
        "claims to have used a hundred thousand names, and to build on all exercises",
        """
        names = [f"{n}`<i>" for n in range(20_000)]
        answers[0]["borrowed"], tree["uses"] = names, names
        """,
    ),
    changed(
        "inputs that have no digest",
        "claims digests of inputs that don't exist, and none of those that do",
        """
        for one in answers: one["inputs"] = {str(n): "0" * 5000 for n in range(50)}
        """,
    ),
    changed(
        "no digests at all",
        "claims that no call took anything",
        """
        for one in answers: one["inputs"] = {}
        """,
    ),
    changed(
        "digests that are no text",
        "claims digests that are numbers, lists and nothing",
        """
        for one, odd in zip(answers, [0, None, [], ["0"], {}, True]):
            one["inputs"] = dict.fromkeys(one["inputs"] or ["scores"], odd)
        """,
    ),
]
