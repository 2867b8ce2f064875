"""Query, key and value of every word, in this order."""

from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.variants import Alternative, Mistake

from .shared import BATCHES

EXERCISE = Exercise(
    "project",
    returns="query key value",
    aspects=[
        Aspect("queries and keys", 1, outputs=("query", "key")),
        Aspect("values", 1, outputs=("value",)),
        Aspect("a batch of sentences", 1, BATCHES),
        connected(),
    ],
    mistakes=[
        Mistake(
            "key by the query's matrix",
            "Your keys are the queries again: you made them with `w_query`. Keys have their own "
            "matrix.",
            {"key = words @ w_key": "key = words @ w_query"},
        ),
        Mistake(
            "query by the key's matrix",
            "Your queries are the keys again: you made them with `w_key`. Queries have their own "
            "matrix.",
            {"query = words @ w_query": "query = words @ w_key"},
        ),
        Mistake(
            "query and key exchanged",
            "Queries and keys are right but swapped: the order is query, key, value.",
            {"return query, key, value": "return key, query, value"},
        ),
        Mistake(
            "key and value exchanged",
            "Keys and values are right but swapped: the order is query, key, value.",
            {"return query, key, value": "return query, value, key"},
        ),
        Mistake(
            "value by the key's matrix",
            "Your values are the keys again. Values have their own matrix, `w_value`, and their "
            "own number of features.",
            {"words @ w_value": "words @ w_key"},
        ),
        Mistake(
            "words as values",
            "You returned the words themselves as values. Values are projected too.",
            {"value = words @ w_value": "value = words"},
        ),
        Mistake(
            "matrix transposed",
            "You multiplied by the transposed matrix (`F.linear` does that too). These "
            "matrices are [d_in, d_out] already: `x @ W`.",
            {
                "words @ w_query": "words @ w_query.T",
                "words @ w_key": "words @ w_key.T",
                "words @ w_value": "words @ w_value.T",
            },
        ),
        Mistake(
            "matrix on the left",
            "You put the matrix on the left. The words are rows, so they come first: `x @ W`.",
            {
                "words @ w_query": "w_query @ words",
                "words @ w_key": "w_key @ words",
                "words @ w_value": "w_value @ words",
            },
            {
                "words @ w_query": "w_query.T @ words",
                "words @ w_key": "w_key.T @ words",
                "words @ w_value": "w_value.T @ words",
            },
        ),
        Mistake(
            "words transposed",
            "You transposed the words. They are rows already, as they should be: `x @ W`.",
            {
                "words @ w_query": "words.mT @ w_query",
                "words @ w_key": "words.mT @ w_key",
                "words @ w_value": "words.mT @ w_value",
            },
        ),
        Mistake(
            "words as columns",
            "The numbers are right, but your words have become columns. Each word should stay "
            "a row: [n, d_k].",
            "return w_query.T @ words.mT, w_key.T @ words.mT, w_value.T @ words.mT",
        ),
        Mistake(
            "elementwise product",
            "`*` multiplies element by element. A projection is a matrix product: `@`.",
            {"words @ w_query": "words * w_query"},
        ),
        Mistake(
            "one projection after the other",
            "You projected the query to get the key. Make all three from the words.",
            {"key = words @ w_key": "key = query @ w_key"},
        ),
        Mistake(
            "only one word",
            "You projected the first word only. The product projects all rows at once.",
            {"query = words": "words = words[..., 0, :]\n    query = words"},
        ),
        Mistake(
            "batch flattened",
            "The words of all sentences ended up in one long list. Leave the leading dimensions "
            "as they are: `@` can handle them.",
            {"query = words": "words = words.reshape(-1, w_key.shape[0])\n    query = words"},
        ),
        Mistake(
            "softmax already",
            "You applied softmax to the projections. Leave them as they are; softmax comes after "
            "the scores.",
            {"return query, key, value": "return query.softmax(-1), key.softmax(-1), value"},
        ),
        Mistake(
            "scaled already",
            "You divided the queries by √d_k. Scaling belongs to the scores, in the next exercise.",
            {"words @ w_query": "words @ w_query / w_query.shape[-1] ** 0.5"},
        ),
        Mistake(
            "query only",
            "You returned one tensor. Return all three: `return query, key, value`.",
            {"return query, key, value": "return query"},
        ),
        Mistake(
            "stacked",
            "`torch.stack` makes one tensor of all three. But values may have another number of "
            "features than queries and keys, so return the three as they are: "
            "`return query, key, value`.",
            {"return query, key, value": "return torch.stack([query, key, value])"},
        ),
        Mistake(
            "a layer of its own",
            "You made a new layer, with random numbers of its own. Use the matrices that you are "
            "given: `words @ w_query`.",
            {
                f"words @ w_{name}": f"nn.Linear(*w_{name}.shape, bias=False)(words)"
                for name in ("query", "key", "value")
            },
        ),
    ],
    alternatives=[
        Alternative(
            "einsum",
            """
            query = torch.einsum("...i,ik->...k", words, w_query)
            key = torch.einsum("...i,ik->...k", words, w_key)
            value = torch.einsum("...i,iv->...v", words, w_value)
            return query, key, value
            """,
        ),
        Alternative(
            "one wide product, cut in three",
            """
            w_all = torch.cat([w_query, w_key, w_value], dim=1)
            sizes = [w.shape[1] for w in (w_query, w_key, w_value)]
            return (words @ w_all).split(sizes, dim=-1)
            """,
            excuses={
                "elements swapped: (w_query, w_key, w_value) → (w_key": "both have d_k columns",
                "another argument: w_query → w_key in (w": "likewise",
                "another argument: w_key → w_query in (w": "likewise",
            },
        ),
        Alternative(
            "F.linear and transposes",
            "return [F.linear(words, w.T) for w in (w_query, w_key, w_value)]",
        ),
        Alternative(
            "sums of products",
            """
            def times(w):
                return (words[..., None] * w).sum(dim=-2)

            return times(w_query), times(w_key), times(w_value)
            """,
        ),
    ],
    hints=[
        "One line for each of the three, and the words go into every one of them.",
        "Words are [n, d_in], the matrix is [d_in, d_k]. Which order puts the two d_in next to "
        "each other?",
        "Row i of the product of words and matrix is word i, projected. The same operator handles "
        "a batch: it leaves the leading dimensions alone.",
    ],
)
