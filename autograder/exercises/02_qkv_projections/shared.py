"""What the two modules share: how they are called, and what goes wrong after the projections."""

from autograder.exercises.slips import (
    CONTEXT,
    FROM_THE_LEFT,
    KEEPING,
    KEYS,
    ROUNDED_DOWN,
    SCALE,
    WEIGHTS,
    without,
)
from autograder.lessons.cases import Inputs, ModuleCase, drawn, in_train_mode
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect
from autograder.lessons.variants import Alternative, Mistake

SOFTMAX = "torch.softmax(attn_scores, dim=-1)"


def self_attention(
    dims: str,
    own_parameters: bool = False,
    scale: float = 1.0,
    **sizes: int,
) -> Inputs:
    """A case: the module built with sizes that all differ, called on words of shape `dims`."""

    def case(draw: Draw) -> ModuleCase:
        build = draw.fix(**sizes).named("d_in d_k d_v")
        # Parameters from 0 to 1 would saturate on larger words, and hide a wrong scale.
        size = 0.4 if own_parameters else scale
        return ModuleCase(build, {"words": draw.normal(dims, size)}, own_parameters)

    return case


def many_features(draw: Draw) -> dict:
    return draw.choose("d_k", 18, 20, 22).arguments()


def one_sentence(draw: Draw) -> dict:
    return draw.fix(batch=1).arguments("batch")


def three_in_front(draw: Draw) -> dict:
    inputs = draw.arguments("batch n_heads")
    return {name: x.unsqueeze(1) if x.dim() > 2 else x for name, x in inputs.items()}


BATCHES = [drawn("batch"), one_sentence, drawn("batch n_heads"), three_in_front]
RESULTS = [
    Aspect("the context vectors", 1, [self_attention("n d_in")], outputs=("context",)),
    Aspect(
        "the weights it keeps",
        1,
        [self_attention("n d_in", d_k=20), self_attention("n d_in")],
        outputs=("attn_weights",),
    ),
    Aspect(
        "a batch of sentences",
        1,
        [
            in_train_mode(self_attention("batch n d_in")),
            self_attention("batch n d_in", scale=12),
            self_attention("batch n_heads n d_in"),
            self_attention("n_sentences n d_in", n_sentences=1),
        ],
    ),
]
SLOPES = Aspect(
    "gradients",
    1,
    [self_attention("n d_in"), in_train_mode(self_attention("n d_in"))],
    gradients=True,
)
KEYS_ADDED_UP = (
    "The weights are right, but you added up the keys. Values come from a projection of their own."
)
DIVIDED_BY_2 = "You divided the scores by 2, whatever d_k is. Divide by its root: `d_k ** 0.5`."
# Mistakes that both modules can hold: in what comes after the projections.
EINSUM = Alternative(
    "einsum",
    {
        "query @ key.transpose(-2, -1)": 'torch.einsum("...qd,...kd->...qk", query, key)',
        "return attn_weights @ value": (
            'return torch.einsum("...qk,...kv->...qv", attn_weights, value)'
        ),
    },
)
IN_A_MODULE = without([*SCALE, *KEYS, *FROM_THE_LEFT, *WEIGHTS, *CONTEXT, *KEEPING], "not stable")
AFTER_THE_PROJECTIONS = [
    Mistake("divided by 2", DIVIDED_BY_2, {"key.shape[-1] ** 0.5": "2"}),
    Mistake(
        "√d_k rounded down",
        ROUNDED_DOWN,
        {"key.shape[-1] ** 0.5": "int(key.shape[-1] ** 0.5)"},
    ),
    Mistake(
        "query and key exchanged",
        "Your scores are transposed: row i should belong to query i. Put the query on the left.",
        {"query @ key.transpose": "key @ query.transpose"},
    ),
    Mistake("key as value", KEYS_ADDED_UP, {"attn_weights @ value": "attn_weights @ key"}),
    Mistake(
        "detached too early",
        "You detached the weights before making the context, so no gradient reaches queries and "
        "keys. Detach only the copy you keep.",
        {SOFTMAX: f"{SOFTMAX}.detach()", "= attn_weights.detach()": "= attn_weights"},
    ),
    Mistake(
        "no gradients at all",
        "The context is cut off from the parameters, by `no_grad` or a `detach`, so nothing can be "
        "learned. Detach only the weights you keep.",
        {"    def forward": "    @torch.no_grad()\n    def forward"},
    ),
    Mistake(
        "context and weights returned",
        "`forward` returned two things. Return only the context, and keep the weights as an "
        "attribute.",
        {"return attn_weights @ value": "return attn_weights @ value, attn_weights"},
    ),
]
