"""The chat at a terminal, from the first session to the last."""

import asyncio
import os
import signal
import sys
from contextlib import AsyncExitStack, suppress
from dataclasses import replace

from agenthost.cli.chat.chats import WORDS
from agenthost.cli.chat.commands import COMMANDS
from agenthost.cli.chat.conversation import ChatContext, Conversation
from agenthost.cli.chat.options import ChatOptions
from agenthost.cli.chat.outcomes import Leave, Outcome, Switch
from agenthost.cli.chat.render.plain_view import PlainView
from agenthost.cli.chat.render.view import View
from agenthost.cli.chat.sessions import open_session, resume_hint
from agenthost.cli.chat.terminal.paint import Painter
from agenthost.cli.chat.terminal.plain import PlainTerminal
from agenthost.cli.chat.terminal.terminal import ChatTerminal, InputCancelled
from agenthost.cli.exit_codes import INTERRUPTED
from agenthost.client.ahp import AhpClient, AhpError, Chat, Session

__all__ = ["ChatApp"]

SIGNAL_EXIT_CODE = 128
"""Shells report a command that a signal ended with this, plus the signal's number."""

PLAIN_WIDTH = 100

DISPOSE_SECONDS = 2.0
"""How long leaving may wait for the host."""


class ChatApp:
    """One run of the chat."""

    def __init__(self, client: AhpClient, options: ChatOptions, *, has_cursor: bool) -> None:
        self._client = client
        self._options = options
        self._has_cursor = has_cursor
        self._created: set[str] = set()
        self._conversation: Conversation | None = None
        self._news = ""  # of what was done between two conversations

    async def run(self) -> int:
        """Chat until the user leaves. Return the exit code.

        Raises:
            AhpError: the host is gone, or refuses what was asked for.
            ValueError: the options make no sense.
        """
        async with AsyncExitStack() as stack:
            context = await (self._start_screen(stack) if self._has_cursor else self._start_plain(stack))
            try:
                session, is_new = await self._open(context.terminal)
            except InputCancelled:
                return INTERRUPTED
            chat: Chat = session
            is_kept = False
            while True:
                if is_new:
                    self._created.add(session.uri)
                outcome = await self._converse(context, session, chat)
                if isinstance(outcome, Switch) and outcome.session is session:
                    await self._leave_chat(chat, is_deleted=outcome.deletes)
                else:
                    is_kept = await self._close(session)
                if isinstance(outcome, Leave):
                    break
                session, chat, is_new = outcome.session, outcome.chat, outcome.is_new
        if is_kept:
            print(resume_hint(self._options.url, session.uri), file=sys.stderr)
        return outcome.code

    # The terminal

    async def _start_plain(self, stack: AsyncExitStack) -> ChatContext:
        terminal = PlainTerminal()
        stack.enter_context(terminal.listening())
        painter = Painter(lambda: PLAIN_WIDTH, has_styles=False)
        return ChatContext(
            client=self._client,
            terminal=terminal,
            painter=painter,
            new_view=lambda authorship: PlainView(self._client, terminal, painter, authorship),
            approve_all=self._options.approve_all,
        )

    async def _start_screen(self, stack: AsyncExitStack) -> ChatContext:
        # prompt_toolkit loads slowly, and a plain terminal does not need it.
        from agenthost.cli.chat.terminal.completion import ChatCompleter  # noqa: PLC0415
        from agenthost.cli.chat.terminal.history import open_history  # noqa: PLC0415
        from agenthost.cli.chat.terminal.screen import Screen  # noqa: PLC0415

        meanings = {name: command.meaning for name, command in COMMANDS.items()}
        completer = ChatCompleter(meanings, {"chats": WORDS})
        screen = Screen(open_history(is_private=self._options.is_private), completer)
        painter = Painter(lambda: screen.width, has_colours=not os.environ.get("NO_COLOR"))
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._end, SIGNAL_EXIT_CODE + number)
        loop.add_signal_handler(signal.SIGINT, screen.interrupt)
        running = asyncio.create_task(screen.run())
        stack.push_async_callback(asyncio.wait, [running])
        stack.callback(screen.close)
        return ChatContext(
            client=self._client,
            terminal=screen,
            painter=painter,
            new_view=lambda authorship: View(self._client, screen, painter, authorship),
            approve_all=self._options.approve_all,
            offered_attachments=completer.attachments,
            on_enter=completer.enter,
        )

    def _end(self, code: int) -> None:
        if self._conversation is not None:
            self._conversation.end(Leave(code))

    # Sessions

    async def _open(self, terminal: ChatTerminal) -> tuple[Session, bool]:
        try:
            return await open_session(self._client, self._options)
        except ValueError:
            if self._options.agent is not None or len(self._client.agents) < 2:
                raise
        agent = await self._choose_agent(terminal)
        return await open_session(self._client, replace(self._options, agent=agent))

    async def _choose_agent(self, terminal: ChatTerminal) -> str:
        """Ask which agent to use until the answer names one.

        Raises:
            InputCancelled: the user chose none.
        """
        names = [agent["provider"] for agent in self._client.agents]
        about = [f"  {agent['provider']}: {agent['description']}" for agent in self._client.agents]
        while True:
            typed = (await terminal.ask_line("which agent? ", about=about, completions=names)).strip()
            exact = [name for name in names if name == typed]
            begun = [name for name in names if typed and name.startswith(typed)]
            if len(exact or begun) == 1:
                return (exact or begun)[0]

    async def _converse(self, context: ChatContext, session: Session, chat: Chat) -> Outcome:
        context.on_enter(chat)
        self._conversation = Conversation(context, session, chat)
        self._greet(self._conversation, session, chat)
        try:
            return await self._conversation.run()
        finally:
            self._conversation = None

    def _greet(self, conversation: Conversation, session: Session, chat: Chat) -> None:
        agents = {agent["provider"]: agent["displayName"] for agent in self._client.agents}
        provider = session.agent
        title = f" · {session.title}" if session.turns or session.active_turn else ""
        if chat is not session:
            title = f" · {session.title} · chat: {chat.title}"
        elif len(session.chats) > 1:
            title += f" · {len(session.chats)} chats"
        if self._news:
            conversation.view.note(self._news)
            self._news = ""
        conversation.view.note(
            f"{agents.get(provider, provider)}{title} · :help lists the commands, Ctrl-D leaves"
        )

    async def _leave_chat(self, chat: Chat, *, is_deleted: bool) -> None:
        """Leave a chat for another one of its session."""
        if is_deleted:
            name = chat.title
            try:
                await chat.dispose()
                self._news = f"the chat {name!r} was deleted"
            except AhpError as error:
                self._news = f"the chat {name!r} was not deleted: {error}"
        elif not isinstance(chat, Session):  # the session is still followed
            chat.close()

    async def _close(self, session: Session) -> bool:
        """Close a session, and delete it if we created it and it is empty. Return whether it still exists."""
        if session.is_gone:
            return False
        state = session.confirmed.chat
        is_empty = not state["turns"] and "activeTurn" not in state and "queuedMessages" not in state
        is_empty = is_empty and len(session.confirmed.session["chats"]) == 1
        if is_empty and session.uri in self._created:
            with suppress(AhpError, TimeoutError):
                async with asyncio.timeout(DISPOSE_SECONDS):
                    await session.dispose()
            return False
        session.close()
        return True
