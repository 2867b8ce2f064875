"""A case that went wrong in a check, with everything needed to try it again."""

from collections.abc import Callable
from html import escape
from typing import Any

from torch import Tensor, nn

from autograder.asking.answer import Facts
from autograder.asking.arguments import make_all
from autograder.asking.models import built_module
from autograder.asking.question import Call, Question
from autograder.asking.trials import TRIALS
from autograder.judging.verdict import Exhibit

LONGEST = 60  # characters of a value


class FailingCase(dict):
    """The inputs of a case, by name. Shown in a notebook, it says how to try it again.

    sizes: the size of each named dimension.
    output: the name of the first wrong output.
    expected, yours: the values of that output; None if the call returned no such output.
    parameters: a module's, by name; None for a function.
    earlier: the inputs of the call before this one, of the same function or module, if any.
    """

    def __init__(
        self, question: Question, call: Call, sizes: dict[str, int], exhibit: Exhibit
    ) -> None:
        super().__init__(make_all(call.arguments))
        self.exercise, self.sizes = question.exercise, sizes
        self.label, self.output = exhibit.label, exhibit.output
        self.expected, self.yours = exhibit.expected, exhibit.got
        self.parameters = call.parameters
        same = call.earlier if call.earlier and call.earlier.build is None else None
        self.earlier = make_all(same.arguments) if same else None
        self._call, self._trial, self._from_file = call, question.trial, question.from_file

    def build(self, answer: Callable) -> nn.Module:
        """Build a learner's class as the check does: with its parameters, in its mode."""
        return built_module(answer, self._call, self, self._from_file)

    def use(self, answer: Callable) -> tuple[Any, Facts]:
        """Use what a learner wrote as the check does; return the result and further outputs."""
        facts: Facts = {}
        return TRIALS[self._trial](answer, facts, *self.values()), facts

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        sizes = ", ".join(f"{name}={size}" for name, size in self.sizes.items())
        lines = [f"# {self.exercise}" + (f", {self.label}" if self.label else "")]
        lines += [f"# sizes: {sizes}"] if sizes else []
        lines += [f"# {name}: {describe(value)}" for name, value in self.items()]
        lines += [f'case = failing_case("{self.exercise}")', *self._try()]
        if self.expected is not None:
            lines.append(f"case.expected, case.yours  # {self.output}")
        return lines

    def _try(self) -> list[str]:
        call = self._call
        if call.build is None:
            return self._calls(self.exercise)
        mode = "train" if call.training else "eval"
        build = f"module = case.build({self.exercise})  # its parameters, in {mode} mode"
        if not call.method:
            return [build]
        method = "" if call.method == "forward" else f".{call.method}"
        return [build, *self._calls(f"module{method}")]

    def _calls(self, function: str) -> list[str]:
        if self._trial:
            return [f"case.use({function})  # as the check does"]
        first = [] if self.earlier is None else [f"{function}(**case.earlier)  # the first call"]
        return [*first, f"{function}(**case)"]


def describe(value: Any) -> str:
    """Say in a line what an input is."""
    if isinstance(value, Tensor):
        return f"{str(value.dtype).removeprefix('torch.')} {tuple(value.shape)}"
    kind = type(value).__name__
    if isinstance(value, nn.Module):
        parts = [*value.named_children(), *value.named_parameters(recurse=False)]
        return f"{kind}({', '.join(name for name, _ in parts)})"
    said = repr(value)
    if "\n" in said or said.startswith("<"):
        return kind
    return said if len(said) <= LONGEST else f"{said[:LONGEST]} …"
