"""The lesson's predictions, and what the card says about each choice."""

from autograder.judging.prediction import Prediction

PREDICTIONS = [
    Prediction(
        "a_prompt_at_once",
        right="less than 10 times",
        choices={
            "37 times": "It does 37 times the arithmetic. But what does the processor wait for?",
            "about 20 times": "Some of the work is shared: more of it than you'd think.",
            "less than 10 times": "The weights pass through the processor once, for however "
            "many tokens.",
        },
    ),
    Prediction(
        "a_norm_in_float32",
        right="as much as rounding in float32",
        choices={
            "not at all": "In float32 they don't. But one of the two leaves float64 in its norms.",
            "as much as rounding in float64": "Nearly all of the model computes in float64. But "
            "what comes out of a norm has float32's digits.",
            "as much as rounding in float32": "Each norm rounds its result to float32, and no "
            "later step brings the lost digits back.",
        },
    ),
    Prediction(
        "the_lowest_loss",
        right="the one without a causal mask",
        choices={
            "the right one": "It was trained to have a low loss. But one of the others sees more.",
            "the one with another base": "Its loss hardly differs, but it isn't lower.",
            "the one with two blocks swapped": "Its loss is a bit worse than the right one's.",
            "the one without a causal mask": "It has to predict the next token, and it can see it.",
        },
    ),
    Prediction(
        "shown_by_the_loss",
        right="two",
        choices={
            "all five": "Each of them is a real mistake. But think of how a loss is measured.",
            "four": "More of them hide. Which ones need a cache to be wrong?",
            "two": "The other three are wrong only with a cache, and a loss needs none.",
            "none": "Scores that are not scaled, for one, make every softmax too sharp.",
        },
    ),
    Prediction(
        "who_says_paris",
        right="ten",
        choices={
            "none": "Each of them has nearly all that matters: the right weights.",
            "three": "More than that. Look again at what two swapped blocks answered.",
            "ten": "One fluent answer is weak evidence: a third of them give it.",
            "twenty": "Fewer. Most mistakes ruin the text.",
        },
    ),
    Prediction(
        "the_second_time",
        right="a third of the first half's, or less",
        choices={
            "the same": "It would be, if the model couldn't look back. But it can, and everything "
            "in the second half has been there before.",
            "about half of the first half's": "It does better than that.",
            "a third of the first half's, or less": "Once it has read the first token again, it "
            "can look up each next one.",
            "almost 0": "A copier's loss would be. This model expects English, and it hesitates.",
        },
    ),
    Prediction(
        "english_without_induction",
        right="it hardly changes",
        choices={
            "it's as high as on random tokens": "These ten are among 270, and most English isn't "
            "a repetition.",
            "it rises by 10%": "Ten others of these layers raise it, if by less. These have "
            "another job.",
            "it hardly changes": "Three short paragraphs hardly repeat anything, so there's "
            "nothing for them to copy.",
        },
    ),
    Prediction(
        "weight_on_the_first",
        right="more than half",
        choices={
            "about 5%": "That's what it would be if weight were spread evenly. But these heads "
            "agree on something.",
            "a fifth": "More than that.",
            "more than half": "They have to look somewhere, and they agree on where.",
        },
    ),
    Prediction(
        "without_the_sink",
        right="it hurts more than losing all of them",
        choices={
            "it does no harm": "That's what losing the *second* token does.",
            "it hurts less than losing all of them": "So one would think: it's one of the 40. But "
            "what's left for heads that have nothing to look for?",
            "it hurts more than losing all of them": "If all are lost, the next token becomes "
            "the sink. If only the first is, no token does, and its weight goes to others.",
        },
    ),
]
