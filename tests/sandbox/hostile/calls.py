"""Attacks by system calls that no notebook needs, or with arguments that no notebook needs."""

import os

from autograder.sandbox.system_calls import numbers
from tests.sandbox.hostile.attack import Attack

MACHINE = os.uname().machine if hasattr(os, "uname") else ""
NUMBERS = numbers(MACHINE) if MACHINE in ("x86_64", "aarch64") else {}
MEGABYTES = 64
FORKS, SOCKETS_EACH = 40, 200


def _by_number(names: str) -> str:
    """Make code that makes calls by number, with zeros for arguments."""
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
]
