"""Answers to lesson 1 that once fell short, and what they get."""

import pytest

from tests.exercises.answers import PASSES, REJECTED, said

SHIFTED = "exps = (scores - scores.amax(dim, keepdim=True)).exp()"
DIVIDED = "return exps / exps.sum(dim, keepdim=True)"
SUM_GOES_ON = """
total, scores = 0, []
for word in words:
    for a, b in zip(query, word):
        total += a * b
    scores.append(total)
return torch.stack(scores)
"""
EVERY_WEIGHT = """
context = 0
for word in words:
    for weight in attn_weights:
        context = context + weight * word
return context
"""
RETURNS_INSIDE = """
scores = []
for word in words:
    scores.append(query @ word)
    return torch.stack(scores)
"""
OVERWRITES = """
for word in words:
    score = query @ word
return score
"""
FROM_ONE = """
scores = []
for i in range(1, len(words)):
    scores.append(query @ words[i])
return torch.stack(scores)
"""
FILLS = """
scores = torch.zeros(len(words))
for j in range({}):
    scores[j] = query @ words[j]
return scores
"""
LAST_FEATURE = """
scores = torch.zeros(len(words))
for j in range(len(words)):
    for i in range(len(query)):
        scores[j] = query[i] * words[j, i]
return scores
"""
MIXED = """
context = torch.{}_like(words[0])
for j in range({}):
    context = context + attn_weights[j] * words[j]
return context
"""
WEIGHTS = "attn_weights = torch.softmax(words @ words.T, dim=-1)"


@pytest.mark.parametrize(
    ("exercise", "code", "expected"),
    [
        ("query_scores", "return torch.dot(words, query)", "raised"),
        ("query_scores", SUM_GOES_ON, "the sum goes on"),
        ("query_scores", "return torch.cat([(w * query).sum()[None] for w in words])", PASSES),
        (
            "query_scores",
            "return torch.tensor([sum(a * b for a, b in zip(query, word)) for word in words])",
            PASSES,
        ),
        ("query_scores", RETURNS_INSIDE, "stopped after one word"),
        ("query_scores", OVERWRITES, "only the last score"),
        ("query_scores", OVERWRITES.replace("n score", "n score[None]"), "only the last score"),
        ("query_scores", "return sum(query @ word for word in words)", "all scores added up"),
        ("query_scores", "return (query * words).sum()", "all scores added up"),
        ("query_scores", FROM_ONE, "the first word skipped"),
        ("query_scores", FILLS.format("1, len(words)"), "the first word skipped"),
        ("query_scores", FILLS.format("len(words) - 1"), "the last word skipped"),
        ("query_scores", FILLS.format("len(words)"), PASSES),
        ("query_scores", LAST_FEATURE, "only the last feature"),
        ("query_scores", LAST_FEATURE.replace("] =", "] +="), PASSES),
        (
            "softmax",
            f"{SHIFTED}\nreturn exps / exps.sum(dim=-1, keepdim=True)",
            "sum along the last dimension",
        ),
        ("softmax", f"{SHIFTED}\nif scores.dim() > 3:\n    return exps\n{DIVIDED}", "not_divided"),
        (
            "softmax",
            f"dim = dim if dim >= 0 else -1\n{SHIFTED}\n{DIVIDED}",
            "largest_difference",
        ),
        (
            "softmax",
            f"if scores.shape[dim] == 1:\n    return scores\n{SHIFTED}\n{DIVIDED}",
            "largest_difference",
        ),
        (
            "softmax",
            "scores = scores - scores.max()\n"
            "return scores.exp() / scores.exp().sum(-1, keepdim=True)",
            "one maximum for all rows, dim ignored",
        ),
        ("softmax", f"exps = (scores - max(scores)).exp()\n{DIVIDED}", "Python's max"),
        ("softmax", f"exps = scores.clamp(max=88).exp()\n{DIVIDED}", "scores clipped"),
        (
            "softmax",
            f"exps = (scores - scores.mean(dim, keepdim=True)).exp()\n{DIVIDED}",
            "mean subtracted",
        ),
        (
            "softmax",
            f"{SHIFTED}\nreturn exps / (exps.sum(dim, keepdim=True) + 1e-6)",
            "a small number added to the sum",
        ),
        ("context_vector", MIXED.format("ones", "len(words)"), "started from ones"),
        ("context_vector", MIXED.format("zeros", "1, len(words)"), "the first word skipped"),
        ("context_vector", MIXED.format("zeros", "len(words) - 1"), "the last word skipped"),
        ("context_vector", MIXED.format("zeros", "len(words)"), PASSES),
        ("context_vector", EVERY_WEIGHT, "every weight with every word"),
        (
            "simple_attention",
            f"{WEIGHTS}\nreturn context_vector(attn_weights, words), attn_weights",
            "context_vector for one query",
        ),
        (
            "simple_attention",
            f"{WEIGHTS}\nreturn words @ attn_weights, attn_weights",
            "weights on the wrong side",
        ),
        (
            "add_score",
            {"(largest - new_largest)": "(largest - new_largest).clamp(min=-8)"},
            REJECTED,
        ),
        ("add_score", {"(score - new_largest)": "(score - new_largest).clamp(min=-5)"}, REJECTED),
        ("add_score", {"maximum(largest,": "maximum(largest.clamp(min=-1e4),"}, REJECTED),
    ],
)
def test_it_is_judged_as_it_should_be(exercise, code, expected):
    assert expected in said(exercise, code)
