"""`agenthost serve`: the agents of some files, models, or programs, on one server."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from agenthost.cli.loading import LoadError, load_agents
from agenthost.edges.ahp.stdio import take_streams
from agenthost.edges.console import fail, fill_standard_streams
from agenthost.edges.server import serve
from agenthost.edges.stopping import end_within
from agenthost.errors import AgentUnavailable
from agenthost.host.agent import Agent
from agenthost.host.confinement import SandboxPolicy
from agenthost.host.files.grants import FilePolicy
from agenthost.host.host import Host
from agenthost.logs import set_up
from agenthost.settings import Settings, SettingsError, as_option, read_settings

log = logging.getLogger("agenthost.serve")

DEFAULT_SYSTEM = (
    "You are a helpful assistant. Your tools work on the files of the user's workspace: look before you "
    "change something, change no more than is asked for, and say briefly what you did."
)
"""What a model is told that was given nothing else."""

LEAVE_SECONDS = 1.0
"""How long threads that people's code has left behind may keep the process once all is closed."""


def run(names: Sequence[str], options: Mapping[str, Any]) -> None:
    """Serve the agents of these files and modules, models, programs, or the demo agent, until told to end."""
    fill_standard_streams()
    try:
        settings = read_settings(options)
    except SettingsError as error:
        fail(str(error), code=2)
    if settings.stdio:
        take_streams()  # before any code of others runs, which might print
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
    )
    _check_use(names, settings)
    for agent in _agents(names, settings):
        host.add(agent)
    serve(host, settings)
    end_within(LEAVE_SECONDS, lambda: 0)


EXAMPLES = {"model": "NAME", "acp": "COMMAND"}

USED_WITH = {"model": ("base_url", "key_env", "system", "model_settings"), "acp": ("acp_env",)}
"""Settings that say nothing without another one."""


def _check_use(names: Sequence[str], settings: Settings) -> None:
    """Say which settings no agent uses; where nothing else is served, refuse them."""
    is_demo = not (names or settings.agents or settings.model or settings.acp)
    for option, others in USED_WITH.items():
        idle = [as_option(other) for other in others if getattr(settings, other)]
        if not idle or getattr(settings, option):
            continue
        which = f"{', '.join(idle)}: only what {as_option(option)} serves would use this"
        if is_demo:
            fail(f"{which}; add {as_option(option)} {EXAMPLES[option]}", code=2)
        log.warning("%s, and there is none; agents of files say it themselves", which)


def _agents(names: Sequence[str], settings: Settings) -> list[Agent]:
    given = {"--model": [_model_agent(settings)] if settings.model else [], "--acp": _programs(settings)}
    own = [agent for agents in given.values() for agent in agents]
    if not names and settings.agents is None and own:
        return own
    if not names and settings.agents is None:
        from agenthost.agents.demo import demo  # noqa: PLC0415 - not needed by those who bring their own

        return [demo]
    try:
        found = load_agents(names, settings.agents, own)
    except LoadError as error:
        fail(str(error), code=2, trace=error.trace)
    taken = {agent.name for agent in found}
    for option, agents in given.items():
        for agent in agents:
            if agent.name in taken:
                fail(f"{option}: an agent of these files is called {agent.name!r}, too", code=2)
    return [*own, *found]


def _programs(settings: Settings) -> list[Agent]:
    if not settings.acp:
        return []
    from agenthost.cli.programs import ProgramError, programs_of  # noqa: PLC0415 - only for these

    try:
        return [*programs_of(settings.acp, settings.acp_env)]
    except ProgramError as error:
        fail(str(error), code=2)


def _model_agent(settings: Settings) -> Agent:
    from agenthost.agents.model import ModelAgent  # noqa: PLC0415 - not needed by those who bring their own
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
