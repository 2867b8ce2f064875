"""Answers to lesson 7's exercises that a check once took for right, or explained badly."""

import pytest

from tests.exercises.answers import REJECTED, each, said, verdict_on

ROWS_HALVED = "len(table) // 2"
EARLY = "rounded too early"
FIRST_PLACE = "place[n_key - n_query :, None]"
EXPONENTS = "torch.arange(0, d_model, 2)"
BY_PLACE = "positions[:, None]"
TIMES = f"angle = {BY_PLACE} * "
ANGLE = f"{TIMES}theta"
TURNING = "def rotate"
KEPT = "angle = ANGLES.setdefault({by}, positions[:, None] * theta)"
MASKED = "if keep is not None"
QUERY = "query = rotate"
PLACES = "positions = torch.arange(x.shape[1])"
FIRST_PLACES = "vars(self).setdefault('at', torch.arange(x.shape[1]))"
NEXT = "\n        "
NO_COLUMN = "places that are not a column"
BUCKET = "return distance.clamp(0, 16) + (distance[..., None] >= edges).sum(dim=-1)"
BY_LOG2 = """
    far = 16 + (16 / 3 * torch.log2(distance.clamp(min=1) / 16)).round().long()
    return torch.where(distance < 16, distance.clamp(min=0), far.clamp(max=31))
"""
PAIR = """
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
"""
INTO_VIEWS = """
    a, b = x[..., 0::2], x[..., 1::2]
    x[..., 0::2] = a * cos - b * sin
    x[..., 1::2] = a * sin + b * cos
    return x
"""
HALF_BY_HALF = """
    d_half = x.shape[-1] // 2
    theta = base ** (-torch.arange(0, d_half, 2) / d_half)
    angle = positions[:, None] * theta
    turned = []
    for half in x.chunk(2, dim=-1):
        a, b, cos, sin = half[..., 0::2], half[..., 1::2], angle.cos(), angle.sin()
        pairs = [a * cos - b * sin, a * sin + b * cos]
        turned.append(torch.stack(pairs, dim=-1).flatten(-2))
    return torch.cat(turned, dim=-1)
"""

# By exercise: what the answer does, edits of the solution, and what its card rests on: a known
# mistake or a rule; `REJECTED` if any will do.
ANSWERS = {
    "sinusoidal_positions": [
        (
            "in float64",
            {"(n, d_model)\n": "(n, d_model, dtype=torch.float64)\n"},
            "wrong_dtype",
        ),
        ("for 64 places", {"place = torch": "n = min(n, 64)\n    place = torch"}, "wrong_shape"),
        (
            "from 2",
            {EXPONENTS: "torch.arange(2, d_model + 2, 2)"},
            "exponents that don't begin at 0",
        ),
        ("turned when square", {"return": "return positions.T if n == d_model else"}, REJECTED),
        ("again from 1000 on", {"torch.arange(n)": "(torch.arange(n) % 1000)"}, REJECTED),
        ("half-precise places", {"torch.arange(n)": "torch.arange(n).half().float()"}, REJECTED),
        ("a whole base", {"place * base": "place * int(base)"}, REJECTED),
        (
            "2j / d for column j",
            {
                EXPONENTS: "2 * torch.arange(d_model)",
                "angle.sin()": "angle[:, 0::2].sin()",
                "angle.cos()": "angle[:, 1::2].cos()",
            },
            "a speed for every column",
        ),
        ("places in a row", {"torch.arange(n)[:, None]": "torch.arange(n)"}, NO_COLUMN),
    ],
    "relative_bias": [
        ("16 rows", {"len(table) // 2": "min(8, len(table) // 2)"}, REJECTED),
        (
            "8 bits",
            {"n_query :, None]": "n_query :, None]\n    distance = distance.char()"},
            REJECTED,
        ),
        (
            "wrapped around",
            {
                "distance.clamp(-max_distance, max_distance) + max_distance": (
                    "(distance + max_distance) % len(table)"
                )
            },
            "wrapped around",
        ),
        (
            "one query is the first",
            {"distance.cl": "(distance, place[None])[n_query == 1].cl"},
            REJECTED,
        ),
        ("places in a row", {FIRST_PLACE: "place[n_key - n_query :]"}, NO_COLUMN),
        ("max_distance 8", {ROWS_HALVED: "8"}, "max_distance is always the same"),
        ("one too many", {ROWS_HALVED: "len(table) // 2 + 1"}, "max_distance is off by one"),
        ("one too few", {ROWS_HALVED: "(len(table) - 2) // 2"}, "max_distance is off by one"),
        (
            "max_distance by the words",
            {ROWS_HALVED: "n_query - 1"},
            "max_distance by the number of words",
        ),
    ],
    "t5_bucket": [
        (
            "16 bits",
            {"return distance": "distance = distance.short()\n    return distance"},
            REJECTED,
        ),
        ("at least a row", {"return distance": "return distance[..., None].flatten()"}, REJECTED),
        ("rounded by log2", {BUCKET: BY_LOG2.strip()}, "rounded"),
        ("divided by //", {BUCKET: BY_LOG2.strip().replace("/ 16)).round()", "// 16))")}, EARLY),
    ],
    "alibi_bias": [
        ("half-precise places", {"arange(n_key)": "arange(n_key).half().float()"}, REJECTED),
        ("16 words", {"* distance": "* distance.clamp(-16, 16)"}, REJECTED),
        ("128 words", {"* distance": "* distance.clamp(-128, 128)"}, REJECTED),
        (
            "the paper's slopes for 20 heads",
            {"slopes(power) + extra": "slopes(n_heads) if n_heads > 16 else slopes(power) + extra"},
            REJECTED,
        ),
        ("in float64", {"extra)\n": "extra, dtype=torch.float64)\n"}, "wrong_dtype"),
        (
            "3 words before",
            {FIRST_PLACE: "(place[:n_query] + 3 * (n_key > n_query))[:, None]"},
            "row_offset",
        ),
        ("// for /", {"(head + 1) / n": "(head + 1) // n"}, "divided by //"),
        ("0 after the query", {"* distance": "* distance.clamp(max=0)"}, "nothing after the query"),
        (
            "turned when equal",
            {"* distance": "* (distance, distance.T)[n_heads == n_key]"},
            REJECTED,
        ),
        (
            "halved from the first slope on",
            {"2 ** (-8 * (head + 1) / n)": "2 ** (-8 / n) * 0.5**head"},
            "a ratio of one half, for any number",
        ),
        ("log2 rounded", {"int(math": "round(math"}, "a power that is too large"),
        (
            "slopes as a column",
            {"slope[:, None, None]": "slope[:, None]"},
            "slopes without dimensions for the words",
        ),
        ("places in a row", {FIRST_PLACE: "place[n_key - n_query :]"}, NO_COLUMN),
    ],
    "rotate": [
        ("a whole base", {"1 / base": "1 / int(base)"}, REJECTED),
        ("six features", {"torch.arange(0, d_head, 2)": "torch.arange(0, 6, 2)"}, REJECTED),
        (
            "a single word stays",
            {"d_head = x": "if x.shape[-2] == 1:\n        return x\n    d_head = x"},
            "a single word left as it is",
        ),
        ("θ rounded", {ANGLE: f"{ANGLE}.to(x.dtype).float()"}, "angles in half precision"),
        (
            "θ rounded in bfloat16",
            {ANGLE: f"{TIMES}(theta, theta.bfloat16())[x.dtype == torch.bfloat16]"},
            "largest_difference",
        ),
        (
            "counted on from the first place",
            {BY_PLACE: "(positions[0] + torch.arange(x.shape[-2]))[:, None]"},
            "counted on from the first word's place",
        ),
        ("64 places", {BY_PLACE: "positions.clamp(max=63)[:, None]"}, "largest_difference"),
        (
            "angles kept by size",
            {TURNING: f"ANGLES = {{}}\n{TURNING}", ANGLE: KEPT.format(by="(x.shape[-2:], base)")},
            REJECTED,
        ),
        (
            "angles kept by place",
            {
                TURNING: f"ANGLES = {{}}\n{TURNING}",
                ANGLE: KEPT.format(by="(d_head, *positions.tolist())"),
            },
            REJECTED,
        ),
        ("two to four dimensions", {"d_head = x": "assert x.dim() < 5\n    d_head = x"}, REJECTED),
        ("places in a row", {ANGLE: "angle = theta * positions"}, NO_COLUMN),
        ("written into views", {PAIR.strip(): INTO_VIEWS.strip()}, "written into x"),
        (
            "written into views of a copy",
            {PAIR.strip(): "x = x.clone()\n    " + INTO_VIEWS.strip()},
            "overwritten too early",
        ),
    ],
    "rotate_halves": [
        ("six features", {"x.chunk(2, dim=-1)": "x[..., :3], x[..., 3:]"}, REJECTED),
        ("places in a row", {ANGLE: "angle = positions * theta"}, NO_COLUMN),
        ("half by half", HALF_BY_HALF, "each half by itself"),
    ],
    "to_halves": [
        ("six features", {"rows // n_heads // 2": "3"}, REJECTED),
        (
            "n_heads for d_head",
            "return weight.view(-1, n_heads, weight.shape[1]).transpose(0, 1).reshape_as(weight)",
            "n_heads for d_head",
        ),
        (
            "heads for pairs",
            {"view(n_heads, rows // n_heads // 2, 2, d_model)": "view(-1, n_heads, 2, d_model)"},
            "n_heads for d_head",
        ),
    ],
    "RotarySelfAttention": [
        (
            "NaN wiped away after softmax",
            {
                "context, attn_weights = attend(query, key, self.heads_of(self.value(x)), keep)": (
                    "scores = query @ key.mT / query.shape[-1] ** 0.5\n"
                    "        if keep is not None:\n"
                    "            scores = scores.masked_fill(~keep, -torch.inf)\n"
                    "        attn_weights = scores.softmax(dim=-1).nan_to_num()\n"
                    "        context = attn_weights @ self.heads_of(self.value(x))"
                )
            },
            REJECTED,
        ),
        (
            "a base for all",
            {"self.base": "RotarySelfAttention.base"},
            "left_by_another",
        ),
        (
            "the places of the first call",
            {QUERY: f"positions = vars(self).setdefault('at', positions){NEXT}{QUERY}"},
            "left_behind",
        ),
        ("the first call's 0, 1, 2, …", {PLACES: f"positions = {FIRST_PLACES}"}, "raised"),
        (
            "the first call's 0, 1, 2, … up to n",
            {PLACES: f"positions = {FIRST_PLACES}[: x.shape[1]]"},
            REJECTED,
        ),
        (
            "the mask of the first call",
            {MASKED: "keep = vars(self).setdefault('keep', keep)" + NEXT + MASKED},
            "left_behind",
        ),
        (
            "a mask up to 64 words",
            {QUERY: f"keep = (None, keep)[x.shape[1] <= 64]{NEXT}{QUERY}"},
            REJECTED,
        ),
        ("64 places", {PLACES: f"{PLACES}[:64]"}, "raised"),
        (
            "counted on from the first place",
            {QUERY: f"{PLACES} + positions[0]{NEXT}{QUERY}"},
            "positions ignored",
        ),
        ("sorted places", {QUERY: f"positions = positions.sort()[0]{NEXT}{QUERY}"}, REJECTED),
        (
            "no mask for one word",
            {MASKED: f"keep = (keep, None)[x.shape[1] == 1]{NEXT}{MASKED}"},
            REJECTED,
        ),
        ("a mask told by its first size", {"keep.dim() == 3": "len(keep) == len(x)"}, REJECTED),
        ("keys by query", {"self.key(x)": "self.query(x)"}, "one layer for two"),
        (
            "n_heads last",
            {"(self.n_heads, -1)": "(-1, self.n_heads)"},
            "sizes of heads and features swapped",
        ),
        (
            "n_heads last, then first",
            {"(self.n_heads, -1)).transpose(1, 2)": "(-1, self.n_heads)).permute(0, 3, 1, 2)"},
            "heads interleaved",
        ),
    ],
}


@each(ANSWERS)
def test_an_answer_gets_what_it_should(exercise, code, expected):
    assert expected in said(exercise, code)


@pytest.mark.parametrize(
    "edit",
    [
        {f"place - {FIRST_PLACE}": f"{FIRST_PLACE} - place"},
        {FIRST_PLACE: "place[:n_query, None]"},
        {"clamp(-max_distance, max_distance)": "clamp(min=-max_distance)"},
        {".permute(2, 0, 1)": ""},
    ],
)
def test_wrong_rows_of_a_table_still_have_its_gradients(edit):
    verdict = verdict_on("relative_bias", edit)
    held = {aspect.name for aspect in verdict.aspects if aspect.held}
    assert not verdict.passed and "gradients reach the table" in held
