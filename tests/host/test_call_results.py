"""What calls show while they come and run, and what they leave: input, progress, results, files, ids."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agenthost.errors import ToolError
from agenthost.host.authoring.steps import Call, CallInput
from agenthost.host.authoring.tool import tool
from agenthost.host.authoring.tool_context import ToolContext
from agenthost.host.authoring.tool_results import ToolResult, embed
from agenthost.host.authoring.turn import Turn
from agenthost.host.limits import Limits
from talking import Talk
from turning import assistant, calls_in, tell, transcript, until, use, user

PIXEL = embed(b"\x89PNG\r\n\x1a\n")


def trusted(*names: str) -> Any:
    return {"tools": dict.fromkeys(names, True)}


def test_a_handler_gets_text_structure_and_content_or_an_error(tmp_path: Path) -> None:
    def count() -> dict[str, int]:
        return {"files": 3}

    def fails() -> ToolResult:
        return ToolResult("half of it", error="The rest is gone.")

    async def handler(turn: Turn) -> None:
        counted = await turn.call("count")
        assert (counted, counted.ok, counted.structured) == ('{"files":3}', True, {"files": 3})
        assert counted.content == [{"type": "text", "text": '{"files":3}'}]
        with pytest.raises(ToolError, match="The rest is gone"):
            await turn.call("fails")
        (failed,) = await turn.calls(Call("fails"))
        assert (failed, failed.ok, failed.structured) == ("The rest is gone.\nhalf of it", False, None)
        assert await turn.calls() == []
        await turn.say("All right.")

    async def story(talk: Talk) -> None:
        await talk.say("Hi")
        assert talk.answer == "All right."
        assert calls_in(talk.state["turns"][0])[0]["structuredContent"] == {"files": 3}

    tell(tmp_path, handler, story, tools=[count, fails], start=trusted("count", "fails"))


def test_what_a_tool_reports_while_it_runs_is_seen_and_the_result_takes_its_place(tmp_path: Path) -> None:
    async def work(context: ToolContext) -> str:
        await context.progress("half")
        await context.progress("nearly", {"type": "resource", "uri": "file:///x"})
        return "all"

    async def handler(turn: Turn) -> None:
        await turn.call("work")

    async def story(talk: Talk) -> None:
        heard = await talk.say("Hi")
        shown = [action["content"] for action in heard.of("toolCallContentChanged")]
        assert [[block.get("text") for block in blocks] for blocks in shown] == [["half"], ["nearly", None]]
        (call,) = calls_in(talk.state["turns"][0])
        assert call["content"] == [{"type": "text", "text": "all"}]

    tell(tmp_path, handler, story, tools=[work], start=trusted("work"))


def test_a_large_result_is_kept_by_reference_and_the_model_reads_all_of_it(tmp_path: Path) -> None:
    text, image = "é" * 70_000, b"\x89PNG\r\n\x1a\n" + bytes(70_000)

    def big() -> ToolResult:
        return ToolResult([text, embed(image), PIXEL])

    async def handler(turn: Turn) -> None:
        await turn.call("big")

    async def story(talk: Talk) -> None:
        await talk.say("Hi")
        (call,) = calls_in(talk.state["turns"][0])
        beginning, whole, picture, small = call["content"]
        assert beginning["text"] == text[:2_000] + "…"
        assert small == PIXEL
        contents = talk.host.parts.engine.contents
        assert (await contents.read(whole["uri"])).data.decode() == text
        assert (await contents.read(picture["uri"])).data == image
        words, *_, last = transcript(talk.session)[-1]["content"]
        assert text in words["text"]
        assert last == {"type": "image", "url": f"data:image/png;base64,{PIXEL['data']}"}

    tell(tmp_path, handler, story, tools=[big], start=trusted("big"))


def test_files_that_tools_change_are_the_diffs_of_the_session(tmp_path: Path) -> None:
    @tool
    def write(context: ToolContext, name: str, before: str | None, after: str | None) -> ToolResult:
        return ToolResult([context.edited(context.workspace / name, before, after)])

    steps = [("a", None, "1\n"), ("a", "1\n", "1\n2\n"), ("b", "x", None), ("c", None, "c"), ("c", "c", None)]

    async def handler(turn: Turn) -> None:
        for name, before, after in steps:
            await turn.call("write", name=name, before=before, after=after)

    async def story(talk: Talk) -> None:
        await talk.say("Hi")
        new, gone = talk.state["summary"]["diffs"]
        assert (new["after"]["uri"].rpartition("/")[2], new["diff"]) == ("a", {"added": 2, "removed": 0})
        assert "before" not in new
        assert (gone["before"]["uri"].rpartition("/")[2], "after" in gone) == ("b", False)
        contents = talk.host.parts.engine.contents
        assert (await contents.read(new["after"]["content"]["uri"])).data == b"1\n2\n"

    tell(tmp_path, handler, story, tools=[write], start=trusted("write"))


def greet(name: str) -> str:
    return f"Hello {name}"


def test_the_input_of_a_call_streams_before_it_is_complete(tmp_path: Path) -> None:
    seen: list[str] = []

    async def step(turn: Turn) -> AsyncIterator[Any]:
        if turn.transcript[-1]["role"] == "tool":
            return
        yield "Now: "
        for piece in ('{"na', "", 'me":', '"Ann"}'):
            yield CallInput("model-1", "greet", piece)
        (call,) = calls_in(turn._run.turn)
        seen.append(call["partialInput"])
        yield Call("greet", {"name": "Ann"}, "model-1", {"demo": {"signature": 7}})

    async def story(talk: Talk) -> None:
        heard = await talk.say("Hi")
        assert seen == ['{"name":"Ann"}']
        assert [one["content"] for one in heard.of("toolCallDelta")] == ['{"na', 'me":', '"Ann"}']
        said = transcript(talk.session)
        assert said[:2] == [user("Hi"), assistant("Now: ", use("model-1", "greet", name="Ann"))]
        kept: Any = talk.session.messages[1].message["content"]
        assert kept[1]["_private"] == {"demo": {"signature": 7}}

    tell(tmp_path, step, story, tools=[greet], start=trusted("greet"))


def test_a_long_input_costs_no_more_for_each_piece_than_a_short_one(tmp_path: Path) -> None:
    """A state that was folded for each piece would be half a terabyte of copying."""
    pieces = 20_000

    async def step(turn: Turn) -> AsyncIterator[Any]:
        if turn.transcript[-1]["role"] == "tool":
            return
        yield CallInput("id", "greet", '{"name":"')
        for _ in range(pieces):
            yield CallInput("id", "greet", "x" * 50)
        yield CallInput("id", "greet", '"}')
        yield Call("greet", {"name": "x" * 50 * pieces}, "id")

    async def story(talk: Talk) -> None:
        await talk.send("Hi")
        await until(talk, lambda state: state["turns"])
        assert len(transcript(talk.session)[2]["content"]) == 50 * pieces + len("Hello ")

    limits = Limits(subscriber_items=100_000, subscriber_bytes=1 << 30)
    tell(tmp_path, step, story, tools=[greet], start=trusted("greet"), limits=limits)


def test_ids_that_a_model_gives_twice_are_two_calls_and_each_runs_the_tool_it_names(tmp_path: Path) -> None:
    def leave() -> str:
        return "left"

    async def step(turn: Turn) -> AsyncIterator[Any]:
        if len(turn.transcript) == 1:
            yield Call("greet", {"name": "Ann"}, "x")
            yield Call("leave", {}, "x")
            yield Call("greet", {"name": "Bob"}, "x")
        elif len(turn.transcript) == 5:
            yield Call("greet", {"name": "Cid"}, "x")

    async def story(talk: Talk) -> None:
        await talk.say("Hi")
        calls = calls_in(talk.state["turns"][0])
        assert len({call["toolCallId"] for call in calls}) == 4
        assert calls[0]["toolCallId"] == "x"
        shown = [(call["toolName"], call["content"][0]["text"]) for call in calls]
        assert shown == [
            ("greet", "Hello Ann"),
            ("leave", "left"),
            ("greet", "Hello Bob"),
            ("greet", "Hello Cid"),
        ]
        transcript(talk.session)

    tell(tmp_path, step, story, tools=[greet, leave], start=trusted("greet", "leave"))


def test_a_call_that_was_begun_and_never_made_is_closed_and_no_part_of_the_transcript(tmp_path: Path) -> None:
    async def step(_turn: Turn) -> AsyncIterator[Any]:
        yield "Perhaps: "
        yield CallInput("x", "greet", '{"na')

    async def story(talk: Talk) -> None:
        await talk.say("Hi")
        (call,) = calls_in(talk.state["turns"][0])
        assert (call["status"], call["reason"]) == ("cancelled", "skipped")
        assert transcript(talk.session) == [user("Hi"), assistant("Perhaps: ")]

    tell(tmp_path, step, story, tools=[greet], start=trusted("greet"))


def test_the_input_of_a_call_has_to_be_json(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def step(_turn: Turn) -> AsyncIterator[Any]:
        yield Call("greet", ["Ann"])  # type: ignore[arg-type] # that is the point

    async def story(talk: Talk) -> None:
        assert (await talk.say("Hi")).ending["type"] == "session/error"

    tell(tmp_path, step, story, tools=[greet], start=trusted("greet"))
    assert "the input of a call must be a dict, not list" in caplog.text
