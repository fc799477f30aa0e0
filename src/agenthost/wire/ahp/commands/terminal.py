"""Commands on terminals."""

from typing import NotRequired, TypedDict

from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.terminal import TerminalClaim


class CreateTerminalParams(TypedDict):
    """`createTerminal`: where, for whom and how."""

    terminal: URI  # client-chosen URI
    claim: TerminalClaim
    name: NotRequired[str]
    cwd: NotRequired[URI]
    cols: NotRequired[int]
    rows: NotRequired[int]


class DisposeTerminalParams(TypedDict):
    """`disposeTerminal`: which one."""

    terminal: URI
