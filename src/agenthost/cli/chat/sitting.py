"""A sitting: somebody at a terminal, from the first session to the last."""

import asyncio
import os
import signal
import sys
from contextlib import AsyncExitStack, suppress
from dataclasses import replace

from agenthost.cli.chat.commands import COMMANDS
from agenthost.cli.chat.conversation import Conversation, Leave, Outcome, Place
from agenthost.cli.chat.face import Back, Face
from agenthost.cli.chat.opening import Wish, open_session
from agenthost.cli.chat.painting import Painter
from agenthost.cli.chat.plain import Plain, PlainView
from agenthost.cli.chat.view import View
from agenthost.cli.chat.wording import id_of
from agenthost.cli.ending import INTERRUPTED, command_for
from agenthost.client.ahp import AhpClient, AhpError, Session

__all__ = ["Sitting"]

TERMINATED = 128
"""How shells count a command that a signal ended: this, and the signal's number."""

PLAIN_WIDTH = 100

PART_SECONDS = 2.0
"""How long leaving may wait for the host."""


class Sitting:
    """One use of the chat."""

    def __init__(self, client: AhpClient, wish: Wish, *, has_cursor: bool) -> None:
        self._client = client
        self._wish = wish
        self._has_cursor = has_cursor
        self._made: set[str] = set()
        self._talk: Conversation | None = None

    async def run(self) -> int:
        """Chat; gives the exit code.

        Raises:
            AhpError: there is no host any more, or not what was asked for.
            ValueError: what was asked for makes no sense.
        """
        async with AsyncExitStack() as stack:
            place = await (self._screen(stack) if self._has_cursor else self._plain(stack))
            try:
                session, is_new = await self._open(place.face)
            except Back:
                return INTERRUPTED
            while True:
                if is_new:
                    self._made.add(session.uri)
                outcome = await self._converse(place, session)
                is_kept = await self._part(session)
                if isinstance(outcome, Leave):
                    break
                session, is_new = outcome.session, outcome.is_new
        if is_kept:
            self._bye(session)
        return outcome.code

    # The terminal

    async def _plain(self, stack: AsyncExitStack) -> Place:
        face = Plain()
        stack.enter_context(face.attended())
        painter = Painter(lambda: PLAIN_WIDTH, has_styles=False)
        return Place(self._client, face, painter, PlainView, self._wish.is_trusting)

    async def _screen(self, stack: AsyncExitStack) -> Place:
        from agenthost.cli.chat.completing import Completing  # noqa: PLC0415 - takes its time to import
        from agenthost.cli.chat.history import history_of  # noqa: PLC0415
        from agenthost.cli.chat.screen import Screen  # noqa: PLC0415

        completing = Completing({name: meaning for name, (_, meaning, _) in COMMANDS.items()})
        face = Screen(history_of(is_private=self._wish.is_private), completing)
        painter = Painter(lambda: face.width, has_colours=not os.environ.get("NO_COLOR"))
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._end, TERMINATED + number)
        loop.add_signal_handler(signal.SIGINT, face.interrupt)
        running = asyncio.create_task(face.run())
        stack.push_async_callback(asyncio.wait, [running])
        stack.callback(face.close)
        return Place(
            self._client, face, painter, View, self._wish.is_trusting, completing.offered, completing.enter
        )

    def _end(self, code: int) -> None:
        if self._talk is not None:
            self._talk.end(Leave(code))

    # Sessions

    async def _open(self, face: Face) -> tuple[Session, bool]:
        try:
            return await open_session(self._client, self._wish)
        except ValueError:
            if self._wish.agent is not None or len(self._client.agents) < 2:
                raise
        return await open_session(self._client, replace(self._wish, agent=await self._choose(face)))

    async def _choose(self, face: Face) -> str:
        """Ask which agent it is to be, until it is one.

        Raises:
            Back: none.
        """
        names = [agent["provider"] for agent in self._client.agents]
        about = [f"  {agent['provider']}: {agent['description']}" for agent in self._client.agents]
        while True:
            typed = (await face.line("which agent? ", about=about, words=names)).strip()
            exact = [name for name in names if name == typed]
            begun = [name for name in names if typed and name.startswith(typed)]
            if len(exact or begun) == 1:
                return (exact or begun)[0]

    async def _converse(self, place: Place, session: Session) -> Outcome:
        place.enter(session)
        self._talk = Conversation(place, session)
        self._greet(self._talk, session)
        try:
            return await self._talk.run()
        finally:
            self._talk = None

    def _greet(self, talk: Conversation, session: Session) -> None:
        agents = {agent["provider"]: agent["displayName"] for agent in self._client.agents}
        provider = session.summary["provider"]
        title = f" · {session.summary['title']}" if session.turns or session.active_turn else ""
        talk.view.note(
            f"{agents.get(provider, provider)}{title} · :help lists what can be done here, Ctrl-D leaves"
        )

    async def _part(self, session: Session) -> bool:
        """Watch a session no more, and remove it if nothing was said in it; gives whether it is kept."""
        if session.is_gone:
            return False
        state = session.confirmed
        is_empty = not state["turns"] and "activeTurn" not in state and "queuedMessages" not in state
        if is_empty and session.uri in self._made:
            with suppress(AhpError, TimeoutError):
                async with asyncio.timeout(PART_SECONDS):
                    await session.dispose()
            return False
        session.close()
        return True

    def _bye(self, session: Session) -> None:
        name = id_of(session.uri)
        command = command_for(self._wish.url, f"chat --session {name}")
        print(f"session {name}: go on with {command}", file=sys.stderr)
