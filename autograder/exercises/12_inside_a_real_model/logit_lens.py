"""The logits that the model would give if it stopped after each block."""

from typing import Any

from autograder.lessons.cases import CALLS, SIZES, Inputs
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import Trial
from autograder.lessons.variants import Alternative, Mistake

from .shared import own_llama, with_same_tokens


def stopped(n_layers: int, base: float = 10000.0) -> Inputs:
    def case(draw: Draw) -> dict[str, Any]:
        return own_llama(draw, n_layers, base)

    return case


START = "streams = [model.tokens(tokens)]"
LOOP = "for layer in model.blocks:\n        streams.append(layer(streams[-1]))"
LOGITS = "model.norm(torch.stack(streams)) @ model.tokens.weight.T"

UNTRAINED = "nobody trains through a lens"
NO_FLOATS = "it takes no floating-point tensor"

EXERCISE = Exercise(
    "logit_lens",
    returns="logits",
    also=(*SIZES, *CALLS),
    challenge=True,
    parts=[Trial("with_own_llama")],
    builds_on=("Llama",),
    aspects=[
        Aspect(
            "logits after each block",
            1,
            [
                stopped(7),
                *[with_same_tokens(stopped(5))] * 2,
                stopped(1, base=50.0),
                stopped(5),
            ],
        )
    ],
    mistakes=[
        Mistake(
            "no norm",
            "You left out the last norm. The model's own logits come after it.",
            {LOGITS: "torch.stack(streams) @ model.tokens.weight.T"},
        ),
        Mistake(
            "without the start",
            "The first logits are missing: those of the tokens' vectors, before any block.",
            {LOGITS: LOGITS.replace("(streams)", "(streams[1:])")},
        ),
        Mistake(
            "without the end",
            "The last logits are missing: those after the last block, which are the model's own.",
            {LOGITS: LOGITS.replace("(streams)", "(streams[:-1])")},
        ),
        Mistake(
            "the norm in the stream",
            "You normed the stream itself, so the next block reads something else. Norm what you "
            "look at, and leave the stream alone.",
            {
                LOOP: "for block in model.blocks:\n        streams.append(block(model.norm("
                "streams[-1])))"
            },
        ),
        Mistake(
            "what each block adds",
            "You looked at what each block adds. Look at the stream with everything so far.",
            {
                LOOP: "x = streams[0]\n    for block in model.blocks:\n"
                "        streams.append(block(x) - x)\n        x = block(x)"
            },
        ),
        Mistake(
            "one cache for all blocks",
            "All your blocks use one cache, so their keys end up together. They need none here.",
            {
                LOOP: "cache = Cache()\n    for block in model.blocks:\n"
                "        streams.append(block(streams[-1], cache))"
            },
        ),
        Mistake(
            "probabilities",
            "You returned probabilities. Return the logits.",
            {LOGITS: f"({LOGITS}).softmax(dim=-1)"},
            {LOGITS: f"({LOGITS}).log_softmax(dim=-1)"},
        ),
        Mistake(
            "the layers last",
            "Your layers come after the texts. They come first: stack along dimension 0.",
            {LOGITS: LOGITS.replace("(streams)", "(streams, dim=1)")},
        ),
        Mistake(
            "the norm without its weight",
            "Your norm leaves out the weight that the model learned. Call the model's own: "
            "`model.norm`.",
            {
                "model.norm(torch.stack(streams))": (
                    "F.rms_norm(torch.stack(streams), streams[0].shape[-1:], eps=model.norm.eps)"
                )
            },
        ),
    ],
    alternatives=[
        Alternative(
            "block by block",
            """
            x = model.tokens(tokens)
            streams = [x]
            for block in model.blocks:
                x = x + block.attention(block.attention_norm(x))
                x = x + block.feed_forward(block.feed_forward_norm(x))
                streams.append(x)
            norm = model.norm
            normed = F.rms_norm(torch.stack(streams), x.shape[-1:], norm.weight, norm.eps)
            return normed @ model.tokens.weight.T
            """,
            excuses={"detached": UNTRAINED},
        ),
        Alternative(
            "with hooks",
            """
            streams, hooks = [model.tokens(tokens)], []
            for block in model.blocks:
                hooks.append(block.register_forward_hook(lambda *call: streams.append(call[-1])))
            model(tokens)
            for hook in hooks:
                hook.remove()
            return torch.stack([model.norm(x) @ model.tokens.weight.T for x in streams])
            """,
            excuses={
                "detached": UNTRAINED,
            },
        ),
        Alternative(
            "one by one",
            """
            x = model.tokens(tokens)
            found = [model.norm(x) @ model.tokens.weight.T]
            for block in model.blocks:
                x = block(x)
                found.append(torch.nn.functional.linear(model.norm(x), model.tokens.weight))
            return torch.stack(found)
            """,
            excuses={"detached": UNTRAINED},
        ),
    ],
    hints=[
        "Run the model by hand, as its `forward` does, and keep the stream after each block.",
        "What do the logits need? The last norm, and the table of tokens.",
        "`torch.stack` puts the layers in front.",
    ],
    excuses={
        "detached": UNTRAINED,
        "result in float32": NO_FLOATS,
        "result rounded": NO_FLOATS,
        "seed changed": "nothing is drawn in it",
    },
)
