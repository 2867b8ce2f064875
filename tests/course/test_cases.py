"""The cases of all exercises together leave nothing constant that a wrong answer could rely on."""

import inspect
import re
from collections import defaultdict
from inspect import isclass

import pytest

from autograder.judging.case_words import case_in_words
from autograder.judging.form import AFTER_A_CALL, Form
from autograder.judging.verdict import Exhibit, Verdict
from autograder.notebook.course_solution import course_solution
from autograder.references.store import exercises, find

by_exercise = pytest.mark.parametrize("exercise", sorted(exercises()))


@pytest.fixture
def question(exercise):
    return find(exercise).questions[exercise]


@pytest.fixture
def key(exercise):
    return find(exercise).keys[exercise]


@by_exercise
def test_every_size_takes_two_values(question, key):
    values = defaultdict(set)
    for case in key.cases:
        for name, size in case.sizes.items():
            if name.isidentifier() and size > 1:
                values[name].add(size)
    assert not {name: found for name, found in values.items() if len(found) == 1}


@by_exercise
def test_sizes_differ_but_in_the_forms_that_ask_for_equal_ones(question, key):
    for case in key.cases:
        sizes = [size for size in case.sizes.values() if size > 1]
        if case.form not in (Form.EQUAL, Form.ALONE, Form.ONES):
            assert len(set(sizes)) == len(sizes), case.sizes


@by_exercise
def test_in_one_case_all_sizes_are_equal(question, key):
    for case in key.cases:
        if case.form == Form.EQUAL:
            sizes = {size for name, size in case.sizes.items() if name.isidentifier()}
            sizes -= {1, case.sizes.get("n_context")}
            assert len(sizes) <= 3, case.sizes  # d_model is a product, and pieces give n


@by_exercise
def test_a_case_in_words_says_nothing_twice_and_has_its_plurals(question, key):
    for index, case in enumerate(key.cases):
        exhibit = Exhibit(index, case.label, case.shapes, sizes=case.sizes)
        shown = Verdict(key.exercise, key.lesson, [], exhibit=exhibit).with_inputs(question)
        said = case_in_words(shown.exhibit)
        before, _, beside = said.partition(" (")
        counted = re.findall(COUNTED, beside)
        assert not set(counted) & set(re.findall(COUNTED, before)), said
        assert not re.search(r"[^,.\d+] 1 [a-z]+s\b", said), said


COUNTED = r"\d+ [a-z]+"  # "3 heads"


@by_exercise
def test_a_call_before_has_other_numbers_and_where_it_says_so_other_sizes(question, key):
    for case, call in zip(key.cases, question.calls, strict=True):
        assert bool(call.earlier) == (case.form in AFTER_A_CALL)
        if case.form == Form.ANOTHER and call.build is not None:
            assert call.earlier.build != call.build


def test_the_forms_are_asked_for_almost_everywhere():
    forms = {name: {case.form for case in find(name).keys[name].cases} for name in exercises()}
    lacking = {
        form: [name for name, had in forms.items() if form not in had]
        for form in (Form.EQUAL, Form.RESIZED)
    }
    assert all(len(names) < len(forms) / 3 for names in lacking.values()), lacking


@by_exercise
def test_an_argument_that_has_a_default_is_left_out_once(question, key):
    answer = course_solution(key.exercise, key.lesson)
    given = [(answer, call.arguments) for call in question.calls if not isclass(answer)]
    for call in question.calls if isclass(answer) else ():
        given.append((getattr(answer, call.method or "forward", None), call.arguments))
        given.append((answer.__init__, call.build or {}))
    for function in {function for function, _ in given} - {None}:
        passed = [set(names) for of, names in given if of is function]
        always = set.intersection(*passed)
        assert not {name for name in _with_default(function) if name in always}


def _with_default(function):
    parameters = inspect.signature(function).parameters.values()
    return {one.name for one in parameters if one.default is not one.empty}


@by_exercise
def test_a_module_is_asked_in_both_modes(question, key):
    calls = zip(question.calls, key.cases, strict=True)
    modes = {
        call.training
        for call, case in calls
        if call.build is not None and call.method and max(case.sizes.values(), default=0) > 1
    }
    assert modes in (set(), {False, True})
