"""Somebody who speaks AAP or a version of AHP, with the same verbs: for tests of rules that hold over all.

What is refused is a `Refused` with the sentence, whatever carries it: an HTTP error, an error of JSON-RPC, or
an action that comes back.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeAlias

import pytest

import ahp_frames
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.options import Option
from agenthost.host.authoring.steps import Call
from agenthost.host.authoring.tool import tool
from agenthost.host.authoring.turn import Turn
from agenthost.host.state.session_uris import CHAT_PREFIX
from agenthost.wire.ahp import ROOT_URI
from ahp_channels import NOW, USER, channel_client
from ahp_sites import Place
from ahp_speaking import Client, new_uri
from hosting import TIMEOUT
from legacy_view import current_state

__all__ = [
    "CLERK",
    "LONER",
    "ByAap",
    "ByAhp",
    "Refused",
    "Speaks",
    "both",
    "open_call",
    "sentence_of",
    "until",
    "view",
]


@tool
async def note() -> str:
    """Note something down."""
    return "noted"


@tool
async def other() -> str:
    """Note something else down."""
    return "noted too"


@tool(exposed=False)
async def hidden() -> str:
    """Do what nobody has to know of."""
    return "done"


@tool(grant="run")
async def risky() -> str:
    """Do what not everybody may approve."""
    return "done"


async def work(turn: Turn) -> AsyncIterator[Any]:
    """Wait for long, call the tool that is named, or say what was said."""
    word, _, name = turn.text.partition(" ")
    if word == "wait":
        yield "Wait. "
        await asyncio.sleep(600)
    elif word == "call" and turn.messages[-1]["role"] == "user":
        yield Call(name, {})
    else:
        yield turn.text


CLERK = Agent(
    "clerk",
    work,
    tools=[note, other, hidden, risky],
    options=[Option("mode", "select", "ask", ("ask", "auto"), grant="run"), Option("tone", "text", "plain")],
)
"""An agent with tools and options of every kind that a rule is about."""

LONER = Agent("loner", work, client_tools=False)
"""An agent that takes no tools of clients."""


class Refused(Exception):
    """What was asked for is refused."""


async def until(look: Callable[[], Any]) -> Any:
    """Wait until this is so; returns what `look` gave."""
    async with asyncio.timeout(TIMEOUT):
        while not (found := look()):  # noqa: ASYNC110 - nobody is told of what the host has
            await asyncio.sleep(0.005)
        return found


async def view(place: Place, uri: str) -> Any:
    """Return all that the host has of a session."""
    session = await place.host.parts.engine.sessions.get(uri)
    return current_state(session), [one.message for one in session.messages], session.private


async def open_call(place: Place, uri: str, status: str = "pending-confirmation") -> Any:
    """Wait for a call of this status; returns the ids that answer it."""
    session = await place.host.parts.engine.sessions.get(uri)

    def look() -> Any:
        turn: Any = session.chat.get("activeTurn", {"responseParts": []})
        calls = [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"]
        found = [one["toolCallId"] for one in calls if one["status"] == status]
        return found and {"turnId": turn["id"], "toolCallId": found[-1]}

    return await until(look)


def definition(name: str, schema: str) -> Any:
    return {"name": name, "description": name, schema: {"type": "object"}}


class ByAap:
    """Somebody who speaks AAP."""

    def __init__(self, place: Place, key: str) -> None:
        self._place = place
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._turns: list[asyncio.Task[Any]] = []

    @classmethod
    @asynccontextmanager
    async def at(cls, place: Place, key: str = "", _name: str = "") -> AsyncIterator["ByAap"]:
        """Come to a server."""
        here = cls(place, key)
        try:
            yield here
        finally:
            for turn in here._turns:
                turn.cancel()
            await asyncio.gather(*here._turns, return_exceptions=True)

    def name(self, uri: str) -> str:
        """Return how this protocol names a session."""
        return uri.partition(":/")[2]

    async def _ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = await self._place.ask(f"/aap/v3{path}", method, body=body, **self._headers)
        if answer.status >= 400:
            raise Refused(answer.json["error"]["message"])
        return answer.json if answer.body else None

    async def create(
        self,
        agent: str = "clerk",
        *,
        brings: Sequence[str] | None = None,
        on: Sequence[str] = (),
        **options: str,
    ) -> str:
        """Create a session with these tools of our own; `on` are those of the host."""
        config = {"name": agent, "tools": [{"name": name} for name in on], "options": options}
        more = {} if brings is None else {"tools": [definition(name, "parameters") for name in brings]}
        made = await self._ask("POST", "/sessions", {"agent": config, **more})
        return f"{agent}:/{made['sessionId']}"

    async def read(self, uri: str) -> None:
        """Read a session."""
        await self._ask("GET", f"/sessions/{self.name(uri)}/history?type=full")

    async def list(self) -> list[str]:
        """List the sessions."""
        found = await self._ask("GET", "/sessions")
        return [f"{one['agent']['name']}:/{one['sessionId']}" for one in found["sessions"]]

    async def dispose(self, uri: str) -> None:
        """Remove a session."""
        await self._ask("DELETE", f"/sessions/{self.name(uri)}")

    async def start(self, uri: str, text: str, **more: Any) -> None:
        """Start a turn; returns when it has begun."""
        before = self._count(uri)
        turn = asyncio.ensure_future(self._send(uri, {"role": "user", "content": text}, **more))
        self._turns.append(turn)
        await until(lambda: turn.done() or self._count(uri) > before)
        if turn.done():
            turn.result()

    def _count(self, uri: str) -> int:
        """Return how many turns a session has had, with the one that runs."""
        session = self._place.host.parts.engine.sessions.peek(uri)
        return 0 if session is None else len(session.chat["turns"]) + ("activeTurn" in session.chat)

    async def _send(self, uri: str, *messages: Any, **more: Any) -> Any:
        body = {"messages": list(messages), **more}
        return await self._ask("POST", f"/sessions/{self.name(uri)}/turns", body)

    async def bring(self, uri: str, names: Sequence[str]) -> None:
        """Bring tools of our own to a session that is there."""
        await self.start(uri, "hello", tools=[definition(name, "parameters") for name in names])

    async def set(self, uri: str, **options: str) -> None:
        """Set options of a session that is there."""
        await self.start(uri, "hello", agent={"options": options})

    async def approve(self, uri: str, ids: Any) -> None:
        """Allow a call."""
        await self._send(uri, {"role": "tool_permission", "toolCallId": ids["toolCallId"], "granted": True})

    async def complete(self, uri: str, ids: Any) -> None:
        """Bring the result of a call of our own tool."""
        await self._send(uri, {"role": "tool", "toolCallId": ids["toolCallId"], "content": "done"})

    async def trust(self, uri: str, name: str) -> None:
        """Let a tool run without being asked from now on."""
        await self.start(uri, "hello", agent={"tools": [{"name": name, "trust": True}]})


class ByAhp:
    """Somebody who speaks AHP 0.1."""

    def __init__(self, place: Place, client: Client) -> None:
        self._place, self._client = place, client

    @classmethod
    @asynccontextmanager
    async def at(cls, place: Place, key: str = "", name: str = "me") -> AsyncIterator["ByAhp"]:
        """Come to a server."""
        async with place.client(name, key or None) as client:
            yield cls(place, client)

    def name(self, uri: str) -> str:
        """Return how this protocol names a session."""
        return uri

    async def _ask(self, method: str, /, **params: Any) -> Any:
        try:
            return await self._client.request(method, **params)
        except ahp_frames.Refused as refused:
            raise Refused(refused.message) from None

    async def _act(self, uri: str, kind: str, **fields: Any) -> None:
        # Whoever may not follow a session is still told of what is refused.
        if uri not in self._client.states and self._place.host.parts.engine.sessions.peek(uri):
            with suppress(ahp_frames.Refused):
                await self._client.subscribe(uri)
        envelope = await self._client.decide(uri, f"session/{kind}", **fields)
        if "rejectionReason" in envelope:
            raise Refused(envelope["rejectionReason"])

    async def create(
        self,
        agent: str = "clerk",
        *,
        brings: Sequence[str] | None = None,
        on: Sequence[str] = (),
        **options: str,
    ) -> str:
        """Create a session with these tools of our own; those of the host that are exposed are on."""
        assert set(on) <= {one.name for one in self._place.host.agents[agent].toolset.exposed()}
        uri = new_uri(agent)
        more = {} if brings is None else {"activeClient": self._active(brings)}
        await self._ask("createSession", session=uri, provider=agent, config=options, **more)
        await self._client.subscribe(uri)
        await self._client.until(lambda: self._client.state(uri)["lifecycle"] != "creating")
        return uri

    def _active(self, names: Sequence[str]) -> Any:
        tools = [definition(name, "inputSchema") for name in names]
        return {"clientId": self._client.client_id, "tools": tools}

    async def read(self, uri: str) -> None:
        """Read a session."""
        await self._ask("fetchTurns", session=uri)

    async def list(self) -> list[str]:
        """List the sessions."""
        return [one["resource"] for one in (await self._ask("listSessions"))["items"]]

    async def dispose(self, uri: str) -> None:
        """Remove a session."""
        await self._ask("disposeSession", session=uri)

    async def start(self, uri: str, text: str) -> None:
        """Start a turn; returns when it has begun."""
        await self._act(uri, "turnStarted", turnId=new_uri("turn")[6:], userMessage={"text": text})

    async def bring(self, uri: str, names: Sequence[str]) -> None:
        """Bring tools of our own to a session that is there."""
        await self._act(uri, "activeClientChanged", activeClient=self._active(names))

    async def set(self, uri: str, **options: str) -> None:
        """Set options of a session that is there."""
        await self._act(uri, "configChanged", config=options)

    async def attempt(self, uri: str) -> None:
        """Start a turn where there is no session, and wait until the host has read that."""
        await self._client.act(uri, "session/turnStarted", turnId="t", userMessage={"text": "hello"})
        await self._client.request("ping")

    async def approve(self, uri: str, ids: Any, **more: str) -> None:
        """Allow a call."""
        await self._act(uri, "toolCallConfirmed", **ids, approved=True, confirmed="user-action", **more)

    async def complete(self, uri: str, ids: Any) -> None:
        """Bring the result of a call of our own tool."""
        result = {"success": True, "pastTenseMessage": "Done", "content": [{"type": "text", "text": "done"}]}
        await self._act(uri, "toolCallComplete", **ids, result=result)

    async def trust(self, uri: str, name: str) -> None:
        """Let a tool run without being asked from now on."""
        await self.start(uri, f"call {name}")
        await self.approve(uri, await open_call(self._place, uri), selectedOptionId="allow-session")


CHAT_KINDS = ("turnStarted", "toolCallConfirmed", "toolCallComplete")
"""The actions that AHP 1.0 has on the channel of a chat."""


class ByChannels(ByAhp):
    """Somebody who speaks AHP 1.0, with the verbs of AHP 0.1 sent to channels."""

    @classmethod
    @asynccontextmanager
    async def at(cls, place: Place, key: str = "", name: str = "me") -> AsyncIterator["ByChannels"]:
        """Come to a server."""
        async with channel_client(place, name, key or None) as client:
            yield cls(place, client)

    async def _ask(self, method: str, /, **params: Any) -> Any:
        uri = params.pop("session", ROOT_URI)
        chat = chat_uri(self._place, uri)
        try:
            return await super()._ask(method, channel=chat if method == "fetchTurns" else uri, **params)
        except Refused as refused:
            raise Refused(str(refused).replace(chat, uri)) from None

    async def _act(self, uri: str, kind: str, **fields: Any) -> None:
        chat = chat_uri(self._place, uri)
        if kind in CHAT_KINDS:
            uri, kind = chat, f"chat/{kind}"
        else:
            kind = f"session/{kind}"
        if uri not in self._client.states:
            with suppress(ahp_frames.Refused):
                await self._client.subscribe(uri)
        envelope = await self._client.decide(uri, kind, **fields)
        if "rejectionReason" in envelope:
            raise Refused(envelope["rejectionReason"])

    async def start(self, uri: str, text: str) -> None:
        """Start a turn; returns when it has begun."""
        message = {"text": text, "origin": USER}
        await self._act(uri, "turnStarted", turnId=new_uri("turn")[6:], startedAt=NOW, message=message)

    async def attempt(self, uri: str) -> None:
        """Start a turn where there is no session, and wait until the host has read that."""
        started: Any = {"turnId": "t", "startedAt": NOW, "message": {"text": "hello", "origin": USER}}
        await self._client.act(chat_uri(self._place, uri), "chat/turnStarted", **started)
        await self._client.request("ping", channel=ROOT_URI)

    async def bring(self, uri: str, names: Sequence[str]) -> None:
        """Bring tools of our own to a session that is there."""
        await self._act(uri, "activeClientSet", activeClient=self._active(names))


def chat_uri(place: Place, uri: str) -> str:
    """Return the default chat of a session, or the one that it would have."""
    session = place.host.parts.engine.sessions.peek(uri)
    return f"{CHAT_PREFIX}{uri.partition(':/')[2]}" if session is None else session.chat_uri


Speaks: TypeAlias = type[ByAap] | type[ByAhp]

both = pytest.mark.parametrize("speaks", [ByAap, ByAhp, ByChannels], ids=["AAP", "AHP 0.1", "AHP 1.0"])


async def sentence_of(asked: Any) -> str:
    """Wait for something that is refused; returns the sentence."""
    try:
        await asked
    except Refused as refused:
        # A client's tools are at one place in AAP, and at another in `createSession` and its action.
        return str(refused).replace("$.activeClient.tools", "$.tools")
    raise AssertionError("it was not refused")
