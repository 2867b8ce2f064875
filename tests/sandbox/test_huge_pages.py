"""Huge pages make a fork cheaper, and change nothing else."""

import os

from autograder.sandbox.inside import huge_pages
from autograder.sandbox.inside.huge_pages import HUGE, use_huge_pages


def test_memory_keeps_what_is_in_it():
    data = bytearray(os.urandom(1 << 20) * 8)
    before = bytes(data)
    use_huge_pages()
    assert data == before
    data[:3] = b"new"
    assert data[:3] == b"new" and data[3:] == before[3:]


def test_only_whole_pages_are_asked_for():
    own = list(huge_pages._own_memory())
    assert own and all(start % HUGE == size % HUGE == 0 < size for start, size in own)
