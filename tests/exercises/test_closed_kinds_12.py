"""Answers to lesson 12's last exercises, right and wrong, that none of its files knows."""

from autograder.asking.problem import ProblemKind
from tests.exercises.answers import PASSES, REJECTED, each, said

RULE = "(key <= query) & ((key > query - window) | (key < n_sinks))"
RETURN = f"return {RULE}"
PLACES = "query, key = torch.arange(n_key - n_query, n_key)[:, None], torch.arange(n_key)"
STREAMS = "streams, block = streams_of(model, tokens), model.blocks[layer]"
GROUPS = "shared = (key.shape[1], query.shape[1] // key.shape[1])"
WEIGHTS = "return causal_softmax(products / attention.d_head**0.5).flatten(1, 2)"


def kept(where, key):
    """An answer that looks at the streams once for each key."""
    return {
        STREAMS: f"kept = {where}.__dict__.setdefault('kept', {{}})\n"
        f"    if {key} not in kept:\n"
        f"        kept[{key}] = streams_of(model, tokens)\n"
        f"    streams, block = kept[{key}], model.blocks[layer]"
    }


def afterwards(line):
    """An answer that does something else in the end."""
    return {WEIGHTS: f"{line}\n    {WEIGHTS}"}


ANSWERS = {
    "sink_window": [
        (
            "kept by the two lengths",
            {
                RETURN: "kept = sink_window.__dict__\n"
                "    if (n_query, n_key) not in kept:\n"
                f"        kept[n_query, n_key] = {RULE}\n"
                "    return kept[n_query, n_key].clone()"
            },
            REJECTED,
        ),
        (
            "kept by all but n_query",
            {
                RETURN: "kept = sink_window.__dict__\n"
                "    if (n_key, window, n_sinks) not in kept:\n"
                f"        kept[n_key, window, n_sinks] = {RULE}\n"
                "    found = kept[n_key, window, n_sinks].clone()\n"
                "    return found if len(found) == n_query else found[:n_query]"
            },
            REJECTED,
        ),
        ("a window one shorter", {PLACES: f"window -= window == n_key\n    {PLACES}"}, REJECTED),
        ("at most 8 sinks", {"n_sinks)": "min(n_sinks, 8))"}, REJECTED),
        ("sinks by slice", {PLACES: f"n_sinks %= n_key\n    {PLACES}"}, REJECTED),
        (
            "one tensor for all results",
            {
                RETURN: "new = torch.zeros(512, 512) > 0\n"
                "    kept = sink_window.__dict__.setdefault('kept', new)\n"
                f"    kept[:n_query, :n_key] = {RULE}\n"
                "    return kept[:n_query, :n_key]"
            },
            REJECTED,
        ),
        (
            "by places of the window",
            {RULE: "(key <= query) & (key - query + window > 0)"},
            REJECTED,
        ),
        (
            "an outer subtraction",
            {
                RETURN: "distance = query - key\n"
                "    return (distance >= 0) & ((distance < window) | (key < n_sinks))"
            },
            PASSES,
        ),
    ],
    "logit_lens": [
        (
            "kept by tokens",
            """
            kept, key = logit_lens.__dict__, repr(tokens.tolist())
            if key not in kept:
                streams = [model.tokens(tokens)]
                for block in model.blocks:
                    streams.append(block(streams[-1]))
                kept[key] = model.norm(torch.stack(streams)) @ model.tokens.weight.T
            return kept[key].clone()
            """,
            REJECTED,
        ),
    ],
    "keys_from": [
        ("kept on the model", kept("model", "0"), REJECTED),
        ("kept by tokens", kept("keys_from", "tuple(tokens.flatten().tolist())"), REJECTED),
        (
            "not from above",
            {STREAMS: f"from_layer = min(from_layer, layer)\n    {STREAMS}"},
            REJECTED,
        ),
        (
            "no keys from above the first",
            {"[from_layer]": "[from_layer if layer else 0]"},
            REJECTED,
        ),
        ("base at most 10,000", {"attention.base": "min(attention.base, 1e4)"}, REJECTED),
        (
            "groups of two",
            {
                GROUPS: "key = torch.stack([key[:, min(head // 2, key.shape[1] - 1)]"
                " for head in range(query.shape[1])], dim=1)\n"
                f"    {GROUPS}"
            },
            REJECTED,
        ),
        (
            "a hook left in it",
            afterwards("block.register_forward_hook(lambda *call: None)"),
            ProblemKind.ARGUMENT_CHANGED,
        ),
        (
            "a function left in the notebook's place",
            afterwards("globals()['attend'] = lambda *call, own=attend: own(*call)"),
            "not_so",
        ),
        ("in evaluation mode", afterwards("model.eval()"), ProblemKind.PART_MODE),
        (
            "without gradients from now on",
            afterwards("model.requires_grad_(False)"),
            ProblemKind.FROZEN,
        ),
        (
            "a note on the model",
            afterwards("model.streams = streams"),
            ProblemKind.ARGUMENT_CHANGED,
        ),
        ("a copy", {STREAMS: f"model = copy.deepcopy(model)\n    {STREAMS}"}, PASSES),
    ],
}


@each(ANSWERS)
def test_an_answer_gets_what_it_should(exercise, code, expected):
    assert expected in said(exercise, code)
