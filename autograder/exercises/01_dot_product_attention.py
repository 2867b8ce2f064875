"""Lesson 1: dot-product attention without parameters."""

import torch

from autograder.exercises.slips import RETURNED, WEIGHTS
from autograder.judging.prediction import Prediction
from autograder.lessons.exercise import AGAIN, GRADIENTS, ONES, Aspect, Exercise, drawn
from autograder.lessons.variants import Alternative, Mistake

# ---------------------------------------------------------------- query_scores


def query_and_words(draw, values):
    """A query and words, with more features than the three of the lesson."""
    draw.choose("d", 4, 5, 6)
    return {"query": values("d"), "words": values("n d")}


def opposite_word(draw):
    """Normal values; the first word points away from the query, so that its score is negative."""
    inputs = query_and_words(draw, draw.normal)
    inputs["words"][0] = -inputs["query"]
    return inputs


query_scores = Exercise(
    "query_scores",
    returns="scores",
    also=(ONES, GRADIENTS, AGAIN),  # a loop into torch.zeros(n) is as good here
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
        ),
        Mistake(
            "three features only",
            "You assumed three features. Words may have more: run the dot product over all of "
            "them.",
            "return query[0] * words[:, 0] + query[1] * words[:, 1] + query[2] * words[:, 2]",
        ),
        Mistake(
            "query on the wrong side",
            "`query @ words` lines the query up with the columns of `words`. Words are rows: "
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
            "query left out",
            "Every word is compared with the first one, and `query` is never used.",
            "return words @ words[0]",
        ),
    ],
    alternatives=[
        Alternative("matrix times vector", "return words @ query"),
        Alternative("einsum", 'return torch.einsum("nd,d->n", words, query)'),
        Alternative("multiply and add up", "return (words * query).sum(dim=-1)"),
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
        "operands swapped: word @ query": "a dot product is the same either way",
        "result in float32": "a loop into torch.zeros(n) is as good here, and gives float32",
        "result rounded to float32": "likewise",
        "float32 inside": "likewise",
    },
)

# ---------------------------------------------------------------- softmax

ONE_SUM = (
    "All your weights together sum to 1. Each row needs its own sum: give `sum` the dimension."
)
LOST_DIMENSION = (
    "A maximum or a sum lost its dimension, so it does not line up with the rows that it came "
    "from. `keepdim=True` keeps it."
)

softmax = Exercise(
    "softmax",
    returns="weights",
    forbidden=("softmax", "log_softmax", "softmin"),
    aspects=[
        Aspect("one row of scores", 1),
        Aspect(
            "every row on its own",
            1,
            [
                drawn("m"),
                drawn("batch m"),
            ],
        ),
        Aspect(
            "scores above 100",
            1,
            [
                drawn("m", scale=80),
                lambda draw: {"scores": draw.normal("m n") + 1500},
                lambda draw: {"scores": -draw.uniform("n", 100, 102)},
                lambda draw: {"scores": draw.normal("m n") + 150},
                lambda draw: {"scores": draw.normal("m n") - 150},
                lambda draw: {"scores": draw.normal("m n") + draw.normal("m", 300)[:, None]},
            ],
        ),
        Aspect(
            "any dimension",
            1,
            [
                drawn("m", dim=0),
                drawn("batch m", dim=0),
                drawn("batch m", dim=1),
            ],
        ),
    ],
    mistakes=[
        Mistake(
            "divided by the sum",
            "You divided the scores by their sum. Negative scores then give negative weights; "
            "take the exponential first.",
            "return scores / scores.sum(dim, keepdim=True)",
        ),
        Mistake(
            "columns instead of rows",
            "Your columns sum to 1, but your rows don't: you summed over dimension 0, not `dim`.",
            """
            exps = (scores - scores.amax(0, keepdim=True)).exp()
            return exps / exps.sum(0, keepdim=True)
            """,
        ),
        Mistake(
            "one sum for all rows",
            ONE_SUM,
            {"exps.sum(dim, keepdim=True)": "exps.sum()"},
            "return scores.exp() / scores.exp().sum()",
            """
            exps = (scores - scores.max()).exp()
            return exps / exps.sum()
            """,
        ),
        Mistake(
            "maximum subtracted above only",
            "You subtracted the maximum in the numerator but not in the denominator. Shift both, "
            "or the weights no longer sum to 1.",
            """
            exps = (scores - scores.amax(dim, keepdim=True)).exp()
            return exps / scores.exp().sum(dim, keepdim=True)
            """,
        ),
        Mistake(
            "maximum along the last dimension",
            "The sum follows `dim`, but the maximum doesn't: you always took it along the last "
            "dimension.",
            {"amax(dim,": "amax(-1,"},
        ),
        Mistake(
            "largest absolute value subtracted",
            "You subtracted the largest absolute value. In a row of very negative scores that "
            "makes all exponentials zero, and 0 / 0 is NaN. Subtract the largest score itself.",
            {"scores.amax(": "scores.abs().amax("},
        ),
        Mistake(
            "float64 instead of a shift",
            "float64 only postpones the overflow: exp of 710 is infinite there too. Subtract the "
            "largest score of each row, and no score is too large.",
            """
            exps = scores.double().exp()
            return (exps / exps.sum(dim, keepdim=True)).to(scores.dtype)
            """,
        ),
        Mistake(
            "divided by the maximum",
            "You divided the scores by the largest. That changes their differences, and with "
            "them the weights. Subtract it.",
            {"scores - scores.amax": "scores / scores.amax"},
        ),
        Mistake(
            "not stable",
            "Large scores break it: exp of 100 overflows to infinity, and infinity / infinity "
            "is NaN. Subtract the largest score of each row first; the weights stay the same.",
            {"scores - scores.amax(dim, keepdim=True)": "scores"},
        ),
        Mistake(
            "keepdim lost",
            LOST_DIMENSION,
            {"exps.sum(dim, keepdim=True)": "exps.sum(dim)"},
            {"scores.amax(dim, keepdim=True)": "scores.amax(dim)"},
        ),
        Mistake(
            "one maximum for all rows",
            "You subtracted one maximum from all rows. In a row far below it, every exponential "
            "becomes zero, and 0 / 0 is NaN. Take the maximum of each row.",
            {"scores.amax(dim, keepdim=True)": "scores.max()"},
        ),
        Mistake(
            "minimum subtracted",
            "You subtracted the smallest score, so the largest can still overflow. Subtract "
            "the largest.",
            {"scores.amax(": "scores.amin("},
        ),
        Mistake(
            "dim ignored",
            "This is right only for the last dimension: the argument `dim` has no effect.",
            {"amax(dim,": "amax(-1,", "exps.sum(dim,": "exps.sum(-1,"},
        ),
        Mistake(
            "sign reversed",
            "The smallest score gets the largest weight: the sign in the exponent is reversed.",
            {"scores - scores.amax(dim, keepdim=True)": "scores.amin(dim, keepdim=True) - scores"},
        ),
        Mistake(
            "powers of two",
            "Your weights are powers of 2; softmax takes powers of e.",
            {".exp()": ".exp2()"},
        ),
        Mistake(
            "logarithm of the weights",
            "You returned the logarithm of the weights (log-softmax).",
            {"exps / exps.sum(dim, keepdim=True)": "scores - scores.logsumexp(dim, keepdim=True)"},
        ),
        Mistake(
            "not normalized",
            "You returned the exponentials. Divide them by their sum, so that each row sums to 1.",
            {" / exps.sum(dim, keepdim=True)": ""},
        ),
        Mistake(
            "sigmoid",
            "You squeezed each score into the range 0 to 1 on its own (a sigmoid). The weights of "
            "a row have to sum to 1.",
            "return scores.sigmoid()",
        ),
        Mistake(
            "hard attention",
            "You gave all the weight to the largest score. Softmax gives every score a share.",
            "return (scores == scores.amax(dim, keepdim=True)).to(scores.dtype)",
        ),
        Mistake(
            "scores clipped",
            "You clipped large scores, so those above the limit can't be told apart. Subtract the "
            "largest score of the row instead: nothing is lost.",
            {"scores - scores.amax(dim, keepdim=True)": "scores.clamp(-80, 80)"},
        ),
        Mistake(
            "maximum along another dimension",
            "The number you subtract differs within a row. Take the maximum along `dim`, as you "
            "do for the sum.",
            {"scores.amax(dim, keepdim=True)": "scores.amax(0, keepdim=True)"},
        ),
        Mistake(
            "NaN repaired",
            "Large scores overflow in `exp`, ∞ / ∞ is NaN, and you replaced the NaN afterward. "
            "Subtract the row's largest score before `exp`, and no NaN comes up.",
            """
            exps = scores.exp()
            return (exps / exps.sum(dim, keepdim=True)).nan_to_num(nan=1.0)
            """,
            """
            exps = scores.exp()
            return (exps / exps.sum(dim, keepdim=True)).nan_to_num(nan=0.0)
            """,
        ),
    ],
    alternatives=[
        Alternative("log-sum-exp", "return (scores - scores.logsumexp(dim, keepdim=True)).exp()"),
        Alternative(
            "max and its values",
            """
            top = torch.max(scores, dim, keepdim=True).values
            weights = torch.exp(scores - top)
            return weights / weights.sum(dim=dim, keepdim=True)
            """,
        ),
        Alternative(
            "one over the sum of differences",
            """
            # weight_i = 1 / sum_j exp(score_j - score_i), row by row
            rows = scores.movedim(dim, -1)
            ratios = (rows[..., None, :] - rows[..., :, None]).exp()
            return (1 / ratios.sum(-1)).movedim(-1, dim)
            """,
        ),
    ],
    hints=[
        "Two steps: take the exponential of every score, then divide by the sum over `dim`.",
        "`sum(dim, keepdim=True)` leaves a dimension of size 1 behind, so that each row is divided "
        "by its own sum.",
        "The weights don't change when you subtract the same number from every score in a row. "
        "Subtract the row's largest score (`amax`), and no exponential can overflow.",
    ],
    excuses={
        "result clamped": "weights lie between 0 and 1",
        "result without signs": "likewise",
        "result without negatives": "likewise",
    },
)

# ---------------------------------------------------------------- context_vector

context_vector = Exercise(
    "context_vector",
    returns="context",
    aspects=[
        Aspect(
            "a mixture of all words",
            1,
            [lambda draw: draw.arguments(attn_weights=draw.weights("n"))],
        ),
        Aspect(
            "weights used as they are",
            1,
        ),
    ],
    mistakes=[
        Mistake(
            "weights on the wrong side",
            "`words @ attn_weights` lines the weights up with the features. But there is one "
            "weight for each word, and the words are the rows of `words`.",
            "return words @ attn_weights",
        ),
        Mistake(
            "only the last word",
            "Each pass through the loop overwrote the sum so far, so only the last word is left. "
            "Add to it.",
            {"context = context + weight": "context = weight"},
        ),
        Mistake(
            "stopped after one word",
            "You returned inside the loop, so only the first word was added.",
            {"context = context + weight * word": "return context + weight * word"},
        ),
        Mistake(
            "words weighted but not added",
            "You weighted each word and stopped there. Add the weighted words up.",
            "return attn_weights[:, None] * words",
        ),
        Mistake(
            "weights times words",
            "`attn_weights * words` lines the weights up with the features. But there is one "
            "weight for each word, and the words are the rows of `words`.",
            "return attn_weights * words",
        ),
        Mistake(
            "sum over features",
            "You added up the features of each word. Add the words up, feature by feature.",
            "return (attn_weights[:, None] * words).sum(-1)",
        ),
        Mistake(
            "mean instead of the sum",
            "You averaged the weighted words. The weights already divide up a total of 1, so add "
            "the words; don't average them.",
            "return (attn_weights[:, None] * words).mean(0)",
        ),
        Mistake(
            "weights left out",
            "You averaged the words; the weights are never used.",
            "return words.mean(0)",
        ),
        Mistake(
            "words added up without weights",
            "You added up the words as they are; the weights are never used.",
            "return words.sum(0)",
        ),
        Mistake(
            "hard attention",
            "You returned the word with the largest weight. Every word belongs in the mixture, in "
            "proportion to its weight.",
            "return words[attn_weights.argmax()]",
        ),
        Mistake(
            "softmax once more",
            "You took the softmax of the weights, but they are weights already.",
            "return attn_weights.softmax(-1) @ words",
        ),
        Mistake(
            "normalized once more",
            "You divided the weights by their sum. Use them as they are.",
            "return attn_weights / attn_weights.sum() @ words",
        ),
        Mistake(
            "started from the first word",
            "Your sum starts from the first word, so it counts once too often. Start from zeros.",
            {"torch.zeros_like(words[0])": "words[0]"},
        ),
    ],
    alternatives=[
        Alternative("vector times matrix", "return attn_weights @ words"),
        Alternative("words on the left", "return words.T @ attn_weights"),
        Alternative("einsum", 'return torch.einsum("n,nd->d", attn_weights, words)'),
        Alternative("broadcast and add", "return (attn_weights[:, None] * words).sum(0)"),
    ],
    hints=[
        "The context has one number for each feature: it is a vector like a word.",
        "Start from zeros. For each word, add its weight times the word.",
        "`zip(attn_weights, words)` gives you each weight together with its word.",
    ],
    excuses={
        "another number: 0 → -1": "any word has the right number of features",
        "arguments swapped: zip(attn_weights, words": "a product is the same either way",
        "another argument: words → attn_weights in torch.zeros_like(words[0])": (
            "a single 0 grows to the sum"
        ),
    },
)

# ---------------------------------------------------------------- attention_scores

attention_scores = Exercise(
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
        Alternative("einsum", 'return torch.einsum("id,jd->ij", words, words)'),
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
    excuses={
        "einsum / another einsum: id,jd->ij → id,jd->ji": (
            "the scores of words with themselves are symmetric"
        ),
    },
)

# ---------------------------------------------------------------- simple_attention

simple_attention = Exercise(
    "simple_attention",
    returns="context attn_weights",
    aspects=[
        Aspect(
            "the weights",
            2,
            outputs=("attn_weights",),
        ),
        Aspect(
            "the context vectors",
            2,
            outputs=("context",),
        ),
        Aspect(
            "scores above 100",
            1,
            [lambda draw: {"words": draw.normal("n d", 0.2) + 9}, drawn(scale=20)],
        ),
    ],
    slips=[*WEIGHTS, *RETURNED],
    mistakes=[
        Mistake(
            "softmax over queries",
            "Your columns sum to 1, but the rows don't: softmax ran over the queries, or a sum "
            "lost its dimension. Each query divides its weight among the keys, along the last "
            "dimension.",
            {"dim=-1": "dim=0"},
        ),
        Mistake(
            "one softmax for everything",
            "All your weights together sum to 1. Each row belongs to one query and should sum to "
            "1 on its own.",
            {
                "torch.softmax(attn_scores, dim=-1)": (
                    "torch.softmax(attn_scores.flatten(), 0).view_as(attn_scores)"
                )
            },
        ),
        Mistake(
            "weights transposed in the sum",
            "The weights are right, but the sum used them transposed: each context took a column "
            "of the weights instead of a row.",
            {"attn_weights @ words": "attn_weights.T @ words"},
        ),
        Mistake(
            "residual connection",
            "You added the words to the context, a residual connection. The context is the "
            "weighted sum alone.",
            {"attn_weights @ words": "words + attn_weights @ words"},
        ),
        Mistake(
            "scaled already",
            "You divided the scores by the square root of the number of features. That comes in "
            "lesson 2.",
            {"words @ words.T": "words @ words.T / words.shape[-1] ** 0.5"},
        ),
        Mistake(
            "hard attention",
            "Each query gave all its weight to one word. Softmax gives every word a share.",
            {
                "torch.softmax(attn_scores, dim=-1)": (
                    "(attn_scores == attn_scores.amax(-1, keepdim=True)).to(words.dtype)"
                )
            },
        ),
        Mistake(
            "context of the scores",
            "The weights are right, but the context was made from the scores before softmax.",
            {"attn_weights @ words": "attn_scores @ words"},
        ),
        Mistake(
            "words instead of the context",
            "The weights are right, but you returned the words themselves as the context.",
            {"attn_weights @ words": "words"},
        ),
    ],
    alternatives=[
        Alternative(
            "einsum",
            """
            attn_scores = torch.einsum("id,jd->ij", words, words)
            attn_weights = attn_scores.softmax(-1)
            return torch.einsum("ij,jd->id", attn_weights, words), attn_weights
            """,
        ),
        Alternative(
            "one query at a time",
            """
            rows = [torch.softmax(words @ query, dim=0) for query in words]
            contexts = [(row[:, None] * words).sum(0) for row in rows]
            return torch.stack(contexts), torch.stack(rows)
            """,
        ),
        Alternative(
            "a softmax of one's own",
            """
            attn_scores = words @ words.T
            exps = (attn_scores - attn_scores.amax(-1, keepdim=True)).exp()
            attn_weights = exps / exps.sum(-1, keepdim=True)
            return attn_weights @ words, attn_weights
            """,
        ),
    ],
    hints=[
        "Three lines, one for each step: scores, weights, context.",
        "`torch.softmax(attn_scores, dim=…)`: along which dimension should the weights of one "
        "query sum to 1?",
        "Row i of the weights times all words is context i. One matrix product does all rows.",
    ],
    excuses={
        "softmax's dimension: torch.softmax($X, dim=1)": ("of two dimensions, 1 is the last"),
        "einsum / another einsum: id,jd->ij → id,jd->ji": (
            "the scores of words with themselves are symmetric"
        ),
        "one query at a time / another number: 0 → -1": "a row of scores has one dimension",
    },
)

# ---------------------------------------------------------------- add_score


def one_more(draw, score):
    """Two scores so far in each row, and one more, `score` above or below the larger one."""
    so_far = draw.normal("n 2")
    largest = so_far.amax(-1)
    return {
        "largest": largest,
        "total": (so_far - largest[:, None]).exp().sum(-1),
        "score": largest + score,
    }


def larger_score(draw):
    draw.label("the new score is the largest")
    return one_more(draw, draw.uniform("n", 0.5, 2.0))


def smaller_score(draw):
    draw.label("the new score is not the largest")
    return one_more(draw, -draw.uniform("n", 0.5, 2.0))


def first_score(draw):
    draw.label("the first score")
    nothing = torch.zeros(draw.size("n"))
    return {"largest": nothing - torch.inf, "total": nothing, "score": draw.normal("n")}


def far_apart(draw):
    draw.label("scores above 100")
    inputs = one_more(draw, draw.normal("n"))
    return inputs | {name: inputs[name] + 500 for name in ("largest", "score")}


add_score = Exercise(
    "add_score",
    challenge=True,
    returns="largest total",
    aspects=[
        Aspect("a score that is not the largest", 1, [smaller_score]),
        Aspect("a larger score", 1, [larger_score]),
        Aspect("the first score", 1, [first_score]),
        Aspect("no overflow", 1, [far_apart]),
    ],
    mistakes=[
        Mistake(
            "the old sum is not rescaled",
            "The old sum was made with the old maximum. When a larger score arrives, multiply the "
            "sum by e to the power of old maximum − new maximum.",
            {"* (largest - new_largest).exp()": ""},
        ),
        Mistake(
            "rescaled the other way",
            "You multiplied the old sum by e to the power of new maximum − old maximum. A larger "
            "maximum makes the old terms smaller, so it is the other way around.",
            {"largest - new_largest": "new_largest - largest"},
        ),
        Mistake(
            "the old maximum is subtracted from the new score",
            "You subtracted the old maximum from the new score. Subtract the new maximum, or a "
            "score that is far larger overflows.",
            {"score - new_largest": "score - largest"},
        ),
        Mistake(
            "the new term is always 1",
            "You added 1 for the new score. Only the largest score's own term is 1. A smaller "
            "score's term is e to the power of score − maximum.",
            "new_largest = torch.maximum(largest, score)\n"
            "return new_largest, total * (largest - new_largest).exp() + 1",
        ),
        Mistake(
            "the new maximum written over the old",
            "The old sum has to be multiplied by e to the power of old maximum − new maximum. By "
            "then you have overwritten the old maximum. Give the new one a name of its own.",
            "largest = torch.maximum(largest, score)\n"
            "total = total * (largest - score).exp() + (score - largest).exp()\n"
            "return largest, total",
        ),
        Mistake(
            "the maximum stays",
            "Your largest score never changes. When a larger score arrives, it should become the "
            "new largest.",
            "return largest, total + (score - largest).exp()",
        ),
        Mistake(
            "nothing is subtracted",
            "You added exp(score), with no maximum subtracted. In float32, it overflows from about "
            "88.7 on.",
            "return torch.maximum(largest, score), total + score.exp()",
        ),
    ],
    alternatives=[
        Alternative(
            "both terms in one sum",
            """
            pair = torch.stack([largest, score])
            new_largest = pair.amax(0)
            many = torch.stack([total, torch.ones_like(total)])
            return new_largest, (many * (pair - new_largest).exp()).sum(0)
            """,
        ),
        Alternative(
            "one case for a larger score, one for others",
            """
            ratio = (largest - score).abs().neg().exp()
            larger = score > largest
            new_largest = torch.where(larger, score, largest)
            return new_largest, torch.where(larger, total * ratio + 1, total + ratio)
            """,
        ),
        Alternative(
            "row by row",
            """
            rows = []
            for m, s, x in zip(largest, total, score, strict=True):
                new = x if x > m else m
                rows.append((new, s * torch.exp(m - new) + torch.exp(x - new)))
            return torch.stack([m for m, _ in rows]), torch.stack([s for _, s in rows])
            """,
        ),
    ],
    hints=[
        "`torch.maximum(a, b)` takes the larger number of each pair. That is the new maximum.",
        "Each term of the old sum is e to the power of score − old maximum. By which factor must "
        "you multiply it to subtract the new maximum instead?",
        "e^(s − new) = e^(s − old) · e^(old − new), with the same factor for all old terms.",
    ],
    excuses={
        "both terms in one sum / another argument: total →": "only its shape and dtype are used",
        "arguments swapped: torch.maximum(": "the maximum of two is symmetric",
        "one case for a larger score, one for others / another comparison: score > largest → "
        "score >= largest": "of equal scores, either is the largest",
        "row by row / another comparison: x > m → x >= m": "of equal scores, either is the largest",
        "one case for a larger score, one for others / operands swapped: largest - score": (
            "only the distance is used"
        ),
    },
)

EXERCISES = (query_scores, softmax, context_vector, attention_scores, simple_attention, add_score)

# ---------------------------------------------------------------- predictions

PREDICTIONS = [
    Prediction(
        "whose_direction",
        right="“with”",
        choices={
            "“Your”": "It scores higher, but only because it is longer.",
            "“with”": "It points nearly the same way as “journey”. It is just short.",
            "both alike": "Then only their lengths would tell them apart. Look at the cosines.",
        },
    ),
    Prediction(
        "scores_that_cancel",
        right="the shares are infinite",
        choices={
            "the shares still sum to 1": (
                "To share 1 among them, you would have to divide by their sum, and that is 0."
            ),
            "the shares are infinite": (
                "Divided by 0, a positive number gives ∞ and a negative one −∞, and nobody "
                "complains."
            ),
            "an error": (
                "In plain Python, dividing by 0 raises one. Tensors don't: they go on with ∞."
            ),
        },
    ),
    Prediction(
        "e_to_100",
        right="infinity, and the weights are NaN",
        choices={
            "a large number": "e¹⁰⁰ is about 2.7 · 10⁴³: too large by a factor of 10⁴ and more.",
            "infinity, but the weights are right": (
                "To get a weight, you divide by the sum, which is infinite too, and ∞/∞ is NaN."
            ),
            "infinity, and the weights are NaN": (
                "All three exponentials overflow: not even e⁹⁸ fits."
            ),
        },
    ),
    Prediction(
        "slope",
        right=2,
        because="log n² = 2 log n: wherever n doubles once, n² doubles twice.",
    ),
]
