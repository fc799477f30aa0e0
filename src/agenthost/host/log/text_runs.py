"""Text runs: streamed text goes through the host in runs, not delta by delta.

A run is text that streamed to one part of a turn, with nothing else of its session in between. It is
reduced, encoded, stored and shown as one. In the log it is one row: a list of its texts, under the
number of the last. Readers make envelopes of it, always the same ones. Work done once per run costs next to
nothing per delta, and what its envelopes have in common is stored once.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import msgspec

from agenthost.core.reducers.text import StreamedText
from agenthost.host.log.entries import first_line
from agenthost.host.storage import Entry
from agenthost.wire.ahp.actions.text import ACTION, TEXTS, Action
from agenthost.wire.json import JsonObject, decode_json, encode_json

MAX_RUN = 1_000
"""How many envelopes a run may have, so that reading one stays fast."""

MAX_RUN_CHARACTERS = 256 * 1024
"""How much text a run of several envelopes may have, so that reading one takes little memory."""

_encode_lines = msgspec.json.Encoder().encode_lines


class TextRun(msgspec.Struct, array_like=True, gc=False):
    """Text that streams to one part of a turn, in pieces; each becomes an action of type `kind`.

    `part` is the id that the actions name: of a part, or of a tool call. While it is the flow of its session,
    the caller that streams appends to `texts` directly: a call per token is measurable.
    """

    kind: str
    channel: str
    turn: str
    part: str
    texts: list[str]

    @classmethod
    def of(cls, channel: str, action: StreamedText) -> "TextRun":
        """Make a run from one action."""
        turn, part, text = msgspec.structs.astuple(action)
        return cls(action.get("type"), channel, turn, part, [text])

    def packed(self) -> bytes:
        """Return the run as it is stored."""
        return encode_json(self)

    def whole(self) -> StreamedText:
        """Return one action with the same effect on a state as all of the run's actions."""
        text = self.texts[0] if len(self.texts) == 1 else "".join(self.texts)
        kind: Any = TEXTS[self.kind]  # never a terminal's
        return kind(self.turn, self.part, text)  # type: ignore[no-any-return]

    def _action(self, text: str) -> StreamedText:
        return TEXTS[self.kind](self.turn, self.part, text)  # type: ignore[return-value] # never a terminal's

    def envelopes(self, first: int) -> list[bytes]:
        """Return the encoded envelopes, numbered from `first`; each is encoded as it would be by itself."""
        return self.lines({"channel": self.channel, "action": self._action("")}, first)

    def lines(self, envelope: JsonObject, first: int) -> list[bytes]:
        """Return an envelope once for each text: with the text at the end of its action, and its number."""
        head = encode_json(envelope)[: -len(b'""}}')]
        if len(self.texts) == 1:
            return [head + encode_json(self.texts[0]) + b'},"serverSeq":%d}' % first]
        # One call encodes everything: texts and numbers alternate, one per line. JSON strings contain no line
        # ends, so a line end after a quotation mark ends a text, and any other ends a number.
        numbered = zip(self.texts, range(first, first + len(self.texts)), strict=True)
        lines = _encode_lines(list(chain.from_iterable(numbered)))
        rests = lines.replace(b'"\n', b'"},"serverSeq":').replace(b"\n", b"}\n")
        return [head + rest for rest in rests[:-1].split(b"\n")]

    def pieces(self) -> Iterable["TextRun"]:
        """Return the run, split if it is too long."""
        if len(self.texts) <= MAX_RUN:
            return (self,) if self._is_small() else self._split()
        parts = (self._with(self.texts[at : at + MAX_RUN]) for at in range(0, len(self.texts), MAX_RUN))
        return chain.from_iterable(part.pieces() for part in parts)

    def _is_small(self) -> bool:
        try:
            # Joining is faster than adding up the lengths.
            return len("".join(self.texts)) <= MAX_RUN_CHARACTERS
        except TypeError:  # an agent streamed something that is not text
            return False

    def _split(self) -> Iterator["TextRun"]:
        begin = size = 0
        texts: list[Any] = self.texts
        for place, text in enumerate(texts):
            more = len(text) if isinstance(text, str) else 0
            size += more
            if place > begin and size > MAX_RUN_CHARACTERS:
                yield self._with(self.texts[begin:place])
                begin, size = place, more
        yield self._with(self.texts[begin:])

    def after(self, seen: int, seq: int) -> "TextRun":
        """Return the texts with numbers above `seen`, as a run; `seq` is the number of the last text."""
        return self if seq - seen >= len(self.texts) else self._with(self.texts[seen - seq :])

    def _with(self, texts: list[str]) -> "TextRun":
        return TextRun(self.kind, self.channel, self.turn, self.part, texts)

    def mended(self) -> "TextRun":
        """Return the run in a form that can be encoded.

        Whatever is not text is left out, because there is nobody left to report it to. An agent that splits
        its text anywhere may split a character: each half becomes a replacement character.
        """
        texts: list[Any] = list(self.texts)
        sound = [_mended(text) for text in texts if isinstance(text, str)]
        return TextRun(self.kind, self.channel, _mended(self.turn), _mended(self.part), sound)


_decode_run = msgspec.json.Decoder(TextRun).decode


def _mended(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def unpack(entries: Iterable[Entry], after: int = 0) -> list[Entry]:
    """Return the envelopes of stored entries after this number as single entries, ordered by number."""
    single = [part for entry in entries for part in _parts(entry) if part.seq > after]
    return sorted(single, key=lambda entry: entry.seq)


def _parts(entry: Entry) -> list[Entry]:
    run = run_of(entry)
    if run is not None:
        first = entry.seq - len(run.texts) + 1
        lines = run.envelopes(first)
        return [Entry(seq, entry.resource, line, entry.only_for) for seq, line in enumerate(lines, first)]
    return [Entry(entry.seq, entry.resource, first_line(entry.envelope, entry.seq), entry.only_for)]


def actions_after(entries: Iterable[Entry], after: int) -> Iterator[tuple[Action, int]]:
    """Yield the actions after this number, in order, each with how many entries it stands for.

    A run is one action with the same effect. Refusals changed nothing, and are left out.
    """
    for entry in entries:
        run = run_of(entry)
        if run is not None and entry.seq - len(run.texts) >= after:
            yield run.whole(), len(run.texts)
            continue
        for part in unpack([entry], after):
            envelope = decode_json(part.envelope)
            if "rejectionReason" not in envelope:
                yield ACTION.take(envelope["action"]), 1


def run_of(entry: Entry) -> TextRun | None:
    """Return the run that an entry holds, if any: an envelope is stored as an object, a run as a list."""
    return _decode_run(entry.envelope) if entry.envelope.startswith(b"[") else None
