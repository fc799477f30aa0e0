"""Output: what an agent says becomes parts and deltas; what it says again after a restart is not shown twice.

An agent that is run again says again what it said before. Parts and calls are counted, so the same place
in its run has the same id: what the state already holds under that id is passed over, and what goes on
from there is new. An agent that says something else this time is not hushed up: people are told, and it
goes on in a new part. Knows the parts of a running turn; what becomes of calls is the business of `calls`.
"""

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2s
from typing import Any, Literal, TypeAlias

from agenthost.host.packing import Run
from agenthost.host.session import Session
from agenthost.wire.ahp.common import ContentRef
from agenthost.wire.ahp.turn import ResponsePart
from agenthost.wire.json import JsonObject

Kind: TypeAlias = Literal["markdown", "reasoning"]

_ASIDES = {"systemNotification", "contentRef"}
"""Parts beside the answer: known again by their order alone, as their content may differ each time."""

BEGAN_AGAIN = "The host was restarted, and the agent began this part of its answer again."

_TEXT_KINDS = {
    "markdown": "session/delta",
    "reasoning": "session/reasoning",
}


@dataclass(slots=True)
class _Streamed:
    """The input of a call that streams: what was shown of it before a restart, and how much came since."""

    shown: str
    said: int = 0


class Output:
    """The parts of one running turn. `start` is the part that the run begins with, after a restart.

    Attributes:
        abandoned: calls that were begun before the restart and that nobody asks for any more.
        flow: where new text of `kind` goes, as long as it is the flow of the session; see `Session.stream`.
        kind: the kind of the part that text goes to at the moment.
    """

    def __init__(self, session: Session, turn_id: str, start: int = 0) -> None:
        self._session = session
        self._uri = session.row.uri
        self._turn_id = turn_id
        self._texts = self._calls = 0
        # What was shown before the restart and has not been said again yet, by its place.
        self._left: dict[int, ResponsePart] = {}
        if parts := self.parts:
            self._texts = sum(part["kind"] in _TEXT_KINDS for part in parts[:start])
            self._calls = sum(part["kind"] == "toolCall" for part in parts[:start])
            shown = enumerate(parts[start:], start)
            self._left = {place: part for place, part in shown if part.get("content") != BEGAN_AGAIN}
        self.flow: Run | None = None
        self.kind: Kind | None = None
        self._part_id = ""
        self._shown: str | None = None  # the text of this part as it was shown, while it is said again
        self._said = 0  # how much of that was said again
        self._inputs: dict[str, _Streamed] = {}
        self.abandoned: list[str] = []

    @cached_property
    def _mark(self) -> str:
        """What the ids of this turn's calls have in common; most turns have no calls."""
        return blake2s(self._turn_id.encode(errors="replace"), digest_size=6).hexdigest()

    @property
    def parts(self) -> list[ResponsePart]:
        """All parts of the turn so far."""
        return self._session.state["activeTurn"]["responseParts"]

    @property
    def part_id(self) -> str:
        """The id of the part that text goes to at the moment."""
        return self._part_id

    @property
    def is_replaying(self) -> bool:
        """Whether something that was shown before a restart has still to be said again."""
        return bool(self._left)

    @property
    def place(self) -> int:
        """The place of the first part that has still to be said again, or of the next new one."""
        return min(self._left, default=len(self.parts))

    def say(self, kind: Kind, text: str) -> None:
        """Let text appear, in a part of this kind."""
        if not text:
            return
        if kind != self.kind:
            self._begin(kind)
        if self._shown is not None:
            text = self._new_of(kind, text)
        if text:
            flow = self._session.stream(_TEXT_KINDS[kind], self._turn_id, self._part_id, text)
            self.flow = flow if self._shown is None else None

    def open(self, kind: Kind) -> None:
        """Begin a part of this kind, unless text goes to one already."""
        if kind != self.kind:
            self._begin(kind)

    def break_off(self) -> None:
        """Let the next text begin a new part."""
        self.kind, self._shown, self.flow = None, None, None

    def _begin(self, kind: Kind) -> None:
        self._texts += 1
        self.kind, self._part_id, self._said, self.flow = kind, f"p{self._texts}", 0, None
        part: Any = next((part for part in self._left.values() if part.get("id") == self._part_id), None)
        self._shown = part["content"] if part is not None and part["kind"] == kind else None
        if self._shown == "":
            self._pass_over()
        if part is not None and self._shown is None:
            self._begin_anew(kind)
        elif part is None:
            self._add({"kind": kind, "id": self._part_id, "content": ""})

    def _new_of(self, kind: Kind, text: str) -> str:
        """Give what is new of a text that may have been said before."""
        shown = self._shown or ""
        if shown.startswith(text, self._said):
            self._said += len(text)
            if self._said == len(shown):
                self._pass_over()
            return ""
        said, rest = shown[: self._said], shown[self._said :]
        if text.startswith(rest) and self.parts[-1].get("id") == self._part_id:
            self._pass_over()
            self._shown = None
            return text[len(rest) :]
        self._begin_anew(kind)
        return said + text

    def _pass_over(self) -> None:
        self._drop(lambda part: part.get("id") == self._part_id)

    def _begin_anew(self, kind: Kind) -> None:
        """Compare words no more: this run says something else. What it calls was still done before."""
        self._left = {place: part for place, part in self._left.items() if part["kind"] == "toolCall"}
        self._texts = sum(part["kind"] in _TEXT_KINDS for part in self.parts)
        self.notify(BEGAN_AGAIN)
        self._begin(kind)

    def _give_up(self) -> None:
        """Compare nothing any more: this run does something else."""
        self.end_replay()
        self._texts = sum(part["kind"] in _TEXT_KINDS for part in self.parts)
        self._calls = sum(part["kind"] == "toolCall" for part in self.parts)
        self.notify(BEGAN_AGAIN)

    def end_replay(self) -> None:
        """Expect nothing more to be said again; calls that were not asked for again are given up."""
        left = [part["toolCall"] for part in self._left.values() if part["kind"] == "toolCall"]
        self.abandoned += [call["toolCallId"] for call in left]
        self._left.clear()

    def _drop(self, is_meant: Any) -> bool:
        place = next((place for place, part in self._left.items() if is_meant(part)), None)
        if place is None:
            return False
        # Asides before it that were not repeated are not waited for.
        self._left = {
            other: part
            for other, part in self._left.items()
            if other > place or (other < place and part["kind"] not in _ASIDES)
        }
        return True

    def notify(self, text: str) -> None:
        """Let a word to both agent and user appear."""
        self.break_off()
        if text == BEGAN_AGAIN or not self._drop(lambda part: part["kind"] == "systemNotification"):
            self._add({"kind": "systemNotification", "content": text})

    def refer(self, reference: ContentRef) -> None:
        """Let content by reference appear."""
        self._add({"kind": "contentRef", **reference})

    def was_referred(self) -> bool:
        """Tell whether content was shown at this place before the restart; it is then passed over."""
        self.break_off()
        return self._drop(lambda part: part["kind"] == "contentRef")

    def _add(self, part: Any) -> None:
        self._session.act(
            {"type": "session/responsePart", "session": self._uri, "turnId": self._turn_id, "part": part}
        )

    def call(
        self,
        name: str,
        call_id: str | None,
        label: str,
        client_id: str | None,
        meta: JsonObject | None = None,
    ) -> str:
        """Let a call begin, or find the one that began before the restart. Gives its id."""
        self.break_off()
        # Those that bring an id are counted too: after a restart, a count of all calls is what there is.
        wanted = call_id or f"call_{self._mark}_{self._calls + 1}"
        self._calls += 1
        if self._drop(lambda part: _is_call(part, wanted, name)):
            call: Any = self.find_call(wanted)
            if call["status"] == "streaming":
                self._inputs[wanted] = _Streamed(call.get("partialInput", ""))
            return wanted
        if call_id is None and self.find_call(wanted) is not None:
            self._give_up()  # another tool than last time
        while self.find_call(wanted) is not None:
            self._calls += 1
            wanted = f"call_{self._mark}_{self._calls}"
        self._inputs[wanted] = _Streamed("")
        start: Any = self.on_call("toolCallStart", wanted, toolName=name, displayName=label)
        if client_id is not None:
            start["toolClientId"] = client_id
        if meta is not None:
            start["_meta"] = meta
        self._session.act(start)
        return wanted

    def call_input(self, call_id: str, text: str) -> None:
        """Let the input of a call appear as it comes."""
        streamed = self._inputs.get(call_id)
        if streamed is None:
            return
        said = streamed.said
        streamed.said += len(text)
        if said < len(streamed.shown):
            # What differs from last time is not shown: the whole input comes when the call is ready.
            rest = streamed.shown[said:]
            if not rest.startswith(text) and not text.startswith(rest):
                del self._inputs[call_id]
                return
            text = text[len(rest) :]
        if text:
            self._session.stream("session/toolCallDelta", self._turn_id, call_id, text)

    def find_call(self, call_id: str) -> JsonObject | None:
        """Give a call of this turn, as the state has it."""
        for part in reversed(self.parts):
            if part["kind"] == "toolCall" and part["toolCall"]["toolCallId"] == call_id:
                return part["toolCall"]  # type: ignore[return-value] # read as a plain object
        return None

    def place_of(self, call_id: str) -> int:
        """Give the place of a call among the parts."""
        return next(
            place
            for place, part in enumerate(self.parts)
            if part["kind"] == "toolCall" and part["toolCall"]["toolCallId"] == call_id
        )

    def on_call(self, kind: str, call_id: str, **fields: Any) -> Any:
        """Make an action on a call of this turn."""
        return {
            "type": f"session/{kind}",
            "session": self._uri,
            "turnId": self._turn_id,
            "toolCallId": call_id,
            **fields,
        }


def _is_call(part: ResponsePart, call_id: str, name: str) -> bool:
    if part["kind"] != "toolCall":
        return False
    return (part["toolCall"]["toolCallId"], part["toolCall"]["toolName"]) == (call_id, name)
