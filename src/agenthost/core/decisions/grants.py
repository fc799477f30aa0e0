"""Grants: what a key is worth. The one place where it is decided which of them a command or an action needs.

Commands have the names that AHP gives them; AAP, a view of the same host, asks by these names too. What is
named nowhere here needs no grant: it tells nothing, and changes nothing.
"""

from collections.abc import Set as AbstractSet
from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec

from agenthost.core.forking import split_content_uri
from agenthost.errors import GrantMissing, SwitchedOff

__all__ = [
    "ALL_RIGHTS",
    "DEFAULT_GRANTS",
    "GRANTS",
    "METRICS",
    "READ_CONTENT",
    "Grant",
    "Rights",
    "needed_grant",
]

Grant: TypeAlias = Literal["sessions", "files", "terminals", "run", "admin"]

GRANTS: Final[tuple[Grant, ...]] = get_args(Grant)
"""All that there are."""

DEFAULT_GRANTS: Final[tuple[Grant, ...]] = ("sessions", "files")
"""What a key has unless it is told otherwise: enough to talk to agents, and never a shell."""

METRICS = "metrics"
"""To read what the host has counted."""

READ_CONTENT = "resourceRead/content"
"""`resourceRead` of something that was said in a session."""

COMMANDS: dict[str, Grant] = {
    **dict.fromkeys(
        (
            "createSession",
            "disposeSession",
            "listSessions",
            "fetchTurns",
            "authenticate",
            "resolveSessionConfig",
            "sessionConfigCompletions",
            "completions",
            "subscribe/session",
            READ_CONTENT,
        ),
        "sessions",
    ),
    **dict.fromkeys(
        (
            "resourceRead",
            "resourceWrite",
            "resourceList",
            "resourceCopy",
            "resourceMove",
            "resourceDelete",
            "resourceRequest",
            "completions/files",
        ),
        "files",
    ),
    **dict.fromkeys(("createTerminal", "disposeTerminal", "subscribe/terminal"), "terminals"),
    METRICS: "admin",
}

ACTIONS: dict[str, Grant] = {"session": "sessions", "terminal": "terminals", "root": "admin"}
"""What actions need, by the part of their type before the `/`."""


def needed_grant(command: str, params: Any = None) -> Grant | None:
    """Return the grant that a command or the type of an action needs, if it needs one."""
    if command == "resourceRead" and type(params) is dict and split_content_uri(str(params.get("uri"))):
        command = READ_CONTENT
    return COMMANDS.get(command) or ACTIONS.get(command.partition("/")[0])


class Rights(msgspec.Struct, frozen=True, gc=False):
    """What somebody may do.

    Attributes:
        grants: those of their key; all, where no key is needed.
        off: those that are switched off on this host, whoever has them.
    """

    grants: AbstractSet[Grant] = frozenset(GRANTS)
    off: AbstractSet[Grant] = frozenset()

    def check(self, command: str, params: Any = None) -> None:
        """Refuse a command, or an action by its type, that needs a grant which is not there.

        Raises:
            GrantMissing: the key does not have it.
            SwitchedOff: nobody has it on this host.
        """
        self.check_grant(needed_grant(command, params), command)

    def check_grant(self, grant: Grant | None, what: str) -> None:
        """Refuse something that needs this grant; `what` names it. Raises as `check` does."""
        if grant is not None and grant in self.off:
            raise SwitchedOff(what, grant)
        if grant is not None and grant not in self.grants:
            raise GrantMissing(what, grant)

    def may(self, command: str) -> bool:
        """Return whether `check` would let it pass."""
        grant = needed_grant(command)
        return grant is None or (grant in self.grants and grant not in self.off)


ALL_RIGHTS: Final = Rights()
