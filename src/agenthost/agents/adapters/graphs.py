"""LangGraph graphs as agents: a compiled graph whose state has `messages`. Its tokens stream, its tools show.

A graph without a checkpointer is given all messages each turn; with one, a thread for each session, what is
new. Interrupts are questions to the user. After a restart the turn is run again: from its checkpoint if the
graph keeps one, else from the top.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Any, Unpack

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.types import Command, Interrupt

from agenthost.core.transcript import Content, Message
from agenthost.host.agent import Agent, Description
from agenthost.host.asking import Question
from agenthost.host.reports import ReportedCall
from agenthost.host.toolresults import ToolResult
from agenthost.host.turn import Turn
from agenthost.tools.mcp.questions import Unaskable, content_of, questions_of
from agenthost.wire.json import encode_json

__all__ = ["LangGraphAgent"]


class LangGraphAgent(Agent):
    """A compiled graph: `LangGraphAgent("planner", graph)`.

    `speakers` are the nodes whose words are the answer; without it, all. `config` goes to the graph as it is.
    """

    client_tools = False
    images = ("http", "data")

    def __init__(
        self,
        name: str,
        graph: Any,
        *,
        config: Mapping[str, Any] | None = None,
        speakers: Collection[str] | None = None,
        **declared: Unpack[Description],
    ) -> None:
        self.graph = graph
        self._config = dict(config or {})
        self._speakers = speakers
        super().__init__(name, **declared)

    async def answer(self, turn: Turn) -> None:
        """Let the graph run, and show what it does."""
        run = _Run(turn, self._speakers)
        thread = {**self._config.get("configurable", {}), "thread_id": turn.session}
        config = {**self._config, "configurable": thread}
        given, asked = await self._input(turn, config)
        while True:
            if asked:
                given = Command(resume={one.id: await _answer(turn, one) for one in asked})
            asked = await run.follow(self.graph.astream(given, config, stream_mode=["messages", "updates"]))
            if not asked:
                return

    async def _input(self, turn: Turn, config: Any) -> tuple[Any, Sequence[Interrupt]]:
        """Give what the graph begins with, or what it still waits for since before a restart."""
        history = turn.history()
        said = _message(turn.transcript[len(history)])
        said.id = turn.id  # so that one that the graph has already stays one
        if self.graph.checkpointer is not None:
            state = await self.graph.aget_state(config)
            is_there = any(one.id == turn.id for one in state.values.get("messages", []))
            if is_there and state.interrupts:
                return None, state.interrupts
            if is_there and state.next:
                return None, ()  # it goes on from its checkpoint
            if state.values.get("messages"):
                return {"messages": [said]}, ()
        before = self.compact(history, self.budget(None))
        return {"messages": [*map(_message, before), said]}, ()


class _Run:
    """What a graph says and does in one turn."""

    def __init__(self, turn: Turn, speakers: Collection[str] | None) -> None:
        self._turn = turn
        self._speakers = speakers
        self._calls: dict[str, ReportedCall] = {}

    async def follow(self, events: AsyncIterator[Any]) -> Sequence[Interrupt]:
        """Show what happens; gives what the graph waits for at the end."""
        asked: Sequence[Interrupt] = ()
        async for mode, chunk in events:
            if mode == "messages":
                await self._speak(*chunk)
            elif "__interrupt__" in chunk:
                asked = chunk["__interrupt__"]
            else:
                for update in chunk.values():
                    self._note(update)
        return asked

    async def _speak(self, message: BaseMessage, metadata: Mapping[str, Any]) -> None:
        is_speaker = self._speakers is None or metadata.get("langgraph_node") in self._speakers
        if not is_speaker or not isinstance(message, AIMessage):
            return
        for block in message.content_blocks:
            if block["type"] == "reasoning" and block.get("reasoning"):
                await self._turn.think(block["reasoning"])
            elif block["type"] == "text" and block["text"]:
                await self._turn.say(block["text"])

    def _note(self, update: Any) -> None:
        found = update.get("messages", []) if isinstance(update, dict) else []
        for message in found if isinstance(found, list) else [found]:
            if isinstance(message, AIMessage):
                for call in message.tool_calls:
                    self._begin(call)
            elif isinstance(message, ToolMessage):
                self._end(message)

    def _begin(self, call: Any) -> None:
        if call["id"] not in self._calls:
            self._calls[call["id"]] = self._turn.report(call["name"], call["args"])
            self._calls[call["id"]].run()

    def _end(self, message: ToolMessage) -> None:
        call = self._calls.get(message.tool_call_id)
        if call is None or call.is_over:
            return
        if message.status == "error":
            call.fail(str(message.text))
        else:
            call.complete(ToolResult(str(message.text)))


async def _answer(turn: Turn, asked: Interrupt) -> Any:
    """Ask the user what a graph waits for: by its schema, if it has one, else for text."""
    message = asked.value if isinstance(asked.value, str) else encode_json(asked.value).decode()
    schema: Any = getattr(asked, "response_schema", None)
    if isinstance(schema, dict):
        try:
            answers = await turn.ask(*questions_of(schema), message=message)
        except Unaskable:
            pass  # asked for as text
        else:
            return content_of(answers, schema) if answers.is_accepted else None
    answers = await turn.ask(Question.text("answer", message, required=True))
    return answers.get("answer")


def _message(message: Message) -> BaseMessage:
    """Give a message of the transcript as LangChain has it."""
    match message["role"]:
        case "system":
            return SystemMessage(message["content"])
        case "user":
            return HumanMessage(_content(message["content"]))
        case "assistant":
            return _assistant(message["content"])
        case "tool":
            return ToolMessage(_content(message["content"]), tool_call_id=message["toolCallId"])


def _assistant(content: Content) -> AIMessage:
    if isinstance(content, str):
        return AIMessage(content)
    text = "".join(block["text"] for block in content if block["type"] == "text")
    calls = [
        {"name": block["name"], "args": block["input"], "id": block["toolCallId"]}
        for block in content
        if block["type"] == "tool_use"
    ]
    return AIMessage(text, tool_calls=calls)


def _content(content: Content) -> Any:
    if isinstance(content, str):
        return content
    blocks: list[Any] = []
    for block in content:
        if block["type"] == "text":
            blocks.append({"type": "text", "text": block["text"]})
        elif block["type"] == "image":
            blocks.append({"type": "image_url", "image_url": {"url": block["url"]}})
    return blocks
