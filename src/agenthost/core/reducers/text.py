"""Text that streams into a running turn: answer, thinking, the input of a tool call (S4, S10, S13).

This is the hot path. A delta finds its part by a look-up and becomes an entry of the log.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from agenthost.core.reducers.live import Growth, Live
from agenthost.wire.ahp.actions.text import SessionDelta, SessionReasoning, SessionToolCallDelta
from agenthost.wire.ahp.session import SessionState

Target: TypeAlias = tuple[str, tuple[int, ...]]
"""What grows: `content` or `partialInput`, of the parts at these places."""

SHORT = 500
"""How many characters are few: most answers of one piece are, and the first pieces of all others."""

_KINDS: dict[type, str] = {SessionDelta: "markdown", SessionReasoning: "reasoning"}

StreamedText: TypeAlias = SessionDelta | SessionReasoning | SessionToolCallDelta


class Streams(Growth[SessionState]):
    """The parts of a running turn that text can go to: by the type of the action, then by the id it names.

    Each type is looked through when the first of its actions comes: most turns have only one.
    """

    __slots__ = ("_parts", "targets", "turn_id")

    def __init__(self, turn_id: str | None, parts: list[Any]) -> None:
        super().__init__()
        self.turn_id = turn_id
        self.targets: dict[type, dict[str, Target]] = {}
        self._parts = parts

    def find(self, kind: type) -> dict[str, Target]:
        """Find the parts that take text of this type."""
        self.targets[kind] = _FINDERS[kind](self._parts)
        return self.targets[kind]

    def fold(self, base: SessionState, texts: dict[Target, str]) -> SessionState:
        """Append to each part all that was logged for it."""
        turn = base["activeTurn"]
        parts = list(turn["responseParts"])
        for (field, places), text in texts.items():
            for place in places:
                parts[place] = _appended(parts[place], field, text)
        return {**base, "activeTurn": {**turn, "responseParts": parts}}

    def copy(self, length: int) -> "Streams":
        """Give the same places with a log of their own."""
        twin = Streams(self.turn_id, self._parts)
        twin.log = self.log[:length]
        return twin


def stream(live: Live[SessionState], action: StreamedText) -> Live[SessionState]:
    """Append the action's text to the part that it names, if that takes such text."""
    streams: Any = live.growth
    kind = type(action)
    if streams is None:
        turn: Any = live.base.get("activeTurn") or {}
        parts = turn.get("responseParts", [])
        if len(parts) == 1 and _is_short(turn, parts[0], action):
            part = {**parts[0], "content": parts[0]["content"] + action.content}
            turn = {**turn, "responseParts": [part]}
            return Live({**live.base, "activeTurn": turn})
        streams = Streams(turn.get("id"), parts)
    part_id = action.toolCallId if kind is SessionToolCallDelta else action.partId  # type: ignore[union-attr]
    targets = streams.targets.get(kind)
    target = (streams.find(kind) if targets is None else targets).get(part_id)
    if target is None or action.turnId != streams.turn_id:
        return live
    log = streams.log
    length = live.length
    if len(log) != length:
        return live.grown(streams, target, action.content)
    # `live.grown` in place: a call less, for most of all actions.
    log.append(target)
    log.append(action.content)
    return Live(live.base, streams, length + 2)


def _is_short(turn: Any, part: Any, action: StreamedText) -> bool:
    """Tell whether text goes to a part that is still short: to copy that costs less than to begin a log."""
    content = part.get("content")
    return (
        type(content) is str
        and len(content) < SHORT
        and len(action.content) < SHORT
        and part.get("kind") == _KINDS.get(type(action))
        and part.get("id") == action.partId  # type: ignore[union-attr] # not of a call, as the kind is known
        and turn.get("id") == action.turnId
    )


def _first_parts(parts: list[Any], kind: str) -> dict[str, Target]:
    """H2: only the first part of an id counts, even when it is of the wrong kind."""
    first: dict[str, int] = {}
    for place, part in enumerate(parts):
        part_id = _part_id(part)
        if part_id is not None:
            first.setdefault(part_id, place)
    return {
        part_id: ("content", (place,)) for part_id, place in first.items() if parts[place].get("kind") == kind
    }


def _streaming_calls(parts: list[Any]) -> dict[str, Target]:
    """H3: every call of an id counts."""
    places: dict[str, list[int]] = {}
    for place, part in enumerate(parts):
        call_id = _part_id(part) if part.get("kind") == "toolCall" else None
        if call_id is not None and part["toolCall"].get("status") == "streaming":
            places.setdefault(call_id, []).append(place)
    return {call_id: ("partialInput", tuple(found)) for call_id, found in places.items()}


_FINDERS: dict[type, Callable[[list[Any]], dict[str, Target]]] = {
    SessionDelta: lambda parts: _first_parts(parts, "markdown"),
    SessionReasoning: lambda parts: _first_parts(parts, "reasoning"),
    SessionToolCallDelta: _streaming_calls,
}


def _part_id(part: Any) -> str | None:
    """H2: the id by which an action names a part; parts without one are never meant."""
    part_id = part.get("toolCall", {}).get("toolCallId") if part.get("kind") == "toolCall" else part.get("id")
    return part_id if type(part_id) is str else None


def _appended(part: Any, field: str, text: str) -> Any:
    if field == "content":
        return {**part, "content": part.get("content", "") + text}
    call = part["toolCall"]
    return {**part, "toolCall": {**call, "partialInput": call.get("partialInput", "") + text}}
