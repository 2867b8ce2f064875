"""Attacks that try to change something outside, or to leave something for the next submission."""

from tests.sandbox.hostile.attack import Attack

ATTACKS = [
    Attack(
        "files outside",
        "writes into the course directory, the home, the system, Python and the course's modules",
        first="""
            import autograder
            from autograder.utils import data
            own = [os.path.dirname(module.__file__) for module in (autograder, data, torch, os)]
            for place in (*OUTSIDE, *own, "/course", "/grader", "/proc/sys", "/sys", "/bin"):
                if place not in ("/tmp", "/dev/shm"):
                    attempt(lambda: open(f"{place}/{MARK}", "w"))
                    attempt(lambda: os.mkdir(f"{place}/{MARK}"))
        """,
        told="held: OSError: .*Read-only file system",
    ),
    Attack(
        "files changed in place",
        "opens for writing, removes, renames and links what it can only read",
        first="""
            import autograder
            from autograder.utils import data
            modules = [module.__file__ for module in (autograder, data, torch, os)]
            for path in (*modules, sys.executable, *SECRETS):
                attempt(lambda: os.open(path, os.O_WRONLY))
                attempt(lambda: os.remove(path))
                attempt(lambda: os.rename(path, path + MARK))
                attempt(lambda: os.link(path, f"/tmp/{MARK}"))
                attempt(lambda: os.utime(path))
                attempt(lambda: os.truncate(path, 0))
                attempt(lambda: os.setxattr(path, "user.x", b"x"))
        """,
        told="held: ",
    ),
    Attack(
        "devices changed",
        "changes the permissions, times and owners of devices, which are the machine's own",
        first="""
            import stat
            for name in ("null", "zero", "full", "random", "urandom", "tty", "pts", "ptmx", ""):
                path = f"/dev/{name}"
                attempt(lambda: os.chmod(path, stat.S_IMODE(os.stat(path).st_mode)))
                attempt(lambda: os.utime(path))
                attempt(lambda: os.chown(path, 0, 0))
        """,
        told="held: OSError: .*Read-only file system",
    ),
    Attack(
        "the machine's settings",
        "opens the settings of the system in /proc and /sys for writing",
        first="""
            for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname",
                         "/proc/sys/vm/drop_caches", "/proc/sysrq-trigger",
                         "/proc/sys/user/max_user_namespaces", "/proc/mtrr",
                         "/proc/irq/default_smp_affinity", "/proc/self/setgroups"):
                attempt(lambda: os.close(os.open(path, os.O_WRONLY)) or os.write(1, b""))
        """,
        told="held: ",
    ),
    Attack(
        "something left for the next",
        "leaves files, links, shared memory and sockets wherever it can write",
        first="""
            from multiprocessing import shared_memory
            for place in ("/tmp", "/dev/shm", "/scratch", "/scratch/home", "/scratch/.kernel"):
                open(f"{place}/{MARK}", "w").write("here")
                os.symlink("/dev/zero", f"{place}/{MARK}-link")
                os.mkfifo(f"{place}/{MARK}-pipe")
            open("/tmp/torch.py", "w").write("1 / 0")
            os.makedirs("/scratch/home/.ipython/profile_default/startup")
            open("/scratch/home/.ipython/profile_default/startup/0.py", "w").write("1 / 0")
            memory = shared_memory.SharedMemory(f"{MARK}-memory", create=True, size=1000)
            listeners = [socket.socket(socket.AF_UNIX) for _ in range(2)]
            listeners[0].bind("\\0" + MARK); listeners[1].bind(f"/tmp/{MARK}-socket")
            os.openpty(); os.umask(0o777)
        """,
        honest=("query_scores",),
        earns=None,
    ),
    Attack(
        "modules left patched",
        "patches torch, numpy, os and the autograder for whoever comes next",
        first="""
            import numpy, autograder.asking.collect
            torch.softmax = torch.Tensor.exp = torch.Tensor.__matmul__ = None
            numpy.array = autograder.asking.collect.collect = None
            os.environ["AUTOGRADER_QUESTIONS"] = "/dev/null"
            torch.set_default_dtype(torch.float64)
            torch.set_grad_enabled(False)
            sys.path.insert(0, "/tmp"); sys.modules["hostile"] = sys
        """,
        earns=(),
    ),
    Attack(
        "its scratch turned around",
        "puts links to devices and to itself in place of its folders and of the questions",
        first="""
            import shutil
            path = os.environ["AUTOGRADER_QUESTIONS"]
            os.remove(path); os.symlink("/dev/zero", path)
            os.chdir("/"); shutil.rmtree("/scratch/home"); os.symlink("/", "/scratch/home")
            for name in ("tmp", "shm"):
                shutil.rmtree(f"/scratch/{name}", ignore_errors=True)
            os.chmod("/scratch", 0)
        """,
        earns=(),
    ),
]
