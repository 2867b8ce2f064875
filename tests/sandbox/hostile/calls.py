"""Attacks by system calls: those that no notebook needs, and arguments that none needs."""

import os

from autograder.sandbox.system_calls import numbers
from tests.sandbox.hostile.attack import Attack

MACHINE = os.uname().machine if hasattr(os, "uname") else ""
NUMBERS = numbers(MACHINE) if MACHINE in ("x86_64", "aarch64") else {}
MEGABYTES = 64
FORKS, SOCKETS_EACH = 40, 200


def _by_number(names: str) -> str:
    """Make code that makes calls with zeros for arguments, by their numbers."""
    chosen = {name: NUMBERS[name] for name in names.split() if name in NUMBERS}
    return f"""
            for name, number in {chosen}.items():
                print(name, end=": ")
                attempt(lambda: call("syscall", number, 0, 0, 0, 0, 0, 0))
        """


def _by_clone(*flags: int) -> str:
    """Make code that forks children with each of these flags."""
    return f"""
            for flag in {flags}:
                pid = libc.syscall({NUMBERS.get("clone")}, flag | 17, 0, 0, 0, 0)
                if pid == 0: os._exit(0)
                print("held: " if pid < 0 else "HELD NOT: ", ctypes.get_errno())
        """


ATTACKS = [
    Attack(
        "calls for other programs",
        "makes calls that load modules, mount file systems and trace processes",
        first=_by_number(
            """
            init_module finit_module delete_module kexec_load kexec_file_load mount umount2
            pivot_root open_tree fsopen fspick fsmount move_mount mount_setattr swapon quotactl
            acct syslog vhangup iopl ioperm lookup_dcookie nfsservctl name_to_handle_at ptrace
            """
        ),
        told="ptrace: held: ",
    ),
    Attack(
        "calls for the kernel's newest parts",
        "makes calls whose code few programs have tried: landlock, futexes of pages, shadow stacks",
        first=_by_number(
            """
            landlock_create_ruleset map_shadow_stack statmount listmount mseal lsm_set_self_attr
            process_mrelease process_madvise cachestat pkey_alloc remap_file_pages modify_ldt
            userfaultfd io_uring_setup bpf seccomp vmsplice splice tee kcmp perf_event_open
            """
        ),
        told="bpf: held: ",
    ),
    Attack(
        "calls of another numbering",
        "makes calls with the numbers of 32-bit and of x32 programs, which filters forget",
        first="""
            import mmap
            if os.uname().machine == "x86_64":
                for number in (0x40000000, 0x40000000 + 39, 0x40000000 + 520, 0x40000000 + 165):
                    attempt(lambda: call("syscall", number, 0, 0, 0))
                # mov eax, 20 (getpid); int 0x80; ret
                page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)
                page.write(bytes.fromhex("b814000000cd80c3"))
                place = ctypes.addressof(ctypes.c_char.from_buffer(page))
                if os.fork() == 0: os._exit(ctypes.CFUNCTYPE(ctypes.c_int)(place)() > 0)
                print("HELD NOT:" if os.wait()[1] == 256 else "held:", "32 bits")
            else:
                print("held: there is none")
        """,
        told="held: (32 bits|there)",
    ),
    Attack(
        "namespaces by clone",
        "forks children into namespaces of their own, with clone's flags",
        first=_by_clone(0x10000000, 0x10020000, 0x20000000, 0x40000000, 0x02000000, 0x08000000),
        told="held:  1",
    ),
    Attack(
        "namespaces by clone3",
        "forks a child into a namespace of its own, with flags that no filter can see",
        first=f"""
            flags = (ctypes.c_ulong * 11)(0x10000000, 0, 0, 0, 17)
            pid = libc.syscall({NUMBERS.get("clone3")}, flags, 88)
            if pid == 0: os._exit(0)
            print("held: " if pid < 0 else "HELD NOT: ", ctypes.get_errno())
        """,
        told="held:  38",
    ),
    Attack(
        "children of process 1",
        "makes the process above it a parent of its children, or has them traced",
        first=_by_clone(0x8000, 0x2000),
        told="held:  1",
    ),
    Attack(
        "a child traced",
        "traces its own child, as debuggers do, and asks to be traced",
        first="""
            child = os.fork()
            if child == 0:
                time.sleep(2)
                os._exit(0)
            for request in (0, 16, 0x4206): attempt(lambda: call("ptrace", request, child, 0, 0))
            os.kill(child, 9)
        """,
        told="held: .*ptrace",
    ),
    Attack(
        "a child's memory",
        "reads and writes its own child's memory",
        first="""
            child = os.fork()
            if child == 0:
                time.sleep(2)
                os._exit(0)
            text = ctypes.create_string_buffer(8)
            part = (ctypes.c_ulong * 2)(ctypes.addressof(text), 8)
            for name in ("process_vm_readv", "process_vm_writev"):
                attempt(lambda: call(name, child, part, 1, part, 1, 0))
            os.kill(child, 9)
        """,
        told="held: .*process_vm_writev",
    ),
    Attack(
        "a child's descriptors",
        "takes an open file out of its own child",
        first="""
            child = os.fork()
            if child == 0:
                time.sleep(2)
                os._exit(0)
            number = os.pidfd_open(child)
            attempt(lambda: call("syscall", 438, number, 0, 0))
            os.kill(child, 9)
        """,
        told="held: ",
    ),
    Attack(
        "leases",
        "takes leases on the files of Python, so that whoever opens them has to wait",
        first="""
            import fcntl
            for path in (os.__file__, sys.executable, torch.__file__, "/usr/bin/env"):
                file = os.open(path, os.O_RDONLY)
                for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK):
                    attempt(lambda: fcntl.fcntl(file, fcntl.F_SETLEASE, kind))
        """,
        told="held: PermissionError",
    ),
    Attack(
        "locks of files of the system",
        "locks what it can only read, so that others wait",
        first="""
            import fcntl
            for path in (os.__file__, sys.executable, torch.__file__, "/usr/bin/env", "/usr"):
                file = os.open(path, os.O_RDONLY)
                attempt(lambda: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB))
                attempt(lambda: fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB))
                attempt(lambda: fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB))
        """,
        told="held: ",
    ),
    Attack(
        "notices of changes",
        "asks to be told of changes in folders of the system",
        first="""
            import fcntl
            folder = os.open("/usr", os.O_RDONLY)
            attempt(lambda: fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_MODIFY))
            attempt(lambda: call("inotify_init1", 0))
            attempt(lambda: call("fanotify_init", 0, 0))
        """,
        told="held: .*inotify",
    ),
    Attack(
        "standard streams changed",
        "changes the permissions, times and owner of its input, which is a device of the machine",
        first="""
            import stat
            for number in range(256):  # some are pipes, and its own
                try: mode = os.fstat(number).st_mode
                except OSError: continue
                if not stat.S_ISCHR(mode): continue
                mode = stat.S_IMODE(mode)
                attempt(lambda: os.fchmod(number, mode))
                attempt(lambda: os.utime(number))
                attempt(lambda: os.fchown(number, os.getuid(), os.getgid()))
        """,
        told="held: OSError: .*Read-only file system",
    ),
    Attack(
        "standard streams changed by path",
        "changes its standard streams through /proc",
        first="""
            import stat
            for path in ("/proc/self/fd/0", "/dev/fd/0", "/dev/stdin", "/proc/self/fd/../fd/0"):
                mode = stat.S_IMODE(os.stat(path).st_mode)
                attempt(lambda: os.chmod(path, mode))
                attempt(lambda: os.utime(path))
        """,
        told="held: OSError: .*Read-only file system",
    ),
    Attack(
        "attributes of what is open",
        "writes attributes to its standard streams and to what it can only read",
        first="""
            for target in (0, 1, sys.executable, "/usr", "/dev/null", os.open("/usr", os.O_RDONLY)):
                attempt(lambda: os.setxattr(target, "user.x", b"x"))
                attempt(lambda: os.removexattr(target, "user.x"))
        """,
        told="held: ",
    ),
    Attack(
        "sockets by the thousand",
        "opens thousands of sockets, whose buffers belong to no process",
        answers={
            "softmax": f"""
                kept = []
                for _ in range({FORKS}):
                    if os.fork() == 0:
                        for _ in range({SOCKETS_EACH} // 2):
                            try: kept.append(socket.socketpair())
                            except OSError: break
                        time.sleep(30)
                        os._exit(0)
                time.sleep(30)
            """
        },
        told="GB of memory",
        outcome="not graded",
    ),
    Attack(
        "larger buffers",
        "makes the buffers of pipes and sockets larger than they are",
        first="""
            import fcntl
            ends, pair = os.pipe(), socket.socketpair()
            attempt(lambda: fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, 1 << 20))
            for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
                attempt(lambda: pair[0].setsockopt(socket.SOL_SOCKET, option, 1 << 24))
        """,
        told="held: PermissionError",
    ),
    Attack(
        "queues in the kernel",
        "asks for aio, inotify and message queues, whose memory belongs to no process",
        first="""
            attempt(lambda: call("inotify_init1", 0))
            attempt(lambda: call("inotify_init"))
            attempt(lambda: call("mq_open", b"/q", os.O_CREAT | os.O_RDWR, 0o600, None))
            attempt(lambda: call("msgget", 1, 0o1600))
        """
        + _by_number("io_setup io_uring_setup fanotify_init memfd_secret"),
        told="io_setup: held: ",
    ),
    Attack(
        "shared memory forgotten",
        "fills shared memory without a file and has its pages taken off its account",
        first=f"""
            import mmap
            def hide():
                memory = mmap.mmap(-1, {MEGABYTES} << 20)
                memory.write(b"x" * len(memory))
                memory.madvise(mmap.MADV_DONTNEED)
                return "hidden"
            attempt(hide)
        """,
        told="held: PermissionError",
    ),
    Attack(
        "shared memory of a device",
        "maps /dev/zero as shared memory, which is memory without a file, too",
        first=f"""
            import mmap
            for name in ("zero", "full", "null"):
                file = os.open(f"/dev/{{name}}", os.O_RDWR)
                attempt(lambda: mmap.mmap(file, {MEGABYTES} << 20))
        """,
        told="held: OSError",
    ),
    Attack(
        "shared memory by its number",
        "maps shared memory with other flags, past Python",
        first="""
            libc.mmap.restype = ctypes.c_long
            for flags in (0x21, 0x23, 0x8021, 0x100021, 0x40021):
                place = libc.mmap(None, 1 << 20, 3, flags, -1, 0)
                print("held: " if place == -1 else "HELD NOT: ", ctypes.get_errno())
        """,
        told="held:  1",
    ),
    Attack(
        "typing into a terminal",
        "puts characters into the input of a terminal, as if someone typed them",
        first="""
            import fcntl, pty
            ends = pty.openpty()
            for number in (*ends, 0, 1, 2):
                attempt(lambda: fcntl.ioctl(number, 0x5412, b"x"))
        """,
        told="held: OSError",
    ),
    Attack(
        "a terminal's other ends",
        "puts rarely tried code between itself and a terminal, and takes the console",
        first="""
            import fcntl, pty, struct
            ends = pty.openpty()
            for kind in (2, 3, 13, 15, 21):
                attempt(lambda: fcntl.ioctl(ends[1], 0x5423, struct.pack("i", kind)))
            attempt(lambda: fcntl.ioctl(ends[1], 0x541D))
        """,
        told="held: OSError",
    ),
    Attack(
        "requests to devices",
        "sends requests of disks and networks to whatever is open",
        first="""
            import fcntl
            for number in (0, os.open(".", os.O_RDONLY), socket.socket().fileno()):
                for request in (0xC0045877, 0x40049409, 0x8914, 0x8916, 0x890B, 0x40086602):
                    attempt(lambda: fcntl.ioctl(number, request, bytes(64)))
        """,
        told="held: OSError",
    ),
]
