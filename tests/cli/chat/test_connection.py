"""A host that goes away while a chat is open, and comes back."""

import signal
import socket
from pathlib import Path

from agenthost.client.ahp import AhpClient
from agenthost.host.access.keys import KeyFile
from cli.chat.terminals import chat
from hosting import run
from serving import serving, wait_ready


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_after_a_host_is_killed_nothing_shown_is_lost_or_repeated(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    words: list[str | Path] = [
        "--port",
        str(free_port()),
        "--data",
        tmp_path / "data",
        "--workspace",
        tmp_path / "workspace",
    ]
    with serving(*words) as served:
        url = served.wait_url()
        wait_ready(url)
        with chat(url, "--agent", "demo", rows=40) as terminal:
            terminal.wait_prompt()
            terminal.say("/think before the end")
            terminal.wait_for("\nbefore the end")
            terminal.say("/wait 3")
            terminal.wait_screen("....")
            served.stop(signal.SIGKILL)
            terminal.wait_for("connection lost")
            terminal.wait_screen("reconnecting")
            terminal.say("said meanwhile")
            with serving(*words) as again:
                again.wait_url()
                terminal.wait_for("reconnected")
                terminal.wait_for("You said: said meanwhile")
                terminal.wait_prompt()
                dots = [line for line in terminal.lines if line.startswith("..")]
                assert dots == ["." * 60]
                assert terminal.text.count("I was asked to say") == 1
                terminal.say("/call clock")
                terminal.wait_screen("[y]")
                again.stop(signal.SIGKILL)
                terminal.wait_for("connection lost", 2)
                with serving(*words) as third:
                    third.wait_url()
                    terminal.wait_for("reconnected", 2)
                    terminal.wait_screen("[y]")
                    terminal.type("y")
                    terminal.wait_for("clock -> ")
                    terminal.wait_prompt()
                    assert terminal.text.count("> /call clock") == 1
                    third.stop(signal.SIGKILL)
                    terminal.wait_for("connection lost", 3)
                    terminal.say("nobody hears this")
                    terminal.leave()
                    assert "✗ not sent: nobody hears this" in terminal.text


def test_deleting_the_session_ends_the_chat(server: str) -> None:
    with chat(server, "--agent", "demo") as terminal:
        terminal.wait_prompt()
        terminal.say(":info")
        terminal.wait_for("this client is")
        name = terminal.text.split("session ")[1].split(":")[0]
        terminal.say("hello")
        terminal.wait_for("You said: hello")
        _remove(server, name)
        terminal.wait_for("✗ this session no longer exists")
        assert terminal.wait_exit() == 1


def _remove(server: str, name: str) -> None:
    async def dispose() -> None:
        async with AhpClient(f"{server}/ahp") as client:
            await (await client.session(f"demo:/{name}")).dispose()

    run(dispose)


def test_a_key_is_required_and_taken_from_the_environment(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    _, key = KeyFile(tmp_path / "data").create("ann")
    with serving("--data", tmp_path / "data", "--workspace", tmp_path) as served:
        url = served.wait_url()
        wait_ready(url)
        with chat(url) as terminal:
            assert terminal.wait_exit() == 1
            assert (
                "needs a valid key (HTTP 401); pass a key with --key or AGENTHOST_KEY"
                in terminal.text.replace("\n", "")
            )
        with chat(url, AGENTHOST_KEY=key) as terminal:
            terminal.wait_prompt()
            terminal.leave()
