"""`agenthost sessions`: list, show, export and delete the sessions of a server."""

import json
from pathlib import Path

from agenthost.client.ahp import AhpClient
from cli.chat.terminals import at_terminal
from hosting import run
from serving import run_agenthost


def sessions(server: str, *words: str) -> tuple[int, str, str]:
    return run_agenthost("sessions", *words, "--url", server)


def create(server: str, *texts: str) -> str:
    names = []

    async def ask() -> None:
        async with AhpClient(f"{server}/ahp") as client:
            session = await client.create("demo")
            for text in texts:
                await session.ask(text)
            names.append(session.uri.removeprefix("demo:/"))

    run(ask)
    return names[0]


def test_sessions_are_listed_exported_and_deleted(server: str, tmp_path: Path) -> None:
    first, second = create(server, "/title The first", "hello"), create(server, "/title The second")
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
    exported = json.loads((tmp_path / "a.json").read_text())
    assert exported.keys() == {"summary", "session", "chats"}
    assert (exported["session"]["title"], len(exported["chats"][0]["turns"])) == ("The first", 2)

    assert sessions(server, "export", first, "-o", str(tmp_path))[::2] == (
        2,
        f"agenthost: {tmp_path}: Is a directory\n",
    )
    assert sessions(server, "export", "nobody")[::2] == (1, "agenthost: there is no session 'nobody'\n")
    code, _, err = sessions(server, "delete", first)
    assert code == 2
    assert err.startswith("agenthost: there is no terminal to ask at")
    assert sessions(server, "delete", first, second, "--yes")[0] == 0
    assert first not in sessions(server, "list")[1]


def test_all_chats_of_a_session_are_exported(server: str) -> None:
    names: list[str] = []

    async def talk() -> None:
        async with AhpClient(f"{server}/ahp") as client:
            session = await client.create("demo")
            await session.ask("the first")
            chat = await session.new_chat("the second")
            await chat.until(lambda state: state.chat["turns"])
            names.append(session.uri.removeprefix("demo:/"))

    run(talk)
    _, out, _ = sessions(server, "export", names[0])
    assert "## demo\n\nYou said: the first\n\n# the first: the second\n\n## User\n\nthe second" in out
    assert out.endswith("You said: the second\n")
    exported = json.loads(sessions(server, "export", names[0], "--json")[1])
    assert [len(chat["turns"]) for chat in exported["chats"]] == [1, 1]


def test_the_user_is_asked_before_a_session_is_deleted(server: str) -> None:
    name = create(server, "hello")
    with at_terminal("sessions", "show", name, "--url", server) as terminal:
        assert terminal.wait_exit() == 0
        assert "You said: hello" in terminal.text
        assert terminal.style("User").bold
    for typed, is_kept in (("n\n", True), ("y\n", False)):
        with at_terminal("sessions", "delete", name, "--url", server) as terminal:
            terminal.wait_for("for good? [y/N]")
            terminal.type(typed)
            assert terminal.wait_exit() == 0
            assert ("deleted" in terminal.text) is not is_kept
    assert name not in sessions(server, "list")[1]
