"""Turn a list of allowed system calls into a filter for the kernel.

A filter is a program of the classic BPF machine that looks at a call's number and arguments; see
seccomp(2) and linux/filter.h. This one finds the number by binary search. Where all arguments are
allowed, the kernel (5.11 and newer) doesn't even run it: it remembers the result by number.

`allowed_calls` says which calls are allowed; `inside.namespaces.load_filter` loads a filter.
"""

import errno
import platform
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from autograder.sandbox.system_calls import numbers

# By machine: its identifier in linux/audit.h.
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# The filter's instructions, and the offsets of a call's data.
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, MACHINE, ARGUMENTS = 0, 4, 16
ALLOW, FAIL = 0x7FFF0000, 0x00050000

Instruction = tuple[int, int, int, int]  # opcode, jump if true, jump if false, operand


@dataclass(frozen=True)
class Condition:
    """A condition on an argument, taken as a 32-bit number.

    It holds if the argument equals one of `values` or, with `bits`, shares a bit with one.
    `wanted=False` reverses it.
    """

    argument: int
    values: tuple[int, ...]
    wanted: bool = True
    bits: bool = False


Conditions = tuple[Condition, ...]


@dataclass(frozen=True)
class Policy:
    """The system calls that a process may make, by name. All others fail.

    allowed: calls that are allowed with any arguments.
    depending: calls that are allowed if all conditions of at least one set hold.
    errors: the errno with which a call fails. The default is ENOSYS, as if Linux didn't have it.
    """

    allowed: frozenset[str]
    depending: Mapping[str, Sequence[Conditions]] = field(default_factory=dict)
    errors: Mapping[str, int] = field(default_factory=dict)


def is_known(machine: str = platform.machine()) -> bool:
    """Whether there are filters for this machine architecture."""
    return machine in MACHINES


def program(policy: Policy, machine: str = platform.machine()) -> bytes:
    """Return the filter for a machine architecture in the kernel's binary form."""
    return b"".join(struct.pack("HBBI", *line) for line in instructions(policy, machine))


def instructions(policy: Policy, machine: str) -> list[Instruction]:
    """Return the filter's instructions."""
    other_machine = (RETURN, 0, 0, FAIL | errno.ENOSYS)  # such as a 32-bit program
    start = [(LOAD, 0, 0, MACHINE), (EQUAL, 1, 0, MACHINES[machine]), other_machine]
    return [*start, (LOAD, 0, 0, NUMBER), *_search(_ranges(policy, machine))]


def _ranges(policy: Policy, machine: str) -> list[tuple[int, list[Instruction]]]:
    """Return what to do from each number on, up to the next one in the list."""
    names = {number: name for name, number in numbers(machine).items()}
    last = max(names) + 1  # x32 calls are far beyond, too
    every = [(number, _decide(policy, names.get(number, ""))) for number in range(last + 1)]
    return [next(group) for _, group in groupby(every, key=lambda pair: pair[1])]


def _decide(policy: Policy, name: str) -> list[Instruction]:
    """Return the instructions that decide on one call."""
    if name in policy.allowed:
        return [(RETURN, 0, 0, ALLOW)]
    fail = (RETURN, 0, 0, FAIL | policy.errors.get(name, errno.ENOSYS))
    sets = policy.depending.get(name, ())
    return [line for each in sets for line in _allow_if(each)] + [fail]


def _allow_if(conditions: Conditions) -> list[Instruction]:
    """Return the instructions that allow a call if all conditions hold, and else go on."""
    lines = [(RETURN, 0, 0, ALLOW)]
    for condition in reversed(conditions):
        lines = [*_compare(condition, len(lines)), *lines]
    return lines


def _compare(condition: Condition, rest: int) -> list[Instruction]:
    """Return the instructions that skip the `rest` behind them unless the condition holds."""
    what = ANY_BIT if condition.bits else EQUAL
    lines: list[Instruction] = []
    for after, value in enumerate(reversed(condition.values)):
        if_found, if_not = (after, rest) if condition.wanted else (after + rest, 0)
        lines = [(what, if_found, if_not if after == 0 else 0, value), *lines]
    return [(LOAD, 0, 0, ARGUMENTS + 8 * condition.argument), *lines]


def _search(ranges: list[tuple[int, list[Instruction]]]) -> list[Instruction]:
    if len(ranges) == 1:
        return ranges[0][1]
    middle = len(ranges) // 2
    low, high = _search(ranges[:middle]), _search(ranges[middle:])
    return [(AT_LEAST, len(low), 0, ranges[middle][0]), *low, *high]
