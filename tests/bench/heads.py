"""How long lesson 3's `MultiHeadAttention` takes, compared to `nn.MultiheadAttention`.

Both run forward and backward and return the weights of every head. They take turns, so that a busy
machine slows both equally.
"""

import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn
from tqdm import tqdm

from autograder.lessons.lesson import Lesson

D_MODEL, N_HEADS = 512, 8  # the sizes in the paper
SIZES = [(64, 5), (2, 512)]  # batch, words
RUNS = 30
AIM = 1.2


def report() -> None:
    """Print both times and their ratio, for each size."""
    ours = Lesson("03_multi_head").namespace()["MultiHeadAttention"]
    print(f"attention with {N_HEADS} heads, d_model {D_MODEL}, forward and backward:")
    for batch, n_words in SIZES:
        mine, theirs = compare(ours, batch, n_words)
        print(
            f"  batch {batch:>2}, {n_words:>3} words: {mine * 1000:6.1f} ms, nn.MultiheadAttention "
            f"{theirs * 1000:6.1f} ms, ratio {mine / theirs:.2f} (aim: at most {AIM})"
        )


def compare(ours: type[nn.Module], batch: int, n_words: int) -> tuple[float, float]:
    """Measure the median seconds of one step of ours and of the library's."""
    torch.manual_seed(0)
    words = torch.randn(batch, n_words, D_MODEL, requires_grad=True)
    mine, library = (
        ours(D_MODEL, N_HEADS),
        nn.MultiheadAttention(D_MODEL, N_HEADS, batch_first=True),
    )

    def my_step() -> None:
        _backward(mine(words, words, words))

    def library_step() -> None:
        result, _ = library(words, words, words, need_weights=True, average_attn_weights=False)
        _backward(result)

    return _medians(my_step, library_step)


def _backward(result: Tensor) -> None:
    result.sum().backward()


def _medians(*actions: Callable[[], None]) -> tuple[float, ...]:
    for action in actions:
        action()  # the first call does not count
    times: list[list[float]] = [[] for _ in actions]
    for _ in tqdm(range(RUNS), desc="heads", disable=None):
        for action, taken in zip(actions, times, strict=True):
            start = time.perf_counter()
            action()
            taken.append(time.perf_counter() - start)
    return tuple(statistics.median(taken) for taken in times)
