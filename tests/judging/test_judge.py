"""The judge names known mistakes and explains unknown ones."""

import dataclasses
import math

import pytest
import torch

from autograder.asking.answer import GRADIENT, OWN_BACKWARD, Answer
from autograder.asking.problem import Place, Problem, ProblemKind
from autograder.judging.compare import Comparison
from autograder.judging.differences.words import name_dims
from autograder.judging.explain_difference import locate_difference, recognize_difference
from autograder.judging.finding import General
from autograder.judging.footprint import footprint
from autograder.judging.form import Form
from autograder.judging.judge import blame, judge, unfinished
from autograder.judging.judgment import MOST_PROBLEMS
from autograder.judging.key import AnswerKey, AspectKey, CaseKey, MistakeKey
from autograder.lessons.lesson import Lesson
from autograder.notebook.ask_and_judge import judge_answer
from autograder.references.store import find

SIZES = {"n_query": 3, "n_key": 5, "d_k": 4, "d_v": 6}
torch.manual_seed(0)
EXPECTED = torch.randn(2, 3, 5)
WEIGHTS = EXPECTED.softmax(-1)
FIVE_ROWS, SENTENCES = torch.randn(2, 5, 5), torch.randn(4, 3, 5)
CAUSAL_ROWS = FIVE_ROWS.tril()
ONLY_TWO = torch.tensor([1.0, 0.0, 1.0, 0.0])[:, None, None] * torch.rand(4, 3, 5)
SQUARE = torch.randn(2, 4, 4).softmax(-1)
CAUSAL = SQUARE.tril() / SQUARE.tril().sum(-1, keepdim=True)
SUMS = torch.tensor([1.0, 2.0, 4.0, 8.0])
OTHER_SUMS = SQUARE * SUMS[:, None] / SUMS  # rows divided by the sums of the columns


def explain_difference(comparison, elsewhere=()):
    found = recognize_difference(comparison, elsewhere)
    return [found] if found else locate_difference(comparison)


def what_is_said(comparison):
    return " ".join(found.sentence for found in explain_difference(comparison))


def explain(got, expected=EXPECTED, dims="batch n_query n_key"):
    return what_is_said(Comparison("y", got, expected, 1e-5, dims, SIZES))


def with_other(value):
    got = EXPECTED.clone()
    got[1, 2, 3] = value
    return got


def with_infinity(value):
    return torch.tensor([[value, -math.inf], [-math.inf, value - 0.5]])


def only_first(value):
    got = torch.zeros_like(value)
    got[:, 0] = value[:, 0]
    return got


def only_last(value):
    got = value + torch.arange(5.0)
    got[:, -1] = value[:, -1]
    return got


MANY = torch.arange(5000.0).reshape(100, 50) / 1000
SMALL = torch.full_like(MANY, 3e-4).cumsum(0).clamp(max=6e-4)  # a few times the tolerance


def last_row(rows):
    return torch.arange(2.0 * rows + 2).reshape(rows + 1, 2) ** 2


def last_row_other(rows):
    got = last_row(rows)
    got[-1, -1] += 1
    return got


def one_row_of_zeros(weights):
    """Zeros in one row, where another of the two rows of a sentence has all the weight."""
    got = torch.zeros_like(weights)
    got[0, 0] = weights[0, 0]
    return got


@pytest.mark.parametrize(
    ("got", "expected", "words"),
    [
        (EXPECTED.transpose(1, 2), EXPECTED, "dimensions in another order"),
        (
            torch.ones(4, 3, 5),
            EXPECTED,
            "(batch=2, n_query=3, n_key=5); it has (4, 3, 5). 4 is d_k.",
        ),
        (torch.ones(2, 3), EXPECTED, "it has (2, 3)."),
        (EXPECTED.double(), EXPECTED, "dtype float32; it has float64"),
        (torch.full((3, 3), -math.inf).triu(), torch.ones(3, 3).tril() == 1, "dtype bool; it has"),
        (with_other(math.nan), EXPECTED, "`y` holds NaN in 1 of 30 places, first at (1, 2, 3)"),
        (EXPECTED / 0, EXPECTED, "infinity in 30 of 30 places"),
        (EXPECTED * 2, EXPECTED, "`y` holds the right values times 2, which is √d_k here"),
        (EXPECTED / math.sqrt(5), EXPECTED, "which is 1/√n_key here"),
        (EXPECTED * -1, EXPECTED, "times -1."),
        (
            EXPECTED + EXPECTED[:, :, :1],
            EXPECTED,
            "Each row of `y` is off by a constant of its own.",
        ),
        (
            EXPECTED[0, 0] + 1,
            EXPECTED[0, 0],
            "Each value of `y` is off by the same number, +1.",
        ),
        (EXPECTED.roll(1, 1), EXPECTED, "has the right rows, but in the wrong order"),
        (
            torch.cat([EXPECTED[:, :1], torch.randn(2, 2, 5)], 1),
            EXPECTED,
            "right in row 0 of 3, and wrong in rows 1, 2",
        ),
        (torch.rand(2, 3, 5), WEIGHTS, "should sum to 1; one of yours sums to"),
        (EXPECTED.softmax(-1) ** 2, WEIGHTS, "should sum to 1; one of yours sums to"),
        (EXPECTED.flatten().softmax(0).view(2, 3, 5), WEIGHTS, "divide each row by its sum."),
        (torch.rand(30).softmax(0).view(2, 3, 5), WEIGHTS, "All your weights together sum to 1"),
        (one_row_of_zeros(WEIGHTS), WEIGHTS, "one of yours sums to 0"),
        (OTHER_SUMS, SQUARE, "`y` is divided by the sums of other rows: a sum has lost"),
        (EXPECTED.floor(), EXPECTED, "`y` is rounded down to whole numbers. `//` does that"),
        (torch.tensor(6.8), torch.tensor(1.7), "`y` is the right number times 4, which is d_k"),
        (torch.tensor(0.34), torch.tensor(1.7), "divided by 5, which is n_key here."),
        (torch.tensor(1.3), torch.tensor(1.7), "`y` is 1.3 where 1.7 should be."),
        (EXPECTED.exp(), WEIGHTS, "`y` needs one more step: divide each row by its sum."),
        (CAUSAL, SQUARE, "`y` is 0 above the diagonal. That hides all that comes later"),
        (EXPECTED.transpose(1, 2).reshape(2, 3, 5), EXPECTED, "the right numbers, in the wrong"),
        (EXPECTED.bfloat16().float(), EXPECTED, "is almost right: at"),
        (MANY + SMALL, MANY, "`y` is almost right"),
        (MANY + SMALL[:, :1], MANY, "`y` is almost right"),
        (MANY.view(100, 25, 2).flip(-1).view(100, 50), MANY, "`y` is almost right"),
        (torch.randn(2, 3, 5).softmax(-1), WEIGHTS, "30 of 30 values are off, most of all at"),
        (WEIGHTS.softmax(-1), WEIGHTS, "`y` went through softmax twice."),
        (EXPECTED.softmax(1), WEIGHTS, "Your weights sum to 1 along `n_query`"),
        ((EXPECTED * 2).softmax(-1), WEIGHTS, "right scores times 2, which is √d_k here."),
        ((EXPECTED / 4).softmax(-1), WEIGHTS, "scores times 0.25, which is 1/d_k here."),
        (WEIGHTS / math.sqrt(5) + 1e-3, WEIGHTS, "one of yours sums to 0.452"),
        (EXPECTED * 2 / 7, EXPECTED, "as if divided by 7, not by √d_k = 2."),
        (
            EXPECTED.cumsum(1),
            EXPECTED,
            "all those before it along `n_query`: is a running sum",
        ),
        (only_first(EXPECTED), EXPECTED, "right at index 0 of `n_query`, and 0 elsewhere"),
        (
            only_last(CAUSAL_ROWS),
            CAUSAL_ROWS,
            "right in row 4 of 5, and wrong in rows 0 to 3. The last row is the only one that",
        ),
        (only_last(EXPECTED), EXPECTED, "is right in row 2 of 3, and wrong in rows 0, 1."),
        (
            SENTENCES + ONLY_TWO,
            SENTENCES,
            "`y` is right at indices 1, 3 of `batch`, and wrong at ",
        ),
        (WEIGHTS < 0.2, WEIGHTS >= 0.2, "True and False exchanged"),
        (torch.ones(2, 3, 9), EXPECTED, "it has (2, 3, 9)."),
        (torch.ones(2, 5, 5), EXPECTED, "it has (2, 5, 5)."),
        (EXPECTED.transpose(1, 2).double(), EXPECTED, "dimensions in another order"),
        (EXPECTED.flatten(), EXPECTED, "it has (30,)."),
        (with_other(-math.inf), EXPECTED, "infinity in 1 of 30 places, first at (1, 2, 3)"),
        (EXPECTED + EXPECTED, with_other(math.nan), "at (1, 2, 3): 1.046 where nan should be"),
        (with_infinity(3.0), with_infinity(1.0), "2 of 4 values are off, most of all at (0, 0)"),
        (EXPECTED * 4, EXPECTED, "times 4, which is d_k here"),
        (EXPECTED / 6, EXPECTED, "times 0.1667, which is 1/d_v here"),
        (EXPECTED * 0.0625, EXPECTED, "times 0.0625."),
        (EXPECTED * 7, EXPECTED, "the right values times 7."),
        (torch.zeros(2, 3, 5), EXPECTED, "`y` is the same everywhere: 0."),
        (EXPECTED + 1.0, torch.zeros(2, 3, 5), "30 of 30 values are off"),
        (with_other(7.0), EXPECTED, "right in rows 0, 1 of 3, and wrong in row 2."),
        (last_row_other(4), last_row(4), "right in rows 0 to 3 of 5, and wrong in row 4."),
        (last_row_other(5), last_row(5), "right in rows 0 to 4 of 6, and wrong in row 5."),
        (EXPECTED[0, :, :1] + 1, EXPECTED[0, :, :1], "3 of 3 values are off"),
        (EXPECTED[:, [0, 0, 2]], EXPECTED, "right in rows 0, 2 of 3"),
        (EXPECTED, EXPECTED[:, [0, 0, 2]], "right in rows 0, 2 of 3"),
        (torch.tensor(0.0), torch.tensor(1.0), "`y` is 0 where 1 should be."),
        (torch.tensor([[0, 0], [0, 1]]), torch.tensor([[1, 0], [0, 1]]), "right in row 1 of 2"),
        (
            torch.tensor([1, 2, 5]),
            torch.tensor([1, 2, 4]),
            "One value is off, at (2,): 5 where 4 should be.",
        ),
        (torch.tensor(True), torch.tensor(False), "You return True, where False is right."),
        (torch.tensor(1), torch.tensor(2), "`y` is 1 where 2 should be."),
        (torch.tensor(1.5), torch.tensor(2.5), "`y` is 1.5 where 2.5 should be."),
        (torch.tensor([1, 0.69992]), torch.tensor([1, 0.69988]), "0.69992 where 0.69988 should be"),
        (torch.tensor(True), torch.tensor(1), "dtype int64; it has bool"),
        (torch.tensor([True, False, True]), torch.tensor([False] * 3), "2 of 3 values are off"),
        (EXPECTED.flip(2), EXPECTED, "right, but in reverse order along `n_key`."),
        (EXPECTED[:1].expand(2, 3, 5), EXPECTED, "the same all along `batch`: right for the first"),
        (EXPECTED.abs(), EXPECTED, "right but for the signs: negative values have become"),
        (EXPECTED.relu(), EXPECTED, "is positive, and 0 where it should be negative"),
        (EXPECTED, WEIGHTS, "`y` is not weights yet: their softmax would be right"),
        (EXPECTED, EXPECTED.exp(), "`y` is the logarithm of what it should be"),
        # A rule must not speak where what it says doesn't hold.
        (torch.tensor([1, 0, 2, 3, 4, 5]), torch.arange(6), "2 of 6 values are off"),
        (torch.tensor([1, 3, 6, 10]), torch.arange(1, 5), "3 of 4 values are off"),
        (torch.tensor([[4.0, -2.0]]), torch.tensor([[2.0, -1.0]]), "the right values times 2"),
        (only_first(WEIGHTS), WEIGHTS, "one of yours sums to 0"),
        (EXPECTED.softmax(1), EXPECTED, "30 of 30 values are off"),
        (torch.randn(2, 4, 4).softmax(-1), SQUARE, "32 of 32 values are off"),
    ],
)
def test_differences_are_explained(got, expected, words):
    assert words in explain(got, expected)


def test_a_row_that_is_right_by_chance_is_no_finding():
    assert explain(only_last(FIVE_ROWS), FIVE_ROWS).endswith("wrong in rows 0 to 3.")
    got = FIVE_ROWS + torch.arange(1.0, 6.0)
    got[:, 2] = FIVE_ROWS[:, 2]
    assert explain(got, FIVE_ROWS).startswith("40 of 50 values are off")


def test_a_power_of_2_is_explained_by_the_number_of_features_alone():
    sizes = {"n_heads": 2, "d": 4}
    said = [
        what_is_said(Comparison("y", EXPECTED * 0.5, EXPECTED, 1e-5, "", each))
        for each in (sizes, sizes | {"d_k": 4})
    ]
    assert said[0].endswith("times 0.5.") and said[1].endswith("which is 1/√d_k here.")


@pytest.mark.parametrize(
    ("dims", "sizes", "is_said"),
    [
        ("batch n_query n_key", {"d_k": 4}, True),
        ("batch n_query n_key", {"d_k": 4, "d_v": 4}, False),
        ("", {"d_k": 4}, False),
    ],
    ids=["one dimension", "one of two", "none of the inputs' dimensions"],
)
def test_a_wrong_size_is_blamed_on_one_dimension_alone(dims, sizes, is_said):
    compared = Comparison("y", torch.ones(4, 3, 5), EXPECTED, 1e-5, dims, sizes)
    assert ("4 is d_k." in what_is_said(compared)) == is_said


def test_one_too_few_is_no_dimension():
    compared = Comparison(
        "y", torch.ones(2, 3, 4), EXPECTED, 1e-5, "batch n_query n_key", {"d_k": 4}
    )
    assert "4 is d_k." not in what_is_said(compared)


def test_a_cause_that_fits_one_case_only_is_an_accident():
    row = torch.arange(1.0, 5.0)
    example = Comparison(
        "y", torch.stack([row, row + 4]) - row**2, torch.stack([row, row + 4]), 1e-5, "", {}
    )
    others = [
        Comparison("y", got, EXPECTED, 1e-5, "", {})
        for got in (EXPECTED.flip(0), EXPECTED.flip(1), EXPECTED[:, :2])  # the last tells nothing
    ]
    said = [explain_difference(example, elsewhere)[0].rule for elsewhere in ((), [example], others)]
    assert said == ["same_vector_added", "same_vector_added", "largest_difference"]


def test_nothing_is_a_size_too():
    sizes = SIZES | {"n_earlier": 0}
    assert "times 3, which is" in what_is_said(
        Comparison("y", 3 * EXPECTED, EXPECTED, 1e-5, "", sizes)
    )


def test_a_fact_of_one_case_is_said():
    nan = Comparison("y", with_other(math.nan), EXPECTED, 1e-5, "", {})
    others = [Comparison("y", EXPECTED.flip(i), EXPECTED, 1e-5, "", {}) for i in (0, 1)]
    assert explain_difference(nan, others)[0].rule == "holds_nan"


@pytest.mark.parametrize(
    ("exercise", "mistake"),
    [("merge_heads", "heads in reverse order"), ("split_heads", "the first head only")],
)
def test_no_cause_is_read_from_the_numbers_of_an_example(exercise, mistake):
    """They rise by 1, so that many a wrong place looks like something added."""
    lesson, reference = Lesson("03_multi_head"), find(exercise)
    variant = next(m for m in lesson.mistakes(lesson.asked[exercise]) if m.name == mistake)
    answer = lesson.namespace({exercise: variant.variants[0]})[exercise]
    unknown = dataclasses.replace(reference.keys[exercise], mistakes=[])
    verdict = judge_answer(answer, reference.questions[exercise], unknown)
    assert not {"same_vector_added", "too_few_digits"} & {*verdict.rules}


def test_a_backward_pass_of_ones_own_breaks_no_path():
    gradient, facts = GRADIENT + "key", {OWN_BACKWARD: torch.tensor(True), "y": EXPECTED}
    got = EXPECTED + torch.rand(2, 3, 5)
    said = [
        explain_difference(Comparison(gradient, got, EXPECTED, 1e-5, "", {}, others=others))
        for others in ({}, facts)
    ]
    assert [[found.rule for found in each][1:] for each in said] == [[General.BROKEN_PATH], []]


def test_float32_on_the_way_of_float64_is_recognized():
    expected = EXPECTED.double() / 3
    said = what_is_said(Comparison("y", expected.float().double(), expected, 1e-12, "", {}))
    assert "right to about 7 digits, and the inputs are float64" in said


def test_only_the_nearest_numbers_are_rounded():
    expected = torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]) / 7
    said = [
        what_is_said(Comparison("y", got, expected, 1e-6, "", {}))
        for got in (expected.round(decimals=3), expected.round(decimals=3).clamp(min=1e-3))
    ]
    assert "All numbers are rounded to 3 decimals." in said[0]
    assert "rounded" not in said[1]


def test_zeros_are_not_said_to_belong_elsewhere():
    others = {"gradient of key": torch.zeros_like(EXPECTED), "gradient of value": EXPECTED}
    compared = Comparison(
        "gradient of value", torch.zeros_like(EXPECTED), EXPECTED, 1e-6, "", {}, others=others
    )
    assert "0 everywhere" in what_is_said(compared)


def test_each_false_fact_has_its_own_sentence():
    false, true = torch.tensor(False), torch.tensor(True)
    said = what_is_said(Comparison("untouched", false, true, 0.0, "", {}))
    assert said == "The model that you were given has changed. Change a copy."


@pytest.mark.parametrize(("chosen", "words"), [(0, "Cats purr."), (1, "Dogs"), (3, "is 3 where")])
def test_a_wrong_choice_is_explained(chosen, words):
    choices = ["Cats purr. This one doesn't.", "Dogs bark. This one doesn't.", "Birds sing."]
    said = what_is_said(
        Comparison("y", torch.tensor(chosen), torch.tensor(2), 0.0, "", {}, choices=choices)
    )
    assert words in said


def test_rows_in_another_order_may_have_to_be_equal():
    said = what_is_said(
        Comparison("y", EXPECTED.roll(1, 1), EXPECTED, 0.0, "batch n_query n_key", SIZES)
    )
    assert "has the right rows, but in the wrong order" in said


def test_an_output_without_a_name_is_the_result():
    zeros = torch.zeros(2)
    said = what_is_said(Comparison("", zeros.double(), zeros, 0.0, "n", SIZES))
    assert said.startswith("The result should have dtype float32; it has float64.")


@pytest.mark.parametrize(
    ("got", "right"),
    [
        (torch.tensor([1.0, 2.0 + 5e-6]), True),
        (torch.tensor([1.0, 2.0 + 5e-5]), False),
        (torch.tensor([1.0, 2.0]).double(), False),
        (torch.tensor([[1.0, 2.0]]), False),
        (torch.tensor([1.0, math.nan]), False),
    ],
)
def test_an_output_is_right_if_form_and_values_fit(got, right):
    expected = torch.tensor([1.0, 2.0])
    assert Comparison("y", got, expected, 1e-5, "n", {}).right == right
    near = Comparison("y", got, expected, 1e-5, "n", {}, most_error=1e-9)
    assert near.right == (near.error <= 1e-9)


def test_the_error_is_a_mean_of_squares_or_infinite():
    expected = torch.tensor([1.0, 2.0])

    def error(*got):
        return Comparison("y", torch.tensor(got), expected, 0.0, "n", {}).error

    assert error(1.0, 2.0) == 0.0
    assert error(1.0, 4.0) == 2.0
    assert error(1.0, math.nan) == error(1.0) == error(1.0, math.inf) == math.inf


def test_whole_numbers_have_no_tolerance():
    expected = torch.tensor([1, 2])
    assert Comparison("y", expected.clone(), expected, 5.0, "n", {}).right
    assert not Comparison("y", expected + 1, expected, 5.0, "n", {}).right


def test_nan_is_right_where_nan_is_expected():
    expected = torch.tensor([1.0, math.nan, -math.inf])
    assert Comparison("y", expected.clone(), expected, 0.0, "n", {}).right


@pytest.mark.parametrize(
    ("shape", "dims", "words"),
    [
        ((2, 3), "batch n", "(batch=2, n=3)"),
        ((7, 2, 3), "*batch n", "(batch=7, batch=2, n=3)"),
        ((3,), "*batch n", "(n=3)"),
        ((3, 4, 5), "n d", "(3, 4, 5)"),
    ],
)
def test_dimensions_are_named(shape, dims, words):
    assert name_dims(shape, dims) == words


def right_answers(key):
    return [Answer(dict(case.expected)) for case in key.cases]


def test_partial_credit_by_outputs():
    key = find("simple_attention").keys["simple_attention"]
    answers = right_answers(key)
    answers[1] = Answer(
        answers[1].tensors | {"context": torch.zeros_like(key.cases[1].expected["context"])}
    )
    verdict = judge(key, answers)
    assert [aspect.held for aspect in verdict.aspects] == [True, False, True, True]
    assert (verdict.points, verdict.max_points) == (4, 6)
    assert verdict.exhibit.output == "context"


def test_an_answer_without_an_output_is_wrong():
    key = find("simple_attention").keys["simple_attention"]
    answers = [Answer({"context": case.expected["context"]}) for case in key.cases]
    assert judge(key, answers).points == 0


def test_no_inputs_are_shown_if_nothing_was_called():
    key = find("softmax").keys["softmax"]
    verdict = judge(
        key, [Answer(problem=Problem(ProblemKind.NOT_RUN, "it was torn."))] * len(key.cases)
    )
    assert verdict.exhibit is None
    assert verdict.sentence == "The check of `softmax` did not run: it was torn."


def test_the_number_of_answers_must_fit():
    key = find("softmax").keys["softmax"]
    with pytest.raises(ValueError, match="cases"):
        judge(key, right_answers(key)[1:])


def test_a_hidden_case_shows_no_tensors():
    key = find("softmax").keys["softmax"]
    hidden = [dataclasses.replace(case, hidden=True) for case in key.cases]
    key = dataclasses.replace(key, cases=hidden, mistakes=[])
    verdict = judge(
        key, [Answer({"weights": torch.zeros_like(c.expected["weights"])}) for c in hidden]
    )
    assert verdict.exhibit.hidden
    assert verdict.exhibit.expected is verdict.exhibit.got is None
    assert verdict.sentence.startswith("It is right on the cases that the notebook shows")


def test_a_fresh_case_is_shown_in_full():
    key = find("softmax").keys["softmax"]
    answers = [
        Answer({"weights": torch.zeros_like(case.expected["weights"])}) if case.fresh else right
        for case, right in zip(key.cases, right_answers(key), strict=True)
    ]
    verdict = judge(dataclasses.replace(key, mistakes=[]), answers)
    assert verdict.exhibit.got is not None and not verdict.exhibit.hidden
    assert verdict.sentence.startswith("It is right on the cases that the notebook shows")


def test_a_public_case_is_shown_before_a_hidden_one():
    key = find("softmax").keys["softmax"]
    cases = [dataclasses.replace(case, hidden=i in (1, 3)) for i, case in enumerate(key.cases)]
    key = dataclasses.replace(key, cases=cases)
    answers = [Answer({"weights": torch.rand_like(c.expected["weights"])}) for c in cases]
    assert not judge(key, answers).exhibit.hidden


def test_an_answer_that_builds_on_an_unfinished_one_says_so():
    key = find("softmax").keys["softmax"]
    wrong = judge(key, [Answer({"weights": torch.zeros(3)}) for _ in key.cases])
    blamed = blame(wrong, ["split_heads"])
    assert blamed.sentence == "Fix `split_heads` first: `softmax` builds on it."
    assert (blamed.points, blamed.mistake, blamed.rules) == (wrong.points, "", ())
    assert blamed.blamed_on == ("split_heads",)
    assert blame(wrong, []) is wrong
    right = judge(key, right_answers(key))
    assert blame(right, ["split_heads"]) is right


def test_an_output_may_be_judged_by_its_error():
    key = find("query_scores").keys["query_scores"]
    cases = [dataclasses.replace(case, most_error={"scores": 0.01}) for case in key.cases]
    key = dataclasses.replace(key, cases=cases, mistakes=[])

    def off_by(gap):
        off = [c.expected | {"scores": c.expected["scores"] + gap} for c in cases]
        return judge(key, list(map(Answer, off)))

    assert off_by(0.09).passed
    assert (
        "mean squared error of `scores` is 0.0121; it may be at most 0.01" in off_by(0.11).sentence
    )
    assert off_by(float("nan")).points == 0


def test_a_weight_that_misses_its_goal_is_named():
    expected = torch.eye(3)
    got = torch.tensor([[0.9, 0.1, 0.0], [0.0, 1.0, 0.0], [0.8, 0.0, 0.2]])

    def said(weights):
        return what_is_said(Comparison("w", weights, expected, 0.0, "n n", {}, most_error=0.001))

    assert said(got) == "Word 2 gives word 0 0.80 of its attention; 0.00 would be right."
    assert said(2 * got).startswith("Each row of weights should sum to 1; one of yours sums to 2")


# A small key for one exercise: cases with a vector, a bool or an error, some of them hidden.


def case(value=None, raises="", hidden=False, **more):
    facts = {"label": "", "shapes": {}, "sizes": {}, "most_error": {}} | more
    facts = {"dropout": None, "form": Form.PLAIN} | facts
    expected = {} if value is None else {"y": torch.as_tensor(value)}
    tolerance = {"y": 1e-5} if expected else {}
    return CaseKey(
        expected=expected, tolerance=tolerance, raises=raises, fresh=False, hidden=hidden, **facts
    )


def small_key(*cases, mistakes=(), aspects=None):
    aspects = aspects or [AspectKey("all", 2, list(range(len(cases))), [])]
    return AnswerKey("f", "01", {"y": "n"}, list(cases), aspects, list(mistakes), [], [], ["kept"])


def gives(*values):
    return [Answer({"y": torch.as_tensor(value)}) for value in values]


def known(name, *values):
    return MistakeKey(name, f"It is {name}.", [[footprint(answer) for answer in gives(*values)]])


ONES, TWOS, THREES = [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]
RAISED = Answer(problem=Problem(ProblemKind.RAISED, "ValueError: too long", Place(1)))


def test_right_cases_are_counted_separately():
    key = small_key(case(ONES), case(ONES), case(ONES, hidden=True), case(TWOS, hidden=True))
    [found] = judge(key, gives(ONES, TWOS, ONES, TWOS)).aspects
    assert (found.name, found.points, found.held) == ("all", 2, False)
    assert (found.public.right, found.public.of) == (1, 2)
    assert (found.hidden.right, found.hidden.of) == (2, 2)


def test_a_right_answer_needs_no_sentence():
    key = small_key(case(ONES), mistakes=[known("a", ONES)])
    verdict = judge(key, gives(ONES))
    assert (verdict.points, verdict.passed, verdict.answered) == (2, True, True)
    assert (verdict.sentence, verdict.mistake, verdict.exhibit) == ("", "", None)
    assert (verdict.exercise, verdict.lesson, verdict.problems) == ("f", "01", ())


def test_an_exception_may_be_the_right_answer():
    key = small_key(case(raises="ValueError"))
    right = judge(key, [RAISED])
    assert right.passed and right.problems == ()
    other = judge(key, [Answer(problem=Problem(ProblemKind.RAISED, "TypeError: no"))])
    assert (
        other.sentence == "`f` should raise ValueError here. The code stopped with TypeError: no."
    )
    assert not judge(key, [Answer(problem=Problem(ProblemKind.TIME, "ValueError"))]).passed
    silent = judge(key, gives(ONES))
    assert "should raise ValueError here; it raised nothing" in silent.sentence
    assert silent.problems == ()


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (
            Problem(ProblemKind.RAISED, "AssertionError"),
            "`assert` raises AssertionError: write `if …: raise",
        ),
        (Problem(ProblemKind.TYPE, "None"), "should raise ValueError here; it returned None."),
        (
            Problem(ProblemKind.COUNT, "None instead of (y, z)"),
            "it returned None instead of (y, z).",
        ),
        (Problem(ProblemKind.TIME, "10"), "does a loop never end?"),
    ],
)
def test_other_results_where_an_exception_is_right(problem, words):
    verdict = judge(small_key(case(raises="ValueError")), [Answer(problem=problem)])
    assert words in verdict.sentence and verdict.recognized


KEPT = {"y": torch.ones(2), "kept": torch.ones(2)}


def key_with_kept(*outputs):
    """A key with one case for each aspect, which counts these outputs."""
    aspects = [AspectKey(str(n), 1, [n], list(names)) for n, names in enumerate(outputs)]
    cases = [
        dataclasses.replace(case(ONES), expected=KEPT, tolerance=dict.fromkeys(KEPT, 1e-5))
        for _ in outputs
    ]
    return small_key(*cases, aspects=aspects)


@pytest.mark.parametrize("fault", ["lacking", "wrong"])
def test_a_wrong_attribute_costs_one_aspect(fault):
    def held(*outputs, at=None):
        key = key_with_kept(*outputs)
        faults = {
            "lacking": Answer(
                {"y": KEPT["y"]}, lacks={"kept": Problem(ProblemKind.ATTRIBUTE, "kept")}
            ),
            "wrong": Answer(KEPT | {"kept": torch.zeros(2)}),
        }
        answers = [faults[fault] if at in (None, n) else Answer(KEPT) for n in range(len(outputs))]
        return [aspect.held for aspect in judge(key, answers).aspects]

    assert held([], ["kept"], []) == [True, False, True]  # the one about it
    assert held([], ["y"], []) == [False, True, True]  # else the first
    assert held([], ["kept"], [], at=2) == [True, True, False]  # where it is wrong


def test_another_fault_beside_a_wrong_attribute_still_counts():
    both = Answer({"y": torch.zeros(2), "kept": torch.zeros(2)})
    verdict = judge(key_with_kept([], ["kept"]), [both, both])
    assert [aspect.held for aspect in verdict.aspects] == [False, False]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("self.w", "The code reads the notebook's `w`, not the module's own: `self.w`. "),
        ("words", "The code reads the notebook's `words`, the same for every call"),
    ],
)
def test_reading_the_notebook_is_pointed_out(name, words):
    wrong = judge(small_key(case(ONES)), [Answer(gives(TWOS)[0].tensors, borrowed=(name,))])
    assert wrong.sentence.startswith(words) and wrong.recognized
    right = judge(small_key(case(ONES)), [Answer(gives(ONES)[0].tensors, borrowed=(name,))])
    assert right.passed and right.sentence == ""


def test_failing_only_in_a_second_call_is_pointed_out():
    verdict = judge(small_key(case(ONES), case(TWOS, form=Form.AGAIN)), gives(ONES, ONES))
    assert verdict.sentence.startswith(
        "The first call is right, and a second one with other numbers is not"
    )
    assert verdict.recognized


def test_failing_only_with_dropout_is_pointed_out():
    values = torch.tensor([0.3, -1.2, 2.5]), torch.tensor([0.9, 0.4, -0.8])
    verdict = judge(small_key(case(ONES), case(values[0], dropout=0.5)), gives(ONES, values[1]))
    assert verdict.sentence.startswith("It is right without dropout and wrong with it")


def test_unwanted_dropout_is_pointed_out():
    key = small_key(case(ONES), case(THREES, dropout=0.0), case(TWOS, dropout=0.5))
    for answers in ((ONES, TWOS, THREES), (ONES, TWOS, TWOS)):
        said = judge(key, gives(*answers)).sentence
        assert "wrong in train mode, although `dropout` is 0 and nothing" in said
    assert "train mode" not in judge(key, gives(TWOS, TWOS, THREES)).sentence


@pytest.mark.parametrize("shown", ["again", "gradient", "result"])
def test_a_first_call_and_a_result_are_shown_first(shown):
    ones, twos = torch.tensor(ONES), torch.tensor(TWOS)
    both = {"y": ones, "gradient of x": ones}
    cases = [
        case(TWOS, form=Form.AGAIN, label="again"),
        dataclasses.replace(case(ONES, label="gradient"), expected=both),
        case(THREES, label="result"),
    ]
    aspects = [AspectKey("all", 2, [0, 1], []), AspectKey("more", 1, [2], [])]
    gradient = ones if shown == "again" else twos
    last = THREES if shown != "result" else ONES
    answers = [*gives(ONES), Answer(both | {"gradient of x": gradient}), *gives(last)]
    assert judge(small_key(*cases, aspects=aspects), answers).exhibit.label == shown


@pytest.mark.parametrize(
    ("other", "named"),
    [("query.weight", "`query.weight`"), (f"{GRADIENT}query", "the gradient of `query`")],
)
def test_one_output_where_another_belongs_is_named(other, named):
    ones, twos = torch.tensor(ONES), torch.tensor(TWOS)
    expected = {other: ones, "key.weight": twos}
    key = small_key(dataclasses.replace(case(ONES), expected=expected))
    verdict = judge(key, [Answer({other: ones, "key.weight": ones})])
    assert verdict.sentence == f"`key.weight` holds what belongs in {named}."


def test_a_wrong_attribute_may_explain_a_wrong_result():
    weights = torch.tensor([[0.2, 0.8], [0.6, 0.4]])
    expected = {"y": torch.randn(2, 3), "kept": weights}
    key = small_key(dataclasses.replace(case(ONES), expected=expected))
    aspect = AspectKey("result", 1, [0], ["y"])
    key = dataclasses.replace(key, aspects=[aspect])
    wrong = Answer({"y": torch.randn(2, 3), "kept": weights.softmax(-1)})
    assert judge(key, [wrong]).sentence.startswith("`kept` went through softmax twice.")


def test_another_message_of_the_right_error_does_not_hide_a_mistake():
    slip = known("a slip", TWOS, TWOS)
    raised = Problem(ProblemKind.RAISED, "ValueError: as the solution says it")
    variants = [[*slip.variants[0][:1], footprint(Answer(problem=raised))]]
    slip = dataclasses.replace(slip, variants=variants)
    key = small_key(case(ONES), case(raises="ValueError"), mistakes=[slip])
    own = Answer(problem=Problem(ProblemKind.RAISED, "ValueError: in other words"))
    assert judge(key, [*gives(TWOS), own]).mistake == "a slip"
    silent = footprint(Answer(problem=Problem(ProblemKind.TYPE, "None")))
    slip = dataclasses.replace(slip, variants=[[*slip.variants[0][:1], silent]])
    assert judge(dataclasses.replace(key, mistakes=[slip]), [*gives(TWOS), own]).mistake == ""


def test_a_mistake_that_would_show_elsewhere_is_not_named():
    cases = [case(ONES), case(TWOS), case(THREES)]
    slip = known("a slip", TWOS, ONES, ONES)
    assert judge(small_key(*cases, mistakes=[slip]), gives(TWOS, ONES, ONES)).mistake == "a slip"
    assert judge(small_key(*cases, mistakes=[slip]), gives(TWOS, TWOS, ONES)).mistake == ""
    # Nor was it made if most wrong answers are wrong in another way.
    assert judge(small_key(*cases, mistakes=[slip]), gives(TWOS, ONES, TWOS)).mistake == "a slip"
    assert judge(small_key(*cases, mistakes=[slip]), gives(TWOS, THREES, TWOS)).mistake == ""


@pytest.mark.parametrize(
    ("name", "got", "expected", "words"),
    [
        (
            "model.training",
            False,
            True,
            "`model` is left in evaluation mode; it should be in train",
        ),
        ("model.training", True, False, "`model` is left in train mode; it should be in evaluat"),
        ("kept", 7, 6, "`kept` is 7 where 6 should be."),
    ],
)
def test_a_single_false_fact_is_named(name, got, expected, words):
    facts = {"expected": {name: torch.tensor(expected)}, "tolerance": {}}
    key = small_key(dataclasses.replace(case(ONES), **facts))
    assert words in judge(key, [Answer({name: torch.tensor(got)})]).sentence


def test_a_missing_output_is_reported():
    lack = Problem(ProblemKind.ATTRIBUTE, "weights")
    key = small_key(
        case(ONES),
        aspects=[AspectKey("y", 1, [0], ["y"]), AspectKey("weights", 2, [0], ["weights"])],
    )
    expected = key.cases[0].expected | {"weights": torch.ones(2)}
    key = dataclasses.replace(key, cases=[dataclasses.replace(key.cases[0], expected=expected)])
    verdict = judge(key, [Answer(gives(ONES)[0].tensors, lacks={"weights": lack})])
    assert [aspect.held for aspect in verdict.aspects] == [True, False]
    assert "should keep `self.weights`" in verdict.sentence
    assert verdict.problems == (lack,)


def test_a_missing_output_is_shown_before_a_wrong_one():
    key = small_key(case(ONES))
    expected = key.cases[0].expected | {"weights": torch.ones(2)}
    key = dataclasses.replace(key, cases=[dataclasses.replace(key.cases[0], expected=expected)])
    lack = Problem(ProblemKind.ATTRIBUTE, "weights")
    verdict = judge(key, [Answer(gives(TWOS)[0].tensors, lacks={"weights": lack})])
    assert "should keep `self.weights`" in verdict.sentence
    assert not verdict.exhibit.output


def test_an_answer_that_changes_its_input_is_wrong():
    verdict = judge(small_key(case(ONES)), [Answer(gives(ONES)[0].tensors, changed=("x", "z"))])
    assert verdict.points == 0
    assert "changes its input `x` and `z` in place" in verdict.sentence


def test_an_extra_output_is_refused():
    answers = [Answer(gives(ONES)[0].tensors | {"z": torch.ones(1)})]
    verdict = judge(small_key(case(ONES)), answers)
    assert verdict.points == 0 and "other things than (y)" in verdict.sentence


def test_without_a_tolerance_it_has_to_be_equal():
    key = small_key(dataclasses.replace(case(ONES), tolerance={}))
    assert judge(key, gives(ONES)).passed
    assert not judge(key, gives([1.0, 1.001])).passed


def test_each_problem_is_listed_once_and_only_a_few():
    troubles = [Problem(ProblemKind.RAISED, f"E: {number}") for number in range(MOST_PROBLEMS + 2)]
    answers = [Answer(problem=problem) for problem in [troubles[0], *troubles]]
    verdict = judge(small_key(*[case(ONES)] * len(answers)), answers)
    assert verdict.problems == tuple(troubles[:MOST_PROBLEMS])


def test_only_the_exercises_own_stub_counts_as_unanswered():
    key = small_key(case(ONES))
    stub = judge(key, [Answer(problem=Problem(ProblemKind.NOT_ANSWERED, "f"))])
    other = judge(key, [Answer(problem=Problem(ProblemKind.NOT_ANSWERED, "g"))])
    raised = judge(key, [Answer(problem=Problem(ProblemKind.RAISED, "f"))])
    assert (stub.answered, other.answered, raised.answered) == (False, True, True)
    assert blame(stub, ["g"]) is stub


def test_printed_lines_are_counted():
    answers = [Answer(answer.tensors, printed=2) for answer in gives(ONES, ONES)]
    assert judge(small_key(case(ONES), case(ONES)), answers).printed == 4


def test_blame_falls_on_everything_unfinished():
    wrong = judge(small_key(case(ONES)), gives(TWOS))
    assert blame(wrong, ["g", "h"]).sentence == "Fix `g` and `h` first: `f` builds on them."
    assert blame(wrong, ["g"]).exhibit is None


def test_earlier_exercises_that_an_answer_uses_have_to_be_finished_first():
    keys = {name: dataclasses.replace(small_key(case(ONES)), exercise=name) for name in "efgh"}
    keys["f"] = dataclasses.replace(keys["f"], builds_on=["e"])
    used = {"e", "f", "g", "h"}  # g calls itself, and h comes later
    assert unfinished(keys, "g", used, lambda name: False) == ["e"]
    assert unfinished(keys, "g", used, lambda name: name == "e") == ["f"]
    assert unfinished(keys, "g", {"h"}, lambda name: False) == []


def test_the_mistake_that_explains_most_cases_is_named():
    key = small_key(
        case(ONES),
        case(ONES),
        case(ONES),
        mistakes=[known("a", TWOS, ONES, ONES), known("b", TWOS, TWOS, ONES)],
    )
    assert judge(key, gives(TWOS, TWOS, ONES)).mistake == "b"
    assert judge(key, gives(TWOS, ONES, ONES)).mistake == "a"
    assert judge(key, gives(THREES, TWOS, ONES)).mistake == ""
    found = judge(key, gives(TWOS, TWOS, TWOS))
    assert (found.mistake, found.sentence) == ("b", "It is b.")
    assert found.exhibit.output == "y" and found.exhibit.got.equal(torch.tensor(TWOS))


def test_one_wrong_decision_does_not_prove_a_mistake():
    key = small_key(case(True), case(True), mistakes=[known("never", False, False)])
    assert judge(key, gives(False, False)).mistake == "never"
    assert judge(key, gives(False, True)).mistake == ""


def test_an_exhibit_has_the_facts_of_its_case():
    facts = {"label": "large", "shapes": {"x": [2]}, "sizes": {"n": 2}}
    key = small_key(case(ONES), case(ONES, **facts))
    exhibit = judge(key, gives(ONES, [2.0])).exhibit
    assert (exhibit.case, exhibit.label, exhibit.shapes) == (1, "large", {"x": [2]})
    assert judge(key, gives(ONES, [2.0])).sentence.startswith("`y` should have shape (n=2)")


@pytest.mark.parametrize(
    ("first", "left"),
    [({}, True), ({"dropout": 0.0}, False), ({"shapes": {"x": [2], "keep": [2]}}, False)],
)
def test_something_is_left_over_only_if_such_a_call_is_right_at_first(first, left):
    """That is in the same mode, and with the same arguments."""
    key = small_key(
        case(ONES, **({"shapes": {"x": [2]}} | first)),
        case(ONES, shapes={"x": [2]}, form=Form.RESIZED),
    )
    assert (General.LEFT_BEHIND_SIZES in judge(key, gives(ONES, [5.0, 1.5])).rules) is left


def test_a_key_travels_as_plain_data():
    mistakes = [known("a", ONES)]
    key = small_key(case(TWOS, label="two", most_error={"y": 1.0}), mistakes=mistakes)
    again = AnswerKey.from_tree(key.to_tree())
    assert again.points == key.points == 2
    assert again.aspects == key.aspects
    assert vars(again.cases[0]) == vars(key.cases[0])
    [[first, *_]], [[as_before, *_]] = again.mistakes[0].variants, mistakes[0].variants
    assert first.matches(as_before, torch.zeros(4))
    assert (again.exercise, again.lesson, again.dims) == ("f", "01", {"y": "n"})


# ---------------------------------------------------------------- the docstring's example

PLAIN = CaseKey("", {}, {}, {"y": torch.ones(2)}, {"y": 1e-5}, "", {}, None, False, False, False)
EXAMPLE_KEY = AnswerKey(
    "f", "01", {}, [PLAIN, PLAIN], [AspectKey("a", 1, [0], []), AspectKey("b", 1, [], [])],
    [], [], [], [], example=1,
)  # fmt: skip


def judged(first, example):
    return judge(EXAMPLE_KEY, [Answer({"y": torch.tensor(v)}) for v in (first, example)])


def test_a_wrong_example_is_shown_and_costs_nothing_more():
    verdict = judged([2.0, 2.0], [3.0, 3.0])
    assert verdict.points == 1 and verdict.exhibit.case == 1 and verdict.exhibit.example


def test_an_example_that_alone_is_wrong_counts_in_the_first_aspect():
    verdict = judged([1.0, 1.0], [3.0, 3.0])
    assert [aspect.held for aspect in verdict.aspects] == [False, True]


def test_an_example_with_another_explanation_is_not_shown():
    assert judged([2.0, 2.0], [1.0, 1.0]).exhibit.case == 0
    assert judged([2.0, 2.0], [math.nan, 2.0]).exhibit.case == 0
