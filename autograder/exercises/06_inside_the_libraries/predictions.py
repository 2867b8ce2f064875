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
    Prediction(
        "first_feature",
        right=530,
        because="51 + 104 + 159 + 216. Without the transpose, it would be column 0, and 1490.",
    ),
    Prediction(
        "what_finds_the_trade",
        right="all but the mean",
        choices={
            "all three": "The mean has the same two terms, in another order.",
            "all but the mean": "Each head's weights now mix another head's values.",
            "only the weights of each head": "The values stayed, so the result mixes other ones.",
        },
    ),
    Prediction(
        "entry_2",
        right="head 0 of sentence 1",
        choices={
            "head 1 of sentence 0": "That is entry 1: 0 · 2 + 1.",
            "head 0 of sentence 1": "2 = 1 · 2 + 0.",
            "word 2 of both sentences": "Words stay rows. An entry is one head of one sentence.",
        },
    ),
    Prediction(
        "copies_of_masks",
        right="repeat_interleave",
        choices={
            "repeat": "0, 1, 0, 1, 0, 1: head 1 of sentence 0 gets the mask of sentence 1.",
            "repeat_interleave": "0, 0, 0, 1, 1, 1: three heads of sentence 0 come first.",
        },
    ),
    Prediction(
        "times_as_large",
        right=2.83,
        because="√64 / √8 = √8. A dot product within a head sums over 8 features, not 64.",
    ),
    Prediction(
        "biases_that_count",
        right="all but the key's",
        choices={
            "all four": "One of them adds the same number to all scores of a query.",
            "all but the key's": "It adds the same number to all scores of a query.",
            "only the value's and the output's": "The query's meets each key, and keys differ.",
        },
    ),
    Prediction(
        "small_print",
        right="all three",
        choices={
            "dropout alone": "The mask has n² entries, and eval mode makes all the weights, too.",
            "dropout and a mask": "Eval mode without gradients makes all the weights, too.",
            "all three": "A mask costs n² numbers; the other two hold all the weights.",
        },
    ),
]
