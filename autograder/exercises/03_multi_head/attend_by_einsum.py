"""Multi-head attention with matrices for each head; `w_output` leads back to d_model features."""

from autograder.lessons.cases import drawn
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.variants import Alternative, Mistake

SAME_SHAPES = "only its shape is used, and all four have the same"

EXERCISE = Exercise(
    "attend_by_einsum",
    challenge=True,
    returns="result",
    aspects=[
        Aspect(
            "several heads",
            1,
            [drawn(), drawn(scale=5), lambda draw: draw.fix(d_head=23).arguments(scale=0.5)],
        ),
        Aspect("one head", 1, [lambda draw: draw.fix(n_heads=1).arguments()]),
        connected(),
    ],
    mistakes=[
        Mistake(
            "not scaled",
            "You forgot to scale: divide the scores by √d_head.",
            {" / w_key.shape[1] ** 0.5": ""},
        ),
        Mistake(
            "scaled by the model's size",
            "You divided by √d_model. A head's queries have d_head features, so divide by √d_head.",
            {"w_key.shape[1] ** 0.5": "w_key.shape[2] ** 0.5"},
        ),
        Mistake(
            "scaled by d_head",
            "You divided by d_head. Divide by its square root.",
            {"w_key.shape[1] ** 0.5": "w_key.shape[1]"},
        ),
        Mistake(
            "scaled by the number of heads",
            "You divided by the root of the number of heads. Divide by √d_head.",
            {"w_key.shape[1] ** 0.5": "len(w_key) ** 0.5"},
        ),
        Mistake(
            "softmax over the queries",
            "You took softmax over the queries. A query's weights for all keys sum to 1: softmax "
            "goes over the keys' letter.",
            {"dim=-1": "dim=-2"},
            {"dim=-1": "dim=1"},
        ),
        Mistake(
            "softmax over the heads",
            "You took softmax over the heads. Each head has weights of its own.",
            {"dim=-1": "dim=0"},
        ),
        Mistake(
            "the heads are averaged",
            "You took the mean of what the heads send back. Merging adds them up.",
            {"w_output)": "w_output) / len(w_output)"},
        ),
        Mistake(
            "query and key exchanged",
            "Your scores are transposed: the queries' words come first, then the keys'.",
            {"hik,hjk->hij": "hjk,hik->hij"},
        ),
        Mistake(
            "no softmax",
            "You added up the values by their scores. Softmax over the keys comes first.",
            {"torch.softmax(attn_scores, dim=-1)": "attn_scores"},
        ),
        Mistake(
            "the scores of all heads added up",
            "Your scores lack the heads' letter on the right, so the heads' scores are added up. "
            "Each head has scores of its own.",
            {"hik,hjk->hij": "hik,hjk->ij", "hij,hjk": "ij,hjk"},
        ),
        Mistake(
            "every head with all heads' keys",
            "Each head's queries meet the keys of all heads, added up. Give the head the same "
            "letter in both.",
            {"hik,hjk->hij": "hik,gjk->hij"},
        ),
        Mistake(
            "weights transposed in the sum",
            "The sum of the values used a column of the weights for each query. Sum over the keys' "
            "letter, which comes last in the weights.",
            {"hij,hjk->hik": "hji,hjk->hik"},
        ),
        Mistake(
            "every head through every output matrix",
            "Each head's context went through the output matrices of all heads. Give both the same "
            "letter for the head.",
            {"hnk,hkd->nd": "hnk,gkd->nd"},
        ),
        Mistake(
            "merged without a transpose",
            "`reshape` mixes words and heads here, since the heads are first. Put the words first.",
            """
            query, key, value = (words @ w.mT for w in (w_query, w_key, w_value))
            attn_scores = query @ key.mT / w_query.shape[-2] ** 0.5
            context = attn_scores.softmax(-1) @ value
            return context.reshape(len(words), -1) @ w_output.reshape(-1, words.shape[1])
            """,
        ),
        Mistake(
            "the words added",
            "You added the words to the result. There is no residual connection here.",
            {"return torch.einsum(": "return words + torch.einsum("},
        ),
        Mistake(
            "keys instead of values",
            "You added up the keys. What gets added up are the values, made with `w_value`.",
            {"words, w_value": "words, w_key"},
            {"attn_weights, value": "attn_weights, key"},
        ),
        Mistake(
            "√d_head rounded down",
            "You rounded √d_head down to a whole number. Keep its decimals: `d_head ** 0.5`.",
            {"w_key.shape[1] ** 0.5": "int(w_key.shape[1] ** 0.5)"},
        ),
        Mistake(
            "scaled by the number of words",
            "You divided by the square root of the number of words. Divide by √d_head, the number "
            "of features in a head.",
            {"w_key.shape[1] ** 0.5": "len(words) ** 0.5"},
        ),
        Mistake(
            "the output matrices merged in another order",
            "Your heads and features are merged in one order for the contexts, and in another for "
            "`w_output`. Leave its dimensions as they are: [n_heads, d_head, d_model].",
            {
                'torch.einsum("hnk,hkd->nd", context, w_output)': (
                    "context.transpose(0, 1).flatten(1) @ w_output.transpose(0, 1).flatten(0, 1)"
                )
            },
        ),
        Mistake(
            "one output matrix for all heads",
            "You sent every head through the output matrix of the first. Each head has one of its "
            "own.",
            {
                'torch.einsum("hnk,hkd->nd", context, w_output)': (
                    'torch.einsum("hnk,kd->nd", context, w_output[0])'
                )
            },
        ),
    ],
    alternatives=[
        Alternative(
            "matrix products",
            """
            query, key, value = (words @ w.mT for w in (w_query, w_key, w_value))
            attn_scores = query @ key.mT / w_query.shape[-2] ** 0.5
            return (attn_scores.softmax(-1) @ value @ w_output).sum(0)
            """,
            excuses={"another argument: w_query →": SAME_SHAPES},
        ),
        Alternative(
            "head by head",
            """
            result = torch.zeros_like(words)
            for query, key, value, output in zip(w_query, w_key, w_value, w_output, strict=True):
                attn_scores = (words @ query.T) @ (words @ key.T).T / len(key) ** 0.5
                result = result + torch.softmax(attn_scores, dim=-1) @ (words @ value.T) @ output
            return result
            """,
            excuses={
                "softmax's dimension: torch.softmax($X, dim=1)": (
                    "a head's scores have two dimensions"
                ),
            },
        ),
        Alternative(
            "merged",
            """
            n_heads, d_head, d_model = w_value.shape
            query, key = (torch.einsum("nd,hkd->hnk", words, w) for w in (w_query, w_key))
            attn_weights = (query @ key.transpose(1, 2) / d_head**0.5).softmax(-1)
            context = attn_weights @ torch.einsum("nd,hkd->hnk", words, w_value)
            merged = context.transpose(0, 1).reshape(len(words), n_heads * d_head)
            return merged @ w_output.reshape(n_heads * d_head, d_model)
            """,
            excuses={"another argument: w_value →": SAME_SHAPES},
        ),
    ],
    hints=[
        "Name the dimensions: n words, h heads, k features of a head, d features of the model. "
        'Queries are `"nd,hkd->hnk"`: d is on the left only, so it gets summed over.',
        "Scores need two letters for words, i for the query and j for the key: "
        '`"hik,hjk->hij"`. Then scale, and softmax over j.',
        "In the output, both h and k get summed over.",
    ],
    excuses={"another argument: w_key →": SAME_SHAPES},
)
