"""Text that streams into the running turn: the answer, the reasoning, a call's input (C3, T2).

A delta finds its part by one lookup and becomes an entry of the log; `chat.reduce_chat` does that.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from agenthost.core.reducers.live import Growth
from agenthost.wire.ahp.actions.text import ChatDelta, ChatReasoning, ChatToolCallDelta

Target: TypeAlias = tuple[str, tuple[int, ...]]
"""The text that grows: `content` or `partialInput` of the parts at these positions."""

StreamedText: TypeAlias = ChatDelta | ChatReasoning | ChatToolCallDelta

MAX_COPIED_CHARS = 500
"""Up to this length, copying the text is cheaper than starting a log. Most short answers stay below it."""

_KINDS: dict[type, str] = {ChatDelta: "markdown", ChatReasoning: "reasoning"}


class Streams(Growth[Any]):
    """The parts of the running turn that text can go to, by the type of the action and then by id.

    The parts are searched for a type when its first action comes: most turns have only one type.
    """

    __slots__ = ("_parts", "targets", "turn_id")

    def __init__(self, turn_id: str | None, parts: list[Any]) -> None:
        self.log: list[Any] = []
        self.turn_id = turn_id
        self.targets: dict[type, dict[str, Target]] = {}
        self._parts = parts

    def find(self, kind: type) -> dict[str, Target]:
        """Find the parts that take text of this type."""
        self.targets[kind] = _FINDERS[kind](self._parts)
        return self.targets[kind]

    def fold(self, base: Any, texts: dict[Target, str]) -> Any:
        """Append to each part the text that was logged for it."""
        turn = base["activeTurn"]
        parts: list[Any] = list(turn["responseParts"])
        for (field, places), text in texts.items():
            for place in places:
                part = parts[place]
                if field == "content":
                    parts[place] = {**part, "content": part.get("content", "") + text}
                else:
                    call = part["toolCall"]
                    grown = call.get("partialInput", "") + text
                    parts[place] = {**part, "toolCall": {**call, "partialInput": grown}}
        return {**base, "activeTurn": {**turn, "responseParts": parts}}

    def copy(self, length: int) -> "Streams":
        """Return a copy with its own log."""
        copied = Streams(self.turn_id, self._parts)
        copied.log = self.log[:length]
        return copied


def is_short(turn: Any, part: Any, action: StreamedText) -> bool:
    """Return whether text goes to a part that is still so short that it is copied."""
    content = part.get("content")
    kind = _KINDS.get(type(action))
    return (
        kind is not None
        and type(content) is str
        and len(content) < MAX_COPIED_CHARS
        and len(action.content) < MAX_COPIED_CHARS
        and part.get("kind") == kind
        and part.get("id") == action.partId  # type: ignore[union-attr] # not of a call, as it has a kind
        and turn.get("id") == action.turnId
    )


def _first_parts(parts: list[Any], kind: str) -> dict[str, Target]:
    """H2: only the first part with an id counts, even if it is of the wrong kind."""
    first: dict[str, int] = {}
    for place, part in enumerate(parts):
        # As `_part_id` says, inlined.
        is_call = part.get("kind") == "toolCall"
        part_id = part.get("toolCall", {}).get("toolCallId") if is_call else part.get("id")
        if type(part_id) is str:
            first.setdefault(part_id, place)
    return {
        part_id: ("content", (place,)) for part_id, place in first.items() if parts[place].get("kind") == kind
    }


def _streaming_calls(parts: list[Any]) -> dict[str, Target]:
    """H3: every call with an id counts."""
    places: dict[str, list[int]] = {}
    for place, part in enumerate(parts):
        call_id = _part_id(part) if part.get("kind") == "toolCall" else None
        if call_id is not None and part["toolCall"].get("status") == "streaming":
            places.setdefault(call_id, []).append(place)
    return {call_id: ("partialInput", tuple(found)) for call_id, found in places.items()}


_FINDERS: dict[type, Callable[[list[Any]], dict[str, Target]]] = {
    ChatDelta: partial(_first_parts, kind="markdown"),
    ChatReasoning: partial(_first_parts, kind="reasoning"),
    ChatToolCallDelta: _streaming_calls,
}


def _part_id(part: Any) -> str | None:
    """H2: return the id by which an action names a part; without an id no action can mean it."""
    part_id = part.get("toolCall", {}).get("toolCallId") if part.get("kind") == "toolCall" else part.get("id")
    return part_id if type(part_id) is str else None
