"""The stored form of sessions before they had chats, converted to the current one. Knows no SQL.

In the legacy form a session had one state, and actions named the session that they were for. Here such a
state is folded with its log, and made into the states of a session and its default chat. The host wrote what
is read here, but other bugs may have been at work: any exception can come out of these functions.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from agenthost.core import actions
from agenthost.core.derived import waiting_in
from agenthost.core.legacy.reducers import Live as LegacyLive
from agenthost.core.legacy.reducers import reduce_root as reduce_legacy_root
from agenthost.core.legacy.reducers import reduce_session as reduce_legacy_session
from agenthost.core.legacy.root import upgrade_root
from agenthost.core.legacy.summaries import lift_time
from agenthost.core.legacy.terminals import no_chat
from agenthost.core.legacy.translation import translate_action
from agenthost.core.legacy.upgrade import upgrade_session
from agenthost.core.reducers import Live, reduce_session
from agenthost.core.summaries import session_summary
from agenthost.host.storage import Entry, SessionRow
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.legacy.actions.text import TEXTS
from agenthost.wire.ahp.legacy.root import RootState as LegacyRootState
from agenthost.wire.ahp.legacy.session import SessionSummary as LegacySummary
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.json import JsonObject, decode_json, encode_json

__all__ = ["Upgraded", "upgraded_root", "upgraded_session", "upgraded_summary"]

CHAT_PREFIX = "ahp-chat:/"
"""The name of a session follows, which makes the URI of its default chat."""

NO_TIME = 0
"""For the legacy reducers: the times that they set are not kept."""


_decode_run = msgspec.json.Decoder(tuple[str, str, str, str, list[str]]).decode


class Upgraded(NamedTuple):
    """The current form of a stored session: both states, the summary and the private data, all encoded."""

    state: bytes
    summary: bytes
    private: bytes


def upgraded_session(row: SessionRow, state: bytes, state_seq: int, entries: Iterable[Entry]) -> Upgraded:
    """Return a legacy session as it is stored now, given its snapshot and its log since then."""
    live: LegacyLive[Any] = LegacyLive(decode_json(state))
    for entry in entries:
        for action in _actions(entry, state_seq):
            live = reduce_legacy_session(live, action, NO_TIME)
    # Reducers set new times. The row, written with each action, has the times that were shown.
    summary = decode_json(row.summary)
    whole: Any = {**live.state, "summary": summary}
    session, chat = upgrade_session(whole, CHAT_PREFIX + row.name)
    session = _with_waiting(session, chat)
    return Upgraded(
        encode_json({"session": session, "chat": chat}),
        encode_json(session_summary(row.uri, session, lift_time(summary["createdAt"]))),
        _upgraded_private(row.private, session, chat, summary),
    )


def upgraded_summary(row: SessionRow) -> bytes:
    """Return the summary of a legacy session, for lists, where nothing but its row can be read."""
    summary: LegacySummary = decode_json(row.summary)
    bare: Any = {"summary": summary, "lifecycle": "ready", "turns": []}
    session, _ = upgrade_session(bare, CHAT_PREFIX + row.name)
    return encode_json(session_summary(row.uri, session, lift_time(summary["createdAt"])))


def upgraded_root(state: bytes | None, state_seq: int, entries: Iterable[Entry]) -> bytes:
    """Return the state of a legacy root as it is stored now."""
    empty: LegacyRootState = {"agents": [], "activeSessions": 0}
    live: LegacyLive[Any] = LegacyLive(empty if state is None else decode_json(state))
    for entry in entries:
        for action in _actions(entry, state_seq):
            live = reduce_legacy_root(live, action, NO_TIME)
    # Terminals do not outlive the process that they run in.
    whole: Any = {**live.state, "terminals": []}
    return encode_json(upgrade_root(whole, no_chat))


def _actions(entry: Entry, after: int) -> Iterator[Any]:
    """Yield the actions of an entry after this number. Refusals changed nothing, and are left out."""
    if entry.envelope.startswith(b"["):
        kind, session, turn, part, texts = _decode_run(entry.envelope)
        seen = max(0, after - (entry.seq - len(texts)))
        struct: Any = TEXTS[kind]
        yield struct(session, turn, part, "".join(texts[seen:]))
        return
    # The first stores kept the envelopes of a run one per line. JSON has no line ends.
    for line in entry.envelope.split(b"\n"):
        envelope = decode_json(line)
        if envelope["serverSeq"] > after and "rejectionReason" not in envelope:
            yield envelope["action"]


def _with_waiting(session: SessionState, chat: ChatState) -> SessionState:
    """Return the state of a session with what waits for somebody in its chat, as `derived` has it."""
    live = Live(session)
    for request in waiting_in(chat).values():
        live = reduce_session(live, actions.input_needed_set(request))
    return live.state


def _upgraded_private(
    private: bytes, session: SessionState, chat: ChatState, summary: LegacySummary
) -> bytes:
    """Return the private data of a session. Only the actions that wait there have a form to change."""
    kept: JsonObject = decode_json(private)
    if "deferred" not in kept:
        return private
    waiting: list[Any] = []
    for action, origin, *more in kept["deferred"]:  # the oldest stores have only these two
        client_id = "" if origin is None else origin["clientId"]
        sent = more[0] if more else None
        found = translate_action(action, session, chat, now_ms=summary["modifiedAt"], client_id=client_id)
        # Legacy clients are shown the action itself, once, with the last of what it becomes.
        shown: list[Any] = [*([] for _ in found.actions[1:]), [action]]
        waiting += [[one, origin, sent, old] for one, old in zip(found.actions, shown, strict=False)]
    return encode_json({**kept, "deferred": waiting})
