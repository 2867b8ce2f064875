"""Collect: call a learner's code on the cases of a question, and record what comes back.

This half runs where the learner's code runs and knows no expected value. Whatever the code does
(raise, loop, print, return something else) ends up as an `Answer`.
"""

import contextlib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, equal, nn  # by name: a notebook may replace torch's

from autograder.asking.answer import (
    MOST_ELEMENTS,
    REPEATS,
    Answer,
    Facts,
    changed_inputs,
    digests,
)
from autograder.asking.arguments import make_all
from autograder.asking.clock import TimeLimit
from autograder.asking.code_facts import (
    cut_in,
    first_arguments,
    reordered_arguments,
    returns_something,
    unused_arguments,
)
from autograder.asking.exceptions import problem_of
from autograder.asking.keras_layers import is_keras_layer, is_torch_module
from autograder.asking.learners_code import (
    borrowed_names,
    method_of,
    names_beside,
    uncompiled,
    written_function,
)
from autograder.asking.models import (
    built_module,
    gradients,
    leaf_tensors,
    require_loadable,
    require_own_memory,
)
from autograder.asking.problem import Instead, Problem, ProblemKind
from autograder.asking.question import Call, Question
from autograder.asking.returned import (
    WrongResult,
    kept_attribute,
    named_results,
    plain_tensor,
    require_mode,
)
from autograder.asking.surroundings import START, SameDropout, forbid, same_randomness, silence
from autograder.asking.trials import TRIALS
from autograder.asking.unchanged import changed_parameters, same_settings, same_state

# After one of these, the other calls would go the same way and take as long.
IN_VAIN = {ProblemKind.TIME, ProblemKind.WAITING, ProblemKind.NOT_ANSWERED}
# How far a second call may be off, as a fraction of the largest value. The same training in other
# memory rounds differently and ends up to 0.001 away; with another seed, more than 0.05.
SAME_AGAIN = 0.01
SPOILED = 77  # no result that is right, and in every dtype


def collect(answer: Callable[..., Any], question: Question) -> list[Answer]:
    """Collect one answer for each call of the question."""
    answers: list[Answer] = []
    answer = uncompiled(answer)
    passed = max((list(call.arguments) for call in question.calls), key=len, default=[])
    borrowed, unused = borrowed_names(answer), unused_arguments(answer)
    reordered = () if question.trial else reordered_arguments(answer, passed)
    forbidden = forbid(question.forbidden) if question.forbidden else contextlib.nullcontext()
    with TimeLimit(question.seconds) as limit, forbidden:
        for call in question.calls:
            collected = OneCall(answer, question, call).collect(limit)
            facts = replace(collected, borrowed=borrowed, unused=unused, reordered=reordered)
            answers.append(facts)
            problem = collected.problem
            if problem and problem.kind in IN_VAIN:
                rest = len(question.calls) - len(answers)
                return answers + [Answer(problem=problem)] * rest
    return answers


def _memory(value: object) -> int:
    """Return where a tensor keeps its numbers; 0 for anything else."""
    return value.untyped_storage().data_ptr() if isinstance(value, Tensor) else 0


def _spoil(result: Tensor) -> None:
    """Overwrite a result, so that it shows if it is returned again."""
    with contextlib.suppress(RuntimeError):  # expanded tensors can't be written to
        if result.dtype is torch.bool:
            result.logical_not_()
        else:
            result.fill_(SPOILED)


def trusted_outputs(
    solution: Callable[..., Any], question: Question, call: Call
) -> dict[str, Tensor]:
    """Return all outputs of one call of the course's own code, by name, without guarding it.

    Raises what the code raises.
    """
    asked = OneCall(solution, question, call)
    with same_randomness(), _dropout(call):
        asked.make_arguments()
        outputs = asked.outputs()
    for error in asked.failed.values():
        raise error
    return outputs


class OneCall:
    """One call of a learner's code.

    arguments: what is passed, as the call leaves it.
    lacks: outputs that are missing although the call succeeds, and why.
    facts: what a trial notes besides the result.
    failed: the exceptions among these.
    """

    def __init__(self, answer: Callable[..., Any], question: Question, call: Call) -> None:
        self.answer, self.question, self.call = answer, question, call
        self.arguments: dict[str, Any] = {}
        self.lacks: dict[str, Problem] = {}
        self.facts: Facts = {}

    @property
    def failed(self) -> dict[str, Exception]:
        return {name: fact for name, fact in self.facts.items() if isinstance(fact, Exception)}

    def collect(self, limit: TimeLimit) -> Answer:
        """Make the call, and return its outputs or the problem that prevented them."""
        tensors, problem = {}, None
        with silence() as printed:
            try:
                with same_randomness():
                    self.make_arguments()  # the course's code, and its imports
                    with self._same_settings(), _dropout(self.call), limit.running():
                        tensors = self.outputs()
                for name, error in self.failed.items():
                    self.lacks[name] = self._located(problem_of(error, self.question, limit))
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                problem = self._located(problem_of(error, self.question, limit))
        inputs = digests(self.arguments)
        return Answer(
            tensors,
            problem,
            self.lacks,
            () if problem else changed_inputs(self.call.arguments, inputs),
            printed.lines,
            printed.begins,
            inputs=inputs,
        )

    def _located(self, problem: Problem) -> Problem:
        """Add the line that ends the path of the gradient, or that a `return` wasn't reached."""
        if problem.instead == Instead.NOTHING and returns_something(self.answer):
            return replace(problem, instead=Instead.UNREACHED)
        if problem.kind != ProblemKind.DETACHED:
            return problem
        place, how = cut_in(self.answer)
        return replace(problem, place=place, instead=how)

    def make_arguments(self) -> None:
        self.arguments = _made(self.call)

    def outputs(self) -> dict[str, Tensor]:
        """Return all outputs by name; record missing attributes in `lacks`.

        Raises WrongResult, and whatever the code raises.
        """
        call, question, arguments = self.call, self.question, self.arguments
        function = self.answer
        if call.build is not None:
            function = self._built(call, self._first_arguments())
        if not call.method:
            return {}
        leaves = leaf_tensors(function, call, arguments) if call.gradients else {}
        given = [leaves[name].clone() if name in leaves else arguments[name] for name in arguments]
        method = self._method(function)
        state = same_state(function, dict(zip(arguments, given, strict=True)), question.reads)
        with self._after_earlier_call(function, method), self._same_settings(), state:
            result = method(*given)
        require_mode(function, call.training)
        if call.earlier and is_torch_module(function):
            require_loadable(function, self._built(call, arguments))
        arguments.update(zip(arguments, given, strict=True))
        returned = named_results(result, question)
        if question.reads:
            require_own_memory(arguments)
        kept = self._kept_attributes(function)
        slopes = gradients(returned, leaves) if call.gradients else {}
        outputs = returned | self._noted() | kept | slopes | self._read_modules()
        if call.repeats:
            outputs[REPEATS] = _same_again(method, call, question, returned)
        return {name: plain_tensor(value, name) for name, value in outputs.items()}

    def _same_settings(self) -> contextlib.AbstractContextManager[None]:
        may_seed = "seed" in self.arguments or not self.question.returns_tensors
        return same_settings(may_seed)

    def _built(self, call: Call, arguments: dict[str, Any]) -> nn.Module:
        return built_module(self.answer, call, arguments, self.question.from_file)

    def _method(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return what to call with the arguments; it may note facts. Raises WrongResult."""
        if self.question.trial:
            return partial(TRIALS[self.question.trial], function, self.facts)
        name = self.call.method
        method = function if name == "forward" else method_of(function, name)
        _require_arguments(method, self.call.arguments)
        if self.call.training and is_keras_layer(type(function)):
            return partial(function, training=True)
        return method

    @contextlib.contextmanager
    def _after_earlier_call(
        self, function: Callable[..., Any], method: Callable[..., Any]
    ) -> Iterator[None]:
        """Make the call before this one, if there is one, and leave the body without a graph.

        Meanwhile, a module's parameters are others, as before a step of training. After the body,
        the function, or another module, is used once more: what was returned and kept stays.
        """
        if not (earlier := self.call.earlier):
            yield
            return
        arguments = make_all(earlier.arguments)
        if earlier.build is not None:
            method = self._method(self._built(earlier, arguments))
        with changed_parameters(function):
            self._forget(method, arguments)
        with self._without_graph():
            yield
        if self.question.trial:
            return
        if earlier.build is not None:
            self._forget(method, arguments)
        elif self.call.build is None:
            with self._without_graph():
                method(*make_all(earlier.arguments).values())

    def _forget(self, method: Callable[..., Any], arguments: dict[str, Any]) -> None:
        """Make a call that must leave nothing behind, and overwrite what it returned.

        It may be a tensor of the notebook's, which stays as it is.
        """
        notebooks = {_memory(value) for value in names_beside(self.answer).values()} - {0}
        with self._without_graph():
            results = named_results(method(*arguments.values()), self.question)
        for value in results.values():
            if value.numel() <= MOST_ELEMENTS and _memory(value) not in notebooks:
                _spoil(value.detach())

    def _first_arguments(self) -> dict[str, Any]:
        """Return those with which the module is first called; a Keras layer keeps their widths."""
        earlier = self.call.earlier
        return make_all(earlier.arguments) if earlier and not earlier.build else self.arguments

    def _without_graph(self) -> contextlib.AbstractContextManager[None]:
        """As when models are used, and results are kept for later; but a call may train."""
        return contextlib.nullcontext() if self.question.reads else torch.no_grad()

    def _kept_attributes(self, module: Callable[..., Any]) -> dict[str, Tensor]:
        kept = {}
        for name in self.question.keeps:
            try:
                kept[name] = kept_attribute(module, name, self.question, self.call)
            except WrongResult as error:
                self.lacks[name] = error.problem
        return kept

    def _noted(self) -> dict[str, Tensor]:
        return {n: fact for n, fact in self.facts.items() if not isinstance(fact, Exception)}

    def _read_modules(self) -> dict[str, Tensor]:
        """Return the parameters of the modules that are read, and the mode of each part."""
        modules = {name: self.arguments[name] for name in self.question.reads}
        read = {
            f"{name}.{parameter}": value
            for name, module in modules.items()
            for parameter, value in module.named_parameters()
        }
        modes = {
            f"{name}.{part}.training".replace("..", "."): torch.tensor(module.training)
            for name, whole in modules.items()
            for part, module in whole.named_modules()
        }
        return read | modes


def _dropout(call: Call) -> contextlib.AbstractContextManager[object]:
    return SameDropout() if call.training else contextlib.nullcontext()


def _made(call: Call) -> dict[str, Any]:
    """Make the arguments, equal tensors as one, as in `attention(x, x, x)`.

    If gradients are taken, they stay apart.
    """
    made = make_all(call.arguments)
    tensors = [] if call.gradients else [v for v in made.values() if isinstance(v, Tensor)]
    for name, value in made.items():
        if isinstance(value, Tensor):
            made[name] = next((t for t in tensors if equal(t, value)), value)
    return made


def _same_again(
    method: Callable[..., Any], call: Call, question: Question, first: dict[str, Tensor]
) -> Tensor:
    """Whether the call gives the same results, up to `SAME_AGAIN`, in another random state."""
    torch.default_generator.manual_seed(START + 1)
    again = named_results(method(*make_all(call.arguments).values()), question)
    return torch.tensor(all(_alike(again[name], value) for name, value in first.items()))


def _alike(again: Tensor, first: Tensor) -> bool:
    if again.shape != first.shape or not first.numel():
        return again.shape == first.shape
    again, first = again.detach().double(), first.detach().double()
    off = SAME_AGAIN * first.abs().max().item()
    return torch.allclose(again, first, rtol=0, atol=off, equal_nan=True)


def _require_arguments(function: Callable[..., Any], arguments: dict[str, Any]) -> None:
    """Raise WrongResult if the function does not take these arguments by position."""
    written = written_function(function)
    try:
        signature = inspect.signature(written)
    except (TypeError, ValueError):  # builtins have none
        return
    try:
        signature.bind(*arguments.values())
    except TypeError as error:
        if inspect.ismethod(written) and "self" not in first_arguments(written):
            raise WrongResult(ProblemKind.NO_SELF, written.__name__) from error
        takes = ", ".join(signature.parameters) or "nothing"
        raise WrongResult(
            ProblemKind.ARGUMENTS, f"({takes}), and is called with ({', '.join(arguments)})"
        ) from error
