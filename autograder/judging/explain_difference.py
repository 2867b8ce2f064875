"""Sentences for wrong tensors that match no known mistake.

Each rule knows one way of being wrong, and its function's name is its id. The first one that
applies writes the sentence. If none does, one of two others says where the values are off.
"""

from collections.abc import Callable

from autograder.asking.answer import GRADIENT, OWN_BACKWARD
from autograder.judging.compare import Comparison
from autograder.judging.differences.form import (
    holds_infinity,
    holds_nan,
    left_on_self,
    not_repeated,
    not_so,
    not_told_apart,
    opposite_booleans,
    other_axis_order,
    too_much_error,
    too_often,
    wrong_choice,
    wrong_decision,
    wrong_dtype,
    wrong_mode,
    wrong_shape,
)
from autograder.judging.differences.places import (
    first_repeated,
    misplaced,
    only_first_filled,
    other_output,
    reversed_along,
    shuffled_rows,
    sums_of_what_came_before,
)
from autograder.judging.differences.values import (
    all_the_same,
    constant_factor,
    cut_off,
    lost_signs,
    no_gradient,
    rounded_down,
    row_offset,
    same_vector_added,
    times_a_size,
    too_few_digits,
)
from autograder.judging.differences.weights import (
    causal_mask_added,
    divided_by_other_rows,
    not_divided,
    other_scale,
    rows_do_not_sum_to_1,
    softmax_elsewhere,
    softmax_twice,
    untouched_by_softmax,
    weight_elsewhere,
)
from autograder.judging.differences.words import (
    apart,
    dim_name,
    largest_gap,
    named,
    places,
    subject,
)
from autograder.judging.finding import Finding, General, finding

Rule = Callable[[Comparison], str | None]
FEW_ROWS = 3  # of so few, one may be right by chance
ROWS = ("n_query", "n_source", "n_target")  # dimensions whose elements attend to others
RULES: tuple[Rule, ...] = (
    left_on_self,
    other_axis_order,
    wrong_shape,
    wrong_dtype,
    too_often,
    weight_elsewhere,
    too_much_error,
    not_repeated,
    wrong_mode,
    not_told_apart,
    not_so,
    wrong_decision,
    wrong_choice,
    opposite_booleans,
    holds_nan,
    holds_infinity,
    other_output,
    shuffled_rows,
    reversed_along,
    misplaced,
    too_few_digits,
    no_gradient,
    all_the_same,
    not_divided,
    divided_by_other_rows,
    rounded_down,
    times_a_size,
    constant_factor,
    causal_mask_added,
    row_offset,
    same_vector_added,
    untouched_by_softmax,
    softmax_twice,
    softmax_elsewhere,
    other_scale,
    lost_signs,
    cut_off,
    first_repeated,
    only_first_filled,
    sums_of_what_came_before,
    rows_do_not_sum_to_1,
)


def explain_difference(comparison: Comparison) -> list[Finding]:
    """Return what there is to say about a wrong output."""
    found = recognize_difference(comparison)
    if found:
        return [found]
    where = [Finding(r.__name__, said, False) for r in PLACES if (said := r(comparison))]
    by_torch = comparison.name.startswith(GRADIENT) and OWN_BACKWARD not in comparison.others
    return [where[0], finding(General.BROKEN_PATH)] if by_torch else where[:1]


def recognize_difference(comparison: Comparison) -> Finding | None:
    """Say in what way a wrong output differs from the right one; None if no rule applies."""
    said = ((rule, sentence) for rule in RULES if (sentence := rule(comparison)))
    return next((Finding(rule.__name__, sentence) for rule, sentence in said), None)


def some_texts_right(c: Comparison) -> str | None:
    """Some of what the first dimension counts entirely right, the others wrong everywhere."""
    if c.got.dim() < 3 or c.got.shape[0] < 3:
        return None
    wrong = c.wrong_at.any(-1).flatten(1)
    if not (wrong.all(1) | ~wrong.any(1)).all() or wrong.all():
        return None
    right, others = places(~wrong[:, 0], "index"), places(wrong[:, 0], "index")
    return f"{subject(c)} right at {right} of {dim_name(c, 0)}, and wrong at {others}."


def some_rows_right(c: Comparison) -> str | None:
    """Some rows entirely right, the others wrong."""
    if c.got.dim() < 2:
        return None
    each = c.wrong_at.any(-1).reshape(-1, c.got.shape[-2])
    wrong = each.any(0)
    rows = (~wrong).nonzero().flatten().tolist()
    last = len(wrong) - 1
    by_chance = len(rows) == 1 and 0 < rows[0] < last
    if not rows or by_chance:
        return None
    right, others = places(~wrong, "row"), places(wrong, "row")
    said = f"{subject(c)} right in {right} of {len(wrong)}, and wrong in {others}."
    if rows == [last] and last >= FEW_ROWS and each[:, :-1].all() and _in_order(c):
        said += " The last row is the only one that nothing comes after."
    return said


def _in_order(c: Comparison) -> bool:
    """Whether the rows attend to others, or are weights that hide what comes later."""
    dims = c.dims.split()[-2:]
    is_weights = dims[-1:] == ["n_key"]
    return dims[:1] in ([name] for name in ROWS) and not (is_weights and c.expected.triu(1).any())


def largest_difference(c: Comparison) -> str:
    """How many values are off, and the place where they are farthest apart."""
    if c.got.numel() == 1:
        return f"{subject(c)} {apart(c.got.flatten()[0], c.expected.flatten()[0])} should be."
    many = int(c.wrong_at.sum())
    of = f" of {named(c)}" if len(c.others) > 1 else ""
    if many == 1:
        return f"One value{of} is off, {largest_gap(c)}"
    return f"{many} of {c.got.numel()} values{of} are off, most of all {largest_gap(c)}"


# The last one always applies.
PLACES: tuple[Rule, ...] = (some_texts_right, some_rows_right, largest_difference)
