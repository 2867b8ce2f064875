"""How Sphinx makes the course's site from `lessons/`, which `make site` writes."""

from docutils.nodes import SkipNode

from autograder.authoring import site_search, site_wheel
from autograder.authoring.front_page import front_page
from autograder.authoring.published import published
from autograder.grading.pages.formulas import mathml

project = "Attention from Scratch"
html_title = project
html_baseurl = published().site
language = "en"
extensions = ["myst_nb"]
exclude_patterns = ["_build"]
nb_execution_mode = "off"  # they were, and their outputs are compared in the tests
myst_enable_extensions = ["amsmath", "attrs_inline", "dollarmath", "substitution"]
myst_substitutions = front_page()
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_math_renderer = "mathml"
html_copy_source = html_show_sourcelink = False
html_show_sphinx = html_show_copyright = False
html_show_search_summary = False  # static/site.js shows one, from disk as well
pygments_dark_style = "github-dark"  # furo's own underlines names of classes


def in_line(translator, node):
    translator.body.append(mathml(node.astext()))
    raise SkipNode


def as_block(translator, node):
    translator.body.append(mathml(node.astext(), block=True))
    raise SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (in_line, None), (as_block, None))
    site_search.setup(app)
    site_wheel.setup(app)
