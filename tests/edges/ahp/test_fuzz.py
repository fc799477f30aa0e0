"""Frames and actions that nobody would write: the host stays, and says nothing of its inside.

`python tests/edges/ahp/test_fuzz.py 100000` takes longer.
"""

import asyncio
import json
import os
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

from agenthost.core.conversation import Conversation
from agenthost.core.decisions import refuse
from agenthost.core.legacy.dispatch import translate_dispatch
from agenthost.errors import HostError
from agenthost.host.limits import Limits
from agenthost.wire.ahp.legacy.actions import CLIENT_ACTIONS
from agenthost.wire.ahp.legacy.enums import ActionType
from agenthost.wire.ahp.legacy.methods import METHODS
from ahp_sites import Place, heard_errors, served
from ahp_speaking import Client
from rules import rule

COUNT = int(os.environ.get("AGENTHOST_FUZZ", "1500"))

WORDS = ["", "me", "demo", "demo:/fuzz", "t:/fuzz", "agenthost:/root", "t1", "\0", "é\U0001f600", "x" * 3000]
PLAIN = [None, True, False, 0, 1, -1, 2**31, 2**53, 2**63, -(2**63), 2**70, 1.5, -0.0, 1e300]
KEYS = (
    "session terminal turnId toolCallId partId kind id userMessage text action clientSeq type resource uri "
    "approved confirmed reason result success content title model activeClient clientId tools name config "
    "replace requestId questionId answer answers response order claim data cols rows subscriptions "
    "lastSeenServerSeq protocolVersions isRead isArchived enabled fork provider limit before offset encoding"
).split()


class Junk:
    """Makes things up."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)  # noqa: S311

    def value(self, depth: int = 3) -> Any:
        chance = self._chance
        kind = chance.random()
        if depth == 0 or kind < 0.6:
            return chance.choice(WORDS) if chance.random() < 0.6 else chance.choice(PLAIN)
        if kind < 0.75:
            return [self.value(depth - 1) for _ in range(chance.randrange(4))]
        return {chance.choice(KEYS): self.value(depth - 1) for _ in range(chance.randrange(6))}

    def action(self) -> Any:
        """Make an action that looks like one, mostly."""
        kinds = [*sorted(CLIENT_ACTIONS), *(kind for one in ActionType.__args__ for kind in one.__args__)]
        kind = self._chance.choice(kinds)
        fields = {key: self.value(2) for key in self._chance.sample(KEYS, 8)}
        ids = {"session": "demo:/fuzz", "terminal": "t:/fuzz", "turnId": "t1"}
        return {**fields, **ids, "type": kind if self._chance.random() < 0.95 else self.value()}

    def frame(self) -> str | bytes:
        chance = self._chance
        shape = chance.random()
        if shape < 0.1:
            return bytes(chance.randrange(256) for _ in range(chance.randrange(40)))
        if shape < 0.2:
            return json.dumps(self.value())[: chance.randrange(1, 200)]
        message: Any = {"jsonrpc": "2.0", "method": "dispatchAction"}
        if shape < 0.6:
            message["params"] = {"clientSeq": chance.randrange(10**9), "action": self.action()}
        else:
            names = sorted(set(METHODS) - {"createTerminal", "initialize", "reconnect"})
            message |= {
                "method": chance.choice(names),
                "id": chance.choice(["id", "", -5.5, 2**70, None, True, [], {}]),
            }
            message["params"] = {key: self.value(2) for key in chance.sample(KEYS, 10)}
        for key in list(message):
            if chance.random() < 0.02:
                message[key] = self.value()
        return json.dumps(message)


class Anything(dict[str, int]):
    """Holds everything."""

    def __contains__(self, _key: object) -> bool:
        return True

    def __missing__(self, _key: str) -> int:
        return 0


async def fuzzed(place: Place, seed: int, count: int) -> int:
    """Send so many frames; returns how many envelopes came of them."""
    junk = Junk(seed)
    async with place.client("watcher") as watcher:
        uri = await watcher.begun("demo:/fuzz") if seed == 0 else "demo:/fuzz"
        await watcher.subscribe(uri)
        async with place.client("fuzzer") as me:
            me._floors = Anything()  # it may subscribe to whatever it meets
            for number in range(count):
                await me.raw(junk.frame())
                if number % 100 == 0:
                    await me.request("ping")
                    me.strays.clear()
            await me.request("ping")
            me.check()
        await watcher.request("ping")
        if uri in watcher.states and (await place.host.parts.engine.sessions.is_there(uri)):
            mirrored, true = watcher.state(uri), await fresh(watcher, uri)
            assert {**mirrored, "summary": 0} == {**true, "summary": 0}
        return len(watcher.envelopes)


async def fresh(client: Client, uri: str) -> Any:
    return await client.subscribe(uri)


async def campaign(folder: Path, count: int, at_once: int = 1500) -> list[str]:
    with heard_errors() as errors:
        async with served(folder, limits=Limits(subscriber_items=100_000)) as place:
            for seed in range(max(1, count // at_once)):
                if seed:
                    async with place.client("maker") as maker:
                        if not await place.host.parts.engine.sessions.is_there("demo:/fuzz"):
                            await maker.begun("demo:/fuzz")
                await fuzzed(place, seed, min(count, at_once))
                assert (await place.ask("/readyz")).status == 200
    return errors


@rule("HR-R06", "HR-R04", "HR-A01", "HR-A03")
def test_junk_never_harms_the_host_and_never_changes_what_was_not_validated(tmp_path: Path) -> None:
    assert asyncio.run(campaign(tmp_path, COUNT)) == []


@rule("HR-A01")
def test_an_arbitrary_action_is_refused_with_a_reason_or_is_valid() -> None:
    junk = Junk(1)
    now = "2026-01-01T00:00:00.000Z"
    chat: Any = {"resource": "ahp-chat:/fuzz", "title": "", "status": 1, "modifiedAt": now, "turns": []}
    state: Any = {"provider": "demo", "title": "", "status": 1, "lifecycle": "ready"}
    state |= {"activeClients": [], "chats": []}
    conversation = Conversation(state, chat)
    for _ in range(3_000):
        try:
            translated = translate_dispatch(junk.action(), conversation, "me", 0).actions
        except HostError as error:
            reasons: list[str | None] = [str(error)]
        else:
            ours = [one for one in translated if one["type"].startswith(("session/", "chat/"))]
            reasons = [refuse(conversation, one, "me") for one in ours]
        assert all(one is None or (one and "Traceback" not in one) for one in reasons)


if __name__ == "__main__":
    found = asyncio.run(campaign(Path(tempfile.mkdtemp()), int(sys.argv[1])))
    print(f"{sys.argv[1]} frames, {len(found)} errors", *found[:5], sep="\n")
    sys.exit(bool(found))
