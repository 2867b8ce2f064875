"""Forms in which a case is asked again, each with something that a plain draw leaves constant."""

from enum import StrEnum


class Form(StrEnum):
    """A form of a case; its value is what cards call it.

    PLAIN: as drawn, with sizes that all differ.
    ONES: every size is 1.
    ALONE: one size is 1, each in a case of its own.
    EQUAL: all sizes are equal, so that no shape tells which dimension is which.
    LARGE: sizes are larger than in the other cases, above all those of texts.
    DOUBLE, HALF: in another dtype.
    AGAIN: after a call with other values, and of a module with other parameters.
    RESIZED: after a call with other sizes; a module is then saved and loaded, too.
    ANOTHER: after another module was made with other sizes, and used.
    """

    PLAIN = ""
    ONES = "sizes of 1"
    ALONE = "one size of 1"
    EQUAL = "equal sizes"
    LARGE = "large sizes"
    DOUBLE = "float64"
    HALF = "float16"
    AGAIN = "called a second time"
    RESIZED = "called a second time, with other sizes"
    ANOTHER = "after another one was made and used"


AFTER_A_CALL = {Form.AGAIN, Form.RESIZED, Form.ANOTHER}
