"""Changesets as the client sees them, against the real server."""

from typing import Any

import pytest

from agenthost.client.ahp import AhpClient, Changeset, Chat, Closed, Gone, NotFound, Refused
from hosting import run


def client_of(server: str, version: str = "1.0.0") -> AhpClient:
    return AhpClient(f"{server}/ahp", versions=[version])


async def edit(chat: Chat, name: str, text: str) -> str:
    """Let the agent write a file, and return the turn."""
    saying = chat.say(f"/edit {name} {text}")
    await chat.until(lambda _: chat.open_calls)
    await chat.approve(chat.open_calls[0])
    await saying.turn()
    return saying.turn_id


def names(changeset: Changeset) -> list[str]:
    return sorted(file["edit"]["after"]["uri"].rpartition("/")[2] for file in changeset.files)


async def until_named(changeset: Changeset, *wanted: str) -> None:
    """Wait until these files are in a changeset, with their counts."""

    def look(state: Any) -> bool:
        return names(changeset) == list(wanted) and all("diff" in one["edit"] for one in state["files"])

    await changeset.until(look)


@pytest.mark.parametrize("version", ["1.0.0", "0.9.0"])
def test_the_changes_of_a_session_and_of_its_turns_are_followed(server: str, version: str) -> None:
    async def story() -> None:
        async with client_of(server, version) as client:
            session = await client.create("demo")
            await session.ask("hello")
            assert session.changesets == []
            with pytest.raises(NotFound, match="no file was changed so far"):
                await session.changeset()
            first = f"{version}-first.txt"
            turn = await edit(session, first, "one")
            assert [one["changeKind"] for one in session.changesets] == ["session", "turn"]
            changeset = await session.changeset()
            assert await session.changeset() is changeset
            await until_named(changeset, first)
            assert changeset.counts == (1, 1, 0)
            (file,) = changeset.files
            assert (await changeset.read(file), await changeset.read(file, "before")) == (b"one", None)

            second = f"{version}-second.txt"
            later = await edit(session, second, "two")
            await until_named(changeset, first, second)
            assert changeset.counts.files == 2
            by_turn = await session.changeset(turn)
            await until_named(by_turn, first)
            await until_named(await session.changeset(later), second)
            by_turn.close()
            assert isinstance(by_turn.error, Closed)
            await changeset.until(lambda _: changeset.is_ready)

    run(story)


def test_a_further_chat_has_changesets_of_its_own(server: str) -> None:
    async def story() -> None:
        async with client_of(server) as client:
            session = await client.create("demo")
            chat = await session.new_chat()
            await edit(chat, "in-chat.txt", "text")
            changeset = await chat.changeset()
            await until_named(changeset, "in-chat.txt")
            with pytest.raises(NotFound):
                await session.changeset()
            await session.dispose()
            with pytest.raises(Gone):
                await changeset.until(lambda _: False)

    run(story)


def test_a_host_of_the_oldest_version_has_no_changesets(server: str) -> None:
    async def story() -> None:
        async with client_of(server, "0.1.0") as client:
            session = await client.create("demo")
            await edit(session, "old.txt", "text")
            assert session.changesets == []
            with pytest.raises(Refused, match=r"the host has no changesets: it speaks AHP 0\.1"):
                await session.changeset()

    run(story)
