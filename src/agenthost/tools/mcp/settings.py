"""The settings of an MCP server: how to reach it, which tools to use, and what to trust."""

import logging
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agenthost.host.programs.command import Command, expand_variables, parse_command
from agenthost.host.sandbox.bubblewrap import Sandbox
from agenthost.logs import hide
from agenthost.wire.json import encode_json

__all__ = ["ServerSettings", "read_settings"]

log = logging.getLogger("agenthost.mcp")

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
_REFERENCE = re.compile(r"\$\{?(\w+)")

MIN_SECRET_LENGTH = 6
"""Shorter values are not hidden in logs: they would be ordinary words."""

_SECRET = re.compile(r"token|secret|passw|key|auth|credential", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """The arguments of `McpServer`, checked."""

    name: str
    command: Command | None = None
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: Path | None = None
    tools: Collection[str] | None = None
    trust: bool | Collection[str] | None = None
    trusted: bool = False
    prefix: str = ""
    timeout: float | None = None

    def inside(self, sandbox: Sandbox | None) -> "ServerSettings":
        """Return the settings with the program in a sandbox. Servers at a URL stay as they are."""
        command = self.command
        return self if command is None else replace(self, command=replace(command, sandbox=sandbox))

    def resolved_headers(self) -> dict[str, str]:
        """Return the headers, with environment variables filled in.

        Raises:
            AgentUnavailable: a variable is not set.
        """
        return {name: expand_variables(value, f"the header {name}") for name, value in self.headers.items()}

    def tool_source(self, name: str) -> str:
        """Return where a tool comes from, given the server's name of it. It is never shown to anybody.

        Headers are not part of it: our credentials do not change what the tool is.
        """
        command = self.command and [*self.command.words, sorted(self.command.env.items()), str(self.cwd)]
        return encode_json([command, self.url, name]).decode()

    def hide_secrets(self) -> None:
        """Hide the values of referenced environment variables in the log."""
        given = [*self.headers.values(), *(self.command.env.values() if self.command else ())]
        for name in (match[1] for text in given for match in _REFERENCE.finditer(text)):
            if len(value := os.environ.get(name, "")) >= MIN_SECRET_LENGTH:
                hide(value)

    def trusts(self, name: str, *, is_harmless: bool) -> bool:
        """Tell whether a tool (by the server's name) runs without approval where a session does not decide.

        `is_harmless` is what the server's hints say; it counts only if the server is trusted.
        """
        if self.trust is None or isinstance(self.trust, bool):
            return (self.trusted and is_harmless) if self.trust is None else self.trust
        return name in self.trust


def read_settings(
    name: str,
    *,
    command: str | Sequence[str] | None,
    url: str | None,
    env: Mapping[str, str],
    headers: Mapping[str, str],
    cwd: Path | str | None,
    tools: Collection[str] | None,
    trust: bool | Collection[str] | None,
    trusted: bool,
    prefix: str | None,
    timeout: float | None,
) -> ServerSettings:
    """Check the arguments of `McpServer`.

    Raises:
        ValueError: one is invalid, or two contradict each other; the message says why.
    """
    if not _NAME.fullmatch(name):
        right = "a letter, then up to 31 letters, digits, '_' or '-'"
        raise ValueError(f"{name!r} is not a valid name for an MCP server: {right}")
    where = f"MCP server {name!r}"
    if (command is None) == (url is None):
        raise ValueError(f"{where}: give either a command to run or a url, not both")
    if url is not None and not re.fullmatch(r"https?://[^\s/]\S*", url):
        raise ValueError(f"{where}: expected a url that begins with http:// or https://, found {url!r}")
    if url is not None and (env or cwd is not None):
        raise ValueError(f"{where}: env and cwd are for a command; a url takes headers")
    if command is not None and headers:
        raise ValueError(f"{where}: headers are for a url; a command takes env")
    for what, names in (("tools", tools), ("trust", trust)):
        if isinstance(names, str):
            raise ValueError(f"{where}: {what} is a list of names, not one name")  # noqa: TRY004
    _warn_of_secrets(name, {**env, **headers})
    return ServerSettings(
        name=name,
        command=None if command is None else parse_command(command, env),
        url=url,
        headers=dict(headers),
        cwd=None if cwd is None else Path(os.path.normpath(Path(cwd).expanduser().absolute())),
        tools=None if tools is None else tuple(tools),
        trust=trust if trust is None or isinstance(trust, bool) else tuple(trust),
        trusted=trusted,
        prefix=f"{name}_" if prefix is None else prefix,
        timeout=timeout,
    )


def _warn_of_secrets(name: str, given: Mapping[str, str]) -> None:
    for key, value in given.items():
        if _SECRET.search(key) and "$" not in value:
            log.warning(
                "MCP server %s: %s contains a literal secret; use a reference instead: $NAME", name, key
            )
