"""Commands on terminals."""

from typing import NotRequired, TypedDict

from agenthost.wire.ahp.legacy.common import URI
from agenthost.wire.ahp.legacy.terminal import TerminalClaim


class CreateTerminalParams(TypedDict):
    """`createTerminal`: its URI, its holder and how it starts."""

    terminal: URI  # client-chosen URI
    claim: TerminalClaim
    name: NotRequired[str]
    cwd: NotRequired[URI]
    cols: NotRequired[int]
    rows: NotRequired[int]


class DisposeTerminalParams(TypedDict):
    """`disposeTerminal`: which one."""

    terminal: URI
