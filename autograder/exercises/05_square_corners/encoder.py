"""Self-attention over the source, then a feed-forward net at each place."""

from autograder.lessons.cases import ModuleCase, in_train_mode
from autograder.lessons.draw import Draw
from autograder.lessons.exercise import Aspect, Exercise
from autograder.lessons.parts import SecondCall
from autograder.lessons.variants import Alternative, Mistake

from .shared import NOT_A_RELU, SIZES, as_many_sequences, few_heads, nothing_kept


def encoder_case(draw: Draw, keep: str = "", own_parameters: bool = False) -> ModuleCase:
    inputs = {"source": few_heads(draw).normal("batch n_source d_input")}
    if keep:
        inputs["keep"] = draw.keep(keep)
    return ModuleCase(draw.named(SIZES), inputs, own_parameters)


def masked(draw: Draw) -> ModuleCase:
    draw.label("a mask for each sequence")
    return encoder_case(draw, "batch n_source n_source")


def padded(draw: Draw) -> ModuleCase:
    draw.label("padding hidden from all")
    case = encoder_case(draw)
    case.inputs["keep"] = draw.keep("batch n_source")[:, None]
    return case


def one_sequence(draw: Draw) -> ModuleCase:
    draw.fix(batch=1).label("one sequence, with a mask")
    return encoder_case(draw, "n_source n_source")


def one_point(draw: Draw) -> ModuleCase:
    draw.fix(n_source=1).label("one point, hidden in the first sequence")
    case = encoder_case(draw, "batch n_source n_source")
    case.inputs["keep"][0] = False
    return case


def encoder_of_equal_sizes(draw: Draw) -> ModuleCase:
    """Points and states of one size, as in the lesson."""
    draw.label("d_input = d_model = 2")
    sizes = {"n_heads": 3, "d_model": 2, "d_feedforward": 10, "d_input": 2}
    return ModuleCase(sizes, {"source": draw.normal_of((4, 3, 2))})


EXERCISE = Exercise(
    "Encoder",
    returns="states",
    builds_on=("WideMultiHeadAttention",),
    parts=[SecondCall(beside=masked, after=masked)],
    aspects=[
        Aspect(
            "attention, then feed-forward",
            1,
            [encoder_of_equal_sizes, in_train_mode(encoder_case), encoder_case],
        ),
        Aspect(
            "a mask",
            1,
            [
                one_sequence,
                one_point,
                as_many_sequences(encoder_case, "keep"),
                nothing_kept(masked, "keep"),
                padded,
                masked,
                in_train_mode(masked),
            ],
        ),
        Aspect(
            "layers made in the stated order",
            1,
            [lambda draw: encoder_case(draw, own_parameters=True)],
        ),
        Aspect("gradients", 1, [encoder_case], gradients=True),
    ],
    mistakes=[
        Mistake(
            "no feed-forward",
            "The feed-forward net is never used. Send the output of the attention through it.",
            {"self.feedforward(attended)": "attended"},
        ),
        Mistake(
            "no attention",
            "The attention is never used: each point is processed on its own.",
            {
                "self.feedforward(attended)": (
                    "self.feedforward(self.attention.heads[0]['value'](source))"
                )
            },
        ),
        Mistake(
            "residual connection",
            "There is a residual connection around the feed-forward net. That comes later in "
            "this lesson; the plain encoder has none.",
            {"self.feedforward(attended)": "attended + self.feedforward(attended)"},
        ),
        Mistake(
            "layer norm",
            "There is a layer norm between attention and feed-forward net. That comes later in "
            "this lesson; the plain encoder has none.",
            {
                "self.feedforward(attended)": (
                    "self.feedforward(F.layer_norm(attended, attended.shape[-1:]))"
                )
            },
        ),
        Mistake(
            "feed-forward twice",
            "The feed-forward net was used twice.",
            {"self.feedforward(attended)": "self.feedforward(self.feedforward(attended))"},
        ),
        Mistake(
            "keep ignored",
            "`keep` has no effect. Pass it on to the attention.",
            {"self.attention(source, source, keep)": "self.attention(source, source)"},
        ),
        Mistake(
            "keep ignored in train mode",
            "In train mode, `keep` has no effect. Pass it on to the attention in both modes.",
            {"source, source, keep)": "source, source, None if self.training else keep)"},
        ),
        Mistake(
            "keep reversed",
            "True and False are swapped in the mask: True means that the query may attend.",
            {"source, source, keep)": "source, source, None if keep is None else ~keep)"},
        ),
        Mistake(
            "ReLU at the end",
            "There is a ReLU after the last layer too, so no state can be negative. The only ReLU "
            "belongs between the two layers.",
            {"self.feedforward(attended)": "self.feedforward(attended).relu()"},
        ),
        *NOT_A_RELU,
        Mistake(
            "feed-forward made first",
            "The parts are right, but made in the wrong order: make `attention` first. The order "
            "changes the random start, and with it the numbers in this lesson.",
            {
                "        self.attention = WideMultiHeadAttention(n_heads, d_model, d_input)\n": "",
                "nn.Linear(d_feedforward, d_model)\n        )": (
                    "nn.Linear(d_feedforward, d_model)\n        )\n"
                    "        self.attention = WideMultiHeadAttention(n_heads, d_model, d_input)"
                ),
            },
        ),
        Mistake(
            "mean over the points",
            "You averaged over the points. Each of them should have its own state.",
            {"self.feedforward(attended)": "self.feedforward(attended).mean(1, keepdim=True)"},
        ),
        Mistake(
            "detached",
            "The numbers are right, but a `detach` or `no_grad` between attention and "
            "feed-forward net cuts the graph: the attention would never be trained.",
            {"self.feedforward(attended)": "self.feedforward(attended.detach())"},
        ),
        Mistake(
            "residual connection around the attention",
            "The input is added to the attention's result, a residual connection. That comes later "
            "in this lesson; the plain encoder has none.",
            {"attended = self.attention(": "attended = source + self.attention("},
            {
                "attended = self.attention(": "attended = source + self.attention(",
                "self.feedforward(attended)": "attended + self.feedforward(attended)",
            },
            {
                "self.feedforward(attended)": (
                    "self.feedforward(\n            "
                    "attended + source if attended.shape == source.shape else attended\n        )"
                )
            },
        ),
        Mistake(
            "causal where no mask is given",
            "Your encoder hides the future where no `keep` is given. None means that every point "
            "sees all others: pass it on.",
            {
                "source, source, keep)": (
                    "source, source, causal_keep(source.shape[1]) if keep is None else keep)"
                )
            },
        ),
    ],
    alternatives=[
        Alternative(
            "in one line",
            {
                "attended = self.attention(source, source, keep)\n": "\n",
                "self.feedforward(attended)": (
                    "self.feedforward(self.attention(source, memory=source, keep=keep))"
                ),
            },
        ),
        Alternative(
            "place by place",
            {
                "return self.feedforward(attended)": (
                    "places = [self.feedforward(place) for place in attended.unbind(1)]\n"
                    "        return torch.stack(places, dim=1)"
                )
            },
        ),
        Alternative(
            "layers from a list",
            {
                "nn.Linear(d_model, d_feedforward), nn.ReLU(), nn.Linear(d_feedforward, d_model)": (
                    "*[nn.Linear(d_model, d_feedforward), nn.ReLU(), "
                    "nn.Linear(d_feedforward, d_model)]"
                )
            },
        ),
    ],
    hints=[
        "Two attributes, `attention` and `feedforward`, made in this order.",
        "In self-attention the query and the memory are the same: what do you pass twice?",
        "`nn.Sequential` takes the three layers in their order and can be called like one layer.",
    ],
)
