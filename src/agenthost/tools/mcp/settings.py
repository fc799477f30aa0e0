"""How an MCP server is reached, what of it is used and what of that is trusted. Knows no connection."""

import logging
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agenthost.host.programs.command import Command, command_of, resolved
from agenthost.host.sandbox import Sandbox
from agenthost.logs import hide
from agenthost.wire.json import encode_json

__all__ = ["Settings", "read_settings"]

log = logging.getLogger("agenthost.mcp")

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
_REFERENCE = re.compile(r"\$\{?(\w+)")

SHORTEST_SECRET = 6
"""What is shorter is no secret, but a word that would be masked wherever it stands."""

_SECRET = re.compile(r"token|secret|passw|key|auth|credential", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What `McpServer` was told."""

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

    def inside(self, sandbox: Sandbox | None) -> "Settings":
        """Return the same with a program that runs in a sandbox, if that is one."""
        command = self.command
        return self if command is None else replace(self, command=replace(command, sandbox=sandbox))

    def resolved_headers(self) -> dict[str, str]:
        """Give the headers, with the variables of our environment in them.

        Raises:
            AgentUnavailable: one is not set.
        """
        return {name: resolved(value, f"the header {name}") for name, value in self.headers.items()}

    def source_of(self, name: str) -> str:
        """Return what says where a tool comes from, by the server's own name for it: never to be shown.

        Headers are not in it: who we are does not change what the tool is.
        """
        command = self.command and [*self.command.words, sorted(self.command.env.items()), str(self.cwd)]
        return encode_json([command, self.url, name]).decode()

    def hide_secrets(self) -> None:
        """Keep what is given by reference out of the log, whoever would write it there."""
        given = [*self.headers.values(), *(self.command.env.values() if self.command else ())]
        for name in (match[1] for text in given for match in _REFERENCE.finditer(text)):
            if len(value := os.environ.get(name, "")) >= SHORTEST_SECRET:
                hide(value)

    def trusts(self, name: str, *, is_harmless: bool) -> bool:
        """Tell whether a tool, by the server's own name for it, runs without asking where nobody says.

        `is_harmless` is what the server says of it, and counts if the server is trusted.
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
) -> Settings:
    """Check what a server was declared with.

    Raises:
        ValueError: it makes no sense; the sentence says why.
    """
    if not _NAME.fullmatch(name):
        right = "a letter, then up to 31 letters, digits, '_' or '-'"
        raise ValueError(f"{name!r} is no name for an MCP server: {right}")
    where = f"MCP server {name!r}"
    if (command is None) == (url is None):
        raise ValueError(f"{where}: say either a command to run or a url, and not both")
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
    return Settings(
        name=name,
        command=None if command is None else command_of(command, env),
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
                "MCP server %s: %s has its value written down; better is a reference: $NAME", name, key
            )
