"""Build reference files: run the solution, and every known mistake, on every case.

Expected values are computed in float64 from the float32 inputs; mistakes run in float32, as a
learner's code would. Building is also the mutation test of the course: it fails if an edit no
longer applies, a mistake goes undetected or can't be told from another, a correct alternative is
rejected, or a trivial answer earns a point.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from autograder.asking.answer import GRADIENT, Answer
from autograder.asking.arguments import Library, make_all, map_tensors
from autograder.asking.collect import collect
from autograder.asking.question import Call, Question
from autograder.asking.written import written_function
from autograder.building.audit import Audit
from autograder.building.contract import contract
from autograder.building.examples import require_true_examples
from autograder.building.sources import digest_of, needed_files
from autograder.judging.explain_problem import explain_problem
from autograder.judging.footprint import footprint
from autograder.judging.key import AnswerKey, AspectKey, CaseKey, MistakeKey
from autograder.lessons.draw import Draw
from autograder.lessons.errors import AuthoringError
from autograder.lessons.exercise import (
    AGAIN,
    DOUBLE,
    GRADIENTS,
    HALF,
    ONES,
    Case,
    Exercise,
    Goal,
    Inputs,
    ModuleCase,
    Raises,
)
from autograder.lessons.lesson import ROOT, Lesson
from autograder.lessons.variants import Variant
from autograder.references.store import LessonReference

SHOWN_SEED, FRESH_SEED = "public", "fresh"
PARAMETER_SCALE = 0.6
ROUNDING = 16  # rounding errors
DTYPES = {DOUBLE: torch.float64, HALF: torch.float16}
OTHERWISE = -0.7  # turns values into others
LONGER = 1 + 2**-26  # gives a float32 more digits, which rounding it again would lose
# The least relative error that counts, by dtype.
LEAST = {torch.float64: 1e-10, torch.float32: 1e-5, torch.float16: 1e-2}


def build(lesson: Lesson, secret: str | None = None) -> LessonReference:
    """Build a lesson's reference, with hidden cases if given a secret. Raises AuthoringError."""
    built = [ExerciseBuilder(lesson, exercise, secret).build() for exercise in lesson.exercises]
    return LessonReference(
        lesson=lesson.name,
        source=source_digest(lesson, secret),
        questions={question.exercise: question for question, _ in built},
        keys={key.exercise: key for _, key in built},
    )


def source_digest(lesson: Lesson, secret: str | None = None, *also: Path) -> str:
    """Hash everything that a reference is built from: lesson, the code that builds it, secret.

    A lesson's prose and its demonstrations are no part of that. also: files of code that something
    else made from the reference needs too.
    """
    exercises = ROOT / "autograder" / "exercises" / f"{lesson.name}.py"
    files = needed_files([lesson.text_path, exercises, Path(__file__), *also], ROOT)
    code = repr([secret or "", *(source for source, _ in lesson.definitions.values())])
    return digest_of((path for path in files if path != lesson.text_path), ROOT, code)


@dataclass(frozen=True)
class DrawnCase:
    """One call, and what its draw says about it.

    seed: what it was drawn from: `SHOWN_SEED`, `FRESH_SEED` or a secret.
    """

    call: Call
    draw: Draw
    seed: str
    goal: Goal | None = None
    raises: str = ""

    @property
    def fresh(self) -> bool:
        return self.seed == FRESH_SEED

    @property
    def hidden(self) -> bool:
        return self.seed not in (SHOWN_SEED, FRESH_SEED)

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of its floating-point inputs."""
        tensors = [v for v in self.call.arguments.values() if isinstance(v, Tensor)]
        return next((t.dtype for t in tensors if t.is_floating_point()), torch.float32)


class ExerciseBuilder:
    """Builds the question and the answer key of one exercise."""

    def __init__(self, lesson: Lesson, exercise: Exercise, secret: str | None) -> None:
        self.lesson, self.exercise = lesson, exercise
        self.solution = lesson.namespace()[exercise.name]
        self.asked = input_dims(self.solution)
        self.cases: list[DrawnCase] = []
        self.aspects = [AspectKey(a.name, a.points, [], list(a.outputs)) for a in exercise.aspects]
        for seed in (SHOWN_SEED, FRESH_SEED if secret is None else secret):
            self._draw_aspects(seed)
            if seed != FRESH_SEED:
                self._draw_forms(seed)
        question = Question(
            exercise=exercise.name,
            calls=[case.call for case in self.cases],
            returns=exercise.returns.split(),
            keeps=exercise.keeps.split(),
            keeps_detached=exercise.keeps_detached,
            reads=exercise.reads.split(),
            plain=exercise.plain,
            choices=list(exercise.choices),
            as_dict=exercise.as_dict,
            forbidden=list(exercise.forbidden),
            seconds=exercise.seconds,
        )
        raises = (case.raises for case in self.cases if case.raises)
        agreed = contract(question, lesson.solutions[exercise.name], raises)
        self.question = replace(question, contract=agreed)

    def build(self) -> tuple[Question, AnswerKey]:
        """Build both halves. Raises AuthoringError if the exercise is not sound."""
        require_true_examples(self.lesson, self.exercise.name)
        alternatives = {v.name: self._answers(v) for v in self.exercise.alternatives}
        known = self.lesson.mistakes(self.exercise)
        asked = sum(not case.fresh for case in self.cases)  # a mistake fails before fresh cases
        mistakes = {m.name: [self._answers(v, asked) for v in m.variants] for m in known}
        solution = collect(self.solution, self.question)
        key = AnswerKey(
            exercise=self.exercise.name,
            lesson=self.lesson.name,
            dims=output_dims(self.solution, self.question.returns),
            cases=self._case_keys(),
            aspects=self.aspects,
            mistakes=[
                MistakeKey(m.name, m.say, [list(map(footprint, form)) for form in mistakes[m.name]])
                for m in known
            ],
            hints=self.exercise.hints,
            builds_on=list(self.exercise.builds_on),
            keeps=self.question.keeps,
        )
        right = {"the solution": solution, **alternatives}
        Audit(self.exercise, self.question, key).run(right, mistakes)
        return self.question, key

    def _draw_aspects(self, seed: str) -> None:
        """Draw the cases of all aspects. A goal, which takes seconds, is no fresh case."""
        is_secret = seed not in (SHOWN_SEED, FRESH_SEED)
        for aspect, key in zip(self.exercise.aspects, self.aspects, strict=True):
            made = [*aspect.cases, *(aspect.hidden_cases if is_secret else ())]
            for number, make in enumerate(made):
                draw = Draw(f"{seed}/{self.exercise.name}/{aspect.name}/{number}", self.asked)
                case = self._drawn(make, draw, f"case {number} of {aspect.name!r}")
                goal = case if isinstance(case, Goal) else None
                if goal and seed == FRESH_SEED:
                    continue
                raises = case.error if isinstance(case, Raises) else ""
                inputs = case.inputs if isinstance(case, Goal | Raises) else case
                call = self._call(inputs, draw, aspect.gradients)
                if goal:
                    call = replace(call, repeats=goal.repeats)
                key.cases.append(len(self.cases))
                self.cases.append(DrawnCase(call, draw, seed, goal, raises))

    def _draw_forms(self, seed: str) -> None:
        """Ask a case once more, in each of the exercise's forms."""
        aspects = self.exercise.aspects
        about_gradients = any(aspect.gradients for aspect in aspects)
        for form in self.exercise.also:
            if form == GRADIENTS and about_gradients:
                continue
            self._ask_in_form(aspects[0].cases[-1], form, seed)
            if form == AGAIN and self.exercise.second:
                self._ask_in_form(self.exercise.second, form, seed)

    def _ask_in_form(self, make: Inputs, form: str, seed: str) -> None:
        aspects = self.exercise.aspects
        call, draw = self._in_form(make, form, seed)
        about = next(aspect for aspect in aspects if make in aspect.cases)
        for aspect, key in zip(aspects, self.aspects, strict=True):
            others = set(aspect.outputs) - set(about.outputs or aspect.outputs)
            if aspect is about or (others and form != GRADIENTS):
                key.cases.append(len(self.cases))
        self.cases.append(DrawnCase(call, draw, seed))

    def _in_form(self, make: Inputs, form: str, seed: str) -> tuple[Call, Draw]:
        draw = Draw(
            f"{seed}/{self.exercise.name}/{form}",
            self.asked,
            ones=form == ONES,
            exact_root=form in DTYPES,
        )
        case = self._drawn(make, draw, form)
        if isinstance(case, Goal | Raises):
            raise AuthoringError(f"{self.exercise.name}: a {type(case).__name__} has no {form}")
        if form == ONES and isinstance(case, ModuleCase):
            case = replace(case, training=True)
        call = self._call(case, draw, form == GRADIENTS)
        if form == AGAIN:
            call = replace(call, earlier=self._earlier(make, seed))
        if form in DTYPES:
            call = call.map_tensors(lambda value: (value.double() * LONGER).to(DTYPES[form]))
        draw.label(", ".join(filter(None, [draw.name, form])))
        return call, draw

    def _earlier(self, make: Inputs, seed: str) -> dict[str, Any]:
        """Draw the arguments of an earlier call: the same sizes, and other values."""
        draw = Draw(f"{seed}/{self.exercise.name}/{AGAIN}", self.asked)
        case = self._drawn(self.exercise.earlier or make, draw, f"the call before {AGAIN!r}")
        inputs = case.inputs if isinstance(case, ModuleCase) else case
        return map_tensors(_with_parameters(inputs, draw), lambda value: value * OTHERWISE)

    def _drawn(self, make: Inputs, draw: Draw, where: str) -> Case:
        try:
            return make(draw)
        except Exception as error:
            raise AuthoringError(
                f"{self.exercise.name}: {where} can't be drawn: {error}"
            ) from error

    def _call(self, case: dict[str, Any] | ModuleCase, draw: Draw, gradients: bool) -> Call:
        if isinstance(case, dict):
            return Call(_with_parameters(case, draw), gradients=gradients)
        parameters = case.parameters
        if parameters is None and not case.own_parameters:
            parameters = draw_parameters(self.solution(**make_all(case.build)), draw)
        inputs = _with_parameters(case.inputs, draw)
        return Call(inputs, case.build, parameters, case.method, case.training, gradients)

    def _answers(self, variant: Variant, count: int | None = None) -> list[Answer]:
        """Collect a variant's answers to the first `count` cases, or to all."""
        namespace = self.lesson.namespace({variant.of or self.exercise.name: variant})
        question = replace(self.question, calls=self.question.calls[:count])
        return collect(namespace[self.exercise.name], question)

    def _expected(self, noise: float = 0.0) -> list[Answer]:
        """Compute the solution's answers in float64 and return them in the inputs' dtype.

        noise: size of random changes to the inputs and parameters, in rounding errors.
        """
        generator = torch.Generator().manual_seed(0)

        def precise(value: Tensor) -> Tensor:
            changes = torch.randn(value.shape, generator=generator)
            return value.double() * (1 + noise * torch.finfo(value.dtype).eps * changes)

        calls = [call.map_tensors(precise) for call in self.question.calls]
        answers = collect(self.solution, replace(self.question, calls=calls))
        for case, answer in zip(self.cases, answers, strict=True):
            if answer.problem and not case.raises:
                why = explain_problem(answer.problem, self.exercise.name)
                raise AuthoringError(f"the solution of {self.exercise.name} fails: {why}")
            if answer.changed:
                raise AuthoringError(f"the solution of {self.exercise.name} changes its input")
        return [
            replace(answer, tensors=map_tensors(answer.tensors, rounding_to(case.dtype)))
            for case, answer in zip(self.cases, answers, strict=True)
        ]

    def _case_keys(self) -> list[CaseKey]:
        expected = self._expected()
        has_tolerance = not all(case.goal for case in self.cases)
        disturbed = self._expected(ROUNDING) if has_tolerance else expected
        triples = zip(self.cases, expected, disturbed, strict=True)
        return [self._case_key(case, expected, disturbed) for case, expected, disturbed in triples]

    def _case_key(self, case: DrawnCase, expected: Answer, disturbed: Answer) -> CaseKey:
        arguments = case.call.arguments.items()
        goal = case.goal.goal if case.goal else {}
        outputs, least = expected.tensors | goal, LEAST[case.dtype]
        scales = {name: _scale(name, expected.tensors) for name in expected.tensors}
        return CaseKey(
            label=case.draw.name,
            shapes={name: list(v.shape) for name, v in arguments if isinstance(v, Tensor)},
            sizes=case.draw.sizes,
            expected=outputs,
            tolerance={
                name: _tolerance(value, disturbed.tensors[name], least * scales[name])
                for name, value in expected.tensors.items()
            },
            raises=case.raises,
            most_error=dict.fromkeys(goal, case.goal.most_error) if case.goal else {},
            dropout=(case.call.build or {}).get("dropout", 0.0) if case.call.training else None,
            again=case.call.earlier is not None,
            fresh=case.fresh,
            hidden=case.hidden,
        )


def rounding_to(dtype: torch.dtype) -> Callable[[Tensor], Tensor]:
    """Return a function that rounds float64; it keeps any other dtype, which the solution chose."""
    return lambda value: value.to(dtype) if value.dtype is torch.float64 else value


def draw_parameters(module: nn.Module, draw: Draw) -> dict[str, Tensor]:
    """Draw a module's parameters, biases included, so that none are zero or equal."""
    return {
        name: draw.normal_of(parameter.shape, PARAMETER_SCALE)
        for name, parameter in module.named_parameters()
    }


def _with_parameters(arguments: dict[str, Any], draw: Draw) -> dict[str, Any]:
    """Draw parameters for library modules among the arguments that have none."""

    def filled(value: Any) -> Any:
        if not isinstance(value, Library) or value.parameters:
            return value
        return replace(value, parameters=draw_parameters(value.make(), draw))

    return {name: filled(value) for name, value in arguments.items()}


def input_dims(solution: Callable) -> dict[str, str]:
    """Return each input's named dimensions, as annotated; "" unless it is a float tensor."""
    arguments = signature(written_function(solution)).parameters.values()
    needed = {a.name: a.annotation for a in arguments if a.default is a.empty and a.name != "self"}
    return {
        name: _dims(annotation) if "float32" in getattr(annotation, "dtypes", ()) else ""
        for name, annotation in needed.items()
    }


def output_dims(solution: Callable, returns: list[str]) -> dict[str, str]:
    """Return each output's named dimensions, as annotated in the solution."""
    annotation = written_function(solution).__annotations__.get("return")
    parts = getattr(annotation, "__args__", None) or (annotation,)
    return dict(zip(returns, map(_dims, parts), strict=False))


def _dims(annotation: Any) -> str:
    """Return the dimensions of a jaxtyping annotation; "" for any other."""
    return re.sub(r"\s+", " ", getattr(annotation, "dim_str", "")).strip()


def _tolerance(expected: Tensor, disturbed: Tensor, least: float) -> float:
    """Return how far a right answer may be off, absolute, and at least `least`.

    Good code is off by about as much as the answer moves when its inputs are rounded (backward
    stability), so the bound is a few times that.
    """
    if not expected.is_floating_point():
        return 0.0
    return max(least, 4 * _largest(disturbed - expected))


def _scale(name: str, outputs: dict[str, Tensor]) -> float:
    """Return the scale that an output's rounding errors are proportional to, at least 1.

    A gradient may be zero because large terms cancel, like that of a key's bias, so all gradients
    of a call share one scale.
    """
    gradients = [value for other, value in outputs.items() if other.startswith(GRADIENT)]
    related = gradients if name.startswith(GRADIENT) else [outputs[name]]
    return max(1.0, *(_largest(value) for value in related if value.is_floating_point()), 1.0)


def _largest(values: Tensor) -> float:
    finite = values[values.isfinite()]
    return finite.abs().max().item() if finite.numel() else 0.0
