"""Programs that speak ACP, as the command line names them: `gemini --acp`, or `helper=gemini --acp`."""

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from agenthost.agents.acp import AcpAgent
from agenthost.errors import AgentUnavailable
from agenthost.host.programs.command import command_of

__all__ = ["ProgramError", "programs_of"]

_NAMED = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,63})=(.*)", re.DOTALL)
_UNFIT = re.compile(r"[^A-Za-z0-9+.-]+")
_VERSION = re.compile(r"(?<=.)@[^/]*$")

LAUNCHERS = {"npx", "bunx", "pnpx", "uvx", "pipx", "node", "bun", "python", "python3"}
"""Programs that run another one, which is what people call it."""


class ProgramError(ValueError):
    """A program cannot be served as it is named; the sentence says why."""


def programs_of(lines: Sequence[str], variables: Sequence[str]) -> list[AcpAgent]:
    """Make an agent of each command; `variables` are handed to all of them, as `NAME` or `NAME=VALUE`.

    Raises:
        ProgramError: one is no command, or has the name of another.
    """
    env = _environment(variables)
    agents: dict[str, AcpAgent] = {}
    for line in lines:
        agent = _program(line, env)
        if agent.name in agents:
            right = f"name one of them: --acp {shlex.quote(f'{agent.name}-2={line}')}"
            raise ProgramError(f"--acp: two programs would be called {agent.name!r}; {right}")
        agents[agent.name] = agent
    return list(agents.values())


def _program(line: str, env: Mapping[str, str]) -> AcpAgent:
    named = _NAMED.fullmatch(line)
    name, command = (named[1], named[2]) if named else ("", line)
    try:
        return AcpAgent(name or _name_of(command_of(command, {}).words), command, env=env)
    except (AgentUnavailable, ValueError) as error:
        raise ProgramError(f"--acp: {error}") from None


def _name_of(words: Sequence[str]) -> str:
    """Give the name of a program: that of its file, or of what a launcher is to run."""
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
