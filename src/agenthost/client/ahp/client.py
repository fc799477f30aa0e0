"""The client: one AHP host, as an application sees it."""

import secrets
from collections.abc import Mapping
from typing import Any

from agenthost.client.aap.tools import ClientTool, Tools, tools_of
from agenthost.client.ahp.attending import DEFAULT_AHP_URL, Attending
from agenthost.client.ahp.errors import Conflict
from agenthost.client.ahp.session import Session, active_client
from agenthost.client.ahp.terminal import Terminal
from agenthost.wire.ahp.commands.session import (
    CreateSessionParams,
    ResolveSessionConfigResult,
    SessionConfigValueItem,
    SessionForkSource,
)
from agenthost.wire.ahp.commands.terminal import CreateTerminalParams
from agenthost.wire.ahp.common import URI
from agenthost.wire.json import JsonObject

__all__ = ["DEFAULT_AHP_URL", "AhpClient"]


class AhpClient(Attending):
    """One AHP host, for as long as the application wants: a lost connection comes back by itself.

    Args:
        url: the host, as `HOST:PORT` or a URL (`ws://…`, `http://…`), whose `/ahp` may be left out; without
            one, that of `AGENTHOST_URL`, or `DEFAULT_AHP_URL`.
        key: the API key, if the host wants one.
        client_id: who this is. An application that keeps it over its own restarts finds its calls again;
            two that use the same one at the same time take the connection away from each other.
        name: how people call this client, shown where its tools are used.
        locale: the language to be spoken to, such as `de`.
        versions: the versions to offer, the most wanted first.
        grant: decides whether the host may touch something of ours.
        auth_asked: hears that the host wants a token.
        timeouts: how long to wait for the host.
        patience: how to come back.

    Raises:
        ValueError: the URL or the key cannot be used.
    """

    # Sessions

    async def create(
        self,
        agent: str | None = None,
        *,
        model: str | None = None,
        model_config: Mapping[str, str] | None = None,
        config: JsonObject | None = None,
        folder: URI | None = None,
        tools: Tools = (),
        uri: URI | None = None,
    ) -> Session:
        """Make a session, and watch it.

        Args:
            agent: its name; may be left out where the host has only one.
            model: the id of one of the agent's models.
            model_config: settings of that model.
            config: settings of the session, as `resolve_config` has them.
            folder: the URI of the folder to work in.
            tools: the application's own: typed functions.
            uri: what the session is to be called; chosen for you, unless you care.

        Raises:
            AhpError: such as `NotFound`, `AuthRequired` and `Refused`.
            TypeError: a tool takes what has no JSON.
            ValueError: two tools have one name, or there are several agents to choose from.
        """
        provider = agent if agent is not None else self._only_agent()
        params: CreateSessionParams = {"session": uri or _new_uri(provider), "provider": provider}
        if model is not None:
            params["model"] = {"id": model, **({"config": dict(model_config)} if model_config else {})}  # type: ignore[typeddict-item] # it is
        if config is not None:
            params["config"] = config
        if folder is not None:
            params["workingDirectory"] = folder
        return await self._create(params, tools_of(tools))

    async def fork(self, session: Session | URI, turn_id: str, *, tools: Tools = ()) -> Session:
        """Make a session that begins like another one, up to and including a turn.

        Raises:
            AhpError: such as `NotFound`, and `Conflict` while that turn is running.
        """
        source = session if isinstance(session, str) else session.uri
        origin: SessionForkSource = {"session": source, "turnId": turn_id}
        scheme = source.partition(":")[0]
        params: CreateSessionParams = {"session": _new_uri(scheme), "fork": origin}
        if isinstance(session, Session):
            params["provider"] = session.summary["provider"]
        return await self._create(params, tools_of(tools))

    async def _create(self, params: CreateSessionParams, tools: Mapping[str, ClientTool]) -> Session:
        client = active_client(self.client_id, self._name, tools, ()) if tools else None
        if client is not None:
            params["activeClient"] = client
        await self._line.request("createSession", params, is_safe=True, done=Conflict)
        session = await self.session(params["session"])
        if client is not None:
            self._resources.runner(session.uri).claim(tools, client)
        await session.ready()
        return session

    async def session(self, uri: URI, *, tools: Tools = ()) -> Session:
        """Watch a session; with tools, as its active client. Asked twice, it gives the same object.

        Raises:
            AhpError: such as `NotFound`; `Refused` for what is no session.
        """
        own = tools_of(tools)
        session = await self._resources.session(uri)
        if own:
            session.become_active(own.values())
        return session

    def _only_agent(self) -> str:
        names = [agent["provider"] for agent in self.agents]
        if len(names) == 1:
            return names[0]
        there = f"there are {', '.join(names)}" if names else "the host has none"
        raise ValueError(f"which agent? {there}")

    async def resolve_config(
        self, agent: str | None = None, *, folder: URI | None = None, config: JsonObject | None = None
    ) -> ResolveSessionConfigResult:
        """Ask for the form of a session's settings, for the choices so far.

        Raises:
            AhpError: such as `NotFound`.
        """
        params = _choices(agent, folder, config)
        form: ResolveSessionConfigResult = await self._line.request(
            "resolveSessionConfig", params, is_safe=True
        )
        return form

    async def config_values(
        self,
        setting: str,
        query: str = "",
        *,
        agent: str | None = None,
        folder: URI | None = None,
        config: JsonObject | None = None,
    ) -> list[SessionConfigValueItem]:
        """Ask for the values that a setting may have.

        Raises:
            AhpError: such as `NotFound`.
        """
        params = {**_choices(agent, folder, config), "property": setting, "query": query}
        found = await self._line.request("sessionConfigCompletions", params, is_safe=True)
        return found["items"]  # type: ignore[no-any-return] # checked

    # Terminals

    async def create_terminal(
        self,
        *,
        name: str | None = None,
        folder: URI | None = None,
        cols: int | None = None,
        rows: int | None = None,
        session: URI | None = None,
        uri: URI | None = None,
    ) -> Terminal:
        """Open a terminal, and watch it. It is ours, unless it is for a session.

        Raises:
            AhpError: such as `Refused`.
        """
        address = uri or _new_uri("terminal")
        params: CreateTerminalParams = {
            "terminal": address,
            "claim": {"kind": "session", "session": session}
            if session is not None
            else {"kind": "client", "clientId": self.client_id},
        }
        more: Any = {"name": name, "cwd": folder, "cols": cols, "rows": rows}
        given: Any = {**params, **{key: value for key, value in more.items() if value is not None}}
        await self._line.request("createTerminal", given, is_safe=True, done=Conflict)
        return await self.terminal(address)

    async def terminal(self, uri: URI) -> Terminal:
        """Watch a terminal. Asked twice, it gives the same object.

        Raises:
            AhpError: such as `NotFound`; `Refused` for what is no terminal.
        """
        return await self._resources.terminal(uri)


def _choices(agent: str | None, folder: URI | None, config: JsonObject | None) -> JsonObject:
    given = {"provider": agent, "workingDirectory": folder, "config": config}
    return {key: value for key, value in given.items() if value is not None}


def _new_uri(scheme: str) -> URI:
    return f"{scheme}:/{secrets.token_hex(16)}"
