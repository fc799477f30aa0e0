"""Commands on terminals."""

from typing import NotRequired

from agenthost.wire.ahp.commands.params import BaseParams
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.terminal import TerminalClaim


class CreateTerminalParams(BaseParams):
    """`createTerminal`: its holder and how it starts. The channel is its new URI."""

    claim: TerminalClaim
    name: NotRequired[str]
    cwd: NotRequired[URI]
    cols: NotRequired[int]
    rows: NotRequired[int]


class DisposeTerminalParams(BaseParams):
    """`disposeTerminal`: the channel is the terminal."""
