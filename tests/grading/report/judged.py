"""The judge's own verdicts on made-up answers, for the tests of the report."""

import torch

from autograder.asking.answer import Answer
from autograder.judging.finding import General
from autograder.judging.footprint import footprint
from autograder.judging.form import Form
from autograder.judging.judge import judge
from autograder.judging.key import AnswerKey, AspectKey, CaseKey, MistakeKey

torch.manual_seed(0)
SLOPE = "gradient of x"
Y, OTHER = torch.randn(2, 4, 5)
RIGHT = {"y": Y, SLOPE: torch.randn(4, 5)}


def case(form=Form.PLAIN, fresh=False):
    facts = {"label": "", "shapes": {}, "sizes": {}, "raises": "", "most_error": {}}
    tolerance = dict.fromkeys(RIGHT, 1e-5)
    how = {"dropout": None, "form": form, "fresh": fresh, "hidden": False}
    return CaseKey(expected=RIGHT, tolerance=tolerance, **facts, **how)


CASES = [case(), case(Form.AGAIN), case(fresh=True), case(Form.RESIZED), case(Form.ANOTHER)]
ASPECT = AspectKey("all", 2, [0, 1, 2, 3, 4], [])


def known(name, outputs):
    right = footprint(Answer(RIGHT))
    form = [footprint(Answer(RIGHT | outputs)), right, right, right]
    return MistakeKey(name, f"It is {name}.", [form])


KNOWN = [known("a slip", {"y": Y + 1}), known("a slur", {"y": Y + 2})]
KEY = AnswerKey("f", "01", {}, CASES, [ASPECT], KNOWN, [], [], [])


def judged(at, y=Y, slope=RIGHT[SLOPE], **facts):
    """The verdict on answers that are all right except the one to the case `at`."""
    answers = [Answer(RIGHT) for _ in CASES]
    answers[at] = Answer({"y": y, SLOPE: slope}, **facts)
    return judge(KEY, answers)


def verdicts():
    """A verdict for each rule that determines a kind of mistake."""
    return {
        General.LEFT_BEHIND: judged(1, OTHER),
        General.LEFT_BEHIND_SIZES: judged(3, OTHER),
        General.LEFT_BY_ANOTHER: judged(4, OTHER),
        General.OTHERS_ONLY: judged(2, OTHER),
        General.BORROWED: judged(0, OTHER, borrowed=("scale",)),
        General.NOT_ITS_OWN: judged(0, OTHER, borrowed=("self.scale",)),
        General.CHANGED_INPUT: judged(0, changed=("scores",)),
        "no_gradient": judged(0, slope=torch.zeros(4, 5)),
        General.BROKEN_PATH: judged(0, slope=OTHER),
        "wrong_shape": judged(0, Y[:1]),
        "wrong_dtype": judged(0, Y.double()),
        "holds_nan": judged(0, Y.clone().fill_diagonal_(torch.nan)),
        "other_axis_order": judged(0, Y.mT),
        "misplaced": judged(0, Y.reshape(5, 4).mT.reshape(4, 5)),
    }
