"""A piped chat: one message from standard input, its answer to standard output, and no user to ask."""

import asyncio
import sys
from contextlib import suppress
from typing import Any

from agenthost.cli.chat.options import ChatOptions
from agenthost.cli.chat.render.calls import headline, outcome
from agenthost.cli.chat.render.events import (
    CallEnded,
    EventReader,
    Notice,
    SessionEvent,
    TextDelta,
    TextDone,
    TurnEnded,
)
from agenthost.cli.chat.sessions import open_session, resume_hint
from agenthost.cli.exit_codes import UNFINISHED
from agenthost.cli.terminal_text import printable
from agenthost.client.ahp import AhpClient, AhpError, Gone, Session, stop_reason_of
from agenthost.core.queries import error_of
from agenthost.core.stop_reasons import STOP_SENTENCES

__all__ = ["answer_piped"]

NOBODY = "there is nobody at the terminal who could allow it"
STOP_SECONDS = 2.0


async def answer_piped(client: AhpClient, options: ChatOptions, text: str) -> int:
    """Send a message, and print only its answer. Return the exit code.

    Raises:
        AhpError: there is no answer.
        ValueError: there are several agents to choose from.
    """
    session, _ = await open_session(client, options)
    pipe = _Pipe(session, approve_all=options.approve_all)
    try:
        return await pipe.send(text)
    except asyncio.CancelledError:
        await pipe.stop()
        raise
    finally:
        pipe.end_line()
        print(resume_hint(options.url, session.uri), file=sys.stderr)


class _Pipe:
    """A session whose answer goes to a pipe. Thoughts and tool calls are shown only on a terminal."""

    def __init__(self, session: Session, *, approve_all: bool) -> None:
        self._session = session
        self._approve_all = approve_all
        self._reader = EventReader()
        self._is_at_line_start = True

    async def send(self, text: str) -> int:
        """Send the message, and print its answer until the turn ends. Return the exit code."""
        self._reader.skip(self._session.confirmed.chat, 0)
        changes = self._session.changes()
        try:
            turn_id = await self._session.send(text)
            async for _ in changes:
                if changes.has_more:
                    continue
                if (turn := self._print_new(turn_id)) is not None:
                    return self._finish(turn)
                await self._resolve_pending()
        finally:
            changes.close()
        raise self._session.error or Gone("the session no longer exists")

    async def stop(self) -> None:
        """Stop the turn."""
        with suppress(AhpError, ValueError, TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await self._session.cancel()

    def _print_new(self, turn_id: str) -> Any:
        """Print what is new. Return the turn if it has ended."""
        for event in self._reader.read(self._session.confirmed.chat):
            if isinstance(event, TurnEnded) and event.turn["id"] == turn_id:
                return event.turn
            self._print(event)
        return None

    def _print(self, event: SessionEvent) -> None:
        match event:
            case TextDelta("text", text):
                self._write(text)
            case TextDone():
                self.end_line()
            case TextDelta("thought", text) if sys.stderr.isatty():
                print(printable(text, sys.stderr), end="", file=sys.stderr, flush=True)
            case CallEnded(call) if sys.stderr.isatty():
                print(outcome(call), file=sys.stderr)
            case Notice(text) if text not in STOP_SENTENCES.values():
                print(f"agenthost: {printable(text, sys.stderr)}", file=sys.stderr)

    async def _resolve_pending(self) -> None:
        """Deny what waits for a user, unless everything is allowed; decline questions in any case."""
        for call in self._session.open_calls:
            if self._approve_all:
                await self._session.approve(call)
            else:
                self._report_denied(headline(call))
                await self._session.deny(call, NOBODY)
        for call in self._session.held_results:
            if not self._approve_all:
                self._report_denied(f"the result of {headline(call)}")
            await self._session.confirm_result(call, approved=self._approve_all)
        for request in self._session.requests:
            print(
                "agenthost: the agent's questions were declined, as there is no terminal to ask at",
                file=sys.stderr,
            )
            await self._session.decline(request)

    def _report_denied(self, what: str) -> None:
        sentence = "denied, as there is no terminal to ask at; add --yes to allow every call"
        print(f"agenthost: {printable(what, sys.stderr)}: {sentence}", file=sys.stderr)

    def _finish(self, turn: Any) -> int:
        self.end_line()
        reason = stop_reason_of(turn)
        if turn["state"] == "complete" and reason is None:
            return 0
        error = error_of(turn)
        sentences = {
            "error": UNFINISHED["error"] if error is None else error["message"],
            "cancelled": "the turn was stopped",
        }
        sentence = sentences.get(turn["state"]) or UNFINISHED[str(reason)]
        print(f"agenthost: {printable(sentence, sys.stderr)}", file=sys.stderr)
        return 1

    def end_line(self) -> None:
        """End the line that is being written."""
        if not self._is_at_line_start:
            self._write("\n")

    def _write(self, text: str) -> None:
        self._is_at_line_start = text.endswith("\n")
        sys.stdout.write(printable(text, sys.stdout))
        sys.stdout.flush()
