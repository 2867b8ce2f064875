"""A notebook graded alone gets the points, the sentences and the page of `make grade`."""

import pytest

from autograder.building.secret import SECRET_VARIABLE
from autograder.grading.report.submissions import read_submissions
from tests.demo.made_up_class import make_class
from tests.grading.single.grading_one import grade_one
from tests.support.classroom import LESSON, exercise_scores, gradebook, hand_in, nbgrader, release
from tests.support.sharing import every

pytestmark = [
    pytest.mark.usefixtures("shared_sandbox"),
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
SECRET = "a line of ours"
CLASS = make_class(LESSON)
STEP = 4  # those who left everything open, and whose code is no Python, are among each fourth
DIGEST = "\n<!-- made from "


@pytest.fixture(scope="module")
def handed_in(request):
    """Those of the class whom a test is about."""
    tests = [item for item in request.session.items if item.path == request.path]
    return [CLASS[test.callspec.params["number"]] for test in tests]


@pytest.fixture(scope="module")
def course(tmp_path_factory, sandbox, handed_in):
    """Their submissions, graded with nbgrader, and the feedback."""
    folder = tmp_path_factory.mktemp("course")
    release(folder)
    for submission in handed_in:
        hand_in(folder, submission.learner, submission.notebook(LESSON))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SECRET_VARIABLE, SECRET)
        nbgrader(folder, "autograde", LESSON.name)
        nbgrader(folder, "generate_feedback", LESSON.name)
    return folder


@pytest.fixture(scope="module")
def verdicts(course):
    """Their verdicts, by learner and exercise."""
    found = read_submissions(course / "autograded", LESSON.name)
    return {one.learner: one.verdicts for one in found}


@pytest.fixture(scope="module")
def points(course):
    """Their points in the gradebook, by learner and exercise."""
    return exercise_scores(gradebook(course))


@pytest.mark.parametrize("number", every(STEP, range(len(CLASS))))
def test_it_is_the_same(course, verdicts, points, tmp_path, number):
    learner = CLASS[number].learner
    place = f"{learner}/{LESSON.name}/{LESSON.name}"
    secret = tmp_path / "secret.txt"
    secret.write_text(f"{SECRET}\n", encoding="utf-8")
    found = grade_one(course / f"submitted/{place}.ipynb", tmp_path, "--secret", secret)
    exercises = {one["name"]: one for one in found.result["exercises"]}
    assert found.status == 0
    assert found.result["points"] == sum(points[learner].values())
    assert {name: one["points"] for name, one in exercises.items()} == points[learner]
    for name, verdict in verdicts[learner].items():
        assert in_short(exercises[name]) == in_short(verdict), name
    page = (course / f"feedback/{place}.html").read_text(encoding="utf-8")
    assert found.page == without_learner(page, learner)
    assert all(SECRET not in text for text in (str(found.result), found.page))


def in_short(about):
    return {name: about[name] for name in ("points", "answered", "sentence", "mistake", "rules")}


def without_learner(page, learner):
    """Return a page without what only the course knows: whose it is, and what it was made from."""
    page = page.partition(DIGEST)[0]
    page = page.replace(f"Feedback for <bdi>{learner}</bdi>", "Feedback")
    return page.replace(f": feedback for {learner}</title>", ": feedback</title>")
