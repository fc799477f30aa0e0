"""Confinement: whether shells and programs of this host are in sandboxes, and what is in those of an owner.

Decided once, when the host opens. Without a sandbox a shell is all that the host's user is; so where keys
have several owners, that has to be said on purpose.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import which
from typing import Literal, TypeAlias

from agenthost.errors import SandboxUnavailable, ShellsRefused
from agenthost.host.keys import KeyFile
from agenthost.host.sandbox import BWRAP, Sandbox, find_fault

__all__ = ["Confinement", "SandboxMode", "SandboxPolicy", "confine"]

SandboxMode: TypeAlias = Literal["auto", "on", "off"]


@dataclass(frozen=True, slots=True)
class SandboxPolicy:
    """What the configuration says of sandboxes.

    Attributes:
        mode: `auto` uses them where they work, `on` needs them, `off` does without.
        network: whether what is inside may use the network.
        read: more than the system and the workspace that shells may read.
        write: more that they may read and write.
    """

    mode: SandboxMode = "auto"
    network: bool = True
    read: tuple[Path, ...] = ()
    write: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Confinement:
    """How shells and programs are held.

    Attributes:
        sandbox: what shells run in; nothing where there is none.
        programs: what the programs of agents run in, which see more.
        fault: why there is no sandbox, if it was not switched off.
        keys: where the keys are, whose owners are counted.
    """

    sandbox: Sandbox | None = None
    programs: Sandbox | None = None
    fault: str | None = None
    keys: Path | None = None

    def __str__(self) -> str:
        """Say in one line what holds shells."""
        if self.sandbox is not None:
            network = "with the network" if self.sandbox.network else "without a network"
            return f"on: shells see the workspace and the system only, {network}"
        return f"off: {f'{self.fault}; ' if self.fault else ''}shells may do all that this user may"

    async def check(self) -> None:
        """Refuse a shell that would give an owner what is others'.

        Raises:
            ShellsRefused: keys have several owners, there is no sandbox, and nobody said that this is well.
        """
        if self.sandbox is None and self.fault is not None and await asyncio.to_thread(self._has_owners):
            raise ShellsRefused(
                f"shells are refused: keys have several owners, and there is no sandbox to keep them apart "
                f"({self.fault}); install bubblewrap, or serve with --sandbox off to let every shell do all "
                "that the host's user may"
            )

    def _has_owners(self) -> bool:
        now = time.time()
        keys = (KeyFile(self.keys).read() if self.keys is not None else None) or []
        return len({key.owner for key in keys if key.is_valid(now)}) > 1

    def shell(
        self,
        words: Sequence[str],
        *,
        folder: Path,
        env: Mapping[str, str],
        write: Sequence[Path],
        read: Sequence[Path],
    ) -> tuple[list[str], dict[str, str]]:
        """Return the command and the environment for a shell; see `Sandbox.shell`."""
        if self.sandbox is None:
            return list(words), dict(env)
        inside = self.sandbox.environment(env)
        return self.sandbox.shell(words, folder=folder, env=inside, write=write, read=read), inside


def confine(
    policy: SandboxPolicy,
    *,
    data: Path,
    workspaces: Path | None,
    fault_of: Callable[[], str | None] = find_fault,
) -> Confinement:
    """Find out what holds shells and programs here. May run a sandbox to try it.

    Raises:
        SandboxUnavailable: sandboxes have to be, and cannot.
    """
    if policy.mode == "off":
        return Confinement(keys=data)
    fault, path = fault_of(), which(BWRAP)
    if fault is None and path is not None:
        base = Sandbox(path, policy.network, _real(policy.read), _real(policy.write))
        own = [] if workspaces is None else [workspaces]
        shells = replace(base, hidden=_real([data, *own]))
        return Confinement(shells, replace(base, hidden=_real([data])), keys=data)
    if policy.mode == "on":
        raise SandboxUnavailable(f"--sandbox on: {fault}; on Debian and Ubuntu: apt-get install bubblewrap")
    return Confinement(fault=fault or "bubblewrap is not installed", keys=data)


def _real(paths: Sequence[Path]) -> tuple[Path, ...]:
    return tuple(path.resolve() for path in paths)
