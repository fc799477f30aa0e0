"""`agenthost sessions`: what there is on a server, kept and removed."""

import json
from pathlib import Path

from agenthost.client.ahp import AhpClient
from cli.chat.seeing import at_terminal
from hosting import run
from serving import run_agenthost


def sessions(server: str, *words: str) -> tuple[int, str, str]:
    return run_agenthost("sessions", *words, "--url", server)


def made(server: str, *texts: str) -> str:
    names = []

    async def story() -> None:
        async with AhpClient(f"{server}/ahp") as client:
            session = await client.create("demo")
            for text in texts:
                await session.ask(text)
            names.append(session.uri.removeprefix("demo:/"))

    run(story)
    return names[0]


def test_sessions_are_listed_exported_and_removed(server: str, tmp_path: Path) -> None:
    first, second = made(server, "/title The first", "hello"), made(server, "/title The second")
    code, out, err = sessions(server, "list")
    assert (code, err) == (0, "")
    rows = out.splitlines()
    assert rows[0].startswith(f"{second}  demo")
    assert rows[0].endswith("The second")
    assert any(row.startswith(first) for row in rows)
    listed = json.loads(sessions(server, "list", "--json")[1])
    assert [row["title"] for row in listed][:2] == ["The second", "The first"]

    code, out, _ = sessions(server, "export", first[:12])
    assert code == 0
    assert out.startswith(f"# The first\n\nSession {first} with demo, from 2")
    assert out.endswith("## User\n\nhello\n\n## demo\n\nYou said: hello\n")
    assert sessions(server, "export", first, "--json", "-o", str(tmp_path / "a.json")) == (0, "", "")
    assert len(json.loads((tmp_path / "a.json").read_text())["turns"]) == 2

    assert sessions(server, "export", first, "-o", str(tmp_path))[::2] == (
        2,
        f"agenthost: {tmp_path}: Is a directory\n",
    )
    assert sessions(server, "export", "nobody")[::2] == (1, "agenthost: there is no session 'nobody'\n")
    code, _, err = sessions(server, "delete", first)
    assert code == 2
    assert err.startswith("agenthost: nobody is there to ask")
    assert sessions(server, "delete", first, second, "--yes")[0] == 0
    assert first not in sessions(server, "list")[1]


def test_who_sits_there_is_asked_before_something_is_removed(server: str) -> None:
    name = made(server, "hello")
    with at_terminal("sessions", "show", name, "--url", server) as seen:
        assert seen.rest() == 0
        assert "You said: hello" in seen.text
        assert seen.style("User").bold
    for typed, is_kept in (("n\n", True), ("y\n", False)):
        with at_terminal("sessions", "delete", name, "--url", server) as seen:
            seen.wait_for("for everybody, for good? [y/N]")
            seen.type(typed)
            assert seen.rest() == 0
            assert ("removed" in seen.text) is not is_kept
    assert name not in sessions(server, "list")[1]
