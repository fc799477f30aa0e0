"""Sessions over AAP: how they are created, shown, listed, read and deleted.

Everything that AAP shows of a session is stored with its row, so that a list does not load states.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from agenthost.core.session_meta import MODEL as MODEL_META
from agenthost.core.session_meta import model_of
from agenthost.core.transcript import public
from agenthost.edges.aap.agents import MODEL, SECRET_MASK, options_of
from agenthost.edges.aap.checks import (
    check_brought_tools,
    check_history,
    check_messages,
    check_overrides,
    check_seed_history,
    check_stream,
)
from agenthost.errors import InvalidValue
from agenthost.host.authoring.agent import Agent
from agenthost.host.client import HostClient
from agenthost.host.host import Host
from agenthost.host.sessions.new_session import NewSession
from agenthost.host.sessions.tool_access import is_trusted_always
from agenthost.host.state.private import Private
from agenthost.host.state.session import Session
from agenthost.host.storage import SessionRow
from agenthost.host.storage.cursors import decode_cursor, encode_cursor
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

__all__ = ["APP", "Sessions", "SortedOptions", "active_client", "sort_options"]

APP = "aap:"
"""The prefix of the client ids of applications; the id of their session follows."""

PAGE = 50
"""How many sessions a page has."""


class Sessions:
    """The sessions of a host, as a client sees them over AAP."""

    __slots__ = ("_client", "_host")

    def __init__(self, host: Host, client: HostClient) -> None:
        self._host = host
        self._client = client

    def check_turn(self, body: PostSessionsRequest, turn: PostSessionTurnRequest) -> None:
        """Check the first turn of a session before it is created (C7).

        Raises:
            HostError: what is wrong, and where.
        """
        agent = self._get_agent(body["agent"]["name"])
        check_stream(agent, turn.get("stream", "none"))
        first = len(body.get("messages", []))
        check_messages(agent, turn["messages"], first)

    async def create(self, body: PostSessionsRequest, session_id: str) -> Session:
        """Create a session with this id, without running a turn. The client is its application.

        Raises:
            HostError: the request is refused, and no session was created.
        """
        config = body["agent"]
        agent = self._get_agent(config["name"])
        # C6: without `agent.tools` all exposed tools are off; the host's own default is all on.
        tools = {tool["name"]: tool.get("trust", False) for tool in config.get("tools", [])}
        brought = body.get("tools", [])
        app_id = self._client.identity.client_id
        await self._client.wait_tools(agent, tools)
        await agent.wait_known()
        check_overrides(agent, config)
        check_brought_tools(brought)
        messages = body.get("messages", [])
        check_seed_history(agent, messages)
        options = sort_options(agent, config.get("options", {}))
        private: Private = {"app": app_id}
        if brought:
            private["app_tools"] = list(brought)  # type: ignore[arg-type] # kept as they were sent (L3)
        return await self._client.create_session(
            NewSession(
                agent=agent.name,
                uri=f"{agent.name}:/{session_id}",
                name=session_id,
                options={**options.config, **options.secrets},
                tools=tools,
                model=None if options.model is None else {"id": options.model},
                messages=messages,  # type: ignore[arg-type] # the transcript's messages have the same form
                active_client=active_client(app_id, brought) if brought else None,
                private=private,
                tools_at="$.tools",
            )
        )

    def _get_agent(self, name: str) -> Agent:
        agent = self._host.agents.get(name)
        if agent is None:
            known = ", ".join(map(repr, self._host.agents))
            raise InvalidValue("$.agent.name", f"one of {known}", repr(name))
        return agent

    async def page(self, after: str | None) -> GetSessionsResponse:
        """Return a page of sessions, newest first (L1), from this cursor on (L2).

        Raises:
            InvalidValue: the cursor is not valid.
        """
        before = None if after is None else _position(after)
        # L2: one more than a page shows whether there is a next one.
        rows = await self._client.list_sessions(before, PAGE + 1)
        page: GetSessionsResponse = {"sessions": [self.show(row) for row in rows[:PAGE]]}
        if len(rows) > PAGE:
            page["next"] = encode_cursor(rows[PAGE - 1])
        return page

    def show(self, row: SessionRow) -> SessionInfo:
        """Return a session as AAP shows it (L3). Secrets are masked."""
        summary = decode_json(row.summary)
        private: Private = decode_json(row.private)
        config: AgentConfig = {"name": summary["provider"]}
        agent = self._host.agents.get(summary["provider"])
        # An agent that is no longer served is still named; its tools and options are unknown.
        if agent is not None:
            config["tools"] = _tool_refs(agent, private)
            config["options"] = _options(agent, private, summary.get("_meta", {}).get(MODEL_META))
        info: SessionInfo = {"sessionId": row.name, "agent": config}
        if tools := private.get("app_tools"):
            info["tools"] = tools  # type: ignore[typeddict-item] # as they were sent
        return info

    async def history(self, session: Session, kind: str | None, name: str = "type") -> History:
        """Return the history of a session, of one kind or of all that its agent offers (L4).

        `name` is the name of the query parameter.

        Raises:
            InvalidValue: there is no such kind.
            Problem: its agent does not offer it.
        """
        await self._client.wait_durable()  # nobody is shown anything that a crash could undo
        agent = self._host.agent_of(session)
        messages = [said.message for said in session.messages]
        history: Any = {}
        for one in check_history(agent, kind, name):
            told = messages if one == "full" else agent.compact(messages, _budget(agent, session))
            history[one] = public(told)
        return history  # type: ignore[no-any-return]

    async def delete(self, name: str) -> None:
        """Remove a session for good.

        Raises:
            SessionNotFound: it does not exist, or belongs to another owner.
        """
        await self._client.dispose_session((await self._client.get_row_named(name)).uri)


class SortedOptions:
    """Values for options by kind: settings that everybody sees, secrets (empty if unset), the model."""

    def __init__(self) -> None:
        self.config: dict[str, str] = {}
        self.secrets: dict[str, str] = {}
        self.model: str | None = None


def sort_options(agent: Agent, values: Mapping[str, str]) -> SortedOptions:
    """Sort the values of options by kind. A secret that is sent back masked is kept (O3)."""
    settled = SortedOptions()
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


def _position(after: str) -> int:
    try:
        return decode_cursor(after)
    except InvalidValue as error:
        raise InvalidValue("after", error.expected, error.found) from None


def active_client(app_id: str, tools: Sequence[ToolSpec]) -> SessionActiveClient:
    """Return the application as an active client with these tools."""
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
        # O6: there is one model of a session, over both protocols.
        elif option.name == MODEL and model is not None:
            shown[MODEL] = model["id"]
        else:
            shown[option.name] = config.get(option.name, option.default)
    return shown


def _budget(agent: Agent, session: Session) -> int:
    model = model_of(session.state)
    return agent.budget(model["id"] if model else None)
