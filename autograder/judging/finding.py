"""What is said about a wrong answer: sentences, each with the id of the rule that wrote it.

A rule is one of `explain_difference`'s facts and causes, by its function's name, a kind of problem,
or one of the `General` rules here, which look at more than a single tensor.
"""

from dataclasses import dataclass
from enum import StrEnum


class General(StrEnum):
    """Rules about how the cases differ, and about what a call did besides returning something."""

    REORDERED = "reordered"
    UNUSED = "unused"
    BORROWED = "borrowed"
    NOT_ITS_OWN = "not_its_own"
    CHANGED_INPUT = "changed_input"
    NO_ERROR = "no_error"
    RETURNED_INSTEAD = "returned_instead"
    ASSERTION = "assertion"
    OTHER_ERROR = "other_error"
    LEFT_BEHIND = "left_behind"
    LEFT_BEHIND_SIZES = "left_behind_sizes"
    LEFT_BY_ANOTHER = "left_by_another"
    NOTHING_TO_DROP = "nothing_to_drop"
    NO_DROPOUT = "no_dropout"
    DROPPED = "dropped"
    OTHERS_ONLY = "others_only"
    BROKEN_PATH = "broken_path"


SENTENCES = {
    General.REORDERED: (
        "Your `def` line has the arguments in another order: they are passed as ({names}). Put the "
        "line back as it was."
    ),
    General.UNUSED: "The code never uses {names}.",
    General.BORROWED: (
        "The code reads the notebook's `{name}`, the same for every call. Use the argument."
    ),
    General.NOT_ITS_OWN: (
        "The code reads the notebook's `{name}`, not the module's own: `self.{name}`."
    ),
    General.CHANGED_INPUT: (
        "The code changes its input {inputs} in place, so the caller's tensor is no longer what it "
        "was. Make a new tensor instead (`x = x - 1`, not `x -= 1`)."
    ),
    General.NO_ERROR: "`{exercise}` should raise {error} here; it raised nothing.",
    General.RETURNED_INSTEAD: "`{exercise}` should raise {error} here; it returned {detail}.",
    General.ASSERTION: (
        "`{exercise}` should raise {error} here, and `assert` raises AssertionError: write "
        "`if …: raise {error}(…)`."
    ),
    General.OTHER_ERROR: (
        "`{exercise}` should raise {error} here. The code stopped with {detail}.{at}"
    ),
    General.LEFT_BEHIND: (
        "The first call is right, and a second one with other numbers is not. Do you keep "
        "something from the first (a result, a mask, a size, weights that you put together) and "
        "use it again? Or does it matter whether gradients are recorded?"
    ),
    General.LEFT_BEHIND_SIZES: (
        "It is right in a first call, and wrong after one with other sizes. Do you keep something "
        "from that one (a mask, a table, a size) and use it again? Or does it matter whether "
        "gradients are recorded?"
    ),
    General.LEFT_BY_ANOTHER: (
        "It is wrong once another `{exercise}` has been made and used. What a module keeps belongs "
        "on `self`, not on the class or in a global variable."
    ),
    General.NOTHING_TO_DROP: (
        "It is right in evaluation mode and wrong in train mode, although `dropout` is 0 and "
        "nothing should be dropped. Pass the argument on: `nn.Dropout(dropout)`."
    ),
    General.NO_DROPOUT: (
        "It is right in evaluation mode and wrong in train mode, as with dropout. Here both modes "
        "should give the same."
    ),
    General.DROPPED: (
        "It is right without dropout and wrong with it: look at where dropout acts, how often, and "
        "with which probability."
    ),
    General.OTHERS_ONLY: (
        "It is right on the cases that the notebook shows and wrong on others of the same form: "
        "does the code depend on particular sizes or values?"
    ),
    General.BROKEN_PATH: (
        "Does a `detach()`, `.data`, `.item()`, `torch.tensor(…)`, NumPy or `no_grad` break the "
        "path somewhere?"
    ),
}
# Rules that only ask a question; they don't say what is wrong.
ASKING = {General.OTHERS_ONLY, General.BROKEN_PATH}


@dataclass(frozen=True)
class Finding:
    """A sentence about a wrong answer.

    rule: the id of the rule that wrote it.
    recognized: whether it says what is wrong, not only that something is.
    """

    rule: str
    sentence: str
    recognized: bool = True


def finding(rule: General, **facts: str) -> Finding:
    """Return what a general rule says. facts: what its sentence names."""
    return Finding(rule, SENTENCES[rule].format(**facts), rule not in ASKING)
