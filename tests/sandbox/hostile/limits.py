"""Attacks by excess: time, memory, processes, files, output. Each one limits itself."""

from tests.sandbox.hostile.attack import SLEEP, SPIN, Attack

FORKS, THREADS = 300, 300
MEMORY, DISK, FLOOD = 6 << 30, 1 << 30, 4 << 20
MEGABYTE = 1 << 20
FILES, FILES_EACH = 50_000, 2500

# A few in each cell, so that each cell is done soon.
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
]
