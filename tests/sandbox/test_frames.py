"""Messages through the wall are read within limits, whatever the other side sends."""

import socket

import pytest

from autograder.sandbox.inside.frames import FrameError, FrameInbox, send, send_bytes


@pytest.fixture
def channel():
    """Both ends of a channel."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_messages_arrive_as_they_were_sent(channel):
    ours, theirs = channel
    send(theirs, {"text": "½ \udcff"})
    send_bytes(theirs, b"")
    theirs.close()
    inbox = FrameInbox(ours, 100)
    assert (inbox.next(), inbox.next_bytes(), inbox.next()) == ({"text": "½ ?"}, b"", None)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"{", "no JSON"),
        (b"\xff", "no JSON"),
        (b"[" * 20_000, "no JSON"),
        (b"[1]", "no message"),
        (bytes(30_001), "more than is allowed"),
    ],
    ids=["cut off", "no text", "too deep", "a list", "too much"],
)
def test_anything_else_is_refused(channel, sent, said):
    ours, theirs = channel
    send_bytes(theirs, sent)
    with pytest.raises(FrameError, match=said):
        FrameInbox(ours, 30_000).next()
