"""The grades of a class, or the reasons why there are none.

nbgrader exports 0.0 for what was never handed in or not graded yet; here, that has no grade at all.
"""

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

from autograder.errors import CourseError
from autograder.grading.gradebook.follow_tables import NAMES
from autograder.grading.gradebook.grades import Grade, LessonGrades, Standing
from autograder.grading.gradebook.lesson_grades import known_learners, lesson_grades, lesson_names
from autograder.grading.gradebook.opening import Gradebook
from autograder.grading.term.tables import Learner, Term, is_excused


@dataclass(frozen=True)
class ClassGrade:
    """A learner's grade for a lesson, or why there is none.

    most: the lesson's points, or 100.
    scale: what each of the learner's points counts, so that `most` is the most.
    """

    standing: Standing
    most: float
    grade: Grade
    scale: float = 1.0

    @property
    def points(self) -> float | None:
        """The points after the late penalty; None if there is no grade."""
        return self.grade.points * self.scale if self.standing is Standing.GRADED else None

    def in_percent(self) -> Self:
        return replace(self, most=100.0, scale=100.0 / self.most) if self.most else self


@dataclass(frozen=True)
class ClassGrades:
    """The grades of a class: learners by name, lessons by due date, a grade for each pair."""

    learners: list[Learner]
    lessons: dict[str, LessonGrades]
    grades: dict[tuple[str, str], ClassGrade]

    def of(self, lesson: str) -> Iterator[tuple[Learner, ClassGrade]]:
        """Yield each learner with the grade for a lesson."""
        return ((learner, self.grades[learner.learner, lesson]) for learner in self.learners)

    def most(self, lesson: str) -> float:
        """Return the most that a learner can get for a lesson."""
        return next((one.most for _, one in self.of(lesson)), self.lessons[lesson].points)

    def in_percent(self) -> Self:
        """Return the same grades as percentages of each lesson's points."""
        return replace(self, grades={pair: one.in_percent() for pair, one in self.grades.items()})

    def standing(self, lesson: str, standing: Standing) -> list[Learner]:
        """List the learners with a certain standing in a lesson."""
        return [learner for learner, one in self.of(lesson) if one.standing is standing]


def read_class_grades(
    gradebook: Gradebook,
    term: Term,
    submitted: Callable[[str, str], bool],
    lessons: Iterable[str] = (),
    learners: Iterable[str] = (),
) -> ClassGrades:
    """Read the grades of the learners in learners.csv and in the gradebook.

    submitted: whether the course directory has a learner's submission to a lesson; one that was
    never graded is not in the gradebook.
    lessons, learners: the only ones wanted, if any.
    Raises CourseError if there is no such lesson or learner.
    """
    people = _wanted(class_list(gradebook, term), learners, "learner", lambda one: one.learner)
    names = _wanted(lesson_names(gradebook), lessons, "lesson", str)
    found = {name: lesson_grades(gradebook, name, term) for name in names}
    grades = {}
    for lesson, known in found.items():
        for learner in people:
            pair = learner.learner, lesson
            grade = known.learners.get(learner.learner, Grade())
            standing = _standing(known, term, pair, submitted)
            grades[pair] = ClassGrade(standing, known.points, grade)
    return ClassGrades(people, found, grades)


def class_list(gradebook: Gradebook, term: Term) -> list[Learner]:
    """List the learners of learners.csv and of the gradebook by last name."""
    known = known_learners(gradebook)
    everyone = dict.fromkeys([*term.learners, *known])
    learners = (_merged(term.learners.get(id, Learner(id)), known.get(id)) for id in everyone)
    return sorted(learners, key=_place)


def exact(value: float | None) -> str:
    """Write a number without needless digits; "" for None."""
    return "" if value is None else f"{value:.4f}".rstrip("0").rstrip(".")


def _standing(
    known: LessonGrades,
    term: Term,
    pair: tuple[str, str],
    submitted: Callable[[str, str], bool],
) -> Standing:
    learner, lesson = pair
    if is_excused(term, learner, lesson):
        return Standing.EXCUSED
    if learner in known.learners:
        return Standing.GRADED if known.is_graded(learner) else Standing.NOT_GRADED
    return Standing.NOT_GRADED if submitted(learner, lesson) else Standing.MISSING


def _place(learner: Learner) -> tuple[str, str, str]:
    return _plain(learner.last_name), _plain(learner.first_name), learner.learner


def _plain(name: str) -> str:
    """Return a name in lowercase without accents, so that Öz comes before Smith."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _wanted(found: list[Any], names: Iterable[str], kind: str, name_of: Callable) -> list[Any]:
    """Pick the things with these names; all of them if there are no names."""
    by_name, names = {name_of(thing): thing for thing in found}, list(names)
    for name in names:
        if name not in by_name:
            known = ", ".join(sorted(by_name)) or "none at all"
            raise CourseError(f"The gradebook has no {kind} {name!r}, only {known}.")
    return [by_name[name] for name in names] or found


def _merged(learner: Learner, known: Learner | None) -> Learner:
    """Fill in what learners.csv leaves out from the gradebook."""
    blank = [name for name in NAMES if not getattr(learner, name)]
    return replace(learner, **{name: getattr(known, name, "") for name in blank})
