"""Dot product of the query with each word."""

from collections.abc import Callable

from torch import Tensor

from autograder.lessons.cases import CALLS, SIZES
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake


def query_and_words(draw: Draw, values: Callable[[str], Tensor]) -> dict[str, Tensor]:
    """A query and words, with more features than the three of the lesson."""
    draw.choose("d", 4, 5, 6)
    return {"query": values("d"), "words": values("n d")}


def opposite_word(draw: Draw) -> dict[str, Tensor]:
    """Normal values. One word is the query, and the first points away, so its score is negative."""
    inputs = query_and_words(draw, draw.normal)
    inputs["words"][1:2] = inputs["query"]
    inputs["words"][0] = -inputs["query"]
    return inputs


LATER = "gradients come in lesson 2"  # why a mutant that ends their path is right

EXERCISE = Exercise(
    "query_scores",
    returns="scores",
    also=(*SIZES, *CALLS),  # filling torch.zeros(n) is just as good; gradients come in lesson 2
    aspects=[
        Aspect(
            "one score for each word",
            1,
            [lambda draw: query_and_words(draw, draw.uniform)],
        ),
        Aspect(
            "features of opposite sign lower the score",
            1,
            [opposite_word],
        ),
    ],
    mistakes=[
        Mistake(
            "stopped after one word",
            "You returned inside the loop, so it ended after the first word. Collect a score "
            "for every word and return after the loop.",
            """
            for word in words:
                return word @ query
            """,
            """
            scores = []
            for word in words:
                scores.append(word @ query)
                return torch.stack(scores)
            """,
        ),
        Mistake(
            "only the last score",
            "Each pass overwrote the score, so only the last is left. Collect them in a list.",
            """
            for word in words:
                score = word @ query
            return score
            """,
            """
            for word in words:
                score = word @ query
            return torch.stack([score])
            """,
            """
            for word in words:
                scores = [word @ query]
            return torch.stack(scores * len(words))
            """,
        ),
        Mistake(
            "all scores added up",
            "You added all scores into one; keep one for each word.",
            "return sum(word @ query for word in words)",
            "return torch.stack([sum(word @ query for word in words)])",
        ),
        Mistake(
            "the first word skipped",
            "You skipped the first word: Python counts from 0.",
            {"for word in words": "for word in words[1:]"},
            """
            scores = torch.zeros(len(words))
            for i in range(1, len(words)):
                scores[i] = words[i] @ query
            return scores
            """,
        ),
        Mistake(
            "the last word skipped",
            "You skipped the last word. `range(n)` stops before n by itself: no −1 is needed.",
            {"for word in words": "for word in words[:-1]"},
            """
            scores = torch.zeros(len(words))
            for i in range(len(words) - 1):
                scores[i] = words[i] @ query
            return scores
            """,
        ),
        Mistake(
            "only the last feature",
            "Each feature overwrote the one before it. Add to it: `+=`.",
            "return words[:, -1] * query[-1]",
        ),
        Mistake(
            "three features only",
            "You assumed three features. Words may have more: run the dot product over all of "
            "them.",
            "return query[0] * words[:, 0] + query[1] * words[:, 1] + query[2] * words[:, 2]",
        ),
        Mistake(
            "query on the wrong side",
            "`query @ words` lines a vector up with the columns of `words`. Words are rows: "
            "take them one by one.",
            "return query @ words",
        ),
        Mistake(
            "products not summed",
            "You multiplied the features and stopped there. A dot product also adds the "
            "products up, so that each word gets one number.",
            "return words * query",
        ),
        Mistake(
            "mean instead of the sum",
            "You averaged the products, so your scores are divided by the number of features. A "
            "dot product is the sum.",
            {"word @ query": "(word * query).mean()"},
        ),
        Mistake(
            "cosine similarity",
            "You divided by the lengths of the two vectors. That is cosine similarity; the "
            "dot product keeps the lengths.",
            {"word @ query": "word @ query / (word.norm() * query.norm())"},
        ),
        Mistake(
            "distance",
            "Your scores are distances: they are small for similar words. A dot product is "
            "large for them.",
            {"word @ query": "(word - query).norm()"},
        ),
        Mistake(
            "absolute values",
            "You added up the absolute values of the products. Features of opposite sign should "
            "lower the score.",
            {"word @ query": "(word * query).abs().sum()"},
        ),
        Mistake(
            "loop over features",
            "You got one number for each feature. Loop over the words, the rows of `words`.",
            "return torch.stack([words[:, i] @ words[:, i] for i in range(len(query))])",
        ),
        Mistake(
            "words with themselves",
            "You took the dot product of each word with itself; the query is never used.",
            {"word @ query": "word @ word"},
        ),
        Mistake(
            "softmax already",
            "You returned weights that sum to 1. This exercise wants the scores; softmax comes "
            "later.",
            {"for word in words])": "for word in words]).softmax(0)"},
        ),
        Mistake(
            "the sum goes on",
            "Your sum goes on from word to word. Set it back to 0 before each word.",
            """
            total, scores = torch.zeros(()), []
            for word in words:
                for a, b in zip(word, query, strict=True):
                    total = total + a * b
                scores.append(total)
            return torch.stack(scores)
            """,
            """
            total, scores = torch.zeros(()), []
            for word in words:
                for a, b in zip(word, query, strict=True):
                    total += a * b
                scores.append(total)
            return torch.stack(scores)
            """,
        ),
        Mistake(
            "every product of two numbers",
            "`outer` multiplies each number of one vector by each number of the other, and adds "
            "nothing up. The dot product of two vectors is `a @ b`.",
            "return torch.stack([torch.outer(query, word) for word in words])",
        ),
        Mistake(
            "query left out",
            "Every word is compared with the first one, and `query` is never used.",
            "return words @ words[0]",
        ),
        Mistake(
            "as many scores as features",
            "Your loop runs over the features of the query. It should give a score for each word: "
            "loop over `words`.",
            """
            scores = torch.zeros(len(words))
            for i in range(min(len(query), len(words))):
                scores[i] = query @ words[i]
            return scores
            """,
        ),
        Mistake(
            "the last feature left out",
            "You leave out the last feature. A dot product adds up the products of all of them.",
            "return words[:, :-1] @ query[:-1]",
        ),
        Mistake(
            "no word with itself",
            "A word that equals the query gets 0 from you. It has a dot product with the query, "
            "too: score every word.",
            """
            zero = torch.zeros(())
            return torch.stack([zero if torch.equal(w, query) else w @ query for w in words])
            """,
        ),
    ],
    alternatives=[
        Alternative("matrix times vector", "return words @ query", excuses={"detached:": LATER}),
        Alternative("einsum", 'return torch.einsum("nd,d->n", words, query)'),
        Alternative("multiply and add up", "return (words * query).sum(dim=-1)"),
        Alternative(
            "a new tensor",
            "return torch.tensor([sum(a * b for a, b in zip(query, word)) for word in words])",
            excuses={"arguments swapped: zip": "a product is the same either way"},
        ),
        Alternative(
            "loops all the way",
            """
            scores = torch.zeros(words.shape[0])
            for i in range(words.shape[0]):
                for j in range(words.shape[1]):
                    scores[i] += words[i, j] * query[j]
            return scores
            """,
        ),
    ],
    hints=[
        "A `for` loop over `words` gives one word at a time, a vector as long as `query`.",
        "The score of one word is the sum of its features times the features of the query. "
        "`torch.dot` computes that for two vectors, and so does `@`.",
        "Collect the scores in a list, then turn it into one tensor with `torch.stack`.",
    ],
    excuses={
        "detached:": LATER,
        "result detached:": LATER,
        "without gradients:": LATER,
        "operands swapped: word @ query": "a dot product is the same either way",
        "result in float32": "a loop into torch.zeros(n) is as good here, and gives float32",
        "result rounded to float32": "likewise",
        "float32 inside": "likewise",
    },
)
