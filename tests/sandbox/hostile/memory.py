"""Attacks by memory that belongs to no process, or to many. Each limits what it takes."""

from tests.sandbox.hostile.attack import Attack

FORKS = 30
KEPT = 2  # seconds


def _in_children(name: str, tries: str, code: str, **facts: object) -> Attack:
    """Make an attack whose code runs in many children, which then wait for a while."""
    lines = "".join(f"            {line}\n" for line in code.strip().splitlines())
    answer = f"""
import fcntl, resource, select, struct
for _ in range({FORKS}):
    if os.fork() == 0:
        try:
{lines}        except OSError: pass
        time.sleep({KEPT})
        os._exit(0)
time.sleep({KEPT})
print("waited")
"""
    return Attack(name, tries, answers={"softmax": answer}, **({"outcome": ""} | facts))


ATTACKS = [
    _in_children(
        "pipes filled",
        "fills the pipes of many processes, which hold memory in the kernel",
        """
for _ in range(100):
    ends = os.pipe(); os.set_blocking(ends[1], False)
    os.write(ends[1], bytes(65536))
""",
        told="waited|in which nothing ran|most of them waiting",
    ),
    _in_children(
        "small pieces in sockets",
        "fills sockets with pieces of one byte, each of which takes a page of its own",
        """
for _ in range(40):
    pair = socket.socketpair(type=socket.SOCK_DGRAM)
    pair[0].setblocking(False)
    globals().setdefault("kept", []).append(pair)
    for _ in range(300): pair[0].send(b"x")
""",
    ),
    _in_children(
        "descriptors on their way",
        "sends open files through sockets and closes them, so that only the sockets hold them",
        """
for _ in range(40):
    pair = socket.socketpair()
    globals().setdefault("kept", []).append(pair)
    file = os.open("/dev/null", 0)
    for _ in range(4): socket.send_fds(pair[0], [b"x"], [file] * 200)
    os.close(file)
""",
    ),
    _in_children(
        "sockets in sockets",
        "sends sockets through themselves, so that they live on when nobody can reach them",
        """
for _ in range(100):
    pair = socket.socketpair()
    pair[0].send(bytes(60_000), socket.MSG_DONTWAIT)
    socket.send_fds(pair[0], [b"x"], [pair[0].fileno(), pair[1].fileno()])
""",
    ),
    _in_children(
        "epoll by the thousand",
        "has many epolls watch many pipes and each other",
        """
ends, polls = os.pipe(), [select.epoll() for _ in range(60)]
for poll in polls:
    for end in ends: poll.register(end, select.EPOLLIN | select.EPOLLET)
    for other in polls:
        if other is not poll:
            try: poll.register(other, select.EPOLLIN)
            except OSError: pass
""",
    ),
    _in_children(
        "timers by the thousand",
        "makes timers of the system, each of which sends a signal one day",
        """
timer = ctypes.c_void_p()
for _ in range(2000):
    if libc.timer_create(1, None, ctypes.byref(timer)): break
""",
    ),
    _in_children(
        "signals in a queue",
        "queues signals to itself that it never takes",
        """
signal.pthread_sigmask(signal.SIG_BLOCK, range(34, 65))
for _ in range(3000):
    if libc.sigqueue(os.getpid(), 40, None): break
""",
    ),
    _in_children(
        "locks on single bytes",
        "locks every other byte of a file, each with a record of its own in the kernel",
        """
file = os.open("/tmp/locked", os.O_CREAT | os.O_RDWR)
for place in range(0, 600, 2):
    fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, place, 1, 0))
""",
    ),
    _in_children(
        "terminals by the hundred",
        "opens pairs of terminals and fills them",
        """
for _ in range(20):
    ends = os.openpty(); os.set_blocking(ends[0], False)
    os.write(ends[0], b"x" * 4000)
""",
    ),
    _in_children(
        "connections that nobody accepts",
        "connects to itself until its backlogs are full, and writes into each connection",
        """
listener = socket.socket(socket.AF_UNIX); listener.bind(""); listener.listen(100)
for _ in range(100):
    end = socket.socket(socket.AF_UNIX); end.setblocking(False)
    globals().setdefault("kept", []).append(end)
    end.connect(listener.getsockname()); end.send(bytes(8000))
""",
    ),
    _in_children(
        "answers of the routing table",
        "asks the kernel for its routes and never reads the answers",
        """
for _ in range(50):
    end = socket.socket(16, socket.SOCK_RAW, 0)
    globals().setdefault("kept", []).append(end)
    for kind in (18, 22, 26): end.send(struct.pack("IHHIIB15x", 32, kind, 0x301, 1, 0, 0))
""",
    ),
    _in_children(
        "one file in many processes",
        "maps one large file in many processes, as honest programs do with a data set",
        """
import mmap
with open(f"/tmp/{os.getpid()}", "wb+") as file:
    file.truncate(1 << 20)
    kept = mmap.mmap(file.fileno(), 1 << 20)
    kept.write(bytes(1 << 20))
""",
        told="waited|in which nothing ran|most of them waiting",
    ),
]
