"""The view: the events of a session in colours, and below them what may still change."""

import time
from typing import Any, ClassVar

from agenthost.cli.chat.render.authorship import Authorship
from agenthost.cli.chat.render.calls import (
    content_blocks,
    describe_content,
    headline,
    outcome,
    succeeded,
    text_lines,
)
from agenthost.cli.chat.render.diffs import edit_lines, fetch_versions
from agenthost.cli.chat.render.events import (
    CallEnded,
    ContentAdded,
    Notice,
    SessionEvent,
    TextDelta,
    TextDone,
    TurnEnded,
    TurnsRemoved,
    TurnStarted,
)
from agenthost.cli.chat.render.markdown import MarkdownStream, ThoughtStream
from agenthost.cli.chat.render.outputs import TerminalOutputs
from agenthost.cli.chat.render.wording import describe_end, describe_usage, more_lines, session_id
from agenthost.cli.chat.terminal.paint import Painter
from agenthost.cli.chat.terminal.terminal import ChatTerminal
from agenthost.cli.chat.terminal.text import one_line
from agenthost.client.ahp import AhpClient
from agenthost.core.conversation import Conversation
from agenthost.core.queries import error_of
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.ahp.message import attachment_label

__all__ = ["View"]

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
SPINS_PER_SECOND = 10
HINT_SECONDS = 2.0
MAX_RESULT_LINES = 8
MAX_OUTPUT_LINES = 6


class View:
    """Shows one session.

    Attributes:
        is_replay: whether the events are old. Then no file versions are fetched for them.
    """

    marks: ClassVar[dict[str, str]] = {
        "note": "·",
        "success": "✓",
        "failure": "✗",
        "stopped": "■",
        "content": "▤",
        "agent": "↳",
    }

    def __init__(
        self, client: AhpClient, terminal: ChatTerminal, painter: Painter, authorship: Authorship
    ) -> None:
        self._client = client
        self._terminal = terminal
        self._painter = painter
        self._authorship = authorship
        self._stream: MarkdownStream | ThoughtStream | None = None
        self._stream_count = 0
        self._last_kind = ""
        self._last_error = ""
        self._hint = ("", 0.0)
        self._started: dict[str, float] = {}
        self._outputs = TerminalOutputs(client)
        self.is_replay = False

    # Final output

    async def show(self, event: SessionEvent) -> None:
        """Show an event."""
        last_error, self._last_error = self._last_error, ""
        match event:
            case TurnStarted():
                self._show_message(event)
            case TextDelta():
                self._show_delta(event)
            case TextDone():
                self._end_stream()
            case CallEnded():
                await self._show_call(event.call)
            case Notice():
                self.note(event.text)
            case ContentAdded():
                self._print("note", self._marked("content", describe_content(event.ref), "dim"))
            case TurnEnded():
                self._show_end(event.turn, last_error)
            case TurnsRemoved():
                self._end_stream()
                turns = "turn was" if event.count == 1 else "turns were"
                self.note(f"{event.count} {turns} removed from the session")

    def note(self, text: str) -> None:
        """Show a remark."""
        self._print("note", self._marked("note", text, "dim"))

    @property
    def has_hint(self) -> bool:
        """Whether a hint is shown, which has to be removed in time."""
        return bool(self._hint[0])

    def hint(self, text: str) -> None:
        """Show a remark for a moment."""
        self._hint = (text, time.monotonic() + HINT_SECONDS)

    def fail(self, text: str) -> None:
        """Show an error."""
        self._print("note", self._marked("failure", text, "red"))

    def _marked(self, mark: str, text: str, style: str, mark_style: str | None = None) -> list[str]:
        return self._painter.marked(
            self.marks[mark], text, style, mark_style=style if mark_style is None else mark_style
        )

    def print_lines(self, lines: list[str]) -> None:
        """Print painted lines, set off from the rest."""
        self._print("lines", [*lines, ""])
        self._last_kind = ""

    def _print(self, kind: str, lines: list[str]) -> None:
        """Print lines, after an empty one if the kind changes."""
        is_apart = self._last_kind != "" and (self._last_kind != kind or kind in ("message", "lines"))
        self._terminal.print_lines(["", *lines] if is_apart else lines)
        self._last_kind = kind

    def _show_message(self, event: TurnStarted) -> None:
        self._end_stream()
        other = self._authorship.other_client("turn", event.turn_id)
        mark = f"{other}>" if other else ">"
        text = event.message["text"]
        lines = self._painter.marked(mark, text, "bold", mark_style="magenta" if other else "bold cyan")
        for attachment in event.message.get("attachments", []):
            lines += self._painter.text(f"+ {attachment_label(attachment)}", "dim", indent=2)
        self._print("message", lines)

    def _show_delta(self, delta: TextDelta) -> None:
        stream_class = MarkdownStream if delta.kind == "text" else ThoughtStream
        if not isinstance(self._stream, stream_class):
            self._end_stream()
            self._stream = stream_class(self._painter)
            self._stream_count += 1
        self._stream.feed(delta.text)
        if lines := self._stream.flush(max(3, self._terminal.max_live_rows - 2)):
            self._print(self._stream_kind, lines)

    @property
    def _stream_kind(self) -> str:
        """The kind of the lines of this stream: its own, so that an empty line sets it off from the last."""
        return f"text {self._stream_count}"

    def _end_stream(self) -> None:
        if self._stream is not None:
            if rest := self._stream.finish():
                self._print(self._stream_kind, rest)
            self._stream = None

    async def _show_call(self, call: Any) -> None:
        if succeeded(call):
            lines = self._marked("success", outcome(call), "", "green")
        else:
            lines = self._marked("failure", outcome(call), "red")
            self._last_error = call.get("error", {}).get("message", "")
        texts = text_lines(call)
        for line in texts[:MAX_RESULT_LINES]:
            lines += self._painter.text(line, "dim", indent=2)
        if len(texts) > MAX_RESULT_LINES:
            lines += self._painter.text(more_lines(len(texts) - MAX_RESULT_LINES), "dim italic", indent=2)
        for edit in content_blocks(call, "fileEdit"):
            versions = None if self.is_replay else await fetch_versions(self._client, edit)
            lines += edit_lines(self._painter, edit, versions)
        for block in content_blocks(call, "subagent"):
            lines += self._subagent_lines(block)
        for block in [*content_blocks(call, "resource"), *content_blocks(call, "embeddedResource")]:
            text = f"{self.marks['content']} {describe_content(block)}"
            lines += self._painter.text(text, "dim", indent=2)
        self._outputs.forget(call)
        self._print("call", lines)

    def _subagent_lines(self, block: Any) -> list[str]:
        name = f"{block['agentName']}: " if block.get("agentName") else ""
        session = session_id(block["resource"])[:8]
        text = f"{self.marks['agent']} {name}{block['title']} (session {session})"
        return self._painter.text(one_line(text, 200), "dim", indent=2)

    def _show_end(self, turn: Any, last_error: str) -> None:
        """Show how a turn ended, without repeating the error of the call right above."""
        self._end_stream()
        self._started.pop(turn["id"], None)
        if sentence := describe_end(turn, self._authorship.other_client("end", turn["id"])):
            self._print("note", self._marked("stopped", sentence, "yellow"))
        if (error := error_of(turn)) and error["message"] != last_error:
            self.fail(error["message"])
        if usage := describe_usage(turn.get("usage")):
            self._terminal.print_lines(self._painter.text(usage, "dim", indent=2))
        self._terminal.print_lines([""])
        self._last_kind = ""

    # Output that may still change

    def update(self, state: Conversation, calls: list[Any], connection: str) -> None:
        """Repaint the text and the calls that are not final, and the status.

        `connection` is the status to show instead while the connection is lost.
        """
        lines = []
        if self._stream is not None and (preview := self._stream.preview()):
            lines += ["", *preview] if self._last_kind not in ("", self._stream_kind) else preview
        if len(calls) == 1 and calls[0]["status"].startswith("pending"):
            calls = []  # the prompt right below shows it
        if calls:
            lines += [
                *([""] if self._last_kind or lines else []),
                *(row for call in calls for row in self._open_call_lines(call)),
            ]
        lines += self._pending_message_lines(state.chat)
        if time.monotonic() >= self._hint[1]:
            self._hint = ("", 0.0)
        self._terminal.update(lines, connection or self._hint[0] or self._status(state))

    def _open_call_lines(self, call: Any) -> list[str]:
        if call["status"].startswith("pending"):
            return self._painter.marked("?", headline(call), mark_style="yellow")
        lines = self._painter.marked(self._spinner(), headline(call), mark_style="cyan")
        shown = [*text_lines(call), *self._outputs.lines(call)][-MAX_OUTPUT_LINES:]
        for block in content_blocks(call, "subagent"):
            lines += self._subagent_lines(block)
        return lines + [row for line in shown for row in self._painter.text(line, "dim", indent=2)]

    def _pending_message_lines(self, state: Any) -> list[str]:
        steering = state.get("steeringMessage")
        pending = [("steering", steering)] if steering else []
        pending += [("queued", message) for message in state.get("queuedMessages", [])]
        width = self._painter.width
        rows = [f"{kind}: {one_line(one['message']['text'], width - 12)}" for kind, one in pending]
        return [line for row in rows for line in self._painter.text(row, "dim", indent=2)]

    def _status(self, state: Conversation) -> str:
        session, chat = state
        turn = chat.get("activeTurn")
        if turn is None:
            return ""
        started = self._started.setdefault(turn["id"], time.monotonic())
        seconds = f"{time.monotonic() - started:.0f} s"
        if int(chat["status"]) & SessionStatus.INPUT_NEEDED == SessionStatus.INPUT_NEEDED:
            return f"waiting for you · {seconds}"
        words = [seconds]
        if activity := session.get("activity") or chat.get("activity"):
            words.append(one_line(activity, 60))
        return f"{self._spinner()} {' · '.join(words)} · Ctrl-C stops"

    def _spinner(self) -> str:
        return SPINNER[int(time.monotonic() * SPINS_PER_SECOND) % len(SPINNER)]

    async def close(self) -> None:
        """Stop watching outputs."""
        await self._outputs.close()
