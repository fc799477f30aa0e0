"""`agenthost sessions end`: ends a turn with and without a running server."""

import asyncio
from pathlib import Path

from agenthost import Agent, Turn
from agenthost.tools.subagents import subagent
from ahp_sites import Place, on_a_host
from ahp_speaking import new_uri
from hosting import run
from serving import run_agenthost
from talking import Talk, talking
from turning import until


async def hang(turn: Turn) -> None:
    await turn.say("I hang.")
    await asyncio.Event().wait()


async def hand_on(turn: Turn) -> None:
    await turn.call("worker", task=turn.text)


AGENTS = Agent("boss", hand_on, tools=[subagent("worker")]), Agent("worker", hang)


async def end(name: str, data: Path, **environment: str) -> tuple[int, str]:
    """Run the command; return the exit code and standard error."""
    words = ("sessions", "end", name, "--data", str(data))
    code, _, err = await asyncio.to_thread(run_agenthost, *words, **environment)
    return code, err


def test_without_a_server_the_turn_is_ended_in_the_data_folder_with_its_subagents(tmp_path: Path) -> None:
    data = tmp_path / "data"

    async def story() -> None:
        async with talking(tmp_path, *AGENTS) as host:
            talk = await Talk.begin(host, "boss")
            await talk.send("go")
            await until(talk, lambda _: host.parts.turns.count == 2)
            await host.parts.engine.journal.wait()
        name = talk.uri.partition(":/")[2]
        code, err = await end("nothing", data)
        assert (code, err.split(";")[0]) == (
            2,
            "agenthost: no session 'nothing' has an active turn",
        )
        assert await end(name[:8], data) == (0, f"ended the turn of {name}\n")
        async with talking(tmp_path, *AGENTS) as host:
            await host.wait_restored()
            assert host.parts.turns.count == 0
            talk = await Talk.join(host, talk.uri)
            assert [turn["state"] for turn in talk.state["turns"]] == ["cancelled"]

    run(story)


@on_a_host(*AGENTS)
async def test_if_a_server_uses_the_folder_it_is_asked_to_end_the_turn(place: Place) -> None:
    async with place.client() as me:
        uri = await me.begun(new_uri("worker"))
        await me.send(uri, "go")
        await me.hear_kind("session/delta")
        name = uri.partition(":/")[2]
        code, err = await end(uri, place.folder, AGENTHOST_URL="127.0.0.1:1")
        assert code == 1
        assert f"{place.folder} is in use by process" in err
        assert "use --url to name its server" in err
        assert await end(uri, place.folder, AGENTHOST_URL=place.url) == (0, f"ended the turn of {name}\n")
        await me.until(lambda: me.state(uri)["turns"])
        assert me.state(uri)["turns"][0]["state"] == "cancelled"
        code, err = await end(uri, place.folder, AGENTHOST_URL=place.url)
        assert (code, err) == (2, f"agenthost: session {name!r} has no active turn\n")


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    async def story() -> None:
        code, err = await end("some", tmp_path / "slip")
        assert (code, err) == (2, f"agenthost: there is no folder {tmp_path / 'slip'}\n")

    run(story)
