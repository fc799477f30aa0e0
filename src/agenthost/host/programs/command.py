"""Commands: which program is meant, with what environment and in which folder. Starts nothing."""

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agenthost.errors import AgentUnavailable
from agenthost.host.environment import conceal
from agenthost.host.sandbox import Sandbox
from agenthost.host.terminals.shells import PASSED_ON

__all__ = ["Command", "command_of", "resolved"]

NETWORK = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"})
HANDED_ON = PASSED_ON | NETWORK | {name.lower() for name in NETWORK} | {"NODE_EXTRA_CA_CERTS"}
"""What the program gets of the host's environment, with all of `LC_` and `XDG_`: the rest may hold keys."""

_REFERENCE = re.compile(r"\$(?:\$|(\w+)|\{(\w+)\})")


@dataclass(frozen=True, slots=True)
class Command:
    """How a program is started.

    Attributes:
        words: the program and its arguments.
        env: what it gets beside the few variables that every program gets; `$NAME` is a variable of ours.
        sandbox: what it runs in, if anything.
    """

    words: tuple[str, ...]
    env: Mapping[str, str]
    sandbox: Sandbox | None = None

    @property
    def line(self) -> str:
        """The command as one would type it."""
        return shlex.join(self.words)

    def environment(self) -> dict[str, str]:
        """Give the environment that the program gets.

        Raises:
            AgentUnavailable: it refers to a variable that is not set.
        """
        handed = {
            name: value
            for name, value in os.environ.items()
            if name in HANDED_ON or name.startswith(("LC_", "XDG_"))
        }
        given = {name: resolved(value, name) for name, value in self.env.items()}
        return {**handed, "TERM": "dumb", "NO_COLOR": "1", **given}

    def found(self, env: Mapping[str, str], folder: Path) -> tuple[str, ...]:
        """Give the words with the program's whole path, and with those of the sandbox around them.

        Raises:
            AgentUnavailable: there is no such program.
        """
        name = self.words[0]
        path = shutil.which(str(folder / name) if os.sep in name else name, path=env.get("PATH"))
        if path is None:
            what = f"there is no program {name!r} to run"
            raise AgentUnavailable(f"{what}; install it, or correct the command: {self.line}")
        words = (path, *self.words[1:])
        return words if self.sandbox is None else tuple(self.sandbox.beside(words, folder=folder))


def command_of(command: str | Sequence[str], env: Mapping[str, str]) -> Command:
    """Read a command: a line as for a shell, or the words of one.

    Raises:
        ValueError: it is empty, or its quotes do not match.
    """
    try:
        words = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as error:
        raise ValueError(f"{command!r} is not a command: {str(error).lower()}") from None
    if not words or not words[0]:
        raise ValueError("a command names a program, such as 'gemini --acp'")
    return Command(tuple(words), dict(env))


def resolved(text: str, place: str) -> str:
    """Put the variables of our environment in the place of `$NAME` and `${NAME}`; `$$` is a dollar.

    Raises:
        AgentUnavailable: one is not set; `place` is what needs it.
    """

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if name is None:
            return "$"
        if name not in os.environ:
            raise AgentUnavailable(
                f"the variable {name} is not set where this host runs, but {place} needs it"
            )
        conceal([name])  # what is handed on by name is a secret, whatever it is called
        return os.environ[name]

    return _REFERENCE.sub(value, text)
