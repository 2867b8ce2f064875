"""Each word projected by each head's matrix."""

from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.variants import Alternative, Mistake

EXERCISE = Exercise(
    "project_heads",
    returns="projected",
    aspects=[
        Aspect(
            "every word by every head's matrix",
            1,
            [
                lambda draw: {
                    "words": draw.normal("n d_in"),
                    "weights": draw.normal("n_heads d_k d_in"),
                }
            ],
        ),
        Aspect(
            "one word, many words",
            1,
            [
                lambda draw: {
                    "words": draw.fix(n=1).normal("n d_in"),
                    "weights": draw.normal("n_heads d_k d_in"),
                },
                lambda draw: {
                    "words": draw.fix(n=20, n_heads=8).normal("n d_in"),
                    "weights": draw.normal("n_heads d_k d_in"),
                },
            ],
        ),
        Aspect(
            "gradients reach the words and the matrices",
            1,
            [
                lambda draw: {
                    "words": draw.normal("n d_in"),
                    "weights": draw.normal("n_heads d_k d_in"),
                }
            ],
            gradients=True,
        ),
    ],
    mistakes=[
        Mistake(
            "matrix on the left of all words",
            "`weight @ words` would be right for words in columns. Here they are rows, so they "
            "come first: `words @ weight.T`.",
            "return torch.stack([weight @ words for weight in weights])",
        ),
        Mistake(
            "stopped after one head",
            "You returned inside the loop, so it ended after the first head. Collect the heads "
            "and return after the loop.",
            """
            for weight in weights:
                return words @ weight.T
            """,
        ),
        Mistake(
            "heads last",
            "The numbers are right, but the heads come last. They should be the first dimension.",
            {"for weight in weights]": "for weight in weights], dim=-1"},
        ),
        Mistake(
            "one matrix for all heads",
            "All heads gave the same result: the first matrix of the stack was used for each of "
            "them.",
            {"words @ weight.T for": "words @ weights[0].T for"},
        ),
        Mistake(
            "each head transposed",
            "The numbers are right, but within each head the words are columns. The shape should "
            "be [n_heads, n, d_k]: a word is a row.",
            {"words @ weight.T": "weight @ words.T"},
        ),
        Mistake(
            "words before heads",
            "The numbers are right, but the words come first: [n, n_heads, d_k]. The heads "
            "should be the first dimension.",
            {"for weight in weights]": "for weight in weights], dim=1"},
        ),
        Mistake(
            "heads side by side",
            "You put the heads side by side, [n, n_heads · d_k]. Here the heads get a dimension "
            "of their own, the first: `torch.stack` makes one.",
            "return torch.cat([words @ weight.T for weight in weights], dim=-1)",
        ),
        Mistake(
            "heads below one another",
            "You put the heads one below the other, [n_heads · n, d_k]. Here the heads get a "
            "dimension of their own, the first: `torch.stack` makes one.",
            "return torch.cat([words @ weight.T for weight in weights])",
        ),
        Mistake(
            "side by side, then reshaped",
            "The shape is right, but the rows aren't: `reshape` from [n, n_heads · d_k] straight "
            "to [n_heads, n, d_k] cuts words into pieces. First split the last dimension, then "
            "transpose.",
            """
            joined = words @ weights.flatten(0, 1).T
            return joined.reshape(len(weights), len(words), -1)
            """,
        ),
        Mistake(
            "matrices reshaped instead of transposed",
            "The shape is right, but the numbers aren't: `view` and `reshape` keep them in order. "
            "To use [d_k, d_in] on the right of `words @`, transpose each matrix.",
            """
            n_heads, d_k, d_in = weights.shape
            return words @ weights.reshape(n_heads, d_in, d_k)
            """,
        ),
        Mistake(
            "matrices not transposed",
            "`words @ weight` pairs the d_in features of a word with the d_k rows of the "
            "matrix, and their lengths differ. The matrices are [d_k, d_in]: transpose each.",
            {"weight.T": "weight"},
        ),
        Mistake(
            "stack not transposed",
            "The matrices are [d_k, d_in]: transpose them, `weights.transpose(1, 2)`.",
            "return words @ weights",
        ),
        Mistake(
            "matrices before words in bmm",
            "Words are rows, so they come first in `bmm`. And the matrices are [d_k, d_in]: "
            "transpose them, `weights.transpose(1, 2)`.",
            "return torch.bmm(weights, words.expand(len(weights), -1, -1))",
        ),
        Mistake(
            "einsum for one word",
            "`words` has two dimensions here: give the words a letter too.",
            'return torch.einsum("hki,i->hk", weights, words)',
        ),
        Mistake(
            "heads added up",
            "You added up the heads. In `einsum`, a letter missing on the right is summed over; "
            "keep the letter of the heads.",
            'return torch.einsum("hki,ni->nk", weights, words)',
        ),
        Mistake(
            "heads averaged",
            "You took the mean over the heads. The point of having several is that they stay "
            "apart.",
            "return torch.stack([words @ w.T for w in weights]).mean(dim=0)",
        ),
        Mistake(
            "words shared out",
            "Each head projected only one word. Every head should project every word.",
            {
                "torch.stack([words @ weight.T for weight in weights])": (
                    "torch.stack([words[h % len(words)] @ w.T for h, w in enumerate(weights)])"
                )
            },
        ),
        Mistake(
            "scaled already",
            "You divided by √d_k. Scale the scores, not the projections.",
            {"weights])": "weights]) / weights.shape[1] ** 0.5"},
        ),
        Mistake(
            "a list of heads",
            "You returned a list with a tensor for each head. Turn it into one tensor with "
            "`torch.stack`, so that later steps can handle all heads at once.",
            {"torch.stack(": "", "weights])": "weights]"},
        ),
        Mistake(
            "made anew without a graph",
            "The numbers are right, but `tolist`, `numpy` or `torch.tensor` cuts the graph: no "
            "gradient reaches the matrices, so they can't be trained.",
            "return torch.tensor([(words @ weight.T).tolist() for weight in weights])",
        ),
    ],
    alternatives=[
        Alternative("einsum", 'return torch.einsum("hki,ni->hnk", weights, words)'),
        Alternative(
            "bmm",
            """
            n_heads = weights.shape[0]
            return torch.bmm(words.expand(n_heads, -1, -1), weights.transpose(1, 2))
            """,
        ),
        Alternative("broadcast", "return words @ weights.mT"),
        Alternative(
            "one big matrix, then a split",
            """
            n_heads, d_k, _ = weights.shape
            joined = words @ weights.flatten(0, 1).T
            return joined.view(len(words), n_heads, d_k).transpose(0, 1)
            """,
        ),
        Alternative(
            "word by word",
            """
            heads = [torch.stack([weight @ word for word in words]) for weight in weights]
            return torch.stack(heads)
            """,
        ),
    ],
    hints=[
        "One head works as in lesson 2: words [n, d_in] times the transpose of a matrix [d_k, "
        "d_in].",
        "A loop over `weights` gives one head's matrix at a time, and `torch.stack` puts the "
        "results in a new first dimension.",
        "With `einsum`: which letters do words and matrices share, and in what order should the "
        "letters of the result come?",
    ],
)
