"""Turns outlive their process: wherever a host stops or dies, the next goes on, and nothing is done twice."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from agenthost.host.access.identity import Identity
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.steps import Call, CallInput, Text, Thought, Usage
from agenthost.host.authoring.tool import tool
from agenthost.host.authoring.turn import Turn
from agenthost.host.host import Host
from agenthost.wire.json import decode_json
from hosting import run
from talking import ENDINGS, Talk, talking
from turning import crash, exact_transcript, made, parts, until

CALM: dict[str, Any] = {"tools": {"look": True, "save": True}}


class World:
    """What is outside of the host: it counts what is done to it, and lets agents go one commit at a time."""

    def __init__(self) -> None:
        self.saved: list[str] = []
        self.looked = 0
        self.host: Host | None = None

    async def yield_to_others(self) -> None:
        """Wait until all that was said is durable, so that the host can stop between any two things."""
        if self.host is not None:
            await self.host.parts.engine.journal.wait()

    def tools(self) -> list[Any]:
        @tool(read_only=True)
        async def look(where: str) -> str:
            self.looked += 1
            await self.yield_to_others()
            return f"nothing {where}"

        @tool
        async def save(text: str) -> str:
            self.saved.append(text)
            await self.yield_to_others()
            return "saved"

        return [look, save]


def talker(world: World) -> Agent:
    async def answer(turn: Turn) -> None:
        await turn.think("Let me ")
        await world.yield_to_others()
        await turn.think("see.")
        await turn.say("I look. ")
        await world.yield_to_others()
        found = await asyncio.gather(turn.call("look", where="here"), turn.call("look", where="there"))
        await world.yield_to_others()
        await turn.notify("It is late.")
        await turn.show("a long list")
        await world.yield_to_others()
        await turn.say("I found ")
        await world.yield_to_others()
        await turn.say(f"{found[0]} and {found[1]}.")
        await world.yield_to_others()
        await turn.calls(Call("save", {"text": turn.text}))
        await world.yield_to_others()
        await turn.use(Usage(1, 2))
        await turn.say("Done.")
        await world.yield_to_others()

    return made(answer, tools=world.tools())


def stepper(world: World) -> Agent:
    async def answer(turn: Turn) -> AsyncIterator[Any]:
        done = [message["content"] for message in turn.transcript if message["role"] == "tool"]
        if not done:
            yield Thought("Let me ")
            await world.yield_to_others()
            yield Thought("see.", {"demo": {"signature": 1}})
            yield "I look. "
            await world.yield_to_others()
            yield CallInput("one", "look", '{"where":')
            await world.yield_to_others()
            yield CallInput("one", "look", '"here"}')
            await world.yield_to_others()
            yield Call("look", {"where": "here"}, "one")
            yield Call("look", {"where": "there"})
        elif len(done) == 2:
            yield Text("I found ")
            await world.yield_to_others()
            yield f"{done[0]} and {done[1]}."
            await world.yield_to_others()
            yield Call("save", {"text": turn.text})
        else:
            yield Usage(1, 2)
            await world.yield_to_others()
            yield "Done."
        await world.yield_to_others()

    return made(answer, tools=world.tools())


Kind = Callable[[World], Agent]
KINDS = pytest.mark.parametrize("kind", [talker, stepper])


async def undisturbed(folder: Path, kind: Kind) -> tuple[Any, Any, int]:
    """Return the turn, the transcript, and how many envelopes there were."""
    world = World()
    async with talking(folder, kind(world)) as world.host:
        talk = await Talk.begin(world.host, **CALM)
        await talk.act("turnStarted", turnId="t", userMessage={"text": "Hi"})
        heard = await talk.hear(lambda action: action["type"] in ENDINGS)
        assert (world.saved, world.looked) == (["Hi"], 2)
        return talk.state["turns"][0], exact_transcript(talk.session), len(heard.actions)


async def begun(
    folder: Path, kind: Kind, world: World, count: int, into: Path | None
) -> tuple[str, list[int]]:
    """Run a turn until so many envelopes were shown, then stop the host, or copy what a crash would leave."""
    async with talking(folder, kind(world)) as world.host:
        talk = await Talk.begin(world.host, **CALM)
        await talk.act("turnStarted", turnId="t", userMessage={"text": "Hi"})
        seen: list[int] = []
        while len(seen) < count:
            for item in await talk.feed.subscriber.wait_next():
                seen += [decode_json(line)["serverSeq"] for line in item.envelopes()]
        if into is not None:
            crash(folder, into)
        return talk.uri, seen


@KINDS
@pytest.mark.parametrize("way", ["stop", "crash"])
def test_a_turn_that_was_interrupted_anywhere_ends_as_if_it_was_not(
    tmp_path: Path, kind: Kind, way: str
) -> None:
    async def story() -> None:
        turn, said, count = await undisturbed(tmp_path, kind)
        unknown = 0
        for place in range(1, count):
            folder = tmp_path / str(place)
            folder.mkdir()
            unknown += await interrupted(folder, place, turn, said)
        assert unknown > 0  # the tool that must not run twice was caught at it

    async def interrupted(folder: Path, place: int, turn: Any, said: list[Any]) -> bool:
        world = World()
        into = folder / "after" if way == "crash" else folder
        uri, seen = await begun(folder, kind, world, place, into if way == "crash" else None)
        async with talking(into, kind(world)) as world.host:
            assert world.host.parts.engine.line.shown_seq >= seen[-1]
            talk = await Talk.join(world.host, uri)
            await until(talk, lambda state: state["turns"])
            (after,) = talk.state["turns"]
            assert shown(after) == shown(turn)
            assert (after["state"], after["usage"]) == ("complete", turn["usage"])
            is_unknown = UNKNOWN in str(exact_transcript(talk.session))
            assert known(exact_transcript(talk.session)) == said
            assert world.saved == ["Hi"] or is_unknown
            assert len(world.saved) <= 1
            feed = await talk.host.parts.engine.feed(Identity("late")).resume(0, [uri])
            numbers = [decode_json(entry.envelope)["serverSeq"] for entry in feed.replay or []]
            assert numbers == sorted(set(numbers))
            assert set(seen) <= set(numbers)
        return is_unknown

    run(story)


UNKNOWN = "save was interrupted by a restart of the host; whether it did its work is unknown"


def shown(turn: Any) -> Any:
    """Return what people see of a turn; contents have other names each time."""
    return [part for part in parts(turn) if part[0] != "contentRef"]


def known(messages: list[Any]) -> list[Any]:
    """Return the messages as if the tool had not been interrupted."""
    return [{**one, "content": "saved"} if one["content"] == UNKNOWN else one for one in messages]
