"""The kernel of one notebook: a real ipykernel, in a process that is forked, not launched.

The warm process has already paid for the launch (interpreter, torch, ipykernel).
"""

import os
import signal
import sys
from typing import Any, NoReturn

from ipykernel.kernelapp import IPKernelApp
from IPython.core.interactiveshell import InteractiveShell
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner

from inside import namespaces
from inside.kernel_patches import OPTIONS, explain_refusals

CHANNELS = ("shell", "iopub", "stdin", "hb", "control")


class ForkedKernel(LocalProvisioner):
    """Watches and signals a kernel whose process is a child of this one."""

    pid: int

    def __init__(self, pid: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.pid = pid
        self.exit_code: int | None = None

    @property
    def has_process(self) -> bool:
        return True

    async def poll(self) -> int | None:
        if self.exit_code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.exit_code = os.waitstatus_to_exitcode(status) if pid else None
        return self.exit_code

    async def send_signal(self, signum: int) -> None:
        if await self.poll() is None:
            os.kill(self.pid, signum)

    async def kill(self, restart: bool = False) -> None:
        await self.send_signal(signal.SIGKILL)

    async def terminate(self, restart: bool = False) -> None:
        await self.kill()

    async def wait(self) -> int | None:
        return await self.poll()

    async def cleanup(self, restart: bool = False) -> None:
        pass


class BareKernelApp(IPKernelApp):
    """A kernel without a command line and configuration files, to start sooner."""

    def parse_command_line(self, argv: Any = None) -> None:
        pass

    def load_config_file(self, *args: Any, **kwargs: Any) -> None:
        pass


def fork_kernel(folder: str, home: str, **limits: int) -> AsyncKernelManager:
    """Fork a kernel that works in `home`, with its sockets in `folder`, and return its manager."""
    os.makedirs(folder)
    os.makedirs(home, exist_ok=True)
    connection = f"{folder}/connection.json"
    manager = AsyncKernelManager(
        transport="ipc", ip=f"{folder}/socket", connection_file=connection, cache_ports=False
    )
    for number, name in enumerate(CHANNELS, 1):
        setattr(manager, f"{name}_port", number)
    manager.write_connection_file()
    pid = os.fork()
    if pid == 0:
        _become_kernel(connection, home, limits)
    manager.provisioner = ForkedKernel(pid, parent=manager)
    return manager


def _become_kernel(connection: str, home: str, limits: dict[str, int]) -> NoReturn:
    try:
        namespaces.close_files()  # those of the supervisor, such as its channel to the outside
        os.setsid()
        namespaces.limit(**limits)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.chdir(home)
        sys.path.insert(0, "")  # as in a notebook: a `helper.py` beside it can be imported
        app = BareKernelApp.instance(connection_file=connection, config=OPTIONS)
        app.initialize([])
        explain_refusals(InteractiveShell.instance())
        app.start()
    finally:
        os._exit(0)
