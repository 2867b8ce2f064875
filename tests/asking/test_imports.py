"""Nothing is imported while a check's clock runs: that time belongs to the learner."""

import subprocess
import sys

import pytest

from autograder.places import ROOT

# Run in a process that has only run the lesson's own imports and definitions.
COLLECT = """
import sys
from dataclasses import replace
from autograder.asking import collect
from autograder.lessons.lesson import Lesson
from autograder.references.store import PUBLIC, load

answers = Lesson("LESSON").namespace()
outputs = collect.OneCall.outputs

def watched(call):
    before = set(sys.modules)
    try:
        return outputs(call)
    finally:
        if new := sys.modules.keys() - before:
            print(call.question.exercise, sorted(new)[:10], file=sys.__stdout__)

collect.OneCall.outputs = watched
reference = load(PUBLIC / "LESSON.safetensors")
for name, question in reversed(reference.questions.items()):
    shown = sum(case.is_shown for case in reference.keys[name].cases)  # the others are alike
    collect.collect(answers[name], replace(question, calls=question.calls[:shown]))
"""


@pytest.mark.first_is_enough
def test_nothing_is_imported_on_the_clock(lesson):
    command = [sys.executable, "-c", COLLECT.replace("LESSON", lesson.name)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, encoding="utf-8")
    assert done.stdout == ""
