"""How a session starts: what it is asked to be, its first state, its name and its title."""

import re
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agenthost.core.reducers.status import status_of
from agenthost.core.seeding import Seed, seeded
from agenthost.core.transcript import Message
from agenthost.errors import SessionNotFound
from agenthost.host.agent import Agent
from agenthost.host.consent import options_for
from agenthost.host.pins import Pin, pin_of
from agenthost.host.sessions import Sessions
from agenthost.host.setup import (
    check_model,
    check_options,
    check_tool_names,
    config_state,
    pins_for,
    server_tools,
)
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.ahp.root import ModelSelection
from agenthost.wire.ahp.session import SessionActiveClient, SessionState
from agenthost.wire.json import JsonObject

NEW_TITLE = "New session"
TITLE_LENGTH = 60

# What needs no escaping in a URL.
_SAFE = re.compile(r"[A-Za-z0-9._~-]{1,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a new session is asked to be.

    Attributes:
        agent: the name of its agent.
        uri: how it is to be called; one is made if there is none.
        name: how it is called for short; its URI says, if there is none.
        owner: whose it is.
        options: values for the agent's options, but the secret ones.
        tools: the exposed tools to switch on, and which of them are trusted; `None` is all, as they say.
        model: the model, if not the default.
        messages: the transcript to begin with.
        active_client: the client whose tools it uses.
        working_directory: where it works, as a URI.
        private: what else it is to keep and to show to nobody.
        at: the path of the options, for errors.
    """

    agent: str
    uri: str | None = None
    name: str | None = None
    owner: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    tools: Mapping[str, bool] | None = None
    model: ModelSelection | None = None
    messages: Sequence[Message] = ()
    active_client: SessionActiveClient | None = None
    working_directory: str | None = None
    more: JsonObject = field(default_factory=dict)
    at: str = "$.config"

    @property
    def private(self) -> JsonObject:
        """What the session keeps and shows to nobody."""
        private = {**self.more, "config": dict(self.options)} if self.options else dict(self.more)
        return {**private, "tools": dict(self.tools)} if self.tools is not None else private


def first_state(agent: Agent, start: Start, uri: str, now: float, seed: Seed) -> SessionState:
    """Give the state that a session begins with.

    Raises:
        InvalidValue: a setting that the agent does not have.
    """
    summary: Any = {
        "resource": uri,
        "provider": agent.name,
        "title": NEW_TITLE,
        "status": SessionStatus.IDLE,
        "createdAt": now,
        "modifiedAt": now,
    }
    if start.model is not None:
        check_model(agent, start.model["id"], "$.model.id")
        summary["model"] = start.model
    if start.working_directory is not None:
        summary["workingDirectory"] = start.working_directory
    state: Any = {"summary": summary, "lifecycle": "creating", "turns": seed.turns}
    check_tool_names(agent, start.tools or {}, "$.tools")
    state["serverTools"] = server_tools(agent, start.tools)
    config = config_state(agent, check_options(agent, start.options, start.at))
    if config is not None:
        state["config"] = config
    if start.active_client is not None:
        state["activeClient"] = start.active_client
    if agent.customizations:
        state["customizations"] = [{"customization": one, "enabled": True} for one in agent.customizations]
    if seed.active is not None:
        # It waits already, so it cannot wait for the session to get ready.
        state = {**state, "lifecycle": "ready", "activeTurn": seed.active}
        summary["status"] = status_of(state)
    return state  # type: ignore[no-any-return]


def seed_of(agent: Agent, start: Start) -> Seed:
    """Make turns of the messages that a session begins with."""
    return seeded(start.messages, lambda call: _waiting(agent, start, call["name"], call["input"]))


def _waiting(agent: Agent, start: Start, name: str, arguments: JsonObject) -> JsonObject:
    """Give the state in which an open call of that history goes on."""
    one = agent.toolset.get(name)
    if one is None and start.active_client is not None:
        return {
            "status": "running",
            "confirmed": "not-needed",
            "toolClientId": start.active_client["clientId"],
        }
    title = one.label if one is not None else name
    options = options_for(None if one is None else one.scope_of(arguments), title)
    return {"status": "pending-confirmation", "confirmationTitle": f"Allow {title}?", "options": options}


def pinned(agent: Agent, private: JsonObject, state: SessionState) -> JsonObject:
    """Give the private data with the definitions that its approvals are about, and the calls that wait."""
    pins, shown = pins_for(agent.toolset, private), _shown(agent, state)
    return {**private, **({"pins": pins} if pins else {}), **({"shown": shown} if shown else {})}


def _shown(agent: Agent, state: SessionState) -> dict[str, Pin]:
    parts: list[Any] = state["activeTurn"]["responseParts"] if "activeTurn" in state else []
    calls = [part["toolCall"] for part in parts if part["kind"] == "toolCall"]
    tools = {call["toolCallId"]: agent.toolset.get(call["toolName"]) for call in calls}
    pins = {call_id: pin_of(one) for call_id, one in tools.items() if one is not None}
    return {call_id: pin for call_id, pin in pins.items() if pin is not None}


async def name_of(sessions: Sessions, uri: str) -> str:
    """Give the short name for a session of this URI: its path, where that is safe in a URL and not taken.

    Else the whole URI in letters and digits, which no other can have.
    """
    path = uri.partition(":/")[2]
    if _SAFE.fullmatch(path) and not path.startswith("uri-") and await _is_free(sessions, path):
        return path
    return "uri-" + urlsafe_b64encode(uri.encode(errors="replace")).decode().rstrip("=")


async def _is_free(sessions: Sessions, name: str) -> bool:
    try:
        await sessions.named(name)
    except SessionNotFound:
        return True
    return False


def title_from(text: str) -> str:
    """Make a title of a message: the beginning of its first line."""
    line = " ".join(text.strip().partition("\n")[0].split())
    if len(line) <= TITLE_LENGTH:
        return line
    return line[:TITLE_LENGTH].rsplit(" ", 1)[0].rstrip() + "…"
