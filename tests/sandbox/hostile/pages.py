"""Attacks on the pages that show a submission, by what is written, attached or displayed in it."""

from collections.abc import Callable

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from tests.sandbox.hostile.attack import Attack
from tests.support.pictures import png

PNG = png()


def _written(name: str, tries: str, *sources: str, attached: dict | None = None) -> Attack:
    """Make an attack by text cells."""

    def add(notebook: NotebookNode) -> None:
        for source in sources:
            cell = new_markdown_cell(source)
            if attached:
                cell.attachments = attached
            notebook.cells.insert(3, cell)

    return Attack(name, tries, change=add, outcome="graded")


def _shown(name: str, tries: str, code: str, told: str = "", kind: str = "text/html") -> Attack:
    """Make an attack by what a cell displays.

    code: an expression for a list of texts.
    """
    show = f"""
from IPython.display import display
for text in {code}:
    display({{{kind!r}: text, "text/plain": "shown"}}, raw=True)
"""
    return Attack(name, tries, first=show, told=told or "shown", outcome="graded")


def _in_answer(change: Callable[[str], str]) -> Callable[[NotebookNode], None]:
    """Return a function that changes the source of every answer cell."""

    def edit(notebook: NotebookNode) -> None:
        for cell in notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("solution"):
                cell.source = change(cell.source)

    return edit


ATTACKS = [
    _written(
        "links that are scripts",
        "writes links in Markdown whose targets are scripts, encoded in many ways",
        *(
            f"[click]({target}) <a href='{target}'>click</a> ![x]({target})"
            for target in (
                "javascript:parent.evil=1",
                "files/javascript:parent.evil=1",
                "JaVaScRiPt&colon;parent.evil=1",
                "java\tscript:parent.evil=1",
                "&#106;avascript:parent.evil=1",
                "data:text/html;base64,PHNjcmlwdD5wYXJlbnQuZXZpbD0xPC9zY3JpcHQ+",
                "vbscript:parent.evil=1",
                "//example.invalid/formgrader",
            )
        ),
    ),
    _written(
        "HTML that changes when read twice",
        "writes HTML that is harmless until a browser repairs it",
        "<noscript><p title='</noscript><img src=x onerror=evil()>'>",
        "<svg></p><style><a id='</style><img src=x onerror=evil()>'>",
        "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=x'>",
        "<form><math><mtext></form><form><mglyph><style></math><img src=x onerror=evil()>",
        "<!--<img src='--><img src=x onerror=evil()>'>",
        "<template><script>evil()</script></template><xmp><p title='</xmp><script>evil()//'>",
    ),
    _written(
        "classes and ids of the page",
        "writes parts that look and are named like the page's own",
        '<div class="modal in" style="display:block"><b id="score">9</b></div>',
        '<p class="grade"><strong>20 / 20</strong></p><table class="exercises"></table>',
        '<div style="position:fixed;inset:0;z-index:9;background:red">covered</div>',
    ),
    _written(
        "styles that load",
        "writes styles that would fetch, cover and hide",
        "<style>@import 'http://example.invalid/x'; * { display: none }</style>",
        "<p style=\"background:url('http://example.invalid/x')\">x</p>",
        f"<p style='color:{'(' * 20_000}'>x</p><p style='{'a:b;' * 20_000}'>x</p>",
        "<link rel=stylesheet href=x><meta http-equiv=refresh content='0;url=x'><base href=x>",
    ),
    _written(
        "text nested deep",
        "writes quotations, lists, emphasis and brackets, thousands deep",
        "> " * 4_000 + "x",
        "<div>" * 9_000,
        "".join(" " * n + "- x\n" for n in range(300)),
        "[" * 20_000 + "](" * 20_000,
        "*a **a " * 9_000,
        "`" * 30_000 + " x",
    ),
    _written(
        "text that is long",
        "writes 60 kB of line breaks, of tables and of one word",
        "\n" * 60_000,
        "|a" * 9_000 + "|\n" + "|-" * 9_000 + "|\n" + "|b" * 9_000,
        "x" * 300_000,
        "&" * 50_000 + "&amp;" * 9_000 + "&#x;" * 9_000,
    ),
    _written(
        "references of references",
        "defines thousands of links and notes, each of which refers to others",
        "\n".join(f"[{n}]: /{n}\n[{n}][{n + 1}]" for n in range(3_000)),
        "\n".join(f"[^{n}]: [^{n}] [^{n + 1}]" for n in range(3_000)),
    ),
    _written(
        "formulas that multiply",
        "writes formulas whose macros double themselves, and braces without an end",
        r"$$\def\a{\a\a}\a$$ $$\newcommand{\b}[9]{#1#1#1#1}\b\b\b$$",
        "$" + "{" * 9_000 + "}" * 9_000 + "$ $$" + r"\frac{1}{" * 3_000 + "$$",
        r"$\href{javascript:evil()}{x}$ $\class{modal in}{x}$ $\unicode{x3c}script$",
        "$x" * 9_000,
    ),
    _written(
        "an attachment 400 times",
        "attaches one picture and shows it 400 times",
        "![x](attachment:x.png)\n" * 400,
        attached={"x.png": {"image/png": png(size=200_000)}},
    ),
    _written(
        "attachments that are lost",
        "refers to attachments that are not there, empty, or no pictures",
        "![a](attachment:a.png) ![b](attachment:) ![c](attachment:../../c) ![d](attachment:%00)",
        attached={
            "b.png": {},
            "": {"image/png": PNG},
            "d.svg": {"image/svg+xml": "<svg onload=x>"},
        },
    ),
    _written(
        "attachments with odd names",
        "attaches pictures under names and types that are HTML",
        '![a](attachment:"onerror="evil)',
        attached={
            '"onerror="evil': {'image/png"onerror="evil': PNG, "image/png": '">x<b onclick=x'}
        },
    ),
    _shown(
        "pictures that are none",
        "shows pictures that are HTML, vast, or programs",
        "['\"><script>evil()</script>', 'A' * 800_000, '', ' ' * 9_000, 'iVBORw0KGgo=' * 9]",
        kind="image/png",
    ),
    _shown(
        "drawings that unfold",
        "shows SVG whose parts repeat each other, with entities that do",
        """['<svg>' + ''.join(f'<g id="a{n}">' + f'<use href="#a{n-1}"/>' * 9 + '</g>'
            for n in range(1, 30)) + '</svg>', '<!DOCTYPE x [<!ENTITY a "aa">'
            '<!ENTITY b "&a;&a;">]><svg>&b;<foreignObject><iframe src="x"></svg>']""",
        kind="image/svg+xml",
    ),
    _shown(
        "tables of a hundred thousand cells",
        "shows HTML tables far wider and longer than a page",
        "['<table>' + '<tr>' + '<td>x' * 1000 + '</table>', '<td>' * 100_000, '<b>' * 50_000]",
    ),
    _shown(
        "frames and forms",
        "shows frames, forms, objects and applets that would act on a click",
        """['<iframe srcdoc="<script>evil()</script>"></iframe>',
            '<form action="/formgrader/api"><button>ok</button><input name=score autofocus></form>',
            '<object data=x></object><embed src=x><applet code=x></applet><portal src=x></portal>',
            '<details ontoggle=evil() open><video onloadstart=evil() src=x></video>']""",
    ),
    _shown(
        "Markdown and LaTeX as outputs",
        "shows text as Markdown and LaTeX that is nested, long and full of scripts",
        "['> ' * 4000, '[x](javascript:evil())', '<script>evil()</script>', '$' * 50_000]",
        kind="text/markdown",
    ),
    _shown(
        "trees as outputs",
        "shows trees of JSON, widgets and plots that a page would have to draw",
        "[{'a' * n: [n] * n} for n in range(200)]",
        kind="application/vnd.plotly.v1+json",
    ),
    Attack(
        "an answer that is slow to color",
        "writes answers whose coloring takes long: brackets, strings and numbers without an end",
        change=_in_answer(
            lambda source: (
                f"{source}\nif 0:\n    x = {'[' * 150}{']' * 150}\n"
                f"    '{'{' * 20_000}'\n    0{'_0' * 20_000}\n# {'a' * 100_000}"
            )
        ),
        honest=("query_scores",),
        outcome="graded",
    ),
    Attack(
        "an answer in letters that turn",
        "writes answers with letters that change direction, have no width, or are many in one",
        change=_in_answer(
            lambda source: (
                f"{source}\n# \u202e\u2066 {'e' + chr(0x301) * 9_000} \u200b\ufeff\u2028\x85"
            )
        ),
        honest=("query_scores",),
        outcome="graded",
    ),
    Attack(
        "an answer that ends the page",
        "writes answers and comments that close what a page puts around them",
        change=_in_answer(
            lambda source: (
                f"{source}\n# --></code></pre></div></body></html><script>evil()</script>"
            )
        ),
        honest=("query_scores",),
        outcome="graded",
    ),
]
