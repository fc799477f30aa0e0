"""What somebody sees who is asked about a tool call, and how far an approval for the session goes."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agenthost import Call, Tool, ToolContext, Turn, tool
from agenthost.host.authoring import previews
from agenthost.host.authoring.scope import Scope
from agenthost.tools.workspace import edit_file, workspace_tools
from hosting import run
from sandboxing import BOXED
from talking import Talk, talking
from turning import calls_in, made, tell, until_call


async def edits(turn: Turn) -> None:
    """Change a word of a file."""
    results = await turn.calls(Call("edit_file", {"path": "a.txt", "old": "two", "new": "2"}))
    await turn.say(str(results[0]))


async def runs(turn: Turn) -> None:
    """Run what the user says."""
    await turn.calls(Call("run", {"command": turn.text}))


async def read(talk: Talk, ref: Any) -> str:
    return str((await talk.host.parts.files.read(None, {"uri": ref["content"]["uri"]}))["data"])


def test_who_is_asked_sees_before_and_after_and_so_do_the_result_and_the_sessions_diffs(
    tmp_path: Path,
) -> None:
    async def story(talk: Talk) -> None:
        file = talk.host.workspace / "a.txt"
        file.write_text("one\ntwo\n")
        await talk.send("Hi")
        ready = await talk.hear_one("toolCallReady")
        assert ready["invocationMessage"] == "Edit a.txt"
        (edit,) = ready["edits"]["items"]
        assert edit["diff"] == {"added": 1, "removed": 1}
        assert edit["before"]["uri"] == edit["after"]["uri"] == file.as_uri()
        assert await read(talk, edit["before"]) == "one\ntwo\n"
        assert await read(talk, edit["after"]) == "one\n2\n"
        assert file.read_text() == "one\ntwo\n"
        await talk.approve(ready)
        done = (await talk.finish()).of("toolCallComplete")[0]["result"]
        assert done["pastTenseMessage"] == "Edited a.txt (+1 -1)"
        assert await read(talk, done["content"][0]["after"]) == "one\n2\n" == file.read_text()
        (changed,) = talk.state["summary"]["diffs"]
        assert changed["diff"] == {"added": 1, "removed": 1}

    tell(tmp_path, edits, story, tools=[edit_file])


def test_a_call_that_would_fail_is_asked_for_without_edits(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        await talk.send("Hi")
        ready = await talk.hear_one("toolCallReady")
        assert "edits" not in ready
        await talk.approve(ready)
        assert "there is no 'a.txt'" in (await talk.finish()).text

    tell(tmp_path, edits, story, tools=[edit_file])


def slow(**_: Any) -> list[Any]:
    raise RuntimeError("a preview that breaks")


async def endless(**_: Any) -> list[Any]:
    await asyncio.Event().wait()
    return []


@pytest.mark.parametrize("preview", [slow, endless])
def test_a_preview_that_fails_or_never_ends_holds_nothing_up(
    tmp_path: Path, preview: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(previews, "PREVIEW_SECONDS", 0.01)

    async def story(talk: Talk) -> None:
        await talk.send("Hi")
        ready = await talk.hear_one("toolCallReady")
        assert "edits" not in ready
        await talk.approve(ready)
        assert (await talk.finish()).text == "done"

    @tool(preview=preview)
    def edit_file(path: str, old: str, new: str, context: ToolContext) -> str:
        return "done"

    tell(tmp_path, edits, story, tools=[edit_file])


async def asked(talk: Talk, command: str) -> Any:
    """Return the confirmation of a command; `None` if it runs at once."""
    await talk.send(command)
    ready = await talk.hear_one("toolCallReady")
    if ready.get("confirmed") == "setting":
        await talk.finish()
        return None
    return ready


def labels_of(ready: Any) -> list[str]:
    return [option["label"] for option in ready["options"]]


def test_an_approval_of_a_command_for_the_session_is_for_exactly_that_one_and_outlives_a_restart(
    tmp_path: Path,
) -> None:
    agent = made(runs, tools=workspace_tools())

    async def story() -> None:
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host)
            ready = await asked(talk, "echo one")
            assert labels_of(ready) == ["Allow once", "Allow exactly `echo one` for this session", "Deny"]
            await talk.approve(ready, option=ready["options"][1]["id"])
            await talk.finish()
            assert await asked(talk, "echo one") is None
        async with talking(tmp_path, agent) as host:
            talk = await Talk.join(host, talk.uri)
            assert await asked(talk, "echo one") is None
            for command in ("echo two", "echo one ", "echo one; true", "echo  one"):
                await talk.deny(await asked(talk, command))
                await talk.finish()

    run(story)


def test_an_approval_of_every_command_from_before_counts_no_more(tmp_path: Path) -> None:
    agent = made(runs, tools=workspace_tools())

    async def story() -> None:
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host)
            # What "Allow every Run for this session" left.
            talk.session.keep({**talk.session.private, "trusted": ["run", "write_file"]})
            await host.parts.engine.journal.wait()
        async with talking(tmp_path, agent) as host:
            talk = await Talk.join(host, talk.uri)
            assert talk.session.private["trusted"] == ["run", "write_file"]
            ready = await asked(talk, "echo one")
            assert labels_of(ready) == ["Allow once", "Allow exactly `echo one` for this session", "Deny"]
            await talk.approve(ready, option=ready["options"][1]["id"])
            await talk.finish()
            assert await asked(talk, "echo one") is None
            await talk.deny(await asked(talk, "echo two"))
            await talk.finish()

    run(story)


def test_a_command_that_was_changed_before_it_was_approved_is_approved_once(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        ready = await asked(talk, "echo one")
        await talk.approve(ready, edited={"command": "echo two"}, option=ready["options"][1]["id"])
        await talk.finish()
        for command in ("echo one", "echo two"):
            await talk.deny(await asked(talk, command))
            await talk.finish()

    tell(tmp_path, runs, story, tools=workspace_tools())


@BOXED
def test_every_command_can_be_approved_in_a_sandbox_only_and_for_as_long_as_there_is_one(
    tmp_path: Path,
) -> None:
    agent = made(runs, tools=workspace_tools())

    async def story() -> None:
        async with talking(tmp_path, agent, sandbox="on") as host:
            talk = await Talk.begin(host)
            ready = await asked(talk, "echo one")
            assert labels_of(ready)[2:] == ["Allow every command in this session's sandbox", "Deny"]
            await talk.approve(ready, option=ready["options"][2]["id"])
            await talk.finish()
            assert await asked(talk, "touch two; false") is None
            other = await Talk.begin(host)
            await other.deny(await asked(other, "echo one"))
            await other.finish()
        async with talking(tmp_path, agent) as host:
            talk = await Talk.join(host, talk.uri)
            ready = await asked(talk, "touch three")
            assert labels_of(ready)[2:] == ["Deny"]
            await talk.deny(ready)
            await talk.finish()
        async with talking(tmp_path, agent, sandbox="on") as host:
            talk = await Talk.join(host, talk.uri)
            assert await asked(talk, "touch four") is None

    run(story)


def test_where_a_scope_cannot_be_told_an_approval_is_for_exactly_that_call(tmp_path: Path) -> None:
    def broken(**_: Any) -> Scope:
        raise RuntimeError("no scope")

    def work(text: str) -> str:
        """Say it."""
        return text

    async def works(turn: Turn) -> None:
        await turn.calls(Call("work", {"text": turn.text}))

    async def story(talk: Talk) -> None:
        await talk.send("one")
        ready = await talk.hear_one("toolCallReady")
        assert ready["options"][1]["label"] == "Allow exactly this for this session"
        await talk.approve(ready, option=ready["options"][1]["id"])
        await talk.finish()
        assert (await talk.say("one")).of("toolCallReady")[0]["confirmed"] == "setting"
        await talk.send("two")
        assert "confirmed" not in await talk.hear_one("toolCallReady")

    tell(tmp_path, works, story, tools=[Tool.of(work, scope=broken)])


def test_a_scope_is_of_one_tool(tmp_path: Path) -> None:
    def same(text: str) -> Scope:
        return Scope("same", "this")

    def function(text: str) -> str:
        """Say it."""
        return text

    tools = [Tool.of(function, name=name, scope=same) for name in ("a", "b")]

    async def both(turn: Turn) -> None:
        await turn.calls(Call("a", {"text": "1"}))
        await turn.calls(Call("a", {"text": "2"}))
        await turn.calls(Call("b", {"text": "3"}))

    async def story(talk: Talk) -> None:
        await talk.send("Hi")
        ready = await talk.hear_one("toolCallReady")
        await talk.approve(ready, option="allow-session:same")
        await talk.deny(await until_call(talk, "pending-confirmation", "b"))
        await talk.finish()
        calls = calls_in(talk.state["turns"][-1])
        assert [call.get("confirmed") for call in calls] == ["user-action", "setting", None]

    tell(tmp_path, both, story, tools=tools)
