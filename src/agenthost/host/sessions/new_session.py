"""New sessions: the request, the first state, the short name and the title."""

import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agenthost.core.conversation import Conversation
from agenthost.core.derived import chat_summary, waiting_in
from agenthost.core.history_import import ImportedHistory, import_history
from agenthost.core.queries import WAITING_CALL_STATUSES, active_calls, working_directory
from agenthost.core.session_meta import MODEL, model_of
from agenthost.core.transcript import Message
from agenthost.errors import SessionNotFound
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.tool_pins import pin_of
from agenthost.host.sessions.approvals import options_for
from agenthost.host.sessions.session_options import check_model, check_options, config_state, split_secrets
from agenthost.host.sessions.tool_access import check_tool_names, pins_for, server_tools
from agenthost.host.state.private import Pin, Private
from agenthost.host.state.registry import SessionRegistry
from agenthost.host.state.session import Session
from agenthost.wire.ahp.chat import ChatState, ToolChatOrigin
from agenthost.wire.ahp.enums import SessionStatus
from agenthost.wire.ahp.root import ModelSelection
from agenthost.wire.ahp.session import SessionActiveClient
from agenthost.wire.json import Json, JsonObject

NEW_TITLE = "New session"
TITLE_LENGTH = 60

# Characters that need no escaping in a URL.
_SAFE = re.compile(r"[A-Za-z0-9._~-]{1,200}")


@dataclass(frozen=True, slots=True)
class TaskOrigin:
    """Where a task comes from: the session or chat of the call that gives it; and what its chat is called."""

    above: Session
    call_id: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSession:
    """The request for a new session.

    Attributes:
        agent: the name of its agent.
        uri: its URI; by default one is made.
        name: its short id; by default derived from the URI.
        owner: its owner.
        options: values for the agent's options, with secrets in plain text.
        tools: the exposed tools to switch on, and whether each is trusted; `None` for all, as declared.
        model: the model, if not the default.
        messages: the transcript to begin with.
        active_client: the client whose tools it uses.
        working_directory: the URI of the folder that it works in; `more_directories` are others.
        title: its title; by default it gets one with its first turn.
        private: more private data to keep with it.
        task: where it comes from, if it is made for a task.
        tools_at: the path of the active client's tools in the request, for errors.
    """

    agent: str
    uri: str | None = None
    name: str | None = None
    owner: str = ""
    options: Mapping[str, Json] = field(default_factory=dict)
    tools: Mapping[str, bool] | None = None
    model: ModelSelection | None = None
    messages: Sequence[Message] = ()
    active_client: SessionActiveClient | None = None
    working_directory: str | None = None
    more_directories: Sequence[str] = ()
    title: str = ""
    private: Private = field(default_factory=Private)
    task: TaskOrigin | None = None
    tools_at: str = "$.activeClient.tools"


def first_private(agent: Agent, new: NewSession, seal: Callable[[str], str]) -> Private:
    """Return the private data that a session begins with; `seal` seals secrets.

    Raises:
        InvalidValue: the agent does not have one of the options.
    """
    shown, secrets = split_secrets(agent, check_options(agent, new.options, "$.config"))
    # An empty secret is one that is not set.
    sealed = {name: seal(text) for name, text in secrets.items() if text}
    private: Private = {**new.private}
    if shown:
        private["config"] = shown
    if sealed:
        private["secrets"] = sealed
    if new.tools is not None:
        private["tools"] = dict(new.tools)
    return private


def first_states(
    agent: Agent, start: NewSession, chat_uri: str, now: str, seed: ImportedHistory
) -> Conversation:
    """Return the states that a session and its default chat begin with.

    Raises:
        InvalidValue: the agent does not have one of the settings.
    """
    chat = _first_chat(chat_uri, now, seed, start.task)
    check_tool_names(agent, start.tools or {}, "$.tools")
    state: Any = {
        "provider": agent.name,
        "title": start.title or NEW_TITLE,
        "status": SessionStatus.IDLE,
        # An imported turn waits for answers already, so the session must be ready at once.
        "lifecycle": "creating" if seed.active is None else "ready",
        "serverTools": server_tools(agent, start.tools),
        "activeClients": [] if start.active_client is None else [start.active_client],
        # C1: it has its default chat from the start.
        "chats": [chat_summary(chat)],
        "defaultChat": chat_uri,
    }
    if start.model is not None:
        check_model(agent, start.model["id"], "$.model.id")
        state["_meta"] = {MODEL: start.model}
    if start.working_directory is not None:
        state["workingDirectories"] = [start.working_directory, *start.more_directories]
    config = config_state(agent, check_options(agent, start.options, "$.config"))
    if config is not None:
        state["config"] = config
    if agent.customizations:
        state["customizations"] = list(agent.customizations)
    waiting = list(waiting_in(chat).values())
    if waiting:
        state["inputNeeded"] = waiting
        if any(one["kind"] != "toolClientExecution" for one in waiting):  # S19
            state["status"] = SessionStatus.INPUT_NEEDED
    return Conversation(state, chat)


def _first_chat(uri: str, now: str, seed: ImportedHistory, task: TaskOrigin | None) -> ChatState:
    chat: Any = {
        "resource": uri,
        "title": "" if task is None else task.title,  # what people see is the session's title
        "status": SessionStatus.IDLE,
        "modifiedAt": now,
        "turns": seed.turns,
    }
    if task is not None:
        # C7: the chat names the call that it comes from.
        origin: ToolChatOrigin = {"kind": "tool", "chat": task.above.chat_uri, "toolCallId": task.call_id}
        chat["origin"] = origin
    if seed.active is not None:
        chat["activeTurn"] = seed.active
        is_asking = any(call["status"] in WAITING_CALL_STATUSES for call in active_calls(chat))
        chat["status"] = SessionStatus.INPUT_NEEDED if is_asking else SessionStatus.IN_PROGRESS
    return chat  # type: ignore[no-any-return] # built of a chat's fields


def seed_of(agent: Agent, start: NewSession, now: str) -> ImportedHistory:
    """Return the messages that a session begins with, as turns."""
    return import_history(
        start.messages, lambda call: _waiting(agent, start, call["name"], call["input"]), now
    )


def _waiting(agent: Agent, start: NewSession, name: str, arguments: JsonObject) -> JsonObject:
    """Return the state in which an open call of the imported history continues."""
    one = agent.toolset.get(name)
    if one is None and start.active_client is not None:
        return {
            "status": "running",
            "confirmed": "not-needed",
            "contributor": {"kind": "client", "clientId": start.active_client["clientId"]},
        }
    title = one.label if one is not None else name
    options = options_for(None if one is None else one.scope_of(arguments), title)
    return {"status": "pending-confirmation", "confirmationTitle": f"Allow {title}?", "options": options}


def pinned(agent: Agent, private: Private, state: ChatState) -> Private:
    """Return the private data with the pins of its approvals and of the calls that wait for one."""
    pins, shown = pins_for(agent.toolset, private), _shown(agent, state)
    kept: Private = {**private}
    if pins:
        kept["pins"] = pins
    if shown:
        kept["shown"] = shown
    return kept


def _shown(agent: Agent, state: ChatState) -> dict[str, Pin]:
    tools = {call["toolCallId"]: agent.toolset.get(call["toolName"]) for call in active_calls(state)}
    pins = {call_id: pin_of(one) for call_id, one in tools.items() if one is not None}
    return {call_id: pin for call_id, pin in pins.items() if pin is not None}


async def name_of(sessions: SessionRegistry, uri: str) -> str:
    """Return the short name for a session with this URI: its path, if that is safe in a URL and not taken.

    Otherwise it is the whole URI, encoded in letters and digits, which is unique.
    """
    path = uri.partition(":/")[2]
    # A path must not look like an encoded URI: that name may be needed for another session.
    if _SAFE.fullmatch(path) and not path.startswith("uri-") and await _is_free(sessions, path):
        return path
    return "uri-" + urlsafe_b64encode(uri.encode(errors="replace")).decode().rstrip("=")


async def _is_free(sessions: SessionRegistry, name: str) -> bool:
    try:
        await sessions.named(name)
    except SessionNotFound:
        return True
    return False


def successor_of(chat: Session) -> NewSession:
    """Return the request for a session that a chat moves to: like its own, without approvals and chats."""
    private, state = chat.private, chat.state
    kept: Any = {key: value for key, value in private.items() if key == "secrets"}
    return NewSession(
        agent=state["provider"],
        owner=chat.row.owner,
        options=private.get("config", {}),
        tools=private.get("tools"),
        model=model_of(state),
        title=chat.chat["title"],
        working_directory=working_directory(state),
        more_directories=state.get("workingDirectories", [])[1:],
        private=kept,
    )


def title_from(text: str) -> str:
    """Return a title made from a message: the beginning of its first line."""
    line = " ".join(text.strip().partition("\n")[0].split())
    if len(line) <= TITLE_LENGTH:
        return line
    return line[:TITLE_LENGTH].rsplit(" ", 1)[0].rstrip() + "…"
