"""A short run of the fuzzer; `make bench BENCH=fuzz` is the long one."""

import pytest
from hypothesis import given, settings

from tests.fuzz.readers import READERS


@pytest.mark.filterwarnings("ignore:Duplicate name")  # in a zip, where it may be
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_every_reader_copes_with_any_input(reader):
    settings(max_examples=60)(given(reader.inputs)(reader.check))()
