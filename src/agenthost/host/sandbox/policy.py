"""The sandbox policy: whether shells and programs of this host run in sandboxes.

It is decided once, when the host opens. A shell without a sandbox can do everything that the host's user can.
So if keys have several owners, this has to be switched on explicitly.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import which
from typing import Literal, TypeAlias

from agenthost.errors import SandboxUnavailable, ShellsRefused
from agenthost.host.access.keys import KeyFile, KeyRing
from agenthost.host.sandbox.bubblewrap import BWRAP, Sandbox, find_fault

__all__ = ["Confinement", "SandboxMode", "SandboxPolicy", "confine"]

SandboxMode: TypeAlias = Literal["auto", "on", "off"]


@dataclass(frozen=True, slots=True)
class SandboxPolicy:
    """The configuration of sandboxes.

    Attributes:
        mode: `auto` uses sandboxes if they work, `on` requires them, `off` uses none.
        network: whether programs inside may use the network.
        read: paths that shells may read, besides the system and the workspace.
        write: additional paths that they may read and write.
    """

    mode: SandboxMode = "auto"
    network: bool = True
    read: tuple[Path, ...] = ()
    write: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Confinement:
    """How shells and programs are confined.

    Attributes:
        sandbox: the sandbox of shells, if there is one.
        programs: the sandbox of agents' programs, which see more.
        fault: why there is no sandbox, unless it was switched off.
        keys: the keys, to count their owners.
    """

    sandbox: Sandbox | None = None
    programs: Sandbox | None = None
    fault: str | None = None
    keys: KeyRing | None = None

    def __str__(self) -> str:
        """Describe in one line how shells are confined."""
        if self.sandbox is not None:
            network = "with the network" if self.sandbox.network else "without a network"
            return f"on: shells see the workspace and the system only, {network}"
        return f"off: {f'{self.fault}; ' if self.fault else ''}shells can do everything that this user can"

    async def check(self) -> None:
        """Refuse a shell with which an owner could access what belongs to others.

        Raises:
            ShellsRefused: keys have several owners, and there is no sandbox although it was not switched off.
        """
        if self.sandbox is None and self.fault is not None and await asyncio.to_thread(self._has_owners):
            raise ShellsRefused(
                f"shells are refused: keys have several owners, and there is no sandbox to keep them apart "
                f"({self.fault}); install bubblewrap, or serve with --sandbox off to let every shell do all "
                "that the host's user may"
            )

    def _has_owners(self) -> bool:
        now = time.time()
        keys = (self.keys.read() if self.keys is not None else None) or []
        return len({key.owner for key in keys if key.is_valid(now)}) > 1

    def shell_command(
        self,
        words: Sequence[str],
        *,
        folder: Path,
        env: Mapping[str, str],
        write: Sequence[Path],
        read: Sequence[Path],
    ) -> tuple[list[str], dict[str, str]]:
        """Return the command and the environment for a shell; see `Sandbox.shell_command`."""
        if self.sandbox is None:
            return list(words), dict(env)
        inside = self.sandbox.environment(env)
        return self.sandbox.shell_command(words, folder=folder, env=inside, write=write, read=read), inside


def confine(
    policy: SandboxPolicy,
    *,
    data: Path,
    workspaces: Path | None,
    keys: KeyRing | None = None,
    fault_of: Callable[[], str | None] = find_fault,
) -> Confinement:
    """Return how shells and programs are confined on this machine. May run a sandbox to test it.

    `data` is the data folder, which they do not see. By default it has the keys.

    Raises:
        SandboxUnavailable: sandboxes are required, and do not work.
    """
    keys = keys or KeyFile(data)
    if policy.mode == "off":
        return Confinement(keys=keys)
    fault, path = fault_of(), which(BWRAP)
    if fault is None and path is not None:
        base = Sandbox(path, policy.network, _real(policy.read), _real(policy.write))
        own = [] if workspaces is None else [workspaces]
        shells = replace(base, hidden=_real([data, *own]))
        return Confinement(shells, replace(base, hidden=_real([data])), keys=keys)
    if policy.mode == "on":
        raise SandboxUnavailable(f"--sandbox on: {fault}; on Debian and Ubuntu: apt-get install bubblewrap")
    return Confinement(fault=fault or "bubblewrap is not installed", keys=keys)


def _real(paths: Sequence[Path]) -> tuple[Path, ...]:
    return tuple(path.resolve() for path in paths)
