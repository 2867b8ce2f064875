"""nbgrader's templates for formgrader, changed as they are loaded so that names can't act.

In 0.9.6 they print names as they are, into HTML and into scripts, and a Content-Security-Policy
would block their scripts and their `onclick`. Here every value is escaped, a value in a script is
JSON, each script carries the nonce of the page's policy, and `page.js` handles clicks.
"""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from jinja2 import ChoiceLoader, Environment, FileSystemLoader
from markupsafe import Markup
from nbgrader.server_extensions.formgrader.handlers import template_path

HERE = Path(__file__).parent
NBGRADERS = Path(template_path)
# In 0.9.6, the page for a missing notebook asks for a file by its old name.
RENAMED = {"formgrade_macros.tpl": "formgrade_macros.html.j2"}
SCRIPT = re.compile(r"<script\b(?P<attributes>[^>]*)>(?P<body>.*?)</script>", re.DOTALL)
QUOTED = re.compile(r'"\{\{ (?P<value>[\w.]+) \}\}(?P<more>[^"{}]*)"')
ON_CLICK = re.compile(
    r'\bonclick="(?P<call>\w+)\((?P<value>true|false|)\);?"', re.IGNORECASE | re.ASCII
)
OWN_SCRIPT = '<script nonce="{{ nonce }}">{{ page_script }}</script>'


class InertLoader(FileSystemLoader):
    """Loads nbgrader's templates, changed by `inert`."""

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        name = RENAMED.get(template, template)
        source, path, is_up_to_date = super().get_source(environment, name)
        return inert(source), path, is_up_to_date


def inert(source: str) -> str:
    """Change one of nbgrader's templates so that it works under the policy of `handlers`."""
    source = ON_CLICK.sub(r'data-call="\g<call>" data-value="\g<value>"', source)
    return SCRIPT.sub(_with_nonce, source).replace("</head>", f"{OWN_SCRIPT}</head>")


def render(name: str, nonce: str, **values: object) -> str:
    """Fill one of our or nbgrader's templates; its scripts get the nonce."""
    return _environment().get_template(name).render(**values, nonce=nonce)


def _with_nonce(script: re.Match[str]) -> str:
    body = QUOTED.sub(r'{{ (\g<value> ~ "\g<more>") | tojson }}', script["body"])
    return f'<script nonce="{{{{ nonce }}}}"{script["attributes"]}>{body}</script>'


@cache
def _environment() -> Environment:
    theirs = InertLoader([NBGRADERS, NBGRADERS / "formgrade"])
    environment = Environment(
        loader=ChoiceLoader([FileSystemLoader(HERE), theirs]), autoescape=True
    )
    texts = {name: (HERE / name).read_text(encoding="utf-8") for name in ("page.js", "page.css")}
    environment.globals |= {
        "page_script": Markup(texts["page.js"]),
        "page_style": Markup(texts["page.css"]),
    }
    return environment
