"""Whether everybody can use a page, as far as axe-core can tell."""

from collections.abc import Collection
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.support.browser import new_page

# What axe-core leaves to people: whether a sign such as ✓ is text that needs contrast.
LEFT_OPEN = {"color-contrast"}
# In the dark, filters turn the colors of figures, which axe-core can not see. See tests of views.
CONTEXT = {"light": None, "dark": {"exclude": [[".attention-figure"]]}}


def barriers(path: Path) -> list[str]:
    """List what axe-core finds in a page with everything open, in light and in dark colors."""
    with new_page() as page:
        page.goto(path.as_uri())
        return barriers_on(page)


def barriers_on(page: Page, impacts: Collection[str] | None = None) -> list[str]:
    """List what axe-core finds in a page that is open, like `barriers`, with these impacts."""
    found = []
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        said = Axe().run(page, CONTEXT[scheme]).response
        unsure = [rule for rule in said["incomplete"] if rule["id"] not in LEFT_OPEN]
        for rule in said["violations"] + unsure:
            if impacts is not None and rule["impact"] not in impacts:
                continue
            places = ", ".join(node["html"][:100] for node in rule["nodes"][:3])
            found.append(f"{scheme}: {rule['help']}: {places}")
    return found
