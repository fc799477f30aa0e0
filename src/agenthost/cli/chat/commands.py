"""The chat's own commands. They begin with a colon; commands with a slash are sent to the agent."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from agenthost.cli.chat.attachments import Attachments, read_attachment
from agenthost.cli.chat.chats import WORDS, ChatsCommand
from agenthost.cli.chat.outcomes import Leave, Outcome, Switch
from agenthost.cli.chat.render.diffs import edit_lines, fetch_versions
from agenthost.cli.chat.render.view import View
from agenthost.cli.chat.render.wording import describe_session, join_names, session_id
from agenthost.cli.chat.sessions import find_session, newest_first
from agenthost.cli.chat.terminal.paint import Painter
from agenthost.cli.chat.terminal.terminal import ChatTerminal, InputCancelled
from agenthost.client.ahp import AhpClient, AhpError, Chat, Session
from agenthost.core.session_meta import is_stand_in

__all__ = ["COMMANDS", "CommandContext", "Commands"]

_COMMAND = re.compile(r":([a-z]+)(?:\s+(.*))?\Z", re.DOTALL)

MAX_SESSIONS = 20
DEFAULT_HISTORY_TURNS = 20

KEYS = (
    ("Enter", "sends; during a turn, the message is queued"),
    ("Alt-Enter, \\ Enter", "starts a new line"),
    ("Tab", "completes : commands, the agent's / commands and @ files"),
    ("Ctrl-X Ctrl-E", "opens the message in $EDITOR"),
    ("Ctrl-C", "stops the turn; twice, leaves"),
    ("Ctrl-D", "leaves; the session stays, and its turn runs on"),
)


@dataclass(frozen=True, slots=True)
class CommandContext:
    """The conversation that commands act on.

    Attributes:
        show_history: shows the given number of last turns again.
        stop_turn: stops the turn that runs.
    """

    client: AhpClient
    session: Session
    chat: Chat
    terminal: ChatTerminal
    painter: Painter
    view: View
    attachments: Attachments
    show_history: Callable[[int], Awaitable[None]]
    stop_turn: Callable[[], Awaitable[None]]


class Commands:
    """The commands of one conversation. Each takes what was typed after its name."""

    def __init__(self, context: CommandContext) -> None:
        self._context = context
        self._session = context.session
        self._chat = context.chat
        self._client = context.client

    def is_command(self, typed: str) -> bool:
        """Return whether this looks like a command; a smiley does not."""
        return _COMMAND.match(typed.strip()) is not None

    async def run(self, typed: str) -> Outcome | None:
        """Run a command. Return the outcome if it ends the conversation."""
        found = _COMMAND.match(typed.strip())
        assert found is not None  # noqa: S101 - checked by `is_command`
        name, rest = found[1], (found[2] or "").strip()
        command = COMMANDS.get(name)
        if command is None:
            self._context.view.fail(_unknown(name))
            return None
        try:
            return await command.run(self, rest)
        except (AhpError, ValueError) as error:
            self._context.view.fail(str(error))
        except InputCancelled:
            pass
        return None

    def _note(self, text: str) -> None:
        self._context.view.note(text)

    async def help(self, _rest: str) -> None:
        """List the commands and the keys."""
        rows = [(f":{name} {one.arguments}".rstrip(), one.meaning) for name, one in COMMANDS.items()]
        place = list(COMMANDS).index("chats") + 1
        rows[place:place] = [(f":chats {word} {one.arguments}", one.meaning) for word, one in WORDS.items()]
        painter = self._context.painter
        lines = []
        for title, table in (("Commands", rows), ("Keys", list(KEYS))):
            lines += ["", painter.span(title, "bold")]
            lines += [row for name, text in table for row in painter.marked(f"  {name:<27}", text, "dim")]
        note = "Commands that begin with / are the agent's, and are sent to it. Try /help."
        lines += ["", *painter.text(note, "dim")]
        self._context.view.print_lines(lines[1:])

    async def quit(self, _rest: str) -> Outcome:
        """Leave."""
        return Leave()

    # Sessions

    async def sessions(self, rest: str) -> Outcome | None:
        """List the sessions, and switch to one."""
        summaries = newest_first(await self._client.sessions.load())[:MAX_SESSIONS]
        if not rest:
            self._list_sessions(summaries)
            rest = (
                await self._context.terminal.ask_line("which one (number or id, Enter to stay)? ")
            ).strip()
        if not rest:
            return None
        if rest.isdigit() and 1 <= int(rest) <= len(summaries):
            uri = summaries[int(rest) - 1]["resource"]
        else:
            uri = await find_session(self._client, rest)
        if uri == self._session.uri:
            raise ValueError("you are already in that session")
        session = await self._client.session(uri)
        return Switch(session, session)

    def _list_sessions(self, summaries: list[Any]) -> None:
        lines = []
        for number, summary in enumerate(summaries, 1):
            here = " ← here" if summary["resource"] == self._session.uri else ""
            text = f"{describe_session(summary)} {session_id(summary['resource'])[:8]}{here}"
            lines += self._context.painter.marked(f"{number:>3}.", text)
        self._context.view.print_lines(lines)

    async def new(self, rest: str) -> Outcome:
        """Start a new session, with the same agent or another one."""
        session = await self._client.create(rest or self._session.agent)
        return Switch(session, session, is_new=True)

    async def agent(self, rest: str) -> Outcome | None:
        """List the agents, or start a session with one."""
        if rest:
            return await self.new(rest)
        current = self._session.agent
        for agent in self._client.agents:
            here = " ← here" if agent["provider"] == current else ""
            self._note(f"{agent['provider']}: {agent['displayName']}. {agent['description']}{here}")
        return None

    async def chats(self, rest: str) -> Outcome | None:
        """List the chats of this session, switch to one, or begin, fork or delete one."""
        context = self._context
        command = ChatsCommand(self._session, self._chat, context.terminal, context.painter, context.view)
        return await command.run(rest)

    # This session

    async def title(self, rest: str) -> None:
        """Show or change the title."""
        if rest:
            await self._session.rename(" ".join(rest.split()))
        self._note(f"the title is: {self._session.title or 'none yet'}")

    async def model(self, rest: str) -> None:
        """List the models, or select one."""
        name, *settings = rest.split() or [""]
        if not name:
            self._list_models()
            return
        config = dict(setting.partition("=")[::2] for setting in settings)
        self._chat.set_model(name, config or None)
        self._note(f"the model is {name} from the next message on")

    def _list_models(self) -> None:
        provider = self._session.agent
        agents = [agent for agent in self._client.agents if agent["provider"] == provider]
        models = [model for agent in agents for model in agent["models"] if not is_stand_in(model)]
        chosen = self._chat.model
        selected = None if chosen is None else chosen["id"]
        for model in models:
            self._note(f"{model['id']}: {model['name']}{' ← selected' if model['id'] == selected else ''}")
        if not models:
            self._note("this agent has no models to choose from")

    async def set(self, rest: str) -> None:
        """Show or change settings."""
        config: Any = self._session.confirmed.session.get("config")
        if config is None:
            raise ValueError("this session has no settings")
        if not rest:
            for key, schema in config["schema"]["properties"].items():
                choices = f" ({join_names(schema['enum'])})" if "enum" in schema else ""
                self._note(f"{key} = {config['values'].get(key, '')}: {schema['title']}{choices}")
            return
        name, separator, value = rest.partition("=")
        if not separator:
            raise ValueError(f"expected NAME=VALUE, found {rest!r}")
        await self._session.set_config({name.strip(): value.strip()})
        self._note(f"{name.strip()} is now {value.strip()}")

    async def history(self, rest: str) -> None:
        """Show earlier turns again."""
        if rest and not rest.isdigit():
            raise ValueError(f"expected a number of turns, found {rest!r}")
        await self._context.show_history(int(rest) if rest else DEFAULT_HISTORY_TURNS)

    async def info(self, _rest: str) -> None:
        """Show which session and host this is."""
        session = self._session
        summary = {"title": session.title, "provider": session.agent}
        used = {"status": session.status, "modifiedAt": session.modified_at}
        self._note(f"session {session_id(session.uri)}: {describe_session({**summary, **used})}")
        self._note(
            f"host {self._client.url}, AHP {self._client.version}, this client is {self._client.client_id}"
        )

    async def changes(self, _rest: str) -> None:
        """Show the files that were changed here."""
        changeset = await self._chat.changeset()
        await changeset.until(lambda _: changeset.is_ready)
        files, added, removed = changeset.counts
        self._note(f"{files} file{'' if files == 1 else 's'} +{added} -{removed}")
        for file in changeset.files:
            versions = await fetch_versions(self._client, file["edit"])
            self._context.view.print_lines(edit_lines(self._context.painter, file["edit"], versions))
        changeset.close()

    # The turn

    async def cancel(self, _rest: str) -> None:
        """Stop the turn that runs."""
        await self._context.stop_turn()

    async def steer(self, rest: str) -> None:
        """Send a message to the turn that runs."""
        if not rest:
            raise ValueError("expected a message: :steer TEXT")
        await self._chat.steer(rest)

    async def unqueue(self, _rest: str) -> None:
        """Take back the last queued message."""
        queued: Any = self._chat.state.chat.get("queuedMessages", [])
        if not queued:
            raise ValueError("no message is queued")
        await self._chat.unqueue(queued[-1]["id"])
        self._context.terminal.put_back(queued[-1]["message"]["text"])

    async def approve(self, rest: str) -> None:
        """Allow the call that waits, or all of them."""
        calls = self._waiting_calls()
        for call in calls if rest == "all" else calls[:1]:
            await self._chat.approve(call)

    async def deny(self, rest: str) -> None:
        """Deny the call that waits."""
        await self._chat.deny(self._waiting_calls()[0], rest or None)

    def _waiting_calls(self) -> list[Any]:
        calls: list[Any] = self._chat.open_calls
        if not calls:
            raise ValueError("no call is waiting for you")
        return calls

    async def attach(self, rest: str) -> None:
        """Attach a file to the next message."""
        files = self._context.attachments.files
        if rest == "-":
            files.clear()
        elif rest:
            files.append(read_attachment(rest))
        self._note(f"attached to the next message: {join_names([file['label'] for file in files])}")


def _unknown(name: str) -> str:
    close = get_close_matches(name, COMMANDS, n=1)
    guess = f"did you mean :{close[0]}? " if close else ""
    return f"there is no command :{name}; {guess}:help lists them. To send it as a message, begin with ::"


@dataclass(frozen=True, slots=True)
class Command:
    """A command: the arguments it takes, what it does, and the method that does it."""

    arguments: str
    meaning: str
    run: Callable[[Commands, str], Awaitable[Outcome | None]]


COMMANDS: dict[str, Command] = {
    "help": Command("", "shows this list", Commands.help),
    "sessions": Command("[ID]", "lists the sessions, or switches to one", Commands.sessions),
    "new": Command("[AGENT]", "starts a new session", Commands.new),
    "chats": Command("[NUMBER]", "lists the chats of this session, or switches to one", Commands.chats),
    "agent": Command("[NAME]", "lists the agents, or starts a session with one", Commands.agent),
    "title": Command("[TEXT]", "shows or changes the title", Commands.title),
    "model": Command("[ID NAME=VALUE…]", "lists the models, or selects one", Commands.model),
    "set": Command("[NAME=VALUE]", "shows the settings, or changes one", Commands.set),
    "history": Command("[NUMBER]", "shows earlier turns", Commands.history),
    "changes": Command("", "shows the files that were changed", Commands.changes),
    "info": Command("", "shows which session and host this is", Commands.info),
    "attach": Command("FILE | -", "attaches a file to the next message; - detaches all", Commands.attach),
    "cancel": Command("", "stops the turn", Commands.cancel),
    "steer": Command("TEXT", "sends a message to the turn that runs", Commands.steer),
    "unqueue": Command("", "takes back the last queued message", Commands.unqueue),
    "approve": Command("[all]", "allows the call that waits, or all", Commands.approve),
    "deny": Command("[REASON]", "denies the call that waits", Commands.deny),
    "quit": Command("", "leaves", Commands.quit),
}
