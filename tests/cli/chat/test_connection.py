"""A host that goes away under an open chat, and comes back."""

import signal
import socket
from pathlib import Path

from agenthost.client.ahp import AhpClient
from agenthost.host.keys import KeyFile
from cli.chat.seeing import chat
from hosting import run
from serving import serving, wait_ready


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_a_killed_host_costs_nothing_that_was_shown_and_nothing_comes_twice(tmp_path: Path) -> None:
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
        with chat(url, "--agent", "demo", rows=40) as seen:
            seen.wait_prompt()
            seen.say("/think before the end")
            seen.wait_for("\nbefore the end")
            seen.say("/wait 3")
            seen.wait_screen("....")
            served.stop(signal.SIGKILL)
            seen.wait_for("the connection is lost")
            seen.wait_screen("trying to get it back")
            seen.say("said meanwhile")
            with serving(*words) as again:
                again.wait_url()
                seen.wait_for("connected again")
                seen.wait_for("You said: said meanwhile")
                seen.wait_prompt()
                dots = [line for line in seen.lines if line.startswith("..")]
                assert dots == ["." * 60]
                assert seen.text.count("I was asked to say") == 1
                seen.say("/call clock")
                seen.wait_screen("[y]")
                again.stop(signal.SIGKILL)
                seen.wait_for("the connection is lost", 2)
                with serving(*words) as third:
                    third.wait_url()
                    seen.wait_for("connected again", 2)
                    seen.wait_screen("[y]")
                    seen.type("y")
                    seen.wait_for("clock -> ")
                    seen.wait_prompt()
                    assert seen.text.count("> /call clock") == 1
                    third.stop(signal.SIGKILL)
                    seen.wait_for("the connection is lost", 3)
                    seen.say("nobody hears this")
                    seen.leave()
                    assert "✗ not sent: nobody hears this" in seen.text


def test_a_session_that_is_removed_ends_the_chat(server: str) -> None:
    with chat(server, "--agent", "demo") as seen:
        seen.wait_prompt()
        seen.say(":info")
        seen.wait_for("this client is")
        name = seen.text.split("session ")[1].split(":")[0]
        seen.say("hello")
        seen.wait_for("You said: hello")
        _remove(server, name)
        seen.wait_for("✗ this session is not there any more")
        assert seen.rest() == 1


def _remove(server: str, name: str) -> None:
    async def story() -> None:
        async with AhpClient(f"{server}/ahp") as client:
            await (await client.session(f"demo:/{name}")).dispose()

    run(story)


def test_a_key_is_asked_for_and_given(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    _, key = KeyFile(tmp_path / "data").create("ann")
    with serving("--data", tmp_path / "data", "--workspace", tmp_path) as served:
        url = served.wait_url()
        wait_ready(url)
        with chat(url) as seen:
            assert seen.rest() == 1
            assert (
                "wants a valid key (HTTP 401); a key is given by --key, or by AGENTHOST_KEY"
                in seen.text.replace("\n", "")
            )
        with chat(url, AGENTHOST_KEY=key) as seen:
            seen.wait_prompt()
            seen.leave()
