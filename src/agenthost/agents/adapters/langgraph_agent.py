"""LangGraph graphs as agents: compiled graphs whose state has `messages`. Tokens and tool calls are shown.

Without a checkpointer, a graph gets all messages in each turn. With one, each session is a thread and gets
only the new message. Interrupts become questions to the user. After a restart the turn is run again: from its
checkpoint if there is one, otherwise from the start.
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
from agenthost.host.authoring.agent import Agent, Description
from agenthost.host.authoring.questions import Question
from agenthost.host.authoring.reported_call import ReportedCall
from agenthost.host.authoring.tool_results import ToolResult
from agenthost.host.authoring.turn import Turn
from agenthost.tools.mcp.questions import UnsupportedForm, answers_to_content, questions_from_schema
from agenthost.wire.json import encode_json

__all__ = ["LangGraphAgent"]


class LangGraphAgent(Agent):
    """A compiled graph: `LangGraphAgent("planner", graph)`.

    `speakers` are the nodes whose text is shown, by default all. `config` is passed to the graph unchanged.
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
        """Run the graph, and show what it does."""
        run = _GraphRun(turn, self._speakers)
        thread = {**self._config.get("configurable", {}), "thread_id": turn.session}
        config = {**self._config, "configurable": thread}
        graph_input, interrupts = await self._input(turn, config)
        while True:
            if interrupts:
                answers = {one.id: await _answer(turn, one) for one in interrupts}
                graph_input = Command(resume=answers)
            interrupts = await run.follow(
                self.graph.astream(graph_input, config, stream_mode=["messages", "updates"])
            )
            if not interrupts:
                return

    async def _input(self, turn: Turn, config: Any) -> tuple[Any, Sequence[Interrupt]]:
        """Return the input of the graph, and the interrupts that are still open from before a restart."""
        history = turn.history()
        message = _to_langchain(turn.transcript[len(history)])
        message.id = turn.id  # the graph replaces a message with the same id, so it is not added twice
        if self.graph.checkpointer is not None:
            state = await self.graph.aget_state(config)
            is_known = any(one.id == turn.id for one in state.values.get("messages", []))
            if is_known and state.interrupts:
                return None, state.interrupts
            if is_known and state.next:
                return None, ()  # continue from the checkpoint
            if state.values.get("messages"):
                return {"messages": [message]}, ()
        before = self.compact(history, self.budget(None))
        return {"messages": [*map(_to_langchain, before), message]}, ()


class _GraphRun:
    """Shows what a graph does in one turn."""

    def __init__(self, turn: Turn, speakers: Collection[str] | None) -> None:
        self._turn = turn
        self._speakers = speakers
        self._calls: dict[str, ReportedCall] = {}

    async def follow(self, events: AsyncIterator[Any]) -> Sequence[Interrupt]:
        """Show the events of a run, and return the interrupts at its end."""
        interrupts: Sequence[Interrupt] = ()
        async for mode, chunk in events:
            if mode == "messages":
                await self._stream(*chunk)
            elif "__interrupt__" in chunk:
                interrupts = chunk["__interrupt__"]
            else:
                for update in chunk.values():
                    self._record(update)
        return interrupts

    async def _stream(self, message: BaseMessage, metadata: Mapping[str, Any]) -> None:
        is_speaker = self._speakers is None or metadata.get("langgraph_node") in self._speakers
        if not is_speaker or not isinstance(message, AIMessage):
            return
        for block in message.content_blocks:
            if block["type"] == "reasoning" and block.get("reasoning"):
                await self._turn.think(block["reasoning"])
            elif block["type"] == "text" and block["text"]:
                await self._turn.say(block["text"])

    def _record(self, update: Any) -> None:
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


async def _answer(turn: Turn, interrupt: Interrupt) -> Any:
    """Ask the user for the value of an interrupt: by its schema if it has one, otherwise as text."""
    message = interrupt.value if isinstance(interrupt.value, str) else encode_json(interrupt.value).decode()
    schema: Any = getattr(interrupt, "response_schema", None)
    if isinstance(schema, dict):
        try:
            answers = await turn.ask(*questions_from_schema(schema), message=message)
        except UnsupportedForm:
            pass  # asked as text below
        else:
            return answers_to_content(answers, schema) if answers.is_accepted else None
    answers = await turn.ask(Question.text("answer", message, required=True))
    return answers.get("answer")


def _to_langchain(message: Message) -> BaseMessage:
    """Convert a message of the transcript to LangChain's."""
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
