"""The lesson's predictions, and what the card says about each choice."""

from autograder.judging.prediction import Prediction

PREDICTIONS = [
    Prediction(
        "it_looks_at",
        right="itself",
        choices={
            "“ball”": (
                "You know that “it” is the ball. A dot product only knows shared features, and "
                "there are none."
            ),
            "“rolled”": "The two words share no feature, so their score is 0.",
            "itself": "No other word shares a feature with it.",
        },
    ),
    Prediction(
        "deviation",
        right="√d_k",
        choices={
            "1, like that of each product": (
                "That's how far each product spreads. A sum of many spreads further."
            ),
            "√d_k": "Variances add up to d_k, and the deviation is the root of the variance.",
            "d_k": "That is the variance. The standard deviation is its root.",
        },
    ),
    Prediction(
        "best_of_six",
        right="nearly all",
        choices={
            "about ⅙": "That would be so if the scores were alike. They spread by 32.",
            "about ½": "For that, the best two scores would have to be nearly equal: a rare case.",
            "nearly all": "Scores spread by 32, and a lead of 8 alone is a factor of 2981.",
        },
    ),
    Prediction(
        "journey_reversed",
        right="second to last, and the same",
        choices={
            "second, and the same": (
                "The output has a row for each word, in the same place as the word."
            ),
            "second to last, and the same": "It meets the same words, in whatever order.",
            "second to last, but different": (
                "Its neighbors have changed places. But a sum over all words has no order."
            ),
        },
    ),
    Prediction(
        "which_product_runs",
        right="life @ wide_query.T",
        choices={
            "life @ wide_query": "The inner sizes differ: [6, 16] meets [24, 16].",
            "life @ wide_query.T": "[6, 16] @ [16, 24] gives [6, 24], a row for each word.",
            "both": "Only a square matrix fits both ways. This one is 24 by 16.",
        },
    ),
    Prediction(
        "which_look_wrong",
        right="none",
        choices={
            "none": "All of them run, every shape is right, and no number looks strange.",
            "one or two": "Which? All of them run, and give two numbers much like the right ones.",
            "most of them": "A mixture of values looks reasonable, whatever the weights are.",
        },
    ),
    Prediction(
        "registered_names",
        right="factor",
        choices={
            "factor": "A module registers each `nn.Parameter` that becomes its attribute.",
            "factor and forgotten": "`forgotten` is a plain tensor. Nobody will train it.",
            "none": "Setting an `nn.Parameter` as an attribute is all it takes to register it.",
        },
    ),
    Prediction(
        "spread_stays",
        right="both independent ones",
        choices={
            "all three": "What moves together adds up: there, the spread grows with √d_k.",
            "both independent ones": "The mean of the keys adds the same to all scores of a query.",
            "only mean zero and independent": (
                "The mean of the keys adds the same to all scores of a query: no spread."
            ),
        },
    ),
]
