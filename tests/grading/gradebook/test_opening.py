"""A gradebook is opened with nbgrader's checks the first time, and then without them."""

from nbgrader import api
from nbgrader.api import Gradebook

from autograder.grading.gradebook.opening import complete_gradebook


def test_a_complete_gradebook_is_opened_without_checks(tmp_path):
    url = f"sqlite:///{tmp_path}/gradebook.db"
    with Gradebook(url) as gradebook:
        gradebook.add_student("ann")
    looks = api.inspect, api.Base, Gradebook.check_course
    with complete_gradebook(), Gradebook(url) as gradebook:
        assert [student.id for student in gradebook.students] == ["ann"]
    assert (api.inspect, api.Base, Gradebook.check_course) == looks
