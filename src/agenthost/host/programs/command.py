"""Commands: which program to run, with what environment and in which folder. Starts nothing."""

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agenthost.errors import AgentUnavailable
from agenthost.host.sandbox.bubblewrap import Sandbox
from agenthost.host.sandbox.environment import hide_secrets

__all__ = ["INHERITED", "Command", "expand_variables", "parse_command"]

INHERITED = frozenset({"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR"})
"""The variables that every program inherits, with all of `LC_*`. Other variables may hold keys."""

NETWORK = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"})
_INHERITED = INHERITED | NETWORK | {name.lower() for name in NETWORK} | {"NODE_EXTRA_CA_CERTS"}
"""The variables that programs on pipes inherit, with all of `LC_*` and `XDG_*`; they need the network."""

_REFERENCE = re.compile(r"\$(?:\$|(\w+)|\{(\w+)\})")


@dataclass(frozen=True, slots=True)
class Command:
    """How to start a program.

    Attributes:
        words: the program and its arguments.
        env: variables besides those that every program gets; `$NAME` refers to a variable of the host.
        sandbox: the sandbox it runs in, if any.
    """

    words: tuple[str, ...]
    env: Mapping[str, str]
    sandbox: Sandbox | None = None

    @property
    def line(self) -> str:
        """The command as a line for a shell."""
        return shlex.join(self.words)

    def environment(self) -> dict[str, str]:
        """Return the environment that the program gets.

        Raises:
            AgentUnavailable: it refers to a variable that is not set.
        """
        handed = {
            name: value
            for name, value in os.environ.items()
            if name in _INHERITED or name.startswith(("LC_", "XDG_"))
        }
        given = {name: expand_variables(value, name) for name, value in self.env.items()}
        return {**handed, "TERM": "dumb", "NO_COLOR": "1", **given}

    def found(self, env: Mapping[str, str], folder: Path) -> tuple[str, ...]:
        """Return the words with the program's full path, wrapped in the sandbox.

        Raises:
            AgentUnavailable: there is no such program.
        """
        name = self.words[0]
        path = shutil.which(str(folder / name) if os.sep in name else name, path=env.get("PATH"))
        if path is None:
            what = f"there is no program {name!r} to run"
            raise AgentUnavailable(f"{what}; install it, or correct the command: {self.line}")
        words = (path, *self.words[1:])
        return words if self.sandbox is None else tuple(self.sandbox.program_command(words, folder=folder))


def parse_command(command: str | Sequence[str], env: Mapping[str, str]) -> Command:
    """Parse a command: a line as for a shell, or its words.

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


def expand_variables(text: str, place: str) -> str:
    """Replace `$NAME` and `${NAME}` with variables of the host; `$$` is a dollar sign.

    Raises:
        AgentUnavailable: a variable is not set. `place` names what needs it.
    """

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if name is None:
            return "$"
        if name not in os.environ:
            raise AgentUnavailable(
                f"the variable {name} is not set where this host runs, but {place} needs it"
            )
        hide_secrets([name])  # a variable that is referred to is a secret, whatever its name
        return os.environ[name]

    return _REFERENCE.sub(value, text)
