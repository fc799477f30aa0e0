"""One terminal, from its start to its end: what it prints, is told and does, with real programs."""

from pathlib import Path
from typing import Any

import pytest

from agenthost.agents.demo import demo
from agenthost.errors import InvalidValue, LimitReached, TerminalExists, TerminalNotFound, UriReserved
from agenthost.host.host import Host
from agenthost.host.limits import Limits
from agenthost.host.starting import Start
from agenthost.wire.ahp import ROOT_URI
from hosting import run
from shelling import URI, Watch, claim_of, until_so
from talking import talking


def test_what_a_program_prints_is_shown_and_then_its_exit_code(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            watch = await Watch.start(host, "printf 'one\\ntwo\\n'; exit 3")
            assert await watch.until_exit() == 3
            assert watch.text == "one\r\ntwo\r\n"
            assert host.terminals.get(URI).resource.view() == watch.state
            assert host.terminals.list() == [
                {
                    "resource": URI,
                    "title": "printf 'one\\ntwo\\n'; exit 3",
                    "claim": claim_of("me"),
                    "exitCode": 3,
                }
            ]

    run(story)


def test_the_first_state_tells_where_how_large_and_whose_it_is(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            folder = host.workspace / "a b"
            folder.mkdir()
            wishes: Any = {"name": "Mine", "cwd": folder.as_uri(), "cols": 100, "rows": 30}
            await host.terminals.create(URI, claim_of("me"), command="stty size; pwd; read x", **wishes)
            watch = await Watch.join(host)
            wanted = {
                "title": "Mine",
                "cwd": folder.as_uri(),
                "cols": 100,
                "rows": 30,
                "claim": claim_of("me"),
            }
            assert {key: watch.state[key] for key in wanted} == wanted
            await watch.until_text(f"30 100\r\n{folder.resolve()}\r\n")

    run(story)


def test_what_is_typed_reaches_the_program_and_a_new_size_is_told_to_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            script = "trap 'stty size' WINCH; echo ready; until [ -e done ]; do sleep 0.05; done"
            watch = await Watch.start(host, ["bash", "-c", f"{script}; read x; echo got $x"])
            await watch.until_text("ready")
            assert await watch.act("resized", cols=120, rows=40) is None
            await watch.until_text("40 120")
            assert (watch.state["cols"], watch.state["rows"]) == (120, 40)
            (host.workspace / "done").touch()
            await watch.type("grüße\r")
            assert await watch.until_exit() == 0
            assert "got grüße" in watch.text

    run(story)


def test_nothing_of_the_hosts_environment_reaches_a_program_but_what_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hidden")
    monkeypatch.setenv("LC_TIME", "C.UTF-8")

    async def story() -> None:
        async with talking(tmp_path) as host:
            watch = await Watch.start(host, "env")
            await watch.until_exit()
            names = {line.partition("=")[0] for line in watch.text.split("\r\n")}
            assert {"PATH", "HOME", "TERM", "LC_TIME"} <= names
            assert "SOME_API_KEY" not in names
            assert "hidden" not in watch.text

    run(story)


def test_a_terminal_starts_in_the_workspace_only_links_followed(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            (host.workspace / "out").symlink_to(tmp_path)
            (host.workspace / "file").write_text("")
            bad = [tmp_path.as_uri(), (host.workspace / "out").as_uri(), (host.workspace / "file").as_uri()]
            workspace = host.workspace.as_uri()
            more = [
                f"{workspace}/..",
                f"{workspace}/none",
                "http://x/",
                str(host.workspace),
                "file://there/x",
                "\0",
            ]
            for uri in bad + more:
                with pytest.raises(InvalidValue, match="folder in the workspace"):
                    await host.terminals.create(URI, claim_of("me"), cwd=uri)
            for size in (0, 65_536):
                with pytest.raises(InvalidValue, match="from 1 to 65535"):
                    await host.terminals.create(URI, claim_of("me"), cols=size)
            assert host.terminals.list() == []

    run(story)


def test_a_uri_is_one_things_only(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            await host.create_session(Start(agent="demo", uri="demo:/1"))
            await host.terminals.create(URI, claim_of("me"), command="cat")
            for uri, error in ((URI, TerminalExists), ("demo:/1", UriReserved), (ROOT_URI, UriReserved)):
                with pytest.raises(error):
                    await host.terminals.create(uri, claim_of("me"), command="cat")
            with pytest.raises(UriReserved):
                await host.create_session(Start(agent="demo", uri=URI))

    run(story)


def test_there_are_only_so_many_and_those_that_ended_for_a_session_make_room(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, limits=Limits(terminals=2)) as host:
            held: Any = {"kind": "session", "session": "demo:/1"}
            done = await host.terminals.create("term:/done", held, command="true")
            await host.terminals.create(URI, claim_of("me"), command="cat")
            await done.wait_exited()
            await host.terminals.create("term:/next", claim_of("me"), command="true")
            assert [info["resource"] for info in host.terminals.list()] == [URI, "term:/next"]
            await host.terminals.get("term:/next").wait_exited()  # but it is a client's
            with pytest.raises(LimitReached, match="2 terminals"):
                await host.terminals.create("term:/more", claim_of("me"), command="cat")

    run(story)


def test_the_root_lists_terminals_and_follows_every_change(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:

            def listed() -> list[Any]:
                return list(host.engine.root.shown.state["terminals"])

            watch = await Watch.start(
                host, "read x; printf '\\033]0;by program\\007'; read x; exit 7", name="A"
            )
            assert listed() == [{"resource": URI, "title": "A", "claim": claim_of("me")}]
            await watch.act("titleChanged", title="B")
            await host.engine.journal.wait()
            assert listed()[0]["title"] == "B"
            await watch.type("\r")
            await until_so(lambda: listed()[0]["title"] == "by program")
            held = {"kind": "session", "session": "demo:/1"}
            await watch.act("claimed", claim=held)
            await watch.type("\r")
            await watch.until_exit()
            await host.engine.journal.wait()
            assert listed() == [{"resource": URI, "title": "by program", "claim": held, "exitCode": 7}]
            await host.terminals.dispose(URI)
            await host.engine.journal.wait()
            assert listed() == []
            with pytest.raises(TerminalNotFound):
                await host.terminals.dispose(URI)

    run(story)


def test_a_program_that_ends_by_a_signal_or_is_not_there_has_the_code_that_a_shell_gives_it(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            assert await (await Watch.start(host, "kill -TERM $$")).until_exit() == 143
            missing = await Watch.start(host, ["no-such-program"], uri="term:/2")
            assert await missing.until_exit() == 127
            assert "No such file" in missing.text

    run(story)


def test_titles_and_folders_are_read_of_the_output_and_stay_in_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            said = "\\033]2;a title\\033\\\\\\033]7;file:///tmp/a%%20b\\007"
            watch = await Watch.start(host, f"printf '{said}'")
            await watch.until_exit()
            assert watch.state["title"] == "a title"
            assert watch.state["cwd"] == "file:///tmp/a%20b"
            assert watch.text == "\x1b]2;a title\x1b\\\x1b]7;file:///tmp/a%20b\x07"

    run(story)


def test_a_terminal_can_be_cleared_and_goes_on(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            watch = await Watch.start(host, "echo before; read x; echo after; read x")
            await watch.until_text("before")
            assert await watch.act("cleared") is None
            await watch.until(lambda one: one.state["content"] == [])
            await watch.type("\r")
            await watch.until_text("after")
            assert "before" not in watch.text
            assert host.terminals.get(URI).resource.view() == watch.state

    run(story)


def test_a_terminal_that_is_removed_is_heard_of_no_more(tmp_path: Path) -> None:
    async def story() -> None:
        async with Host(workspace=tmp_path, sandbox="off") as host:
            watch = await Watch.start(host, "while :; do echo x; done")
            await watch.until_text("x")
            number = host.terminals.get(URI).resource.number
            await host.terminals.dispose(URI)
            assert not host.engine.hub.is_heard(number)
            assert await watch.act("input", data="x") is None

    run(story)
