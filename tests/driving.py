"""Clients of AHP 1.0, 0.9 and 0.1 and an application of AAP, which drive one session at the same time."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any, Self

from agenthost.core.legacy.projected_state import project_session_state
from agenthost.core.times import unix_ms
from agenthost.edges.ahp.v1.older import strip_state
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.enums import SessionStatus
from ahp_channels import USER, ChannelClient
from ahp_speaking import Client
from serving import ask

__all__ = ["NAMES", "Drivers", "said"]

VERSIONS = {"new": "1.0.0", "middle": "0.9.0"}
NAMES = ("new", "middle", "old", "application")
"""Who drives."""

IS_READ = SessionStatus.IS_READ


def said(turn: Any) -> str:
    """Return what a turn says, in any version."""
    return "".join(part["content"] for part in turn["responseParts"] if part["kind"] == "markdown")


class Drivers:
    """One client of each version, all of which follow a session; and an application beside them.

    Attributes:
        new: of AHP 1.0, `middle` of 0.9, `old` of 0.1.
    """

    new: ChannelClient
    middle: ChannelClient
    old: Client

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self._clients = AsyncExitStack()
        self._url = ""
        self._round = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._clients.aclose()

    async def join(self, url: str) -> None:
        """Connect all of them, and let the newest make the session, unless it is there."""
        await self._connect(url)
        for name, version in VERSIONS.items():
            await getattr(self, name).open(protocolVersions=[version])
        await self.old.open()
        listed = (await self.new.request("listSessions", channel=ROOT_URI))["items"]
        if self.uri in [one["resource"] for one in listed]:
            await self.new.follow(self.uri)
        else:
            await self.new.begun(self.uri)
        await self.middle.follow(self.uri)
        await self.old.subscribe(self.uri)

    async def leave(self) -> None:
        """Disconnect all of them; what they have seen stays."""
        await self._clients.aclose()

    async def come_back(self, url: str) -> list[str]:
        """Connect all of them again, each with what it saw last. Return how each was answered."""
        before = [self.new, self.middle, self.old]
        await self._connect(url)
        answers = []
        for gone, back in zip(before, [self.new, self.middle, self.old], strict=True):
            back.states = gone.states
            answers.append((await back.reopen(gone.last_seq, *gone.states))["type"])
        return answers

    async def _connect(self, url: str) -> None:
        self._url = url
        for name in VERSIONS:
            connected = ChannelClient.connected(url, name)
            setattr(self, name, await self._clients.enter_async_context(connected))
        self.old = await self._clients.enter_async_context(Client.connected(url, "old"))

    # What they do

    async def drive(self, rounds: int, others: int = 0) -> None:
        """Let all of them say something as often as this, while all approve what waits.

        `others` is how many more turns somebody else begins meanwhile.
        """
        expected = len(self.new.chat(self.uri)["turns"]) + len(NAMES) * rounds + others
        approving = [asyncio.create_task(self.approve(one)) for one in (self.new, self.middle, self.old)]
        for _ in range(rounds):
            await asyncio.gather(*(self._say(name, self._round) for name in NAMES))
            self._round += 1
        await self.wait_turns(expected)
        for task in approving:
            task.cancel()
        await asyncio.gather(*approving, return_exceptions=True)

    async def _say(self, name: str, number: int) -> None:
        text = f"/edit {name}{number}.txt by {name}" if number % 2 else f"Hello {number} from {name}"
        waits: Any = {"kind": "queued", "id": f"{name}{number}"}
        if name == "application":
            await self._ask(text)
        elif name == "old":
            await self.old.act(self.uri, "session/pendingMessageSet", **waits, userMessage={"text": text})
        else:
            client: ChannelClient = getattr(self, name)
            message = {"text": text, "origin": USER}
            await client.act(client.chat_of(self.uri), "chat/pendingMessageSet", **waits, message=message)

    async def _ask(self, text: str) -> None:
        """Have a turn over AAP, which takes no message while another turn runs."""
        path = f"/aap/v3/sessions/{self.uri.partition(':/')[2]}/turns"
        body = {"messages": [{"role": "user", "content": text}], "stream": "none"}
        while True:
            found = await asyncio.to_thread(ask, self._url, path, "POST", body=body)
            if found.status == 200:
                return
            assert (found.status, found.json["error"]["code"]) == (409, "turn_in_progress")
            await asyncio.sleep(0.01)

    async def approve(self, client: Client) -> None:
        """Approve whatever this client sees waiting, each call once; others may have done so before."""
        done: set[str] = set()
        while True:
            turn, call = await client.until(lambda: next(self._waiting(client, done), None))
            done.add(call)
            scope, channel = (
                ("chat", client.chat_of(self.uri))
                if isinstance(client, ChannelClient)
                else ("session", self.uri)
            )
            choice: Any = {"approved": True, "confirmed": "user-action"}
            await client.act(channel, f"{scope}/toolCallConfirmed", turnId=turn, toolCallId=call, **choice)

    def _waiting(self, client: Client, done: set[str]) -> Iterator[tuple[str, str]]:
        turn = self._chat(client).get("activeTurn", {"responseParts": []})
        for part in turn["responseParts"]:
            if part["kind"] == "toolCall" and part["toolCall"]["status"] == "pending-confirmation":
                call = part["toolCall"]["toolCallId"]
                if call not in done:
                    yield turn["id"], call

    async def wait_call(self) -> None:
        """Wait until all of them see a call that waits to be approved."""
        for client in (self.new, self.middle, self.old):
            await client.until(lambda seen=client: next(self._waiting(seen, set()), None))  # type: ignore[misc]

    # What they see

    def _chat(self, client: Client) -> Any:
        return client.chat(self.uri) if isinstance(client, ChannelClient) else client.state(self.uri)

    async def wait_turns(self, count: int) -> None:
        """Wait until each of them has seen this many turns end, and none runs or waits."""
        for client in (self.new, self.middle, self.old):
            await client.until(lambda seen=client: self._is_over(seen, count))  # type: ignore[misc]

    async def wait_read(self) -> None:
        """Wait until each of them has seen that somebody read the session."""
        for client in (self.new, self.middle):
            await client.until(lambda seen=client: seen.state(self.uri)["status"] & IS_READ)  # type: ignore[misc]
        await self.old.until(lambda: self.old.state(self.uri)["summary"]["status"] & IS_READ)

    def _is_over(self, client: Client, count: int) -> bool:
        chat = self._chat(client)
        is_busy = "activeTurn" in chat or chat.get("queuedMessages")
        return len(chat["turns"]) == count and not is_busy

    async def check(self) -> None:
        """Check that all of them have the same, each as its version shows it, and so would a new one."""
        await self.new.check_folds()
        await self.middle.check_folds()
        session, chat = self.new.state(self.uri), self.new.chat(self.uri)
        assert self.middle.state(self.uri) == strip_state(session)
        assert self.middle.chat(self.uri) == strip_state(chat)
        (listed,) = (await self.new.request("listSessions", channel=ROOT_URI))["items"]
        seen = project_session_state(session, chat, self.uri, unix_ms(listed["createdAt"]) or 0)
        assert _timeless(self.old.state(self.uri)) == _timeless(seen)
        assert await self.old.subscribe(self.uri) == seen
        assert await self._history() == [turn["message"]["text"] for turn in chat["turns"]]

    async def _history(self) -> list[str]:
        path = f"/aap/v3/sessions/{self.uri.partition(':/')[2]}/history?type=full"
        found = (await asyncio.to_thread(ask, self._url, path)).json["history"]["full"]
        return [one["content"] for one in found if one["role"] == "user"]


def _timeless(state: Any) -> Any:
    """Leave out when it was changed: clients of AHP 0.1 have clocks of their own."""
    return {**state, "summary": {**state["summary"], "modifiedAt": 0}}
