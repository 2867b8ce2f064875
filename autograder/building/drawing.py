"""Draw the cases of an exercise: the calls to make, from a seed."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from inspect import isclass, signature
from typing import Any

import torch
from torch import Tensor, nn

from autograder.asking.arguments import Library, make_all, named_parameters
from autograder.asking.learners_code import written_function
from autograder.asking.question import Call
from autograder.building.examples import example_arguments
from autograder.errors import AuthoringError
from autograder.judging.form import AFTER_A_CALL, Form
from autograder.judging.key import AspectKey
from autograder.lessons.cases import Case, Goal, Inputs, ModuleCase, Raises
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Exercise
from autograder.lessons.parts import Judged, Reads, SecondCall, Trial

EXAMPLE = "the example above"  # as cards call it
SHOWN_SEED, FRESH_SEED = "public", "fresh"
PARAMETER_SCALE = 0.6
DTYPES = {Form.DOUBLE: torch.float64, Form.HALF: torch.float16}
SAME = {Form.ONES: 1, Form.EQUAL: 3}  # the size of all dimensions in a form
SHORT, MIDDLE, LONG = 2, 5, 10  # where the sizes of texts begin, if they change between two calls
OTHER_VALUES = -0.7  # a factor
LONGER = 1 + 2**-26  # a factor that gives numbers more digits than a float32 holds


@dataclass(frozen=True)
class DrawnCase:
    """One call, and the draw that it comes from.

    seed: what it was drawn from: `SHOWN_SEED`, `FRESH_SEED` or a secret.
    """

    call: Call
    draw: Draw
    seed: str
    goal: Goal | None = None
    raises: str = ""
    form: Form = Form.PLAIN

    @property
    def fresh(self) -> bool:
        return self.seed == FRESH_SEED

    @property
    def hidden(self) -> bool:
        return self.seed not in (SHOWN_SEED, FRESH_SEED)


class Drawing:
    """The cases drawn for an exercise, seed by seed.

    solution: the course's own; its annotations say what to draw.
    cases: those drawn so far.
    aspects: the cases of each aspect, by number.
    example: the number of the docstring's example, which is in no aspect; None if it is no case.
    """

    def __init__(self, exercise: Exercise, solution: Callable) -> None:
        self.exercise, self.solution = exercise, solution
        self.second = exercise.part(SecondCall)
        self.asked = input_dims(solution)
        self.cases: list[DrawnCase] = []
        self.example: int | None = None
        self.aspects = [AspectKey(a.name, a.points, [], list(a.outputs)) for a in exercise.aspects]

    def draw(self, seed: str) -> None:
        """Draw all cases from a seed. Raises AuthoringError.

        Fresh cases (`FRESH_SEED`) are not asked in other forms.
        """
        self._draw_aspects(seed)
        if seed != FRESH_SEED:
            self._draw_forms(seed)

    def add_example(self, namespace: dict[str, Any]) -> None:
        """Add the example in the solution's docstring, if its outputs are compared as they are.

        namespace: the lesson's.
        """
        rare = any(isinstance(part, Trial | Reads | Judged) for part in self.exercise.parts)
        if rare or any(case.goal for case in self.cases):
            return
        if arguments := example_arguments(self.solution, namespace):
            draw = Draw(f"{SHOWN_SEED}/{self.exercise.name}/example", self.asked)
            draw.label(EXAMPLE)
            self.example = len(self.cases)
            self.cases.append(DrawnCase(Call(arguments), draw, SHOWN_SEED))

    def _draw_aspects(self, seed: str) -> None:
        """Draw the cases of all aspects. A goal takes seconds, so it is never a fresh case."""
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
                if goal:  # only the shown case is worth a second training
                    call = replace(call, repeats=goal.repeats and not is_secret)
                key.cases.append(len(self.cases))
                self.cases.append(DrawnCase(call, draw, seed, goal, raises))

    def _draw_forms(self, seed: str) -> None:
        """Ask cases again, in each of the exercise's forms."""
        first = self.exercise.aspects[0].cases[-1]
        for form in self.exercise.also:
            match form:
                case Form.ALONE:
                    self._draw_alone(seed)
                case Form.EQUAL:
                    self._draw_equal(seed)
                case Form.RESIZED:
                    for texts in (SHORT, LONG):
                        self._ask_in_form(self._richest, form, seed, texts)
                case Form.LARGE if not self._sizes(first):
                    continue
                case Form.ANOTHER if not isclass(self.solution):
                    continue
                case _:
                    self._ask_in_form(first, form, seed)
            if form == Form.AGAIN and self.second.beside:
                self._ask_in_form(self.second.beside, form, seed)

    def _draw_alone(self, seed: str) -> None:
        """Ask the case with the most sizes once for each of them, with that one 1."""
        if seed != SHOWN_SEED:
            return
        for name in self._sizes(self._richest):
            for one in ({name: 1}, {"n_heads": 1, "d_head": 1}):  # d_model may be a product
                if self._sizes(self._richest, **one)[name] == 1:
                    self._ask_in_form(self._richest, Form.ALONE, seed, **one)
                    break

    def _draw_equal(self, seed: str) -> None:
        """Ask the case with the most sizes with equal ones; where heads share d_model, twice."""
        case = self._ask_in_form(self._richest, Form.EQUAL, seed)
        if _is_product(case.draw.sizes):
            self._ask_in_form(self._richest, Form.EQUAL, seed, n_heads=2, d_head=2)

    @property
    def _richest(self) -> Inputs:
        return _richest(self.exercise, self.solution)

    def richness(self, make: Inputs) -> tuple[int, int]:
        """Return how many sizes a case has, and how many inputs if it has any."""
        inputs, sizes = self._plain(make)
        return len(sizes), len(inputs) if sizes else 0

    def _sizes(self, make: Inputs, **sizes: int) -> dict[str, int]:
        return self._plain(make, **sizes)[1]

    def _plain(self, make: Inputs, **sizes: int) -> tuple[dict[str, Any], dict[str, int]]:
        """Return a case's inputs and sizes; none if its outputs aren't the solution's."""
        draw = Draw(f"{SHOWN_SEED}/{self.exercise.name}", self.asked).fix(**sizes)
        case = self._drawn(make, draw, "a case")
        if isinstance(case, Goal | Raises) or (isinstance(case, ModuleCase) and not case.method):
            return {}, {}
        return case.inputs if isinstance(case, ModuleCase) else case, draw.sizes

    def _ask_in_form(
        self, make: Inputs, form: Form, seed: str, texts_before: int = 0, **sizes: int
    ) -> DrawnCase:
        aspects = self.exercise.aspects
        case = self._in_form(make, form, seed, texts_before, sizes)
        about = next(aspect for aspect in aspects if make in aspect.cases)
        for aspect, key in zip(aspects, self.aspects, strict=True):
            others = set(aspect.outputs) - set(about.outputs or aspect.outputs)
            if aspect is about or others:
                key.cases.append(len(self.cases))
        self.cases.append(case)
        return case

    def _in_form(
        self, make: Inputs, form: Form, seed: str, texts_before: int, sizes: dict[str, int]
    ) -> DrawnCase:
        draw = Draw(
            "/".join(
                [seed, self.exercise.name, form, *sizes] + [str(texts_before)] * bool(texts_before)
            ),
            self.asked,
            same=math.prod(sizes.values()) if form == Form.EQUAL and sizes else SAME.get(form, 0),
            large=form == Form.LARGE,
            texts=MIDDLE if texts_before else 0,
            exact_root=form in DTYPES,
        ).fix(**sizes)
        case = self._compared(make, draw, form)
        if form in (Form.ONES, Form.RESIZED) and isinstance(case, ModuleCase):
            case = replace(case, training=True)
        call = self._call(case, draw, gradients=False)
        if form in AFTER_A_CALL:
            earlier = self._earlier(make, form, draw, call, texts_before)
            call = replace(call, earlier=earlier)
        if form in DTYPES:
            call = call.map_tensors(lambda value: (value.double() * LONGER).to(DTYPES[form]))
        draw.label(", ".join(filter(None, [draw.name, form])))
        return DrawnCase(call, draw, seed, form=form)

    def _earlier(self, make: Inputs, form: Form, draw: Draw, call: Call, texts: int) -> Call:
        """Draw the call before another: with the same sizes, or with others.

        texts: where the sizes of its texts begin; 0 if they're drawn as others are.
        """
        seed = f"{draw.seed}/earlier"
        if form == Form.AGAIN:
            before = Draw(seed, self.asked).fix(**draw.sizes)
        else:
            kept = {} if form == Form.ANOTHER else _built_with(call, draw)
            before = Draw(seed, self.asked, texts=texts, unlike=draw.sizes).fix(**kept)
        after = None if make is self.second.beside else self.second.after
        case = self._compared(after or make, before, f"call before {form!r}")
        earlier = self._call(case, before, gradients=False)
        if form != Form.ANOTHER:
            earlier = replace(earlier, build=None, parameters=None)
        return earlier.map_tensors(lambda value: value * OTHER_VALUES)

    def _compared(self, make: Inputs, draw: Draw, form: str) -> dict[str, Any] | ModuleCase:
        """Draw a case whose outputs are compared with the solution's."""
        case = self._drawn(make, draw, form)
        if isinstance(case, Goal | Raises):
            raise AuthoringError(f"{self.exercise.name}: a {type(case).__name__} has no {form}")
        return case

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


@cache
def _richest(exercise: Exercise, solution: Callable) -> Inputs:
    """Return the last of the cases of all aspects that have the most sizes and arguments.

    It is the same for each seed, so grading looks for it once.
    """
    makers = [make for aspect in exercise.aspects for make in aspect.cases]
    return max(reversed(makers), key=Drawing(exercise, solution).richness)


def _built_with(call: Call, draw: Draw) -> dict[str, int]:
    """Return the sizes that a module was built with, and those of which they are products."""
    build = call.build or {}
    kept = {name: size for name, size in draw.sizes.items() if name in build}
    return kept | ({"d_head": draw.sizes["d_head"]} if kept and "d_head" in draw.sizes else {})


def _is_product(sizes: Mapping[str, int]) -> bool:
    """Whether d_model is the size of a model whose heads share its features."""
    if not {"d_model", "n_heads", "d_head"} <= sizes.keys():
        return False
    return sizes["d_model"] == sizes["n_heads"] * sizes["d_head"]


def draw_parameters(module: nn.Module, draw: Draw) -> dict[str, Tensor]:
    """Draw a module's parameters, biases included, so that none are zero or equal."""
    return {
        name: draw.normal_of(parameter.shape, PARAMETER_SCALE)
        for name, parameter in named_parameters(module).items()
    }


def _with_parameters(arguments: dict[str, Any], draw: Draw) -> dict[str, Any]:
    """Draw parameters for those library modules among the arguments that lack them."""

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
        name: dims_of(annotation) if "float32" in getattr(annotation, "dtypes", ()) else ""
        for name, annotation in needed.items()
    }


def dims_of(annotation: Any) -> str:
    """Return the dimensions of a jaxtyping annotation; "" for any other."""
    return re.sub(r"\s+", " ", getattr(annotation, "dim_str", "")).strip()
