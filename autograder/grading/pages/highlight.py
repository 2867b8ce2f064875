"""Python code with colors: a few classes, all of them known to `page.css`."""

from html import escape
from itertools import groupby

from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String

# The first that a token belongs to counts.
CLASSES = (
    (Comment, "c"),
    (String.Doc, "c"),
    (String, "s"),
    (Number, "m"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (Name.Function, "f"),
    (Name.Class, "f"),
    (Name.Decorator, "f"),
)
LEXER = PythonLexer(stripnl=False, ensurenl=False)


def highlighted(source: str) -> str:
    """Return Python code as HTML. What is not Python comes out without colors."""
    tokens = ((_class(kind), text) for kind, text in LEXER.get_tokens(source))
    return "".join(
        _span(name, "".join(text for _, text in same))
        for name, same in groupby(tokens, key=lambda token: token[0])
    )


def _class(kind: object) -> str:
    return next((name for parent, name in CLASSES if kind in parent), "")


def _span(name: str, text: str) -> str:
    html = escape(text, quote=False)
    return f'<span class="{name}">{html}</span>' if name else html
