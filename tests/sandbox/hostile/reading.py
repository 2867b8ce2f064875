"""Attacks that try to read what a submission must not see, or to reach the network."""

from tests.sandbox.hostile.attack import Attack

# A part of its memory in each cell, so that each is soon done.
PARTS = 8
OWN_MEMORY = (
    """
needle = b"canary" + b"-"
def look(part):
    with open("/proc/self/mem", "rb", 0) as memory:
        for line in open("/proc/self/maps").readlines()[part::PARTS]:
            start, end = (int(x, 16) for x in line.split()[0].split("-"))
            if " rw" in line and end - start < 1 << 26:
                memory.seek(start)
                try: data = memory.read(end - start)
                except OSError: continue
                place = data.find(needle)
                if place >= 0: print(data[place:place + 30])
    print("looked", part)
""".replace("PARTS", str(PARTS))
    + "".join(f"# NEXT CELL\nlook({part})" for part in range(PARTS))
)

ATTACKS = [
    Attack(
        "secrets by their paths",
        "opens the gradebook, other submissions, the solutions and the home by their full paths",
        first="""
            for path in SECRETS:
                attempt(lambda: open(path).read())
                attempt(lambda: open("/proc/self/root" + path).read())
                attempt(lambda: open("/proc/1/root" + path).read())
                attempt(lambda: open("../" * 30 + path).read())
        """,
        told="held: FileNotFoundError",
    ),
    Attack(
        "secrets by a walk",
        "walks through everything that is not the system or Python, and prints what it finds",
        first="""
            def known(folder):
                return any(os.path.samefile(folder, place) for place in skipped)
            skipped = ("/usr", "/proc", sys.prefix, sys.base_prefix)
            for folder, folders, names in os.walk("/"):
                folders[:] = [f for f in folders if not known(os.path.join(folder, f))]
                for name in names:
                    path = os.path.join(folder, name)
                    try:
                        if os.path.isfile(path): print(path, open(path, "rb").read()[:2000])
                    except OSError: pass
        """,
        told="/etc/ld.so.cache",
    ),
    Attack(
        "secrets by the shell",
        "looks for the secret with a bash cell, in files and in processes",
        first="""%%bash
env; ps aux; ls -la / /home /root /work /tmp /var 2>&1; cat /etc/passwd /etc/shadow 2>&1
cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'
ls -l /proc/*/fd /proc/*/cwd /proc/*/root 2>&1 | head -200
""",
        told="HOME=/scratch/home",
    ),
    Attack(
        "secrets in /proc",
        "reads every process's environment, memory maps and working directory",
        first="""
            for pid in filter(str.isdigit, os.listdir("/proc")):
                for name in ("environ", "cmdline", "maps", "stack", "mountinfo", "status"):
                    try: print(pid, name, open(f"/proc/{pid}/{name}").read()[:4000])
                    except OSError as error: print(error)
            assert len([p for p in os.listdir("/proc") if p.isdigit()]) < 10
        """,
        told="Permission denied",
    ),
    Attack(
        "secrets in its own memory",
        "reads what the processes that it was forked from may have left in its memory",
        first=OWN_MEMORY,
        told=f"looked {PARTS - 1}",
    ),
    Attack(
        "secrets in open files",
        "looks for descriptors that lead out",
        first="""
            import stat
            for number in range(256):
                try: kind = os.fstat(number).st_mode
                except OSError: continue
                if stat.S_ISDIR(kind) or stat.S_ISREG(kind):
                    print("HELD NOT:", os.readlink(f"/proc/self/fd/{number}"))
            print("looked")
        """,
        told="looked",
    ),
    Attack(
        "the answer key",
        "imports the exercises, the reference, the hidden cases and the grader",
        first="""
            import importlib
            names = ("exercises", "judging.key", "references.store", "building.hidden", "lessons")
            for name in (*names, "authoring", "grading", "sandbox", "learner"):
                attempt(lambda: importlib.import_module(f"autograder.{name}"))
            attempt(lambda: os.stat("/grader/inside"))
            import autograder
            print(os.listdir(os.path.dirname(autograder.__file__)))
        """,
        told="held: .*ModuleNotFoundError",
    ),
    Attack(
        "files by their handles",
        "opens files by inode numbers, past every path",
        first="""
            inode_2 = b"\\x08\\0\\0\\0\\x01\\0\\0\\0\\x02" + bytes(7)
            handle = ctypes.create_string_buffer(inode_2, 128)
            fd = os.open("/usr", os.O_RDONLY)
            attempt(lambda: call("open_by_handle_at", fd, handle, 0))
        """,
        told="held: ",
    ),
    Attack(
        "disks and kernel memory",
        "opens block devices, kernel memory and the kernel's log",
        first="""
            for path in ("/dev/vda", "/dev/sda", "/dev/mem", "/dev/kmsg", "/proc/kcore",
                         "/proc/kmsg", "/dev/fuse", "/dev/kvm", "/dev/net/tun", "/dev/loop0"):
                attempt(lambda: os.open(path, os.O_RDONLY))
        """,
        told="held: ",
    ),
    Attack(
        "this machine by TCP",
        "connects to a listener on the machine's own loopback",
        first="""
            for address in ("127.0.0.1", "0.0.0.0", "localhost", "::1", "::ffff:127.0.0.1"):
                attempt(lambda: socket.create_connection((address, PORT), timeout=0.3))
        """,
        told="held: ",
    ),
    Attack(
        "this machine by UDP",
        "sends to the machine's own loopback without a connection",
        first="""
            attempt(lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", PORT)))
        """,
        told="held: ",
    ),
    Attack(
        "this machine by an abstract socket",
        "connects to a listener that has a name but no path",
        first="""
            attempt(lambda: socket.socket(socket.AF_UNIX).connect(ABSTRACT))
        """,
        told="held: ConnectionRefusedError",
    ),
    Attack(
        "the network woken",
        "brings its loopback up, adds an address and a route",
        first="""
            import fcntl, struct
            name = struct.pack("16sh14x", b"lo", 0x41)
            attempt(lambda: fcntl.ioctl(socket.socket(type=socket.SOCK_DGRAM), 0x8914, name))
            attempt(lambda: fcntl.ioctl(socket.socket(type=socket.SOCK_DGRAM), 0x890B, bytes(120)))
            print(open("/proc/net/dev").read())
        """,
        told="held: ",
    ),
]
