"""Packing: text that streams goes through the host in runs, not delta by delta.

A run is what one session streamed with nothing else of it between: numbered, reduced, encoded, stored and
shown as one. It is one row of the log, the envelopes one a line, under the number of the last; whoever reads
takes it apart again. What is done once for a run costs a delta next to nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, repeat
from operator import attrgetter
from typing import Any

import msgspec

from agenthost.core.reducers.text import StreamedText
from agenthost.host.storage import Entry
from agenthost.wire.ahp.actions.text import SessionDelta, SessionReasoning, SessionToolCallDelta
from agenthost.wire.json import decode_json

MAX_RUN = 1_000
"""How many envelopes a run may have, so that reading one stays quick."""

_PART: dict[type, Callable[[Any], object]] = {
    SessionDelta: attrgetter("turnId", "partId"),
    SessionReasoning: attrgetter("turnId", "partId"),
    SessionToolCallDelta: attrgetter("turnId", "toolCallId"),
}
STREAMED = frozenset(_PART)
"""The types of the actions that can be in a run."""

_encode_lines = msgspec.json.Encoder().encode_lines


class Flow:
    """Text that streams to one part of a turn, in pieces: actions are made of them when they happen.

    Whoever streams adds to `texts`, as long as it is the flow of its session: a call for each piece would be
    felt.
    """

    __slots__ = ("kind", "part_id", "texts", "turn_id", "uri")

    def __init__(
        self,
        kind: type[SessionDelta | SessionReasoning],
        uri: str,
        turn_id: str,
        part_id: str,
        texts: list[str],
    ) -> None:
        self.kind = kind
        self.uri = uri
        self.turn_id = turn_id
        self.part_id = part_id
        self.texts = texts

    def actions(self) -> list[StreamedText]:
        """Give its actions, one for each piece."""
        return list(map(self.kind, repeat(self.uri), repeat(self.turn_id), repeat(self.part_id), self.texts))


class _Envelope(msgspec.Struct, gc=False):
    """An envelope of the host's own, as it is encoded: the same bytes as of an object with these keys."""

    action: StreamedText
    serverSeq: int


def encode_run(actions: Sequence[StreamedText], first: int) -> bytes:
    """Encode the envelopes of a run, the first under this number, one a line."""
    # A list, not an iterator: msgspec takes that in a quarter less time.
    return _encode_lines(list(map(_Envelope, actions, range(first, first + len(actions)))))[:-1]


def joined(actions: Sequence[StreamedText], *, is_one_part: bool = False) -> list[StreamedText]:
    """Give the fewest actions that do the same to a state: what goes on in one part is one text."""
    if is_one_part:
        return [_one(actions)]
    return [
        _one(list(stretch))
        for kind, of_kind in groupby(actions, type)
        for _, stretch in groupby(of_kind, _PART[kind])
    ]


def _one(stretch: Sequence[StreamedText]) -> StreamedText:
    content = "".join([action.content for action in stretch])
    return stretch[0] if len(stretch) == 1 else msgspec.structs.replace(stretch[0], content=content)


def mended(actions: Sequence[Any]) -> list[StreamedText]:
    """Give those of the actions that are what they should be, their text such that it can be encoded.

    An agent that cuts its text anywhere may cut a character in two: then each half becomes a mark. What
    is no text at all is left out, for by now nobody is there to be told.
    """
    sound = [action for action in actions if type(action) in STREAMED and _is_text(action)]
    return [type(action)(*map(_mended, msgspec.structs.astuple(action))) for action in sound]


def _is_text(action: StreamedText) -> bool:
    return all(isinstance(value, str) for value in msgspec.structs.astuple(action))


def _mended(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def unpack(entries: Iterable[Entry], after: int = 0) -> list[Entry]:
    """Give the envelopes of stored entries one by one, in the order of their numbers, from after this one."""
    single = [part for entry in entries for part in _parts(entry) if part.seq > after]
    return sorted(single, key=lambda entry: entry.seq)


def _parts(entry: Entry) -> list[Entry]:
    # JSON as we write it has no line ends, so one in an envelope is between two.
    if b"\n" not in entry.envelope:
        return [entry]
    lines = entry.envelope.split(b"\n")
    return [Entry(decode_json(line)["serverSeq"], entry.resource, line, entry.only_for) for line in lines]
