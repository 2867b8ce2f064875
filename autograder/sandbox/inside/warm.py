"""The warm process: it has imported everything once, and each submission gets a fork of it.

It never runs a learner's code. It takes orders from graders on a socket that no fork keeps. Some
forks are always ready: behind their walls, with a started kernel, waiting for a job.

    python -P -m inside.warm ORDERS LISTENER
"""

import base64
import gc
import importlib
import json
import os
import signal
import socket
import sys
from typing import Any, NoReturn

from nbformat.v4 import new_notebook

from inside import frames, kernel_patches, namespaces, supervisor
from inside.huge_pages import use_huge_pages

# Modules that a kernel imports only when it starts.
KERNEL_MODULES = (
    "IPython.core.completerlib",
    "IPython.core.debugger",
    "IPython.core.logger",
    "IPython.extensions.storemagic",
    "encodings.idna",
    "encodings.unicode_escape",
    "ipykernel.debugger",
    "sqlite3",
    "tornado.platform.asyncio",
    "tornado.queues",
)
MOST_BYTES = 100_000  # in an order


class Nursery:
    """Forks that wait for a connection, or are running the job that came over it.

    isolated: whether each has a process table, a disk and a network of its own.
    """

    def __init__(
        self, listener: socket.socket, limits: dict[str, Any], calls: bytes, isolated: bool
    ) -> None:
        self.listener, self.limits, self.calls = listener, limits, calls
        self.isolated = isolated
        self.forks: set[int] = set()
        self.ending: set[int] = set()

    def fork(self) -> None:
        keeper = os.fork()
        if keeper == 0:
            _keep(self.listener, self.limits, self.calls, self.isolated)
        self.forks.add(keeper)

    def end(self, keeper: int) -> None:
        """Tell a fork to end, with everything it started, which takes a while.

        This may be called twice: when the fork exceeds a limit, and when it is done.
        """
        if keeper in self.forks:
            self.forks.remove(keeper)
            os.kill(keeper, signal.SIGTERM)
            self.ending.add(keeper)
        self.ending = {k for k in self.ending if os.waitpid(k, os.WNOHANG) == (0, 0)}


def _keep(channel: socket.socket, limits: dict[str, Any], calls: bytes, isolated: bool) -> NoReturn:
    """Put a supervisor behind its own walls, and stay with it until it ends."""
    number = os.getpid()
    try:
        namespaces.keep_only(channel.fileno())
        namespaces.die_with_parent()
        if isolated:
            namespaces.enter()
        child = os.fork()
        if child == 0:
            supervisor.supervise(channel, number, limits, calls, isolated)
            os._exit(0)
        channel.close()
        signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
        os.waitpid(child, 0)
    except BaseException as error:
        frames.accept(channel, number)
        frames.send(channel, {"failed": f"{type(error).__name__}: {error}"})
    finally:
        os._exit(0)


def warm_up(imports: list[str]) -> None:
    """Import what notebooks will import, and let libraries do their one-time setup."""
    kernel_patches.check()
    if "autograder" in imports:
        imports = [*imports, "autograder.asking.sending"]  # what a first check would import
    for name in (*KERNEL_MODULES, *imports):
        try:
            importlib.import_module(name)
        except Exception as error:  # the notebook will raise it too, and show it
            print(f"warm-up: {name}: {error}", file=sys.stderr)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
    new_notebook()  # compiles the schema of notebooks
    kernel_patches.do_without_tcp()
    kernel_patches.hasten_tracebacks()
    if "autograder.utils.plots" in sys.modules:
        _draw_once()
    gc.freeze()
    use_huge_pages()


def _draw_once() -> None:
    """Draw a figure, because the first one reads fonts and styles if figures are really drawn."""
    from autograder.utils.plots import plot_matrix

    plot_matrix([[0.0, 1.0]], caption="warm")._repr_mimebundle_()


def main() -> None:
    orders, listener = (socket.socket(fileno=int(number)) for number in sys.argv[1:])
    sys.path.remove(supervisor.GRADERS_CODE)
    start = _next(orders)
    warm_up(start["imports"])
    calls = base64.b64decode(start["calls"])
    nursery = Nursery(listener, start["limits"], calls, start["isolated"])
    for _ in range(start["ahead"] if start["isolated"] else 0):  # else they would share folders
        nursery.fork()
    while True:
        order = _next(orders)
        if "end" in order:
            nursery.end(order["end"])
        else:
            nursery.fork()  # one that is ready accepts the connection, and this one replaces it


def _next(orders: socket.socket) -> dict[str, Any]:
    """Return the next order. Exit when nobody is left to give one."""
    data = orders.recv(MOST_BYTES)
    if not data:
        sys.exit()
    return json.loads(data)


if __name__ == "__main__":
    main()
