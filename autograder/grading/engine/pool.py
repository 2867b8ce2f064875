"""Grade a batch of submissions in an executor.

The executor is a pool of processes on this machine, or a Dask cluster. Nothing else knows which.
"""

import gc
import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from concurrent.futures.process import ProcessPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from multiprocessing import forkserver
from multiprocessing.context import BaseContext
from types import ModuleType
from typing import Any

from autograder.errors import CourseError
from autograder.grading.engine import ctrl_c
from autograder.grading.engine.patches import kill_workers, leave_jobs_to_workers
from autograder.grading.worker.job import Graded, Job
from autograder.grading.worker.own_sandbox import close_own_sandbox, own_sandbox
from autograder.sandbox.inside.huge_pages import use_huge_pages
from autograder.sandbox.walls import NoSandbox

AHEAD = 2  # jobs per worker, so that none waits for the gradebook
CHECK_EVERY = 0.2  # seconds
SCHEDULER_SECONDS = 60
TASK = "autograder.grading.worker.task"


class Pool:
    """An executor that is replaced when it breaks.

    make: makes an executor.
    end: ends one at once, whatever it is doing.
    workers: how many jobs it runs at a time.
    """

    def __init__(
        self, make: Callable[[], Executor], end: Callable[[Any], None], workers: int
    ) -> None:
        self.make, self.end, self.workers = make, end, workers
        self.executor = make()

    def grade_all(
        self, jobs: Iterable[Job], check: Callable[[], None] = lambda: None
    ) -> Iterator[Graded]:
        """Grade the jobs, yielding results as they finish. Takes a few jobs in advance.

        If the machine may be to blame for what went wrong with a job, it runs once more at the end,
        alone. Raises NoSandbox if a worker can't have a sandbox.

        check: called several times a second; what it raises ends the work.
        """
        doubtful = []
        for job, graded in self._finished(iter(jobs), self.workers * AHEAD, check):
            if graded.doubtful:
                doubtful.append(job)
            else:
                yield graded
        for _, graded in self._finished(iter(doubtful), 1, check):
            yield graded

    def close(self) -> None:
        """End the workers. Unfinished work is lost."""
        self.end(self.executor)

    def _finished(
        self, jobs: Iterator[Job], most: int, check: Callable[[], None]
    ) -> Iterator[tuple[Job, Graded]]:
        """Yield each job with its result, with at most this many submitted at a time."""
        pending: dict[Future, Job] = {}
        while True:
            check()
            for job in islice(jobs, most - len(pending)):
                pending[self._submit(job)] = job
            if not pending:
                return
            done, _ = wait(pending, CHECK_EVERY, FIRST_COMPLETED)
            for future in done:
                job = pending.pop(future)
                yield job, _result(future, job)

    def _submit(self, job: Job) -> Future:
        try:
            return self.executor.submit(_grade, job)
        except BrokenExecutor:
            self.close()
            self.executor = self.make()
            return self.executor.submit(_grade, job)


def local_pool(workers: int, empty: Job, with_reference: Callable[[Job], Job]) -> Pool:
    """Make a pool of processes on this machine, which end when this one does.

    empty: a job without a submission, with what all jobs have in common.
    with_reference: adds what answers are judged by, which loads torch.
    """

    def make() -> ProcessPoolExecutor:
        context = _context()
        if context.get_start_method() == "fork":
            # The workers share the sandbox, and what is imported here while it starts.
            own_sandbox(empty, workers)
            with ctrl_c.delayed():
                _task().get_ready(with_reference(empty))
            gc.freeze()  # garbage collection skips all of it from now on
            use_huge_pages()
        executor = ProcessPoolExecutor(workers, context, _start_worker)
        with _without_main(), ctrl_c.delayed():
            for _ in range(workers):  # with a fork server, each starts one worker
                executor.submit(os.getpid)
        if context.get_start_method() == "fork":
            leave_jobs_to_workers(executor)
        return executor

    return Pool(make, _end_processes, workers)


def dask_pool(address: str) -> Pool:
    """Make a pool of a Dask cluster's workers, given its scheduler's address.

    Raises CourseError if there is no such cluster, or no Dask.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise CourseError("A scheduler needs Dask: pip install -e '.[dask]'.") from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # the error below says it once
    try:
        client = Client(address, timeout=SCHEDULER_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise CourseError(f"No Dask scheduler answers at {address}: {error}.") from error
    threads = sum(client.nthreads().values())
    if not threads:
        client.close()
        raise CourseError(
            f"The Dask scheduler at {address} has no workers. Start some in this course "
            f"directory: dask worker {address}"
        )
    return Pool(lambda: client.get_executor(pure=False), lambda _: client.close(), threads)


def _context() -> BaseContext:
    """Return the way to start workers: by forking this process, if possible.

    A process with threads, such as formgrader's server, can't safely be forked. Workers are then
    forked from a new process that has imported what they need.
    """
    if threading.active_count() == 1:
        return multiprocessing.get_context("fork")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([TASK])
    with ctrl_c.ignored():
        forkserver.ensure_running()
    return context


@contextmanager
def _without_main() -> Iterator[None]:
    """Keep new processes from importing this one's main module, which is all of nbgrader."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # or its kernels would inherit it
    threading.Thread(target=_end_with_grader, daemon=True).start()


def _end_with_grader() -> None:
    """End this worker when the grader ends, for whatever reason.

    Its parent process may be another one (a fork server), which lives as long as the worker does.
    """
    if parent := multiprocessing.parent_process():
        parent.join()
    os._exit(1)


def _end_processes(executor: ProcessPoolExecutor) -> None:
    kill_workers(executor)
    executor.shutdown()
    close_own_sandbox()


def _task() -> ModuleType:
    """Import the grading module. It loads torch for a second, while others get ready."""
    return import_module(TASK)


def _grade(job: Job) -> Graded:
    return _task().grade(job)


def _not_graded(job: Job, reason: str) -> Graded:
    return _task().not_graded(job, reason)


def _result(future: Future, job: Job) -> Graded:
    try:
        return future.result()
    except NoSandbox:
        raise
    except BrokenExecutor:
        return _not_graded(job, "the process that graded it was ended, perhaps for want of memory")
    except Exception as error:
        return _task().failed(job, error)
