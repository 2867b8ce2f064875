"""Copy `w_query`, `w_key`, `w_value` of source into `query`, `key`, `value` of target."""

from autograder.asking.arguments import StandIn
from autograder.lessons.cases import CALLS, SIZES
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Reads
from autograder.lessons.variants import Alternative, Mistake


def two_modules(draw: Draw, training: bool = True) -> dict:
    return {
        "source": StandIn(
            {
                "w_query": draw.normal("d_in d_k"),
                "w_key": draw.normal("d_in d_k"),
                "w_value": draw.normal("d_in d_v"),
            },
            training=training,
        ),
        "target": StandIn(
            {
                "query.weight": draw.normal("d_k d_in"),
                "key.weight": draw.normal("d_k d_in"),
                "value.weight": draw.normal("d_v d_in"),
            },
            training=training,
        ),
    }


def in_evaluation(draw: Draw) -> dict:
    return two_modules(draw, training=False)


LAYERS = ("query", "key", "value")
MODES = ("target.training", *(f"target.{layer}.training" for layer in LAYERS))

EXERCISE = Exercise(
    "copy_projections",
    returns="",
    parts=[Reads("target")],
    also=(*SIZES, *CALLS),
    aspects=[
        Aspect(
            "queries and keys",
            2,
            [in_evaluation, two_modules],
            outputs=("target.query.weight", "target.key.weight", *MODES),
        ),
        Aspect("values", 2, [two_modules], outputs=("target.value.weight",)),
    ],
    mistakes=[
        Mistake(
            "no transpose",
            "The shapes don't match: `source` keeps [d_in, d_out], `nn.Linear` keeps [d_out, "
            "d_in]. Transpose.",
            {
                "source.w_query.T": "source.w_query",
                "source.w_key.T": "source.w_key",
                "source.w_value.T": "source.w_value",
            },
        ),
        Mistake(
            "reshaped instead of transposed",
            "The shape is right, but the numbers are scrambled: `reshape` (or `view`) keeps them "
            "in reading order; it doesn't turn rows into columns. Use `.T`.",
            {
                "source.w_query.T": "source.w_query.reshape(target.query.weight.shape)",
                "source.w_key.T": "source.w_key.reshape(target.key.weight.shape)",
                "source.w_value.T": "source.w_value.reshape(target.value.weight.shape)",
            },
        ),
        Mistake(
            "untransposed parameter assigned",
            "You gave `nn.Linear` a weight of [d_in, d_out]. It keeps [d_out, d_in]: transpose.",
            """
            target.query.weight = nn.Parameter(source.w_query.clone())
            target.key.weight = nn.Parameter(source.w_key.clone())
            target.value.weight = nn.Parameter(source.w_value.clone())
            """,
        ),
        Mistake(
            "wrong direction",
            "You wrote into `source`. Its numbers are the ones to keep: copy them into `target`, "
            "and leave `source` as it is.",
            """
            with torch.no_grad():
                source.w_query.copy_(target.query.weight.T)
                source.w_key.copy_(target.key.weight.T)
                source.w_value.copy_(target.value.weight.T)
            """,
        ),
        Mistake(
            "gradients recorded",
            "You can't change a parameter in place while gradients are recorded. Copy inside "
            "`with torch.no_grad():`.",
            """
            target.query.weight.copy_(source.w_query.T)
            target.key.weight.copy_(source.w_key.T)
            target.value.weight.copy_(source.w_value.T)
            """,
        ),
        Mistake(
            "a plain tensor assigned",
            "`weight = …` takes an `nn.Parameter`, not a plain tensor. Write into the existing "
            "parameter: `weight.copy_(…)`.",
            """
            target.query.weight = source.w_query.T
            target.key.weight = source.w_key.T
            target.value.weight = source.w_value.T
            """,
        ),
        Mistake(
            "memory shared",
            "Both modules now share the same numbers in memory, so training one changes the other: "
            "neither `.T` nor `nn.Parameter(…)` copies any. Use `copy_`.",
            """
            target.query.weight = nn.Parameter(source.w_query.T)
            target.key.weight = nn.Parameter(source.w_key.T)
            target.value.weight = nn.Parameter(source.w_value.T)
            """,
        ),
        Mistake(
            ".weight forgotten",
            "`target.query` is a layer; its matrix is `target.query.weight`.",
            {
                "target.query.weight": "target.query",
                "target.key.weight": "target.key",
                "target.value.weight": "target.value",
            },
        ),
        Mistake(
            "the layer replaced",
            "You replaced the layer with a tensor. Write into the layer's `weight` instead.",
            """
            target.query = source.w_query.T
            target.key = source.w_key.T
            target.value = source.w_value.T
            """,
            """
            target.query = nn.Parameter(source.w_query.T.clone())
            target.key = nn.Parameter(source.w_key.T.clone())
            target.value = nn.Parameter(source.w_value.T.clone())
            """,
            """
            del target.query, target.key, target.value
            target.query = nn.Parameter(source.w_query.T.clone())
            target.key = nn.Parameter(source.w_key.T.clone())
            target.value = nn.Parameter(source.w_value.T.clone())
            """,
        ),
        Mistake(
            "nothing arrives",
            "`target` hasn't changed. `name = …` only gives a tensor another name; to write into "
            "one, use `copy_`. And `strict=False` skips every name that doesn't match.",
            """
            query, key, value = target.query.weight, target.key.weight, target.value.weight
            query = source.w_query.T
            key = source.w_key.T
            value = source.w_value.T
            """,
        ),
        Mistake(
            "query and key exchanged",
            "Query and key are swapped: `w_query` goes into `query`.",
            {
                "target.query.weight": "target.key_.weight",
                "target.key.weight": "target.query.weight",
                "target.key_.weight": "target.key.weight",
            },
        ),
        Mistake(
            "query copied into key as well",
            "`w_query` went into both `query` and `key`. `key` should get `w_key`.",
            {"source.w_key.T": "source.w_query.T"},
        ),
        Mistake(
            "key forgotten",
            "You copied `query` and `value`, but not `key`.",
            {"        target.key.weight.copy_(source.w_key.T)\n": ""},
        ),
        Mistake(
            "value forgotten",
            "You copied `query` and `key`, but not `value`.",
            {"        target.value.weight.copy_(source.w_value.T)\n": ""},
        ),
        Mistake(
            "only the query",
            "You copied only `query`, not `key` and `value`.",
            """
            with torch.no_grad():
                target.query.weight.copy_(source.w_query.T)
            """,
        ),
        Mistake(
            "added instead of copied",
            "You added to the old numbers. Overwrite them with `copy_`.",
            """
            with torch.no_grad():
                target.query.weight += source.w_query.T
                target.key.weight += source.w_key.T
                target.value.weight += source.w_value.T
            """,
        ),
        Mistake(
            "load_state_dict as it is",
            "The two modules name and orient their parameters differently, so you can't load "
            "one's state into the other as it is. Copy the three matrices, transposed.",
            "target.load_state_dict(source.state_dict())",
        ),
    ],
    alternatives=[
        Alternative(
            "through .data",
            """
            for name in ("query", "key", "value"):
                getattr(target, name).weight.data.copy_(getattr(source, f"w_{name}").data.T)
            """,
            excuses={
                "elements swapped: ('query', 'key', 'value') →": "each is copied, in any order",
            },
        ),
        Alternative(
            "new parameters",
            """
            target.query.weight = nn.Parameter(source.w_query.T.clone().detach())
            target.key.weight = nn.Parameter(source.w_key.T.clone().detach())
            target.value.weight = nn.Parameter(source.w_value.T.clone().detach())
            """,
            excuses={
                "call dropped: source.w_": "`nn.Parameter` takes the values only",
                "detached: $X": "likewise",
            },
        ),
        Alternative(
            "a translated state",
            """
            state = {f"{name[2:]}.weight": w.T for name, w in source.state_dict().items()}
            target.load_state_dict(state)
            """,
        ),
        Alternative(
            "slice by slice",
            """
            with torch.no_grad():
                target.query.weight[:] = source.w_query.permute(1, 0)
                target.key.weight[...] = source.w_key.transpose(0, 1)
                for i in range(source.w_value.shape[1]):
                    target.value.weight[i] = source.w_value[:, i]
            """,
        ),
    ],
    hints=[
        "Three matrices, three copies: `w_query` into the weight of the layer `query`, and so on.",
        "The source's matrices are [d_in, d_out]. What shape is the weight of an `nn.Linear`?",
        "Write into a weight with its `copy_`, with gradients switched off, as we did with "
        "`stretch.factor` above.",
    ],
)
