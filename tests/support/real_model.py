"""Whether lesson 12's real model is here. An index may lack it, so even CI skips tests without it.

Cells that need it have the tag `raises-exception`, so that a notebook goes on after them.
"""

from functools import cache

from autograder.utils.models import ModelMissing
from autograder.utils.models.real_model import model_path

TAG = "raises-exception"


@cache
def missing() -> str:
    """Say why the model can't be read here; "" if it can."""
    try:
        model_path()
    except ModelMissing as error:
        return str(error)
    return ""
