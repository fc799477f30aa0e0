"""The form for the settings of a new session, and values to propose for them.

The form is always complete, for the choices so far. A value that no longer fits falls back to the default: a
user may change the agent halfway, and it is `createSession` that refuses values.
"""

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path

from agenthost.errors import AgentNotFound, HostError, InvalidValue
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.options import Option, Suggestion, SuggestQuery
from agenthost.host.files.files import Files
from agenthost.host.files.grants import Owner
from agenthost.host.sessions.session_options import check_options, config_state
from agenthost.wire.ahp.commands.config import (
    ResolveSessionConfigParams,
    ResolveSessionConfigResult,
    SessionConfigCompletionsParams,
    SessionConfigCompletionsResult,
)
from agenthost.wire.error_messages import quote
from agenthost.wire.json import Json

__all__ = ["ConfigForm"]

log = logging.getLogger("agenthost.configuring")

MOST_ITEMS = 100
SUGGEST_SECONDS = 10.0


class ConfigForm:
    """Describes the settings of a session that does not exist yet."""

    def __init__(self, agents: Mapping[str, Agent], files: Files) -> None:
        self._agents = agents
        self._files = files

    async def resolve(self, owner: Owner, params: ResolveSessionConfigParams) -> ResolveSessionConfigResult:
        """Return the whole form for the choices so far, and the values with defaults filled in.

        Raises:
            AgentNotFound: there is no such agent.
            InvalidValue: the working directory is not a folder.
            ResourceError: the working directory does not exist, or may not be used.
        """
        agent = self._agent_of(params)
        await agent.wait_known()
        await self._folder(owner, params)
        state = config_state(agent, _fitting(agent, params.get("config", {})))
        if state is None:
            return {"schema": {"type": "object", "properties": {}}, "values": {}}
        return {"schema": state["schema"], "values": state["values"]}

    async def complete(
        self, owner: Owner, params: SessionConfigCompletionsParams
    ) -> SessionConfigCompletionsResult:
        """Propose values for one setting.

        Raises:
            AgentNotFound: there is no such agent.
            InvalidValue: there is no such setting, or the working directory is not a folder.
            ResourceError: the working directory does not exist, or may not be used.
        """
        agent = self._agent_of(params)
        await agent.wait_known()
        options = {option.name: option for option in agent.options if option.kind != "secret"}
        option = options.get(params["property"])
        if option is None:
            known = f"one of {', '.join(map(quote, options))}" if options else "no setting, as there are none"
            raise InvalidValue("$.property", known, quote(params["property"]))
        folder = await self._folder(owner, params)
        values = {name: one.default for name, one in options.items()}
        values |= _fitting(agent, params.get("config", {}))
        query = SuggestQuery(params.get("query", ""), values, folder)
        found = await _suggestions(option, query)
        return {"items": [one.item() for one in found[:MOST_ITEMS]]}

    def _agent_of(self, params: ResolveSessionConfigParams | SessionConfigCompletionsParams) -> Agent:
        """Return the agent that the client names, or the first one."""
        name = params.get("provider")
        if name is None:
            name = next(iter(self._agents), "")
        agent = self._agents.get(name)
        if agent is None:
            raise AgentNotFound(name)
        return agent

    async def _folder(
        self, owner: Owner, params: ResolveSessionConfigParams | SessionConfigCompletionsParams
    ) -> Path | None:
        uri = params.get("workingDirectory")
        return None if uri is None else await self._files.folder(owner, uri)


def _fitting(agent: Agent, values: Mapping[str, Json]) -> dict[str, str]:
    """Return the values that the agent's options can have."""
    fitting: dict[str, str] = {}
    # One by one: a value that does not fit must not take the others with it.
    for name, value in values.items():
        try:
            fitting |= check_options(agent, {name: value}, "$.config")
        except InvalidValue:
            continue
    # The form is sent back to the client, and a secret never is.
    secret = {option.name for option in agent.options if option.kind == "secret"}
    return {name: value for name, value in fitting.items() if name not in secret}


async def _suggestions(option: Option, query: SuggestQuery) -> list[Suggestion]:
    suggest = option.suggest
    if suggest is None:
        wanted = query.text.lower()
        return [Suggestion(choice) for choice in option.choices if wanted in choice.lower()]
    try:
        async with asyncio.timeout(SUGGEST_SECONDS):
            found = await suggest(query)
    except HostError:
        raise
    # Proposals only help: without them, a value can still be typed.
    except TimeoutError:
        log.warning("finding values for option %r took too long", option.name)
        return []
    except Exception:
        log.exception("finding values for option %r failed", option.name)
        return []
    return [one if isinstance(one, Suggestion) else Suggestion(one) for one in found]
