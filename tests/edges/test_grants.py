"""Grants over both protocols: what a key may not do is refused with a sentence that says what is missing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agenthost.host.access.keys import KeyFile
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.options import Option
from agenthost.host.authoring.turn import Turn
from agenthost.wire.ahp.legacy import ROOT_URI
from ahp_agents import ECHO
from ahp_frames import Refused
from ahp_sites import Place, on_a_host
from ahp_speaking import Client, new_uri
from serving import Answer

WORTH: Any = {
    "usual": ("sessions", "files"),
    "talker": ("sessions",),
    "runner": ("sessions", "run"),
    "shell": ("sessions", "files", "terminals"),
    "watcher": ("admin",),
}

RUN = '/call run {"command": "echo done"}'
WRITE = '/call write_file {"path": "new.txt", "text": "new"}'


async def say(_turn: Turn) -> None:
    """Say nothing."""


MODAL = Agent("modal", say, options=[Option("mode", "select", "ask", ("ask", "auto"), grant="run")])
"""An agent with an option that is worth as much as running programs, as those of ACP have."""


class ByAhp:
    """Somebody with a key who speaks AHP."""

    def __init__(self, place: Place, key: str) -> None:
        self._place, self._key = place, key

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Client]:
        async with self._place.client(f"client-{self._key[3:9]}", self._key) as client:
            yield client

    async def create(self, agent: str = "demo", **more: Any) -> str:
        """Create a session; return its URI, or the refusal."""
        async with self._client() as client:
            uri = new_uri(agent)
            request = {"session": uri, "provider": agent, "config": more.get("options", {})}
            try:
                await client.ask("createSession", request)
            except Refused as refused:
                return f"{refused.code}: {refused.message}"
            return uri

    async def begin(self, uri: str, text: str) -> str:
        """Start a turn that stops for an approval; return the refusal, or nothing."""
        async with self._client() as client:
            await client.subscribe(uri)
            await client.until(lambda: client.state(uri)["lifecycle"] == "ready")
            await client.send(uri, text)
            await client.hear_kind("session/toolCallReady")
            return ""

    async def answer(self, uri: str, *, approved: bool) -> str:
        """Answer the call that waits; return the refusal, or nothing."""
        async with self._client() as client:
            turn = (await client.subscribe(uri))["activeTurn"]
            call = turn["responseParts"][-1]["toolCall"]
            more: Any = {"confirmed": "user-action"} if approved else {"reason": "denied"}
            ids = {"turnId": turn["id"], "toolCallId": call["toolCallId"]}
            told = await client.decide(uri, "session/toolCallConfirmed", **ids, approved=approved, **more)
            return str(told.get("rejectionReason", ""))


class ByAap:
    """Somebody with a key who speaks AAP."""

    def __init__(self, place: Place, key: str) -> None:
        self._place, self._key = place, key

    async def _ask(self, path: str, body: Any) -> Answer:
        return await self._place.ask(path, "POST", body=body, Authorization=f"Bearer {self._key}")

    async def create(self, agent: str = "demo", **more: Any) -> str:
        """Create a session; return its id, or the refusal."""
        if agent == "demo":
            more.setdefault("tools", [{"name": "run"}, {"name": "write_file"}])
        answer = await self._ask("/aap/sessions", {"agent": {"name": agent, **more}})
        return str(answer.json["sessionId"]) if answer.status == 201 else _refusal(answer)

    async def begin(self, session: str, text: str) -> str:
        """Start a turn that stops for an approval; return the refusal, or nothing."""
        messages = [{"role": "user", "content": text}]
        answer = await self._ask(f"/aap/sessions/{session}/turns", {"messages": messages})
        self.last = answer.json
        return _refusal(answer)

    async def answer(self, session: str, *, approved: bool) -> str:
        """Answer the call that waits; return the refusal, or nothing."""
        held = await self._place.host.parts.engine.sessions.named(session)
        call = held.chat["activeTurn"]["responseParts"][-1]["toolCall"]["toolCallId"]  # type: ignore[typeddict-item]
        message = {"role": "tool_permission", "toolCallId": call, "granted": approved}
        return _refusal(await self._ask(f"/aap/sessions/{session}/turns", {"messages": [message]}))


def _refusal(answer: Answer) -> str:
    if answer.status < 400:
        return ""
    assert (answer.status, answer.json["error"]["code"]) == (403, "grant_missing")
    return str(answer.json["error"]["message"])


Speaker = type[ByAhp] | type[ByAap]
both = pytest.mark.parametrize("speaks", [ByAhp, ByAap], ids=["AHP", "AAP"])


@both
@on_a_host(worth=WORTH)
async def test_approving_what_runs_programs_needs_run_and_denying_needs_nothing(
    place: Place, speaks: Speaker
) -> None:
    usual, runner = speaks(place, place.keys["usual"]), speaks(place, place.keys["runner"])
    session = await usual.create()
    await usual.begin(session, RUN)
    refusal = await usual.answer(session, approved=True)
    assert "needs a key with the grant 'run'" in refusal
    assert "keys create --run" in refusal
    assert await runner.answer(session, approved=True) == ""
    other = await usual.create()
    await usual.begin(other, RUN)
    assert await usual.answer(other, approved=False) == ""


@both
@on_a_host(worth=WORTH)
async def test_approving_a_change_of_a_file_needs_files(place: Place, speaks: Speaker) -> None:
    talker, usual = speaks(place, place.keys["talker"]), speaks(place, place.keys["usual"])
    session = await talker.create()
    await talker.begin(session, WRITE)
    assert "the grant 'files'" in await talker.answer(session, approved=True)
    assert not place.workspace.joinpath("new.txt").exists()
    assert await usual.answer(session, approved=True) == ""


@both
@on_a_host(MODAL, worth=WORTH)
async def test_an_option_may_need_a_grant_and_its_default_never_does(place: Place, speaks: Speaker) -> None:
    usual, runner = speaks(place, place.keys["usual"]), speaks(place, place.keys["runner"])
    assert "needs a key with the grant 'run'" in await usual.create("modal", options={"mode": "auto"})
    assert "grant" not in await usual.create("modal", options={"mode": "ask"})
    assert "grant" not in await runner.create("modal", options={"mode": "auto"})


@both
@on_a_host(worth=WORTH)
async def test_a_key_without_the_sessions_grant_cannot_open_any(place: Place, speaks: Speaker) -> None:
    assert "the grant 'sessions'" in await speaks(place, place.keys["watcher"]).create()


@on_a_host(worth=WORTH)
async def test_trusting_a_tool_over_aap_needs_what_approving_it_does(place: Place) -> None:
    usual, runner = ByAap(place, place.keys["usual"]), ByAap(place, place.keys["runner"])
    trusting: Any = [{"name": "run", "trust": True}]
    assert "trusting 'run' needs a key with the grant 'run'" in (await usual.create(tools=trusting)).replace(
        '"', "'"
    )
    session = await runner.create(tools=trusting)
    assert await runner.begin(session, RUN) == ""
    assert "done" in str(runner.last)
    assert "grant" not in await usual.create(tools=[{"name": "run"}, {"name": "write_file", "trust": True}])
    again = {"messages": [{"role": "user", "content": "hi"}], "agent": {"tools": trusting}}
    answer = await usual._ask(f"/aap/sessions/{session}/turns", again)
    assert "the grant 'run'" in _refusal(answer)


@on_a_host(MODAL, worth=WORTH)
async def test_a_setting_may_need_a_grant_to_be_changed(place: Place) -> None:
    async with (
        place.client("me", place.keys["usual"]) as me,
        place.client("r", place.keys["runner"]) as runner,
    ):
        uri = await me.begun(new_uri("modal"), provider="modal")
        told = await me.decide(uri, "session/configChanged", config={"mode": "auto"})
        assert "the grant 'run'" in told["rejectionReason"]
        same = await me.decide(uri, "session/configChanged", config={"mode": "ask"})
        assert "rejectionReason" not in same
        await runner.subscribe(uri)
        told = await runner.decide(uri, "session/configChanged", config={"mode": "auto"})
        assert "rejectionReason" not in told


@on_a_host(worth=WORTH)
async def test_without_the_terminals_grant_none_is_created_read_typed_into_or_ended(place: Place) -> None:
    terminal: Any = {"terminal": "t:/1"}
    keys = place.keys
    async with place.client("s", keys["shell"]) as shell, place.client("u", keys["usual"]) as usual:
        await shell.request("createTerminal", **terminal, claim={"kind": "client", "clientId": "s"})
        attempts: list[tuple[str, Any]] = [
            ("createTerminal", {"terminal": "t:/2", "claim": {"kind": "client", "clientId": "u"}}),
            ("subscribe", {"resource": "t:/1"}),
            ("disposeTerminal", terminal),
        ]
        for method, params in attempts:
            refused = await usual.refusal(method, **params)
            assert refused.code == -32009, method
            assert "the grant 'terminals'" in refused.message, method
        for kind, fields in (
            ("terminal/input", {"data": "touch owned\n"}),
            ("terminal/claimed", {"claim": {"kind": "client", "clientId": "u"}}),
            ("terminal/resized", {"cols": 10, "rows": 10}),
        ):
            told = await usual.decide("t:/1", kind, **fields)
            assert "the grant 'terminals'" in told["rejectionReason"], kind
        async with place.stranger("u2", keys["usual"]) as late:
            opened = await late.open("t:/1", ROOT_URI)
            assert [one["resource"] for one in opened["snapshots"]] == [ROOT_URI]
        await shell.subscribe("t:/1")


@on_a_host(worth=WORTH)
async def test_without_the_files_grant_nothing_in_the_workspace_is_read_written_or_proposed(
    place: Place,
) -> None:
    place.workspace.joinpath("a.txt").write_text("a")
    file = {"uri": place.uri("a.txt")}
    async with (
        place.client("t", place.keys["talker"]) as talker,
        place.client("u", place.keys["usual"]) as me,
    ):
        uri = await talker.begun()
        typed = {"kind": "userMessage", "session": uri, "text": "@", "offset": 1}
        attempts: list[tuple[str, Any]] = [
            ("resourceRead", file),
            ("resourceList", {"uri": place.uri()}),
            ("resourceWrite", {**file, "data": "b", "encoding": "utf-8"}),
            ("resourceDelete", file),
            ("resourceRequest", {"uri": "file:///", "read": True}),
            ("completions", typed),
        ]
        for method, params in attempts:
            refused = await talker.refusal(method, **params)
            assert (refused.code, "the grant 'files'" in refused.message) == (-32009, True), method
        assert (await talker.request("completions", **{**typed, "text": "/"}))["items"]
        assert (await me.request("resourceRead", **file))["data"]


@on_a_host(ECHO, worth=WORTH)
async def test_messages_of_a_session_are_read_without_the_files_grant(place: Place) -> None:
    async with place.client("t", place.keys["talker"]) as talker:
        uri = await talker.begun(new_uri("echo"))
        turn = await talker.say(uri, "/show")
        content = next(part["uri"] for part in turn["responseParts"] if part["kind"] == "contentRef")
        assert "data" in await talker.request("resourceRead", uri=content)


@on_a_host(worth=WORTH)
async def test_without_the_sessions_grant_there_are_no_notifications(place: Place) -> None:
    async with (
        place.client("w", place.keys["watcher"]) as watcher,
        place.client("u", place.keys["usual"]) as me,
    ):
        uri = await me.begun()
        assert (await watcher.refusal("listSessions")).code == -32009
        assert (await watcher.refusal("subscribe", resource=uri)).code == -32009
        await watcher.request("ping")
        assert uri not in "".join(watcher.frames)


@on_a_host(worth=WORTH)
async def test_metrics_are_for_admin(place: Place) -> None:
    refused = await place.ask("/metrics", Authorization=f"Bearer {place.keys['usual']}")
    assert (refused.status, refused.json["error"]["code"]) == (403, "grant_missing")
    assert "keys create --admin" in refused.json["error"]["message"]
    assert (await place.ask("/metrics", Authorization=f"Bearer {place.keys['watcher']}")).status == 200


@on_a_host(worth=WORTH, config={"public_metrics": True})
async def test_public_metrics_are_for_every_key_too(place: Place) -> None:
    assert (await place.ask("/metrics", Authorization=f"Bearer {place.keys['usual']}")).status == 200
    assert (await place.ask("/metrics")).status == 200


@on_a_host(terminals=False)
async def test_terminals_can_be_switched_off_for_everybody(place: Place) -> None:
    async with place.client() as me:
        claim = {"kind": "client", "clientId": "me"}
        refused = await me.refusal("createTerminal", terminal="t:/1", claim=claim)
        assert (refused.code, refused.message) == (
            -32009,
            "createTerminal is refused: terminals are switched off on this host",
        )


@on_a_host(worth=WORTH)
async def test_a_connection_ends_when_the_grants_of_its_key_change(place: Place) -> None:
    async with place.client("s", place.keys["shell"]) as shell:
        file = KeyFile(place.folder)
        changed = file.path.read_text().replace('"terminals"', '"run"')
        file.path.write_text(changed)
        assert await shell.closed() == (1008, "the key is no longer valid")
