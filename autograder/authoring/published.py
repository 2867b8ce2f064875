"""Where the course is published, as pyproject.toml says. While it doesn't, nothing links there."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from autograder.lessons.lesson import lesson_names
from autograder.places import ROOT

GITHUB = "https://github.com/"
COLAB = "https://colab.research.google.com/github/"
CLONE = re.compile(r"^git clone .* (\S+)$", re.M)
BADGE = "https://colab.research.google.com/assets/colab-badge.svg"
LINK = re.compile(r"\A(# .*\n\n)(?:\[(?:Read it online|!\[Open in Colab).*\n\n)?")


@dataclass(frozen=True)
class Published:
    """The addresses of the course's repository and of its site; "" if it has none."""

    repository: str = ""
    site: str = ""

    @property
    def wheels(self) -> str:
        """The address of the page where pip finds the learners' wheel; "" without a site."""
        return self.site and f"{self.site}/wheels/"

    def notebook(self, lesson: str) -> str:
        """Return the address of a lesson's notebook; "" without a repository."""
        path = f"/blob/main/notebooks/{lesson}/{lesson}.ipynb"
        return self.repository and self.repository + path

    def in_colab(self, lesson: str) -> str:
        """Return where Colab opens the notebook; "" unless the repository is on GitHub."""
        on_github = self.repository.startswith(GITHUB)
        return COLAB + self.notebook(lesson).removeprefix(GITHUB) if on_github else ""


def published(project: Path = ROOT / "pyproject.toml") -> Published:
    """Read the addresses from a pyproject.toml."""
    urls = tomllib.loads(project.read_text(encoding="utf-8"))["project"].get("urls", {})
    return Published(*(urls.get(name, "").rstrip("/") for name in ("Repository", "Homepage")))


def with_addresses(readme: str, where: Published) -> str:
    """Return the README with what to clone and, below its title, links to the site and Colab."""
    clone = where.repository or "<this repository>"
    colab = where.in_colab(lesson_names()[0])
    links = [f"[Read it online]({where.site}/)"] if where.site else []
    links += [f"[![Open in Colab]({BADGE})]({colab})"] if colab else []
    shown = f"{' '.join(links)}\n\n" if links else ""
    readme = CLONE.sub(lambda match: f"git clone {clone} {match[1]}", readme)
    return LINK.sub(lambda match: f"{match[1]}{shown}", readme)
