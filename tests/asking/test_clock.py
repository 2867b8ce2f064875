"""A limit on processor time stops a learner's code, and a much later one on wall time."""

import signal
import sys
import threading
import time

import psutil
import pytest

from autograder.asking import clock
from autograder.asking.clock import OutOfTime, TimeLimit

FOREVER = 3600.0


def spin():
    while True:
        pass


def spin_for(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.fixture(params=["POSIX", "elsewhere"])
def system(request, monkeypatch):
    if request.param == "elsewhere":
        monkeypatch.delattr(signal, "pthread_kill")
    return request.param


@pytest.fixture
def patient(monkeypatch):
    """Keep the limit on wall time from ending anything."""
    monkeypatch.setattr(clock, "PATIENCE", FOREVER)


@pytest.mark.usefixtures("system", "patient")
def test_a_loop_ends():
    limit = TimeLimit(0.1)
    with pytest.raises(OutOfTime), limit, limit.running():
        spin()
    assert not limit.waited


@pytest.mark.usefixtures("system", "patient")
def test_a_loop_that_swallows_the_exception_gets_it_again(monkeypatch):
    monkeypatch.setattr(clock, "AGAIN", 0.05)
    swallowed = 0
    with pytest.raises(OutOfTime), TimeLimit(0.05) as limit, limit.running():
        while swallowed < 3:
            try:
                spin()
            except BaseException:
                swallowed += 1
        spin()
    assert swallowed == 3


@pytest.mark.usefixtures("patient")
def test_sleeping_takes_no_processor_time():
    with TimeLimit(0.1) as limit, limit.running():
        time.sleep(0.4)


def test_a_sleeper_is_woken(monkeypatch):
    monkeypatch.setattr(clock, "PATIENCE", 0.001)
    limit = TimeLimit(FOREVER)
    with pytest.raises(OutOfTime), limit, limit.running():
        time.sleep(FOREVER)
    assert limit.waited


@pytest.mark.usefixtures("patient")
def test_other_processes_do_not_count(burner):
    before = burner.cpu_times().user
    with TimeLimit(0.5) as limit, limit.running():
        while burner.cpu_times().user < before + 1:
            time.sleep(0.05)


@pytest.mark.usefixtures("patient")
def test_several_bodies_share_the_time():
    with pytest.raises(OutOfTime), TimeLimit(0.2) as limit:
        for _ in range(100):
            with limit.running():
                spin_for(0.05)


@pytest.mark.usefixtures("patient")
def test_it_holds_in_any_thread():
    ended = []

    def work():
        try:
            with TimeLimit(0.1) as limit, limit.running():
                spin()
        except OutOfTime:
            ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(FOREVER)
    assert ended == [True]


@pytest.mark.usefixtures("patient")
def test_the_codes_own_alarm_is_not_the_limit():
    with TimeLimit(FOREVER) as limit, limit.running():
        signal.raise_signal(signal.SIGALRM)


@pytest.mark.usefixtures("system")
def test_no_alarm_is_left_behind():
    before = signal.getsignal(signal.SIGALRM)
    for _ in range(20):
        try:
            with TimeLimit(0.01) as limit, limit.running():
                spin_for(0.01)
        except OutOfTime:
            pass
    spin_for(0.3)
    assert signal.getsignal(signal.SIGALRM) is before


@pytest.fixture
def burner():
    """Another process that only burns processor time."""
    with psutil.Popen([sys.executable, "-c", "while True: pass"]) as process:
        yield process
        process.kill()
