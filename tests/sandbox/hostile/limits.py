"""Attacks by excess: time, memory, processes, files, output. Each one limits itself."""

from tests.sandbox.hostile.attack import SLEEP, SPIN, Attack

FORKS, THREADS = 300, 300
MEMORY, DISK, FLOOD = 6 << 30, 1 << 30, 4 << 20
MEGABYTE = 1 << 20
FILES, FILES_EACH = 50_000, 2500

# A few in each cell, so that each is soon done.
MANY_FILES = f"""
def make(first):
    try:
        for number in range(first, first + {FILES_EACH}): os.mknod(f"/tmp/{{number}}")
    except OSError as error:
        return print("held:", error)
    if number + 1 == {FILES}: print("HELD NOT: {FILES} files")
""" + "".join(f"# NEXT CELL\nmake({first})\n" for first in range(0, FILES, FILES_EACH))

ATTACKS = [
    Attack(
        "endless loop",
        "never comes to an end, in a cell after an answer",
        first=f"while time.process_time() < {SPIN}: pass",
        told="this cell took more than",
        outcome="graded",
    ),
    Attack(
        "loop that can't be interrupted",
        "never comes to an end and swallows KeyboardInterrupt",
        answers={
            "softmax": f"""
                while time.process_time() < {SPIN}:
                    try:
                        while time.process_time() < {SPIN}: pass
                    except BaseException:
                        pass
            """
        },
        told="could not be interrupted",
        outcome="not graded",
    ),
    Attack(
        "loop in an answer",
        "never comes to an end within the function that is checked, and ignores every signal",
        answers={
            "softmax": f"""
                def softmax(scores, dim=-1):
                    for number in set(signal.Signals) - {{signal.SIGKILL, signal.SIGSTOP}}:
                        signal.signal(number, signal.SIG_IGN)
                    while time.process_time() < {SPIN}: pass
            """
        },
        outcome="not graded",
    ),
    Attack(
        "loop outside Python",
        "spends its time adding up numbers, where no interrupt is seen",
        answers={"softmax": "sum(range(2 * 10**9))"},
        outcome="not graded",
    ),
    Attack(
        "endless recursion",
        "calls itself without end, in a cell, in its answer, in its repr and in C",
        answers={
            "softmax": "def softmax(scores, dim=-1): return softmax(scores, dim)",
            "context_vector": """
                class Deep:
                    def __repr__(self): return repr(Deep())
                Deep()
            """,
            "attention_scores": """
                import json
                nested = []
                for _ in range(10**5): nested = [nested]
                json.dumps(nested)
            """,
            "simple_attention": """
                def down(n): return down(n + 1)
                down(0)
            """,
        },
    ),
    Attack(
        "fork bomb",
        f"forks up to {FORKS} processes that wait",
        answers={
            "softmax": f"""
                for _ in range({FORKS}):
                    try:
                        pid = os.fork()
                    except OSError as error:
                        print("held:", error)
                        break
                    if pid == 0:
                        time.sleep({SLEEP})
                        os._exit(0)
                else:
                    time.sleep({SLEEP})
            """
        },
        told="more than 80 processes|held: ",
    ),
    Attack(
        "fork chain",
        f"forks {FORKS} times, each process another one, all in sessions of their own",
        answers={
            "softmax": f"""
                for _ in range({FORKS}):
                    try:
                        if os.fork():
                            break
                    except OSError as error:
                        break
                    os.setsid()
                time.sleep({SLEEP})
            """
        },
        told="processes|took more than|died",
    ),
    Attack(
        "thread bomb",
        f"starts up to {THREADS} threads",
        answers={
            "softmax": f"""
                import threading
                threading.stack_size(1 << 16)
                try:
                    for _ in range({THREADS}):
                        threading.Thread(target=time.sleep, args=({SLEEP},)).start()
                    time.sleep({SLEEP})
                except RuntimeError as error:
                    print("held:", error)
            """
        },
        told="more than 80 processes and threads|held: ",
    ),
    Attack(
        "memory bomb",
        f"takes memory up to {MEMORY >> 30} GB",
        first=f"""
            held = []
            while len(held) < {MEMORY >> 26}:
                held.append(bytes([1]) * (1 << 26))
        """,
        told="MemoryError|GB of memory",
    ),
    Attack(
        "memory bomb in many hands",
        "takes 2 GB in pieces that two processes share each, so that none has it for itself",
        answers={
            "softmax": f"""
                for _ in range(8):
                    piece = bytearray(b"x") * (1 << 28)
                    for _ in range(2):
                        if os.fork() == 0:
                            time.sleep({SLEEP})
                            os._exit(0)
                    del piece
                time.sleep({SLEEP})
            """
        },
        told="GB of memory|took more than",
    ),
    Attack(
        "memory bomb without an owner",
        "asks for shared memory that no process holds: memfd, System V, anonymous mappings",
        first="""
            import mmap
            attempt(lambda: os.memfd_create("x"))
            attempt(lambda: call("shmget", 1, 1 << 20, 0o1666))
            attempt(lambda: call("msgget", 1, 0o1666))
            attempt(lambda: call("syscall", 447, 0) if os.uname().machine == "x86_64" else 1 / 0)
            pieces = []
            attempt(lambda: [pieces.append(mmap.mmap(-1, 1 << 30)) for _ in range(4)])
        """,
        told="held: .*\n.*held: ",
    ),
    Attack(
        "disk bomb",
        f"writes up to {DISK >> 30} GB to each place that may be writable",
        first=f"""
            block = bytes({MEGABYTE})
            for place in ("/scratch/home", "/tmp", "/dev/shm", "/scratch", "/dev/pts", "/var/tmp"):
                try:
                    with open(place + "/" + MARK, "wb", buffering=0) as file:
                        for _ in range({DISK >> 20}): assert file.write(block) == len(block)
                    print("HELD NOT: a gigabyte lies in", place)
                except (OSError, AssertionError) as error:
                    print("held:", error)
            for place in ("/scratch/home", "/tmp", "/dev/shm", "/scratch"):
                os.remove(place + "/" + MARK)
        """,
        told="No space left|File too large|held",
    ),
    Attack(
        "full disk",
        "leaves no space at all in its scratch, so that nothing more can be written",
        first=f"""
            with open("/tmp/" + MARK, "wb", buffering=0) as file:
                try:
                    while True: file.write(bytes({MEGABYTE})) or 1 / 0
                except (OSError, ZeroDivisionError): print("full")
        """,
        told="full",
    ),
    Attack(
        "many small files",
        f"makes up to {FILES:,} files",
        first=MANY_FILES,
        told="held: ",
    ),
    Attack(
        "giant file on paper",
        "makes files that are terabytes long and hold nothing",
        first="""
            def stretch():
                with open("/tmp/" + MARK, "wb") as file: return file.truncate(1 << 42)
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            attempt(stretch)
        """,
        told="held: ",
    ),
    Attack(
        "open files",
        "opens up to 5,000 files and sockets",
        first="""
            opened = []
            def more():
                for _ in range(5000): opened.append(os.open("/dev/null", 0))
            attempt(more)
            opened = [os.close(number) for number in opened]
        """,
        told="held: .*Too many open files",
    ),
    Attack(
        "output flood",
        f"prints {FLOOD >> 20} MB, and later on without an end",
        first=f"""
            for _ in range({FLOOD >> 16}): print("x" * (1 << 16))
        """,
        answers={
            "softmax": f"""
                while time.process_time() < {SPIN}: print("x" * (1 << 16)); time.sleep(0.002)
            """
        },
        told="OutputLimit",
    ),
    Attack(
        "output flood past Python",
        f"writes {FLOOD >> 20} MB to its standard output and error as files, and later without end",
        first=f"""
            block = b"y" * (1 << 16)
            for number in range({FLOOD >> 16}): os.write(1 + number % 2, block)
        """,
        answers={
            "softmax": f"""
                while time.process_time() < {SPIN}: os.write(1, block), os.write(2, block)
            """
        },
        told="OutputLimit",
    ),
    Attack(
        "thousands of outputs",
        "shows 5,000 small things",
        last="""
            from IPython.display import display
            for number in range(5000): display({"text/plain": str(number)}, raw=True)
        """,
    ),
    Attack(
        "error of many megabytes",
        "raises an exception whose name and message are a megabyte each, again and again",
        first="""
            class Rude(Exception):
                def _render_traceback_(self): return ["T" * 500_000] * 20
            Rude.__name__ = "N" * 1_000_000
            raise Rude("V" * 1_000_000)
        """
        "# NEXT CELL\nraise Rude('V' * 5_000_000)",
        told="OutputLimit",
    ),
    Attack(
        "flood from behind",
        "starts a thread that goes on printing while later cells run",
        first="""
            import threading
            def flood():
                for _ in range(1000): print("z" * 10_000); time.sleep(0.001)
            threading.Thread(target=flood, daemon=True).start()
        """,
    ),
    Attack(
        "waiting for an answer",
        "asks for input, which nobody will ever give",
        first="input('your password? ')",
        told="StdinNotImplementedError",
        outcome="graded",
    ),
]
