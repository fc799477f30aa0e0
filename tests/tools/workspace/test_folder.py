"""The folder that a session works in is what its tools may touch, as far as its owner may."""

from pathlib import Path
from typing import Any

from agenthost import Call, Host, Turn
from agenthost.host.files.grants import FilePolicy
from agenthost.tools.workspace import workspace_tools
from agenthost.wire.json import decode_json, encode_json
from hosting import run
from talking import Talk, talking
from turning import made

TOOLS = {one.name: True for one in workspace_tools()}


async def calls(turn: Turn) -> None:
    """Make the call that the user says."""
    name, arguments = decode_json(turn.text)
    (result,) = await turn.calls(Call(name, arguments))
    await turn.say(str(result))


async def call(talk: Talk, name: str, **arguments: Any) -> str:
    return (await talk.say(encode_json([name, arguments]).decode())).text


def test_a_session_is_held_in_its_own_folder_of_the_workspace(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, made(calls, tools=workspace_tools())) as host:
            (host.workspace / "sub").mkdir()
            (host.workspace / "secret").write_text("theirs")
            folder = (host.workspace / "sub").as_uri()
            talk = await Talk.begin(host, tools=TOOLS, working_directory=folder)
            assert "Wrote a.txt" in await call(talk, "write_file", path="a.txt", content="x")
            assert (host.workspace / "sub" / "a.txt").read_text() == "x"
            assert "outside of the workspace" in await call(talk, "read_file", path="../secret")
            assert await call(talk, "run", command="pwd") == f"{host.workspace / 'sub'}\n"

    run(story)


def test_a_granted_folder_can_be_worked_in_until_the_grant_is_taken_back(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("theirs")
    policy = FilePolicy(reading="allow", writing="deny")

    async def story() -> None:
        async with talking(tmp_path, made(calls, tools=workspace_tools()), file_policy=policy) as host:
            await host.parts.files.request("ann", {"uri": outside.as_uri()})
            talk = await begun(host)
            assert "1\ttheirs" in await call(talk, "read_file", path="a.txt")
            assert await call(talk, "run", command="cat a.txt") == "theirs"
            edit = {"path": "a.txt", "old": "theirs", "new": "mine"}
            assert "outside of what may be written" in await call(talk, "edit_file", **edit)
            host.parts.files.grants.revoke("ann")
            for name, arguments in (("read_file", {"path": "a.txt"}), ("run", {"command": "cat a.txt"})):
                assert "outside of what may be read" in await call(talk, name, **arguments)
            assert (outside / "a.txt").read_text() == "theirs"

    async def begun(host: Host) -> Talk:
        return await Talk.begin(host, owner="ann", tools=TOOLS, working_directory=outside.as_uri())

    run(story)


def test_the_hosts_own_data_is_not_seen_even_inside_of_the_workspace(tmp_path: Path) -> None:
    async def story() -> None:
        host = Host(data=tmp_path / "data", workspace=tmp_path)
        host.add(made(calls, tools=workspace_tools()))
        async with host:
            talk = await Talk.begin(host, tools=TOOLS)
            assert await call(talk, "list_files") == "nothing was found"
            assert "outside of what may be" in await call(talk, "read_file", path="data/agenthost.db")
            assert "outside of what may be" in await call(talk, "write_file", path="data/x", content="")

    run(story)
