"""A host with agents on a real store, and somebody who talks to it: for all tests that need whole turns.

`said` is one whole turn; `talking` opens a host, and `Talk.begin` makes a session and subscribes to it.
Nothing here sleeps: a test hears what happens, and `run` of `hosting` bounds how long it waits.
"""

import itertools
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenthost.host.access.identity import Identity
from agenthost.host.authoring.agent import Agent
from agenthost.host.host import Host
from agenthost.host.log.subscriptions import LogItem
from agenthost.host.sessions.new_session import NewSession
from agenthost.host.state.feed import Feed
from agenthost.host.state.session import Session
from agenthost.wire.json import encode_json
from hosting import run
from legacy_view import actions_of, dispatch, shown_state

ENDINGS = {"session/turnComplete", "session/turnCancelled", "session/error"}

_numbers = itertools.count(1)


@asynccontextmanager
async def talking(folder: Path, *agents: Agent, **settings: Any) -> AsyncIterator[Host]:
    """Open a host with these agents; its store and its workspace are folders inside `folder`."""
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    host = Host(data=folder / "data", workspace=workspace, **{"sandbox": "off", **settings})
    for agent in agents:
        host.add(agent)
    async with host:
        yield host


@dataclass(frozen=True, slots=True)
class Heard:
    """What a subscriber saw happen, in order."""

    actions: list[Any]

    def of(self, kind: str) -> list[Any]:
        """Return the actions of one kind, such as `delta`."""
        return [action for action in self.actions if action["type"] == f"session/{kind}"]

    @property
    def deltas(self) -> list[str]:
        return [action["content"] for action in self.of("delta")]

    @property
    def text(self) -> str:
        return "".join(self.deltas)

    @property
    def thoughts(self) -> str:
        return "".join(action["content"] for action in self.of("reasoning"))

    @property
    def ending(self) -> Any:
        """The action that ended the turn."""
        return next(action for action in self.actions if action["type"] in ENDINGS)


class Talk:
    """A client of one session: says things, hears everything, decides about calls, answers questions."""

    def __init__(self, host: Host, session: Session, feed: Feed, client_id: str) -> None:
        self.host = host
        self.session = session
        self.feed = feed
        self.client_id = client_id
        turn = session.shown_chat.state.get("activeTurn")
        self.turn_id: str | None = turn["id"] if turn else None
        self._waiting: list[Any] = []

    @classmethod
    async def begin(cls, host: Host, agent: str = "demo", *, client_id: str = "me", **start: Any) -> "Talk":
        """Make a session, as `NewSession` says, and subscribe to it."""
        session = await host.parts.lifecycle.create(NewSession(agent=agent, **start))
        return await cls.join(host, session.row.uri, client_id)

    @classmethod
    async def join(cls, host: Host, uri: str, client_id: str = "me") -> "Talk":
        """Subscribe to a session that is there already, such as after a restart."""
        session = await host.parts.engine.sessions.get(uri)
        feed = host.parts.engine.feed(Identity(client_id))
        await feed.subscribe(uri)
        return cls(host, session, feed, client_id)

    @property
    def uri(self) -> str:
        return self.session.row.uri

    @property
    def state(self) -> Any:
        """What was shown of the session."""
        return shown_state(self.session)

    @property
    def answer(self) -> str:
        """What the last turn that ended says, of all its parts of text."""
        parts = self.state["turns"][-1]["responseParts"]
        return "".join(part["content"] for part in parts if part["kind"] == "markdown")

    # Saying

    async def act(self, kind: str, **fields: Any) -> LogItem | None:
        """Dispatch an action of this kind, such as `turnCancelled`; returns the refusal, if it is refused."""
        action = {"type": f"session/{kind}", "session": self.uri, **fields}
        return await dispatch(self.host.client(Identity(self.client_id)), next(_numbers), action)

    async def send(self, text: str, attachments: Sequence[Any] = ()) -> str:
        """Start a turn; returns its id."""
        self.turn_id = f"t{next(_numbers)}"
        message = {"text": text, **({"attachments": list(attachments)} if attachments else {})}
        assert await self.act("turnStarted", turnId=self.turn_id, userMessage=message) is None
        return self.turn_id

    async def say(self, text: str, attachments: Sequence[Any] = ()) -> Heard:
        """Start a turn and hear all of it; for those that wait for nobody."""
        await self.send(text, attachments)
        return await self.finish()

    async def cancel(self) -> None:
        assert await self.act("turnCancelled", turnId=self.turn_id) is None

    # Hearing

    async def hear(self, is_it: Callable[[Any], bool]) -> Heard:
        """Hear what happens up to the first action that is meant; what follows is for the next call."""
        heard: list[Any] = []
        while True:
            while self._waiting:
                heard.append(self._waiting.pop(0))
                if is_it(heard[-1]):
                    return Heard(heard)
            for item in await self.feed.subscriber.wait_next():
                self._waiting += actions_of(item)

    async def hear_one(self, kind: str) -> Any:
        """Wait for an action of this kind, and return it."""
        return (await self.hear(lambda action: action["type"] == f"session/{kind}")).actions[-1]

    async def finish(self) -> Heard:
        """Hear what happens until the turn has ended; nothing, if it had when the session was joined."""
        if self.turn_id is None:
            return Heard([])
        turn_id, self.turn_id = self.turn_id, None
        return await self.hear(lambda action: action["type"] in ENDINGS and action["turnId"] == turn_id)

    # Deciding about calls, by the action that made them ready

    async def approve(self, ready: Any, *, edited: Any = None, option: str | None = None) -> LogItem | None:
        """Allow a call; `edited` is another input for it."""
        more = {} if edited is None else {"editedToolInput": encode_json(edited).decode()}
        if option is not None:
            more["selectedOptionId"] = option
        return await self._decide(ready, approved=True, confirmed="user-action", **more)

    async def deny(self, ready: Any, reason: str | None = None) -> LogItem | None:
        more = {} if reason is None else {"reasonMessage": reason}
        return await self._decide(ready, approved=False, reason="denied", **more)

    async def _decide(self, ready: Any, **fields: Any) -> LogItem | None:
        ids = {"turnId": ready["turnId"], "toolCallId": ready["toolCallId"]}
        return await self.act("toolCallConfirmed", **ids, **fields)

    async def complete(self, ready: Any, text: str, *, success: bool = True) -> LogItem | None:
        """Return the result of a call that this client runs."""
        ids = {"turnId": ready["turnId"], "toolCallId": ready["toolCallId"]}
        content = [{"type": "text", "text": text}]
        result = {"success": success, "pastTenseMessage": "Done", "content": content}
        return await self.act("toolCallComplete", **ids, result=result)

    # Answering questions, by the action that asked them

    async def reply(
        self, asked: Any, values: Mapping[str, Any] | None = None, response: str = "accept"
    ) -> LogItem | None:
        """Settle questions; `values` are answers as they travel (`{"kind": "text", "value": …}`), by id."""
        answers = {key: {"state": "submitted", "value": value} for key, value in (values or {}).items()}
        more = {"answers": answers} if values is not None else {}
        return await self.act("inputCompleted", requestId=asked["request"]["id"], response=response, **more)


def said(folder: Path, agent: Agent, text: str, **start: Any) -> Heard:
    """Return what is heard of one turn in a new session: for turns that wait for nobody."""
    heard = []

    async def story() -> None:
        async with talking(folder, agent) as host:
            talk = await Talk.begin(host, agent.name, **start)
            heard.append(await talk.say(text))

    run(story)
    return heard[0]
