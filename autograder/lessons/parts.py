"""Parts of an exercise that only some exercises need. An exercise names its own in `parts`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from autograder.lessons.cases import Inputs


@dataclass(frozen=True)
class Result:
    """What the answer returns, where that is not tensors.

    plain: plain numbers or booleans.
    as_dict: a dict with the names in `returns`.
    choices: one of these words; what is said of each where it is wrong.
    """

    plain: bool = False
    as_dict: bool = False
    choices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Keeps:
    """Module attributes that are outputs too, their names separated by spaces.

    detached: they must hold no graph.
    """

    attributes: str = ""
    detached: bool = False


@dataclass(frozen=True)
class Reads:
    """Module arguments whose parameters are outputs after the call, separated by spaces."""

    modules: str = ""


@dataclass(frozen=True)
class Forbids:
    """Torch functions that the learner has to implement, not call, separated by spaces."""

    functions: str = ""


@dataclass(frozen=True)
class Trial:
    """How the answer is used where a plain call won't do: the name of one of `asking.trials`."""

    name: str = ""


@dataclass(frozen=True)
class SecondCall:
    """What is different about a second call, which asks the last case of the first aspect again.

    beside: another case to call a second time.
    after: makes the arguments of the call before, with the same sizes; by default they are those of
        the second, with other values.
    """

    beside: Inputs | None = None
    after: Inputs | None = None


@dataclass(frozen=True)
class Judged:
    """How the answers are judged.

    by: what is judged instead of the outputs, by its name in `judging.measures`.
    steady: whether the right answer to a case does not depend on its draw.
    """

    by: str = ""
    steady: bool = False


@dataclass(frozen=True)
class Repair:
    """Learners are given code to repair: that of a mistake, by its name."""

    mistake: str = ""


Part = Result | Keeps | Reads | Forbids | Trial | SecondCall | Judged | Repair
