"""Agents for the journeys: the demo agent, one that does on demand what the demo does not, and odd ones."""

import asyncio
import struct
import zlib
from collections.abc import Sequence
from itertools import count

from agenthost import (
    Agent,
    Call,
    Choice,
    HostError,
    Option,
    Question,
    Suggestion,
    SuggestQuery,
    ToolContext,
    ToolResult,
    Turn,
    Usage,
    tool,
)
from agenthost.agents.demo import demo
from agenthost.tools.workspace.shell import run

__all__ = ["TOUR", "demo", "gradual", "guarded", "png", "stage", "tour", "unready"]

TOUR = """\
## What was found

The parser reads **twice** what it needs: once in `read_all`, once in `index`. See
[the issue](https://example.org/issues/7).

| step | before | after |
| --- | ---: | ---: |
| read | 120 ms | 61 ms |
| index | 80 ms | 80 ms |

```python
def read_all(path: str) -> list[str]:
    # One pass is enough.
    with open(path) as file:
        return [line.rstrip() for line in file]
```

1. Read once.
2. Hand the lines on.

> Nothing else has to change.
"""


async def branches(query: SuggestQuery) -> Sequence[Suggestion]:
    """Find branches, as a repository would."""
    names = ("main", "release", "review")
    return [Suggestion(name, description="a branch") for name in names if query.text in name]


@tool(title="Weigh", needs_result_confirmation=True, read_only=True)
async def weigh(what: str) -> str:
    """Weigh something; its result is looked at first."""
    return f"{what}: 42 kg"


@tool(title="Delegate", read_only=True)
async def delegate(session: str) -> ToolResult:
    """Let another agent do it."""
    block = {"type": "subagent", "resource": session, "title": "Count the files", "agentName": "demo"}
    return ToolResult([block, "delegated"])  # type: ignore[list-item] # a block of this kind


@tool(title="Count", read_only=True, exposed=False)
async def counting(context: ToolContext) -> str:
    """Show progress."""
    for number in range(3):
        await context.progress(f"counted to {number}")
    return "counted"


def png(width: int = 24, height: int = 16) -> bytes:
    """Make a small picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes([30, 120, 110]) * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


async def answer(turn: Turn) -> None:
    """Do what a test asks for, and say the rest back."""
    word, _, rest = turn.text.partition(" ")
    match word:
        case "/tour":
            await tour(turn)
        case "/weigh":
            (result,) = await turn.calls(Call("weigh", {"what": rest}))
            await turn.say(str(result))
        case "/run":
            (result,) = await turn.calls(Call("run", {"command": rest}))
            await turn.say(str(result))
        case "/delegate":
            await turn.call("delegate", session=rest)
        case "/picture":
            await turn.show(png(), "image/png")
            await turn.show("line one\nline two\n" * 40)
        case "/steer":
            await _steer(turn)
        case "/link":
            answers = await turn.ask(message="Sign in there, then come back", url="https://example.org/login")
            await turn.say(answers.response)
        case "/choose":
            await _choose(turn)
        case "/lines":
            await _lines(turn, int(rest))
        case _:
            await turn.say(f"I heard: {turn.text}")


async def tour(turn: Turn) -> None:
    """Show all that an answer can be made of."""
    await turn.activity("Reading the parser")
    await turn.think("The file is read in two places. ")
    await turn.think("Is one of them needed at all?")
    for piece in TOUR.splitlines(keepends=True):
        await turn.say(piece)
    await turn.notify("The context is half full.")
    await turn.use(Usage(input_tokens=12_400, output_tokens=380, model="stage-1", cache_read_tokens=9_000))
    await turn.activity(None)


async def _steer(turn: Turn) -> None:
    await turn.activity("Listening")
    await turn.say("Waiting for a word. ")
    for _ in count():
        message = await turn.steering()
        if message is not None:
            await turn.activity(None)
            await turn.say(f"Steered: {message['content']}")
            return
        await turn.sleep(0.02)


async def _choose(turn: Turn) -> None:
    colours = [Choice("red", "Red", "warm"), Choice("blue", "Blue", "cool", recommended=True)]
    answers = await turn.ask(
        Question.choice("one", "Which colour?", colours, freeform=True),
        Question.choices("many", "Which extras?", ["ribbon", "card"], minimum=1, freeform=True),
        Question.text("mail", "Where to?", format="email", required=True),
    )
    await turn.say(f"{answers.get('one')} {answers.get('many')} {answers.get('mail')}")


async def _lines(turn: Turn, number: int) -> None:
    await turn.say("```text\n")
    for line in range(number):
        await turn.say(f"line {line} of a long answer that goes on and on\n")
    await turn.say("```\n\nThat was all.")


class Guarded(Agent):
    """Takes one token only."""

    async def accepts(self, resource: str, token: str) -> bool:
        return token == "good"  # noqa: S105 - what the test types


class Unready(Agent):
    """Never gets ready for a session."""

    async def prepare(self, session: str) -> None:
        raise HostError("there is no room left")


class Gradual(Agent):
    """Takes a while to get ready for a session."""

    async def prepare(self, session: str) -> None:
        await asyncio.sleep(0.7)


LOGIN = {"resource": "https://login.example", "resource_name": "The library"}
guarded = Guarded("guarded", answer, title="Guarded", protected_resources=[LOGIN])  # type: ignore[list-item]
unready = Unready("unready", answer, title="Unready")
gradual = Gradual("gradual", answer, title="Gradual")

stage = Agent(
    "stage",
    answer,
    title="Stage",
    tools=[weigh, delegate, counting, run],
    options=[
        Option.select("depth", ("shallow", "deep"), "shallow", title="Depth"),
        Option("branch", title="Branch", description="Where it works.", suggest=branches),
        Option("fixed", title="Fixed", default="stone", mutable=False),
    ],
)
