"""Server-sent events: named texts in a stream of bytes. Independent of HTTP and of what the texts mean.

Decoding follows the WHATWG HTML standard, "Interpreting an event stream".
"""

import re
from dataclasses import dataclass

from agenthost.errors import TooLarge

__all__ = ["MAX_EVENT_BYTES", "SseDecoder", "SseEvent", "encode_comment", "encode_event"]

MAX_EVENT_BYTES = 16 * 1024 * 1024
"""How large one event may be, unless the reader says otherwise."""

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"
# Longer than any wait, and short enough for `int`, which refuses thousands of digits.
_RETRY_DIGITS = 18


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One dispatched event. `id` is the last event id so far, of this event or an earlier one."""

    name: str
    data: str
    id: str = ""


def encode_event(name: str, data: bytes) -> bytes:
    """Encode one event. All line ends inside `data` arrive as LF, and an empty name as `message`.

    Raises:
        ValueError: `name` has a line end, which would let it inject fields.
    """
    if "\n" in name or "\r" in name:
        message = f"an event's name must be one line, not {name!r}"
        raise ValueError(message)
    lines = b"".join(b"data: %b\n" % line for line in _LINE_END.split(data))
    return b"event: %b\n%b\n" % (name.encode(), lines)


def encode_comment(text: str = "") -> bytes:
    """Encode a comment, which readers ignore: it keeps an idle connection open."""
    lines = _LINE_END.split(text.encode())
    return b"".join(b": %b\n" % line for line in lines) + b"\n"


class SseDecoder:
    """Turns chunks, split anywhere, into events. Data without a final blank line is not an event.

    Attributes:
        last_event_id: what a client sends when it reconnects; empty if there was no id.
        retry: how many milliseconds the server asks clients to wait before they reconnect.
    """

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.last_event_id = ""
        self.retry: int | None = None
        self._limit = max_event_bytes
        self._at_start = True
        self._after_cr = False
        self._line = bytearray()  # the beginning of a line that has not ended yet
        self._name = b""
        self._data = bytearray()  # the data lines so far, each with a line end
        self._id = b""

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Take the next bytes, and return the events that they complete.

        Raises:
            TooLarge: an event exceeds the limit; the stream cannot be continued.
        """
        if not chunk:
            return []
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]  # the second half of a CRLF that ended the last chunk
        self._after_cr = chunk.endswith(b"\r")
        *ended, rest = _LINE_END.split(chunk)
        taken = [self._take_line(end) for end in ended]
        self._line += rest
        self._refuse_large()
        return [event for event in taken if event]

    def _take_line(self, end: bytes) -> SseEvent | None:
        self._line += end
        self._refuse_large()
        line = bytes(self._line)
        self._line.clear()
        if self._at_start:
            line = line.removeprefix(_BOM)
            self._at_start = False
        if not line:
            return self._dispatch()
        name, _, value = line.partition(b":")
        self._take_field(name, value.removeprefix(b" "))
        return None

    def _take_field(self, name: bytes, value: bytes) -> None:
        match name:
            case b"data":
                self._data += value + b"\n"
            case b"event":
                self._name = value
            case b"id" if b"\0" not in value:
                self._id = value
            case b"retry" if value.isdigit() and len(value) <= _RETRY_DIGITS:
                self.retry = int(value)
            case _:
                pass  # a comment (its name is empty), or an unknown field

    def _dispatch(self) -> SseEvent | None:
        name, data = self._name, self._data
        self._name, self._data = b"", bytearray()
        self.last_event_id = _text(self._id)
        if not data:
            return None
        return SseEvent(_text(name) or "message", _text(data[:-1]), self.last_event_id)

    def _refuse_large(self) -> None:
        if len(self._line) + len(self._data) > self._limit:
            raise TooLarge("one server-sent event", self._limit)


def _text(data: bytes | bytearray) -> str:
    return data.decode("utf-8", "replace")
