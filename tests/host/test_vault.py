"""The vault: its key, what a crash leaves of it, and what another key does to sessions."""

import asyncio
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet

from agenthost.errors import StorageError
from agenthost.host.access.vault import FILE, VARIABLE, Vault, open_vault
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.options import Option
from agenthost.host.authoring.turn import Turn
from hosting import run
from legacy_view import shown_state
from sites import Site, site

SECRET = "a-secret-that-is-easy-to-find-in-bytes"  # noqa: S105
TURN = {"messages": [{"role": "user", "content": "Hello"}]}


@pytest.fixture(autouse=True)
def _no_key_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def test_the_key_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        sealed = open_vault(tmp_path).seal("hello")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert "hello" not in sealed
    assert open_vault(tmp_path).open(sealed) == "hello"
    assert [file.name for file in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize("text", ["", "ключ 🔑", "x" * 100_000, "\0"])
def test_whatever_is_sealed_comes_back(tmp_path: Path, text: str) -> None:
    vault = open_vault(tmp_path)
    assert vault.open(vault.seal(text)) == text
    assert vault.seal(text) != vault.seal(text)


@pytest.mark.parametrize("call", ["fdopen", "fsync"])
def test_a_crash_while_the_key_is_made_leaves_none_and_the_next_start_makes_one(
    tmp_path: Path, call: str
) -> None:
    code = (
        "import os, sys; from pathlib import Path; from agenthost.host.access.vault import open_vault\n"
        f"os.{call} = lambda *_: os._exit(9)\nopen_vault(Path(sys.argv[1]))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert done.returncode == 9
    assert [file.name for file in tmp_path.iterdir()] == [f"{FILE}.new"]
    (tmp_path / f"{FILE}.new").chmod(0o666)
    sealed = open_vault(tmp_path).seal("hello")
    assert [file.name for file in tmp_path.iterdir()] == [FILE]
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert open_vault(tmp_path).open(sealed) == "hello"


@pytest.mark.parametrize("key", [b"", b"short", b"\xff" * 44, b"A" * 40])
def test_an_invalid_key_is_reported_with_its_path_and_left_as_it_is(tmp_path: Path, key: bytes) -> None:
    (tmp_path / FILE).write_bytes(key)
    with pytest.raises(StorageError) as caught:
        open_vault(tmp_path)
    assert str(caught.value).startswith(f"the key in {tmp_path / FILE} is no key: 32 bytes")
    assert (tmp_path / FILE).read_bytes() == key


def test_the_environment_wins_and_no_file_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = Fernet.generate_key()
    monkeypatch.setenv(VARIABLE, f" {key.decode()}\n")
    sealed = open_vault(tmp_path).seal("hello")
    assert not list(tmp_path.iterdir())
    assert Vault(key, "here").open(sealed) == "hello"
    monkeypatch.setenv(VARIABLE, "x")
    with pytest.raises(StorageError, match=f"^the key in {VARIABLE} is no key"):
        open_vault(tmp_path)


def test_a_key_that_cannot_be_read_or_made_is_told(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(StorageError, match=r"secret\.key cannot be read or made: Is a directory"):
        open_vault(tmp_path)
    with pytest.raises(StorageError, match="cannot be read or made: No such file or directory"):
        open_vault(tmp_path / "nothing")


class Keeper:
    """An agent that is handed a secret."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        option = Option("key", "secret", "")
        self.agent = Agent("keeper", self.answer, options=[option], stream=("none",))

    async def answer(self, turn: Turn) -> None:
        self.seen.append(turn.options["key"])
        await turn.say("done")


async def make_session(here: Site, **options: str) -> str:
    body = {"agent": {"name": "keeper", "options": options}}
    return str((await here.ask("/aap/sessions", "POST", body)).json["sessionId"])


async def say(here: Site, session: str, **more: Any) -> str:
    answer = await here.ask(f"/aap/sessions/{session}/turns", "POST", {**TURN, **more})
    assert answer.status == 200
    return str(answer.json["stopReason"])


def bytes_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.mark.sqlite
def test_a_secret_of_a_session_reaches_the_agent_and_is_nowhere_on_disk_in_clear(tmp_path: Path) -> None:
    keeper = Keeper()

    async def story() -> None:
        async with site(tmp_path, agents=[keeper.agent]) as here:
            session = await make_session(here, key=SECRET)
            assert await say(here, session) == "end_turn"
            changed = {"agent": {"options": {"key": SECRET * 2}}}
            assert await say(here, session, **changed) == "end_turn"
            shown = await here.ask(f"/aap/sessions/{session}")
            assert SECRET.encode() not in shown.body
            # The log of the database as well, which is folded into it at the end.
            on_disk = await asyncio.to_thread(bytes_in, tmp_path)
        assert session.encode() in on_disk
        assert SECRET.encode() not in on_disk + bytes_in(tmp_path)

    run(story)
    assert keeper.seen == [SECRET, SECRET * 2]


def test_with_another_key_only_turns_that_need_a_secret_fail_until_it_is_set_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    keeper = Keeper()

    async def story() -> None:
        async with site(tmp_path, agents=[keeper.agent]) as here:
            session = await make_session(here, key=SECRET)
            other = await make_session(here)
        (tmp_path / FILE).unlink()
        async with site(tmp_path, agents=[keeper.agent]) as here:
            assert await say(here, session) == "error"
            held = here.host.parts.engine.sessions.held(session)
            assert held is not None
            error = shown_state(held)["turns"][-1]["error"]
            assert error["errorType"] == "storageError"
            assert "was sealed with another key than this host has now; set it again" in error["message"]
            assert await say(here, other) == "end_turn"
            assert (await here.ask(f"/aap/sessions/{session}")).status == 200
            assert (await here.ask("/readyz")).status == 200
            again = {"agent": {"options": {"key": "new"}}}
            assert await say(here, session, **again) == "end_turn"

    run(story)
    assert keeper.seen == ["", "new"]
    assert "sealed with another key than that of AGENTHOST_SECRET_KEY or secret.key" in caplog.text
    assert SECRET not in caplog.text
