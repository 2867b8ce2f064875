"""Sentences for wrong tensors that match no known mistake.

Each rule knows one way of being wrong, and its function's name is its id. The first one that
applies, and not by accident, writes the sentence. If none does, one of `PLACES` says where the
values are off.
"""

from collections.abc import Callable, Iterable, Sequence

from autograder.asking.answer import GRADIENT, OWN_BACKWARD
from autograder.judging.compare import Comparison
from autograder.judging.differences import places as moved
from autograder.judging.differences import shapes, values, weights
from autograder.judging.differences.words import (
    apart,
    dim_name,
    largest_gap,
    named,
    places,
    subject,
)
from autograder.judging.finding import Finding, General, finding

DifferenceRule = Callable[[Comparison], str | None]
FEW_ROWS = 3  # of so few, one may be right by chance
ACCIDENT = 1 / 8  # of the other cases that went wrong: a rule that fits fewer fits by accident
ROWS = ("n_query", "n_source", "n_target")  # dimensions whose elements attend to others
# What can be seen in one result.
FACTS: tuple[DifferenceRule, ...] = (
    shapes.left_on_self,
    shapes.other_axis_order,
    shapes.wrong_shape,
    shapes.wrong_dtype,
    shapes.too_often,
    weights.weight_elsewhere,
    shapes.too_much_error,
    shapes.not_repeated,
    shapes.wrong_mode,
    shapes.not_told_apart,
    shapes.not_so,
    shapes.wrong_decision,
    shapes.wrong_choice,
    shapes.opposite_booleans,
    shapes.holds_nan,
    shapes.holds_infinity,
)
# What explains it, unless it fits by accident, as most do in an example with small whole numbers.
CAUSES: tuple[DifferenceRule, ...] = (
    moved.other_output,
    moved.shuffled_rows,
    moved.reversed_along,
    moved.misplaced,
    values.too_few_digits,
    values.no_gradient,
    values.all_the_same,
    weights.not_divided,
    weights.divided_by_other_rows,
    values.rounded_down,
    values.times_a_size,
    values.constant_factor,
    weights.causal_mask_added,
    values.row_offset,
    values.same_vector_added,
    weights.untouched_by_softmax,
    weights.softmax_twice,
    weights.softmax_elsewhere,
    weights.other_scale,
    values.lost_signs,
    values.cut_off,
    moved.first_repeated,
    moved.only_first_filled,
    moved.sums_of_what_came_before,
    weights.rows_do_not_sum_to_1,
)


def recognize_difference(
    comparison: Comparison, elsewhere: Sequence[Comparison] = ()
) -> Finding | None:
    """Say in what way a wrong output differs from the right one; None if no rule applies.

    elsewhere: the same output in other cases where it is wrong.
    """
    if fact := _first(FACTS, comparison):
        return fact
    causes = {rule: said for rule in CAUSES if (said := rule(comparison))}
    alike = [other for other in elsewhere if causes and not _first(FACTS, other)]
    fitting = (rule for rule in causes if _fits(rule, alike))
    return next((Finding(rule.__name__, causes[rule]) for rule in fitting), None)


def locate_difference(comparison: Comparison) -> list[Finding]:
    """Say where a wrong output that no rule recognizes is off."""
    where = [Finding(r.__name__, said, False) for r in PLACES if (said := r(comparison))]
    by_torch = comparison.name.startswith(GRADIENT) and OWN_BACKWARD not in comparison.others
    return [where[0], finding(General.BROKEN_PATH)] if by_torch else where[:1]


def _first(rules: Iterable[DifferenceRule], comparison: Comparison) -> Finding | None:
    said = ((rule, sentence) for rule in rules if (sentence := rule(comparison)))
    return next((Finding(rule.__name__, sentence) for rule, sentence in said), None)


def _fits(cause: DifferenceRule, comparisons: Sequence[Comparison]) -> bool:
    return sum(cause(one) is not None for one in comparisons) >= ACCIDENT * len(comparisons)


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
PLACES: tuple[DifferenceRule, ...] = (some_texts_right, some_rows_right, largest_difference)
