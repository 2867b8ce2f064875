"""The solutions reproduce published values to the four published digits."""

import pytest
import torch

from autograder.lessons.lesson import Lesson
from autograder.utils.data import RIDDLE, riddle, riddle_weights, six_words


@pytest.fixture(scope="module")
def lesson_1():
    return Lesson("01_dot_product_attention").namespace()


_, WORDS = six_words()
JOURNEY = WORDS[1]
SCORES = [0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865]
WEIGHTS = [0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581]
CONTEXT = [0.4419, 0.6515, 0.5683]


def assert_published(values, published):
    torch.testing.assert_close(values, torch.tensor(published), rtol=0, atol=5.1e-5)


def test_journey_step_by_step(lesson_1):
    scores = lesson_1["query_scores"](JOURNEY, WORDS)
    assert_published(scores, SCORES)
    assert_published(scores / scores.sum(), [0.1455, 0.2278, 0.2249, 0.1285, 0.1077, 0.1656])
    weights = lesson_1["softmax"](scores)
    assert_published(weights, WEIGHTS)
    assert_published(lesson_1["context_vector"](weights, WORDS), CONTEXT)


def test_all_words_at_once(lesson_1):
    scores = lesson_1["attention_scores"](WORDS)
    assert_published(scores[0], [0.9995, 0.9544, 0.9422, 0.4753, 0.4576, 0.6310])
    context, weights = lesson_1["simple_attention"](WORDS)
    assert_published(weights[0], [0.2098, 0.2006, 0.1981, 0.1242, 0.1220, 0.1452])
    assert_published(weights[1], WEIGHTS)
    assert_published(context[0], [0.4421, 0.5931, 0.5790])
    assert_published(context[1], CONTEXT)


@pytest.mark.parametrize(("ending", "meant"), [("big", "trophy"), ("small", "suitcase")])
def test_the_riddle_is_solved_by_the_lessons_own_functions(lesson_1, ending, meant):
    names, sentence = riddle(ending)
    it = names.index("it")
    assert names == [*RIDDLE, ending] and RIDDLE[it] == "it"
    heard, _ = lesson_1["simple_attention"](sentence)
    looks = lesson_1["softmax"](heard[:, :2] @ sentence[:, :2].T)
    torch.testing.assert_close(looks, riddle_weights(ending))
    assert names[looks[it].argmax()] == meant and looks[it].max() > 0.98
    torch.testing.assert_close(heard[it], (sentence[it] + sentence[-1]) / 2)
