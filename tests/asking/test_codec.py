"""Trees and answers survive being encoded as bytes; anything else is refused."""

import base64

import pytest
import torch

from autograder.asking.answer import MOST_ELEMENTS, Answer, digests
from autograder.asking.codec import CodecError, decode, encode, read_index
from autograder.asking.problem import Place, Problem, ProblemKind
from autograder.asking.question import Call, Question
from autograder.asking.sending import MOST_TREE_BYTES, pack, unpack

WORDS = torch.ones(2, 3)


def test_a_tree_comes_back_as_it_was():
    tree = {
        "floats": torch.randn(2, 3).T,
        "scalar": torch.tensor(3),
        "mask": [torch.tensor([True, False]), None, "text", -1.5],
        "dtype": torch.float16,
    }
    back = decode(encode(tree))
    assert torch.equal(back["floats"], tree["floats"])
    assert torch.equal(back["mask"][0], tree["mask"][0])
    assert back["mask"][1:] == tree["mask"][1:]
    assert back["dtype"] is torch.float16
    assert back["scalar"].shape == ()


def test_one_tensor_in_two_places_is_allowed():
    tensor = torch.ones(3)
    back = decode(encode([tensor, tensor, tensor[:2]]))
    assert [t.shape[0] for t in back] == [3, 3, 2]


def test_equal_tensors_are_stored_once():
    many = encode([torch.ones(1000) for _ in range(50)])
    assert len(many) < 2 * len(encode([torch.ones(1000)]))


def test_an_index_is_read_without_the_tree(tmp_path):
    tree, index = {"words": WORDS}, {"names": ["a", "b"], "format": 1}
    for number, (data, found) in enumerate([(encode(tree, index), index), (encode(tree), {})]):
        path = tmp_path / str(number)
        path.write_bytes(data)
        assert read_index(path) == found and torch.equal(decode(data)["words"], WORDS)


GOOD = encode({"a": torch.ones(4)})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x80\x04pickle",
        GOOD[:-3],
        GOOD[:20],
        b"\xff" * 64,
        GOOD.replace(b'["float32",0', b'["float32",9'),
        encode({"a": torch.float32}).replace(b'"float32"', b'"softmax"'),
    ],
)
def test_damaged_bytes_are_refused(data):
    with pytest.raises(CodecError):
        decode(data)


def test_answers_survive_a_message():
    answers = [
        Answer({"context": torch.randn(2, 3)}, printed=3, inputs=digests({"words": -WORDS})),
        Answer(problem=Problem(ProblemKind.RAISED, "ValueError: no", Place(3, "x"))),
    ]
    asked = Question("softmax", [Call({"words": WORDS}), Call({"words": WORDS})], ["y"])
    back = unpack(pack("softmax", answers), asked).answers
    assert torch.equal(back[0].tensors["context"], answers[0].tensors["context"])
    assert (back[0].changed, back[0].printed) == (("words",), 3)
    assert back[1] == answers[1]


def message(tree):
    return base64.b64encode(encode(tree)).decode()


def handed_in(*answers, exercise="softmax", uses=()):
    return message({"exercise": exercise, "answers": list(answers), "uses": list(uses)})


ANSWER = Answer({"y": torch.ones(1)}).to_tree()
PLACE = {"line": 1, "code": "x", "function": ""}
PROBLEM = {"kind": "raised", "detail": "", "place": PLACE, "instead": "other"}
ASKED = Question("softmax", [Call({})], ["y"])


def test_a_well_formed_message_is_taken():
    assert unpack(handed_in(ANSWER), ASKED).answers[0].tensors["y"].item() == 1
    [failed] = unpack(handed_in(ANSWER | {"problem": PROBLEM}), ASKED).answers
    assert failed.problem.place.line == 1


@pytest.mark.parametrize(
    "sent",
    [
        None,
        b"bytes",
        "not base64!",
        "AAAA",
        message([1, 2]),
        handed_in(ANSWER, exercise="other"),
        handed_in(),
        handed_in(ANSWER, ANSWER),
        handed_in("text"),
        handed_in({"tensors": {}}),
        handed_in(ANSWER | {"tensors": {"y": 1}}),
        handed_in(ANSWER | {"tensors": {"y": torch.ones(1, dtype=torch.complex64)}}),
        handed_in(ANSWER | {"tensors": {"y": torch.zeros(MOST_ELEMENTS + 1, dtype=torch.bool)}}),
        handed_in(ANSWER | {"tensors": None}),
        handed_in(ANSWER | {"problem": {"evil": 1}}),
        handed_in(ANSWER | {"problem": PROBLEM | {"place": PLACE | {"line": -1}}}),
        handed_in(ANSWER | {"printed": "many"}),
        handed_in(ANSWER | {"inputs": 3}),
        message({"exercise": "softmax", "answers": [ANSWER]}),
        message({"exercise": "softmax", "answers": [ANSWER], "uses": 3}),
        handed_in(ANSWER, uses=["x" * MOST_TREE_BYTES]),
    ],
)
def test_forged_messages_are_refused(sent):
    with pytest.raises(ValueError):
        unpack(sent, ASKED)


def test_a_single_number_of_a_larger_tensor_is_encoded():
    answer = Answer({"y": torch.arange(3.0)[0::3]})
    [back] = unpack(pack("softmax", [answer]), ASKED).answers
    assert back.tensors["y"].tolist() == [0.0]
