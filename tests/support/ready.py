"""What a command forked by `commands` finds ready, besides its imports.

It is what grading lesson 1 loads and starts, so that each command need not do it anew.
"""

import sys
from contextlib import suppress

from nbgrader import api

from autograder.errors import CourseError
from autograder.grading.engine import pool
from autograder.grading.submission.blueprint import Blueprint
from autograder.grading.worker import task
from autograder.grading.worker.job import Job
from autograder.grading.worker.lesson_job import read_standard
from autograder.grading.worker.own_sandbox import own_sandbox
from autograder.grading.worker.source import read_source
from autograder.lessons.lesson import Lesson

LESSON = Lesson("01_dot_product_attention")
JOB = Job("", Blueprint([]), imports=read_source(LESSON.notebook_path).imports)

# For each new gradebook, nbgrader would start a program that tells its newest schema.
schema = api.get_alembic_version()
api.get_alembic_version = lambda: schema

if sys.platform == "linux":
    with suppress(CourseError):  # where there is no sandbox, tests that need one are skipped
        own_sandbox(JOB)
    task.get_ready(read_standard(LESSON.name, []).added_to(JOB))
    pool.use_huge_pages()  # a fork then costs half as much
    pool.use_huge_pages = lambda: None  # a command would take 0.4 seconds to do it again
