"""Calls that an agent runs by itself: people see them as all others, and decide about them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agenthost.core.legacy.reducers import Live, reduce_session
from agenthost.core.transcript import requested_calls
from agenthost.host.authoring.reported_call import Decision
from agenthost.host.authoring.tool_results import ToolResult
from agenthost.host.authoring.turn import Turn
from agenthost.wire.ahp.legacy.toolcall import ConfirmationOption
from hosting import run
from talking import Talk, talking
from turning import (
    assistant,
    calls_in,
    crash,
    exact_transcript,
    made,
    result,
    tell,
    transcript,
    until_call,
    use,
    user,
)

OPTIONS: list[ConfirmationOption] = [
    {"id": "once", "label": "Once", "kind": "approve"},
    {"id": "always", "label": "Always", "kind": "approve"},
    {"id": "no", "label": "No", "kind": "deny"},
]


def last_calls(talk: Talk) -> list[Any]:
    return calls_in(talk.state["turns"][-1])


def test_a_call_is_shown_from_its_beginning_to_its_end(tmp_path: Path) -> None:
    async def answer(turn: Turn) -> None:
        await turn.say("I look. ")
        call = turn.report("read", title="Read notes")
        call.describe("Read notes.txt", {"path": "notes.txt"})
        call.run()
        call.show("half")
        call.complete(ToolResult("all of it", message="Read notes.txt"))
        await turn.say("There it is.")

    async def story(talk: Talk) -> None:
        heard = await talk.say("Look")
        kinds = [action["type"].removeprefix("session/") for action in heard.actions]
        assert [kind for kind in kinds if kind.startswith("toolCall")] == [
            "toolCallStart",
            "toolCallReady",
            "toolCallContentChanged",
            "toolCallComplete",
        ]
        (call,) = last_calls(talk)
        assert (call["status"], call["confirmed"], call["success"]) == ("completed", "not-needed", True)
        assert call["invocationMessage"] == "Read notes.txt"
        assert call["toolInput"] == '{"path":"notes.txt"}'
        call_id = call["toolCallId"]
        assert transcript(talk.session) == [
            user("Look"),
            assistant("I look. ", use(call_id, "read", path="notes.txt")),
            result(call_id, "all of it"),
            assistant("There it is."),
        ]

    tell(tmp_path, answer, story)


def test_whatever_is_said_of_a_call_every_action_counts(tmp_path: Path) -> None:
    async def answer(turn: Turn) -> None:
        first, second, third = (turn.report("other", title=title) for title in "abc")
        first.complete(ToolResult("done"))
        first.show("late")
        first.complete(ToolResult("again"))
        second.show("early")
        second.describe("B", {"at": 1})
        second.fail("no luck")
        third.describe("C")

    async def story(talk: Talk) -> None:
        before = Live(talk.state)
        heard = await talk.say("Go")
        for action in heard.actions:
            after = reduce_session(before, action, 0)
            assert "toolCall" not in action["type"] or after.state != before.state, action
            before = after
        first, second, third = last_calls(talk)
        assert (first["status"], first["content"]) == ("completed", [{"type": "text", "text": "done"}])
        assert second["error"] == {"message": "no luck", "code": "failed"}
        assert (second["invocationMessage"], second["toolInput"]) == ("B", '{"at":1}')
        assert (third["status"], third["reason"]) == ("cancelled", "skipped")
        assert [one["role"] for one in transcript(talk.session)] == ["user", *["assistant", "tool"] * 2]

    tell(tmp_path, answer, story)


@pytest.mark.parametrize("is_running", [False, True], ids=["before it runs", "while it runs"])
@pytest.mark.parametrize("option", [None, "once", "always"])
def test_who_allows_it_says_how(tmp_path: Path, option: str | None, is_running: bool) -> None:
    decided: list[Decision] = []

    async def answer(turn: Turn) -> None:
        call = turn.report("edit", {"path": "a"}, title="Edit a")
        if is_running:
            call.run()
            call.show("so far")
        decided.append(await call.ask(OPTIONS, question="May I?"))
        call.complete(ToolResult("edited"))

    async def story(talk: Talk) -> None:
        await talk.send("Edit")
        call = await until_call(talk, "pending-confirmation")
        assert (call["confirmationTitle"], call["options"]) == ("May I?", OPTIONS)
        assert await talk.approve(call, option=option) is None
        await talk.finish()
        assert decided == [Decision(approved=True, option=option)]
        assert last_calls(talk)[0]["confirmed"] == "user-action"
        assert transcript(talk.session)[2] == result(call["toolCallId"], "edited")

    tell(tmp_path, answer, story)


def test_a_denial_comes_with_its_reason(tmp_path: Path) -> None:
    decided: list[Decision] = []

    async def answer(turn: Turn) -> None:
        call = turn.report("edit", title="Edit a")
        decided.append(await call.ask(OPTIONS))
        call.fail("never mind")

    async def story(talk: Talk) -> None:
        await talk.send("Edit")
        call = await until_call(talk, "pending-confirmation")
        suggestion = {"text": "edit b"}
        ids = {"turnId": call["turnId"], "toolCallId": call["toolCallId"]}
        fields = {"reason": "denied", "reasonMessage": "not a", "userSuggestion": suggestion}
        assert (
            await talk.act("toolCallConfirmed", **ids, approved=False, selectedOptionId="no", **fields)
            is None
        )
        await talk.finish()
        assert decided == [Decision(approved=False, option="no", reason="not a\nedit b")]
        assert last_calls(talk)[0]["status"] == "cancelled"
        said = transcript(talk.session)[2]
        assert said == result(call["toolCallId"], "Tool call denied: not a\nThe user suggests: edit b")

    tell(tmp_path, answer, story)


def test_calls_that_overlap_are_told_when_they_have_ended_and_one_that_asks_at_once(tmp_path: Path) -> None:
    async def answer(turn: Turn) -> None:
        first = turn.report("read", {"at": 1})
        first.run()
        await turn.say("Meanwhile. ")
        second = turn.report("read", {"at": 2})
        decision = asyncio.ensure_future(second.ask(OPTIONS))
        await asyncio.sleep(0)
        first.complete(ToolResult("one"))
        await decision
        third = turn.report("read", {"at": 3})
        third.run()
        third.complete(ToolResult("three"))
        second.complete(ToolResult("two"))
        await turn.say("Done.")

    async def story(talk: Talk) -> None:
        await talk.send("Go")
        call = await until_call(talk, "pending-confirmation")
        # Whoever comes back now finds in the transcript what there is to decide.
        said = [message for one in talk.session.messages for message in requested_calls(one.message)]
        assert said[-1] == use(call["toolCallId"], "read", at=2)
        await talk.approve(call)
        await talk.finish()
        one, two, three = (call["toolCallId"] for call in last_calls(talk))
        assert transcript(talk.session) == [
            user("Go"),
            assistant("Meanwhile. ", use(two, "read", at=2)),
            result(two, "two"),
            assistant(use(one, "read", at=1)),
            result(one, "one"),
            assistant(use(three, "read", at=3)),
            result(three, "three"),
            assistant("Done."),
        ]

    tell(tmp_path, answer, story)


def test_what_is_still_open_when_the_turn_ends_is_skipped_and_the_rest_is_told(tmp_path: Path) -> None:
    async def answer(turn: Turn) -> None:
        turn.report("read", {"at": 1}).run()
        turn.report("read", {"at": 2}).complete(ToolResult("two"))
        turn.report("read", {"at": 3}).run()
        await turn.say("So.")

    async def story(talk: Talk) -> None:
        await talk.say("Go")
        one, two, three = (call["toolCallId"] for call in last_calls(talk))
        skipped = "Tool call skipped: the turn ended before it could finish."
        assert transcript(talk.session)[2::2] == [
            result(two, "two"),
            result(one, skipped),
            result(three, skipped),
        ]

    tell(tmp_path, answer, story)


def test_changes_of_files_are_shown_before_and_after(tmp_path: Path) -> None:
    async def answer(turn: Turn) -> None:
        call = turn.report("edit", title="Edit a")
        edit = call.edited(turn.workspace / "a", "old\n", "new\n")
        await call.ask(OPTIONS, edits=[edit])
        call.complete(ToolResult([call.edited(turn.workspace / "a", "old\n", "new\n")]))

    async def story(talk: Talk) -> None:
        await talk.send("Edit")
        call = await until_call(talk, "pending-confirmation")
        (item,) = call["edits"]["items"]
        assert item["diff"] == {"added": 1, "removed": 1}
        content = await talk.host.parts.files.read(None, {"uri": item["after"]["content"]["uri"]})
        assert content["data"] == "new\n"
        await talk.approve(call)
        await talk.finish()
        assert last_calls(talk)[0]["content"] == [{"type": "fileEdit", **item}]
        assert talk.state["summary"]["diffs"] == [item]

    tell(tmp_path, answer, story)


@pytest.mark.parametrize("option", [None, "always"])
def test_a_handler_that_is_run_again_finds_its_calls_as_they_were(tmp_path: Path, option: str | None) -> None:
    runs: list[Decision] = []

    async def answer(turn: Turn) -> None:
        call = turn.report("edit", {"path": "a"}, title="Edit a")
        runs.append(await call.ask(OPTIONS))
        call.complete(ToolResult("edited"))
        other = turn.report("edit", {"path": "b"}, title="Edit b")
        runs.append(await other.ask(OPTIONS))
        other.complete(ToolResult("edited too"))

    (tmp_path / "one").mkdir()

    async def inner() -> None:
        async with talking(tmp_path / "one", made(answer)) as host:
            talk = await Talk.begin(host)
            await talk.send("Edit")
            await talk.approve(await until_call(talk, "pending-confirmation"), option=option)
            await until_call(talk, "completed")
            await until_call(talk, "pending-confirmation")
            crash(tmp_path / "one", tmp_path / "two")
            uri = talk.uri
        async with talking(tmp_path / "two", made(answer)) as host:
            talk = await Talk.join(host, uri)
            await talk.approve(await until_call(talk, "pending-confirmation"), option="once")
            await talk.finish()
            first = Decision(approved=True, option=option)
            assert runs == [first, first, Decision(approved=True, option="once")]
            assert [call["status"] for call in last_calls(talk)] == ["completed", "completed"]
            assert len(exact_transcript(talk.session)) == 5

    run(inner)


def test_what_an_agent_keeps_is_there_after_a_restart_and_not_in_a_fork(tmp_path: Path) -> None:
    async def answer(turn: Turn) -> None:
        await turn.say(str(turn.kept.get("count", 0)))
        await turn.keep({"count": turn.kept.get("count", 0) + 1})

    async def inner() -> None:
        async with talking(tmp_path, made(answer)) as host:
            talk = await Talk.begin(host)
            await talk.say("one")
            uri = talk.uri
        async with talking(tmp_path, made(answer)) as host:
            talk = await Talk.join(host, uri)
            await talk.say("two")
            assert talk.answer == "1"
            turn_id = talk.state["turns"][0]["id"]
            fork = await host.parts.lifecycle.fork(uri, turn_id, "demo:/fork")
            other = await Talk.join(host, fork.row.uri)
            await other.say("three")
            assert other.answer == "0"

    run(inner)
