"""Programs that speak ACP, as `--acp` names them: `gemini --acp`, or `helper=gemini --acp`."""

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from agenthost.agents.acp import AcpAgent
from agenthost.errors import AgentUnavailable
from agenthost.host.programs.command import parse_command

__all__ = ["ProgramError", "acp_agents"]

_NAMED = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,63})=(.*)", re.DOTALL)
_UNFIT = re.compile(r"[^A-Za-z0-9+.-]+")
_VERSION = re.compile(r"(?<=.)@[^/]*$")

LAUNCHERS = {"npx", "bunx", "pnpx", "uvx", "pipx", "node", "bun", "python", "python3"}
"""Programs that run another one. The agent is named after that one."""


class ProgramError(ValueError):
    """A program cannot be served; the sentence says why."""


def acp_agents(commands: Sequence[str], variables: Sequence[str]) -> list[AcpAgent]:
    """Return an agent for each command. `variables` are passed to all of them, as `NAME` or `NAME=VALUE`.

    Raises:
        ProgramError: one is not a command, or two have the same name.
    """
    env = _environment(variables)
    agents: dict[str, AcpAgent] = {}
    for line in commands:
        agent = _acp_agent(line, env)
        if agent.name in agents:
            hint = f"give one another name: --acp {shlex.quote(f'{agent.name}-2={line}')}"
            raise ProgramError(f"--acp: two programs would be called {agent.name!r}; {hint}")
        agents[agent.name] = agent
    return list(agents.values())


def _acp_agent(line: str, env: Mapping[str, str]) -> AcpAgent:
    named = _NAMED.fullmatch(line)
    name, command = (named[1], named[2]) if named else ("", line)
    try:
        return AcpAgent(name or _program_name(parse_command(command, {}).words), command, env=env)
    except (AgentUnavailable, ValueError) as error:
        raise ProgramError(f"--acp: {error}") from None


def _program_name(words: Sequence[str]) -> str:
    """Return the name of a program: that of its file, or of what a launcher runs."""
    plain = [word for word in words if not word.startswith("-")]
    is_launched = len(plain) > 1 and PurePath(plain[0]).name in LAUNCHERS
    word = plain[1] if is_launched else words[0]
    name = PurePath(_VERSION.sub("", word)).name.removesuffix(".py").removesuffix(".js")
    fit = _UNFIT.sub("-", name).strip("-.+")[:64]
    return fit if fit[:1].isalpha() else f"acp-{fit}".rstrip("-")


def _environment(variables: Sequence[str]) -> dict[str, str]:
    env: dict[str, str] = {}
    for variable in variables:
        name, given, value = variable.partition("=")
        env[name] = value if given else f"${name}"
    return env
