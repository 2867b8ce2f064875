"""Attacks on processes: killing them, surviving the end, gaining privileges."""

from tests.sandbox.hostile.attack import SPIN, Attack

SURVIVABLE = "its kernel died|ended from within|took more than"


def _ends(name: str, tries: str, code: str, told: str = SURVIVABLE) -> Attack:
    """Make an attack that loses the answers after it, but not those before it."""
    return Attack(name, tries, answers={"softmax": code}, told=told, outcome="not graded")


ATTACKS = [
    _ends("os._exit", "leaves by os._exit", "os._exit(0)", "its kernel died"),
    _ends("kill itself", "sends itself SIGKILL", "os.kill(os.getpid(), 9)", "its kernel died"),
    _ends("abort", "aborts, with all that a crash sets off", "os.abort()", "its kernel died"),
    _ends("crash", "reads memory that is not there", "ctypes.string_at(0)", "its kernel died"),
    _ends(
        "kill everything",
        "sends SIGKILL to its group, to its parent and to everything it may signal",
        """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for target in (os.getppid(), -os.getpid(), -1):
            try: os.kill(target, signal.SIGKILL)
            except OSError as error: print(error)
        os.kill(os.getpid(), signal.SIGKILL)
        """,
    ),
    *(
        Attack(
            f"{name} for its parent",
            f"sends {name} to the process above it",
            answers={"softmax": f"os.kill(os.getppid(), signal.{name})\ntime.sleep(0.2)"},
        )
        for name in ("SIGTERM", "SIGINT", "SIGSTOP", "SIGSEGV", "SIGUSR1", "SIGCHLD", "SIGALRM")
    ),
    _ends("stop itself", "sends itself SIGSTOP", "os.kill(os.getpid(), signal.SIGSTOP)"),
    _ends(
        "another program",
        "becomes another program",
        'os.execv("/bin/true", ["python"])',
        "its kernel died",
    ),
    *(
        Attack(
            f"named {words}",
            f"names itself {words}, and then takes more time than it has",
            answers={
                "softmax": f"""
                    call("prctl", 15, {name!r}, 0, 0, 0)
                    while time.process_time() < {SPIN}: pass
                """
            },
            told="took more than|could not be interrupted",
        )
        for words, name in {
            "with bytes that are no text": b"\xff\xfe\x80\xc3(",
            "like the end of a line in /proc": b") R 0 0 0 0 (",
            "with lines of its own": b"x\nThreads:\t0\n",
            "with nothing": b"",
        }.items()
    ),
    _ends(
        "kernel restarted",
        "asks for another kernel, a debugger, and then for its own end by message",
        """
        kernel = get_ipython().kernel
        kernel.session.send(kernel.iopub_socket, "shutdown_reply", {"restart": True})
        os.kill(os.getpid(), signal.SIGTERM); time.sleep(1); os._exit(7)
        """,
    ),
]
