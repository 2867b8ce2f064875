"""The rarer parts of an exercise, which it lists in `parts` if it needs them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from autograder.lessons.cases import Inputs


@dataclass(frozen=True)
class Result:
    """What the answer returns if not tensors.

    plain: plain numbers or booleans.
    as_dict: a dict with the names in `returns`.
    choices: one of these words; each with what to say if it is the wrong one.
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
class Loaded:
    """Whether a module is made without memory, and its parameters are loaded as from a file."""

    from_file: bool = False


@dataclass(frozen=True)
class Trial:
    """How the answer is used if a plain call won't do: the name of one of `asking.trials`."""

    name: str = ""


@dataclass(frozen=True)
class SecondCall:
    """How the second call differs, which asks the last case of the first aspect again.

    beside: another case to call a second time, after a call drawn like it.
    after: makes the arguments of the first call; by default, they are drawn as those of the second.
    """

    beside: Inputs | None = None
    after: Inputs | None = None


@dataclass(frozen=True)
class Judged:
    """How the answers are judged.

    by: the name of the measure in `judging.measures` that is judged instead of the outputs.
    steady: whether the right answer to a case does not depend on its draw.
    """

    by: str = ""
    steady: bool = False


@dataclass(frozen=True)
class Repair:
    """Learners are given the code of this mistake to repair."""

    mistake: str = ""


Part = Result | Keeps | Reads | Forbids | Loaded | Trial | SecondCall | Judged | Repair
