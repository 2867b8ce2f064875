"""Make a process cheap to fork: its memory in few large pages instead of many small ones.

A fork copies a table with an entry for each page. See madvise(2).
"""

import ctypes
from collections.abc import Iterator

MADV_HUGEPAGE, MADV_COLLAPSE = 14, 25
HUGE = 2 << 20  # bytes

_libc = ctypes.CDLL(None)


def use_huge_pages() -> None:
    """Move this process's own memory to huge pages, where the system has any to give.

    Call it when everything is loaded, before the first fork.
    """
    for start, size in list(_own_memory()):
        for advice in (MADV_HUGEPAGE, MADV_COLLAPSE):  # an older kernel refuses the second
            _libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), advice)


def _own_memory() -> Iterator[tuple[int, int]]:
    """Yield the start and the size of all memory that is no file's, in whole huge pages."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        for line in file:
            addresses, access, _, _, _, *name = line.split()
            if access == "rw-p" and name in ([], ["[heap]"]):
                first, last = (int(address, 16) for address in addresses.split("-"))
                start, end = -(-first // HUGE) * HUGE, last // HUGE * HUGE
                if end > start:
                    yield start, end - start
