"""Text that streams into a running turn: answer, thinking, the input of a tool call (S4, S10, S13).

This is the hot path. A delta finds its part by one look-up and becomes one entry of the log.
"""

from typing import Any, TypeAlias

from agenthost.core.reducers.live import Growth, Live
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.turn import ActiveTurn

Target: TypeAlias = tuple[str, tuple[int, ...]]
"""What grows: `content` or `partialInput`, of the parts at these places."""


class Streams(Growth[SessionState]):
    """The parts of a running turn that text can go to, by the id that an action names."""

    __slots__ = ("answers", "inputs", "thoughts", "turn_id")

    def __init__(self, turn: ActiveTurn | None) -> None:
        super().__init__()
        self.turn_id = turn.get("id") if turn else None
        self.answers: dict[str, Target] = {}
        self.thoughts: dict[str, Target] = {}
        self.inputs: dict[str, Target] = {}
        if turn:
            self._find_parts(turn.get("responseParts", []))

    def _find_parts(self, parts: list[Any]) -> None:
        seen: set[str] = set()
        for place, part in enumerate(parts):
            kind = part.get("kind")
            name = part_id(part)
            if name is None:
                continue
            if kind == "toolCall" and part["toolCall"].get("status") == "streaming":
                # H3: every call of that id.
                _, places = self.inputs.get(name, ("", ()))
                self.inputs[name] = ("partialInput", (*places, place))
            # H2: only the first part of an id counts, even when it is of the wrong kind.
            if name in seen:
                continue
            seen.add(name)
            if kind == "markdown":
                self.answers[name] = ("content", (place,))
            elif kind == "reasoning":
                self.thoughts[name] = ("content", (place,))

    def fold(self, base: SessionState, entries: list[tuple[Target, str]]) -> SessionState:
        """Append to each part all that was logged for it."""
        turn = base["activeTurn"]
        parts = list(turn["responseParts"])
        texts: dict[Target, list[str]] = {}
        for target, text in entries:
            texts.setdefault(target, []).append(text)
        for (field, places), chunks in texts.items():
            for place in places:
                parts[place] = _appended(parts[place], field, "".join(chunks))
        return {**base, "activeTurn": {**turn, "responseParts": parts}}

    def copy(self, length: int) -> "Streams":
        """Give the same places with a log of their own."""
        twin = Streams(None)
        twin.turn_id, twin.answers, twin.thoughts, twin.inputs = (
            self.turn_id,
            self.answers,
            self.thoughts,
            self.inputs,
        )
        twin.log = self.log[:length]
        return twin


def part_id(part: Any) -> str | None:
    """H2: the id by which an action names a part; parts without one are never meant."""
    name = part.get("toolCall", {}).get("toolCallId") if part.get("kind") == "toolCall" else part.get("id")
    return name if type(name) is str else None


def _appended(part: Any, field: str, text: str) -> Any:
    if field == "content":
        return {**part, "content": part.get("content", "") + text}
    call = part["toolCall"]
    return {**part, "toolCall": {**call, "partialInput": call.get("partialInput", "") + text}}


def _streams(live: Live[SessionState]) -> Streams:
    streams = live.growth
    if streams is None:
        streams = Streams(live.base.get("activeTurn"))
    return streams  # type: ignore[return-value] # a session grows by nothing else


def delta(live: Live[SessionState], action: Any) -> Live[SessionState]:
    """S4: the answer goes on."""
    streams = _streams(live)
    return _grown(live, streams, streams.answers.get(action.get("partId")), action)


def reasoning(live: Live[SessionState], action: Any) -> Live[SessionState]:
    """S10: the thinking goes on."""
    streams = _streams(live)
    return _grown(live, streams, streams.thoughts.get(action.get("partId")), action)


def tool_call_delta(live: Live[SessionState], action: Any) -> Live[SessionState]:
    """S13, for an action that brings input and nothing else."""
    streams = _streams(live)
    return _grown(live, streams, streams.inputs.get(action.get("toolCallId")), action)


def _grown(
    live: Live[SessionState], streams: Streams, target: Target | None, action: Any
) -> Live[SessionState]:
    if target is None or action.get("turnId") != streams.turn_id:
        return live
    return live.grown(streams, (target, action.get("content", "")))
