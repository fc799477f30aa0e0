"""Packing: text that streams goes through the host in runs, not delta by delta.

A run is text that streamed to one part of a turn, with nothing else of its session between: numbered,
reduced, encoded, stored and shown as one. In the log it is one row, its texts in a list, under the number of
the last; whoever reads makes envelopes of it, always the same. What is done once for a run costs a delta next
to nothing, and what all its envelopes have in common is written once.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import msgspec

from agenthost.core.reducers.text import StreamedText
from agenthost.host.storage import Entry
from agenthost.wire.ahp.actions.text import ACTION, TEXTS, Action
from agenthost.wire.json import decode_json, encode_json

MAX_RUN = 1_000
"""How many envelopes a run may have, so that reading one stays quick."""

_encode_lines = msgspec.json.Encoder().encode_lines


class Run(msgspec.Struct, array_like=True, gc=False):
    """Text that streams to one part of a turn, in pieces; each will be an action of type `kind`.

    `part` is the id that the actions name: of a part, or of a tool call. Whoever streams adds to `texts`, as
    long as it is the flow of its session: a call for each piece would be felt.
    """

    kind: str
    session: str
    turn: str
    part: str
    texts: list[str]

    @classmethod
    def of(cls, action: StreamedText) -> "Run":
        """Make a run of one action."""
        session, turn, part, text = msgspec.structs.astuple(action)
        return cls(action.get("type"), session, turn, part, [text])

    def packed(self) -> bytes:
        """Give it as it is stored."""
        return encode_json(self)

    def whole(self) -> StreamedText:
        """Give the one action that does the same to a state as all of them."""
        return self._action("".join(self.texts))

    def _action(self, text: str) -> StreamedText:
        return TEXTS[self.kind](self.session, self.turn, self.part, text)  # type: ignore[return-value] # not of a terminal

    def envelopes(self, first: int) -> list[bytes]:
        """Give the envelopes, encoded, the first under this number: as each of them alone would be."""
        if len(self.texts) == 1:
            return [encode_json({"action": self._action(self.texts[0]), "serverSeq": first})]
        head = encode_json({"action": self._action("")})[: -len(b'""}}')]
        # All at once: texts and numbers by turns, one a line. Between two JSON strings there is a line end,
        # and in them none, so one after a quotation mark ends a text, and any other a number.
        numbered = zip(self.texts, range(first, first + len(self.texts)), strict=True)
        lines = _encode_lines(list(chain.from_iterable(numbered)))
        rests = lines.replace(b'"\n', b'"},"serverSeq":').replace(b"\n", b"}\n")
        return [head + rest for rest in rests[:-1].split(b"\n")]

    def pieces(self) -> Iterable["Run"]:
        """Give it in runs that are short enough."""
        if len(self.texts) <= MAX_RUN:
            return (self,)
        begins = range(0, len(self.texts), MAX_RUN)
        return [self._with(self.texts[begin : begin + MAX_RUN]) for begin in begins]

    def _with(self, texts: list[str]) -> "Run":
        return Run(self.kind, self.session, self.turn, self.part, texts)

    def mended(self) -> "Run":
        """Give it such that it can be encoded: what is no text is left out, for nobody is there to be told.

        An agent that cuts its text anywhere may cut a character in two: then each half becomes a mark.
        """
        texts: list[Any] = list(self.texts)
        sound = [_mended(text) for text in texts if isinstance(text, str)]
        return Run(self.kind, _mended(self.session), _mended(self.turn), _mended(self.part), sound)


_decode_run = msgspec.json.Decoder(Run).decode


def _mended(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def unpack(entries: Iterable[Entry], after: int = 0) -> list[Entry]:
    """Give the envelopes of stored entries one by one, in the order of their numbers, from after this one."""
    single = [part for entry in entries for part in _parts(entry) if part.seq > after]
    return sorted(single, key=lambda entry: entry.seq)


def _parts(entry: Entry) -> list[Entry]:
    run = _run_of(entry)
    if run is not None:
        first = entry.seq - len(run.texts) + 1
        lines = run.envelopes(first)
        return [Entry(seq, entry.resource, line, entry.only_for) for seq, line in enumerate(lines, first)]
    # Version 1 of the store had the envelopes of a run one a line; JSON as we write it has no line ends.
    if b"\n" not in entry.envelope:
        return [entry]
    lines = entry.envelope.split(b"\n")
    return [Entry(decode_json(line)["serverSeq"], entry.resource, line, entry.only_for) for line in lines]


def happened(entries: Iterable[Entry], after: int) -> Iterator[tuple[Action, int]]:
    """Give what happened after this number, in order: an action, and how many it stands for.

    A run is one action that does the same. Refusals changed nothing, and are left out.
    """
    for entry in entries:
        run = _run_of(entry)
        if run is not None and entry.seq - len(run.texts) >= after:
            yield run.whole(), len(run.texts)
            continue
        for part in unpack([entry], after):
            envelope = decode_json(part.envelope)
            if "rejectionReason" not in envelope:
                yield ACTION.take(envelope["action"]), 1


def _run_of(entry: Entry) -> Run | None:
    """Give the run that an entry is, if it is one: an envelope is an object, and a run a list."""
    return _decode_run(entry.envelope) if entry.envelope.startswith(b"[") else None
