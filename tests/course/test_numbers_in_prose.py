"""Every number in a lesson's prose that looks like a result is one that the lesson shows.

Results have a decimal point, an exponent, a percent sign or a comma for thousands. Each has to be
in the lesson's code or outputs, rounded as the prose rounds it, or be listed below with its
source.
"""

import re
from collections.abc import Iterator

import nbformat
import pytest

ELSEWHERE = {
    "01_dot_product_attention": {
        "3.4": "the largest number in float32",
        "6.5": "an example",
        "3.1": "a section of a paper",
    },
    "02_qkv_projections": {
        "0.29611": "one more digit of a number that a cell shows",
        "0.25167": "likewise",
        "0.07397": "likewise",
        "0.43063": "likewise",
    },
    "03_multi_head": {"262,144": "512 · 512"},
    "04_masks": {"20,000": "an example", "17.5": "in float16, exp(−17.5) is 0"},
    "05_square_corners": {
        "1,600": "256 squares in batches of 16, a hundred times",
        "3.3": "a section of a paper",
        "0.0145": "make bench BENCH=squares",
        "0.0098": "the mean square of the noise in the training targets",
        "0.0105": "the better model after 300 epochs on 2,048 squares",
        "0.0103": "likewise",
        "0.004": "an example",
        "0.0037": "MOST_TURNED_ERROR of the exercise",
    },
    "06_inside_the_libraries": {"3.2": "a section of a paper", "3e-7": "an example"},
    "07_positions": {
        "90%": "the lowest seed in utils/data/longer_texts.csv",
        "97%": "likewise",
        "3.2": "a section of a paper",
        "0.21": "500 to the power of −1/4",
        "500,000": "the config of Llama 3",
        "1,000,000": "likewise, of Code Llama",
    },
    "08_debugging_clinic": {
        "0.086": "the correlation that the report gives",
        "0.64": "likewise, the sum of weights",
        "65,536": "likewise, the first place of an image",
    },
    "09_fast_attention": {
        "2,000": "an example",
        "13.5": "6.74 billion parameters of two bytes",
        "3.35": "of an H100",
    },
    "12_inside_a_real_model": {
        "8,192": "llama.context_length in the model's file",
        "25,000": "tests/course/test_lesson_12.py",
        "65,504": "the largest float16",
        "10.8": "ln 49,152",
    },
    "10_tiny_language_model": {
        "0.69": "ln 2",
        "7.4": "e squared",
        "50,000": "likewise",
        "1,024": "GPT-2",
        "2,048": "a table of models",
        "2,560": "likewise",
        "2,880": "likewise",
        "4,096": "likewise",
        "7,168": "likewise",
        "50,257": "likewise",
        "3,000": "steps: make bench BENCH=language",
        "0.15": "the largest score in 200 such texts was 0.10",
        "5.1": "the loss after 800 steps, on three seeds: make bench BENCH=language",
    },
}
NUMBER = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d+|(?=\.\d))(?:\.\d+)?(?:e[-+]?\d+)?")
RESULT = re.compile(
    r"(?<![\w.,])"
    r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+(?:e[-+]?\d+)?|\d+e[-+]?\d+|\d+(?= ?%))"
    r"(?!\w)"
)
NOT_PROSE = re.compile(r"\(https?[^)]*\)|`[^`]*`|\$[^$]*\$|```.*?```", re.DOTALL)
TAGS = re.compile(r"<script>.*?</script>|<[^>]+>", re.DOTALL)


def results_in(prose: str) -> Iterator[tuple[str, float, float]]:
    """Yield each result: as it is written, its value, and half a unit of its last digit."""
    for found in RESULT.finditer(NOT_PROSE.sub(" ", prose)):
        plain = found[0].replace(",", "")
        mantissa, _, exponent = plain.partition("e")
        digits = len(mantissa.partition(".")[2])
        half = 0.5 * 10.0 ** (int(exponent or 0) - digits)
        is_percent = found.string[found.end() :].lstrip().startswith("%")
        yield found[0] + "%" * is_percent, float(plain), half


def shown_in(notebook) -> list[float]:
    """List all numbers in the code and the outputs of a notebook."""
    texts = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            texts.append(cell.source)
            for output in cell.outputs:
                data = output.get("data", {})
                html = TAGS.sub(" ", data.get("text/html", ""))
                texts += [output.get("text", ""), data.get("text/plain", ""), html]
    return [float(found.replace(",", "")) for text in texts for found in NUMBER.findall(text)]


def unshown(lesson) -> list[str]:
    notebook = nbformat.read(lesson.notebook_path, as_version=4)
    shown = shown_in(notebook)
    return [
        written
        for cell in notebook.cells
        if cell.cell_type == "markdown"
        for written, value, half in results_in(cell.source)
        if not any(abs(number - value) <= 1.001 * half for number in shown)
        and not (written.endswith("%") and any(abs(100 * s - value) <= half for s in shown))
    ]


def test_results_in_prose_are_shown(lesson):
    known = ELSEWHERE.get(lesson.name, {})
    assert sorted({*unshown(lesson)} ^ {*known}) == []


@pytest.mark.parametrize(
    ("prose", "found"),
    [
        ("a mean of 0.25, or 25 %", [("0.25", 0.25), ("25%", 25.0)]),
        ("163,840 numbers, 4e-7 off", [("163,840", 163840.0), ("4e-7", 4e-7)]),
        ("`1.5` in code, $2.5$, lesson 3, 2017, n²", []),
        ("it is 1.50.", [("1.50", 1.5)]),
    ],
)
def test_what_looks_like_a_result(prose, found):
    assert [(written, value) for written, value, _ in results_in(prose)] == found
