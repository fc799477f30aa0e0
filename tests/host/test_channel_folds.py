"""What clients make of a session and its chat, whatever happens in them: what new clients are shown."""

import asyncio
import tempfile
from copy import deepcopy
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agenthost.core import actions
from agenthost.core.conversation import Conversation
from agenthost.core.summaries import session_summary
from agenthost.errors import InvalidValue
from agenthost.host.state.engine import Engine
from agenthost.host.state.session import Session
from agenthost.wire.ahp.actions.text import ACTION
from agenthost.wire.json import decode_json
from drawn_chat_actions import chat_action
from drawn_session_actions import client_action, customization_action, meta_action, state_action
from drawn_values import CHAT, Draw, pick
from following import Follower, OldFollower, check_session
from hosting import run, started
from session_histories import starts

URI = "demo:/one"


def drawn_action(draw: Draw, states: Conversation) -> Any:
    """Draw an action that a host could make."""
    while True:
        action = _drawn_action(draw, states)
        try:
            return ACTION.take(deepcopy(action))
        except InvalidValue:
            continue


def _drawn_action(draw: Draw, states: Conversation) -> Any:
    session, chat = states
    if session["lifecycle"] == "creating":
        return actions.session_ready()
    if pick(draw, 0, 1, 1, 1):
        return chat_action(draw, chat)
    return pick(draw, client_action, customization_action, meta_action, state_action)(draw, session)


def stream(draw: Draw, session: Session) -> None:
    """Let text stream to a part of the running turn, if there is one."""
    turn: Any = session.chat.get("activeTurn", {"id": "none", "responseParts": []})
    parts = [part for part in turn["responseParts"] if part["kind"] in ("markdown", "reasoning")]
    part = pick(draw, *parts, {"kind": "markdown", "id": "none"})
    kind: Any = "chat/reasoning" if part["kind"] == "reasoning" else "chat/delta"
    for word in ("one ", "two "):
        session.stream(kind, turn["id"], part["id"], word)


async def play(host: Engine, draw: Draw, length: int) -> Session:
    """Let things happen in a session, while clients come and go; what they have is what there is."""
    states = Conversation(*starts(draw))
    session = await host.sessions.create(URI, states, name=CHAT.removeprefix("ahp-chat:/"))
    followers = [Follower(host, URI), Follower(host, CHAT), OldFollower(host, URI)]
    for follower in followers:
        await follower.join()
    away: set[int] = set()
    for _ in range(length):
        what = pick(draw, "act", "act", "act", "stream", "wait", "tick", "move")
        if what == "act":
            session.act(drawn_action(draw, session.conversation))
            check_session(session)
        elif what == "stream":
            stream(draw, session)
        elif what == "wait":
            await host.journal.wait()
        elif what == "tick":
            await asyncio.sleep(0)
        else:
            place = pick(draw, *range(len(followers)))
            await (followers[place].come_back() if place in away else followers[place].leave())
            away ^= {place}
    await host.journal.wait()
    assert session.is_shown
    for place, follower in enumerate(followers):
        if place in away:
            await follower.come_back()
        follower.read()
        assert follower.state == follower.expected(session)
        fresh = type(follower)(host, follower.channel)
        await fresh.join()
        assert fresh.state == follower.state
    return session


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([5, 20, 60, 150]))
def test_what_was_sent_on_each_channel_makes_what_new_subscribers_see_also_after_a_restart(
    seed: int, length: int
) -> None:
    async def story() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with started(Path(folder)) as host:
                session = await play(host, Draw(seed), length)
                states, row = session.conversation, session.row
                assert decode_json(row.summary) == session_summary(URI, states.session, session.created_at)
            async with started(Path(folder)) as host:
                again = await host.sessions.get(URI)
                assert again.conversation == states
                assert again.summary() == decode_json(row.summary)
                for channel in (URI, CHAT):
                    follower = Follower(host, channel)
                    await follower.join()
                    assert follower.state == follower.expected(again)

    run(story)
