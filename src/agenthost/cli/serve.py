"""`agenthost serve`: the agents of some files, on one server."""

from collections.abc import Mapping, Sequence
from typing import Any

from agenthost.cli.loading import LoadError, load_agents
from agenthost.edges.ahp.stdio import take_streams
from agenthost.edges.console import fail, fill_standard_streams
from agenthost.edges.server import serve
from agenthost.edges.stopping import end_within
from agenthost.host.agent import Agent
from agenthost.host.files.grants import FilePolicy
from agenthost.host.host import Host
from agenthost.logs import set_up
from agenthost.settings import SettingsError, read_settings

LEAVE_SECONDS = 1.0
"""How long threads that people's code has left behind may keep the process once all is closed."""


def run(names: Sequence[str], options: Mapping[str, Any]) -> None:
    """Serve the agents of these files and modules, or the demo agent, until told to stop."""
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
        full_sync=settings.full_sync,
        file_policy=FilePolicy(reading=settings.read_outside, writing=settings.write_outside),
    )
    for agent in _agents(names):
        host.add(agent)
    serve(host, settings)
    end_within(LEAVE_SECONDS, lambda: 0)


def _agents(names: Sequence[str]) -> list[Agent]:
    if not names:
        from agenthost.agents.demo import demo  # noqa: PLC0415 - not needed by those who bring their own

        return [demo]
    try:
        return load_agents(names)
    except LoadError as error:
        fail(str(error), code=2, trace=error.trace)
