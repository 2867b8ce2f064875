"""A short run of the fuzzer; `make bench BENCH=fuzz` is the long one."""

import pytest
from hypothesis import given, settings

from tests.fuzz.readers import READERS


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_whatever_it_reads_it_does_what_it_should(reader):
    settings(max_examples=60)(given(reader.inputs)(reader.check))()
