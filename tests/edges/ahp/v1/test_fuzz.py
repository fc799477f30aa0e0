"""Frames of AHP 1.0 that nobody would write: the host stays, and every channel is the fold of its actions.

`PYTHONPATH=tests python tests/edges/ahp/v1/test_fuzz.py 100000` takes longer.
"""

import asyncio
import json
import os
import random
import sys
import tempfile
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from agenthost.host.limits import Limits
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.actions import CLIENT_ACTIONS, StateAction
from agenthost.wire.ahp.methods import METHODS
from agenthost.wire.annotations import union_members
from ahp_channels import channel_client
from ahp_sites import Place, heard_errors, served
from chance import Chance
from rules import rule

COUNT = int(os.environ.get("AGENTHOST_FUZZ", "1500"))
AT_ONCE = 1500
URI, CHAT, FURTHER, TERMINAL = "demo:/fuzz", "ahp-chat:/fuzz", "ahp-chat:/further", "ahp-terminal:/fuzz"
CHANNELS = (URI, CHAT, CHAT, FURTHER, FURTHER, ROOT_URI, TERMINAL, "ahp-chat:/none", "", "\0")
OWN = {"session": (URI,), "chat": (CHAT, FURTHER), "terminal": (TERMINAL,), "root": (ROOT_URI,)}
ODD: list[Any] = [None, True, -1, 2**53, 2**70, 1.5, 1e300, "", "\0", "é\U0001f600", "x" * 3000, [], {}, [[]]]
OPENING = {"initialize", "reconnect"}
UNWANTED = OPENING | {"createTerminal", "disposeSession", "disposeChat"}
"""What would open a connection, start programs, or end what is looked at."""


class Anything(dict[str, int]):
    """Holds everything."""

    def __contains__(self, _key: object) -> bool:
        return True

    def __missing__(self, _key: str) -> int:
        return 0


class Frames:
    """Makes frames up: of what the protocol has, and then changed in some place."""

    def __init__(self, seed: int) -> None:
        self._drawn = Chance(seed)
        self._chance = random.Random(seed)  # noqa: S311
        self._actions = union_members(StateAction)
        self._methods = sorted(name for name, one in METHODS.items() if one.caller == "client")

    def frame(self) -> str | bytes:
        """Make one."""
        shape = self._chance.random()
        if shape < 0.05:
            return bytes(self._chance.randrange(256) for _ in range(self._chance.randrange(60)))
        message = self._dispatch() if shape < 0.6 else self._request()
        for _ in range(self._chance.choice((0, 0, 1, 2))):
            self._spoil(message)
        text = json.dumps(message)
        return text[: self._chance.randrange(len(text))] if shape > 0.97 else text

    def _dispatch(self) -> Any:
        action: Any = self._drawn.value(self._chance.choice(self._actions))
        while action["type"] not in CLIENT_ACTIONS and self._chance.random() < 0.9:
            action = self._drawn.value(self._chance.choice(self._actions))
        if "message" in action and self._chance.random() < 0.9:
            action["message"]["origin"] = {"kind": "user"}
        scope = action["type"].partition("/")[0]
        own = self._chance.choice(OWN.get(scope, (URI,)))
        channel = own if self._chance.random() < 0.9 else self._channel()
        params = {"channel": channel, "clientSeq": self._chance.randrange(3), "action": action}
        return {"jsonrpc": "2.0", "method": "dispatchAction", "params": params}

    def _request(self) -> Any:
        method = self._chance.choice(sorted(set(self._methods) - UNWANTED))
        params: Any = self._drawn.value(METHODS[method].params.kind)
        message = {"jsonrpc": "2.0", "method": method, "params": {**params, "channel": self._channel()}}
        return {**message, "id": self._chance.choice(["a", -5, 2**60, None, True, {}])}

    def _channel(self) -> str:
        return self._chance.choice(CHANNELS)

    def _spoil(self, message: Any) -> None:
        """Change, remove or add something anywhere in a message, but for its method."""
        place: Any = message.get("params", message)
        while True:
            inner = [one for one in _values(place) if isinstance(one, dict | list) and one]
            if not inner or self._chance.random() < 0.4:
                break
            place = self._chance.choice(inner)
        keys: list[Any] = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key, how = self._chance.choice(keys), self._chance.random()
        if how < 0.3:
            del place[key]
        elif how < 0.8 or isinstance(place, list):
            place[key] = deepcopy(self._chance.choice(ODD))
        else:
            place[self._chance.choice(["_meta", "x", "type", "kind", "id"])] = deepcopy(
                self._chance.choice(ODD)
            )


def _values(place: Any) -> list[Any]:
    return list(place.values()) if isinstance(place, dict) else list(place)


async def fuzzed(place: Place, seed: int, count: int, version: str) -> int:
    """Send so many frames, while another client follows all that is there; return what came of them."""
    frames = Frames(seed)
    async with channel_client(place, "watcher") as watcher:
        if not await place.host.parts.engine.sessions.is_there(URI):
            await watcher.begun(URI, provider="demo")
            await watcher.request("createChat", channel=URI, chat=FURTHER)
        await watcher.subscribe(ROOT_URI)
        await watcher.follow(URI)
        await watcher.subscribe(FURTHER)
        async with channel_client(place, "fuzzer", protocolVersions=[version]) as me:
            me._floors = Anything()  # it may subscribe to whatever it meets
            take, me.take = me.take, lambda message: _check(message, take)  # type: ignore[method-assign]
            for number in range(count):
                await me.raw(frames.frame())
                if number % 100 == 0:
                    await me.request("ping", channel=ROOT_URI)
            await me.request("ping", channel=ROOT_URI)
            me.check()
        await watcher.request("ping", channel=ROOT_URI)
        await watcher.check_folds()
        assert {URI, CHAT, FURTHER, ROOT_URI} <= {one["channel"] for one in watcher.envelopes}
        return len(watcher.envelopes)


def _check(message: Any, take: Callable[[Any], None]) -> None:
    """Take answers to what is waited for; of the others only look that they tell nothing of the inside."""
    assert "Traceback" not in json.dumps(message)
    if type(message.get("id")) is int and abs(message["id"]) < 2**50 and message["id"] > 0:
        take(message)


async def campaign(folder: Path, count: int, version: str) -> tuple[list[str], int]:
    """Send frames in several connections. Return what the host logged as errors, and how much happened."""
    happened = 0
    with heard_errors() as errors:
        async with served(folder, limits=Limits(subscriber_items=100_000)) as place:
            for seed in range(max(1, count // AT_ONCE)):
                happened += await fuzzed(place, seed, min(count, AT_ONCE), version)
                assert (await place.ask("/readyz")).status == 200
    return errors, happened


@rule("1.0/D1", "1.0/I1", "1.0/Q1", "1.0/U1")
@pytest.mark.parametrize("version", ["1.0.0", "0.9.0"])
def test_junk_never_harms_the_host_and_never_changes_what_was_not_validated(
    tmp_path: Path, version: str
) -> None:
    errors, happened = asyncio.run(campaign(tmp_path, COUNT, version))
    assert errors == []
    assert happened > COUNT / 100  # some of it was valid


if __name__ == "__main__":
    found, came = asyncio.run(campaign(Path(tempfile.mkdtemp()), int(sys.argv[1]), "1.0.0"))
    print(f"{sys.argv[1]} frames, {came} envelopes, {len(found)} errors", *found[:5], sep="\n")
    sys.exit(bool(found))
