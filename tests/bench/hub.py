"""Set up a JupyterHub by docs/hub.md, teach a lesson on it, and take it down again.

Two learners, an instructor and somebody else each have an account. It needs Linux, root, npm,
Chromium and about ten minutes. Accounts, homes and processes live in namespaces of their own and
leave nothing behind. The course on the hub is a clone, so it has what is committed.
"""

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import requests
from playwright.sync_api import expect

from autograder.places import ROOT
from tests.demo.made_up_class import SOLUTION, MadeUpSubmission
from tests.grading.feedback.made import parsed, words
from tests.support.assignment_list import AssignmentList
from tests.support.browser import new_page
from tests.support.classroom import LESSON, start_program
from tests.support.kills import wait_for
from tests.support.lab import answers, free_port
from tests.support.waiting import wait_until

COURSE, ACCOUNT = "attention-from-scratch", "grader-attention"
LEARNERS, INSTRUCTOR, STRANGER = ("amy", "ben"), "ines", "eve"
PRIVATE = ("/etc", "/home", "/srv", "/root", "/usr/local/share")
ROOM = Path("/srv/hub")  # of the hub, and of the learners' environment
LEARNERS_PYTHON = ROOM / "learners/bin"
PATIENCE = 120  # seconds for a server to start
TOKEN = secrets.token_hex(16)


def report() -> None:
    """Print what each person saw, or what is missing."""
    if lacking := _lacking():
        print(f"not run: {lacking}")
        return
    with tempfile.TemporaryDirectory() as folder:
        apart = ["unshare", "--mount", "--propagation=private", "--pid", "--fork", "--kill-child"]
        command = [*apart, "--mount-proc", sys.executable, "-m", "tests.bench.hub", folder]
        subprocess.run(command, cwd=ROOT, check=True)


def _lacking() -> str:
    if not hasattr(os, "geteuid") or os.geteuid():
        return "it needs root, to make accounts"
    programs = ("unshare", "npm", "git", "make", "chromium")
    missing = [name for name in programs if not shutil.which(name)]
    return f"it needs {', '.join(missing)}" if missing else ""


def run(folder: Path) -> None:
    """Do everything, in namespaces of our own. folder: for what these folders would keep."""
    for path in PRIVATE:
        _keep_apart(path, folder / path.strip("/").replace("/", "_"))
    commands, learners_config, hub_config = _set_up_by_the_docs()
    serve, service = _serve_by_the_docs()
    _set_up(commands, learners_config)
    with hub(hub_config) as address:
        teach(address)
        print(f"feedback at once, by `{serve.strip()}`")
        with serving(serve):
            improve(address, LEARNERS[1])
    print("the same, with `serve` as a service of the hub")
    with hub(hub_config + service) as address:
        improve(address, LEARNERS[0])


def _keep_apart(path: str, changes: Path) -> None:
    """Keep what is written below `path` from the machine."""
    upper, work = changes / "upper", changes / "work"
    upper.mkdir(parents=True)
    work.mkdir()
    options = f"lowerdir={path},upperdir={upper},workdir={work}"
    _bash(f"mount -t overlay overlay -o {options} {path}")


def _set_up_by_the_docs() -> tuple[list[str], str, str]:
    """Return what docs/hub.md says to set up: three blocks of commands, and two configurations."""
    commands, (learners_config, hub_config) = _blocks("Set it up")
    assert len(commands) == 3
    return commands, learners_config, hub_config


def _serve_by_the_docs() -> tuple[str, str]:
    """Return the command that docs/hub.md has for serving, and the service of the hub."""
    [[command], [service]] = _blocks("Grade as it arrives")
    return command, service


def _blocks(section: str) -> tuple[list[str], list[str]]:
    """Return the commands and the configurations in a section of docs/hub.md."""
    text = (ROOT / "docs/hub.md").read_text(encoding="utf-8")
    part = text.partition(f"## {section}\n")[2].partition("\n## ")[0]
    console, python = (
        re.findall(rf"```{kind}\n(.*?)```", part, re.S) for kind in ("console", "python")
    )
    return console, python


def _set_up(commands: list[str], learners_config: str) -> None:
    as_root, as_grader, for_learners = commands
    _bash("chmod 755 /root; git config --system --add safe.directory '*'")
    for person in (*LEARNERS, INSTRUCTOR, STRANGER):
        _bash(f"useradd --create-home --shell /bin/bash {person}")
    _bash(re.sub("^apt .*$", "", as_root, flags=re.M))  # installed already
    _bash(as_grader.replace("<this repository>", f"'{ROOT}'"), ACCOUNT)
    _bash(f"{sys.executable} -m venv {LEARNERS_PYTHON.parent}")
    torch = re.search("^torch==.*$", (ROOT / "lock.txt").read_text(encoding="utf-8"), re.M)[0]
    for command in (f"pip install jupyterhub==6.1.1 {torch}", for_learners):
        _bash(f"PATH={LEARNERS_PYTHON}:$PATH; {command}")
    config = LEARNERS_PYTHON.parent / "etc/jupyter/nbgrader_config.py"
    config.write_text(learners_config, encoding="utf-8")
    _bash(f"npm install --prefix {ROOM} configurable-http-proxy")


def _bash(commands: str, account: str = "root") -> None:
    """Run commands as an account; each has to succeed."""
    said = subprocess.run(
        ["su", account, "-c", f"set -e; cd ~; {commands}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    if said.returncode:
        raise RuntimeError(f"{account}: {commands}\n{said.stdout[-3000:]}")


def _ours(port: int, hub_port: int, proxy_port: int) -> str:
    """Return what a hub for a bench needs besides docs/hub.md."""
    return f"""
c.JupyterHub.bind_url = "http://127.0.0.1:{port}/"
c.JupyterHub.hub_port = {hub_port}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy_port}"
c.ConfigurableHTTPProxy.command = ["{ROOM}/node_modules/.bin/configurable-http-proxy"]
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.Spawner.cmd = ["{LEARNERS_PYTHON}/jupyterhub-singleuser"]
c.Spawner.start_timeout = c.Spawner.http_timeout = {PATIENCE}
c.Spawner.environment = {{"PATH": "{LEARNERS_PYTHON}:/usr/bin:/bin"}}
c.JupyterHub.services.append({{"name": "driver", "api_token": {TOKEN!r}}})
c.JupyterHub.load_roles.append({{
    "name": "driver", "services": ["driver"],
    "scopes": ["admin:users", "admin:servers", "tokens", "list:services"],
}})
"""


@contextmanager
def hub(config: str) -> Iterator[str]:
    """Run the hub; yield its address."""
    port, *others = (free_port() for _ in range(3))
    path, log = ROOM / "jupyterhub_config.py", ROOM / "hub.log"
    path.write_text(f"{config}{_ours(port, *others)}", encoding="utf-8")
    command = [f"{LEARNERS_PYTHON}/jupyterhub", "-f", str(path)]
    process = start_program(command, log, ROOM, PATH=f"{LEARNERS_PYTHON}:{os.environ['PATH']}")
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for(lambda: answers(f"{address}/hub/api"), process)
        yield address
    except Exception:
        print(log.read_text(encoding="utf-8")[-6000:])
        raise
    finally:
        process.terminate()
        process.wait()


@dataclass
class Person:
    """Somebody with an account on the hub, and a token for all that they may do."""

    address: str
    name: str
    token: str = TOKEN

    def ask(self, method: str, path: str, **options: Any) -> requests.Response:
        headers = {"Authorization": f"token {self.token}"}
        return requests.request(
            method, f"{self.address}{path}", headers=headers, timeout=600, **options
        )

    def told(self, method: str, path: str, **options: Any) -> Any:
        """Ask, and return the JSON of the answer, which must be a good one."""
        answer = self.ask(method, path, **options)
        assert answer.ok, f"{self.name}: {method} {path}: {answer.status_code} {answer.text[:500]}"
        return answer.json() if answer.content else None

    def start_server(self) -> None:
        self.ask("POST", f"/hub/api/users/{self.name}/server")
        wait_until(lambda: self.ask("GET", f"/user/{self.name}/api/status").ok, "no server starts")

    def list_assignments(self) -> list[dict[str, Any]]:
        said = self.told("GET", f"/user/{self.name}/assignments", params={"course_id": COURSE})
        assert said["success"], said
        return said["value"]

    def act(self, action: str) -> None:
        """Click a button of nbgrader's list of assignments."""
        data = {"course_id": COURSE, "assignment_id": LESSON.name}
        said = self.told("POST", f"/user/{self.name}/assignments/{action}", data=data)
        assert said["success"], said

    def formgrader(self, method: str, path: str) -> Any:
        said = self.told(method, f"/services/{COURSE}/formgrader/api/{path}")
        assert method == "GET" or said["success"], said
        return said


def teach(address: str) -> None:
    """Release a lesson, hand it in, grade it and give feedback, each by whoever does that."""
    driver = Person(address, "driver")
    people = {name: _person(driver, name) for name in (*LEARNERS, INSTRUCTOR, STRANGER)}
    ines = people[INSTRUCTOR]
    status = f"/services/{COURSE}/formgrader/api/status"
    wait_until(lambda: ines.ask("GET", status).ok, "formgrader does not start")
    for name, may in {INSTRUCTOR: True, LEARNERS[0]: False, STRANGER: False}.items():
        answer = people[name].ask("GET", f"/services/{COURSE}/formgrader/api/assignments")
        assert answer.ok == may, f"{name} got {answer.status_code} from formgrader"
    print("formgrader opens for the instructor alone")

    for action in ("assign", "release"):
        ines.formgrader("POST", f"assignment/{LESSON.name}/{action}")
    full = {exercise.name: SOLUTION for exercise in LESSON.exercises}
    handed_in = dict(zip(LEARNERS, (full, {}), strict=True))
    for name, solved in handed_in.items():
        _do_the_lesson(people[name], solved)
    people[STRANGER].start_server()
    assert not people[STRANGER].list_assignments()
    print("learners fetched, solved and handed in; somebody else sees no lesson")

    ines.formgrader("POST", f"assignment/{LESSON.name}/collect")
    for name in LEARNERS:
        ines.formgrader("POST", f"submission/{LESSON.name}/{name}/autograde")
    scores = {
        one["student"]: (one["score"], one["max_score"])
        for one in ines.formgrader("GET", f"submissions/{LESSON.name}")
    }
    most = sum(exercise.points for exercise in LESSON.exercises)
    assert scores == dict(zip(LEARNERS, ((most, most), (0, most)), strict=True)), scores
    for action in ("generate_feedback", "release_feedback"):
        ines.formgrader("POST", f"assignment/{LESSON.name}/{action}")
    print(f"collected and graded: {scores}")

    for name in LEARNERS:
        people[name].act("fetch_feedback")
        [page] = Path("/home", name, COURSE, LESSON.name).rglob("*.html")
        assert f"{scores[name][0]:.0f} of {most} points" in words(
            parsed(page.read_text(encoding="utf-8"))
        ), page
        looked = subprocess.run(["su", name, "-c", f"ls /home/{ACCOUNT}"], capture_output=True)
        assert looked.returncode, f"{name} can read the course directory"
    print("each learner has a page of feedback with the right grade, and can't read the course")


@contextmanager
def serving(command: str) -> Iterator[None]:
    """Run the command in the course directory until Ctrl-C."""
    log = ROOM / "serve.log"
    process = start_program(["su", ACCOUNT, "-c", f"cd ~/attention; {command}"], log)
    try:
        wait_for(lambda: "up to date" in log.read_text(encoding="utf-8"), process)
        yield
    except Exception:
        print(log.read_text(encoding="utf-8")[-6000:])
        raise
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait()
    assert "Stopped." in log.read_text(encoding="utf-8")


def improve(address: str, name: str) -> None:
    """Solve the lesson and hand it in, in the browser; print when the feedback is there."""
    path = Path("/home", name, COURSE, LESSON.name, f"{LESSON.name}.ipynb")
    full = {exercise.name: SOLUTION for exercise in LESSON.exercises}
    nbformat.write(MadeUpSubmission(name, full).notebook(LESSON), path)
    most = sum(exercise.points for exercise in LESSON.exercises)
    with new_page() as page:
        assignments = AssignmentList(page, LESSON.name)
        assignments.open(address, name)
        start = time.perf_counter()
        assignments.submit()
        assignments.wait_for_feedback()
        shown = assignments.view_feedback()
        expect(shown.locator("body")).to_contain_text(f"{most} of {most} points")
        seconds = time.perf_counter() - start
    print(f"{name}: {seconds:.0f} s from the click on Submit to feedback on the screen")


def _person(driver: Person, name: str) -> Person:
    driver.ask("POST", f"/hub/api/users/{name}")  # an error if a group names the person
    token = driver.told("POST", f"/hub/api/users/{name}/tokens", json={"note": "bench"})["token"]
    return Person(driver.address, name, token)


def _do_the_lesson(learner: Person, solved: dict[str, Any]) -> None:
    learner.start_server()
    [lesson] = learner.list_assignments()
    assert (lesson["assignment_id"], lesson["status"]) == (LESSON.name, "released")
    learner.act("fetch")
    path = Path("/home", learner.name, COURSE, LESSON.name, f"{LESSON.name}.ipynb")
    nbformat.write(MadeUpSubmission(learner.name, solved).notebook(LESSON), path)
    learner.act("submit")


if __name__ == "__main__":
    run(Path(sys.argv[1]))
