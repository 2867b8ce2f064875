"""The system calls that a learner's code may make, and those that reading a submission needs.

`LEARNER` was found by tracing (`python -m tests.bench calls`): all lessons with their solutions and
alternatives, and other things that learners reasonably do (`tests.sandbox.honest`), from shell
commands to the workers of a data loader. The list also has the calls that other versions of the C
library make for the same purpose (such as `openat2`, `faccessat2`, `epoll_pwait2`), their older
forms, which aarch64 lacks (such as `open`, `fork`), and the rest of each family that was seen (such
as `preadv` beside `pread64`).

A refused call fails the way it does on other systems, so libraries carry on without it:

- ENOSYS, as if this Linux did not have the call, is what the C library expects of one that is too
  new: it tries an older one. `clone3` has its flags in memory, where a filter can't see them; with
  `clone` it can.
- EPERM, as for any user without rights, where programs are used to that.
- EAFNOSUPPORT for families of sockets, ENOTTY for requests to devices, EOPNOTSUPP for file
  attributes: their ordinary errors, which Python's library ignores where it can.

Also refused is kernel memory that isn't charged to any process: inotify, aio, System V and POSIX
queues, larger buffers for pipes and sockets, shared memory without a file.
"""

import errno
import os
import socket
import stat
from dataclasses import replace

from autograder.sandbox.seccomp import Condition, Conditions, Policy

MEMORY = """
    brk madvise mincore mprotect mremap msync munmap membarrier
"""
THREADS = """
    arch_prctl exit exit_group futex futex_requeue futex_wait futex_waitv futex_wake
    get_robust_list gettid rseq sched_getaffinity sched_getattr sched_getparam sched_getscheduler
    sched_get_priority_max sched_get_priority_min sched_rr_get_interval sched_yield
    set_robust_list set_tid_address getcpu
"""
SIGNALS = """
    pause restart_syscall rt_sigaction rt_sigpending rt_sigprocmask rt_sigreturn rt_sigsuspend
    rt_sigtimedwait sigaltstack
"""
CLOCKS = """
    clock_getres clock_gettime clock_nanosleep gettimeofday nanosleep time times
"""
FACTS = """
    getcwd getegid geteuid getgid getgroups getpgid getpgrp getpid getppid getpriority getrandom
    getresgid getresuid getrlimit getrusage getsid getuid prlimit64 sysinfo uname
"""
READING = """
    access close close_range dup epoll_wait epoll_pwait epoll_pwait2 faccessat faccessat2 fadvise64
    fstat fstatfs getdents getdents64 lseek lstat newfstatat poll ppoll pread64 preadv preadv2 read
    readahead readlink readlinkat readv recvfrom recvmsg select pselect6 stat statfs statx
"""
WRITING = """
    pwrite64 pwritev pwritev2 sendmsg sendto write writev
"""
FILES = """
    chdir chmod chown copy_file_range creat dup2 dup3 fallocate fchdir fchmod fchmodat fchmodat2
    fchown fchownat fdatasync fgetxattr flistxattr fsync ftruncate futimesat getxattr lchown
    lgetxattr link linkat listxattr llistxattr mkdir mkdirat open openat openat2 pipe pipe2 rename
    renameat renameat2 rmdir sendfile symlink symlinkat truncate umask unlink unlinkat utime
    utimensat utimes
"""
SOCKETS = """
    accept accept4 bind connect getpeername getsockname getsockopt listen recvmmsg sendmmsg shutdown
"""
EVENTS = """
    epoll_create epoll_create1 epoll_ctl eventfd eventfd2 signalfd signalfd4 timerfd_create
    timerfd_gettime timerfd_settime
"""
INTERRUPTIONS = """
    getitimer setitimer
"""
PROCESSES = """
    alarm capget execve execveat fork kill pidfd_open pidfd_send_signal rt_sigqueueinfo
    rt_tgsigqueueinfo sched_setaffinity setpgid setpriority setrlimit setsid tgkill
    timer_create timer_delete timer_getoverrun timer_gettime timer_settime tkill vfork wait4 waitid
"""
NEED_RIGHTS = """
    acct adjtimex bpf capset chroot clock_adjtime clock_settime delete_module finit_module
    init_module ioperm iopl kexec_file_load kexec_load mbind migrate_pages mlock mlock2 mlockall
    mount move_pages munlock munlockall open_by_handle_at perf_event_open pidfd_getfd pivot_root
    process_vm_readv process_vm_writev ptrace quotactl reboot sched_setattr sched_setparam
    sched_setscheduler setdomainname setfsgid setfsuid setgid setgroups sethostname set_mempolicy
    setns setregid setresgid setresuid setreuid settimeofday setuid swapoff swapon syslog umount2
    unshare vhangup
"""

# From linux/sched.h: namespaces, CLONE_PTRACE and CLONE_PARENT; CLONE_THREAD.
CLONE_AWAY, CLONE_THREAD = 0x7E020000 | 0x2000 | 0x8000, 0x10000
# From asm-generic/mman-common.h and linux/mman.h, as Python's on Linux; other systems lack some.
MAP_SHARED, MAP_ANONYMOUS = 0x01, 0x20
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | 0o20000000  # O_TMPFILE
DEVICE = stat.S_IFCHR  # a bit that block devices have, too

# From linux/fcntl.h and linux/prctl.h.
DUPLICATE, FLAGS, LOCKS = (0, 1030), (1, 2, 3, 4), (5, 6, 7, 36, 37, 38)
PIPE_SIZE, OWNER, SEALS = (1032,), (9,), (1033, 1034)
NAMES, DEATH, DUMPABLE, NO_NEW_PRIVILEGES = (15, 16, 0x53564D41), (1, 2), (3, 4), (38, 39)
CAPABILITIES, VECTOR_LENGTH, SECCOMP_STATE = (23,), (51, 64), (21,)
# From asm-generic/ioctls.h: terminals; what can be read and whether to wait; new terminals.
TERMINAL = (
    *range(0x5401, 0x5405),
    *range(0x5409, 0x540C),
    *range(0x540E, 0x5412),
    *range(0x5413, 0x5415),
    0x5422,
    0x5429,
)
READINESS = (0x541B, 0x5421, 0x5450, 0x5451)
NEW_TERMINAL = (0x80045430, 0x40045431, 0x5441)
# From linux/socket.h, linux/in.h and asm-generic/socket.h, since other systems lack some names.
UNIX, INTERNET, NETLINK, ROUTES = 1, (2, 10), 16, 0
TCP_OR_UDP = (0, socket.IPPROTO_TCP, socket.IPPROTO_UDP)
SOCKET_LEVEL, BUFFER_SIZES = 1, (7, 8)
ORDINARY_PRIORITY = (0, 3, 5)  # from linux/sched.h: SCHED_OTHER, SCHED_BATCH, SCHED_IDLE
INTERFACES = (0x8912, 0x8913, 0x8915, 0x8933)  # from linux/sockios.h: what there is


def _one_of(argument: int, *values: int) -> Conditions:
    return (Condition(argument, values),)


def _without(argument: int, bits: int) -> Conditions:
    return (Condition(argument, (bits,), wanted=False, bits=True),)


def _names(*texts: str) -> frozenset[str]:
    return frozenset(" ".join(texts).split())


SOCKET_KINDS = (
    _one_of(0, UNIX),
    (Condition(0, INTERNET), Condition(2, TCP_OR_UDP)),
    (Condition(0, (NETLINK,)), Condition(2, (ROUTES,))),
)
MAPPINGS = (_without(3, MAP_SHARED), _without(3, MAP_ANONYMOUS))
COMMON = _names(MEMORY, THREADS, SIGNALS, CLOCKS, FACTS, READING, WRITING)

LEARNER = Policy(
    allowed=COMMON | _names(FILES, SOCKETS, EVENTS, INTERRUPTIONS, PROCESSES),
    depending={
        "clone": (_without(0, CLONE_AWAY),),
        "fcntl": (_one_of(1, *DUPLICATE, *FLAGS, *LOCKS, *PIPE_SIZE, *OWNER, *SEALS),),
        "ioctl": (_one_of(1, *TERMINAL, *READINESS, *NEW_TERMINAL, *INTERFACES),),
        "mknod": (_without(1, DEVICE),),
        "mknodat": (_without(2, DEVICE),),
        "mmap": MAPPINGS,
        "personality": (_one_of(0, 0, 0xFFFFFFFF),),
        "prctl": (
            _one_of(
                0,
                *(*NAMES, *DEATH, *DUMPABLE, *NO_NEW_PRIVILEGES),
                *(*CAPABILITIES, *VECTOR_LENGTH, *SECCOMP_STATE),
            ),
        ),
        "sched_setscheduler": (_one_of(1, *ORDINARY_PRIORITY),),  # ZeroMQ ends if it can't
        "setsockopt": (
            (Condition(1, (SOCKET_LEVEL,), wanted=False),),
            (Condition(2, BUFFER_SIZES, wanted=False),),
        ),
        "socket": SOCKET_KINDS,
        "socketpair": SOCKET_KINDS,
    },
    errors={
        **dict.fromkeys(_names(NEED_RIGHTS), errno.EPERM),
        **dict.fromkeys(("clone", "fcntl", "mknod", "mknodat", "mmap"), errno.EPERM),
        **dict.fromkeys(("personality", "setsockopt"), errno.EPERM),
        **dict.fromkeys(("socket", "socketpair"), errno.EAFNOSUPPORT),
        **dict.fromkeys(("setxattr", "lsetxattr", "fsetxattr"), errno.EOPNOTSUPP),
        **dict.fromkeys(("removexattr", "lremovexattr", "fremovexattr"), errno.EOPNOTSUPP),
        "prctl": errno.EINVAL,
        "ioctl": errno.ENOTTY,
    },
)

# Where there is a network, which namespaces would have taken away.
WITHOUT_NETWORK = replace(
    LEARNER,
    depending={
        **LEARNER.depending,
        **dict.fromkeys(("socket", "socketpair"), (_one_of(0, UNIX),)),
    },
)

# For reading a submission: compute, open files for reading, use what is already open, and set a
# timer to be interrupted.
CLERK = Policy(
    allowed=COMMON | _names(INTERRUPTIONS),
    depending={
        "clone": ((Condition(0, (CLONE_THREAD,), bits=True), *_without(0, CLONE_AWAY)),),
        "fcntl": (_one_of(1, *DUPLICATE, *FLAGS),),
        "ioctl": (_one_of(1, TERMINAL[0], *READINESS),),
        "mmap": MAPPINGS,
        "open": (_without(1, WRITES),),
        "openat": (_without(2, WRITES),),
        "prctl": (_one_of(0, *NAMES, *VECTOR_LENGTH),),
    },
    errors={
        **dict.fromkeys(_names(NEED_RIGHTS, FILES, SOCKETS, PROCESSES), errno.EPERM),
        **dict.fromkeys(("clone", "fcntl", "mmap", "socket", "socketpair"), errno.EPERM),
        **dict.fromkeys(("openat2", "fchmodat2"), errno.ENOSYS),
        "prctl": errno.EINVAL,
        "ioctl": errno.ENOTTY,
    },
)
