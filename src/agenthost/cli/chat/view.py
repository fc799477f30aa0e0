"""The view: a session's story in colours, on a terminal that can paint a part of itself again."""

import asyncio
import time
from typing import Any, ClassVar

from agenthost.cli.chat.calls import blocks_of, headline, is_well, outcome, sized, texts_of
from agenthost.cli.chat.diffs import edit_lines, fetch_versions
from agenthost.cli.chat.face import Face
from agenthost.cli.chat.hearing import Hearing
from agenthost.cli.chat.markdown import Answer, Thought
from agenthost.cli.chat.outputs import Outputs
from agenthost.cli.chat.painting import Painter, one_line
from agenthost.cli.chat.story import Called, Cut, Ended, Event, Over, Piece, Said, Shown, Told
from agenthost.cli.chat.wording import ended, id_of, used
from agenthost.client.ahp import AhpClient
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.ahp.message import label_of

__all__ = ["View"]

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
SPINS_PER_SECOND = 10
HINT_SECONDS = 2.0
MOST_RESULT_LINES = 8
MOST_LIVE_LINES = 6


class View:
    """Shows one session.

    Attributes:
        is_past: whether what is told happened before: then nothing is fetched for it.
    """

    marks: ClassVar[dict[str, str]] = {
        "note": "·",
        "well": "✓",
        "badly": "✗",
        "stopped": "■",
        "content": "▤",
        "agent": "↳",
    }

    def __init__(self, client: AhpClient, face: Face, painter: Painter, hearing: Hearing) -> None:
        self._client = client
        self._face = face
        self._painter = painter
        self._hearing = hearing
        self._flow: Answer | Thought | None = None
        self._flows = 0
        self._last = ""
        self._last_error = ""
        self._hint = ("", 0.0)
        self._began: dict[str, float] = {}
        self._outputs = Outputs(client)
        self.is_past = False

    # What stays

    async def tell(self, event: Event) -> None:
        """Show what happened."""
        last_error, self._last_error = self._last_error, ""
        match event:
            case Said():
                self._said(event)
            case Piece():
                self._grow(event)
            case Over():
                self._end_flow()
            case Called():
                await self._called(event.call)
            case Told():
                self._put("note", self._marked("note", event.text, "dim"))
            case Shown():
                self._put("note", self._marked("content", sized(event.ref), "dim"))
            case Ended():
                self._ended(event.turn, last_error)
            case Cut():
                self._end_flow()
                turns = "turn was" if event.turns == 1 else "turns were"
                self.note(f"{event.turns} {turns} taken out of the session")

    def note(self, text: str, style: str = "dim") -> None:
        """Say something of the chat itself."""
        self._put("note", self._marked("note", text, style))

    @property
    def is_hinting(self) -> bool:
        """Whether a hint is shown that will have to go."""
        return bool(self._hint[0])

    def hint(self, text: str) -> None:
        """Say something that matters for a moment only."""
        self._hint = (text, time.monotonic() + HINT_SECONDS)

    def fail(self, text: str) -> None:
        """Say that something did not go well."""
        self._put("note", self._marked("badly", text, "red"))

    def _marked(self, mark: str, text: str, style: str, mark_style: str | None = None) -> list[str]:
        return self._painter.marked(
            self.marks[mark], text, style, mark_style=style if mark_style is None else mark_style
        )

    def lines(self, lines: list[str]) -> None:
        """Show lines that are painted already."""
        self._put("lines", [*lines, ""])
        self._last = ""

    def _put(self, kind: str, lines: list[str]) -> None:
        """Print, with an empty line before what is of another kind."""
        is_apart = self._last != "" and (self._last != kind or kind in ("said", "lines"))
        self._face.show(["", *lines] if is_apart else lines)
        self._last = kind

    def _said(self, event: Said) -> None:
        self._end_flow()
        who = self._hearing.other("turn", event.turn_id)
        mark = f"{who}>" if who else ">"
        text = event.message["text"]
        lines = self._painter.marked(mark, text, "bold", mark_style="magenta" if who else "bold cyan")
        for attachment in event.message.get("attachments", []):
            lines += self._painter.text(f"+ {label_of(attachment)}", "dim", indent=2)
        self._put("said", lines)

    def _grow(self, piece: Piece) -> None:
        kind = Answer if piece.kind == "text" else Thought
        if not isinstance(self._flow, kind):
            self._end_flow()
            self._flow = kind(self._painter)
            self._flows += 1
        self._flow.feed(piece.text)
        if done := self._flow.settle(max(3, self._face.room - 2)):
            self._put(self._flow_kind, done)

    @property
    def _flow_kind(self) -> str:
        """What this text is called: each is of a kind of its own, apart from the one before."""
        return f"text {self._flows}"

    def _end_flow(self) -> None:
        if self._flow is not None:
            if rest := self._flow.end():
                self._put(self._flow_kind, rest)
            self._flow = None

    async def _called(self, call: Any) -> None:
        if is_well(call):
            lines = self._marked("well", outcome(call), "", "green")
        else:
            lines = self._marked("badly", outcome(call), "red")
            self._last_error = call.get("error", {}).get("message", "")
        texts = texts_of(call)
        for line in texts[:MOST_RESULT_LINES]:
            lines += self._painter.text(line, "dim", indent=2)
        if len(texts) > MOST_RESULT_LINES:
            lines += self._painter.text(
                f"… {len(texts) - MOST_RESULT_LINES} more lines", "dim italic", indent=2
            )
        for edit in blocks_of(call, "fileEdit"):
            versions = None if self.is_past else await fetch_versions(self._client, edit)
            lines += edit_lines(self._painter, edit, versions)
        for block in blocks_of(call, "subagent"):
            lines += self._subagent(block)
        for block in [*blocks_of(call, "resource"), *blocks_of(call, "embeddedResource")]:
            lines += self._painter.text(f"{self.marks['content']} {sized(block)}", "dim", indent=2)
        self._outputs.forget(call)
        self._put("call", lines)

    def _subagent(self, block: Any) -> list[str]:
        name = f"{block['agentName']}: " if block.get("agentName") else ""
        words = f"{self.marks['agent']} {name}{block['title']} (session {id_of(block['resource'])[:8]})"
        return self._painter.text(one_line(words, 200), "dim", indent=2)

    def _ended(self, turn: Any, last_error: str) -> None:
        """Show how a turn ended; not the error of a call again that is shown right above."""
        self._end_flow()
        self._began.pop(turn["id"], None)
        if sentence := ended(turn, self._hearing.other("end", turn["id"])):
            self._put("note", self._marked("stopped", sentence, "yellow"))
        if (error := turn.get("error")) and error["message"] != last_error:
            self._put("note", self._marked("badly", error["message"], "red"))
        if usage := used(turn.get("usage")):
            self._face.show(self._painter.text(usage, "dim", indent=2))
        self._face.show([""])
        self._last = ""

    # What changes

    def live(self, state: Any, calls: list[Any], trouble: str) -> None:
        """Paint what is not final, and what goes on."""
        lines = []
        if self._flow is not None and (flow := self._flow.live()):
            lines += ["", *flow] if self._last not in ("", self._flow_kind) else flow
        if len(calls) == 1 and calls[0]["status"].startswith("pending"):
            calls = []  # it is asked for right below
        if calls:
            lines += [
                *([""] if self._last or lines else []),
                *(row for one in calls for row in self._open(one)),
            ]
        lines += self._waiting(state)
        if time.monotonic() >= self._hint[1]:
            self._hint = ("", 0.0)
        self._face.live(lines, trouble or self._hint[0] or self._status(state))

    def _open(self, call: Any) -> list[str]:
        if call["status"].startswith("pending"):
            return self._painter.marked("?", headline(call), mark_style="yellow")
        lines = self._painter.marked(self._spin(), headline(call), mark_style="cyan")
        shown = [*texts_of(call), *self._outputs.lines(call)][-MOST_LIVE_LINES:]
        for block in blocks_of(call, "subagent"):
            lines += self._subagent(block)
        return lines + [row for line in shown for row in self._painter.text(line, "dim", indent=2)]

    def _waiting(self, state: Any) -> list[str]:
        """Show the messages that wait for their turn."""
        steering = state.get("steeringMessage")
        waiting = [("steers", steering)] if steering else []
        waiting += [("queued", message) for message in state.get("queuedMessages", [])]
        width = self._painter.width
        rows = [f"{word}: {one_line(one['userMessage']['text'], width - 12)}" for word, one in waiting]
        return [line for row in rows for line in self._painter.text(row, "dim", indent=2)]

    def _status(self, state: Any) -> str:
        turn = state.get("activeTurn")
        if turn is None:
            return ""
        began = self._began.setdefault(turn["id"], time.monotonic())
        seconds = f"{time.monotonic() - began:.0f} s"
        if int(state["summary"]["status"]) & SessionStatus.INPUT_NEEDED == SessionStatus.INPUT_NEEDED:
            return f"waiting for you · {seconds}"
        words = [seconds]
        if activity := state["summary"].get("activity"):
            words.append(one_line(activity, 60))
        return f"{self._spin()} {' · '.join(words)} · Ctrl-C stops"

    def _spin(self) -> str:
        return SPINNER[int(time.monotonic() * SPINS_PER_SECOND) % len(SPINNER)]

    async def close(self) -> None:
        """Listen to no outputs any more."""
        await self._outputs.close()
        await asyncio.sleep(0)
