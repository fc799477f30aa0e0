"""The view for a plain terminal: text is printed as it arrives, without colours or unusual characters."""

from typing import Any, ClassVar

from agenthost.cli.chat.render.authorship import Authorship
from agenthost.cli.chat.render.calls import headline
from agenthost.cli.chat.render.events import TextDelta, TurnStarted
from agenthost.cli.chat.render.view import View
from agenthost.cli.chat.terminal.paint import Painter
from agenthost.cli.chat.terminal.plain import PlainTerminal
from agenthost.client.ahp import AhpClient
from agenthost.core.conversation import Conversation

__all__ = ["PlainView"]


class PlainView(View):
    """Shows one session on a plain terminal."""

    marks: ClassVar[dict[str, str]] = {
        "note": "-",
        "success": "+",
        "failure": "!",
        "stopped": "!",
        "content": "-",
        "agent": "->",
    }

    def __init__(
        self, client: AhpClient, terminal: PlainTerminal, painter: Painter, authorship: Authorship
    ) -> None:
        super().__init__(client, terminal, painter, authorship)
        self._plain = terminal
        self._announced: set[str] = set()
        self._is_streaming = False

    def hint(self, text: str) -> None:
        """Print it: it cannot be removed again."""
        self.note(text)

    def _show_message(self, event: TurnStarted) -> None:
        # The terminal has echoed what was typed here.
        if self.is_replay or not self._authorship.is_ours("turn", event.turn_id):
            super()._show_message(event)

    def _show_delta(self, delta: TextDelta) -> None:
        if not self._is_streaming:
            self._plain.print_lines([""] if self._last_kind else [])
            self._plain.write("(thinking) " if delta.kind == "thought" else "")
        self._is_streaming, self._last_kind = True, delta.kind
        self._plain.write(delta.text)

    def _end_stream(self) -> None:
        if self._is_streaming:
            self._is_streaming = False
            self._plain.print_lines([])

    def update(self, state: Conversation, calls: list[Any], connection: str) -> None:
        """Print each call once when it starts to run, and pass on whether something is going on."""
        for call in calls:
            if call["status"] == "running" and call["toolCallId"] not in self._announced:
                self._announced.add(call["toolCallId"])
                self._end_stream()
                self._plain.print_lines([f"… {headline(call)}"])
        self._plain.update((), connection or ("busy" if "activeTurn" in state.chat else ""))
