"""The agents that the chat is tested with: the demo agent, and one for what that does not do."""

import asyncio

from agenthost import Agent, Choice, Question, ToolResult, Turn, Usage, tool
from agenthost.agents.demo import demo
from agenthost.agents.demo.arguments import parse_calls
from agenthost.tools.subagents import subagent
from agenthost.tools.workspace import edit_file

__all__ = ["demo", "guarded", "showman"]

DOCUMENT = """# A title

Some *emphasis*, **strong** words and `code`, in a paragraph that is long enough to be wrapped.

1. first
2. second
   - nested

```python
def double(number: int) -> int:
    return 2 * number  # no <b>tag</b> is lost
```

| name | count |
|---|--:|
| 日本語 | 1 |
| plain | 22 |

> quoted

Done: 你好世界.
"""


@tool(title="Secret", read_only=True, needs_result_confirmation=True)
async def secret() -> str:
    """Return what not everybody may see."""
    return "the number is 42"


@tool(title="Slip", read_only=True)
async def slip() -> str:
    """Fail with an error that no tool should raise."""
    raise ValueError("no such luck")


async def wait(turn: Turn, word: str) -> None:
    """Wait for the user, in one of several ways."""
    match word:
        case "/late":  # a second call asks while the first still waits
            first, second = turn.report("Dig"), turn.report("Fill")
            first.put_question([])
            await asyncio.sleep(0.5)
            second.put_question([])
            for call in (first, second):
                await call.wait_decision()
                call.complete(ToolResult(["done"]))
            await turn.say("Dug and filled.")
        case "/free":
            colours = [Choice("r", "Red"), Choice("b", "Blue", description="like the sea")]
            question = Question.choice("colour", "Which colour?", colours, freeform=True)
            await turn.say(f"chosen: {(await turn.ask(question)).get('colour')}")
        case "/visit":
            answers = await turn.ask(message="Please sign in", url="https://id.example.org/login")
            await turn.say(f"{answers.response}ed")
        case "/steer":
            await turn.ask("Go on?")
            steering = await turn.steering()
            await turn.say(f"steered by {steering['content']}" if steering else "not steered")


async def show(turn: Turn) -> None:
    """Show what the demo agent does not do."""
    word, _, rest = turn.text.partition(" ")
    match word:
        case "/document":
            for at in range(0, len(DOCUMENT), 7):
                await turn.say(DOCUMENT[at : at + 7])
        case "/lines":
            await turn.say("```text\n")
            for number in range(int(rest)):
                await turn.say(f"line {number}\n")
            await turn.say("```\nand the end")
        case "/usage":
            await turn.activity("Counting sheep")
            await turn.ask("Go on?")
            await turn.use(Usage(input_tokens=1_234, output_tokens=56, model="wool"))
            await turn.activity(None)
            await turn.notify("The meadow is nearly empty.")
            await turn.show(b"\x89PNG", "image/png")
        case "/call":
            (call,) = parse_calls(rest)
            (result,) = await turn.calls(call)
            await turn.say(f"{call.name} -> {result}")
        case "/slip":
            await turn.call("slip")
        case "/late" | "/free" | "/visit" | "/steer":
            await wait(turn, word)
        case _:
            await turn.say(f"{len(turn.message.get('attachments', []))} attachments: {turn.text}")


guarded = Agent(
    "guarded",
    show,
    protected_resources=[{"resource": "https://api.example.org", "resource_name": "Example"}],
)
showman = Agent("showman", show, title="Showman", tools=[secret, slip, edit_file, subagent("demo")])
