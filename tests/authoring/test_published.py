"""Where the course is published stands in one place, and nothing links there while it doesn't."""

import pytest

from autograder.authoring.published import BADGE, Published, published, with_addresses

README = "# A course\n\nWhat it is.\n\ngit clone <this repository> attention\n"
SET = Published("https://github.com/owner/course", "https://owner.github.io/course")


@pytest.mark.parametrize(
    ("urls", "read"),
    [
        ("", Published()),
        ("[project.urls]", Published()),
        (f'[project.urls]\nRepository = "{SET.repository}/"\nHomepage = "{SET.site}"', SET),
    ],
)
def test_it_is_read_from_the_project(tmp_path, urls, read):
    project = tmp_path / "pyproject.toml"
    project.write_text(f'[project]\nname = "course"\n{urls}\n', encoding="utf-8")
    assert published(project) == read


def test_without_addresses_there_are_no_links():
    assert Published().notebook("04_masks") == Published().in_colab("04_masks") == ""
    assert with_addresses(README, Published()) == README


def test_a_notebook_has_an_address_in_the_repository_and_in_colab():
    path = "owner/course/blob/main/notebooks/04_masks/04_masks.ipynb"
    assert SET.notebook("04_masks") == f"https://github.com/{path}"
    assert SET.in_colab("04_masks") == f"https://colab.research.google.com/github/{path}"


def test_a_readme_may_have_one_link_alone():
    for where in (Published(repository=SET.repository), Published(site=SET.site)):
        assert with_addresses(with_addresses(README, where), Published()) == README


def test_colab_opens_only_what_is_on_github():
    assert Published("https://gitlab.com/owner/course").in_colab("04_masks") == ""


def test_the_readme_gets_the_addresses_once_and_loses_them_again():
    stated = with_addresses(README, SET)
    colab = SET.in_colab("01_dot_product_attention")
    links = (
        f"[Read it online](https://owner.github.io/course/) [![Open in Colab]({BADGE})]({colab})"
    )
    assert stated.startswith(f"# A course\n\n{links}\n\n")
    assert "git clone https://github.com/owner/course attention\n" in stated
    assert with_addresses(stated, SET) == stated
    assert with_addresses(stated, Published()) == README
