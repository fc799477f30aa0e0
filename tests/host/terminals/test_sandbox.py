"""What a shell in a sandbox sees and what it does not; and that it is a terminal like any other."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from agenthost import Call, Turn
from agenthost.errors import InvalidValue, LimitReached, SandboxUnavailable, ShellsRefused
from agenthost.host.access.keys import KeyFile
from agenthost.host.files.grants import FilePolicy
from agenthost.host.host import Host
from agenthost.host.limits import Limits
from agenthost.host.sandbox.bubblewrap import find_fault
from agenthost.host.sandbox.policy import SandboxPolicy, confine
from agenthost.tools.workspace import run as run_tool
from hosting import run
from sandboxing import BOXED
from shelling import URI, Watch, claim_of, is_alive, until_so
from talking import Talk, talking
from turning import made


async def printed(host: Host, command: str, **wishes: Any) -> str:
    """Run a command to its end; returns what it printed."""
    watch = await Watch.start(host, command, **wishes)
    await watch.until_exit()
    await host.parts.terminals.dispose(URI)
    return watch.text.replace("\r\n", "\n")


@BOXED
def test_a_shell_sees_its_workspace_and_the_system_but_not_the_data_or_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    for folder in (home, other):
        folder.mkdir()
        (folder / "secret").write_text("hidden away")
    monkeypatch.setenv("HOME", str(home))

    async def story() -> None:
        async with talking(tmp_path, sandbox="on") as host:
            (host.workspace / "a.txt").write_text("here")
            assert await printed(host, "cat a.txt; echo more > b.txt") == "here"
            assert (host.workspace / "b.txt").read_text() == "more\n"
            for place in (host.data, home, other, tmp_path / "data" / "secret.key"):
                text = await printed(
                    host, f"ls -A {place}; cat {place}/secret {place}/*; find / -name secret.key"
                )
                assert "hidden away" not in text
                assert "secret.key\n" not in text.replace("secret.key'", "")
            text = await printed(
                host, "touch /usr/new /etc/new /new; echo $HOME; ls -A ~; touch ~/mine && echo ok"
            )
            assert "Read-only file system" in text
            assert text.endswith(f"{home}\nok\n")
        assert not (home / "mine").exists()

    run(story)
    assert not Path("/new").exists()


@BOXED
def test_processes_of_the_host_and_their_environments_are_not_visible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret")

    async def story() -> None:
        async with talking(tmp_path, sandbox="on") as host:
            text = await printed(
                host, "env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline; ls /proc; kill -9 -1"
            )
            assert "sk-very-secret" not in text
            assert "bin/pytest" not in text
            assert "keeper.py" not in text
            assert f"\n{os.getpid()}\n" not in text
            assert await printed(host, f"kill -0 {os.getpid()} || echo not there") != ""

    run(story)


@BOXED
def test_configured_paths_are_visible_and_the_network_can_be_off(tmp_path: Path) -> None:
    for name in ("read", "write"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    policy = SandboxPolicy(
        "on", network=False, read=(tmp_path / "read",), write=(tmp_path / "write", tmp_path / "data")
    )

    async def story() -> None:
        async with talking(tmp_path, sandbox=policy) as host:
            text = await printed(
                host, f"cd {tmp_path}; cat read/file write/file; echo x > read/file; echo y > write/file"
            )
            assert text.startswith("readwrite")
            assert "Read-only" in text
            assert (tmp_path / "write" / "file").read_text() == "y\n"
            assert "secret.key" not in await printed(host, f"ls {tmp_path / 'data'}")
            assert (
                await printed(host, "ls /sys/class/net 2>/dev/null; cat /proc/net/dev | grep -c :") == "1\n"
            )

    run(story)


@BOXED
def test_a_shell_in_a_sandbox_has_jobs_interrupts_and_sizes_and_reports_commands(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, sandbox="on") as host:
            host.parts.terminals.shell = "/bin/bash"
            watch = await Watch.start(host)
            await watch.type("sleep 600 & jobs; kill %1; wait; stty size\r")
            await watch.until(lambda one: one.commands and "exitCode" in one.commands[0])
            text = watch.commands[0]["output"]
            assert "Running" in text
            assert "24 80" in text
            assert "no job control" not in watch.text
            assert await watch.act("resized", cols=100, rows=30) is None
            await watch.type("sh -c 'stty size; echo at\"\"work; exec sleep 600'\r")
            await watch.until_text("atwork")
            assert "30 100" in watch.text
            await watch.type("\x03")
            await watch.until(lambda one: one.commands[-1].get("exitCode") == 130)
            await watch.type("exit 7\r")
            assert await watch.until_exit() == 7

    run(story)


@BOXED
def test_an_interrupt_reaches_the_program_and_not_the_sandbox(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, sandbox="on") as host:
            watch = await Watch.start(
                host, "trap 'echo caught; exit 3' INT; echo ready; while :; do sleep 0.05; done"
            )
            await watch.until_text("ready")
            await watch.type("\x03")
            assert await watch.until_exit() == 3
            assert "caught" in watch.text

    run(story)


def processes_with(text: str) -> list[int]:
    """List the processes that have this in their command line."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if text.encode() in words and is_alive(int(folder.name)):
            found.append(int(folder.name))
    return found


@BOXED
def test_the_end_of_a_sandbox_leaves_no_process_and_gives_programs_time_to_save(tmp_path: Path) -> None:
    seconds = "98712.5"
    save = "trap 'sleep 0.1; echo saved > saved; exit' HUP"
    save = f"{save}; (setsid sleep {seconds} &); echo up; while :; do sleep 0.05; done"

    async def story() -> None:
        async with talking(tmp_path, sandbox="on") as host:
            watch = await Watch.start(host, ["bash", "-c", save])
            await watch.until_text("up")
            await until_so(lambda: processes_with(seconds))
            await host.parts.terminals.dispose(URI)
            assert not processes_with(seconds)
            assert (host.workspace / "saved").read_text() == "saved\n"

    run(story)


@BOXED
def test_a_read_only_folder_is_read_only_in_the_sandbox_too(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("read me")

    async def story() -> None:
        async with talking(tmp_path, sandbox="on", file_policy=FilePolicy(reading="allow")) as host:
            await host.parts.files.request(None, {"uri": outside.as_uri(), "read": True})
            text = await printed(host, "cat a.txt; echo x > a.txt", folder=outside)
            assert text.startswith("read me")
            assert "Read-only" in text

    run(story)


@BOXED
def test_the_run_tool_is_in_the_sandbox_too(tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("hidden away")

    async def runs(turn: Turn) -> None:
        (result,) = await turn.calls(Call("run", {"command": f"cat {tmp_path / 'outside'}; ls {tmp_path}"}))
        await turn.say(str(result))

    async def story() -> None:
        async with talking(tmp_path, made(runs, tools=[run_tool]), sandbox="on") as host:
            talk = await Talk.begin(host, tools={"run": True})
            text = (await talk.say("Hi")).text
            assert "hidden away" not in text
            assert text.endswith("workspace\n")

    run(story)


@pytest.mark.parametrize(("command", "is_last"), [("kill -9 $PPID", False), ("exec sleep 60", True)])
def test_a_shell_that_kills_its_keeper_leaves_nothing_behind_and_its_end_is_reported(
    tmp_path: Path, command: str, *, is_last: bool
) -> None:
    away = "(setsid sh -c 'echo $$ > away; exec sleep 60' &)"
    line = f"{away}; sleep 60 & echo $! > job; until [ -s away ]; do :; done; {command}"

    async def story() -> None:
        async with talking(tmp_path) as host:
            watch = await Watch.start(host, line)
            files = [host.workspace / name for name in ("away", "job")]
            await until_so(lambda: all(file.exists() and file.read_text().endswith("\n") for file in files))
            if is_last:
                (host.workspace / "x").touch()
                await host.parts.terminals.get(URI).end()
            await watch.until_exit()
            assert not any(is_alive(int(file.read_text())) for file in files)

    run(story)


def test_a_terminal_may_not_start_in_the_data_folder(tmp_path: Path) -> None:
    async def story() -> None:
        async with Host(data=tmp_path / "data", workspace=tmp_path, sandbox="off") as host:
            for folder in (tmp_path / "data", tmp_path / "link"):
                if not folder.exists():
                    folder.symlink_to(tmp_path / "data")
                with pytest.raises(InvalidValue, match="a folder in the workspace"):
                    await host.parts.terminals.create(URI, claim_of("me"), command="ls", cwd=folder.as_uri())
            watch = await Watch.start(host, "true", cwd=tmp_path.as_uri())
            assert await watch.until_exit() == 0

    run(story)


@BOXED
def test_the_data_folder_is_hidden_even_in_the_workspace(tmp_path: Path) -> None:
    async def story() -> None:
        async with Host(data=tmp_path / "data", workspace=tmp_path, sandbox="on") as host:
            assert await printed(host, "ls data; echo x > data/x; ls") == "data\n"
            assert not (tmp_path / "data" / "x").exists()

    run(story)


def test_each_owner_has_its_own_limit_of_terminals(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, limits=Limits(terminals=4, terminals_per_owner=2)) as host:
            for place in range(2):
                await host.parts.terminals.create(
                    f"term:/a{place}", claim_of("a"), command="cat", owner="ada"
                )
            with pytest.raises(LimitReached, match="2 terminals of yours"):
                await host.parts.terminals.create("term:/a2", claim_of("a"), command="cat", owner="ada")
            await host.parts.terminals.create("term:/b", claim_of("b"), command="cat", owner="bob")
            await host.parts.terminals.dispose("term:/a0")
            await host.parts.terminals.create("term:/a2", claim_of("a"), command="cat", owner="ada")

    run(story)


def test_with_several_owners_shells_without_a_sandbox_have_to_be_allowed_explicitly(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path)
    keys.create("ada")
    lacking = confine(SandboxPolicy(), data=tmp_path, workspaces=None, fault_of=lambda: "it is not installed")
    wanted = confine(SandboxPolicy("off"), data=tmp_path, workspaces=None)

    async def story() -> None:
        await lacking.check()
        keys.create("bob")
        with pytest.raises(ShellsRefused, match=r"it is not installed.*--sandbox off"):
            await lacking.check()
        await wanted.check()
        assert "it is not installed" in str(lacking)
        assert str(wanted).startswith("off: shells can do everything")

    run(story)


def test_a_required_sandbox_that_does_not_work_is_an_error() -> None:
    with pytest.raises(SandboxUnavailable, match=r"no luck.*bubblewrap"):
        confine(SandboxPolicy("on"), data=Path("x"), workspaces=None, fault_of=lambda: "no luck")
    assert find_fault("no-such-program") == "bubblewrap is not installed"


@BOXED
def test_killing_the_host_ends_its_sandboxes(tmp_path: Path) -> None:
    seconds = "98713.5"

    async def story() -> None:
        async with talking(tmp_path, sandbox="on") as host:
            watch = await Watch.start(host, f"(setsid sleep {seconds} &); echo up; cat")
            await watch.until_text("up")
            await until_so(lambda: processes_with(seconds))
            (keeper, *_) = [pid for pid in processes_with("keeper.py") if seconds.encode() in cmdline(pid)]
            os.kill(keeper, signal.SIGKILL)
            await watch.until_exit()
            await until_so(lambda: not processes_with(seconds))

    run(story)


def cmdline(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()
