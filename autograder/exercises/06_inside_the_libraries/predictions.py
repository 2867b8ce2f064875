"""The lesson's predictions, and what the card says about each choice."""

from autograder.judging.prediction import Prediction

PREDICTIONS = [
    Prediction(
        "parameters_of_theirs",
        right=4,
        because="Their query, key and value share one packed weight and one packed bias.",
    ),
    Prediction(
        "does_it_notice",
        right="no",
        choices={
            "yes": "Not yet. Their biases start at zero, just like the ones that were forgotten.",
            "no": "Their biases start at zero, so there is nothing to notice yet.",
        },
    ),
    Prediction(
        "without_batch_first",
        right="it takes sentences for words",
        choices={
            "it raises an error": "Every size fits. It has no way to know what you mean.",
            "it takes sentences for words": "To this layer, the first dimension is the words.",
            "it finds out by itself": "From sizes alone, nobody could.",
        },
    ),
    Prediction(
        "gradient_of_the_keys_bias",
        right="zero",
        choices={
            "zero": "What changes no result has no slope.",
            "about that of the query's bias": (
                "The query's bias changes how a query scores each key. The key's adds the same to "
                "all scores of a row."
            ),
            "NaN": "Nothing here divides by zero. The slope is an honest number.",
        },
    ),
    Prediction(
        "memory_of_twice_the_words",
        right="4 times with weights, 2 times without",
        choices={
            "2 times, all of them": "Weights are n² numbers, and some of these four make them all.",
            "4 times, all of them": "That's true of those that make all the weights. Two don't.",
            "4 times with weights, 2 times without": "Weights take n² numbers.",
        },
    ),
]
