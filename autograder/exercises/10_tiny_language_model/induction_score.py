"""The mean weight on what came after earlier occurrences of the same token, for each head."""

from autograder.judging.form import Form
from autograder.lessons.cases import CALLS, SIZES
from autograder.lessons.exercise import Aspect, Exercise, connected
from autograder.lessons.variants import Alternative, Mistake

from .shared import looked

SAME = "same = (tokens[:, None] == tokens).tril(-1)"
AFTER = "after = F.pad(same, (1, 0))[:, :-1]"

SCORE = "looks.sum(dim=-1) / after.any(dim=-1).sum().clamp(min=1)"

EXERCISE = Exercise(
    "induction_score",
    returns="score",
    also=(*SIZES, Form.DOUBLE, *CALLS),
    aspects=[
        Aspect(
            "a text that repeats",
            2,
            [looked("a text of period 5", n_heads=1), looked("a text of period 5")],
        ),
        Aspect(
            "tokens that appear several times, or only once",
            2,
            [
                looked("three different tokens"),
                looked("the first token again after three places, then after two"),
                looked("three different tokens", scale=1e4),
                looked("one token comes twice"),
                looked("no token comes twice", n=1),
                looked("no token comes twice"),
            ],
        ),
        connected(looked("a text of period 5")),
    ],
    mistakes=[
        Mistake(
            "the earlier token itself",
            "You measured how much a token looks at earlier tokens like itself. An induction head "
            "looks one place further, at what came *after* them.",
            {AFTER: "after = same"},
        ),
        Mistake(
            "the place before",
            "You looked one place *before* the earlier occurrence. What came after it is one place "
            "to the right.",
            {AFTER: "after = F.pad(same, (0, 1))[:, 1:]"},
            {AFTER: "after = same.roll(-1, dims=1)"},
        ),
        Mistake(
            "queries moved, not keys",
            "You moved the table down, from query to query. What came after an earlier occurrence "
            "is one key farther: move it to the right.",
            {AFTER: "after = F.pad(same, (0, 0, 1, 0))[:-1]"},
            {AFTER: "after = same.roll(1, dims=0)"},
        ),
        Mistake(
            "the last occurrence only",
            "You counted one place for each token, such as the one after its latest occurrence. A "
            "token may have appeared several times: add up the weights after all of them.",
            {
                AFTER: f"same = same & (same.flip(1).cumsum(dim=1).flip(1) == 1)\n    {AFTER}",
            },
        ),
        Mistake(
            "the first occurrence only",
            "You counted only the first occurrence. A token may have appeared several times: add "
            "up the weights after all of them.",
            {AFTER: f"same = same & (same.cumsum(dim=1) == 1)\n    {AFTER}"},
        ),
        Mistake(
            "all queries counted",
            "You divided by the number of all queries. Those whose token is new have nowhere to "
            "look, so they don't count.",
            {SCORE: "looks.mean(dim=-1)"},
        ),
        Mistake(
            "the query's own place left out",
            "Where a token follows one like itself, its own place comes right after an earlier "
            "occurrence, so it counts. You leave it out.",
            {AFTER: f"{AFTER}.tril(-1)"},
        ),
        Mistake(
            "only queries that look there",
            "You divided by the number of queries that do look there. Divide by the number of "
            "those that could.",
            {SCORE: "looks.sum(dim=-1) / (looks > 0).sum(dim=-1).clamp(min=1)"},
        ),
        Mistake(
            "the mean of the weights",
            "You took the mean over all those places. For each query, add the weights up; take "
            "the mean over the queries.",
            {SCORE: "(attn_weights * after).sum(dim=(-2, -1)) / after.sum().clamp(min=1)"},
        ),
        Mistake(
            "a mean over the places",
            "For each query, you took the mean over the places after earlier occurrences. Add "
            "these weights up; only then take the mean over the queries.",
            {SCORE: SCORE.replace("looks", "(looks / after.sum(dim=-1).clamp(min=1))", 1)},
        ),
        Mistake(
            "NaN without repetitions",
            "If no token comes twice, you divide 0 by 0. Return a score of 0 instead.",
            {".sum().clamp(min=1)": ".sum()"},
        ),
        Mistake(
            "the token itself counts as earlier",
            "You count a token as its own earlier occurrence. Earlier means before: `tril(-1)`, "
            "and only then one place to the right.",
            {".tril(-1)": ".tril()"},
            {".tril(-1)": ""},
        ),
        Mistake(
            "nothing found",
            "All your scores are 0. Look for an earlier occurrence of the query's token. If you "
            "do, check two things: queries are the first dimension of a table, and keys the "
            "second; and a dict takes no two tensors for the same key, so use `token.item()`.",
            {".tril(-1)": ".triu(1)"},
        ),
        Mistake(
            "the largest weight alone",
            "You counted the queries whose largest weight is there. Add up the weights themselves.",
            {
                "looks = (attn_weights * after).sum(dim=-1)": (
                    "looks = after[torch.arange(len(tokens)), attn_weights.argmax(dim=-1)].float()"
                )
            },
        ),
        Mistake(
            "the sum, not the mean",
            "You added up over the queries. Take the mean over those that have an earlier "
            "occurrence.",
            {SCORE: "looks.sum(dim=-1)"},
        ),
        Mistake(
            "one score for all heads",
            "You averaged over the heads. Each has a score of its own.",
            {SCORE: "looks.mean(dim=0).sum() / after.any(dim=-1).sum().clamp(min=1)"},
        ),
        Mistake(
            "a stripe at a fixed distance",
            "You measured a stripe at a fixed distance. Compare tokens: the distance differs.",
            {SAME: "same = torch.eye(len(tokens)).roll(5, 0).tril(-1).bool()"},
        ),
    ],
    alternatives=[
        Alternative(
            "query by query",
            """
            scores = []
            for i in range(len(tokens)):
                places = [j + 1 for j in range(i) if tokens[j] == tokens[i]]
                if places:
                    scores.append(attn_weights[:, i, places].sum(dim=-1))
            return torch.stack(scores).mean(dim=0) if scores else 0.0 * attn_weights[:, 0, 0]
            """,
            excuses={
                "another number: 0 →": "it is multiplied by 0",
                "another operator: 0.0 *": "0 divided by a weight is 0, too",
            },
        ),
        Alternative(
            "by comparing with the token before",
            """
            n = len(tokens)
            before = torch.cat([torch.full((1,), -1), tokens[:-1]])
            places = torch.arange(n)
            after = (before == tokens[:, None]) & (places <= places[:, None])
            found = torch.einsum("hqk,qk->hq", attn_weights, after.to(attn_weights.dtype))
            return found.sum(dim=1) / max(1, int(after.any(dim=1).sum()))
            """,
            excuses={
                "another number: 1 → 0 (6)": "as many tokens come again as have come before",
                "another number: 1 → 2 (2)": "no token is negative",
                "call dropped: int(": "a tensor has a size, too",
                "operands swapped": "the order does not matter",
                "arguments swapped: max": "likewise",
            },
        ),
    ],
    hints=[
        "First a table, [query, key]: where does an earlier key have the same token as the query? "
        "`tokens[:, None] == tokens` compares all pairs, and `tril(-1)` keeps the earlier ones.",
        "An induction head looks one place to the right of these. `F.pad(table, (1, 0))` moves "
        "everything one column to the right; cut off the last one.",
        "For each query, add up the weights where the table is True. Queries whose row has no "
        "True don't count: divide by the number of the others, or by 1 if there are none.",
    ],
    excuses={
        "result clamped": "a mean of weights is from 0 to 1",
        "result without signs": "likewise",
        "result without negatives": "likewise",
        "another number: 1 → 2 (4)": "all of them are added up in the end",
        "another number: 1 → 2 (6)": "as many tokens come again as have come before",
        "another number: 1 → 0 (6)": "likewise",
    },
)
