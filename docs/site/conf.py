"""How Sphinx makes the course's site from `lessons/`, which `make site` writes."""

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

project = "Attention from Scratch"
html_title = project
language = "en"
extensions = ["myst_nb"]
exclude_patterns = ["_build"]
nb_execution_mode = "off"  # they were, and their outputs are compared in the tests
myst_enable_extensions = ["dollarmath", "amsmath"]
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_math_renderer = "mathml"
html_copy_source = html_show_sourcelink = False
html_show_sphinx = html_show_copyright = False


def in_line(translator, node):
    translator.body.append(convert(node.astext()))
    raise SkipNode


def as_block(translator, node):
    translator.body.append(convert(node.astext(), display="block"))
    raise SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (in_line, None), (as_block, None))
