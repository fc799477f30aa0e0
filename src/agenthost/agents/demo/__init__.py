"""The demo agent: a tour of what an agent can do, without an API key and without a network.

Tests, benchmarks and people use it, so its commands are a contract: `/help` lists them. It is a handler, and
what it does depends only on the turn and on the results of its calls and questions, so it can be run again
after a restart. Related modules: `commands`, `arguments`, `voice` (how it speaks), `tools`.
"""

from difflib import get_close_matches

from agenthost.agents.demo.arguments import ArgumentError, split_words
from agenthost.agents.demo.commands import COMMANDS
from agenthost.agents.demo.tools import TOOLS
from agenthost.agents.demo.voice import MODELS, OPTIONS, Voice
from agenthost.host.authoring.agent import Agent, Command
from agenthost.host.authoring.turn import Turn

__all__ = ["demo"]

MAX_COMMAND_LENGTH = 20
"""Longer ones are not typos, and not worth a comparison."""


async def answer(turn: Turn) -> None:
    """Show what a host can do: try `/help`. Needs no key and no network."""
    voice = Voice(turn)
    text = turn.text
    if not text.startswith("/"):
        await voice.stream(split_words(f"You said: {text}"))
        return
    name = text.split(maxsplit=1)[0]
    command = COMMANDS.get(name)
    if command is None:
        await voice.stream(split_words(f"You said: {text}{_hint(name)}"))
        return
    try:
        await command.run(turn, voice, text[len(name) :].lstrip())
    except ArgumentError as error:
        # Arguments are parsed before anything is done, so nothing was said yet.
        await voice.stream(split_words(f"{error} Use it like this: `{command.example}`"))


def _hint(name: str) -> str:
    """Return a hint for a mistyped command; nothing for text such as a path."""
    if not name[1:].isalpha() or len(name) > MAX_COMMAND_LENGTH:
        return ""
    meant = get_close_matches(name, COMMANDS, n=1)
    guess = f" Did you mean `{meant[0]}`?" if meant else ""
    return f"\n\nThere is no command `{name}`.{guess} `/help` lists all commands."


demo = Agent(
    "demo",
    answer,
    title="Demo",
    version="1.0.0",
    tools=TOOLS,
    commands=[Command(name[1:], command.meaning) for name, command in COMMANDS.items()],
    options=OPTIONS,
    models=MODELS,
    history=("compacted", "full"),
    stream=("delta", "message", "none"),
    images=("http", "data"),
    client_tools=True,
)
