"""Messages through the wall: a length, then that many bytes of JSON.

Both sides use this module. A sandbox may send anything, so reading has limits.
"""

import json
import os
import socket
import struct
from typing import Any

HEADER = struct.Struct("!Q")
CHUNK = 1 << 20


class FrameError(Exception):
    """The other side sent something other than a message, or too much."""


def accept(channel: socket.socket, number: int) -> None:
    """Turn a listening socket into the next connection to it, unless it is one; send a number."""
    if channel.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        with channel.accept()[0] as connection:
            os.dup2(connection.fileno(), channel.fileno())
        channel.sendall(number.to_bytes(4))


def send(channel: socket.socket, message: Any) -> None:
    """Send a message. Invalid Unicode (lone surrogates) is replaced by question marks."""
    send_bytes(channel, json.dumps(message, ensure_ascii=False).encode("utf-8", "replace"))


def send_bytes(channel: socket.socket, data: bytes) -> None:
    """Send bytes that the other side need not understand."""
    channel.sendall(HEADER.pack(len(data)))
    channel.sendall(data)


class FrameInbox:
    """Messages that arrive on a channel, up to `most_bytes` in all."""

    def __init__(self, channel: socket.socket, most_bytes: int) -> None:
        self.channel, self.left = channel, most_bytes

    def next(self) -> dict[str, Any] | None:
        """Return the next message; None if the other side has closed.

        Raises FrameError, and TimeoutError if the channel has a timeout.
        """
        data = self.next_bytes()
        return None if data is None else _message(data)

    def next_bytes(self) -> bytes | None:
        """Return what comes next as bytes; the rest is as for `next`."""
        header = self._exactly(HEADER.size)
        if not header:
            return None
        (length,) = HEADER.unpack(header)
        self.left -= length
        if self.left < 0:
            raise FrameError("it sent more than is allowed")
        return self._exactly(length)

    def _exactly(self, count: int) -> bytes:
        """Read exactly `count` bytes, or none if the other side has closed."""
        data = bytearray()
        while len(data) < count:
            chunk = self.channel.recv(min(count - len(data), CHUNK))
            if not chunk:
                return b""
            data += chunk
        return bytes(data)


def _message(data: bytes) -> dict[str, Any]:
    try:
        message = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FrameError("what it sent is no JSON") from error
    if not isinstance(message, dict):
        raise FrameError("what it sent is no message")
    return message
