"""What the site's front page shows of the lessons: a view to touch, and a card for each."""

from dataclasses import asdict
from html import escape

from autograder.authoring.shown import shown, still
from autograder.authoring.stated import opening
from autograder.lessons.lesson import Lesson, lesson_names

FIRST = "01_dot_product_attention"
# The call that draws a lesson's card. A lesson that isn't listed has a card without a picture.
PICTURES = {
    FIRST: "plot_words(",
    "02_qkv_projections": "plot_matrix(",
    "03_multi_head": "draw_split(",
    "04_masks": "view_mask(",
    "05_square_corners": "plot_square_attention(",
    "06_inside_the_libraries": "plot_matrix(",
    "07_positions": "plot_matrix(",
    "08_debugging_clinic": "plot_attention(",
    "09_fast_attention": "view_tiles(",
    "10_tiny_language_model": "view_heads(",
    "11_fixed_memory": "view_recall(",
    "12_inside_a_real_model": "view_next_tokens(",
}
CARD = (
    '<li><a href="lessons/{name}.html">{picture}<b>{title}</b> <span>{minutes} minutes</span>'
    "<br>Then you can {use}.</a></li>"
)


def front_page() -> dict[str, str]:
    """Return pieces of Markdown by the name that index.md gives them. Raises AuthoringError."""
    cards = "".join(card(Lesson(name)) for name in lesson_names())
    return {
        "view": _raw(shown(Lesson(FIRST), "view_heads(")),
        "cards": _raw(f'<ol class="cards">{cards}</ol>'),
    }


def card(lesson: Lesson) -> str:
    """Return a link to the lesson, with its picture and what its opening says."""
    call = PICTURES.get(lesson.name)
    picture = f'<img alt="" src="{still(lesson, call)}">' if call else ""
    said = {what: escape(text) for what, text in asdict(opening(lesson)).items()}
    return CARD.format(name=lesson.name, picture=picture, **said)


def _raw(html: str) -> str:
    return f"`````{{raw}} html\n{html}\n`````"
