"""LangGraph graphs in sessions: their words as they come, their tools, their interrupts, their memory."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt

from agenthost.agents.adapters import LangGraphAgent
from hosting import run
from talking import Talk, talking
from turning import calls_in, crash, transcript, until


class Chatty(BaseChatModel):
    """A model that says how many messages it was given, word by word."""

    @property
    def _llm_type(self) -> str:
        return "chatty"

    def _generate(self, messages: Any, *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(f"{len(messages)} messages"))])

    def _stream(self, messages: Any, *_: Any, **__: Any) -> Iterator[ChatGenerationChunk]:
        yield ChatGenerationChunk(message=AIMessageChunk(content=f"{len(messages)} "))
        yield ChatGenerationChunk(message=AIMessageChunk(content="messages"))


def chatty(**compiled: Any) -> Any:
    async def chat(state: MessagesState) -> Any:
        return {"messages": [await Chatty().ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("chat", chat)
    graph.add_edge(START, "chat")
    return graph.compile(**compiled)


def test_text_streams_and_a_graph_without_memory_gets_all_messages(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, LangGraphAgent("demo", chatty())) as host:
            talk = await Talk.begin(host)
            heard = await talk.say("One")
            assert heard.text == "1 messages"
            await talk.say("Two")
            assert talk.answer == "3 messages"

    run(story)


def test_a_graph_with_memory_gets_the_new_message_or_all_if_it_has_none(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, LangGraphAgent("demo", chatty(checkpointer=InMemorySaver()))) as host:
            talk = await Talk.begin(host)
            await talk.say("One")
            await talk.say("Two")
            assert talk.answer == "3 messages"
        async with talking(tmp_path, LangGraphAgent("demo", chatty(checkpointer=InMemorySaver()))) as host:
            talk = await Talk.join(host, talk.uri)
            await talk.say("Three")
            assert talk.answer == "5 messages"

    run(story)


def worker(saver: InMemorySaver, asked: list[str]) -> LangGraphAgent:
    """Make an agent that looks something up in a place that it asks for."""

    def look_up(place: str) -> str:
        """Look something up."""
        if place == "nowhere":
            raise ValueError("there is no such place")
        return f"found in {place}"

    def think(state: MessagesState) -> Any:
        last = state["messages"][-1]
        if last.type == "tool":
            return {"messages": [AIMessage(f"It is {last.text}.")]}
        place = interrupt("Where?")
        asked.append(place)
        call = {"name": "look_up", "args": {"place": place}, "id": f"c{len(state['messages'])}"}
        return {"messages": [AIMessage("I look. ", tool_calls=[call])]}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("tools", ToolNode([look_up], handle_tool_errors=True))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition, {"tools": "tools", END: END})
    graph.add_edge("tools", "think")
    return LangGraphAgent("demo", graph.compile(checkpointer=saver))


def place(name: str) -> Any:
    return {"answer": {"kind": "text", "value": name}}


def test_interrupts_are_asked_and_tool_calls_are_shown(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, worker(InMemorySaver(), [])) as host:
            talk = await Talk.begin(host)
            for name, ok in (("the box", True), ("nowhere", False)):
                await talk.send("Find it")
                asked = await talk.hear_one("inputRequested")
                assert asked["request"]["questions"][0]["message"] == "Where?"
                await talk.reply(asked, place(name))
                await talk.finish()
                (call,) = calls_in(talk.state["turns"][-1])
                assert (call["toolName"], call["success"]) == ("look_up", ok)
            assert talk.state["turns"][0]["responseParts"][-1]["content"] == "It is found in the box."
            assert "there is no such place" in talk.answer
            assert [one["role"] for one in transcript(talk.session)][:4] == [
                "user",
                "assistant",
                "tool",
                "assistant",
            ]

    run(story)


def test_what_a_graph_waits_for_is_still_asked_after_a_crash(tmp_path: Path) -> None:
    saver, answered = InMemorySaver(), list[str]()

    async def story() -> None:
        async with talking(tmp_path, worker(saver, answered)) as host:
            talk = await Talk.begin(host)
            await talk.send("Find it")
            first = await talk.hear_one("inputRequested")
            crash(tmp_path, tmp_path / "after")
        async with talking(tmp_path / "after", worker(saver, answered)) as host:
            talk = await Talk.join(host, talk.uri)
            await until(talk, lambda state: state.get("inputRequests"))
            await talk.reply(first, place("the attic"))
            await talk.finish()
            assert talk.answer == "I look. It is found in the attic."
        assert answered == ["the attic"]

    run(story)


def test_only_the_speakers_are_shown(tmp_path: Path) -> None:
    def plan(state: MessagesState) -> Any:
        return {"messages": [AIMessage("secret plan")]}

    def speak(state: MessagesState) -> Any:
        return {
            "messages": [
                AIMessage([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Hi"}])
            ]
        }

    graph = StateGraph(MessagesState)
    graph.add_node("plan", plan)
    graph.add_node("speak", speak)
    graph.add_edge(START, "plan")
    graph.add_edge("plan", "speak")

    async def story() -> None:
        async with talking(tmp_path, LangGraphAgent("demo", graph.compile(), speakers=["speak"])) as host:
            talk = await Talk.begin(host)
            heard = await talk.say("Hello")
            assert (heard.text, heard.thoughts) == ("Hi", "hm")

    run(story)
