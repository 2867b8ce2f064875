"""The first process in a submission's process table: it runs the cells and reports on them.

It shares the table with the kernel, and trusts it as little as the outside does: the kernel can
neither kill it (it is process 1) nor look into it. When it ends, the whole table ends with it. In a
container without such tables, the kernel can kill it, and so end the run.
"""

import asyncio
import base64
import os
import signal
import socket
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output

from autograder.asking import MIME
from inside import frames, namespaces
from inside.kernel import ForkedKernel, fork_kernel
from inside.stopwatch import Excess, Stopwatch

SCRATCH = "/scratch"
# Where this code is: it is not secret, but learners have no use for it.
GRADERS_CODE = str(Path(__file__).parents[1])
ALWAYS = ("status", "execute_input")
EACH = 100  # bytes that an output takes on top of its content
GRACE = 1.0  # seconds of processor time for an interrupted cell to end
EVERY = 0.1  # seconds between two checks of the time
MOST_SIGNALS = 256  # that wait, and timers, each of which holds one
LAST_OUTPUT = 10.0  # seconds to wait for a cell's last output


class Cells(NotebookClient):
    """Runs cells one by one, and limits what they show."""

    def __init__(self, manager: AsyncKernelManager, limits: dict[str, Any]) -> None:
        super().__init__(
            new_notebook(),
            manager,
            allow_errors=True,
            record_timing=False,
            iopub_timeout=LAST_OUTPUT,
        )
        self.limits = limits
        self.kernel = cast(ForkedKernel, manager.provisioner)
        self.shown: Counter[str] = Counter()
        self.waited = False  # whether the last cell was ended for the wall time it took
        self.outlived = False  # whether a cell went on after it was interrupted

    async def run(self, source: str, seconds: float) -> str:
        """Run one more cell; return why no more can run, "" if they can. Raises DeadKernelError."""
        cell = new_code_cell(source)
        self.nb.cells.append(cell)
        self.shown, self.waited = Counter(), False
        running = asyncio.ensure_future(self.async_execute_cell(cell, len(self.nb.cells) - 1))
        excess = await self._excess(running, seconds)
        self.waited = excess is not None and excess.waiting
        if not excess:
            return ""
        await self.kernel.send_signal(signal.SIGINT)
        endless = await self._excess(running, GRACE)
        name = "CellWaitedError" if self.waited else "CellTimeoutError"
        cell.outputs.append(_error(name, f"this cell took {excess.time}"))
        self.outlived = endless is not None
        return "a cell could not be interrupted" if self.outlived else ""

    async def _excess(self, running: asyncio.Future, seconds: float) -> Excess | None:
        """Wait until a cell ends or exceeds a time; return it. Raises what `running` raises."""
        watch = Stopwatch(seconds, self.limits["patience"], self.limits["idle_seconds"], _others)
        while not running.done():
            await asyncio.wait({running}, timeout=EVERY)
            if not running.done() and (excess := watch.excess()):
                return excess
        running.result()
        return None

    def process_message(self, msg: dict, cell: NotebookNode, cell_index: int) -> Any:
        if msg["msg_type"] in ALWAYS:
            return super().process_message(msg, cell, cell_index)
        try:
            if not self._is_too_much(msg["content"], cell):
                return super().process_message(msg, cell, cell_index)
        except Exception as error:  # the message is malformed
            reason = f"this can't be shown ({type(error).__name__})"
            cell.outputs.append(_error("OutputError", reason))
        return None

    def _is_too_much(self, content: dict, cell: NotebookNode) -> bool:
        """Count what a message shows; replace the first that exceeds the limit with an error."""
        answers = content.get("data", {}).get(MIME)
        kind = "answer" if isinstance(answers, str) else "cell_output"
        most = self.limits[f"{kind}_bytes"]
        before, self.shown[kind] = self.shown[kind], self.shown[kind] + EACH + _size(content)
        if before <= most < self.shown[kind]:
            cell.outputs.append(_error("OutputLimit", f"this shows over {most:,} bytes"))
        return self.shown[kind] > most


def supervise(
    channel: socket.socket, number: int, limits: dict[str, Any], calls: bytes, isolated: bool
) -> None:
    """Wait for a job on `channel`, and send the result of each of its cells.

    number: by which whoever gives the job may end it.
    calls: the filter of system calls, for this process and all that it starts.
    """
    namespaces.die_with_parent()
    if isolated:
        namespaces.mount_own(SCRATCH, limits["scratch_bytes"], GRADERS_CODE)
    namespaces.open_standard_streams()
    namespaces.drop_privileges()
    namespaces.load_filter(calls)
    manager = fork_kernel(f"{SCRATCH}/.kernel", os.environ["HOME"], **_resource_limits(limits))
    namespaces.close_to_others()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # process 1 already ignores all others
    asyncio.run(_supervise(channel, number, Cells(manager, limits)))


async def _supervise(channel: socket.socket, number: int, cells: Cells) -> None:
    await cells.async_start_new_kernel_client()  # before the job comes, which then need not wait
    frames.accept(channel, number)
    job = frames.FrameInbox(channel, sys.maxsize).next()
    if job is None:
        return
    # Only the end of the grader can arrive on the channel now.
    asyncio.get_running_loop().add_reader(channel, os._exit, 0)
    for path, content in job["files"].items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(base64.b64decode(content))
    for source, seconds in job["cells"]:
        report = await _run(cells, source, seconds)
        frames.send(channel, report)
        frames.send(channel, {"outputs": cells.nb.cells[-1].outputs})
        if report["stopped"]:
            return


async def _run(cells: Cells, source: str, seconds: float) -> dict[str, Any]:
    """Run one cell and report on it, in few bytes.

    stopped: why no more cells can run.
    outlived: whether that is because the cell went on after it was interrupted.
    doubtful: whether the machine may be to blame, because it was busy or short of memory.
    """
    start, killed = time.monotonic(), False
    try:
        stopped = await cells.run(source, seconds)
    except DeadKernelError:
        status = await cells.kernel.poll()
        stopped, killed = f"its kernel died (exit status {status})", status == -signal.SIGKILL
        cells.nb.cells[-1].outputs.append(_error("DeadKernelError", stopped))
    except Exception as error:
        stopped = f"its kernel sent what can't be read ({type(error).__name__})"
        cells.nb.cells[-1].outputs.append(_error("KernelError", stopped))
    cell = cells.nb.cells[-1]
    return {
        "execution_count": cell.execution_count,
        "seconds": time.monotonic() - start,
        "stopped": stopped,
        "outlived": cells.outlived,
        "doubtful": killed or cells.waited,
    }


def _others() -> Iterator[int]:
    """List all processes of the submission except this one."""
    pids = (int(name) for name in os.listdir("/proc") if name.isdecimal())
    return (pid for pid in pids if pid != os.getpid() and (os.getpid() == 1 or _is_ours(pid)))


def _is_ours(pid: int) -> bool:
    """Whether a process has the user of this one."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return f"\nUid:\t{os.getuid()}\t" in text


def _resource_limits(limits: dict[str, Any]) -> dict[str, int]:
    found = {
        "AS": namespaces.address_space() + limits["memory_bytes"],
        "FSIZE": limits["scratch_bytes"],
        "NOFILE": limits["open_files"],
        "CPU": int(limits["notebook_seconds"]) + 60,
        "CORE": 0,
        "SIGPENDING": MOST_SIGNALS,
    }
    # Older kernels count all of the user's processes, not just those in this namespace.
    release = tuple(int(part) for part in os.uname().release.split(".")[:2])
    return found | ({"NPROC": limits["threads"]} if release >= (5, 14) else {})


def _error(name: str, reason: str) -> NotebookNode:
    return new_output("error", ename=name, evalue=reason, traceback=[f"{name}: {reason}"])


def _size(content: Any) -> int:
    """Estimate the size of a message's content in bytes, at least 8 for each item in it."""
    if isinstance(content, dict):
        return 8 + sum(_size(key) + _size(value) for key, value in content.items())
    if isinstance(content, list):
        return 8 + sum(map(_size, content))
    return 8 + len(content) if isinstance(content, str) else 8
