"""Terminals through the socket."""

from typing import Any

import pytest

from agenthost.host.limits import Limits
from agenthost.wire.ahp.legacy import ROOT_URI
from ahp_sites import Place, on_a_host
from ahp_speaking import Client
from rules import rule

CLAIM: Any = {"kind": "client", "clientId": "me"}


def printed(client: Client, uri: str = "t:/1") -> str:
    """Return all that a terminal shows."""
    parts = client.state(uri)["content"]
    return "".join(part.get("value", "") + part.get("output", "") for part in parts)


@rule("HR-X01", "HR-X02", "HR-X03")
@on_a_host()
async def test_a_terminal_is_typed_into_resized_renamed_cleared_and_removed(place: Place) -> None:
    async with place.client() as me, place.client("other") as other:
        await other.subscribe(ROOT_URI)
        await me.request("createTerminal", terminal="t:/1", claim=CLAIM, name="Shell", cols=100, rows=30)
        state = await me.subscribe("t:/1")
        assert (state["title"], state["claim"], state["cols"]) == ("Shell", CLAIM, 100)
        await other.until(lambda: other.state(ROOT_URI)["terminals"])
        await other.subscribe("t:/1")
        typed = await other.decide("t:/1", "terminal/input", data="echo ty''ped; stty size\n")
        assert "rejectionReason" not in typed
        await me.until(lambda: "typed" in printed(me) and "30 100" in printed(me))
        assert "\x1b]633" not in printed(me)
        assert "\x1b]133" not in printed(me)
        await me.decide("t:/1", "terminal/resized", cols=120, rows=40)
        await me.decide("t:/1", "terminal/input", data="stty size\n")
        await me.until(lambda: "40 120" in printed(me))
        await me.decide("t:/1", "terminal/titleChanged", title="Mine")
        await other.until(lambda: other.state(ROOT_URI)["terminals"][0]["title"] == "Mine")
        await me.decide("t:/1", "terminal/cleared")
        await me.decide("t:/1", "terminal/input", data="exit 3\n")
        await me.until(lambda: me.state("t:/1").get("exitCode") == 3)
        assert "rejectionReason" in await me.decide("t:/1", "terminal/input", data="x")
        assert await me.request("disposeTerminal", terminal="t:/1") is None
        await other.until(lambda: other.state(ROOT_URI)["terminals"] == [])
        assert (await me.refusal("disposeTerminal", terminal="t:/1")).code == -32008
        assert (await me.refusal("subscribe", resource="t:/1")).code == -32001


@rule("HR-X01")
@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"terminal": "t:/taken"}, -32010),
        ({"terminal": ROOT_URI}, -32602),
        ({"terminal": ""}, -32602),
        ({"claim": {"kind": "client", "clientId": "other"}}, -32602),
        ({"claim": {"kind": "session", "session": "demo:/nowhere"}}, -32001),
        ({"claim": None}, -32602),
        ({"cols": 0}, -32602),
        ({"rows": 100_000}, -32602),
        ({"cwd": "file:///"}, -32602),
    ],
)
@on_a_host()
async def test_a_terminal_that_cannot_be_created_is_refused(place: Place, more: Any, code: int) -> None:
    async with place.client() as me:
        await me.request("createTerminal", terminal="t:/taken", claim=CLAIM)
        params = {"terminal": "t:/1", "claim": CLAIM, **more}
        assert (await me.refusal("createTerminal", **params)).code == code
        assert len((await me.subscribe(ROOT_URI))["terminals"]) == 1


@rule("HR-A13", "HR-A01", "HR-A03")
@on_a_host()
async def test_only_the_holder_of_a_terminal_can_pass_it_on(place: Place) -> None:
    async with place.client() as me, place.client("other") as other:
        await me.request("createTerminal", terminal="t:/1", claim=CLAIM)
        await me.subscribe("t:/1")
        await other.subscribe("t:/1")
        theirs = {"kind": "client", "clientId": "other"}
        assert "rejectionReason" in await other.decide("t:/1", "terminal/claimed", claim=theirs)
        for kind, fields in (
            ("terminal/data", {"data": "forged"}),
            ("terminal/exited", {}),
            ("terminal/resized", {"cols": 0, "rows": 5}),
            ("terminal/titleChanged", {}),
            ("terminal/input", {}),
            ("terminal/cleared", {"newer": 1}),
        ):
            envelope = await other.decide("t:/1", kind, **fields)
            assert ("rejectionReason" in envelope) == (kind != "terminal/cleared"), kind
        assert "forged" not in printed(me)
        assert "rejectionReason" not in await me.decide("t:/1", "terminal/claimed", claim=theirs)
        assert "rejectionReason" in await me.decide("t:/1", "terminal/claimed", claim=CLAIM)


@rule("HR-X04")
@on_a_host(limits=Limits(scrollback_characters=2_000))
async def test_old_output_is_dropped(place: Place) -> None:
    async with place.client() as me:
        await me.request("createTerminal", terminal="t:/1", claim=CLAIM)
        await me.subscribe("t:/1")
        await me.until(lambda: me.state("t:/1").get("supportsCommandDetection") or printed(me))
        await me.act("t:/1", "terminal/input", data="seq 1 20000; echo do''ne\n")
        await me.until(lambda: "done" in printed(me))
        await me.subscribe("t:/1")
        assert len(printed(me)) < 20_000


@rule("HR-R05")
@on_a_host()
async def test_the_size_of_a_terminal_may_be_written_as_floats(place: Place) -> None:
    async with place.client() as me:
        await me.request("createTerminal", terminal="t:/1", claim=CLAIM, cols=80.0, rows=2.4e1)
        await me.subscribe("t:/1")
        await me.decide("t:/1", "terminal/resized", cols=90.0, rows=30.0)
        await me.decide("t:/1", "terminal/input", data="stty size\n")
        await me.until(lambda: "30 90" in printed(me))
        for odd in (80.5, "80", True):
            refused = await me.refusal("createTerminal", terminal="t:/2", claim=CLAIM, cols=odd)
            assert (refused.code, "$.cols" in refused.message) == (-32602, True)
