"""The chat's own commands. They begin with a colon; what begins with a slash is the agent's, and is sent."""

import re
from collections.abc import Awaitable, Callable
from difflib import get_close_matches
from typing import Any, TypeAlias

from agenthost.cli.chat.attaching import attach_file
from agenthost.cli.chat.conversation import Conversation, Leave, Outcome, Switch
from agenthost.cli.chat.face import Back
from agenthost.cli.chat.opening import find_session, newest_first
from agenthost.cli.chat.wording import id_of, one_of, row_of
from agenthost.client.ahp import AhpError

__all__ = ["COMMANDS", "KEYS", "Commands"]

_COMMAND = re.compile(r":([a-z]+)(?:\s+(.*))?\Z", re.DOTALL)

MOST_SESSIONS = 20

Does: TypeAlias = Callable[["Commands", str], Awaitable[Outcome | None]]

KEYS = (
    ("Enter", "sends; with a turn running, the message waits for its end"),
    ("Alt-Enter, \\ Enter", "begins a new line"),
    ("Tab", "completes : commands, the agent's / commands and @ files"),
    ("Ctrl-X Ctrl-E", "opens what is typed in $EDITOR"),
    ("Ctrl-C", "stops the turn; twice, leaves"),
    ("Ctrl-D", "leaves; the session stays, and so does a turn that runs"),
)


class Commands:
    """What can be done in a conversation beside talking."""

    def __init__(self, conversation: Conversation) -> None:
        self._talk = conversation
        self._session = conversation.session
        self._client = conversation.client

    def is_one(self, typed: str) -> bool:
        """Tell whether this is a command, or meant to be one; a smiley is none."""
        return _COMMAND.match(typed.strip()) is not None

    async def run(self, typed: str) -> Outcome | None:
        """Do it; gives what ends the conversation, if it does."""
        found = _COMMAND.match(typed.strip())
        assert found is not None  # noqa: S101 - `is_one` says so
        name, rest = found[1], (found[2] or "").strip()
        entry = COMMANDS.get(name)
        if entry is None:
            meant = get_close_matches(name, COMMANDS, n=1)
            guess = f"did you mean :{meant[0]}? " if meant else ""
            self._talk.view.fail(
                f"there is no command :{name}; {guess}:help lists them. To say it, begin with ::"
            )
            return None
        try:
            return await entry[2](self, rest)
        except (AhpError, ValueError) as error:
            self._talk.view.fail(str(error))
        except Back:
            pass
        return None

    def _say(self, text: str) -> None:
        self._talk.view.note(text)

    async def help(self, _rest: str) -> None:
        """List commands and keys."""
        rows = [(f":{name} {usage}".rstrip(), meaning) for name, (usage, meaning, _) in COMMANDS.items()]
        painter = self._talk.place.painter
        lines = []
        for title, table in (("Commands of this chat", rows), ("Keys", list(KEYS))):
            lines += ["", painter.span(title, "bold")]
            lines += [row for word, text in table for row in painter.marked(f"  {word:<27}", text, "dim")]
        lines += ["", *painter.text("What begins with / is the agent's own: it is sent. Try /help.", "dim")]
        self._talk.view.lines(lines[1:])

    async def quit(self, _rest: str) -> Outcome:
        """Leave."""
        return Leave()

    # Sessions

    async def sessions(self, rest: str) -> Outcome | None:
        """List the sessions, and go to one."""
        summaries = newest_first(await self._client.sessions.load())[:MOST_SESSIONS]
        if not rest:
            self._list(summaries)
            rest = (await self._talk.face.line("which (number or name, Enter stays)? ")).strip()
        if not rest:
            return None
        if rest.isdigit() and 1 <= int(rest) <= len(summaries):
            uri = summaries[int(rest) - 1]["resource"]
        else:
            uri = await find_session(self._client, rest)
        if uri == self._session.uri:
            raise ValueError("that is the one you are in")
        return Switch(await self._client.session(uri))

    def _list(self, summaries: list[Any]) -> None:
        painter = self._talk.place.painter
        lines = []
        for number, summary in enumerate(summaries, 1):
            here = " ← here" if summary["resource"] == self._session.uri else ""
            lines += painter.marked(
                f"{number:>3}.", f"{row_of(summary)} {id_of(summary['resource'])[:8]}{here}"
            )
        self._talk.view.lines(lines)

    async def new(self, rest: str) -> Outcome:
        """Begin a new session, with the same agent or another one."""
        agent = rest or self._session.summary["provider"]
        return Switch(await self._client.create(agent), is_new=True)

    async def agent(self, rest: str) -> Outcome | None:
        """List the agents, or begin a session with one."""
        if rest:
            return await self.new(rest)
        mine = self._session.summary["provider"]
        for agent in self._client.agents:
            here = " ← here" if agent["provider"] == mine else ""
            self._say(f"{agent['provider']}: {agent['displayName']}. {agent['description']}{here}")
        return None

    # This session

    async def title(self, rest: str) -> None:
        """Show or change the title."""
        if rest:
            await self._session.rename(" ".join(rest.split()))
        self._say(f"the title is: {self._session.summary['title'] or 'none yet'}")

    async def model(self, rest: str) -> None:
        """List the models, or choose one."""
        name, *settings = rest.split() or [""]
        mine = self._session.summary["provider"]
        models = [
            one for agent in self._client.agents if agent["provider"] == mine for one in agent["models"]
        ]
        if not name:
            chosen = self._session.summary.get("model", {}).get("id")
            for model in models:
                self._say(f"{model['id']}: {model['name']}{' ← chosen' if model['id'] == chosen else ''}")
            if not models:
                self._say("this agent has no models to choose from")
            return
        config = dict(setting.partition("=")[::2] for setting in settings)
        echo = self._session.set_model(name, config or None)
        if self._session.active_turn is not None:
            self._say("it changes when the turn is over")
        await echo
        self._say(f"the model is now {name}")

    async def set(self, rest: str) -> None:
        """Show or change settings."""
        config: Any = self._session.confirmed.get("config")
        if config is None:
            raise ValueError("this session has no settings")
        if not rest:
            for key, schema in config["schema"]["properties"].items():
                choices = f" ({one_of(schema['enum'])})" if "enum" in schema else ""
                self._say(f"{key} = {config['values'].get(key, '')}: {schema['title']}{choices}")
            return
        name, is_there, value = rest.partition("=")
        if not is_there:
            raise ValueError(f"expected NAME=VALUE, found {rest!r}")
        await self._session.set_config({name.strip(): value.strip()})
        self._say(f"{name.strip()} is now {value.strip()}")

    async def history(self, rest: str) -> None:
        """Show earlier turns again."""
        if rest and not rest.isdigit():
            raise ValueError(f"expected how many turns, found {rest!r}")
        await self._talk.show_again(int(rest) if rest else 20)

    async def info(self, _rest: str) -> None:
        """Say where this is."""
        summary = self._session.summary
        self._say(f"session {id_of(self._session.uri)}: {row_of(summary)}")
        self._say(
            f"host {self._client.url}, AHP {self._client.version}, this client is {self._client.client_id}"
        )

    # The turn

    async def cancel(self, _rest: str) -> None:
        """Stop the turn that is running."""
        await self._talk.stop()

    async def steer(self, rest: str) -> None:
        """Say something to the turn that is running."""
        if not rest:
            raise ValueError("what is it to be told? :steer TEXT")
        await self._session.steer(rest)

    async def unqueue(self, _rest: str) -> None:
        """Take back the last message that waits."""
        queued: Any = self._session.state.get("queuedMessages", [])
        if not queued:
            raise ValueError("no message waits")
        await self._session.unqueue(queued[-1]["id"])
        self._talk.face.put_back(queued[-1]["userMessage"]["text"])

    async def approve(self, rest: str) -> None:
        """Allow the call that waits, or all of them."""
        calls = self._session.open_calls
        if not calls:
            raise ValueError("no call waits for you")
        for call in calls if rest == "all" else calls[:1]:
            await self._session.approve(call)

    async def deny(self, rest: str) -> None:
        """Deny the call that waits."""
        calls = self._session.open_calls
        if not calls:
            raise ValueError("no call waits for you")
        await self._session.deny(calls[0], rest or None)

    async def attach(self, rest: str) -> None:
        """Attach a file to the next message."""
        files = self._talk.attachments.files
        if rest == "-":
            files.clear()
        elif rest:
            files.append(attach_file(rest))
        names = one_of([file["label"] for file in files])
        self._say(f"with the next message: {names}")


COMMANDS: dict[str, tuple[str, str, Does]] = {
    "help": ("", "shows this list", Commands.help),
    "sessions": ("[NAME]", "lists the sessions, to go on with one", Commands.sessions),
    "new": ("[AGENT]", "begins a new session", Commands.new),
    "agent": ("[NAME]", "lists the agents, or begins a session with one", Commands.agent),
    "title": ("[TEXT]", "shows the title, or changes it", Commands.title),
    "model": ("[ID NAME=VALUE…]", "lists the models, or chooses one", Commands.model),
    "set": ("[NAME=VALUE]", "shows the settings, or changes one", Commands.set),
    "history": ("[NUMBER]", "shows earlier turns", Commands.history),
    "info": ("", "says which session and host this is", Commands.info),
    "attach": ("FILE | -", "sends a file with the next message; - none", Commands.attach),
    "cancel": ("", "stops the turn", Commands.cancel),
    "steer": ("TEXT", "says something to the turn that runs", Commands.steer),
    "unqueue": ("", "takes back the last message that waits", Commands.unqueue),
    "approve": ("[all]", "allows the call that waits, or all", Commands.approve),
    "deny": ("[REASON]", "denies the call that waits", Commands.deny),
    "quit": ("", "leaves", Commands.quit),
}
"""Each with what follows it, what it does, and how."""
