"""Self-attention over the target, cross-attention over the memory, a feed-forward net."""

import torch
from torch import Tensor

from autograder.lessons.cases import ModuleCase, in_train_mode
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import SecondCall
from autograder.lessons.variants import Alternative, Mistake

from .shared import NOT_A_RELU, SIZES, as_many_sequences, few_heads, nothing_kept


def causal(n: int) -> Tensor:
    return torch.ones(n, n, dtype=torch.bool).tril()


def decoder_case(draw: Draw, own_parameters: bool = False) -> ModuleCase:
    inputs = {
        "target": few_heads(draw).normal("batch n_target d_input"),
        "memory": draw.normal("batch n_source d_model"),
    }
    return ModuleCase(draw.named(SIZES), inputs, own_parameters)


def masked_decoder(draw: Draw) -> ModuleCase:
    case = decoder_case(draw)
    case.inputs["source_keep"] = draw.keep("batch n_source")[:, None]
    case.inputs["target_keep"] = causal(draw.size("n_target"))
    return case


def masks_of_texts(draw: Draw) -> ModuleCase:
    """A mask of the target for each sequence, in which some later places are seen."""
    case = decoder_case(draw)
    case.inputs["source_keep"] = None
    case.inputs["target_keep"] = draw.keep("batch n_target n_target")
    draw.label("a target mask for each sequence, not causal")
    return case


def one_sequence(draw: Draw) -> ModuleCase:
    draw.fix(batch=1).label("one sequence, part of the source hidden")
    return masked_decoder(draw)


def one_target_point(draw: Draw) -> ModuleCase:
    draw.fix(n_target=1).label("one point to read, part of the source hidden")
    return masked_decoder(draw)


def query_by_query(draw: Draw) -> ModuleCase:
    """A mask of the source with a row of its own for each query."""
    case = decoder_case(draw)
    case.inputs["source_keep"] = draw.keep("n_target n_source")
    draw.label("a source mask with a row for each query")
    return case


def one_source_point(draw: Draw) -> ModuleCase:
    draw.fix(n_source=1)
    case = query_by_query(draw)
    case.inputs["source_keep"][1:2] = False
    draw.label("one source point, hidden from place 1")
    return case


def square_decoder(draw: Draw) -> ModuleCase:
    """Source and target of one length, where masks can change places unnoticed."""
    inputs = {
        "target": few_heads(draw).normal("batch n_half d_input"),
        "memory": draw.normal("batch n_half d_model"),
        "source_keep": None,
        "target_keep": causal(draw.size("n_half")),
    }
    draw.label("as many points to read as in memory, a causal mask")
    return ModuleCase(draw.named(SIZES), inputs)


def both_masks(draw: Draw) -> ModuleCase:
    case = square_decoder(draw)
    case.inputs["source_keep"] = draw.keep("batch n_half")[:, None]
    draw.label("as many points to read as in memory, both masks")
    return case


def decoder_of_equal_sizes(draw: Draw) -> ModuleCase:
    """The lesson's sizes, where target and memory have the same shape."""
    draw.label("d_input = d_model = 2, a causal mask")
    sizes = {"n_heads": 3, "d_model": 2, "d_feedforward": 10, "d_input": 2}
    inputs = {
        "target": draw.normal_of((4, 3, 2)),
        "memory": draw.normal_of((4, 3, 2)),
        "source_keep": None,
        "target_keep": causal(3),
    }
    return ModuleCase(sizes, inputs)


CROSSED = "self.cross_attention(asking, memory, source_keep)"
SELF = "self.self_attention(target, target, target_keep)"

EXERCISE = Exercise(
    "Decoder",
    returns="out",
    builds_on=("WideMultiHeadAttention",),
    parts=[SecondCall(beside=masked_decoder, after=masked_decoder)],
    aspects=[
        Aspect("two attentions, then feed-forward", 1, [in_train_mode(decoder_case), decoder_case]),
        Aspect(
            "each mask in its place",
            2,
            [
                one_sequence,
                one_target_point,
                one_source_point,
                query_by_query,
                square_decoder,
                both_masks,
                decoder_of_equal_sizes,
                as_many_sequences(decoder_case, "source_keep", "target_keep"),
                nothing_kept(masked_decoder, "source_keep"),
                nothing_kept(masked_decoder, "target_keep"),
                masks_of_texts,
                masked_decoder,
                in_train_mode(masked_decoder),
            ],
        ),
        Aspect(
            "layers made in the stated order",
            1,
            [lambda draw: decoder_case(draw, own_parameters=True)],
        ),
        Aspect("gradients", 1, [decoder_case], gradients=True),
    ],
    mistakes=[
        Mistake(
            "masks exchanged",
            "The masks are swapped, in the calls or in the first line of `forward`, where "
            "`source_keep` comes first. It belongs to the cross-attention, `target_keep` to the "
            "self-attention.",
            {
                SELF: "self.self_attention(target, target, source_keep)",
                CROSSED: "self.cross_attention(asking, memory, target_keep)",
            },
        ),
        Mistake(
            "masks ignored in train mode",
            "In train mode, a mask has no effect. Pass both on in both modes.",
            {
                SELF: "self.self_attention(target, target, None if self.training else target_keep)",
                CROSSED: CROSSED.replace("source", "None if self.training else source"),
            },
            {SELF: "self.self_attention(target, target, None if self.training else target_keep)"},
            {CROSSED: CROSSED.replace("source", "None if self.training else source")},
        ),
        Mistake(
            "target mask in the source's place",
            "`target_keep` went to the cross-attention, and the target isn't masked at all. Pass "
            "it to the self-attention.",
            {
                SELF: "self.self_attention(target, target)",
                CROSSED: "self.cross_attention(asking, memory, target_keep)",
            },
        ),
        Mistake(
            "target mask for both",
            "`target_keep` went to both attentions. The cross-attention looks at the source: give "
            "it `source_keep`.",
            {CROSSED: "self.cross_attention(asking, memory, target_keep)"},
        ),
        Mistake(
            "no target mask",
            "`target_keep` has no effect: every place sees the later ones, and the answer leaks. "
            "Pass it to the self-attention.",
            {SELF: "self.self_attention(target, target)"},
        ),
        Mistake(
            "target mask reversed",
            "True and False are swapped in `target_keep`: True means that the query may attend.",
            {
                SELF: "self.self_attention(target, target, None if target_keep is None "
                "else ~target_keep)"
            },
        ),
        Mistake(
            "target mask transposed",
            "`target_keep` is transposed: each place sees the later ones and not the earlier.",
            {
                SELF: "self.self_attention(target, target, None if target_keep is None "
                "else target_keep.mT)"
            },
        ),
        Mistake(
            "source mask ignored",
            "`source_keep` has no effect. Pass it to the cross-attention.",
            {CROSSED: "self.cross_attention(asking, memory)"},
        ),
        Mistake(
            "memory from the decoder's own input",
            "The cross-attention reads the decoder's own input and never sees what the encoder "
            "found. Its second argument should be `memory`.",
            {CROSSED: "self.cross_attention(asking, asking)"},
        ),
        Mistake(
            "memory asks",
            "In your cross-attention the memory asks and the target answers. It should be the "
            "other way around: one query for each place of the target.",
            {CROSSED: "self.cross_attention(memory, asking)"},
        ),
        Mistake(
            "no self-attention",
            "The self-attention is never used: the target's places reach the cross-attention "
            "without having seen each other.",
            {SELF: "self.self_attention.heads[0]['value'](target)"},
        ),
        Mistake(
            "no cross-attention",
            "The result of the cross-attention is never used, so the output doesn't depend on the "
            "memory.",
            {"self.feedforward(attended)": "self.feedforward(asking)"},
        ),
        Mistake(
            "residual connection",
            "There is a residual connection around the cross-attention. That comes later in "
            "this lesson; the plain decoder has none.",
            {"self.feedforward(attended)": "self.feedforward(asking + attended)"},
        ),
        Mistake(
            "no feed-forward",
            "The feed-forward net is never used. It should turn d_model features into corners.",
            {"self.feedforward(attended)": "attended"},
        ),
        *NOT_A_RELU,
        Mistake(
            "back to d_model",
            "Your feed-forward net gives d_model features. The decoder returns points, so the "
            "last layer should make d_input features.",
            {"nn.Linear(d_feedforward, d_input)": "nn.Linear(d_feedforward, d_model)"},
        ),
        Mistake(
            "cross-attention from d_input",
            "Your cross-attention expects d_input features. Both of its inputs, the output of the "
            "self-attention and the memory, have d_model.",
            {
                "WideMultiHeadAttention(n_heads, d_model)": (
                    "WideMultiHeadAttention(n_heads, d_model, d_input)"
                )
            },
        ),
        Mistake(
            "cross-attention made first",
            "The parts are right, but made in the wrong order. Make `self_attention`, then "
            "`cross_attention`, then `feedforward`: the order changes the random start.",
            {
                "        self.self_attention = "
                "WideMultiHeadAttention(n_heads, d_model, d_input)\n": "",
                "self.cross_attention = WideMultiHeadAttention(n_heads, d_model)": (
                    "self.cross_attention = WideMultiHeadAttention(n_heads, d_model)\n"
                    "        self.self_attention = "
                    "WideMultiHeadAttention(n_heads, d_model, d_input)"
                ),
            },
        ),
        Mistake(
            "memory detached",
            "The numbers are right, but the memory is detached: no gradient reaches the "
            "encoder, so it would never be trained.",
            {CROSSED: "self.cross_attention(asking, memory.detach(), source_keep)"},
        ),
        Mistake(
            "target added to the output",
            "The target is added to the output, a residual connection. That comes later in this "
            "lesson; the plain decoder has none.",
            {"self.feedforward(attended)": "target + self.feedforward(attended)"},
        ),
        Mistake(
            "causal whatever target_keep says",
            "Your decoder hides the future, whatever `target_keep` says. Pass `target_keep` on as "
            "it is.",
            *(
                {
                    SELF: "self.self_attention(target, target, None if target_keep is None else "
                    f"{mask})"
                }
                for mask in ("causal_keep(target.shape[1])", "target_keep.tril()")
            ),
            {SELF: "self.self_attention(target, target, causal_keep(target.shape[1]))"},
        ),
        Mistake(
            "the first target mask for all",
            "Every sequence got the target mask of the first. `target_keep` may have one for each.",
            {
                SELF: "self.self_attention(target, target, target_keep if target_keep is None or "
                "target_keep.dim() == 2 else target_keep[:1])"
            },
        ),
        Mistake(
            "causal where no mask is given",
            "Your decoder hides the future even where no `target_keep` is given. None means that "
            "every place sees all others: pass it on.",
            {
                SELF: "self.self_attention(target, target, causal_keep(target.shape[1]) "
                "if target_keep is None else target_keep)"
            },
        ),
        Mistake(
            "the raw target asks",
            "Your cross-attention takes its queries from the target itself, so the self-attention "
            "is lost. Ask with the output of the self-attention.",
            {CROSSED: "self.cross_attention(target, memory, source_keep)"},
            {
                CROSSED: "self.cross_attention(target if target.shape == asking.shape else asking, "
                "memory, source_keep)"
            },
        ),
    ],
    alternatives=[
        Alternative(
            "masks by name",
            {
                SELF: "self.self_attention(target, target, keep=target_keep)",
                CROSSED: "self.cross_attention(asking, memory=memory, keep=source_keep)",
            },
        ),
        Alternative(
            "one query at a time",
            {
                f"attended = {CROSSED}": "keeps = [source_keep] * target.shape[1]\n"
                "        if source_keep is not None:\n"
                "            sizes = target.shape[1], memory.shape[1]\n"
                "            shape = (*source_keep.shape[:-2], *sizes)\n"
                "            keeps = source_keep.expand(shape).split(1, -2)\n"
                "        pairs = zip(asking.split(1, 1), keeps, strict=True)\n"
                "        parts = [self.cross_attention(q, memory, k) for q, k in pairs]\n"
                "        attended = torch.cat(parts, dim=1)"
            },
            excuses={
                "another argument: source_keep → memory in *source_keep": (
                    "every sequence may have a mask of its own"
                ),
                "another argument: source_keep → target in *source_keep": "likewise",
            },
        ),
        Alternative(
            "layer by layer",
            {
                "return self.feedforward(attended)": "for layer in self.feedforward:\n"
                "            attended = layer(attended)\n"
                "        return attended"
            },
        ),
    ],
    hints=[
        "Three attributes, `self_attention`, `cross_attention` and `feedforward`, made in this "
        "order.",
        "The output of the self-attention becomes the queries of the cross-attention, whose "
        "memory is `memory`.",
        "A mask has a row for each query and a column for each key. Which of the two masks is "
        "n_target by n_target, and which is n_target by n_source?",
    ],
)
