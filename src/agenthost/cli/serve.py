"""`agenthost serve`: agents from files, models and programs, on one server."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from agenthost.cli.agent_files import LoadError, load_agents
from agenthost.edges.ahp.stdio import take_streams
from agenthost.edges.console import fail, fill_standard_streams
from agenthost.edges.server import serve
from agenthost.edges.shutdown import end_within
from agenthost.errors import AgentUnavailable
from agenthost.host.authoring.agent import Agent
from agenthost.host.files.grants import FilePolicy
from agenthost.host.host import Host
from agenthost.host.sandbox.policy import SandboxPolicy
from agenthost.logs import set_up
from agenthost.settings import SETTINGS, Settings, SettingsError, read_settings

log = logging.getLogger("agenthost.serve")

DEFAULT_SYSTEM = (
    "You are a helpful assistant. Your tools work on the files of the user's workspace: look before you "
    "change something, change no more than is asked for, and say briefly what you did."
)
"""The system prompt of a model that was given none."""

MAX_EXIT_SECONDS = 1.0
"""How long threads of the user's code may delay the exit once everything is closed."""


def run(names: Sequence[str], options: Mapping[str, Any]) -> None:
    """Serve agents from files, modules, models and programs, or the demo agent, until told to stop."""
    fill_standard_streams()
    try:
        settings = read_settings(options)
    except SettingsError as error:
        fail(str(error), code=2)
    if settings.stdio:
        take_streams()  # before any code of the user runs: it might print
    set_up(settings.log_format, settings.log_level)
    host = Host(
        data=settings.data,
        workspace=settings.workspace,
        limits=settings.limits,
        sync=settings.sync,
        file_policy=FilePolicy(reading=settings.read_outside, writing=settings.write_outside),
        workspaces=settings.workspaces,
        sandbox=SandboxPolicy(
            settings.sandbox, settings.sandbox_network, settings.sandbox_read, settings.sandbox_write
        ),
        store=settings.store,
    )
    _check_unused(names, settings)
    for agent in _agents(names, settings):
        host.add(agent)
    serve(host, settings)
    end_within(MAX_EXIT_SECONDS, lambda: 0)


def _check_unused(names: Sequence[str], settings: Settings) -> None:
    """Warn of settings that have no effect without another one; if only the demo is served, refuse them."""
    is_demo = not (names or settings.agents or settings.model or settings.acp)
    for needed in (SETTINGS["model"], SETTINGS["acp"]):
        unused = [
            "[model_settings]" if one.is_table else one.option
            for one in SETTINGS.values()
            if one.needs == needed.name and getattr(settings, one.name)
        ]
        if not unused or getattr(settings, needed.name):
            continue
        sentence = f"{', '.join(unused)}: no effect without {needed.option} {needed.metavar}"
        if is_demo:
            fail(sentence, code=2)
        log.warning("%s; agents in files have settings of their own", sentence)


def _agents(names: Sequence[str], settings: Settings) -> list[Agent]:
    given = {"--model": [_model_agent(settings)] if settings.model else [], "--acp": _programs(settings)}
    own = [agent for agents in given.values() for agent in agents]
    if not names and settings.agents is None and own:
        return own
    if not names and settings.agents is None:
        from agenthost.agents.demo import demo  # noqa: PLC0415 - only if there are no others

        return [demo]
    try:
        found = load_agents(names, settings.agents, own)
    except LoadError as error:
        fail(str(error), code=2, trace=error.trace)
    taken = {agent.name for agent in found}
    for option, agents in given.items():
        for agent in agents:
            if agent.name in taken:
                fail(f"{option}: there is an agent called {agent.name!r} in these files, too", code=2)
    return [*own, *found]


def _programs(settings: Settings) -> list[Agent]:
    if not settings.acp:
        return []
    from agenthost.cli.acp_programs import ProgramError, acp_agents  # noqa: PLC0415 - needs a library

    try:
        return [*acp_agents(settings.acp, settings.acp_env)]
    except ProgramError as error:
        fail(str(error), code=2)


def _model_agent(settings: Settings) -> Agent:
    from agenthost.agents.model import ModelAgent  # noqa: PLC0415 - needs libraries
    from agenthost.tools.workspace import workspace_tools  # noqa: PLC0415

    first, *more = settings.model
    try:
        return ModelAgent(
            model=first,
            models=more,
            base_url=settings.base_url,
            api_key_env=settings.key_env,
            system=settings.system or DEFAULT_SYSTEM,
            settings=settings.model_settings,
            title="Assistant",
            tools=workspace_tools(),
        )
    except (AgentUnavailable, ValueError) as error:
        fail(f"--model: {error}", code=2)
