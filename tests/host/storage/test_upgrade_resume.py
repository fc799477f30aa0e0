"""A server opens a store of an earlier agenthost: clients come back, and turns that waited go on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ahp_speaking import Client
from hosting import run
from old_stores import AGENTS, select, unpack
from serving import run_agenthost, serving
from storing import dense_store

VERSIONS = (1, 6)
"""The oldest and the newest whose sessions have no chats: `test_upgrade` has the others."""

WITH_CHATS = 7
"""The version whose sessions have one chat each. What is stored has the form of today."""


@asynccontextmanager
async def opened(version: int, folder: Path) -> AsyncIterator[tuple[str, Any, int]]:
    """Serve an older store. Give the address, what its clients saw, and the last number that they saw."""
    data, workspace = folder / "data", folder / "workspace"
    data.mkdir(mode=0o700)
    workspace.mkdir()
    seen = unpack(version, data)
    last_seq = select(data, "SELECT last_seq FROM counter")[0][0]
    with serving(AGENTS, "--data", data, "--workspace", workspace) as server:
        url = await asyncio.to_thread(server.wait_url)
        yield url, seen, last_seq


def without_tools(state: Any) -> Any:
    """Return a state without the host's tools: their descriptions are others now."""
    return {key: value for key, value in state.items() if key != "serverTools"}


def call_in(seen: Any) -> str:
    """Return the id of the call that a turn waits with."""
    calls = [part["toolCall"] for part in seen["activeTurn"]["responseParts"] if part["kind"] == "toolCall"]
    return str(calls[-1]["toolCallId"])


async def approve(client: Client, uri: str, seen: Any) -> None:
    choice: Any = {"approved": True, "confirmed": "user-action"}
    turn = seen["activeTurn"]["id"]
    await client.decide(uri, "session/toolCallConfirmed", turnId=turn, toolCallId=call_in(seen), **choice)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_client_that_comes_back_gets_everything_as_it_saw_it(tmp_path: Path, version: int) -> None:
    async def story() -> None:
        async with opened(version, tmp_path) as (url, seen, last_seq), Client.connected(url, "me") as me:
            uris = seen["sessions"].keys() - {"demo:/client"}  # whose client may have lost its role meanwhile
            result = await me.reopen(last_seq, *uris)
            assert result["type"] == "snapshot"
            found = {one["resource"]: without_tools(one["state"]) for one in result["snapshots"]}
            assert found == {uri: without_tools(seen["sessions"][uri]) for uri in uris}
            assert all(one["fromSeq"] > last_seq for one in result["snapshots"])
            listed = (await me.request("listSessions"))["items"]
            assert [one["title"] for one in listed] == [one["title"] for one in seen["list"]]

    run(story)


def test_where_sessions_had_chats_a_client_that_comes_back_goes_on(tmp_path: Path) -> None:
    async def story() -> None:
        async with opened(WITH_CHATS, tmp_path) as (url, seen, last_seq), Client.connected(url, "me") as me:
            uris = seen["sessions"].keys() - {"demo:/client"}
            result = await me.reopen(last_seq, *uris)
            assert (result["type"], result["missing"]) == ("replay", [])
            for uri in uris:
                assert without_tools(await me.subscribe(uri)) == without_tools(seen["sessions"][uri])
        assert (tmp_path / "data" / f"agenthost.v{WITH_CHATS}.db").exists()

    run(story)


@pytest.mark.parametrize("version", [*VERSIONS, WITH_CHATS])
def test_turns_that_waited_go_on_after_the_upgrade(tmp_path: Path, version: int) -> None:
    async def story() -> None:
        async with opened(version, tmp_path) as (url, seen, _), Client.connected(url, "me") as me:
            sessions = seen["sessions"]
            await me.open()
            for uri in sessions:
                await me.subscribe(uri)

            await approve(me, "demo:/approval", sessions["demo:/approval"])
            await me.until(lambda: len(me.state("demo:/approval")["turns"]) == 4)
            state = me.state("demo:/approval")
            texts = [turn["userMessage"]["text"] for turn in state["turns"]]
            assert texts[2:] == ["Later 2", "Later 1"]
            assert (state["summary"]["model"], len(state["summary"]["diffs"])) == ({"id": "swift"}, 1)
            assert (tmp_path / "workspace" / "notes.txt").read_text() == "Buy milk"

            (request,) = sessions["demo:/question"]["inputRequests"]
            assert request["answers"]["name"]["value"]["value"] == "Ann"
            answer = {"state": "submitted", "value": {"kind": "text", "value": "Bob"}}
            done = {"requestId": request["id"], "response": "accept", "answers": {"name": answer}}
            await me.decide("demo:/question", "session/inputCompleted", **done)
            turn = await me.finish("demo:/question", "t1")
            assert "- name: Bob\n" in turn["responseParts"][-1]["content"]

            result: Any = {"success": True, "pastTenseMessage": "Looked up"}
            result["content"] = [{"type": "text", "text": "a host"}]
            call = call_in(sessions["demo:/client"])
            ready = {"turnId": "t1", "toolCallId": call, "result": result}
            await me.decide("demo:/client", "session/toolCallComplete", **ready)
            assert "a host" in str(await me.finish("demo:/client", "t1"))

            task = sessions["lead:/task"]["activeTurn"]["responseParts"][0]["toolCall"]
            child = task["content"][0]["resource"]
            await approve(me, child, sessions[child])
            turn = await me.finish("lead:/task", "t1")
            assert (turn["state"], "Wrote 8 characters" in str(turn)) == ("complete", True)

            await me.decide("demo:/running", "session/turnCancelled", turnId="t1")
            assert (await me.finish("demo:/running", "t1"))["state"] == "cancelled"
            await me.send("demo:/turns", "Once more", turn="again")
            assert (await me.finish("demo:/turns", "again"))["state"] == "complete"

    run(story)


def test_doctor_checks_stores_before_and_after_the_upgrade(tmp_path: Path) -> None:
    def check() -> None:
        code, out, _ = run_agenthost("doctor", "--deep", "--data", str(tmp_path))
        assert (code, "15 sessions, no damage (checked every row)" in out) == (0, True)

    unpack(6, tmp_path)
    check()
    store = dense_store(tmp_path)
    store.open()
    store.close()
    check()
    assert select(tmp_path, "SELECT count(*) FROM log") == [(0,)]
