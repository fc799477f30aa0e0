"""A conversation: one chat of a session, until the user leaves it or switches to another."""

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from agenthost.cli.chat.approvals import ApprovalContext
from agenthost.cli.chat.attachments import Attachments
from agenthost.cli.chat.chats import describe_chat
from agenthost.cli.chat.commands import CommandContext, Commands
from agenthost.cli.chat.outcomes import Leave, Outcome, Switch
from agenthost.cli.chat.render.authorship import Authorship
from agenthost.cli.chat.render.events import EventReader
from agenthost.cli.chat.render.view import View
from agenthost.cli.chat.subagent_approvals import ApprovalTree
from agenthost.cli.chat.tasks import first_completed
from agenthost.cli.chat.terminal.paint import Painter
from agenthost.cli.chat.terminal.terminal import ChatTerminal
from agenthost.cli.chat.terminal.text import one_line
from agenthost.cli.exit_codes import INTERRUPTED
from agenthost.client.ahp import (
    AhpClient,
    AhpError,
    Change,
    Chat,
    ConnectionEvent,
    ConnectionLost,
    Gone,
    Rejected,
    Session,
)

__all__ = ["ChatContext", "Conversation"]

FRAME_SECONDS = 1 / 30
"""How long changes are collected before the screen is repainted."""

TICK_SECONDS = 0.1
"""How often the screen is repainted while a turn runs, even without changes."""

DOUBLE_PRESS_SECONDS = 2.0
"""Ctrl-C twice within this time leaves."""

MAX_TURNS_SHOWN = 5
"""How many turns of an existing session are shown at first."""


ASKING = ("chatInput", "toolConfirmation")
"""What a user can answer."""


@dataclass(slots=True)
class ChatContext:
    """The host and the terminal of a conversation.

    Attributes:
        approve_all: whether every call is allowed without asking.
        offered_attachments: the attachments of the completions that were offered, by the text they insert.
        on_enter: called with each chat before its conversation.
    """

    client: AhpClient
    terminal: ChatTerminal
    painter: Painter
    new_view: Callable[[Authorship], View]
    approve_all: bool
    offered_attachments: dict[str, Any] = field(default_factory=dict)
    on_enter: Callable[[Chat], None] = lambda _: None


class Conversation:
    """One chat at one terminal; `chat` is the session itself for its default chat."""

    def __init__(self, context: ChatContext, session: Session, chat: Chat) -> None:
        self._context = context
        self._client = context.client
        self._terminal = context.terminal
        self._session = session
        self._chat = chat
        self._channel = chat.chat_uri
        self._waiting: set[str] = set()
        self._authorship = Authorship(context.client.client_id)
        self.view = context.new_view(self._authorship)
        self._attachments = Attachments()
        self._reader = EventReader()
        self._changed = asyncio.Event()
        self._connection = ""
        self._queued: set[str] = set()
        self._interrupted = -DOUBLE_PRESS_SECONDS
        self._outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._tasks: set[asyncio.Task[None]] = set()
        self._approvals = ApprovalTree(self._approval_context(), chat, self._authorship)
        self._commands = Commands(self._command_context())

    def _approval_context(self) -> ApprovalContext:
        context = self._context
        return ApprovalContext(
            context.client, context.terminal, context.painter, self.view.note, context.approve_all
        )

    def _command_context(self) -> CommandContext:
        return CommandContext(
            client=self._client,
            session=self._session,
            chat=self._chat,
            terminal=self._terminal,
            painter=self._context.painter,
            view=self.view,
            attachments=self._attachments,
            show_history=self._show_history,
            stop_turn=self._stop_turn,
        )

    async def run(self) -> Outcome:
        """Converse until something ends it. Return what follows.

        Raises:
            AhpError: the host is gone.
        """
        unlisten = [self._chat.listen(self._on_change), self._client.listen(self._on_connection)]
        self._terminal.on_interrupt = self._interrupt
        try:
            await self._show_past(self._reader, MAX_TURNS_SHOWN, self.view)
            self._note_waiting_chats(self._session.confirmed.session)
            return await first_completed(
                self._show_changes(), self._approvals.run(), self._read_input(), self._wait_outcome()
            )
        except Gone:
            if not self._session.is_gone:
                self.view.fail("this chat no longer exists; here is the first one of its session")
                return Switch(self._session, self._session)
            self.view.fail("this session no longer exists")
            return Leave(1)
        finally:
            for stop in unlisten:
                stop()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await self.view.close()

    async def _wait_outcome(self) -> Outcome:
        return await self._outcome

    def end(self, outcome: Outcome) -> None:
        """End it with this outcome."""
        if not self._outcome.done():
            self._outcome.set_result(outcome)

    # Output

    def _on_change(self, change: Change) -> None:
        if change.channel == self._channel:
            self._authorship.record(change)
        elif change.kind in ("confirmed", "snapshot"):
            self._note_waiting_chats(change.after.session)
        self._changed.set()

    def _note_waiting_chats(self, session: Any) -> None:
        """Say once that another chat of the session waits for the user."""
        needed = {one["chat"] for one in session.get("inputNeeded", []) if one["kind"] in ASKING}
        for number, summary in enumerate(session["chats"], 1):
            uri = summary["resource"]
            if uri in needed - self._waiting and uri != self._channel:
                self.view.note(f"the chat {describe_chat(summary, session)} · :chats {number} switches to it")
        self._waiting = needed

    def _on_connection(self, event: ConnectionEvent) -> None:
        if isinstance(event, ConnectionLost):
            self._connection = "connection lost; reconnecting…"
            self.view.note(f"connection lost: {event.error}")
        elif self._connection:
            self._connection = ""
            self.view.note("reconnected")
        self._changed.set()

    async def _show_history(self, turns: int) -> None:
        """Show the last ended turns again, without disturbing a turn that runs."""
        await self._show_past(EventReader(), turns, self._context.new_view(self._authorship))

    async def _show_past(self, reader: EventReader, turns: int, view: View) -> None:
        chat: Any = self._chat.confirmed.chat
        state: Any = {key: value for key, value in chat.items() if key != "activeTurn"}
        skipped = reader.skip(state, turns)
        if skipped:
            view.note(f"… {skipped} earlier turn{'' if skipped == 1 else 's'}")
        view.is_replay = True
        for event in reader.read(state):
            await view.show(event)
        view.is_replay = False

    async def _show_changes(self) -> Outcome:
        """Show what is new, at most once per frame."""
        while True:
            state: Any = self._chat.confirmed.chat
            for event in self._reader.read(state):
                await self.view.show(event)
            self.view.update(self._chat.state, self._reader.unreported_calls(state), self._connection)
            await asyncio.sleep(FRAME_SECONDS)
            is_busy = "activeTurn" in state or bool(self._connection) or self.view.has_hint
            try:
                async with asyncio.timeout(TICK_SECONDS if is_busy else None):
                    await self._changed.wait()
            except TimeoutError:
                continue
            self._changed.clear()

    # Input

    async def _read_input(self) -> Outcome:
        while True:
            try:
                typed = await self._terminal.read_message()
            except EOFError:
                return Leave()
            if self._commands.is_command(typed):
                outcome = await self._commands.run(typed)
                if outcome is not None:
                    return outcome
            elif typed.strip():
                self._send(typed.removeprefix(":") if typed.startswith("::") else typed)
            self._changed.set()

    def _send(self, text: str) -> None:
        attachments = self._attachments.take(text, self._context.offered_attachments)
        self._spawn(self._send_or_queue(text, attachments))

    async def _send_or_queue(self, text: str, attachments: list[Any]) -> None:
        """Send a message now, or queue it behind the turn that runs."""
        try:
            if self._chat.active_turn is None:
                try:
                    await self._chat.send(text, attachments)
                except Rejected:
                    if self._chat.active_turn is None:
                        raise
                    await self._queue(text, attachments)  # another client was faster
            else:
                await self._queue(text, attachments)
        except AhpError as error:
            self.view.fail(f"not sent: {error}")
            self._terminal.put_back(text)
        except asyncio.CancelledError:
            if not self._client.is_connected:  # a user who leaves now should know
                self.view.fail(f"not sent: {one_line(text, 200)}")
            raise

    async def _queue(self, text: str, attachments: list[Any]) -> None:
        message_id = secrets.token_hex(8)
        self._queued.add(message_id)
        await self._chat.queue(text, attachments, message_id=message_id)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something in the background, and show its errors."""

        async def run() -> None:
            try:
                await work
            except (AhpError, ValueError) as error:
                self.view.fail(str(error))

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _interrupt(self) -> None:
        """Stop the turn; the second time, leave."""
        now = asyncio.get_running_loop().time()
        if now - self._interrupted < DOUBLE_PRESS_SECONDS:
            self.end(Leave(INTERRUPTED))
            return
        self._interrupted = now
        self._changed.set()
        if self._chat.is_gone or self._chat.active_turn is None:
            self.view.hint("press Ctrl-C again to leave, or Ctrl-D")
        else:
            self.view.hint("stopping; press Ctrl-C again to leave")
            self._spawn(self._stop_turn())

    async def _stop_turn(self) -> None:
        """Stop the turn that runs. The messages we queued behind it return to the input line."""
        queued: Any = self._chat.state.chat.get("queuedMessages", [])
        ours = [message for message in queued if message["id"] in self._queued]
        for message in ours:
            self._chat.unqueue(message["id"])
        if ours:
            self._terminal.put_back("\n".join(message["message"]["text"] for message in ours))
        try:
            await self._chat.cancel()
        except (ValueError, Rejected):
            if self._chat.active_turn is not None:
                raise  # else it has just ended by itself
