"""One terminal, from its start to its end: what it prints, is told and does, with real programs."""

from pathlib import Path
from typing import Any

import pytest

from agenthost.agents.demo import demo
from agenthost.errors import InvalidValue, LimitReached, TerminalExists, TerminalNotFound, UriReserved
from agenthost.host.host import Host
from agenthost.host.limits import Limits
from agenthost.host.sessions.new_session import NewSession
from agenthost.wire.ahp import ROOT_URI
from hosting import run
from shelling import URI, Watch, claim_of, session_claim, until_so
from talking import talking


def test_what_a_program_prints_is_shown_and_then_its_exit_code(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            watch = await Watch.start(host, "printf 'one\\ntwo\\n'; exit 3")
            assert await watch.until_exit() == 3
            assert watch.text == "one\r\ntwo\r\n"
            assert host.parts.terminals.get(URI).resource.view() == watch.state
            assert host.parts.terminals.list() == [
                {
                    "resource": URI,
                    "title": "printf 'one\\ntwo\\n'; exit 3",
                    "claim": claim_of("me"),
                    "lifecycle": {"status": "exited", "exitCode": 3},
                }
            ]

    run(story)


def test_the_first_state_has_the_folder_the_size_and_the_claim(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            folder = host.workspace / "a b"
            folder.mkdir()
            wishes: Any = {"name": "Mine", "cwd": folder.as_uri(), "cols": 100, "rows": 30}
            await host.parts.terminals.create(URI, claim_of("me"), command="stty size; pwd; read x", **wishes)
            watch = await Watch.join(host)
            wanted = {
                "title": "Mine",
                "cwd": folder.as_uri(),
                "cols": 100,
                "rows": 30,
                "claim": claim_of("me"),
                "lifecycle": {"status": "running"},
            }
            assert {key: watch.state[key] for key in wanted} == wanted
            await watch.until_text(f"30 100\r\n{folder.resolve()}\r\n")

    run(story)


def test_input_reaches_the_program_and_it_is_notified_of_a_new_size(tmp_path: Path) -> None:
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


def test_only_allowed_variables_of_the_host_reach_a_program(
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


def test_a_terminal_starts_only_in_the_workspace_with_links_resolved(tmp_path: Path) -> None:
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
                    await host.parts.terminals.create(URI, claim_of("me"), cwd=uri)
            for size in (0, 65_536):
                with pytest.raises(InvalidValue, match="from 1 to 65535"):
                    await host.parts.terminals.create(URI, claim_of("me"), cols=size)
            assert host.parts.terminals.list() == []

    run(story)


def test_a_uri_can_be_used_only_once(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            await host.parts.lifecycle.create(NewSession(agent="demo", uri="demo:/1"))
            await host.parts.terminals.create(URI, claim_of("me"), command="cat")
            for uri, error in ((URI, TerminalExists), ("demo:/1", UriReserved), (ROOT_URI, UriReserved)):
                with pytest.raises(error):
                    await host.parts.terminals.create(uri, claim_of("me"), command="cat")
            with pytest.raises(UriReserved):
                await host.parts.lifecycle.create(NewSession(agent="demo", uri=URI))

    run(story)


def test_the_number_of_terminals_is_limited_and_ended_ones_of_sessions_make_room(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, limits=Limits(terminals=2)) as host:
            held: Any = session_claim("demo:/1")
            done = await host.parts.terminals.create("term:/done", held, command="true")
            await host.parts.terminals.create(URI, claim_of("me"), command="cat")
            await done.wait_exited()
            await host.parts.terminals.create("term:/next", claim_of("me"), command="true")
            assert [info["resource"] for info in host.parts.terminals.list()] == [URI, "term:/next"]
            await host.parts.terminals.get("term:/next").wait_exited()  # but it is a client's
            with pytest.raises(LimitReached, match="2 terminals"):
                await host.parts.terminals.create("term:/more", claim_of("me"), command="cat")

    run(story)


def test_the_root_lists_terminals_and_follows_every_change(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:

            def listed() -> list[Any]:
                return list(host.parts.engine.root.shown.state["terminals"])

            watch = await Watch.start(
                host, "read x; printf '\\033]0;by program\\007'; read x; exit 7", name="A"
            )
            running = {"status": "running"}
            assert listed() == [
                {"resource": URI, "title": "A", "claim": claim_of("me"), "lifecycle": running}
            ]
            await watch.act("titleChanged", title="B")
            await host.parts.engine.journal.wait()
            assert listed()[0]["title"] == "B"
            await watch.type("\r")
            await until_so(lambda: listed()[0]["title"] == "by program")
            held = session_claim("demo:/1")
            await watch.act("claimed", claim=held)
            await watch.type("\r")
            await watch.until_exit()
            await host.parts.engine.journal.wait()
            exited = {"status": "exited", "exitCode": 7}
            assert listed() == [{"resource": URI, "title": "by program", "claim": held, "lifecycle": exited}]
            await host.parts.terminals.dispose(URI)
            await host.parts.engine.journal.wait()
            assert listed() == []
            with pytest.raises(TerminalNotFound):
                await host.parts.terminals.dispose(URI)

    run(story)


def test_a_program_that_is_killed_or_missing_has_the_exit_code_of_a_shell(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            assert await (await Watch.start(host, "kill -TERM $$")).until_exit() == 143
            missing = await Watch.start(host, ["no-such-program"], uri="term:/2")
            assert await missing.until_exit() == 127
            assert "No such file" in missing.text

    run(story)


def test_titles_and_folders_are_read_from_the_output_and_stay_in_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            said = "\\033]2;a title\\033\\\\\\033]7;file:///tmp/a%%20b\\007"
            watch = await Watch.start(host, f"printf '{said}'")
            await watch.until_exit()
            assert watch.state["title"] == "a title"
            assert watch.state["cwd"] == "file:///tmp/a%20b"
            assert watch.text == "\x1b]2;a title\x1b\\\x1b]7;file:///tmp/a%20b\x07"

    run(story)


def test_a_terminal_can_be_cleared_and_continues(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path) as host:
            watch = await Watch.start(host, "echo before; read x; echo after; read x")
            await watch.until_text("before")
            assert await watch.act("cleared") is None
            await watch.until(lambda one: one.state["content"] == [])
            await watch.type("\r")
            await watch.until_text("after")
            assert "before" not in watch.text
            assert host.parts.terminals.get(URI).resource.view() == watch.state

    run(story)


def test_nothing_more_is_sent_of_a_removed_terminal(tmp_path: Path) -> None:
    async def story() -> None:
        async with Host(workspace=tmp_path, sandbox="off") as host:
            watch = await Watch.start(host, "while :; do echo x; done")
            await watch.until_text("x")
            number = host.parts.terminals.get(URI).resource.number
            await host.parts.terminals.dispose(URI)
            assert not host.parts.engine.hub.is_heard(number)
            assert await watch.act("input", data="x") is None

    run(story)
