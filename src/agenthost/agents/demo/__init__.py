"""The demo agent: a tour of everything that an agent can do, without a key and without a network.

Tests, benchmarks and people use it, so its words are a contract: `/help` lists them. It is a talking handler,
and what it does depends only on the turn and on what came of its calls and questions; so it may be run again
after a restart at any time. Neighbours: `words` (what it understands), `voice` (how it speaks), `tools`.
"""

from difflib import get_close_matches

from agenthost.agents.demo.parsing import WrongArgument, pieces_of
from agenthost.agents.demo.tools import TOOLS
from agenthost.agents.demo.voice import MODELS, OPTIONS, Voice
from agenthost.agents.demo.words import WORDS
from agenthost.host.agent import Agent, Command
from agenthost.host.turn import Turn

__all__ = ["demo"]

LONGEST_WORD = 20
"""Longer ones are nobody's slip of the pen, and not worth a comparison."""


async def answer(turn: Turn) -> None:
    """Show what a host can do: try `/help`. Needs no key and no network."""
    voice = Voice(turn)
    text = turn.text
    if not text.startswith("/"):
        await voice.stream(pieces_of(f"You said: {text}"))
        return
    name = text.split(maxsplit=1)[0]
    word = WORDS.get(name)
    if word is None:
        await voice.stream(pieces_of(f"You said: {text}{_hint(name)}"))
        return
    try:
        await word.does(turn, voice, text[len(name) :].lstrip())
    except WrongArgument as wrong:
        # Arguments are read before anything is done, so this is all of the answer.
        await voice.stream(pieces_of(f"{wrong} Use it like this: `{word.example}`"))


def _hint(name: str) -> str:
    """Help who mistyped a word; text that merely starts with a slash, such as a path, needs no help."""
    if not name[1:].isalpha() or len(name) > LONGEST_WORD:
        return ""
    meant = get_close_matches(name, WORDS, n=1)
    guess = f" Did you mean `{meant[0]}`?" if meant else ""
    return f"\n\nThere is no word `{name}` here.{guess} `/help` lists what there is."


demo = Agent(
    "demo",
    answer,
    title="Demo",
    version="1.0.0",
    tools=TOOLS,
    commands=[Command(name[1:], word.meaning) for name, word in WORDS.items()],
    options=OPTIONS,
    models=MODELS,
    history=("compacted", "full"),
    stream=("delta", "message", "none"),
    images=("http", "data"),
    client_tools=True,
)
