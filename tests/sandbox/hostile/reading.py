"""Attacks that try to read what a submission must not see, or to reach the network."""

from tests.sandbox.hostile.attack import Attack

# A part of its memory in each cell, so that each cell is done soon.
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
        "secrets in its own memory",
        "reads what the processes that it was forked from may have left in its memory",
        first=OWN_MEMORY,
        told=f"looked {PARTS - 1}",
    ),
]
