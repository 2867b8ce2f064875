"""JupyterLab for as long as a test needs it. Only this machine sees it."""

import socket
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support import kills
from tests.support.classroom import start_program
from tests.support.processes import descendants
from tests.support.waiting import HANG


@contextmanager
def jupyter_lab(folder: Path, *options: str, **environment: str) -> Iterator[str]:
    """Run JupyterLab in a folder; yield its address. What it writes itself is in the folder too."""
    port, own = free_port(), str(folder / "jupyter")
    (folder / "tmp").mkdir()
    command = ["jupyter", "lab", "--no-browser", f"--ServerApp.port={port}", *options]
    command += ["--ServerApp.port_retries=0", "--IdentityProvider.token=", "--allow-root"]
    places = {"JUPYTER_CONFIG_DIR": own, "JUPYTER_RUNTIME_DIR": own, "TMPDIR": f"{folder}/tmp"}
    process = start_program(command, folder / "said.txt", cwd=folder, **places, **environment)
    address = f"http://127.0.0.1:{port}"
    kills.wait_for(lambda: answers(f"{address}/api"), process)
    yield address
    own = descendants(process.pid)
    process.terminate()
    process.wait(HANG)
    kills.wait_for_end(own, folder)


def free_port() -> int:
    """Return the number of a port that nothing listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(address: str) -> bool:
    """Whether a server answers at an address."""
    with suppress(OSError), urllib.request.urlopen(address, timeout=HANG) as reply:
        return reply.status == 200
    return False
