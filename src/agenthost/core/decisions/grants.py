"""Grants: what a key allows. This is the one place that says which grant a command or an action needs.

Commands have AHP's names, whichever protocol they came by. A command that is not listed here needs no grant:
it reveals nothing and changes nothing.
"""

from collections.abc import Set as AbstractSet
from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec

from agenthost.core.fork import split_content_uri
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
"""All grants."""

DEFAULT_GRANTS: Final[tuple[Grant, ...]] = ("sessions", "files")
"""The grants of a key by default: enough to talk to agents, and never a shell."""

METRICS = "metrics"
"""Reading the host's metrics."""

READ_CONTENT = "resourceRead/content"
"""`resourceRead` or `resourceResolve` of content that belongs to a session."""

ABOUT_CONTENT = frozenset({"resourceRead", "resourceResolve"})
"""The commands that may be about such content."""

COMMANDS: dict[str, Grant] = {
    **dict.fromkeys(
        (
            "createSession",
            "disposeSession",
            "createChat",
            "disposeChat",
            "moveChat",
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
            "resourceResolve",
            "resourceMkdir",
            "resourceRequest",
            "createResourceWatch",
            "subscribe/watch",
            "completions/files",
        ),
        "files",
    ),
    **dict.fromkeys(("createTerminal", "disposeTerminal", "subscribe/terminal"), "terminals"),
    METRICS: "admin",
}

ACTIONS: dict[str, Grant] = {
    "session": "sessions",
    "chat": "sessions",
    "changeset": "sessions",
    "terminal": "terminals",
    "root": "admin",
}
"""The grant that actions need, by the part of their type before the `/`."""


def needed_grant(command: str, params: Any = None) -> Grant | None:
    """Return the grant that a command, or an action by its type, needs; `None` if it needs none."""
    # Content belongs to a session: whoever may see the session may read it, without a right to files.
    if command in ABOUT_CONTENT and type(params) is dict and split_content_uri(str(params.get("uri"))):
        command = READ_CONTENT
    return COMMANDS.get(command) or ACTIONS.get(command.partition("/")[0])


class Rights(msgspec.Struct, frozen=True, gc=False):
    """The rights of a client.

    Attributes:
        grants: the grants of their key; all of them where no key is needed.
        off: the grants that are switched off on this host, for everybody.
    """

    grants: AbstractSet[Grant] = frozenset(GRANTS)
    off: AbstractSet[Grant] = frozenset()

    def check(self, command: str, params: Any = None) -> None:
        """Refuse a command, or an action by its type, if its grant is missing.

        Raises:
            GrantMissing: the key does not have it.
            SwitchedOff: the grant is switched off on this host.
        """
        self.check_grant(needed_grant(command, params), command)

    def check_grant(self, grant: Grant | None, what: str) -> None:
        """Refuse what needs this grant, if it is missing; `what` names it. Raises as `check` does."""
        # First, because no other key would help.
        if grant is not None and grant in self.off:
            raise SwitchedOff(what, grant)
        if grant is not None and grant not in self.grants:
            raise GrantMissing(what, grant)

    def may(self, command: str) -> bool:
        """Return whether `check` would let it pass."""
        grant = needed_grant(command)
        return grant is None or (grant in self.grants and grant not in self.off)


ALL_RIGHTS: Final = Rights()
