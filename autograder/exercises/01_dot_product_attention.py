"""Lesson 1: dot-product attention without parameters."""

from autograder.lessons.exercise import Alternative, Aspect, Exercise, Mistake

# ---------------------------------------------------------------- query_scores


def query_and_words(draw, values):
    """A query and words, with more features than the three of the lesson."""
    draw.choose("d", 4, 5, 6)
    return {"query": values("d"), "words": values("n d")}


query_scores = Exercise(
    "query_scores",
    returns="scores",
    aspects=[
        Aspect(
            "one score for each word",
            1,
            [lambda draw: query_and_words(draw, draw.uniform)],
        ),
        Aspect(
            "negative features count against",
            1,
            [lambda draw: query_and_words(draw, draw.normal)],
        ),
    ],
    mistakes=[
        Mistake(
            "stopped after one word",
            body="""
            for word in words:
                return word @ query
            """,
            say="You returned inside the loop, so it ended after the first word. Collect a score "
            "for every word and return after the loop.",
        ),
        Mistake(
            "three features only",
            body="return query[0] * words[:, 0] + query[1] * words[:, 1] + query[2] * words[:, 2]",
            say="You counted on three features. Words may have more of them: let the dot product "
            "run over all.",
        ),
        Mistake(
            "query on the wrong side",
            body="return query @ words",
            say="`query @ words` lines the query up with the columns of `words`. Words are rows: "
            "take them one by one.",
        ),
        Mistake(
            "products not summed",
            body="return words * query",
            say="You multiplied the features and stopped there. A dot product also adds the "
            "products up, so that each word gets one number.",
        ),
        Mistake(
            "mean in the place of the sum",
            edits=(("word @ query", "(word * query).mean()"),),
            say="Your scores are the right ones divided by the number of features: a dot product "
            "is the sum of the products, not their mean.",
        ),
        Mistake(
            "cosine similarity",
            edits=(("word @ query", "word @ query / (word.norm() * query.norm())"),),
            say="You divided by the lengths of the two vectors. That is cosine similarity; the "
            "dot product keeps the lengths.",
        ),
        Mistake(
            "distance",
            edits=(("word @ query", "(word - query).norm()"),),
            say="Your scores are distances: they are small for similar words. A dot product is "
            "large for them.",
        ),
        Mistake(
            "absolute values",
            edits=(("word @ query", "(word * query).abs().sum()"),),
            say="You added up the sizes of the products without their signs. Features that "
            "disagree should pull the score down.",
        ),
        Mistake(
            "loop over features",
            body="return torch.stack([words[:, i] @ words[:, i] for i in range(len(query))])",
            say="You got one number for each feature. Loop over the words, the rows of `words`.",
        ),
        Mistake(
            "words with themselves",
            edits=(("word @ query", "word @ word"),),
            say="You took the dot product of each word with itself; the query has no part in it.",
        ),
        Mistake(
            "softmax already",
            edits=(("for word in words])", "for word in words]).softmax(0)"),),
            say="You returned weights that sum to 1. The scores come first; softmax is a later "
            "exercise.",
        ),
        Mistake(
            "dtype lost",
            edits=(
                ("torch.stack(", "torch.stack([s.double() for s in "),
                ("in words]", "in words]]"),
            ),
            say="Your numbers are right but they are float64; keep the dtype of the input.",
        ),
    ],
    alternatives=[
        Alternative("matrix times vector", body="return words @ query"),
        Alternative("einsum", body='return torch.einsum("nd,d->n", words, query)'),
        Alternative("multiply and add up", body="return (words * query).sum(dim=-1)"),
        Alternative(
            "loops all the way",
            body="""
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
        "Gather the scores in a list and make one tensor of it with `torch.stack`.",
    ],
)

# ---------------------------------------------------------------- softmax

ONE_SUM = (
    "All your weights together sum to 1. Each row should have a sum of its own: give `sum` the "
    "dimension."
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
        Aspect("one row of scores", 1, [lambda draw: {"scores": draw.normal("n")}]),
        Aspect(
            "every row on its own",
            1,
            [
                lambda draw: {"scores": draw.normal("m n")},
                lambda draw: {"scores": draw.normal("batch m n")},
            ],
        ),
        Aspect(
            "scores above 100",
            1,
            [
                lambda draw: {"scores": draw.normal("m n", scale=80)},
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
                lambda draw: {"scores": draw.normal("m n"), "dim": 0},
                lambda draw: {"scores": draw.normal("batch m n"), "dim": 1},
            ],
        ),
    ],
    mistakes=[
        Mistake(
            "divided by the sum",
            body="return scores / scores.sum(dim, keepdim=True)",
            say="You divided the scores by their sum. Negative scores then give negative weights; "
            "take the exponential first.",
        ),
        Mistake(
            "columns in the place of rows",
            body="""
            exps = (scores - scores.amax(0, keepdim=True)).exp()
            return exps / exps.sum(0, keepdim=True)
            """,
            say="Your columns sum to 1, and the rows do not: the sum ran over dimension 0 in the "
            "place of `dim`.",
        ),
        Mistake(
            "one sum for all rows",
            edits=(("exps.sum(dim, keepdim=True)", "exps.sum()"),),
            say=ONE_SUM,
        ),
        Mistake(
            "one sum for all rows, not stable",
            body="return scores.exp() / scores.exp().sum()",
            say=ONE_SUM,
        ),
        Mistake(
            "one sum and one maximum for all rows",
            body="""
            exps = (scores - scores.max()).exp()
            return exps / exps.sum()
            """,
            say=ONE_SUM,
        ),
        Mistake(
            "maximum subtracted above only",
            body="""
            exps = (scores - scores.amax(dim, keepdim=True)).exp()
            return exps / scores.exp().sum(dim, keepdim=True)
            """,
            say="You subtracted the maximum above the fraction line and not below. Both have to be "
            "shifted, or the weights no longer sum to 1.",
        ),
        Mistake(
            "maximum along the last dimension",
            edits=(("amax(dim,", "amax(-1,"),),
            say="The sum follows `dim`, and the maximum does not: it was always taken along the "
            "last dimension.",
        ),
        Mistake(
            "largest absolute value subtracted",
            edits=(("scores.amax(", "scores.abs().amax("),),
            say="You subtracted the largest absolute value. In a row of very negative scores that "
            "makes all exponentials zero, and 0 / 0 is NaN. Subtract the largest score itself.",
        ),
        Mistake(
            "float64 in the place of a shift",
            body="""
            exps = scores.double().exp()
            return (exps / exps.sum(dim, keepdim=True)).to(scores.dtype)
            """,
            say="float64 only puts the overflow off: exp of 710 is infinite there too. Subtract "
            "the largest score of each row, and no size is too large.",
        ),
        Mistake(
            "divided by the maximum",
            edits=(("scores - scores.amax", "scores / scores.amax"),),
            say="You divided the scores by the largest. That changes their differences, and with "
            "them the weights. Subtract it.",
        ),
        Mistake(
            "not stable",
            edits=(("scores - scores.amax(dim, keepdim=True)", "scores"),),
            say="Large scores break it: exp of 100 overflows to infinity, and infinity / infinity "
            "is NaN. Subtract the largest score of each row first; the weights stay the same.",
        ),
        Mistake(
            "keepdim lost",
            edits=(("exps.sum(dim, keepdim=True)", "exps.sum(dim)"),),
            say=LOST_DIMENSION,
        ),
        Mistake(
            "one maximum for all rows",
            edits=(("scores.amax(dim, keepdim=True)", "scores.max()"),),
            say="You subtracted one maximum from all rows. A row far below it becomes exp of a "
            "very negative number, zero, and then 0 / 0. Take the maximum of each row.",
        ),
        Mistake(
            "minimum subtracted",
            edits=(("scores.amax(", "scores.amin("),),
            say="You subtracted the smallest score, so the largest can still overflow. Subtract "
            "the largest.",
        ),
        Mistake(
            "maximum's dimension lost",
            edits=(("scores.amax(dim, keepdim=True)", "scores.amax(dim)"),),
            say=LOST_DIMENSION,
        ),
        Mistake(
            "dim ignored",
            edits=(("amax(dim,", "amax(-1,"), ("exps.sum(dim,", "exps.sum(-1,")),
            say="Right for the last dimension; the argument `dim` has no effect.",
        ),
        Mistake(
            "sign reversed",
            edits=(
                (
                    "scores - scores.amax(dim, keepdim=True)",
                    "scores.amin(dim, keepdim=True) - scores",
                ),
            ),
            say="The smallest score gets the largest weight: the sign in the exponent is reversed.",
        ),
        Mistake(
            "powers of two",
            edits=((".exp()", ".exp2()"),),
            say="Your weights are powers of 2; softmax takes powers of e.",
        ),
        Mistake(
            "logarithm of the weights",
            edits=(
                (
                    "exps / exps.sum(dim, keepdim=True)",
                    "scores - scores.logsumexp(dim, keepdim=True)",
                ),
            ),
            say="You returned the logarithm of the weights (log-softmax).",
        ),
        Mistake(
            "not normalised",
            edits=((" / exps.sum(dim, keepdim=True)", ""),),
            say="You returned the exponentials. Divide them by their sum, so that each row sums "
            "to 1.",
        ),
        Mistake(
            "sigmoid",
            body="return scores.sigmoid()",
            say="You squeezed each score between 0 and 1 by itself (a sigmoid). The weights of a "
            "row share one total of 1.",
        ),
        Mistake(
            "hard attention",
            body="return (scores == scores.amax(dim, keepdim=True)).to(scores.dtype)",
            say="You gave all weight to the largest score. Softmax gives every score a share.",
        ),
        Mistake(
            "scores clipped",
            edits=(("scores - scores.amax(dim, keepdim=True)", "scores.clamp(-80, 80)"),),
            say="You cut large scores off, so scores above the cut can't be told apart. Subtract "
            "the largest score of the row: nothing is lost.",
        ),
        Mistake(
            "input changed",
            edits=(("shifted = scores -", "scores -="), ("shifted.exp", "scores.exp")),
            say="`scores -= …` writes into the caller's tensor. Make a new one: `scores - …`.",
        ),
    ],
    alternatives=[
        Alternative(
            "log-sum-exp",
            body="return (scores - scores.logsumexp(dim, keepdim=True)).exp()",
        ),
        Alternative(
            "max and its values",
            body="""
            top = torch.max(scores, dim, keepdim=True).values
            weights = torch.exp(scores - top)
            weights /= weights.sum(dim=dim, keepdim=True)
            return weights
            """,
        ),
        Alternative(
            "one over the sum of differences",
            body="""
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
        "The weights do not change when the same number is subtracted from a whole row. Subtract "
        "the row's largest score (`amax`), and no exponential can overflow.",
    ],
)

# ---------------------------------------------------------------- context_vector

context_vector = Exercise(
    "context_vector",
    returns="context",
    aspects=[
        Aspect(
            "a mixture of all words",
            1,
            [lambda draw: {"attn_weights": draw.weights("n"), "words": draw.normal("n d")}],
        ),
        Aspect(
            "weights used as they are",
            1,
            [lambda draw: {"attn_weights": draw.normal("n"), "words": draw.normal("n d")}],
        ),
    ],
    mistakes=[
        Mistake(
            "weights on the wrong side",
            body="return words @ attn_weights",
            say="`words @ attn_weights` lines the weights up with the features. There is one "
            "weight for each word, a row of `words`.",
        ),
        Mistake(
            "only the last word",
            edits=(("context = context + weight", "context = weight"),),
            say="Each round of the loop wrote over the sum so far; only the last word is left. "
            "Add to it.",
        ),
        Mistake(
            "stopped after one word",
            edits=(("context = context + weight * word", "return context + weight * word"),),
            say="You returned inside the loop, so only the first word was added.",
        ),
        Mistake(
            "words weighted but not added",
            body="return attn_weights[:, None] * words",
            say="You weighted each word and stopped there. Add the weighted words up.",
        ),
        Mistake(
            "weights times words",
            body="return attn_weights * words",
            say="`attn_weights * words` lines the weights up with the features. There is one "
            "weight for each word, a row of `words`.",
        ),
        Mistake(
            "sum over features",
            body="return (attn_weights[:, None] * words).sum(-1)",
            say="You added up the features of each word. Add the words up, feature by feature.",
        ),
        Mistake(
            "mean in the place of the sum",
            body="return (attn_weights[:, None] * words).mean(0)",
            say="Your context is the right one divided by the number of words: the weights already "
            "share out a total of 1, so add, do not average.",
        ),
        Mistake(
            "weights left out",
            body="return words.mean(0)",
            say="You averaged the words; the weights have no part in it.",
        ),
        Mistake(
            "words added up without weights",
            body="return words.sum(0)",
            say="You added the words up as they are; the weights have no part in it.",
        ),
        Mistake(
            "hard attention",
            body="return words[attn_weights.argmax()]",
            say="You returned the word with the largest weight. Every word belongs in the mixture, "
            "as much as its weight says.",
        ),
        Mistake(
            "softmax once more",
            body="return attn_weights.softmax(-1) @ words",
            say="You took the softmax of the weights once more. They are weights already.",
        ),
        Mistake(
            "normalised once more",
            body="return attn_weights / attn_weights.sum() @ words",
            say="You divided the weights by their sum. Use them as they are.",
        ),
    ],
    alternatives=[
        Alternative("vector times matrix", body="return attn_weights @ words"),
        Alternative("words on the left", body="return words.T @ attn_weights"),
        Alternative("einsum", body='return torch.einsum("n,nd->d", attn_weights, words)'),
        Alternative("broadcast and add", body="return (attn_weights[:, None] * words).sum(0)"),
    ],
    hints=[
        "The context has one number for each feature: it is a vector like a word.",
        "Start from zeros. For each word, add its weight times the word.",
        "`zip(attn_weights, words)` gives a weight and its word at a time.",
    ],
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
                lambda draw: {"words": draw.normal("n d")},
                lambda draw: {"words": draw.fix(n=3, d=10).normal("n d", 4.0)},
            ],
        ),
    ],
    mistakes=[
        Mistake(
            "elementwise square",
            body="return words * words",
            say="`words * words` multiplies each number by itself. A matrix product pairs rows "
            "with columns: `@`.",
        ),
        Mistake(
            "no transpose",
            body="return words @ words",
            say="`words @ words` pairs rows with columns of the same matrix, and their lengths do "
            "not fit. The second one has to be transposed.",
        ),
        Mistake(
            "reshaped in the place of transposed",
            body="return words @ words.reshape(words.shape[1], words.shape[0])",
            say="`reshape` fills the new shape in reading order, so the columns are no longer "
            "words. Transpose: `.T` makes rows columns.",
        ),
        Mistake(
            "transpose on the wrong side",
            body="return words.T @ words",
            say="You compared features with features. Words are rows, so the transpose belongs to "
            "the second matrix.",
        ),
        Mistake(
            "cosine similarity",
            body="""
            unit = words / words.norm(dim=-1, keepdim=True)
            return unit @ unit.T
            """,
            say="You divided the words by their lengths first. That is cosine similarity; the dot "
            "product keeps the lengths.",
        ),
        Mistake(
            "scaled already",
            edits=(("words @ words.T", "words @ words.T / words.shape[-1] ** 0.5"),),
            say="You divided by the root of the number of features. That comes in lesson 2; here "
            "the scores stay as they are.",
        ),
        Mistake(
            "softmax already",
            edits=(("words @ words.T", "(words @ words.T).softmax(-1)"),),
            say="You returned weights whose rows sum to 1. This exercise wants the scores before "
            "softmax.",
        ),
        Mistake(
            "only earlier words",
            edits=(("words @ words.T", "(words @ words.T).tril()"),),
            say="The scores above the diagonal are missing. Every word is compared with every "
            "word, later ones too.",
        ),
        Mistake(
            "no word with itself",
            edits=(("words @ words.T", "(words @ words.T).fill_diagonal_(0)"),),
            say="The diagonal is empty. A word is compared with itself as well.",
        ),
        Mistake(
            "distances",
            body="return torch.cdist(words, words)",
            say="These are distances: 0 from a word to itself. A dot product is large for words "
            "that are alike.",
        ),
    ],
    alternatives=[
        Alternative("einsum", body='return torch.einsum("id,jd->ij", words, words)'),
        Alternative("a row for each query", body="return torch.stack([words @ w for w in words])"),
        Alternative(
            "two loops",
            body="""
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

# ---------------------------------------------------------------- simple_attention

simple_attention = Exercise(
    "simple_attention",
    returns="context attn_weights",
    aspects=[
        Aspect(
            "the weights",
            2,
            [lambda draw: {"words": draw.normal("n d")}],
            outputs=("attn_weights",),
        ),
        Aspect(
            "the context vectors",
            2,
            [lambda draw: {"words": draw.normal("n d")}],
            outputs=("context",),
        ),
        Aspect("scores above 100", 1, [lambda draw: {"words": draw.normal("n d", 0.2) + 9}]),
    ],
    mistakes=[
        Mistake(
            "softmax over queries",
            edits=(("dim=-1", "dim=0"),),
            say="Your columns sum to 1, and the rows do not: softmax ran over the queries, or a "
            "sum lost its dimension. Each query shares out its weight over the keys, along the "
            "last dimension.",
        ),
        Mistake(
            "one softmax for everything",
            edits=(
                (
                    "torch.softmax(attn_scores, dim=-1)",
                    "torch.softmax(attn_scores.flatten(), 0).view_as(attn_scores)",
                ),
            ),
            say="All your weights together sum to 1. Each row is a query of its own and should "
            "sum to 1.",
        ),
        Mistake(
            "divided by the sum",
            edits=(
                (
                    "torch.softmax(attn_scores, dim=-1)",
                    "attn_scores / attn_scores.sum(-1, keepdim=True)",
                ),
            ),
            say="You divided the scores by their sum. With negative scores that gives negative "
            "weights; use softmax.",
        ),
        Mistake(
            "not stable",
            edits=(
                (
                    "torch.softmax(attn_scores, dim=-1)",
                    "attn_scores.exp() / attn_scores.exp().sum(-1, keepdim=True)",
                ),
            ),
            say="Large scores break it: their exponential overflows, and infinity / infinity is "
            "NaN. Use the stable softmax.",
        ),
        Mistake(
            "no softmax",
            edits=(("torch.softmax(attn_scores, dim=-1)", "attn_scores"),),
            say="The scores went into the sum as they are. Turn them into weights with softmax.",
        ),
        Mistake(
            "scores returned",
            edits=(("return context, attn_weights", "return context, attn_scores"),),
            say="The context is right, but beside it you returned the scores before softmax.",
        ),
        Mistake(
            "order exchanged",
            edits=(("return context, attn_weights", "return attn_weights, context"),),
            say="Both results are right, in the wrong order: first the context, then the weights.",
        ),
        Mistake(
            "weights transposed in the sum",
            edits=(("attn_weights @ words", "attn_weights.T @ words"),),
            say="The weights are right, but the sum used them transposed: each context mixed the "
            "words by columns in the place of rows.",
        ),
        Mistake(
            "scaled already",
            edits=(("words @ words.T", "words @ words.T / words.shape[-1] ** 0.5"),),
            say="You divided the scores by the root of the number of features. That comes in "
            "lesson 2.",
        ),
        Mistake(
            "hard attention",
            edits=(
                (
                    "torch.softmax(attn_scores, dim=-1)",
                    "(attn_scores == attn_scores.amax(-1, keepdim=True)).to(words.dtype)",
                ),
            ),
            say="Each query gave its whole weight to one word. Softmax gives every word a share.",
        ),
        Mistake(
            "context of the scores",
            edits=(("attn_weights @ words", "attn_scores @ words"),),
            say="The weights are right, but the context was made from the scores before softmax.",
        ),
        Mistake(
            "words in the place of the context",
            edits=(("attn_weights @ words", "words"),),
            say="The weights are right, but you returned the words themselves as the context.",
        ),
        Mistake(
            "context only",
            edits=(("return context, attn_weights", "return context"),),
            say="You returned one tensor. Return two things: `return context, attn_weights`.",
        ),
    ],
    alternatives=[
        Alternative(
            "einsum",
            body="""
            attn_scores = torch.einsum("id,jd->ij", words, words)
            attn_weights = attn_scores.softmax(-1)
            return torch.einsum("ij,jd->id", attn_weights, words), attn_weights
            """,
        ),
        Alternative(
            "one query at a time",
            body="""
            rows = [torch.softmax(words @ query, dim=0) for query in words]
            contexts = [(row[:, None] * words).sum(0) for row in rows]
            return torch.stack(contexts), torch.stack(rows)
            """,
        ),
        Alternative(
            "a softmax of one's own",
            body="""
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
)

EXERCISES = (query_scores, softmax, context_vector, attention_scores, simple_attention)
