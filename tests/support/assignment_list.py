"""nbgrader's list of assignments, as a learner uses it in JupyterLab on a hub."""

from dataclasses import dataclass

from playwright.sync_api import FrameLocator, Page, expect

from tests.support.waiting import HANG

SUBMITTED = "#submitted_assignments_list .assignment-notebooks .nested_list_item"
AVAILABLE, FETCHED = "(feedback available to fetch)", "(view feedback)"


@dataclass
class AssignmentList:
    """The list in a page; a learner with one lesson, which has been fetched."""

    page: Page
    lesson: str

    def open(self, hub: str, learner: str) -> None:
        """Log in where any password will do; the hub starts the learner's server."""
        self.page.goto(hub)
        self.page.get_by_label("Username").fill(learner)
        self.page.get_by_label("Password").fill("any")
        self.page.get_by_role("button", name="Sign in").click()
        self.page.get_by_role("menuitem", name="Nbgrader").click()
        self.page.get_by_role("menuitem", name="Assignment List").click()
        self.page.get_by_text(self.lesson).first.wait_for()

    def submit(self) -> None:
        before = self.page.locator(SUBMITTED).count()
        self.page.get_by_role("button", name="Submit", exact=True).click()
        expect(self.page.locator(SUBMITTED)).to_have_count(before + 1)

    def wait_for_feedback(self) -> None:
        """Refresh the list until there is feedback on the last submission."""
        last = self.page.locator(SUBMITTED).last
        for _ in range(round(HANG)):
            if AVAILABLE in last.inner_text():
                return
            self.page.locator("#refresh_assignments_list").click()
            self.page.wait_for_timeout(1000)
        raise AssertionError("no feedback comes")

    def view_feedback(self) -> FrameLocator:
        """Fetch it and open the page; return what is shown."""
        self.page.get_by_role("button", name="Fetch Feedback").click()
        self.page.locator(SUBMITTED).last.get_by_text(FETCHED).click()
        file = self.page.locator(".jp-DirListing-item", has_text=f"{self.lesson}.html")
        file.dblclick()
        return self.page.frame_locator(".jp-HTMLViewer iframe")
