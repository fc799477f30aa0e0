"""Output: turns what an agent says into parts and deltas, and skips what it repeats after a restart.

An agent that is run again repeats what it said before. Parts and calls are counted, so the same position in
its run has the same id. Whatever the state already has under that id is skipped, and what follows is new. If
the agent says something else this time, users get a notice, and it continues in a new part. Knows the parts
of a running turn; `tool_calls` runs the calls.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2s
from typing import Any

from agenthost.core import actions
from agenthost.core.queries import find_call, tool_calls
from agenthost.host.authoring.turn_run import TextKind
from agenthost.host.log.text_runs import TextRun
from agenthost.host.state.session import Session
from agenthost.wire.ahp.actions.text import ChatTextType
from agenthost.wire.ahp.common import ContentRef
from agenthost.wire.ahp.turn import ResponsePart
from agenthost.wire.json import JsonObject

_ASIDES = {"systemNotification", "contentRef"}
"""Parts outside the answer: recognized by their order alone, because their content may differ each time."""

BEGAN_AGAIN = "The host was restarted, and the agent began this part of its answer again."

_TEXT_KINDS: dict[str, ChatTextType] = {
    "markdown": "chat/delta",
    "reasoning": "chat/reasoning",
}


@dataclass(slots=True)
class _Streamed:
    """The streaming input of a call: what was shown before a restart, and how much has come since."""

    shown: str
    said: int = 0


class Output:
    """The parts of one running turn.

    Attributes:
        turn_id: the id of the turn.
        abandoned: calls that began before the restart and were not repeated.
        flow: where new text of `kind` goes, as long as it is the flow of the session; see `Session.stream`.
        kind: the kind of the current text part.
    """

    def __init__(
        self, session: Session, turn_id: str, parts: Sequence[ResponsePart] = (), start: int = 0
    ) -> None:
        """Begin with the parts that were shown before a restart; the first `start` are not repeated."""
        self.turn_id = turn_id
        self._session = session
        self._uri = session.row.uri
        self._texts = self._calls = 0
        # Parts that were shown before the restart and not repeated yet, by position.
        self._left: dict[int, ResponsePart] = {}
        if parts:
            # They count all the same, so that the ids of what follows are those of the first run.
            self._texts = sum(part["kind"] in _TEXT_KINDS for part in parts[:start])
            self._calls = len(tool_calls(parts[:start]))
            shown = enumerate(parts[start:], start)
            self._left = {place: part for place, part in shown if _is_repeated(part)}
        self.flow: TextRun | None = None
        self.kind: TextKind | None = None
        self._part_id = self._mark = ""
        self._shown: str | None = None  # the text of this part as it was shown, while it is repeated
        self._said = 0  # how much of it has been repeated
        self._inputs: dict[str, _Streamed] = {}
        self.abandoned: list[str] = []

    @property
    def parts(self) -> list[ResponsePart]:
        """All parts of the turn so far."""
        return self._session.chat["activeTurn"]["responseParts"]

    @property
    def part_id(self) -> str:
        """The id of the current text part."""
        return self._part_id

    @property
    def is_replaying(self) -> bool:
        """Whether the agent still repeats what was shown before a restart."""
        return bool(self._left)

    @property
    def place(self) -> int:
        """The position of the first part that has not been repeated yet, or of the next new one."""
        return min(self._left, default=len(self.parts))

    def say(self, kind: TextKind, text: str) -> None:
        """Stream text to a part of this kind."""
        if not text:
            return
        if kind != self.kind:
            self._begin(kind)
        if self._shown is not None:
            text = self._new_of(kind, text)
        if text:
            flow = self._session.stream(_TEXT_KINDS[kind], self.turn_id, self._part_id, text)
            # No fast path (see `RunningTurn.say`) while text is repeated: each piece has to be compared.
            self.flow = flow if self._shown is None else None

    def open(self, kind: TextKind) -> None:
        """Begin a part of this kind, unless the current one is."""
        if kind != self.kind:
            self._begin(kind)

    def break_off(self) -> None:
        """End the current part: the next text begins a new one."""
        self.kind, self._shown, self.flow = None, None, None

    def _begin(self, kind: TextKind) -> None:
        self._texts += 1
        self.kind, self._part_id, self._said, self.flow = kind, f"p{self._texts}", 0, None
        part: Any = None
        if self._left:
            part = next((part for part in self._left.values() if part.get("id") == self._part_id), None)
        self._shown = part["content"] if part is not None and part["kind"] == kind else None
        # No text will ever be compared with it, so it counts as repeated now.
        if self._shown == "":
            self._skip_part()
        if part is not None and self._shown is None:
            self._begin_again(kind)
        elif part is None:
            part = {"kind": kind, "id": self._part_id, "content": ""}
            self._session.act(actions.response_part(self.turn_id, part))

    def _new_of(self, kind: TextKind, text: str) -> str:
        """Return the new rest of a text that may repeat what was shown."""
        shown = self._shown or ""
        if shown.startswith(text, self._said):
            self._said += len(text)
            if self._said == len(shown):
                self._skip_part()
            return ""
        said, rest = shown[: self._said], shown[self._said :]
        # Only the last part can grow: more text in an earlier one would come before what was shown after it.
        if text.startswith(rest) and self.parts[-1].get("id") == self._part_id:
            self._skip_part()
            self._shown = None
            return text[len(rest) :]
        self._begin_again(kind)
        # The new part has everything that this run said, also what agreed with the first one.
        return said + text

    def _skip_part(self) -> None:
        self._drop(lambda part: part.get("id") == self._part_id)

    def _begin_again(self, kind: TextKind) -> None:
        """Stop comparing text: this run says something else. Calls are still matched, as they were made."""
        self._left = {place: part for place, part in self._left.items() if part["kind"] == "toolCall"}
        # New parts must not get ids that parts of the first run have.
        self._texts = sum(part["kind"] in _TEXT_KINDS for part in self.parts)
        self.notify(BEGAN_AGAIN)
        self._begin(kind)

    def _give_up(self) -> None:
        """Stop comparing anything: this run does something else."""
        self.end_replay()
        self._texts = sum(part["kind"] in _TEXT_KINDS for part in self.parts)
        self._calls = len(tool_calls(self.parts))
        self.notify(BEGAN_AGAIN)

    def end_replay(self) -> None:
        """Expect no more repeats. Calls that were not repeated are abandoned."""
        left = tool_calls(list(self._left.values()))
        self.abandoned += [call["toolCallId"] for call in left]
        self._left.clear()

    def _drop(self, is_meant: Callable[[Any], bool]) -> bool:
        if not self._left:
            return False
        place = next((place for place, part in self._left.items() if is_meant(part)), None)
        if place is None:
            return False
        # Asides before this part that were not repeated are no longer expected.
        self._left = {
            other: part
            for other, part in self._left.items()
            if other > place or (other < place and part["kind"] not in _ASIDES)
        }
        return True

    def notify(self, text: str) -> None:
        """Add a notice for both agent and user."""
        self.break_off()
        # Our own notice is not a repetition of anything that the agent said.
        if text == BEGAN_AGAIN or not self._drop(lambda part: part["kind"] == "systemNotification"):
            self._add({"kind": "systemNotification", "content": text})

    def refer(self, reference: ContentRef) -> None:
        """Add a reference to content."""
        self._add({"kind": "contentRef", **reference})

    def was_referred(self) -> bool:
        """Return whether content was shown at this position before the restart. If so, skip it."""
        self.break_off()
        return self._drop(lambda part: part["kind"] == "contentRef")

    def _add(self, part: ResponsePart) -> None:
        self._session.act(actions.response_part(self.turn_id, part))

    def call(
        self,
        name: str,
        call_id: str | None,
        label: str,
        client_id: str | None,
        meta: JsonObject | None = None,
    ) -> str:
        """Begin a call, or find the one that it repeats. Return its id."""
        self.kind, self._shown, self.flow = None, None, None
        # Calls with an id are counted too: after a restart, only the number of all calls is known.
        if not self._mark:  # common to the ids of this turn's calls
            self._mark = blake2s(self.turn_id.encode(errors="replace"), digest_size=6).hexdigest()
        wanted = call_id or f"call_{self._mark}_{self._calls + 1}"
        self._calls += 1
        if self._left and self._drop(lambda part: _is_call(part, wanted, name)):
            call: Any = self.find_call(wanted)
            if call["status"] == "streaming":
                self._inputs[wanted] = _Streamed(call.get("partialInput", ""))
            return wanted
        known = self.find_call(wanted)
        if call_id is None and known is not None:
            self._give_up()  # not the same tool as last time
        # H3: an action changes every call with its id, so no two calls of a turn may share one.
        while known is not None and self.find_call(wanted) is not None:
            self._calls += 1
            wanted = f"call_{self._mark}_{self._calls}"
        self._inputs[wanted] = _Streamed("")
        self._session.act(
            actions.tool_call_start(
                self.turn_id, wanted, name=name, label=label, client_id=client_id, meta=meta
            )
        )
        return wanted

    def call_input(self, call_id: str, text: str) -> None:
        """Stream a piece of a call's input."""
        streamed = self._inputs.get(call_id)
        # Its input was complete before the restart, or differs from what was shown.
        if streamed is None:
            return
        said = streamed.said
        streamed.said += len(text)
        if said < len(streamed.shown):
            # A difference from last time is not shown: the whole input follows when the call is ready.
            rest = streamed.shown[said:]
            if not rest.startswith(text) and not text.startswith(rest):
                del self._inputs[call_id]
                return
            text = text[len(rest) :]
        if text:
            self._session.stream("chat/toolCallDelta", self.turn_id, call_id, text)

    def find_call(self, call_id: str) -> JsonObject | None:
        """Return a call of this turn from the state."""
        parts = self._session.chat["activeTurn"]["responseParts"]
        return find_call(parts, call_id)  # type: ignore[return-value] # used as a plain object


def _is_repeated(part: Any) -> bool:
    """Return whether an agent that is run again says this again. Questions are known by their ids."""
    return part["kind"] not in ("inputRequest", "error") and part.get("content") != BEGAN_AGAIN


def _is_call(part: ResponsePart, call_id: str, name: str) -> bool:
    if part["kind"] != "toolCall":
        return False
    return (part["toolCall"]["toolCallId"], part["toolCall"]["toolName"]) == (call_id, name)
