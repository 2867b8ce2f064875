"""Attacks on processes: killing its own, others' or all of them; surviving; gaining privileges."""

from tests.sandbox.hostile.attack import POINTS, SLEEP, SPIN, Attack

SURVIVABLE = "its kernel died|ended from within|took more than"


def _ends(name: str, tries: str, code: str, told: str = SURVIVABLE) -> Attack:
    """Make an attack that loses what comes after it, but not what came before."""
    return Attack(name, tries, answers={"softmax": code}, told=told, outcome="not graded")


ATTACKS = [
    Attack("sys.exit", "leaves by sys.exit", first="sys.exit(0)", outcome="graded"),
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
    Attack(
        "two of itself",
        "forks, and both go on as the kernel",
        answers={"softmax": "os.fork()"},
        earns=None,
    ),
    Attack(
        "a daemon left running",
        "leaves processes in sessions of their own, which write wherever they can",
        first=f"""
            for _ in range(5):
                if os.fork() == 0:
                    os.setsid()
                    if os.fork() == 0:
                        for number in range(1, 65):
                            try: signal.signal(number, signal.SIG_IGN)
                            except (OSError, ValueError): pass
                        for _ in range({SLEEP}):
                            for place in ("/tmp", "/dev/shm", "/scratch", *OUTSIDE):
                                try: open(f"{{place}}/{{MARK}}", "a").write("here")
                                except OSError: pass
                            time.sleep(1)
                    os._exit(0)
        """,
        honest=tuple(POINTS),
        outcome="graded",
    ),
    Attack(
        "shell daemons",
        "leaves background jobs of a shell, with nohup and setsid",
        first=f"!for i in 1 2 3; do nohup setsid sleep {SLEEP} >/dev/null 2>&1 & done",
        honest=tuple(POINTS),
        outcome="graded",
    ),
    Attack(
        "limits raised",
        "raises its resource limits",
        first="""
            import resource
            for name in ("AS", "NOFILE", "FSIZE", "CPU", "CORE"):
                which = getattr(resource, f"RLIMIT_{name}")
                attempt(lambda: resource.setrlimit(which, (-1, -1)))
        """,
        told="held: ",
    ),
    Attack(
        "limits of its parent lowered",
        "leaves the process above it no files, no memory and no time",
        answers={
            "softmax": """
                import resource
                for name in ("AS", "NOFILE", "FSIZE", "CPU"):
                    which = getattr(resource, f"RLIMIT_{name}")
                    try: resource.prlimit(os.getppid(), which, (1, 1))
                    except OSError as error: print(error)
            """
        },
    ),
    Attack(
        "priority",
        "makes itself more important, and everything else of its user less",
        first="""
            attempt(lambda: os.nice(-10))
            attempt(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)))
            os.setpriority(os.PRIO_USER, 0, 19)
        """,
        told="held: ",
    ),
    Attack(
        "another name",
        "renames itself to something harmless",
        first="""
            call("prctl", 15, b"systemd", 0, 0, 0)
            open("/proc/self/comm", "w").write("init")
            print(open("/proc/self/comm").read())
        """,
        told="init",
    ),
    Attack(
        "process 1 looked into",
        "traces process 1, opens its memory, its files and its descriptors",
        first="""
            attempt(lambda: call("ptrace", 16, 1, 0, 0))
            attempt(lambda: open("/proc/1/mem", "rb+"))
            attempt(lambda: open("/proc/1/environ").read())
            attempt(lambda: os.listdir("/proc/1/root/"))
            attempt(lambda: os.open("/proc/1/cwd", os.O_RDONLY))
            for number in range(30):
                attempt(lambda: os.open(f"/proc/1/fd/{number}", os.O_RDWR))
            def take():
                pidfd = os.pidfd_open(1)
                for number in range(30):
                    attempt(lambda: call("syscall", 438, pidfd, number, 0))
            take()
            buffer = (ctypes.c_ulong * 2)(ctypes.addressof(ctypes.create_string_buffer(8)), 8)
            attempt(lambda: call("process_vm_readv", 1, buffer, 1, buffer, 1, 0))
        """,
        told="held: ",
    ),
    Attack(
        "rights by programs",
        "calls sudo, su, mount, unshare, chroot, and looks for set-user-ID programs that help",
        first="!sudo -n id; su -c id; mount -t tmpfs x /mnt; unshare -Ur id; chroot / id; id -u\n",
        told="",
    ),
    Attack(
        "rights by system calls",
        "makes namespaces, mounts, changes its user, its root, its host name and its capabilities",
        first="""
            for flag in (0x10000000, 0x20000, 0x20000000, 0x40000000, 0x8000000, 0x4000000):
                attempt(lambda: call("unshare", flag))
            attempt(lambda: call("setns", os.pidfd_open(1), 0x20000))
            attempt(lambda: call("mount", b"tmpfs", b"/tmp", b"tmpfs", 0, None))
            attempt(lambda: call("mount", b"none", b"/usr", None, 4096 | 32, None))
            attempt(lambda: call("umount2", b"/proc", 2))
            attempt(lambda: call("umount2", b"/grader", 2))
            attempt(lambda: call("chroot", b"/tmp"))
            attempt(lambda: call("pivot_root", b"/", b"/tmp"))
            attempt(lambda: call("sethostname", b"x", 1))
            attempt(lambda: os.setuid(12345))
            attempt(lambda: os.setgroups([0]))
            attempt(lambda: os.chown("/tmp", 12345, 12345))
            attempt(lambda: os.mknod("/tmp/disk", 0o60666, os.makedev(254, 0)))
            attempt(lambda: call("prctl", 47, 2, 21, 0, 0))
            attempt(lambda: call("reboot", 0))
            attempt(lambda: call("swapoff", b"/none"))
            attempt(lambda: time.clock_settime(time.CLOCK_REALTIME, 0))
        """,
        told="held: ",
    ),
    Attack(
        "doors into the kernel",
        "asks for BPF, io_uring, userfaultfd, performance events, keyrings and odd socket families",
        first="""
            if os.uname().machine == "x86_64":
                for number in (321, 425, 323, 298, 250, 248, 249):
                    attempt(lambda: call("syscall", number, 0, 0, 0, 0, 0))
                attempt(lambda: call("syscall", 0x40000000 + 39))
            for family in (socket.AF_VSOCK, socket.AF_ALG, socket.AF_PACKET, socket.AF_CAN, 44, 30):
                attempt(lambda: socket.socket(family, socket.SOCK_DGRAM))
            attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
        """,
        told="held: ",
    ),
    Attack(
        "workers of a data loader",
        "uses torch's worker processes, as an honest notebook may",
        first="""
            from torch.utils.data import DataLoader
            print(len(list(DataLoader(torch.arange(8), batch_size=2, num_workers=2))), "batches")
        """,
        told="4 batches",
        outcome="graded",
    ),
    Attack(
        "exit handlers",
        "ends its kernel in a way that would run for hours",
        first=f"""
            import atexit, threading
            atexit.register(time.sleep, {SLEEP})
            threading.Thread(target=time.sleep, args=({SLEEP},)).start()
        """,
        last="get_ipython().kernel.do_shutdown(False); get_ipython().ask_exit(); exit()",
    ),
    Attack(
        "signals turned around",
        "answers SIGINT, SIGTERM and SIGCHLD by more of the same",
        first="""
            def again(number, frame): os.kill(os.getppid(), number)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGALRM):
                signal.signal(number, again)
            signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        """,
        earns=None,
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
    Attack(
        "names of children",
        "gives children names and arguments that look like the grader's own programs",
        first="""
            for name in ("bwrap", "inside.warm", "\\udcff", "a\\nb", " ", "python -m inside.warm"):
                if os.fork() == 0:
                    call("prctl", 15, os.fsencode(name)[:15], 0, 0, 0)
                    os.execv("/bin/sleep", [os.fsencode(name), "9"])
            time.sleep(0.5)
            print(sum(name.isdigit() for name in os.listdir("/proc")), "processes")
        """,
        told="8 processes",
        outcome="graded",
    ),
    Attack(
        "signals of every kind",
        "sends all signals to the process above it, by all calls there are",
        answers={
            "softmax": """
                above = os.getppid()
                number = os.pidfd_open(above)
                for sent in range(1, 65):
                    for way in (
                        lambda: os.kill(above, sent),
                        lambda: signal.pidfd_send_signal(number, sent),
                        lambda: libc.sigqueue(above, sent, None),
                        lambda: libc.tgkill(above, above, sent),
                        lambda: libc.syscall(200, above, sent),
                    ):
                        try: way()
                        except OSError: pass
            """
        },
        outcome="",
    ),
    Attack(
        "the process above slowed down",
        "gives the process above it the least priority, one processor and the worst odds",
        answers={
            "softmax": """
                above = os.getppid()
                for action in (
                    lambda: os.setpriority(os.PRIO_PROCESS, above, 19),
                    lambda: os.sched_setscheduler(above, os.SCHED_IDLE, os.sched_param(0)),
                    lambda: os.sched_setaffinity(above, {0}),
                    lambda: open(f"/proc/{above}/oom_score_adj", "w").write("1000"),
                    lambda: open(f"/proc/{above}/timerslack_ns", "w").write("999999999"),
                    lambda: open(f"/proc/{above}/autogroup", "w").write("19"),
                ):
                    try: action()
                    except OSError: pass
            """
        },
        outcome="graded",
    ),
    Attack(
        "processors taken",
        "pins children to each processor, with the highest priority that it may have",
        first="""
            for processor in list(os.sched_getaffinity(0))[:2]:
                if os.fork() == 0:
                    os.setsid()
                    os.sched_setaffinity(0, {processor})
                    while time.process_time() < 2: pass
                    os._exit(0)
        """,
        outcome="graded",
    ),
    Attack(
        "the last to be killed",
        "asks to be spared when memory is short, and has all others killed",
        first="""
            for place in ("self", "1"):
                for value in (b"-1000", b"-1", b"-17"):
                    path = f"/proc/{place}/oom_score_adj"
                    attempt(lambda: os.write(os.open(path, os.O_WRONLY), value))
        """,
        told="held: PermissionError",
    ),
    Attack(
        "children that are not missed",
        "leaves dead children that nobody waits for, its own and those of process 1",
        first="""
            for _ in range(30):
                if os.fork() == 0:
                    if os.fork(): os._exit(0)
                    os._exit(0)
            time.sleep(0.3)
            print(sum(name.isdigit() for name in os.listdir("/proc")) > 30)
        """,
        told="True",
        outcome="graded",
    ),
    Attack(
        "programs of its own making",
        "writes programs and runs them: with other interpreters, deleted, in memory",
        first="""
            import shutil
            open("/tmp/run", "w").write("#!/tmp/again\\n")
            open("/tmp/again", "w").write("#!/tmp/run\\n")
            shutil.copy("/bin/true", "/tmp/true")
            for name in ("run", "again", "true"): os.chmod(f"/tmp/{name}", 0o6777)
            print(os.stat("/tmp/true").st_mode & 0o6000, os.system("/tmp/true"))
            attempt(lambda: 1 / (os.system("/tmp/run") or 1) and os.execv("/tmp/run", ["x"]))
        """,
        told="held: ",
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
    Attack(
        "its own priority and limits",
        "lowers its own limits until nothing works any more",
        answers={
            "softmax": """
                import resource
                for name in ("NOFILE", "FSIZE", "STACK", "SIGPENDING", "NPROC", "MEMLOCK"):
                    which = getattr(resource, f"RLIMIT_{name}")
                    resource.setrlimit(which, (0, 0))
            """
        },
        outcome="",
    ),
]
