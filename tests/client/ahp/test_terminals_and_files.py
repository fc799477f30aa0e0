"""Terminals and files over AHP, against the real server."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import pytest

from agenthost.client.ahp import AhpClient, Conflict, Gone, NotFound, PermissionDenied, Refused, Rejected
from client.ahp.proxies import proxied
from hosting import run
from serving import serving, wait_ready


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a server whose shells read no startup files of the user, which could do anything."""
    home = tmp_path_factory.mktemp("home")
    with serving("--data", home / "data", "--workspace", home, HOME=str(home), SHELL="/bin/sh") as served:
        url = served.wait_url()
        wait_ready(url)
        yield url


def client_of(server: str, **how: Any) -> AhpClient:
    return AhpClient(f"{server}/ahp", **how)


def test_a_terminal_prints_what_is_typed_into_it_until_it_ends(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as one, client_of(server) as two:
            mine = await one.create_terminal(name="Test", cols=100, rows=30)
            theirs = await two.terminal(mine.uri)
            assert (theirs.state.get("cols"), theirs.state["title"]) == (100, "Test")
            output = mine.output()
            await mine.resize(120, 40)
            await mine.write("echo sum $((40+2)); exit 3\r")
            printed = "".join([piece async for piece in output])
            assert "sum 42" in printed
            await theirs.until(lambda state: state["lifecycle"]["status"] == "exited")
            assert (theirs.exit_code, theirs.state.get("rows")) == (3, 40)
            assert "sum 42" in theirs.text
            with pytest.raises(Rejected):
                await mine.write("too late")
            await mine.clear()
            assert mine.text == ""
            assert any(info["resource"] == mine.uri for info in one.root.get("terminals", []))
            await mine.dispose()
            with pytest.raises(Gone):
                await theirs.until(lambda _: False)
            with pytest.raises(NotFound):
                await two.terminal(mine.uri)

    run(story)


def test_terminal_output_survives_a_lost_connection(server: str) -> None:
    async def story() -> None:
        async with proxied(server) as proxy, client_of(proxy.url) as client:
            terminal = await client.create_terminal()
            printed = ""
            terminal.write("for i in 1 2 3 4 5 6 7 8 9; do echo line $i; sleep 0.05; done; exit\r")
            async for piece in terminal.output():
                printed += piece
                if f"line {proxy.connections}\r" in printed:
                    proxy.cut()
            assert re.findall(r"line (\d)\r\n", printed) == list("123456789")
            assert proxy.connections > 2

    run(story)


def test_a_terminal_is_handed_over(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as one, client_of(server) as two:
            mine = await one.create_terminal()
            theirs = await two.terminal(mine.uri)
            with pytest.raises(Rejected):
                await theirs.claim()
            await mine.claim({"kind": "client", "clientId": two.client_id})
            await theirs.rename("Theirs")
            assert theirs.state["claim"] == {"kind": "client", "clientId": two.client_id}
            await mine.dispose()

    run(story)


def test_files_are_written_read_listed_moved_and_deleted(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client:
            files, base = client.files, client.welcome["defaultDirectory"]
            await files.write(f"{base}/a.txt", "grüße")
            assert await files.read(f"{base}/a.txt") == "grüße".encode()
            assert await files.read_text(f"{base}/a.txt") == "grüße"
            with pytest.raises(Conflict):
                await files.write(f"{base}/a.txt", "again", create_only=True)
            await files.write(f"{base}/b.bin", b"\xff\x00")
            assert await files.read(f"{base}/b.bin") == b"\xff\x00"
            with pytest.raises(UnicodeDecodeError):
                await files.read_text(f"{base}/b.bin")
            await files.copy(f"{base}/a.txt", f"{base}/c.txt")
            with pytest.raises(Conflict):
                await files.move(f"{base}/a.txt", f"{base}/c.txt", replace=False)
            await files.move(f"{base}/c.txt", f"{base}/d.txt")
            names = {entry["name"] for entry in await files.list(base)}
            assert {"a.txt", "b.bin", "d.txt"} <= names
            for name in ("a.txt", "b.bin", "d.txt"):
                await files.delete(f"{base}/{name}")
            with pytest.raises(NotFound):
                await files.read(f"{base}/a.txt")

    run(story)


def test_files_outside_the_workspace_are_denied(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client:
            with pytest.raises(PermissionDenied) as caught:
                await client.files.read("file:///etc/passwd")
            assert caught.value.code == -32009
            with pytest.raises(Refused):
                await client.files.request("file:///etc/passwd", write=True)

    run(story)


def test_many_requests_may_be_pending_at_once(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client:
            base = client.welcome["defaultDirectory"]
            await client.files.write(f"{base}/many.txt", "x" * 1000)
            found = await asyncio.gather(*(client.files.read(f"{base}/many.txt") for _ in range(200)))
            assert set(found) == {b"x" * 1000}

    run(story)
