"""nbgrader's formgrader in a course directory for tests, as `make formgrader` starts it."""

import socket
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from autograder.lessons.lesson import ROOT
from tests.support import kills
from tests.support.classroom import start_program
from tests.support.processes import descendants
from tests.support.waiting import HANG

CONFIG = """
load_subconfig({base!r})
get_config().CourseDirectory.root = {course!r}
"""


def configure(course: Path) -> None:
    """Give a course directory the course's own settings."""
    config = CONFIG.format(base=str(ROOT / "nbgrader_config.py"), course=str(course))
    (course / "nbgrader_config.py").write_text(config, encoding="utf-8")


@contextmanager
def formgrader_at(course: Path) -> Iterator[str]:
    """Run a Jupyter server in a course directory; yield its address."""
    port, own = _free_port(), str(course / "jupyter")
    (course / "tmp").mkdir()
    options = ["--no-browser", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    options += ["--IdentityProvider.token=", "--allow-root", "--LabApp.default_url=/formgrader"]
    places = {"JUPYTER_CONFIG_DIR": own, "JUPYTER_RUNTIME_DIR": own, "TMPDIR": f"{course}/tmp"}
    program = ["jupyter", "lab", *options]
    process = start_program(program, course / "said.txt", cwd=course, **places)
    address = f"http://127.0.0.1:{port}"
    kills.wait_for(lambda: _answers(f"{address}/api"), process)
    yield address
    own = descendants(process.pid)
    process.terminate()
    process.wait(HANG)
    kills.wait_for_end(own, course)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _answers(address: str) -> bool:
    with suppress(OSError), urllib.request.urlopen(address, timeout=HANG) as reply:
        return reply.status == 200
    return False
