"""One door: each rule is decided once, so it holds over AAP, AHP 0.1 and AHP 1.0, with the same sentence."""

import re
from pathlib import Path
from typing import Any

import pytest

from agenthost.host.limits import Limits
from ahp_agents import GUARDED, LOGIN
from ahp_sites import Place, on_a_host
from both_protocols import (
    CLERK,
    LONER,
    ByAap,
    ByAhp,
    Refused,
    Speaks,
    both,
    open_call,
    sentence_of,
    until,
    view,
)
from rules import rule

WORTH: Any = {"usual": ("sessions", "files"), "runner": ("sessions", "files", "run"), "watcher": ("admin",)}

GOOD = "good-secret"

LIMIT = 1_000
FITTING = "x" * (LIMIT - len('{"text":""}'))


def lacking(what: str, grant: str = "run", option: str = " --run") -> str:
    """Return what somebody is told whose key lacks a grant."""
    return (
        f"{what} needs a key with the grant {grant!r}, which this one lacks; "
        f"`agenthost keys create{option}` creates one that has it"
    )


# Messages


@rule("HR-R07", "HR-A01", "X1")
@both
@on_a_host(CLERK, limits=Limits(message_bytes=LIMIT))
async def test_a_message_that_is_too_large_is_refused(place: Place, speaks: Speaks) -> None:
    async with speaks.at(place) as me:
        session = await me.create()
        before = await view(place, session)
        assert await sentence_of(me.start(session, FITTING + "x")) == "the message is larger than 1000 bytes"
        assert await view(place, session) == before
        await me.start(session, FITTING)
        await until_over(place, session)
        state, _, _ = await view(place, session)
        assert [turn["userMessage"]["text"] for turn in state["turns"]] == [FITTING]


@rule("C7", "X1")
@pytest.mark.parametrize("version", ["v1", "v2"])
@on_a_host(CLERK, limits=Limits(message_bytes=LIMIT))
async def test_a_session_whose_first_message_is_too_large_is_not_kept(place: Place, version: str) -> None:
    body = {"agent": {"name": "clerk"}, "messages": [{"role": "user", "content": FITTING + "x"}]}
    answer = await place.ask(f"/aap/{version}/session", "PUT", body=body)
    assert (answer.status, answer.json["error"]["message"]) == (413, "the message is larger than 1000 bytes")
    async with ByAap.at(place) as me:
        assert await me.list() == []


# Tools of clients

TAKEN = "expected a name that no other tool has, found"


@rule("HR-U08", "X5", "X1")
@both
@pytest.mark.parametrize("name", ["note", "hidden"])
@on_a_host(CLERK)
async def test_a_new_session_brings_no_tool_named_like_one_of_the_host(
    place: Place, speaks: Speaks, name: str
) -> None:
    async with speaks.at(place) as me:
        sentence = await sentence_of(me.create(brings=["mine", name], on=["note"]))
        assert sentence == f"$.tools[1].name: {TAKEN} {name!r}"
        assert await me.list() == []


@rule("HR-U08", "X5", "X1")
@on_a_host(CLERK)
async def test_a_new_session_brings_none_named_like_one_that_is_off(place: Place) -> None:
    async with ByAap.at(place) as me:  # over AHP, a new session has all exposed tools on
        sentence = await sentence_of(me.create(brings=["note"], on=["other"]))
        assert sentence == f"$.tools[0].name: {TAKEN} 'note'"
        assert await me.list() == []


@rule("HR-U08", "X5", "X1")
@both
@on_a_host(CLERK)
async def test_a_new_session_brings_no_two_tools_of_one_name(place: Place, speaks: Speaks) -> None:
    async with speaks.at(place) as me:
        sentence = await sentence_of(me.create(brings=["mine", "mine"]))
        assert sentence == f"$.tools[1].name: {TAKEN} 'mine'"
        assert await me.list() == []


@rule("HR-U08", "X5", "X1")
@both
@pytest.mark.parametrize("name", ["note", "other", "hidden", "mine"])
@on_a_host(CLERK)
async def test_a_session_gets_no_tool_whose_name_is_taken(place: Place, speaks: Speaks, name: str) -> None:
    async with speaks.at(place) as me, ByAap.at(place) as maker:
        session = await maker.create(on=["note"])  # `note` is on, `other` is off, and `hidden` is not exposed
        before = await view(place, session)
        assert await sentence_of(me.bring(session, ["mine", name])) == f"$.tools[1].name: {TAKEN} {name!r}"
        assert await view(place, session) == before
        await me.bring(session, ["mine"])
        state, _, _ = await view(place, session)
        assert [one["name"] for one in state["activeClient"]["tools"]] == ["mine"]


@rule("HR-A01", "X8", "X1")
@both
@on_a_host(LONER)
async def test_an_agent_that_takes_no_tools_of_clients_gets_none(place: Place, speaks: Speaks) -> None:
    sentence = "$.tools: expected no tools, as the agent takes none from clients, found 1"
    async with speaks.at(place) as me:
        assert await sentence_of(me.create("loner", brings=["mine"])) == sentence
        assert await me.list() == []
        session = await me.create("loner")
        before = await view(place, session)
        assert await sentence_of(me.bring(session, ["mine"])) == sentence
        assert await view(place, session) == before


# Turns


@rule("X12", "HR-A01", "X1")
@both
@on_a_host(CLERK)
async def test_one_turn_runs_at_a_time(place: Place, speaks: Speaks) -> None:
    async with speaks.at(place) as me:
        session = await me.create()
        await me.start(session, "wait")
        before = await view(place, session)
        turn = before[0]["activeTurn"]["id"]
        assert await sentence_of(me.start(session, "hello")) == f"turn {turn!r} is still running"
        state, messages, private = await view(place, session)
        assert state["activeTurn"]["id"] == turn
        assert (state["turns"], messages, private) == (before[0]["turns"], before[1], before[2])
        await me.dispose(session)


@rule("HR-P01")
@both
@on_a_host(GUARDED)
async def test_an_agent_that_needs_a_token_begins_nothing_without(place: Place, speaks: Speaks) -> None:
    sentence = "a token is needed for Example; an AHP client passes it with `authenticate`"
    async with speaks.at(place) as me, place.client("other") as other:
        assert await sentence_of(me.create("guarded")) == sentence
        assert await me.list() == []
        await other.request("authenticate", resource=LOGIN["resource"], token=GOOD)
        session = await other.begun("guarded:/theirs")
        before = await view(place, session)
        assert await sentence_of(me.start(session, "hello")) == sentence
        assert await view(place, session) == before


# Sessions that are not there


@rule("HR-S05", "X11", "HR-A02")
@both
@on_a_host(CLERK, keys=("ann", "bob"))
async def test_a_session_of_another_owner_does_not_exist(place: Place, speaks: Speaks) -> None:
    ann, bob = place.keys["ann"], place.keys["bob"]
    async with speaks.at(place, ann) as me, speaks.at(place, bob, "you") as you:
        session = await you.create()
        before = await view(place, session)
        for uri in (session, "clerk:/never"):
            missing = f"there is no session {me.name(uri)!r}"
            assert await sentence_of(me.read(uri)) == missing
            assert await sentence_of(me.dispose(uri)) == missing
            await attempt_in_vain(place, me, uri, missing)
        assert await me.list() == []
        assert await view(place, session) == before
        assert await you.list() == [session]


@rule("L6", "X11", "HR-A02")
@both
@on_a_host(CLERK)
async def test_a_session_that_was_removed_does_not_exist(place: Place, speaks: Speaks) -> None:
    async with speaks.at(place) as me:
        session = await me.create()
        await me.start(session, "wait")
        await me.dispose(session)
        missing = f"there is no session {me.name(session)!r}"
        assert await sentence_of(me.read(session)) == missing
        assert await sentence_of(me.dispose(session)) == missing
        await attempt_in_vain(place, me, session, missing)
        assert await me.list() == []


async def attempt_in_vain(place: Place, me: ByAap | ByAhp, uri: str, missing: str) -> None:
    """Start a turn where there is no session: AAP says so, AHP says nothing (HR-A02)."""
    if isinstance(me, ByAap):
        assert await sentence_of(me.start(uri, "hello")) == missing
        return
    before = place.host.parts.engine.journal.ticket
    await me.attempt(uri)
    assert place.host.parts.engine.journal.ticket == before


# Grants


@rule("HR-A01", "X1")
@both
@on_a_host(CLERK, worth=WORTH)
async def test_a_call_is_approved_by_somebody_with_its_grant(place: Place, speaks: Speaks) -> None:
    usual, runner = place.keys["usual"], place.keys["runner"]
    async with speaks.at(place, usual) as me, speaks.at(place, runner, "runner") as you:
        session = await me.create(on=["risky"])
        await me.start(session, "call risky")
        ids = await open_call(place, session)
        before = await view(place, session)
        assert await sentence_of(me.approve(session, ids)) == lacking("approving 'risky'")
        assert await view(place, session) == before
        await you.approve(session, ids)


@rule("HR-A01", "X1")
@both
@on_a_host(CLERK, worth=WORTH)
async def test_a_tool_is_trusted_by_somebody_with_its_grant(place: Place, speaks: Speaks) -> None:
    usual, runner = place.keys["usual"], place.keys["runner"]
    async with speaks.at(place, usual) as me, speaks.at(place, runner, "runner") as you:
        session = await me.create(on=["risky"])
        # AHP trusts a tool by approving a call for the whole session.
        how = "trusting" if speaks is ByAap else "approving"
        assert await sentence_of(me.trust(session, "risky")) == lacking(f"{how} 'risky'")
        assert not has_trust(await view(place, session))
        other = await you.create(on=["risky"])
        await you.trust(other, "risky")
        assert has_trust(await view(place, other))


def has_trust(seen: Any) -> bool:
    private = seen[2]
    return bool(private.get("tools", {}).get("risky") or "risky" in private.get("trusted", []))


@rule("HR-A01", "X1", "O6")
@both
@on_a_host(CLERK, worth=WORTH)
async def test_an_option_is_set_by_somebody_with_its_grant(place: Place, speaks: Speaks) -> None:
    usual, runner = place.keys["usual"], place.keys["runner"]
    async with speaks.at(place, usual) as me, speaks.at(place, runner, "runner") as you:
        assert await sentence_of(me.create(mode="auto")) == lacking("setting 'mode'")
        assert await me.list() == []
        session = await me.create(mode="ask", tone="kind")  # its default is for everybody
        before = await view(place, session)
        assert await sentence_of(me.set(session, mode="auto")) == lacking("setting 'mode'")
        assert await view(place, session) == before
        await you.set(session, mode="auto")
        state, _, _ = await view(place, session)
        assert state["config"]["values"]["mode"] == "auto"


@rule("HR-A01", "A1")
@both
@on_a_host(CLERK, worth=WORTH)
async def test_a_key_without_the_grant_for_sessions_does_nothing_with_them(
    place: Place, speaks: Speaks
) -> None:
    usual, watcher = place.keys["usual"], place.keys["watcher"]
    async with speaks.at(place, usual) as me, speaks.at(place, watcher, "watcher") as you:
        session = await me.create()
        before = await view(place, session)
        for what, asked in (
            ("createSession", you.create()),
            ("listSessions", you.list()),
            ("fetchTurns", you.read(session)),
            ("disposeSession", you.dispose(session)),
            ("turnStarted", you.start(session, "hello")),
        ):
            # Of an action, its type in the protocol that was spoken.
            kinds = [f"{scope}/{what}" for scope in ("session", "chat")] if what == "turnStarted" else [what]
            assert await sentence_of(asked) in [lacking(kind, "sessions", "") for kind in kinds]
        assert await view(place, session) == before
        assert await me.list() == [session]


# Answers


@rule("HR-A04", "P9", "X7")
@both
@on_a_host(CLERK)
async def test_a_call_is_answered_once(place: Place, speaks: Speaks) -> None:
    async with speaks.at(place) as me:
        session = await me.create(on=["note"])
        await me.start(session, "call note")
        ids = await open_call(place, session)
        await me.approve(session, ids)
        await until_over(place, session)
        await refused_in_vain(place, session, me.approve(session, ids))


@rule("HR-A04", "X7")
@both
@on_a_host(CLERK)
async def test_a_call_that_is_not_there_is_not_answered(place: Place, speaks: Speaks) -> None:
    async with speaks.at(place) as me:
        session = await me.create(on=["note"])
        await refused_in_vain(place, session, me.approve(session, {"turnId": "t", "toolCallId": "c"}))
        await me.start(session, "call note")
        ids = await open_call(place, session)
        await refused_in_vain(place, session, me.approve(session, {**ids, "toolCallId": "another"}))
        # Nor is it answered with a result: the host's tool is run by the host.
        await refused_in_vain(place, session, me.complete(session, ids))
        await me.approve(session, ids)
        await until_over(place, session)


@rule("HR-A12", "P9", "X7")
@both
@on_a_host(CLERK)
async def test_the_result_of_a_clients_tool_counts_once(place: Place, speaks: Speaks) -> None:
    async with speaks.at(place) as me:
        session = await me.create(brings=["mine"])
        await me.start(session, "call mine")
        ids = await open_call(place, session, "running")
        await refused_in_vain(place, session, me.approve(session, ids))  # nobody has to allow it
        await me.complete(session, ids)
        await until_over(place, session)
        await refused_in_vain(place, session, me.complete(session, ids))


async def until_over(place: Place, uri: str) -> None:
    session = await place.host.parts.engine.sessions.get(uri)
    await until(lambda: "activeTurn" not in session.chat)


async def refused_in_vain(place: Place, uri: str, asked: Any) -> None:
    """Check that something is refused and changes nothing. Each protocol has its own words for calls."""
    before = await view(place, uri)
    with pytest.raises(Refused):
        await asked
    assert await view(place, uri) == before


def test_the_rules_that_are_named_here_are_there() -> None:
    documents = Path(__file__).parents[2] / "docs"
    text = "".join((documents / name).read_text(encoding="utf-8") for name in ("aap.md", "ahp.md"))
    rules = set(re.findall(r"^\| ((?:HR-)?[A-Z]\d+) \|", text, re.MULTILINE))
    named = re.findall(r"^@rule\((.*)\)$", Path(__file__).read_text(encoding="utf-8"), re.MULTILINE)
    assert {one for names in named for one in re.findall(r'"([^"]+)"', names)} <= rules
