"""Agents for the tests of AAP: one whose model can be told what to call, and some that offer little."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from agenthost.core.transcript import public
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.options import Option
from agenthost.host.authoring.steps import Call, Thought
from agenthost.host.authoring.tool import Tool, tool
from agenthost.host.authoring.tool_results import ToolResult
from agenthost.host.authoring.turn import Turn
from agenthost.wire.ahp.legacy.toolcall import ConfirmationOption

RAN: list[str] = []
"""What tools were run with, in order; tests look for words of their own."""


@tool(title="Note")
async def note(text: str) -> str:
    """Note something down."""
    RAN.append(text)
    return f"noted {text}"


@tool(title="Other")
async def other(text: str) -> str:
    """Note something else down."""
    return await note.function(text)  # type: ignore[no-any-return]


@tool(title="Secretly", exposed=False)
async def secretly(text: str) -> str:
    """Do what no application has to know of."""
    return f"secretly {text}"


@tool(title="Slow")
async def slow(seconds: float) -> str:
    """Take a while."""
    await asyncio.sleep(seconds)
    return "at last"


async def step(turn: Turn) -> AsyncIterator[Any]:
    """Call the tools that the user lists as JSON; then say what the model was given since then, as JSON."""
    messages = public(turn.messages)
    start = max(place for place, one in enumerate(messages) if one["role"] == "user")
    since = messages[start + 1 :]
    if turn.text == "/everything":
        yield json.dumps(messages)
    elif not any(one["role"] == "tool" for one in since) and turn.text.startswith("["):
        yield Thought("Let me see. ")
        yield "One moment. "
        for name, arguments in json.loads(turn.text):
            yield Call(name, arguments)
    else:
        yield json.dumps(since)


async def broken(turn: Turn) -> AsyncIterator[Any]:
    """Break in a way that nobody has thought of."""
    yield "So far "
    yield "so good. "
    raise RuntimeError(f"a secret of ours: {turn.text}")


async def report(turn: Turn) -> None:
    """Run tools by itself: one at once, then one that begins, asks, and ends."""
    await turn.say("I look. ")
    turn.report("read", {"path": "a"}, title="Read a").complete(ToolResult("it is empty"))
    call = turn.report("edit", {"path": "a"}, title="Edit a")
    call.run()
    decision = await call.ask([{"id": "once", "label": "Allow", "kind": "approve"}])
    if decision.approved:
        call.describe("Edit a, in two places")
        call.complete(ToolResult("edited"))
    await turn.say(f"So: {decision.reason or decision.approved}")


async def juggle(turn: Turn) -> None:
    """Run tools by itself, several at once: one ends while another asks, and one asks while another runs."""
    allow: list[ConfirmationOption] = [{"id": "once", "label": "Allow", "kind": "approve"}]
    first = turn.report("read", {"path": "a"}, title="Read a")
    first.run()
    await turn.say("Meanwhile. ")
    second = turn.report("edit", {"path": "b"}, title="Edit b")
    second.put_question(allow)
    first.complete(ToolResult("it is empty"))
    await second.wait_decision()
    third = turn.report("move", {"path": "c"}, title="Move c")
    await third.ask(allow)
    third.complete(ToolResult("moved"))
    second.complete(ToolResult("edited"))
    await turn.say("Done.")


class Unready(Agent):
    """Never gets ready for a session."""

    async def prepare(self, session: str) -> None:
        raise RuntimeError("no room")


async def quiet(turn: Turn) -> None:
    """Say back what was said."""
    await turn.say(turn.text)


async def keep(turn: Turn) -> None:
    """Tell the secrets, as no agent should."""
    await turn.say(", ".join(f"{name}: {turn.options[name]}" for name in ("given", "fixed")))


TOOLS: tuple[Tool, ...] = (note, other, secretly, slow)

stepper = Agent("stepper", step, tools=TOOLS, stream=("delta", "message", "none"))
plain = Agent(
    "plain",
    quiet,
    history=(),
    stream=(),
    images=(),
    client_tools=False,
    options=(Option("fixed", "text", "at first", mutable=False),),
)
brief = Agent("brief", quiet, history=("compacted",), stream=("message",), images=("data",))
keeper = Agent(
    "keeper",
    keep,
    options=(
        Option("empty", "secret"),
        Option("given", "secret", "by-default"),
        Option("fixed", "secret", mutable=False),
    ),
)
AGENTS = (
    stepper,
    plain,
    brief,
    keeper,
    Agent("broken", broken),
    Agent("reporter", report),
    Agent("juggler", juggle),
    Unready("unready", quiet),
)
