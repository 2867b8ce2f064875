"""Build reference files: run the solution, and every known mistake, on every case.

Expected values are computed in float64; mistakes run in float32, as a learner's code would.
Building is also the mutation test of the course: it fails if an edit no longer applies, a mistake
goes undetected or can't be told from another, a correct alternative is rejected, or a trivial
answer earns a point.
"""

from collections.abc import Callable
from dataclasses import replace

from autograder.asking.answer import Answer
from autograder.asking.code_facts import unused_arguments
from autograder.asking.collect import collect
from autograder.asking.learners_code import written_function
from autograder.asking.question import Call, Question
from autograder.building.audit import Audit
from autograder.building.contract import contract
from autograder.building.drawing import FRESH_SEED, SHOWN_SEED, Drawing, dims_of
from autograder.building.examples import require_true_examples
from autograder.building.expected import Solution
from autograder.building.sources import source_digest
from autograder.judging.footprint import Footprint, footprint
from autograder.judging.key import AnswerKey, MistakeKey
from autograder.judging.measures import measured
from autograder.lessons.exercise import Exercise
from autograder.lessons.lesson import Lesson
from autograder.lessons.parts import Forbids, Judged, Keeps, Loaded, Reads, Result, Trial
from autograder.lessons.variants import Variant
from autograder.references.store import LessonReference

AMPLE = 600.0  # seconds for all cases of an exercise


def build(lesson: Lesson) -> LessonReference:
    """Build a lesson's reference. Raises AuthoringError."""
    built = [ExerciseBuilder(lesson, exercise).build() for exercise in lesson.asked.values()]
    return LessonReference(
        lesson=lesson.name,
        title=lesson.title,
        source=source_digest(lesson),
        questions={question.exercise: question for question, _ in built},
        keys={key.exercise: key for _, key in built},
        predictions=lesson.predictions,
    )


class ExerciseBuilder:
    """Builds the question and the answer key of one exercise."""

    def __init__(self, lesson: Lesson, exercise: Exercise) -> None:
        self.lesson, self.exercise = lesson, exercise
        self.measure = exercise.part(Judged).by
        self.solution = lesson.namespace()[exercise.name]
        drawing = Drawing(exercise, self.solution)
        drawing.draw(SHOWN_SEED)
        drawing.add_example(lesson.namespace())
        drawing.draw(FRESH_SEED)
        self.cases, self.aspects, self.example = drawing.cases, drawing.aspects, drawing.example
        question = question_of(exercise, [case.call for case in self.cases])
        raises = (case.raises for case in self.cases if case.raises)
        agreed = contract(question, lesson.solutions[exercise.name], raises)
        self.question = replace(question, contract=agreed)

    def build(self) -> tuple[Question, AnswerKey]:
        """Build both halves. Raises AuthoringError if the exercise is not sound."""
        require_true_examples(self.lesson, self.exercise.name)
        others = {v.name: self._answers(v, len(self.cases)) for v in self.exercise.alternatives}
        known = self.lesson.mistakes(self.exercise)
        asked = sum(not case.fresh for case in self.cases)  # mistakes fail before fresh cases
        wrong = {m.name: [self._answers(v, asked) for v in m.variants] for m in known}
        right = {"the solution": self._collect(self.solution, len(self.cases)), **others}
        key = self._key(
            [MistakeKey(m.name, m.say, list(map(self._footprints, wrong[m.name]))) for m in known]
        )
        Audit(self.exercise, self.question, key).run(right, wrong)
        return self.question, key

    def _key(self, mistakes: list[MistakeKey]) -> AnswerKey:
        return AnswerKey(
            exercise=self.exercise.name,
            lesson=self.lesson.name,
            dims=output_dims(self.solution, self.question.returns),
            cases=Solution(self.solution, self.question, self.measure).case_keys(self.cases),
            aspects=self.aspects,
            mistakes=mistakes,
            hints=self.exercise.hints,
            builds_on=list(self.exercise.builds_on),
            keeps=self.question.keeps,
            choices=list(self.exercise.part(Result).choices.values()),
            challenge=self.exercise.challenge,
            measure=self.measure,
            example=self.example,
            unneeded=list(unused_arguments(self.solution)),
        )

    def _footprints(self, answers: list[Answer]) -> list[Footprint]:
        asked = zip(self.cases, answers, strict=False)  # mistakes have no fresh cases
        return [footprint(measured(self.measure, case.call.arguments, a)) for case, a in asked]

    def _answers(self, variant: Variant, count: int) -> list[Answer]:
        """Collect a variant's answers to the first `count` cases."""
        namespace = self.lesson.namespace({self.exercise.name: variant})
        return self._collect(namespace[self.exercise.name], count)

    def _collect(self, answer: Callable, count: int) -> list[Answer]:
        """Collect the course's own answers, which all end: a slow machine may take its time."""
        calls = self.question.calls[:count]
        return collect(answer, replace(self.question, calls=calls, seconds=AMPLE))


def question_of(exercise: Exercise, calls: list[Call]) -> Question:
    """Make an exercise's question with these calls, without a contract yet."""
    keeps, result = exercise.part(Keeps), exercise.part(Result)
    return Question(
        exercise=exercise.name,
        calls=calls,
        returns=exercise.returns.split(),
        keeps=keeps.attributes.split(),
        keeps_detached=keeps.detached,
        reads=exercise.part(Reads).modules.split(),
        plain=result.plain,
        choices=list(result.choices),
        as_dict=result.as_dict,
        forbidden=exercise.part(Forbids).functions.split(),
        from_file=exercise.part(Loaded).from_file,
        trial=exercise.part(Trial).name,
        seconds=exercise.seconds,
    )


def output_dims(solution: Callable, returns: list[str]) -> dict[str, str]:
    """Return each output's named dimensions, as annotated in the solution."""
    annotation = written_function(solution).__annotations__.get("return")
    parts = getattr(annotation, "__args__", None) or (annotation,)
    return dict(zip(returns, map(dims_of, parts), strict=False))
