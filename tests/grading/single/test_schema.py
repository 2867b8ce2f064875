"""The form of a result is written down, and the documentation tells all of it."""

import json
import re

from autograder.places import ROOT
from tests.grading.single.grading_one import SCHEMA, VALIDATOR

PAGE = (ROOT / "docs/hand-in-anywhere.md").read_text(encoding="utf-8")
OBJECTS = [SCHEMA, *SCHEMA["$defs"].values()]
OBVIOUS = {"version", "lesson", "exercises", "name"}


def test_it_is_a_schema_that_leaves_nothing_open():
    VALIDATOR.check_schema(SCHEMA)
    for part in OBJECTS:
        assert set(part["required"]) == set(part["properties"])
        assert part["additionalProperties"] is False


def test_the_documentation_has_an_example_and_each_field():
    [example] = re.findall(r"^```json\n(.*?)^```", PAGE, re.M | re.S)
    VALIDATOR.validate(json.loads(example))
    table = PAGE.partition("| field |")[2]
    fields = {name for part in OBJECTS for name in part["properties"]}
    assert fields - OBVIOUS == {name for name in fields if f"`{name}`" in table}
