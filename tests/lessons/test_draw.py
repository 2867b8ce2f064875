"""Drawing the inputs of cases."""

import pytest
import torch

from autograder.lessons.draw import Draw

SEEDS = [f"seed {number}" for number in range(20)]


@pytest.mark.parametrize("seed", SEEDS)
def test_sizes_differ_and_are_never_one(seed):
    draw = Draw(seed)
    heads = draw.heads()
    draw.normal("batch n_query n_key d_k d_v")
    sizes = list(draw.sizes.values())
    assert len(set(sizes)) == len(sizes) and min(sizes) > 1
    assert heads["d_model"] == draw.size("n_heads*d_head")


def test_the_same_seed_draws_the_same():
    first, again, other = (Draw(seed).normal("n d") for seed in ("a", "a", "b"))
    assert torch.equal(first, again)
    assert first.shape != other.shape or not torch.equal(first, other)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_row_of_a_mask_keeps_some_and_hides_some(seed):
    keep = Draw(seed).keep("batch n_query n_key")
    assert keep.dtype is torch.bool
    assert keep.any(-1).all() and (~keep).any(-1).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_lengths_differ_and_one_is_full(seed):
    draw = Draw(seed)
    lengths = draw.lengths("batch", "n")
    assert lengths[-1] == draw.size("n") > lengths[0] >= 1
    assert len(lengths) == draw.size("batch")


def test_weights_sum_to_one():
    torch.testing.assert_close(Draw("a").weights("m n").sum(-1), torch.ones(Draw("a").size("m")))


def test_arguments_follow_the_annotations():
    draw = Draw("seed", {"query": "*batch n d", "keep": "", "key": "*batch n d"})
    drawn = draw.arguments("batch n_heads", keep=None, dim=0)
    assert list(drawn) == ["query", "keep", "key", "dim"]
    sizes = [draw.size(name) for name in ("batch", "n_heads", "n", "d")]
    assert list(drawn["query"].shape) == list(drawn["key"].shape) == sizes


def test_arguments_that_are_no_tensors_have_to_be_given():
    with pytest.raises(ValueError, match="keep is not annotated as a float tensor"):
        Draw("seed", {"query": "n d", "keep": ""}).arguments()
