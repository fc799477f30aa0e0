"""The channel between two nodes: whole messages, in order, either way. Who makes it knows the transport."""

from typing import Protocol

__all__ = ["MAX_FRAME", "MAX_GREETING", "Channel", "ChannelClosed"]

MAX_FRAME = 32 * 1024 * 1024
MAX_GREETING = 4 * 1024
"""How large a message may be before the other side has proved who it is."""


class ChannelClosed(Exception):
    """The channel is closed; the message says why."""


class Channel(Protocol):
    """A connection to another node."""

    async def receive(self) -> bytes:
        """Return the next message.

        Raises:
            ChannelClosed: there will be none.
        """

    async def send(self, message: bytes) -> None:
        """Send a message.

        Raises:
            ChannelClosed: it cannot be sent.
        """

    async def close(self, code: int, reason: str) -> None:
        """Close it. Closing twice is fine."""

    def trust(self) -> None:
        """Accept messages of up to `MAX_FRAME` bytes: the other side has proved who it is."""
