"""`:chats`: lists the chats of a session, begins, forks and deletes them, and switches between them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agenthost.cli.chat.outcomes import Outcome, Switch
from agenthost.cli.chat.render.view import View
from agenthost.cli.chat.render.wording import status_words
from agenthost.cli.chat.terminal.paint import Painter
from agenthost.cli.chat.terminal.terminal import ChatTerminal
from agenthost.client.ahp import Chat, Session

__all__ = ["WORDS", "ChatsCommand", "describe_chat"]

KINDS = {"fork": "fork", "sideChat": "side chat", "tool": "subagent"}
"""Where a chat comes from, in words."""


def describe_chat(summary: Any, session: Any) -> str:
    """Return one line on a chat of a session; one without a title has that of the session."""
    kind = KINDS.get(summary.get("origin", {}).get("kind"))
    details = ", ".join([*([kind] if kind else []), *status_words(summary)])
    return f"{_title(summary, session)}{details and f' ({details})'}"


def _title(summary: Any, session: Any) -> str:
    return str(summary["title"] or session["title"] or "untitled")


@dataclass(frozen=True, slots=True)
class ChatsCommand:
    """The command, in one chat of a session."""

    session: Session
    chat: Chat
    terminal: ChatTerminal
    painter: Painter
    view: View

    async def run(self, rest: str) -> Outcome | None:
        """Do what was typed after the command.

        Raises:
            AhpError: the host refuses.
            InputCancelled: the user cancelled it.
            ValueError: it makes no sense.
        """
        word, _, text = rest.partition(" ")
        if word in WORDS:
            return await WORDS[word].run(self, text.strip())
        if not rest:
            self._list()
            rest = (await self.terminal.ask_line("which one (number, Enter to stay)? ")).strip()
        return await self._switch(self._numbered(rest)) if rest else None

    def _list(self) -> None:
        lines: list[str] = []
        session = self.session.confirmed.session
        for number, summary in enumerate(session["chats"], 1):
            here = " ← here" if summary["resource"] == self.chat.chat_uri else ""
            lines += self.painter.marked(f"{number:>3}.", f"{describe_chat(summary, session)}{here}")
        self.view.print_lines(lines)

    def _chats(self) -> Sequence[Any]:
        return self.session.confirmed.session["chats"]

    def _numbered(self, typed: str) -> str:
        """Return the URI of a chat by its number in the list."""
        chats = self._chats()
        if not typed.isdigit():
            raise ValueError(f"expected a number, or one of {', '.join(WORDS)}; found {typed!r}")
        if not 1 <= int(typed) <= len(chats):
            raise ValueError(f"there is no chat {typed}; there are {len(chats)}")
        uri: str = chats[int(typed) - 1]["resource"]
        return uri

    async def _switch(self, uri: str) -> Outcome:
        if uri == self.chat.chat_uri:
            raise ValueError("you are already in that chat")
        if uri == self.session.chat_uri:
            return Switch(self.session, self.session)
        return Switch(self.session, await self.session.chat(uri))

    async def begin(self, text: str) -> Outcome:
        """Begin another chat."""
        return Switch(self.session, await self.session.new_chat(text or None))

    async def fork(self, text: str) -> Outcome:
        """Continue this chat in another one, without the last turns if a number of them is given."""
        if text and not text.isdigit():
            raise ValueError(f"expected how many turns to leave out, found {text!r}")
        turn_id = self._turn(int(text) if text else 0)
        return Switch(self.session, await self.chat.fork_chat(turn_id))

    async def ask_aside(self, text: str) -> Outcome:
        """Begin a side chat about this one."""
        return Switch(self.session, await self.chat.side_chat(self._turn(0), text or None))

    def _turn(self, left_out: int) -> str:
        turns = self.chat.confirmed.chat["turns"]
        if left_out >= len(turns):
            has = f"{len(turns)} turn{'' if len(turns) == 1 else 's'} so far"
            raise ValueError(f"this chat has {has}" if turns else "nothing was said here so far")
        return turns[-1 - left_out]["id"]

    async def delete(self, text: str) -> Outcome | None:
        """Delete this chat, or another one, for everybody."""
        uri = self._numbered(text) if text else self.chat.chat_uri
        if uri == self.session.chat_uri:
            raise ValueError("this is the first chat of the session, and stays as long as the session does")
        summary = next(one for one in self._chats() if one["resource"] == uri)
        name = _title(summary, self.session.confirmed.session)
        answer = await self.terminal.ask_line(f"delete the chat {name!r} for good? [y/N] ")
        if answer.strip().lower() not in ("y", "yes"):
            return None
        if uri == self.chat.uri:
            return Switch(self.session, self.session, deletes=True)
        await (await self.session.chat(uri)).dispose()
        self.view.note(f"the chat {name!r} was deleted")
        return None


@dataclass(frozen=True, slots=True)
class Word:
    """What can be done with chats: the arguments it takes, what it does, and the method that does it."""

    arguments: str
    meaning: str
    run: Callable[[ChatsCommand, str], Awaitable[Outcome | None]]


WORDS: dict[str, Word] = {
    "new": Word("[TEXT]", "begins another chat", ChatsCommand.begin),
    "fork": Word("[NUMBER]", "continues in another chat, without the last turns", ChatsCommand.fork),
    "side": Word("[TEXT]", "begins a chat about this one", ChatsCommand.ask_aside),
    "delete": Word("[NUMBER]", "deletes this chat, or another one", ChatsCommand.delete),
}
"""What can be done beside switching, by the word that is typed."""
