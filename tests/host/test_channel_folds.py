"""What clients make of a session and its chat, whatever happens in them: what new clients are shown."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agenthost.core.conversation import Conversation
from agenthost.core.summaries import session_summary
from agenthost.host.state.engine import Engine
from agenthost.host.state.session import Session
from agenthost.wire.json import decode_json
from drawn_conversations import drawn_action, stream
from drawn_values import CHAT, Draw, pick
from following import Follower, OlderFollower, OldFollower, check_session, check_waiting
from hosting import run, started
from session_histories import starts

URI = "demo:/one"


async def play(host: Engine, draw: Draw, length: int) -> Session:
    """Let things happen in a session, while clients come and go; what they have is what there is."""
    states = Conversation(*starts(draw))
    session = await host.additions.create(URI, states, name=CHAT.removeprefix("ahp-chat:/"))
    followers: list[Follower] = [
        *(kind(host, channel) for kind in (Follower, OlderFollower) for channel in (URI, CHAT)),
        OldFollower(host, URI),
    ]
    for follower in followers:
        await follower.join()
    away: set[int] = set()
    for _ in range(length):
        what = pick(draw, "act", "act", "act", "stream", "wait", "tick", "move")
        if what == "act":
            session.act(drawn_action(draw, session.conversation))
            check_waiting(session)
        elif what == "stream":
            stream(draw, session)
        elif what == "wait":
            await host.journal.wait()
            check_session(session)
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
