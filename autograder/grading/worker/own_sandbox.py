"""The sandbox that a thread reuses from one submission to the next."""

import threading

from autograder.asking import QUESTIONS_VARIABLE
from autograder.grading.worker.job import Job
from autograder.sandbox.sandbox import Sandbox
from autograder.utils.watching import DESCRIBED, FIGURES_VARIABLE

AHEAD = 2  # kernels that each worker keeps ready; one starts in 0.2 s, nearly all of it waiting
QUESTIONS = "/scratch/questions.safetensors"

_own = threading.local()  # a Dask worker runs several tasks at a time, each in a thread


def own_sandbox(job: Job, workers: int = 1) -> Sandbox:
    """Return this thread's sandbox. A job with other needs gets a new one.

    Processes forked from here start with it.
    workers: how many will use it.
    """
    needs = job.imports, job.limits, job.figures
    if getattr(_own, "needs", None) != needs:
        close_own_sandbox()
        environment = {QUESTIONS_VARIABLE: QUESTIONS}
        if not job.figures:
            environment[FIGURES_VARIABLE] = DESCRIBED
        ahead = AHEAD * workers
        _own.sandbox, _own.needs = Sandbox(job.imports, job.limits, environment, ahead), needs
    return _own.sandbox


def close_own_sandbox() -> None:
    """End this thread's sandbox, if it has one."""
    if hasattr(_own, "sandbox"):
        _own.sandbox.close()
    _own.__dict__.clear()
