"""What all clients were shown, over all lives: by it is judged what a power cut took."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agenthost.core.reducers import Live, reduce_chat
from agenthost.edges.ahp.v0_1.projection import expander
from agenthost.host.access.identity import Identity
from agenthost.host.log.text_runs import actions_after, unpack
from agenthost.host.state.session_uris import CHAT_PREFIX, chat_uri_of
from agenthost.host.storage import ROOT, Entry
from agenthost.host.storage.sqlite import SqliteStorage
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.legacy import ROOT_URI as OLD_ROOT_URI
from agenthost.wire.json import decode_json

OLD = "0.1.0"
NEW = "1.0.0"
"""The versions that clients speak. Each has envelopes of its own under the same numbers."""

NOBODY = "nobody"


class Wrong(AssertionError):
    """Something that has to be true is not."""


def demand(is_so: bool, *words: object) -> None:
    """Raise what is wrong, unless it is so."""
    if not is_so:
        raise Wrong(" ".join(map(str, words)))


@dataclass(slots=True)
class Book:
    """What was shown.

    Attributes:
        meanings: every number that any client of a version ever saw, and the envelope under it.
        shown: what should be there, by version, resource and number, and when it was shown.
        said: what AAP clients were told, by session and question, and when.
        made: sessions and further chats that a client was told are there, and since when.
        begun: numbers that snapshots were given as of.
        lost: how much was taken by cuts that were allowed to take it.
    """

    meanings: dict[tuple[str, int], str] = field(default_factory=dict)
    shown: dict[tuple[str, str], dict[int, tuple[str, float]]] = field(default_factory=dict)
    said: dict[tuple[str, str], tuple[str, float]] = field(default_factory=dict)
    made: dict[str, float] = field(default_factory=dict)
    begun: set[int] = field(default_factory=set)
    lost: int = 0

    def take(self, uri: str, envelope: Mapping[str, Any], version: str = OLD) -> None:
        """Take what a client was shown; a number that means something else by now is wrong."""
        seq, text = envelope["serverSeq"], json.dumps(envelope, sort_keys=True)
        known = self.meanings.setdefault((version, seq), text)
        demand(known == text, f"number {seq} meant {known} and means {text}")
        self.shown.setdefault((version, uri), {}).setdefault(seq, (text, time.monotonic()))

    def tell(self, session: str, question: str, text: str) -> None:
        """Take what an AAP client was told so far of an answer."""
        self.said[session, question] = (text, time.monotonic())

    def check(self, data: Path, may_lose_after: float) -> None:
        """Compare a store that nobody uses with what was shown; what was shown later may be lost."""
        store = SqliteStorage(data)
        store.open()
        try:
            self._check_made(store, may_lose_after)
            for version, uri in list(self.shown):
                self._check_log(store, version, uri, may_lose_after)
            self._check_said(store, may_lose_after)
        finally:
            store.close()

    def _lose(self, when: float, may_lose_after: float, *words: object) -> None:
        demand(when >= may_lose_after, *words, f"({time.monotonic() - when:.1f} s ago)")
        self.lost += 1

    def _check_made(self, store: SqliteStorage, may_lose_after: float) -> None:
        for uri, when in list(self.made.items()):
            if store.find(uri=uri) is None:
                self._lose(when, may_lose_after, uri, "was made and is lost")
                del self.made[uri]
                self.shown.pop((OLD, uri), None)
                for gone in (uri, chat_uri_of(uri.partition(":/")[2])):
                    self.shown.pop((NEW, gone), None)

    def _check_log(self, store: SqliteStorage, version: str, uri: str, may_lose_after: float) -> None:
        number = _number(store, uri)
        floor = store.floor([number])
        shown = self.shown[version, uri]
        there: dict[int, str] = {}
        # A refusal is there for its client alone.
        refused = [text for text, _ in shown.values() if '"rejectionReason"' in text]
        for client in {NOBODY, *map(_refused, refused)}:
            stored = _envelopes(store.replay(floor, [number], client), version, uri)
            there |= {entry.seq: json.dumps(decode_json(entry.envelope), sort_keys=True) for entry in stored}
        for seq, text in there.items():
            known = self.meanings.setdefault((version, seq), text)
            demand(known == text, f"number {seq} of {uri} is stored as {text}, and was shown as {known}")
        for seq, (text, when) in list(shown.items()):
            if seq > floor and seq not in there:
                self._lose(when, may_lose_after, uri, "has lost", seq, text)
                del shown[seq]

    def _check_said(self, store: SqliteStorage, may_lose_after: float) -> None:
        answers: dict[str, dict[str, str]] = {}
        for (session, question), (text, when) in list(self.said.items()):
            if session not in answers:
                answers[session] = _answers(store, session)
            if not answers[session].get(question, "").startswith(text):
                found = answers[session].get(question)
                self._lose(when, may_lose_after, session, "said", repr(text), "and has", repr(found))
                del self.said[session, question]


def further_chat_of(uri: str) -> str:
    """Return the further chat that a session is given."""
    return f"{CHAT_PREFIX}further/{uri.partition(':/')[2]}"


def _refused(text: str) -> str:
    """Return the client that an envelope is a refusal for; nobody, if it is for all."""
    envelope = json.loads(text)
    return Identity(envelope["origin"]["clientId"]).key if "rejectionReason" in envelope else NOBODY


def _number(store: SqliteStorage, uri: str) -> int:
    """Return the number of the log that has what happens on a channel."""
    if uri in (ROOT_URI, OLD_ROOT_URI):
        return ROOT
    row = store.find(uri=uri)  # a further chat has a row of its own, the default chat that of its session
    if row is None and uri.startswith(CHAT_PREFIX):
        row = store.find(name=uri.removeprefix(CHAT_PREFIX))
    demand(row is not None, uri, "was shown and is not there")
    assert row is not None
    return row.number


def _envelopes(entries: Sequence[Entry], version: str, uri: str) -> list[Entry]:
    """Return the envelopes of stored entries as clients of a version see them."""
    if version == OLD:
        return expander({entry.resource: uri for entry in entries})(entries, 0)
    return [entry for entry in unpack(entries) if decode_json(entry.envelope)["channel"] == uri]


def _answers(store: SqliteStorage, name: str) -> dict[str, str]:
    """Return what a session answered to each question."""
    row = store.find(name=name)
    stored = None if row is None else store.load(row.number)
    if stored is None:
        return {}
    live: Live[Any] = Live(decode_json(stored.state)["chat"])
    for action, _ in actions_after(stored.entries, after=stored.state_seq):
        if str(action["type"]).startswith("chat/"):
            live = reduce_chat(live, action)  # type: ignore[arg-type] # of a chat
    turns = [*live.state["turns"], *([live.state["activeTurn"]] if "activeTurn" in live.state else [])]
    return {
        turn["message"]["text"]: "".join(part.get("content", "") for part in turn["responseParts"])
        for turn in turns
    }
