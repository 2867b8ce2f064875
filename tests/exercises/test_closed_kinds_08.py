"""Answers to lesson 8's exercises that a check once took for right, or explained badly."""

from autograder.lessons.draw import Draw
from autograder.lessons.lesson import Lesson
from tests.exercises.answers import PASSES, REJECTED, each, said, verdict_on

LESSON = Lesson("08_debugging_clinic")
EARLIER = "attention(changed)[:, :place], before[:, :place]"
TEXTS = "!= [t == text for t in range(4)]"
HEADS = "!= [h == head for h in range(n)]"
CUT = "max(0, n_key - n_query - window + 1)"
FAR = "attn_scores.amax(dim=-1, keepdim=True)"
MEAN = "(losses * counts).sum() / counts.sum()"
PLACE = "torch.arange(n_past, n_past + n)"
WEIGHTS = "attention_weights[:, place, : place + 1]"
RATIO = "(attention(second)[0, 1:] / attention(first)[0, 1:])"
BEGUN = "x = torch.randn(4, 12"
CHANGED = "argument changed"
SCALED = "return not torch.allclose(difference, torch.ones_like(difference), atol=1e-3)"
DIFFERENCE = "(healthy(x) - ill(x)).abs().max()"
CLOSE = "not torch.allclose(output, others[name], rtol=0, atol=1e-4)"
OFF = "(output - others[name])"
BY_HAND = """
    a = b = x
    for i, (right, other) in enumerate(zip(healthy.blocks, ill.blocks)):
        for name in ("norm", "attention", "feed_forward"):
            a, b = right.get_submodule(name)(a), other.get_submodule(name)(b)
            if (a - b).abs().max() > 1e-4:
                return f"blocks.{i}.{name}"
"""


def begun(by: str) -> dict[str, str]:
    """`find_leak` with a statement before all others."""
    return {BEGUN: f"{by}\n    {BEGUN}"}


# By exercise: what the answer does, edits of the solution, and what its card rests on: a known
# mistake or a rule; `REJECTED` if any will do.
ANSWERS = {
    "find_leak": [
        ("a tensor", {"True": "torch.tensor(True)", "False": "torch.tensor(False)"}, PASSES),
        ("NumPy's", {"True": "__import__('numpy').True_"}, PASSES),
        ("two texts", {"randn(4,": "randn(2,"}, PASSES),
        (
            "the first text and the last",
            {EARLIER: EARLIER.replace("[:,", "[[0, -1],")},
            "some texts only",
        ),
        (
            "no copy",
            {"before = attention(x)\n    ": "", "x.clone()": "x", "before": "attention(x)"},
            "never",
        ),
        (
            "one text changed",
            {"changed[:, place:] = torch.randn_like(x[:, place:])": "changed[0, place:] += 1"},
            "some texts only",
        ),
        (
            "equal texts",
            {
                "randn(4, 12, attention.query.in_features)": (
                    "randn(1, 12, attention.query.in_features).repeat(4, 1, 1)"
                ),
                "torch.randn_like(x[:, place:])": "2 * x[:, place:]",
            },
            "equal texts",
        ),
        ("one feature", {EARLIER: EARLIER.replace("place]", "place, 1]")}, "one feature only"),
        ("weights overwritten", begun("nn.init.eye_(attention.output.weight)"), CHANGED),
        ("train mode left", begun("attention.train().dropout = 0.0"), CHANGED),
        ("an attribute left", begun("attention.dropout = 0.0"), CHANGED),
        ("a hook left", begun("attention.register_forward_hook(lambda *_: None)"), CHANGED),
        (
            "gradients left",
            begun("attention.requires_grad_()") | {EARLIER: f"*(y.detach() for y in ({EARLIER}))"},
            CHANGED,
        ),
        ("nothing returned", {"    return False\n": ""}, "plain"),
    ],
    "find_blind_spot": [
        (
            "the first head and the last",
            {WEIGHTS: WEIGHTS.replace("[:,", "[[0, -1],")},
            "the first head only",
        ),
        (
            "itself and the first word",
            {WEIGHTS: "attention_weights[:, place, [0, place]]"},
            "wrong_decision",
        ),
    ],
    "find_mixing": [
        ("no copy", {"attention = copy.deepcopy(attention)\n": ""}, CHANGED),
        ("three texts", {"randn(4,": "randn(3,", "range(4)": "range(3)"}, PASSES),
        ("the first text and the last", {"text in range(4)": "text in (0, 3)"}, "wrong_decision"),
        (
            "the first head and the last",
            {"head in range(n)": "head in (0, n - 1)"},
            "wrong_decision",
        ),
        ("no queries", {'("query", n_heads), ': ""}, "no queries"),
        (
            "the text may stay",
            {TEXTS: "not in ([t == text for t in range(4)], [False] * 4)"},
            "what was changed may stay",
        ),
        (
            "the head may stay",
            {HEADS: "not in ([h == head for h in range(n)], n * [False])"},
            "what was changed may stay",
        ),
    ],
    "find_scale": [
        (
            "the second query and the last",
            {RATIO: RATIO.replace("1:", "[1, -1]")},
            "some queries only",
        ),
        ("sign ignored", {SCALED: SCALED.replace("difference,", "difference.abs(),")}, REJECTED),
        (
            "the mean",
            {SCALED: "return bool((difference.mean() - 1).abs() > 1e-3)"},
            "the mean of all",
        ),
        ("a d_head of 5", {"= d_head**": "= 5**"}, "false alarms"),
        ("all off", {SCALED: "return bool((difference != 1).all())"}, REJECTED),
        ("every third query", {RATIO: RATIO.replace("1:", "1::3")}, "some queries only"),
    ],
    "smallest_input": [
        (
            "texts plus words",
            """
            for total in range(2, 18):
                for batch in range(1, total):
                    for _ in range(10):
                        x = torch.randn(batch, total - batch, healthy.query.in_features)
                        if (healthy(x) - ill(x)).abs().max() > 1e-4:
                            return x
            """,
            REJECTED,
        ),
        (
            "the sum",
            {DIFFERENCE: "(healthy(x) - ill(x)).sum() / x.numel()"},
            "small differences missed",
        ),
        ("one input of each size", {"range(10)": "range(1)"}, "one input of each size"),
        ("two texts", {"range(1, words + 1)": "range(1, 3)"}, "two texts at most"),
        ("one text", {"range(1, words + 1)": "range(1, 2)"}, "one text only"),
        ("ten words", {"range(1, 17)": "range(1, 11)"}, "too few words tried"),
        ("fifteen words", {"range(1, 17)": "range(1, 16)"}, "too few words tried"),
    ],
    "first_difference": [
        ("rtol", {"rtol=0, ": ""}, "a tolerance that grows with the numbers"),
        ("rtol 0.01", {"rtol=0": "rtol=1e-2"}, "a tolerance that grows with the numbers"),
        ("0.1", {"atol=1e-4": "atol=0.1"}, "a tolerance that is too large"),
        ("equal", {CLOSE: "not torch.equal(output, others[name])"}, "no room for rounding"),
        ("last word", {CLOSE: f"{OFF}[:, -1].abs().max() > 1e-4"}, "some texts or words only"),
        ("first text", {CLOSE: f"{OFF}[0].abs().max() > 1e-4"}, "some texts or words only"),
        ("sums", {CLOSE: f"{OFF}.sum().abs() > 1e-4"}, "sums or means"),
        ("means", {CLOSE: f"{OFF}.abs().mean() > 1e-4"}, "sums or means"),
        ("by hand", BY_HAND, "called by hand"),
        ("one sign", {CLOSE: f"{OFF}.max() > 1e-4"}, "one sign only"),
    ],
    "repair_1": [
        ("no window of one", {"distance < window": "distance < max(window, 2)"}, REJECTED),
        ("below 0", {CUT: "n_key - n_query - window + 1"}, "first below 0"),
        ("too early", {CUT: "max(0, n_key - max(window, n_query))"}, "keys cut too early"),
        (
            "a wider window",
            {CUT: "max(0, n_key - (window := window + n_query - 1))"},
            "no window",
        ),
        ("−10⁹", {CUT: "max(0, n_key - window)", "-torch.inf": "-1e9"}, "NaN covered up"),
        ("no window", {CUT: "0", " & (distance < window)": ""}, "no window, and nothing cut off"),
        ("no mask", {".masked_fill(~keep, -torch.inf)": ""}, "no mask"),
        (
            "query by query",
            """
def repair_1(query, key, value, window):
    n_query, n_key, context = query.shape[-2], key.shape[-2], []
    for row, last in enumerate(range(n_key - n_query, n_key)):
        seen = slice(max(0, last - window + 1), last + 1)
        scores = query[..., row : row + 1, :] @ key[..., seen, :].mT / query.shape[-1] ** 0.5
        context.append(scores.softmax(-1) @ value[..., seen, :])
    return torch.cat(context, dim=-2)
""",
            PASSES,
        ),
    ],
    "repair_2": [
        ("all heads", {"amax(dim=-1,": "amax(dim=(-1, -2)[: attn_scores.dim() - 2],"}, REJECTED),
        ("the mean of all", {FAR: "attn_scores.mean()"}, "one number for all rows"),
        ("cut off", {FAR: "attn_scores.amax()", ").exp()": ").clamp(min=-80).exp()"}, "cut off"),
    ],
    "repair_3": [
        (
            "65 words",
            {
                "target = tokens[:, 1:]": "target = tokens[:, 1:65]",
                "logits[:, :-1]": "logits[:, : target.shape[1]]",
            },
            REJECTED,
        ),
        ("20 at most", {'reduction="none")': 'reduction="none").clamp(max=20)'}, REJECTED),
        (
            "the mean of means",
            {MEAN: "((losses * counts).sum(1) / counts.sum(1).clamp(min=1)).mean()"},
            "a mean of means",
        ),
        ("at least a target a text", {MEAN: f"{MEAN}.clamp(min=len(tokens))"}, REJECTED),
        (
            "up to the first padding",
            {"target != padding": "(target != padding).cumprod(dim=1).bool()"},
            "up to the first padding",
        ),
    ],
    "repair_4": [
        ("queries from 0", {"(query, place)": "(query, torch.arange(n))"}, "only the keys"),
        ("up to n", {PLACE: "torch.arange(n_past, n)"}, "places that end at n"),
        ("in half", {PLACE: f"{PLACE}.to(query.dtype)"}, "places in half precision"),
        ("one later", {PLACE: f"{PLACE} + 1"}, "off by one"),
    ],
}


@each(ANSWERS)
def test_an_answer_gets_what_it_should(exercise, code, expected):
    assert expected in said(exercise, code)


def test_a_search_that_finds_nothing_is_not_told_that_a_return_is_missing():
    verdict = verdict_on("find_leak", {"    return False\n": ""})
    assert "it reached no `return` that has a value" in verdict.sentence


def test_no_hidden_patient_is_written_as_the_one_shown():
    exercise = LESSON.asked["find_leak"]

    def written(seed):
        cases = [make for aspect in exercise.aspects for make in aspect.cases]
        return [make(Draw(f"{seed}/{i}"))["attention"].source for i, make in enumerate(cases)]

    shown = written("public")
    hidden = [written(seed) for seed in ("one", "another")]
    assert all(len(set(code)) == 3 for code in zip(shown, *hidden, strict=True))
