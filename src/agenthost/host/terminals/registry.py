"""All terminals of a host: made, found, listed, removed, and ended with the host."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, TypedDict, Unpack
from urllib.parse import unquote, urlsplit

from agenthost.core.decisions.terminals import MAX_SIZE
from agenthost.errors import InvalidValue, LimitReached, TerminalExists, TerminalNotFound, UriReserved
from agenthost.host.confinement import Confinement
from agenthost.host.engine import Engine
from agenthost.host.files.grants import Grants
from agenthost.host.files.jail import WRITE
from agenthost.host.terminals.process import Process
from agenthost.host.terminals.shells import Shell, environment, interactive, user_shell
from agenthost.host.terminals.terminal import Hooks, Terminal
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.terminal import TerminalClaim, TerminalInfo, TerminalState
from agenthost.wire.mismatch import quote

COLS, ROWS = 80, 24

TELL_SECONDS = 0.25
"""How often titles change in the root's list, which is durable: a program may change its own all the time."""

FolderOf: TypeAlias = Callable[[str | None, str], Path]
"""Gives the folder of an owner that a URI means, or the one to start in.

Raises `InvalidValue` if it may not be."""

WritableOf: TypeAlias = Callable[[Path, str], Sequence[Path]]
"""Gives what an owner's terminal in this folder may write."""


class Wishes(TypedDict, total=False):
    """How a terminal is to be; all of it may be left out.

    Attributes:
        name: its first title.
        cwd: the folder to start in, as a `file:` URI.
        folder: the same, if whoever asks has seen to it that it may be.
        cols: how wide it is.
        rows: how high it is.
        command: what to run in place of the user's shell: a line for `sh`, or a program and its arguments.
        env: more for its environment.
        owner: whose it is.
        heard: is told of its output.
    """

    name: str | None
    cwd: str | None
    folder: Path | None
    cols: int | None
    rows: int | None
    command: str | Sequence[str] | None
    env: Mapping[str, str]
    owner: str
    heard: Callable[[str], None] | None


def inside(grants: Grants) -> FolderOf:
    """Let terminals start in the owner's workspace and below, all links followed, and nowhere else."""

    def folder_of(uri: str | None, owner: str) -> Path:
        root = grants.folder_of(owner or None)
        folder = root if uri is None else _local_folder(uri)
        if (
            folder is None
            or not folder.is_relative_to(root)
            or grants.is_hidden(owner or None, folder.parts[1:])
        ):
            uri = root.as_uri() if uri is None else uri
            raise InvalidValue("$.cwd", "the file: URI of a folder in the workspace", quote(uri))
        return folder

    return folder_of


def writable(grants: Grants) -> WritableOf:
    """Let terminals write the owner's workspace, and the folder that they are in if the owner may."""

    def paths_of(folder: Path, owner: str) -> list[Path]:
        may_write = grants.jail(owner or None).may(folder.parts[1:], WRITE)
        return [grants.folder_of(owner or None), *([folder] if may_write else [])]

    return paths_of


class Terminals:
    """The terminals of one host. They outlive turns and sessions, but not the host.

    Attributes:
        folder: decides where terminals may start.
        shell: what runs where no command is given; the user's, unless told.
        has_private_input: show keys to nobody but the client that typed them, from the next terminal on. Else
            all who watch see them, as they see every action.
    """

    def __init__(
        self, engine: Engine, *, folder: FolderOf, writable: WritableOf, confinement: Confinement
    ) -> None:
        """Keep terminals in `engine.terminals`, where feeds find them."""
        self.folder = folder
        self._writable = writable
        self._confinement = confinement
        self.shell = user_shell()
        self.has_private_input = False
        self._engine = engine
        self._held = engine.terminals
        self._making: dict[str, str] = {}  # and whose they are
        self._last_number = 0
        self._telling: asyncio.TimerHandle | None = None
        self._is_closed = False

    def __len__(self) -> int:
        return len(self._held)

    def get(self, uri: str) -> Terminal:
        """Give a terminal.

        Raises:
            TerminalNotFound: there is none of that URI.
        """
        terminal = self._held.get(uri)
        if terminal is None:
            raise TerminalNotFound(uri)
        return terminal

    def list(self, owner: str | None = None) -> list[TerminalInfo]:
        """List all terminals, or those of one owner, as the root shows them, oldest first."""
        return [one.info() for one in self._held.values() if owner in (None, one.owner)]

    def is_visible(self, uri: str, owner: str | None) -> bool:
        """Tell whether there is such a terminal, of this owner, or of any."""
        terminal = self._held.get(uri)
        return terminal is not None and owner in (None, terminal.owner)

    def check_visible(self, uri: str, owner: str | None) -> None:
        """Refuse a terminal that is not there, or is somebody else's: no difference is made.

        Raises:
            TerminalNotFound: there is none of that URI, or not of this owner.
        """
        if not self.is_visible(uri, owner):
            raise TerminalNotFound(uri)

    def is_taken(self, uri: str) -> bool:
        """Tell whether a terminal has this URI, or will have it in a moment."""
        return uri in self._held or uri in self._making

    async def create(self, uri: str, claim: TerminalClaim, **wishes: Unpack[Wishes]) -> Terminal:
        """Start a terminal; it is in the root's list when this returns.

        Raises:
            TerminalExists: the URI is in use.
            UriReserved: by another owner, or by something else.
            InvalidValue: a folder that it may not start in, or a size that no terminal has.
            LimitReached: there are as many terminals as there may be.
            ShellsRefused: it would have no sandbox, and there are several owners.
            HostError: it could not be started.
        """
        self._engine.journal.refuse_if_in_trouble()
        owner = wishes.get("owner", "")
        folder = wishes.get("folder") or self.folder(wishes.get("cwd"), owner)
        await self._confinement.check()
        cols, rows = _size("cols", wishes.get("cols"), COLS), _size("rows", wishes.get("rows"), ROWS)
        self._claim(uri, owner)
        try:
            if await asyncio.to_thread(self._engine.storage.find, uri=uri) is not None:
                raise UriReserved(uri)
            await self._make_room(owner)
            terminal = await self._start(uri, claim, wishes, folder, cols, rows)
        finally:
            del self._making[uri]
        self._held[uri] = terminal
        self._tell()
        terminal.begin()
        try:
            self._refuse_if_closed()  # meanwhile
            await self._engine.journal.wait()
        except BaseException:  # nobody knows of it, so nobody would end it
            await self._drop([uri])
            raise
        return terminal

    def _claim(self, uri: str, owner: str) -> None:
        self._refuse_if_closed()
        if uri == ROOT_URI:
            raise UriReserved(uri)
        if self.is_taken(uri):
            held = self._held.get(uri)
            theirs = self._making[uri] if held is None else held.owner
            raise TerminalExists(uri) if theirs == owner else UriReserved(uri)
        self._making[uri] = owner

    def _refuse_if_closed(self) -> None:
        if self._is_closed:
            raise LimitReached("the host is being closed")

    async def _make_room(self, owner: str) -> None:
        """Remove the oldest that have ended and that only a session holds, if there are too many.

        Each owner has so many of its own; who has no owner has all that there may be.
        """
        limits = self._engine.limits
        if owner:
            own = {uri: one for uri, one in self._held.items() if one.owner == owner}
            making = list(self._making.values()).count(owner)
            await self._drop(_superfluous(own, making, limits.terminals_per_owner, "terminals of yours"))
        await self._drop(_superfluous(self._held, len(self._making), limits.terminals, "terminals"))

    async def _start(
        self, uri: str, claim: TerminalClaim, wishes: Wishes, folder: Path, cols: int, rows: int
    ) -> Terminal:
        shell = self._program(wishes.get("command"))
        title = wishes.get("name") or _title(wishes.get("command"), shell)
        env = {**environment(), **shell.env, **wishes.get("env", {})}
        try:
            command, env = self._confined(shell, folder, env, wishes.get("owner", ""))
            process = await Process.start(command, cwd=folder, env=env, cols=cols, rows=rows)
        except BaseException:
            shell.forget()
            raise
        state: TerminalState = {
            "title": title,
            "cwd": folder.as_uri(),
            "cols": cols,
            "rows": rows,
            "content": [],
            "claim": claim,
        }
        self._last_number -= 1
        return Terminal(
            uri,
            self._last_number,
            state,
            process,
            journal=self._engine.journal,
            hub=self._engine.hub,
            scrollback=self._engine.limits.scrollback_characters,
            hooks=Hooks(self._tell_soon, wishes.get("heard"), self.has_private_input),
            shell=shell,
            owner=wishes.get("owner", ""),
        )

    def _confined(
        self, shell: Shell, folder: Path, env: dict[str, str], owner: str
    ) -> tuple[Sequence[str], dict[str, str]]:
        write = self._writable(folder, owner)
        read = [] if shell.folder is None else [shell.folder]
        if not any(folder.is_relative_to(one) for one in write):
            read.append(folder)
        return self._confinement.shell(shell.command, folder=folder, env=env, write=write, read=read)

    def _program(self, command: str | Sequence[str] | None) -> Shell:
        if command is None:
            return interactive(self.shell, os.environ.get("HOME", "/"))
        return Shell(["/bin/sh", "-c", command] if isinstance(command, str) else list(command))

    async def dispose(self, uri: str) -> None:
        """End a terminal, whoever holds it, and remove it.

        Raises:
            TerminalNotFound: there is none of that URI.
        """
        self.get(uri)
        await self._drop([uri])

    async def dispose_of(self, session: str) -> None:
        """Remove the terminals that a session holds: it is being removed itself."""
        await self._drop([uri for uri, one in self._held.items() if one.claim.get("session") == session])

    async def _drop(self, uris: Sequence[str]) -> None:
        """Remove these, side by side; those that went by themselves meanwhile are no matter."""
        terminals = [self._held.pop(uri) for uri in uris if uri in self._held]
        if terminals:
            self._tell()
            await asyncio.gather(*(terminal.leave() for terminal in terminals))

    async def close(self) -> None:
        """End all terminals, side by side, within bounded time. The root of the next start says so."""
        self._is_closed = True
        terminals = tuple(self._held.values())
        self._held.clear()
        if self._telling is not None:
            self._telling.cancel()
        await asyncio.gather(*(terminal.leave() for terminal in terminals))

    def _tell(self) -> None:
        if self._telling is not None:
            self._telling.cancel()
            self._telling = None
        if not self._is_closed:
            self._engine.root.set_terminals(self.list())

    def _tell_soon(self, *, is_urgent: bool) -> None:
        if is_urgent:
            self._tell()
        elif self._telling is None and not self._is_closed:
            self._telling = asyncio.get_running_loop().call_later(TELL_SECONDS, self._tell)


def _superfluous(held: Mapping[str, Terminal], making: int, most: int, what: str) -> list[str]:
    """Return those that have to go for the new ones."""
    excess = len(held) + making - most
    ended = [uri for uri, one in held.items() if one.has_exited and one.claim["kind"] == "session"]
    if excess > len(ended):
        raise LimitReached(f"there are {most} {what} already, and not more are allowed")
    return ended[: max(excess, 0)]


def _local_folder(uri: str) -> Path | None:
    """Give the folder that a `file:` URI means, all links followed, if it is there."""
    try:
        parts = urlsplit(uri)
        folder = Path(unquote(parts.path)).resolve()
        is_local = parts.scheme == "file" and parts.netloc in ("", "localhost") and folder.is_dir()
    except (OSError, RuntimeError, ValueError):
        return None
    return folder if is_local else None


def _size(name: str, wished: int | None, default: int) -> int:
    if wished is not None and not 1 <= wished <= MAX_SIZE:
        raise InvalidValue(f"$.{name}", f"a number from 1 to {MAX_SIZE}", f"{wished}")
    return default if wished is None else wished


def _title(command: str | Sequence[str] | None, shell: Shell) -> str:
    return command[:60] if isinstance(command, str) else Path(shell.command[0]).name
