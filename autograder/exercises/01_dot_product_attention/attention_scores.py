"""Dot product of every word (row: the query) with every word (column: the key)."""

from autograder.lessons.cases import drawn
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.variants import Alternative, Mistake

EXERCISE = Exercise(
    "attention_scores",
    returns="attn_scores",
    aspects=[
        Aspect("every word with every word", 1, [lambda draw: {"words": draw.uniform("n d")}]),
        Aspect(
            "any number of words and features",
            1,
            [
                drawn(),
                lambda draw: {"words": draw.fix(n=3, d=10).normal("n d", 4.0)},
            ],
        ),
        connected(),
    ],
    mistakes=[
        Mistake(
            "elementwise square",
            "`words * words` multiplies each number by itself. A matrix product pairs rows "
            "with columns: `@`.",
            "return words * words",
        ),
        Mistake(
            "no transpose",
            "`words @ words` pairs rows with columns of the same matrix, and their lengths don't "
            "match. Transpose the second one.",
            "return words @ words",
        ),
        Mistake(
            "reshaped instead of transposed",
            "`reshape` fills the new shape in reading order, so the columns aren't words. "
            "Transpose instead: `.T` turns rows into columns.",
            "return words @ words.reshape(words.shape[1], words.shape[0])",
        ),
        Mistake(
            "transpose on the wrong side",
            "You compared features with features. Words are rows, so transpose the second matrix, "
            "not the first.",
            "return words.T @ words",
        ),
        Mistake(
            "cosine similarity",
            "You divided the words by their lengths first. That is cosine similarity; the dot "
            "product keeps the lengths.",
            """
            unit = words / words.norm(dim=-1, keepdim=True)
            return unit @ unit.T
            """,
        ),
        Mistake(
            "scaled already",
            "You divided by the square root of the number of features. That comes in lesson 2; "
            "here the scores stay as they are.",
            {"words @ words.T": "words @ words.T / words.shape[-1] ** 0.5"},
        ),
        Mistake(
            "softmax already",
            "You returned weights whose rows sum to 1. This exercise wants the scores before "
            "softmax.",
            {"words @ words.T": "(words @ words.T).softmax(-1)"},
        ),
        Mistake(
            "only earlier words",
            "The scores above the diagonal are missing. Every word is compared with every "
            "word, later ones too.",
            {"words @ words.T": "(words @ words.T).tril()"},
        ),
        Mistake(
            "no word with itself",
            "The diagonal is zero. Compare each word with itself, too.",
            {"words @ words.T": "(words @ words.T).fill_diagonal_(0)"},
        ),
        Mistake(
            "distances",
            "These are distances: 0 from a word to itself. A dot product is large for words "
            "that are alike.",
            "return torch.cdist(words, words)",
        ),
    ],
    alternatives=[
        Alternative(
            "einsum",
            'return torch.einsum("id,jd->ij", words, words)',
            excuses={
                "another einsum: id,jd->ij → id,jd->ji": (
                    "the scores of words with themselves are symmetric"
                ),
            },
        ),
        Alternative("a row for each query", "return torch.stack([words @ w for w in words])"),
        Alternative(
            "two loops",
            """
            rows = [[a.dot(b) for b in words] for a in words]
            return torch.stack([torch.stack(row) for row in rows])
            """,
        ),
    ],
    hints=[
        "Entry [i, j] of a matrix product is the dot product of row i on the left with column j on "
        "the right.",
        "The words are rows. Which matrix has the same words as columns?",
        "`words.T` has the words as columns.",
    ],
)
