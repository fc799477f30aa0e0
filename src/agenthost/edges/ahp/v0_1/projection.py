"""The states and log entries of the host, projected for clients of AHP 0.1.

A session and its default chat are one resource here. Each entry of the log becomes one envelope under the
same number, or none. If the log has stored envelopes for these clients, those are used.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from agenthost.core.legacy.projected_state import project_session_state
from agenthost.core.legacy.projection import project_action
from agenthost.core.legacy.root import project_root_action, project_root_state
from agenthost.core.legacy.terminals import project_terminal_action, project_terminal_state
from agenthost.core.times import unix_ms
from agenthost.host.log.entries import first_line, legacy_lines
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.log.text_runs import TextRun, run_of
from agenthost.host.state.feed import View
from agenthost.host.storage import ROOT, Entry
from agenthost.wire.ahp import ROOT_URI as CURRENT_ROOT_URI
from agenthost.wire.ahp.legacy import ROOT_URI
from agenthost.wire.ahp.legacy.actions.text import TEXTS
from agenthost.wire.json import Json, decode_json, encode_json

__all__ = ["channel_of", "envelopes_of", "expander", "refusal_of", "resource_of", "state_of"]


def channel_of(uri: str) -> str:
    """Return the channel of a resource: the root has another URI."""
    return CURRENT_ROOT_URI if uri == ROOT_URI else uri


def resource_of(channel: str) -> str:
    """Return the resource of a channel."""
    return ROOT_URI if channel == CURRENT_ROOT_URI else channel


def state_of(view: View) -> Json:
    """Return the state of a resource."""
    if view.chat is not None:
        created = unix_ms(view.created_at) or 0
        return project_session_state(view.state, view.chat.state, view.uri, created)
    return (
        project_root_state(view.state) if view.uri == CURRENT_ROOT_URI else project_terminal_state(view.state)
    )


def envelopes_of(item: LogItem) -> list[bytes]:
    """Return the envelopes for an item of the log, in order; none if these clients see nothing of it."""
    # Made at the commit, when the states before and after the action were known.
    stored = legacy_lines(item.envelope, item.seq) if item.run is None else None
    if stored is not None:
        return stored
    if item.run is not None:
        return _run_envelopes(item.run, item.first_seq, item.uri)
    projected = _project(item.resource, item.action, item.uri)
    if projected is None:
        return []
    return [_with_action(item, projected)]


def refusal_of(item: LogItem) -> bytes:
    """Return the envelope of a refusal: it repeats the action as the client sent it."""
    lines = envelopes_of(item)
    return lines[0] if lines else item.envelopes()[0]


def expander(uris: dict[int, str]) -> Callable[[Sequence[Entry], int], list[Entry]]:
    """Return a function that makes envelopes of stored entries; `uris` are those of their resources."""
    return partial(_expand, uris)


def _expand(uris: dict[int, str], entries: Sequence[Entry], after: int) -> list[Entry]:
    found: list[Entry] = []
    for entry in entries:
        # An entry with several envelopes may have been seen in part.
        found += [
            Entry(seq, entry.resource, line, entry.only_for)
            for seq, line in _numbered(entry, uris.get(entry.resource, ""))
            if seq > after
        ]
    return sorted(found, key=lambda entry: entry.seq)


def _numbered(entry: Entry, uri: str) -> list[tuple[int, bytes]]:
    run = run_of(entry)
    if run is not None:
        first = entry.seq - len(run.texts) + 1
        return list(enumerate(_run_envelopes(run, first, uri), first))
    stored = legacy_lines(entry.envelope, entry.seq)
    if stored is not None:
        return list(enumerate(stored, entry.seq - len(stored) + 1))
    action = decode_json(first_line(entry.envelope, entry.seq))["action"]
    projected = _project(entry.resource, action, uri)
    return [] if projected is None else [(entry.seq, _with_action(entry, projected))]


def _project(resource: int, action: Any, uri: str) -> Any:
    if resource == ROOT:
        return project_root_action(action)
    return project_terminal_action(action, uri) if resource < ROOT else project_action(action, uri)


def _with_action(entry: Entry, action: Any) -> bytes:
    old = decode_json(first_line(entry.envelope, entry.seq))
    # HR-I08: envelopes of this version have no channel; their actions name the resource.
    del old["channel"]
    return encode_json({**old, "action": action})


def _run_envelopes(run: TextRun, first: int, uri: str) -> list[bytes]:
    """Return the envelopes of a run of text, which are made all at once."""
    kind = run.kind.replace("chat/", "session/")
    action: Any = TEXTS[kind](uri, run.turn, run.part, "")
    return run.lines({"action": action}, first)
