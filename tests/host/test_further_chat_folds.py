"""What clients make of a session with several chats, whatever happens in them: what new clients are shown."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agenthost.core.chats import new_chat
from agenthost.core.conversation import Conversation
from agenthost.core.derived import SHOWN_FIELDS, waiting_in
from agenthost.core.legacy.projected_state import project_session_state
from agenthost.core.summaries import session_summary
from agenthost.host.state.engine import Engine
from agenthost.host.state.further_chat import FurtherChat
from agenthost.host.state.session import Session
from agenthost.wire.json import decode_json
from drawn_conversations import drawn_action, stream
from drawn_values import CHAT, Draw, pick
from following import Follower, OlderFollower, OldFollower
from hosting import run, started
from session_histories import starts

URI = "demo:/one"
NOW = "2026-01-01T00:00:00.000Z"


def check_catalogue(chats: list[Session]) -> None:
    """Check that the session shows of its chats what there is, once all of it was shown."""
    state = chats[0].state
    assert [one["resource"] for one in state["chats"]] == [chat.chat_uri for chat in chats]
    for entry, one in zip(state["chats"], chats, strict=True):
        chat = one.chat
        # An activity that is over is an empty text in the catalogue.
        assert [entry.get(key) or "" for key in SHOWN_FIELDS] == [chat.get(key) or "" for key in SHOWN_FIELDS]
    check_waiting(chats)


def check_waiting(chats: list[Session]) -> None:
    """Check that the session shows at any moment what waits in its chats."""
    waiting = [one["id"] for one in chats[0].state.get("inputNeeded", [])]
    assert sorted(waiting) == sorted(name for one in chats for name in waiting_in(one.chat))


class Story:
    """A session whose chats come and go, and the clients that follow them."""

    def __init__(self, host: Engine, draw: Draw, session: Session) -> None:
        self.host = host
        self.draw = draw
        self.chats = [session]
        self.followers: list[Follower] = []
        self.away: set[Follower] = set()
        self.made = 0

    async def follow(self, follower: Follower) -> None:
        await follower.join()
        self.followers.append(follower)

    async def add(self) -> None:
        self.made += 1
        chat = new_chat(f"ahp-chat:/more{self.made}", NOW, {"kind": "user"})
        self.chats.append(await self.host.additions.add_chat(self.chats[0], chat))
        for kind in (Follower, OlderFollower):
            await self.follow(kind(self.host, chat["resource"]))

    async def remove(self) -> None:
        chat = pick(self.draw, *self.chats[1:])
        assert isinstance(chat, FurtherChat)
        gone = [one for one in self.followers if one.channel == chat.uri]
        self.followers = [one for one in self.followers if one not in gone]
        self.away -= set(gone)
        if chat.has_turn:
            chat.act({"type": "chat/truncated"})
        await self.host.removals.remove(chat.uri)
        self.chats.remove(chat)

    async def move(self) -> None:
        follower = pick(self.draw, *self.followers)
        await (follower.come_back() if follower in self.away else follower.leave())
        self.away ^= {follower}

    def act(self) -> None:
        one = pick(self.draw, *self.chats)
        while True:
            action = drawn_action(self.draw, one.conversation)
            if one.home is one or action["type"].startswith("chat/"):
                break
        one.act(action)
        check_waiting(self.chats)

    async def step(self) -> None:
        what = pick(self.draw, *"aaaaaaaassstttwm+-")
        if what == "a":
            self.act()
        elif what == "s":
            stream(self.draw, pick(self.draw, *self.chats))
        elif what == "t":
            await asyncio.sleep(0)
        elif what == "w":
            await self.host.journal.wait()
            check_catalogue(self.chats)
        elif what == "m":
            await self.move()
        elif what == "+" and len(self.chats) < 4:
            await self.add()
        elif what == "-" and len(self.chats) > 1:
            await self.remove()

    async def finish(self) -> None:
        """Check what each client has."""
        await self.host.journal.wait()
        check_catalogue(self.chats)
        of = {one.chat_uri: one for one in self.chats}
        for follower in self.followers:
            if follower in self.away:
                await follower.come_back()
            follower.read()
            assert follower.state == follower.expected(of.get(follower.channel, self.chats[0]))


async def play(host: Engine, seed: int, length: int) -> list[Session]:
    """Let things happen in a session with several chats."""
    draw = Draw(seed)
    states = Conversation(*starts(draw))
    states = states._replace(session={**states.session, "lifecycle": "ready"})
    session = await host.additions.create(URI, states, name=CHAT.removeprefix("ahp-chat:/"))
    story = Story(host, draw, session)
    for kind in (Follower, OlderFollower):
        await story.follow(kind(host, URI))
        await story.follow(kind(host, CHAT))
    await story.follow(OldFollower(host, URI))
    await story.add()
    for _ in range(length):
        await story.step()
    await story.finish()
    return story.chats


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([5, 20, 60, 150]))
def test_what_was_sent_on_each_channel_is_what_is_there_also_after_a_restart(seed: int, length: int) -> None:
    async def story() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with started(Path(folder)) as host:
                chats = await play(host, seed, length)
                states = {one.chat_uri: one.chat for one in chats}
                session = chats[0].state
                summary = session_summary(URI, session, chats[0].created_at)
                assert decode_json(chats[0].row.summary) == summary
                # What old clients see has nothing of the further chats.
                old = project_session_state(session, chats[0].chat, URI, 0)
                alone: Any = {**session, "chats": session["chats"][:1]}
                alone.pop("inputNeeded", None)
                assert project_session_state(alone, chats[0].chat, URI, 0) == old
            async with started(Path(folder)) as host:
                assert host.session_counts.total == 1
                for uri, state in states.items():
                    again = await host.sessions.find(uri)
                    assert (again.chat, again.state) == (state, session)

    run(story)
