"""Why a call of a learner's code gave no tensors: kinds of problems, and the facts about one.

`autograder.judging.explain_problem` has a sentence for each kind.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

LONGEST_TEXT = 300
LAST_LINE = 1_000_000


class ProblemKind(StrEnum):
    """What went wrong. The values are stored in references and in graded notebooks."""

    # No call was made.
    UNDEFINED = "undefined"
    CHECK_TIMED_OUT = "check timed out"
    CHECK_WAITED = "check waited"
    NOT_RUN = "not run"
    NO_ANSWER = "no answer"
    UNREADABLE = "unreadable"
    NOT_JUDGED = "not judged"
    # The call did not come to its end.
    NOT_ANSWERED = "not answered"
    STUB_BELOW = "stub below"
    RAISED = "raised"
    FORBIDDEN = "forbidden"
    TIME = "time"
    WAITING = "waiting"
    RECURSION = "recursion"
    MEMORY = "memory"
    # It can't be called or built as the exercise asks.
    ARGUMENTS = "arguments"
    METHOD = "method"
    CLASS = "class"
    CONSTRUCTOR = "constructor"
    NO_SELF = "no self"
    PARAMETERS = "parameters"
    PLAIN_PARAMETER = "plain parameter"
    PARAMETER_SHAPE = "parameter shape"
    SAME_PARAMETER = "same parameter"
    # Something else came back.
    TYPE = "type"
    PLAIN = "plain"
    MODULE = "module"
    COUNT = "count"
    CHOICE = "choice"
    KEYS = "keys"
    SIZE = "size"
    GRAPH = "graph"
    # An attribute is missing, or holds on to too much.
    ATTRIBUTE = "attribute"
    ATTACHED = "attached"
    OTHER_ATTRIBUTE = "other attribute"
    # The call changed what it should leave as it was.
    MODE = "mode"
    PART_MODE = "part's mode"
    PART_REPLACED = "part replaced"
    SETTING = "setting"
    SHARED = "shared"
    KEPT_ON_CLASS = "kept on the class"
    REQUIRES_GRADIENTS = "requires gradients"
    FROZEN = "frozen"
    NEVER_TRAINED = "never trained"
    PARAMETER_CHANGED = "parameter changed"
    ARGUMENT_CHANGED = "argument changed"
    OTHER_PARAMETERS = "other parameters"
    NOT_LOADED = "not loaded"
    OTHER_NAMES = "other names"
    # Nothing, or NaN, flows back.
    DETACHED = "detached"
    NAN_ON_THE_WAY = "nan on the way"


class Instead(StrEnum):
    """What came instead of the right type, if the cure is known."""

    NOTHING = "None"
    UNREACHED = "None, though there is a return"
    NUMPY = "NumPy"
    TUPLE = "tuple"
    TENSORS = "list of tensors"
    NUMBERS = "list of numbers"
    COPY = "copy of numbers"
    MATH = "number of Python's math"
    OTHER = "other"


@dataclass(frozen=True)
class Place:
    """A line of the learner's code.

    code: what the line says, if its source is known.
    function: the function that it's in, unless that is the exercise's own.
    """

    line: int
    code: str = ""
    function: str = ""

    @property
    def raises(self) -> bool:
        """Whether it is a `raise` in the answer itself."""
        return not self.function and self.code.startswith("raise ")

    def __str__(self) -> str:
        within = f"in `{self.function}`, " if self.function else ""
        return f"{within}line {self.line}: {self.code}"[:LONGEST_TEXT].removesuffix(": ")

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "Place":
        """Raises ValueError, KeyError or TypeError if the tree is not a place."""
        line = int(tree["line"])
        if not 0 <= line <= LAST_LINE:
            raise ValueError("there is no such line")
        return cls(line, cut(tree["code"]), cut(tree["function"]))


@dataclass(frozen=True)
class Problem:
    """Why a call gave no tensors.

    detail: the specifics, such as the exception's name and message.
    place: the line of the learner's code, if there is one.
    instead: what came instead of the right type.
    """

    kind: ProblemKind
    detail: str = ""
    place: Place | None = None
    instead: Instead = Instead.OTHER

    @property
    def exception(self) -> str:
        """The name of the exception that stopped the code, "" if none did."""
        return self.detail.partition(":")[0] if self.kind == ProblemKind.RAISED else ""

    def same_as(self, other: "Problem | None") -> bool:
        """Whether both went wrong in the same way, on whatever line."""
        return other is not None and (self.kind, self.detail) == (other.kind, other.detail)

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "Problem":
        """Raises ValueError, KeyError or TypeError if the tree is not a problem."""
        return cls(
            kind=ProblemKind(tree["kind"]),
            detail=cut(tree["detail"]),
            place=None if tree["place"] is None else Place.from_tree(tree["place"]),
            instead=Instead(tree["instead"]),
        )


def cut(value: object) -> str:
    """Return a value as text that is not too long."""
    return str(value)[:LONGEST_TEXT]
