"""Sessions in the words of AAP: how they are made, shown, listed, read back and removed.

What AAP shows of a session is all beside its row in the store, so that a list needs no states.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from agenthost.core.transcript import public
from agenthost.edges.aap.agents import MODEL, SECRET_MASK, options_of
from agenthost.edges.aap.checks import (
    check_history,
    check_messages,
    check_overrides,
    check_seed_history,
    check_stream,
    check_tools,
)
from agenthost.errors import InvalidValue, SessionNotFound
from agenthost.host.agent import Agent
from agenthost.host.callers import Caller
from agenthost.host.host import Host
from agenthost.host.lifetimes import new_id
from agenthost.host.session import Session
from agenthost.host.setup import Private, check_option_grants, is_trusted_always
from agenthost.host.starting import Start
from agenthost.host.storage import SessionRow
from agenthost.host.storage.cursors import cursor_of, position_of
from agenthost.host.tokens import NOBODY
from agenthost.wire.aap.v3 import (
    AgentConfig,
    GetSessionsResponse,
    History,
    PostSessionsRequest,
    PostSessionTurnRequest,
    SessionInfo,
    ToolSpec,
)
from agenthost.wire.ahp.session import SessionActiveClient
from agenthost.wire.ahp.tool import ToolDefinition
from agenthost.wire.json import JsonObject, decode_json

__all__ = ["Sessions", "Settled", "active_client", "app_id_of", "seal_secrets", "settle_options"]

PAGE = 50
"""How many sessions a page has."""


class Sessions:
    """The sessions of a host, as somebody sees them."""

    def __init__(self, host: Host, caller: Caller) -> None:
        self._host = host
        self._owner = caller.owner
        self._rights = caller.rights

    async def find(self, name: str) -> SessionRow:
        """Find a session by its id.

        Raises:
            SessionNotFound: there is none, or it belongs to somebody else.
        """
        row = await asyncio.to_thread(self._host.engine.storage.find, name=name)
        if row is None or self._owner not in (None, row.owner):
            raise SessionNotFound(name)
        return row

    async def get(self, name: str) -> Session:
        """Give a session by its id.

        Raises:
            SessionNotFound: there is none, or it belongs to somebody else.
        """
        session = self._host.engine.sessions.held(name)
        if session is None:
            return await self._host.engine.sessions.get((await self.find(name)).uri)
        if self._owner not in (None, session.row.owner):
            raise SessionNotFound(name)
        return session

    def check_turn(self, body: PostSessionsRequest, turn: PostSessionTurnRequest) -> None:
        """Refuse the first turn of a session that is about to be made, so that none is made for nothing.

        Raises:
            HostError: with what is wrong, and where.
        """
        agent = self._agent_of(body["agent"]["name"])
        check_stream(agent, turn.get("stream", "none"))
        first = len(body.get("messages", []))
        check_messages(agent, turn["messages"], first)

    async def create(self, body: PostSessionsRequest) -> Session:
        """Make a session; nothing is run.

        Raises:
            HostError: it cannot be as it is asked for; then there is none.
        """
        config = body["agent"]
        agent = self._agent_of(config["name"])
        self._host.tokens.check(NOBODY, agent)
        tools = {tool["name"]: tool.get("trust", False) for tool in config.get("tools", [])}
        await self._host.sourcing.wait(agent, tools)
        await agent.wait_known()
        check_overrides(agent, config, self._rights)
        check_option_grants(agent, config.get("options", {}), self._rights)
        check_tools(agent, body.get("tools", []), list(tools))
        messages = body.get("messages", [])
        check_seed_history(agent, messages)
        session_id = new_id()
        settled = settle_options(agent, config.get("options", {}))
        more: dict[str, Any] = {"app": app_id_of(session_id)}
        if settled.secrets:
            more["secrets"] = seal_secrets(self._host, {}, settled.secrets)
        if body.get("tools"):
            more["app_tools"] = body["tools"]
        start = Start(
            agent=agent.name,
            uri=f"{agent.name}:/{session_id}",
            name=session_id,
            owner=self._owner or "",
            options=settled.config,
            tools=tools,
            model=None if settled.model is None else {"id": settled.model},
            messages=messages,  # type: ignore[arg-type] # the transcript's messages have the same form
            active_client=active_client(app_id_of(session_id), body["tools"]) if body.get("tools") else None,
            more=more,
        )
        return await self._host.create_session(start)

    def _agent_of(self, name: str) -> Agent:
        agent = self._host.agents.get(name)
        if agent is None:
            known = ", ".join(map(repr, self._host.agents))
            raise InvalidValue("$.agent.name", f"one of {known}", repr(name))
        return agent

    async def page(self, after: str | None) -> GetSessionsResponse:
        """List sessions, newest first, from after this cursor on.

        Raises:
            InvalidValue: not a cursor.
        """
        before = None if after is None else _position(after)
        rows = await self._host.engine.sessions.page(owner=self._owner, before=before, limit=PAGE + 1)
        page: GetSessionsResponse = {"sessions": [self.show(row) for row in rows[:PAGE]]}
        if len(rows) > PAGE:
            page["next"] = cursor_of(rows[PAGE - 1])
        return page

    def show(self, row: SessionRow) -> SessionInfo:
        """Show a session. Secrets are masked."""
        summary = decode_json(row.summary)
        private: Private = decode_json(row.private)
        config: AgentConfig = {"name": summary["provider"]}
        agent = self._host.agents.get(summary["provider"])
        if agent is not None:
            config["tools"] = _tool_refs(agent, private)
            config["options"] = _options(agent, private, summary.get("model"))
        info: SessionInfo = {"sessionId": row.name, "agent": config}
        if tools := private.get("app_tools"):
            info["tools"] = tools  # type: ignore[typeddict-item] # as they came
        return info

    async def history(self, session: Session, kind: str | None, name: str = "type") -> History:
        """Give the history of a session, of one kind or of all that its agent offers.

        `name` is that of the parameter that asks for a kind.

        Raises:
            InvalidValue: there is no such kind.
            Problem: its agent does not offer it.
        """
        await session.journal.wait()  # nobody is shown what a crash could take back
        agent = self._host.agent_of(session.state["summary"]["provider"])
        messages = [said.message for said in session.messages]
        history: Any = {}
        for one in check_history(agent, kind, name):
            told = messages if one == "full" else agent.compact(messages, _budget(agent, session))
            history[one] = public(told)
        return history  # type: ignore[no-any-return]

    async def delete(self, name: str) -> None:
        """Remove a session for good.

        Raises:
            SessionNotFound: there is none, or it belongs to somebody else.
        """
        await self._host.dispose_session((await self.find(name)).uri)


class Settled:
    """Values for options, sorted: settings that everybody sees, secrets (an empty one is none), the model."""

    def __init__(self) -> None:
        self.config: dict[str, str] = {}
        self.secrets: dict[str, str] = {}
        self.model: str | None = None


def settle_options(agent: Agent, values: Mapping[str, str]) -> Settled:
    """Sort the values of options. A secret that comes back masked stays as it is."""
    settled = Settled()
    kinds = {option.name: option.kind for option in options_of(agent)}
    for name, value in values.items():
        if kinds[name] == "secret":
            if value != SECRET_MASK:
                settled.secrets[name] = value
        else:
            if name == MODEL and agent.model(value) is not None:
                settled.model = value
            if any(option.name == name for option in agent.options):
                settled.config[name] = value
    return settled


def seal_secrets(host: Host, kept: Mapping[str, str], new: Mapping[str, str]) -> JsonObject:
    """Give the secrets of a session with new ones among them; one that is set to nothing is gone."""
    sealed = {name: host.vault.seal(text) for name, text in new.items() if text}
    return {**{name: text for name, text in kept.items() if name not in new}, **sealed}


def _position(after: str) -> int:
    try:
        return position_of(after)
    except InvalidValue as error:
        raise InvalidValue("after", error.expected, error.found) from None


def app_id_of(session_id: str) -> str:
    """Give the client id that stands for the application of a session."""
    return f"aap:{session_id}"


def active_client(app_id: str, tools: Sequence[ToolSpec]) -> SessionActiveClient:
    """Let the application be the client whose tools the session uses."""
    return {"clientId": app_id, "displayName": "Application", "tools": [_definition(tool) for tool in tools]}


def _definition(tool: ToolSpec) -> ToolDefinition:
    schema: Any = {"type": "object", **tool["parameters"]}
    definition: ToolDefinition = {
        "name": tool["name"],
        "description": tool["description"],
        "inputSchema": schema,
    }
    if "title" in tool:
        definition["title"] = tool["title"]
    return definition


def _tool_refs(agent: Agent, private: Private) -> list[Any]:
    names = private.get("tools", [one.name for one in agent.toolset.exposed()])
    there = [agent.toolset[name] for name in names if name in agent.toolset]
    return [{"name": one.name, "trust": is_trusted_always(private, one)} for one in there]


def _options(agent: Agent, private: Private, model: JsonObject | None) -> dict[str, str]:
    config, secrets = private.get("config", {}), private.get("secrets", {})
    shown: dict[str, str] = {}
    for option in options_of(agent):
        if option.kind == "secret":
            shown[option.name] = SECRET_MASK if secrets.get(option.name) or option.default else ""
        elif option.name == MODEL and model is not None:
            shown[MODEL] = model["id"]
        else:
            shown[option.name] = config.get(option.name, option.default)
    return shown


def _budget(agent: Agent, session: Session) -> int:
    model = session.state["summary"].get("model")
    return agent.budget(model["id"] if model else None)
