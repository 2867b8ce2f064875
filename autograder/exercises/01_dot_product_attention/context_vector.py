"""Sum of the words, each multiplied by its weight."""

from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.variants import Alternative, Mistake

EXERCISE = Exercise(
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
        connected(),
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
            "every weight with every word",
            "With one loop inside the other, every weight meets every word. Each word has one "
            "weight of its own: `zip` takes the two in pairs.",
            """
            context = torch.zeros_like(words[0])
            for weight in attn_weights:
                for word in words:
                    context = context + weight * word
            return context
            """,
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
        Mistake(
            "started from ones",
            "Your sum starts from ones. Start from zeros: `torch.zeros_like(words[0])`.",
            {"torch.zeros_like(words[0])": "torch.ones_like(words[0])"},
        ),
        Mistake(
            "the first word skipped",
            "You skipped the first word: Python counts from 0.",
            "return attn_weights[1:] @ words[1:]",
        ),
        Mistake(
            "the last word skipped",
            "You skipped the last word. `range(n)` stops before n by itself: no −1 is needed.",
            "return attn_weights[:-1] @ words[:-1]",
        ),
        Mistake(
            "the first word without its weight",
            "You started from the first word as it is. It has a weight, too: start from zeros, or "
            "from the first weight times the first word.",
            {
                "torch.zeros_like(words[0])": "words[0]",
                "zip(attn_weights, words, strict=True)": (
                    "zip(attn_weights[1:], words[1:], strict=True)"
                ),
            },
        ),
        Mistake(
            "as many words as features",
            "Your loop runs over the features. Add up the words: loop over as many as there are.",
            """
            context = torch.zeros_like(words[0])
            for i in range(min(words.shape[1], len(words))):
                context = context + attn_weights[i] * words[i]
            return context
            """,
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
