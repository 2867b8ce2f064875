"""Block system calls that no notebook needs and that would get around the other walls.

A network namespace does not cover every kind of network (AF_VSOCK reaches a virtual machine's
host). Keyrings are inherited from whoever started the grader. Memory from memfd_create and System V
shared memory belongs to no process, so it would go uncounted. The filter makes all these calls fail
as if this Linux did not have them; bubblewrap loads it.

See seccomp(2) and linux/filter.h.
"""

import errno
import platform
import struct

# By machine: its identifier in linux/audit.h, and its system call numbers.
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
FORBIDDEN = {
    "keyctl": {"x86_64": 250, "aarch64": 219},
    "add_key": {"x86_64": 248, "aarch64": 217},
    "request_key": {"x86_64": 249, "aarch64": 218},
    "memfd_create": {"x86_64": 319, "aarch64": 279},
    "memfd_secret": {"x86_64": 447, "aarch64": 447},
    "shmget": {"x86_64": 29, "aarch64": 194},
    "msgget": {"x86_64": 68, "aarch64": 186},
    "semget": {"x86_64": 64, "aarch64": 190},
    "io_uring_setup": {"x86_64": 425, "aarch64": 425},
    "userfaultfd": {"x86_64": 323, "aarch64": 282},
    "perf_event_open": {"x86_64": 298, "aarch64": 241},
    "bpf": {"x86_64": 321, "aarch64": 280},
}
SOCKET = {"x86_64": 41, "aarch64": 198}
# Linux's numbers for local sockets, IPv4, IPv6 and netlink; other systems lack some names.
FAMILIES = (1, 2, 10, 16)
OTHER_NUMBERING = 0x40000000  # where x86_64's x32 calls begin

# The filter's instructions, and the offsets of a call's data.
LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER, MACHINE, FIRST_ARGUMENT = 0, 4, 16
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.ENOSYS

Instruction = tuple[int, int, int, int]  # opcode, jump if true, jump if false, operand


def is_known(machine: str = platform.machine()) -> bool:
    """Whether there is a filter for this machine architecture."""
    return machine in MACHINES


def program(machine: str = platform.machine()) -> bytes:
    """Return the filter for a machine architecture in the kernel's binary form."""
    return b"".join(struct.pack("HBBI", *instruction) for instruction in instructions(machine))


def instructions(machine: str) -> list[Instruction]:
    """Return the filter's instructions."""
    lines = [(LOAD, 0, 0, MACHINE), (EQUAL, 1, 0, MACHINES[machine]), (RETURN, 0, 0, REFUSE)]
    lines += [(LOAD, 0, 0, NUMBER), *_refuse_if(AT_LEAST, OTHER_NUMBERING)]
    for numbers in FORBIDDEN.values():
        lines += _refuse_if(EQUAL, numbers[machine])
    lines += [(EQUAL, 1, 0, SOCKET[machine]), (RETURN, 0, 0, ALLOW)]
    lines += [(LOAD, 0, 0, FIRST_ARGUMENT)]
    for family in FAMILIES:
        lines += [(EQUAL, 0, 1, family), (RETURN, 0, 0, ALLOW)]
    return [*lines, (RETURN, 0, 0, REFUSE)]


def _refuse_if(test: int, value: int) -> list[Instruction]:
    return [(test, 0, 1, value), (RETURN, 0, 0, REFUSE)]
