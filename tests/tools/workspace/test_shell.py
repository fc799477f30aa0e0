"""What `run` gives of commands in real terminals."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from agenthost import Call, ToolError, Turn
from agenthost.tools.workspace import read_file
from agenthost.tools.workspace import run as run_tool
from agenthost.tools.workspace.shell import MAX_CHARACTERS, CommandOutput, truncate_middle
from agenthost.wire.json import decode_json, encode_json
from shelling import Watch
from talking import Talk
from turning import calls_in, tell, until, until_call

TRUSTED = {"tools": {"run": True}}


async def runs(turn: Turn) -> None:
    """Run what the user says: a JSON object of arguments."""
    (result,) = await turn.calls(Call("run", decode_json(turn.text)))
    await turn.say(f"{result.ok}: {result}")


async def ran(talk: Talk, command: str, **more: Any) -> tuple[str, Any]:
    """Run a command; returns what the model reads, and the result as people see it."""
    heard = await talk.say(encode_json({"command": command, **more}).decode())
    assert heard.ending["type"] == "session/turnComplete", heard.ending
    return heard.text, heard.of("toolCallComplete")[0]["result"]


def test_output_and_exit_code_are_given_and_the_terminal_is_shown(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        text, result = await ran(talk, "pwd; echo out; echo err >&2; test -t 1 && echo a terminal")
        assert text == f"True: {talk.host.workspace}\nout\nerr\na terminal\n"
        assert [block["type"] for block in result["content"]] == ["terminal", "text"]
        assert result["pastTenseMessage"].startswith("Ran pwd; echo out")
        text, result = await ran(talk, "echo no; exit 3")
        assert text == "False: the command ended with code 3\nno\n"
        assert result["success"] is False

    tell(tmp_path, runs, story, tools=[run_tool], start=TRUSTED)


def test_a_command_runs_in_the_folder_of_its_session(tmp_path: Path) -> None:
    (tmp_path / "workspace" / "sub").mkdir(parents=True)
    folder = tmp_path / "workspace" / "sub"

    async def story(talk: Talk) -> None:
        assert (await ran(talk, "pwd"))[0] == f"True: {folder}\n"
        folder.rmdir()
        assert f"there is no '{folder.as_uri()}'" in (await ran(talk, "pwd"))[0]
        folder.symlink_to(tmp_path)
        assert "outside" in (await ran(talk, "pwd"))[0]

    tell(tmp_path, runs, story, tools=[run_tool], start={**TRUSTED, "working_directory": folder.as_uri()})


def test_the_middle_of_a_large_output_is_left_out_and_all_of_it_kept_by_reference(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        text, result = await ran(talk, "i=0; while [ $i -lt 9000 ]; do echo line $i; i=$((i+1)); done")
        assert text.startswith("True: line 0\nline 1\n")
        assert "line 8998\nline 8999\n" in text
        assert "characters left out …]\n" in text
        assert len(text) < MAX_CHARACTERS + 500
        uri = result["content"][2]["uri"]
        whole = await talk.host.parts.files.read(None, {"uri": uri})
        assert whole["data"] == "".join(f"line {number}\n" for number in range(9000))
        assert f"\n[{uri}]\n[read_file reads any part" in text

    async def both(turn: Turn) -> None:
        """Run a command, and read the middle of what it printed at once."""
        await runs(turn)
        result = await turn.call("run", decode_json(turn.text))
        uri = result.content[2]["uri"]
        read = await turn.call("read_file", path=uri, offset=4501, limit=1)
        assert read.endswith("\n4501\tline 4500\n[there is more: go on with offset=4502]")
        with pytest.raises(ToolError, match="there is no"):
            await turn.call("read_file", path=uri.replace("demo:/", "demo:/x"))

    tools = {"run": True, "read_file": True}
    tell(tmp_path, both, story, tools=[run_tool, read_file], start={"tools": tools})


def test_what_takes_too_long_is_stopped_and_what_it_printed_is_given(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        text, _ = await ran(talk, "echo begun; sleep 600", seconds=1)
        assert text == "False: the command took longer than 1 seconds and was stopped\nbegun\n"

    tell(tmp_path, runs, story, tools=[run_tool], start=TRUSTED)


def test_output_is_seen_while_it_comes_and_the_command_can_be_answered(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        await talk.send(encode_json({"command": "echo Who?; read name; echo Hello $name"}).decode())
        block = await until(talk, _terminal)
        watch = await Watch.join(talk.host, block["resource"])
        await watch.until_text("Who?")
        await watch.type("Ann\n")
        assert (await talk.finish()).text == "True: Who?\nAnn\nHello Ann\n"

    tell(tmp_path, runs, story, tools=[run_tool], start=TRUSTED)


def _terminal(state: Any) -> Any:
    content = [block for call in calls_in(state.get("activeTurn")) for block in call.get("content", [])]
    return content[0] if content else None


def test_who_cancels_the_turn_ends_the_command(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        await talk.send(encode_json({"command": "echo up; sleep 600"}).decode())
        block = await until(talk, _terminal)
        watch = await Watch.join(talk.host, block["resource"])
        await watch.until_text("up")
        await talk.cancel()
        await talk.finish()
        await watch.until_exit()

    tell(tmp_path, runs, story, tools=[run_tool], start=TRUSTED)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"command": " "}, "`command` is empty"),
        ({"command": "a\0b"}, "null byte"),
        ({"command": "true", "seconds": 0}, "`seconds` has to be from 1 to"),
        ({"command": "true", "seconds": 10**6}, "`seconds` has to be from 1 to"),
    ],
)
def test_a_command_that_cannot_be_run_is_refused(tmp_path: Path, arguments: Any, sentence: str) -> None:
    async def story(talk: Talk) -> None:
        assert sentence in (await talk.say(encode_json(arguments).decode())).text

    tell(tmp_path, runs, story, tools=[run_tool], start=TRUSTED)


def test_who_approves_may_change_the_command(tmp_path: Path) -> None:
    async def story(talk: Talk) -> None:
        await talk.send(encode_json({"command": "echo yes"}).decode())
        await talk.approve(await until_call(talk, "pending-confirmation"), edited={"command": "echo no"})
        assert (await talk.finish()).text.endswith("no\n")

    tell(tmp_path, runs, story, tools=[run_tool])


@for_all(st.lists(st.text(st.sampled_from("ab\n"), max_size=50)), st.integers(2, 60))
def test_what_is_printed_is_kept_whole_or_its_beginning_and_end(pieces: list[str], most: int) -> None:
    printed = CommandOutput(most)
    for piece in pieces:
        printed.add(piece)
    text, whole = printed.text(), "".join(pieces)
    half = most // 2
    assert text.startswith(whole[:half])
    assert text.endswith(whole[-half:])
    assert text == whole or "characters were left out" in text
    assert len(text) <= most + 60 + 50
    assert text == whole or len(whole) > most - 1


@for_all(st.text(st.sampled_from("ab\n"), max_size=200), st.integers(10, 100))
def test_a_text_that_is_cut_has_its_beginning_and_its_end(text: str, most: int) -> None:
    short = truncate_middle(text, most)
    if len(text) <= most:
        assert short == text
        return
    head, _, rest = short.partition("[… ")
    number, _, tail = rest.partition(" characters left out …]\n")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + int(number) + len(tail) == len(text)
    assert len(head) + len(tail) <= most
