"""Messages through the wall: a length, then that many bytes of JSON.

Both sides use this module. A sandbox may send anything, so reading has limits.
"""

import json
import socket
import struct
from typing import Any

HEADER = struct.Struct("!Q")
CHUNK = 1 << 20


class FrameError(Exception):
    """The other side sent something other than a message, or too much."""


def send(channel: socket.socket, message: dict[str, Any]) -> None:
    """Send a message. Invalid Unicode (lone surrogates) is replaced by question marks."""
    data = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
    channel.sendall(HEADER.pack(len(data)) + data)


class Inbox:
    """Messages that arrive on a channel, up to `most_bytes` in all."""

    def __init__(self, channel: socket.socket, most_bytes: int) -> None:
        self.channel, self.left = channel, most_bytes

    def next(self) -> dict[str, Any] | None:
        """Return the next message; None if the other side has closed.

        Raises FrameError, and TimeoutError if the channel has a timeout.
        """
        header = self._exactly(HEADER.size)
        if not header:
            return None
        (length,) = HEADER.unpack(header)
        self.left -= length
        if self.left < 0:
            raise FrameError("it sent more than is allowed")
        return _message(self._exactly(length))

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
