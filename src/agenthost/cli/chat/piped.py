"""Piped: one message from the standard input, its answer on the standard output, and nobody to ask."""

import asyncio
import sys
from contextlib import suppress
from typing import Any

from agenthost.cli.chat.calls import headline, outcome
from agenthost.cli.chat.opening import Wish, open_session
from agenthost.cli.chat.story import Called, Ended, Event, Over, Piece, Story, Told
from agenthost.cli.chat.wording import id_of
from agenthost.cli.ending import STOPS, command_for, safe
from agenthost.client.ahp import AhpClient, AhpError, Gone, Session, stop_reason_of
from agenthost.core.stopping import STOPPED

__all__ = ["answer_piped"]

NOBODY = "there is nobody at the terminal who could allow it"
STOP_SECONDS = 2.0


async def answer_piped(client: AhpClient, wish: Wish, text: str) -> int:
    """Say something, and print the answer alone; gives the exit code.

    Raises:
        AhpError: there is no answer.
        ValueError: there are several agents to choose from.
    """
    session, _ = await open_session(client, wish)
    pipe = _Pipe(session, is_trusting=wish.is_trusting)
    try:
        return await pipe.say(text)
    except asyncio.CancelledError:
        await pipe.stop()
        raise
    finally:
        pipe.end_line()
        command = command_for(wish.url, f"chat --session {id_of(session.uri)}")
        print(f"session {id_of(session.uri)}: go on with {command}", file=sys.stderr)


class _Pipe:
    """A session whose answer goes into a pipe. Only a terminal gets thoughts, and what tools are called."""

    def __init__(self, session: Session, *, is_trusting: bool) -> None:
        self._session = session
        self._is_trusting = is_trusting
        self._story = Story()
        self._is_at_start = True

    async def say(self, text: str) -> int:
        """Say it, and print what comes, to the end of the turn."""
        self._story.skip(self._session.confirmed, 0)
        changes = self._session.changes()
        try:
            turn_id = await self._session.send(text)
            async for _ in changes:
                if changes.has_more:
                    continue
                if (turn := self._look(turn_id)) is not None:
                    return self._ended(turn)
                await self._settle()
        finally:
            changes.close()
        raise self._session.error or Gone("the session is not there any more")

    async def stop(self) -> None:
        """Stop the turn."""
        with suppress(AhpError, ValueError, TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await self._session.cancel()

    def _look(self, turn_id: str) -> Any:
        """Print what is new; gives the turn when it is over."""
        for event in self._story.look(self._session.confirmed):
            if isinstance(event, Ended) and event.turn["id"] == turn_id:
                return event.turn
            self._tell(event)
        return None

    def _tell(self, event: Event) -> None:
        match event:
            case Piece("text", text):
                self._put(text)
            case Over():
                self.end_line()
            case Piece("thought", text) if sys.stderr.isatty():
                print(safe(text, sys.stderr), end="", file=sys.stderr, flush=True)
            case Called(call) if sys.stderr.isatty():
                print(outcome(call), file=sys.stderr)
            case Told(text) if text not in STOPPED.values():
                print(f"agenthost: {safe(text, sys.stderr)}", file=sys.stderr)

    async def _settle(self) -> None:
        """Decide what waits for somebody, as nobody is there: nothing is allowed, unless everything is."""
        for call in self._session.open_calls:
            if self._is_trusting:
                await self._session.approve(call)
            else:
                self._refuse(headline(call))
                await self._session.deny(call, NOBODY)
        for call in self._session.held_results:
            if not self._is_trusting:
                self._refuse(f"the result of {headline(call)}")
            await self._session.confirm_result(call, approved=self._is_trusting)
        for request in self._session.requests:
            print(
                "agenthost: the agent asks questions, which nobody is there to answer: declined",
                file=sys.stderr,
            )
            await self._session.decline(request)

    def _refuse(self, what: str) -> None:
        sentence = "denied, as there is no terminal to ask at; --yes allows everything"
        print(f"agenthost: {safe(what, sys.stderr)}: {sentence}", file=sys.stderr)

    def _ended(self, turn: Any) -> int:
        self.end_line()
        reason = stop_reason_of(turn)
        if turn["state"] == "complete" and reason is None:
            return 0
        said = {
            "error": turn.get("error", {}).get("message", STOPS["error"]),
            "cancelled": "the turn was stopped",
        }
        sentence = said.get(turn["state"]) or STOPS[str(reason)]
        print(f"agenthost: {safe(sentence, sys.stderr)}", file=sys.stderr)
        return 1

    def end_line(self) -> None:
        """End the line that is being written."""
        if not self._is_at_start:
            self._put("\n")

    def _put(self, text: str) -> None:
        self._is_at_start = text.endswith("\n")
        sys.stdout.write(safe(text, sys.stdout))
        sys.stdout.flush()
