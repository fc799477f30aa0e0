"""The terminals of a host: created, found, listed, removed, and ended with the host."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, TypedDict, Unpack
from urllib.parse import unquote, urlsplit

from agenthost.core.decisions.terminals import MAX_SIZE
from agenthost.errors import InvalidValue, LimitReached, TerminalExists, TerminalNotFound, UriReserved
from agenthost.host.files.grants import Grants
from agenthost.host.files.jail import WRITE
from agenthost.host.sandbox.policy import Confinement
from agenthost.host.state.engine import Engine
from agenthost.host.state.session_uris import RESERVED
from agenthost.host.state.terminal import TerminalTable
from agenthost.host.terminals.process import Process
from agenthost.host.terminals.shells import Shell, interactive_shell, terminal_environment, user_shell
from agenthost.host.terminals.terminal import Hooks, Terminal
from agenthost.wire.ahp.terminal import TerminalClaim, TerminalInfo, TerminalState
from agenthost.wire.error_messages import quote

COLS, ROWS = 80, 24

UPDATE_SECONDS = 0.25
"""How often titles change in the root's list: it is durable, and programs may change titles all the time."""

ResolveFolder: TypeAlias = Callable[[str | None, str], Path]
"""Returns the folder that a URI names for an owner, or the default one. Raises `InvalidValue`."""

FindWritable: TypeAlias = Callable[[Path, str], Sequence[Path]]
"""Returns the paths that an owner's terminal in this folder may write."""


class TerminalOptions(TypedDict, total=False):
    """Options of a new terminal.

    Attributes:
        name: its first title.
        cwd: the folder to start in, as a `file:` URI.
        folder: the same as a path, if the caller has checked that it is allowed.
        cols: its width.
        rows: its height.
        command: what to run instead of the user's shell: a line for `sh`, or a program and its arguments.
        env: additional variables for its environment.
        owner: whose it is.
        on_output: called with its output.
    """

    name: str | None
    cwd: str | None
    folder: Path | None
    cols: int | None
    rows: int | None
    command: str | Sequence[str] | None
    env: Mapping[str, str]
    owner: str
    on_output: Callable[[str], None] | None


def start_folders(grants: Grants) -> ResolveFolder:
    """Let terminals start in the owner's workspace and below, with links resolved, and nowhere else."""

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


def writable_paths(grants: Grants) -> FindWritable:
    """Let terminals write to the owner's workspace, and to their own folder if the owner may."""

    def paths_of(folder: Path, owner: str) -> list[Path]:
        may_write = grants.jail(owner or None).may(folder.parts[1:], WRITE)
        return [grants.folder_of(owner or None), *([folder] if may_write else [])]

    return paths_of


class Terminals:
    """The terminals of one host. They outlive turns and sessions, but not the host.

    Attributes:
        folder: decides where terminals may start.
        shell: what runs if no command is given; by default the user's shell.
        has_private_input: whether input is shown only to the client that typed it, in new terminals.
            Otherwise all subscribers see it, like every action.
    """

    def __init__(
        self,
        engine: Engine,
        table: TerminalTable[Terminal],
        *,
        folder: ResolveFolder,
        writable: FindWritable,
        confinement: Confinement,
    ) -> None:
        """Keep terminals in `table`, by URI. The engine and the dispatcher find them there too."""
        self.folder = folder
        self._writable = writable
        self._confinement = confinement
        self.shell = user_shell()
        self.has_private_input = False
        self._engine = engine
        self._held = table
        self._making = table.making
        self._last_number = 0
        self._update_timer: asyncio.TimerHandle | None = None
        self._is_closed = False

    def __len__(self) -> int:
        return len(self._held)

    def get(self, uri: str) -> Terminal:
        """Return a terminal.

        Raises:
            TerminalNotFound: there is none with that URI.
        """
        terminal = self._held.get(uri)
        if terminal is None:
            raise TerminalNotFound(uri)
        return terminal

    def list(self, owner: str | None = None) -> list[TerminalInfo]:
        """List all terminals, or those of one owner, as the root shows them, oldest first."""
        return [one.info() for one in self._held.values() if owner in (None, one.owner)]

    def is_visible(self, uri: str, owner: str | None) -> bool:
        """Return whether this owner can see such a terminal; `None` sees all."""
        terminal = self._held.get(uri)
        return terminal is not None and owner in (None, terminal.owner)

    def check_visible(self, uri: str, owner: str | None) -> None:
        """Refuse a terminal that does not exist, or belongs to another owner.

        Raises:
            TerminalNotFound: the same for both, so that owners learn nothing about each other.
        """
        if not self.is_visible(uri, owner):
            raise TerminalNotFound(uri)

    def is_taken(self, uri: str) -> bool:
        """Return whether a terminal has this URI, or is starting with it."""
        return uri in self._held or uri in self._making

    async def create(self, uri: str, claim: TerminalClaim, **options: Unpack[TerminalOptions]) -> Terminal:
        """Start a terminal. It is in the root's list when this returns.

        Raises:
            TerminalExists: the URI is in use.
            UriReserved: the URI is in use by another owner, or by something else.
            InvalidValue: it may not start in this folder, or the size is out of range.
            LimitReached: there are too many terminals.
            ShellsRefused: it would have no sandbox, and there are several owners.
            HostError: it could not be started.
        """
        self._engine.journal.refuse_if_in_trouble()
        owner = options.get("owner", "")
        folder = options.get("folder") or self.folder(options.get("cwd"), owner)
        await self._confinement.check()
        cols, rows = _size("cols", options.get("cols"), COLS), _size("rows", options.get("rows"), ROWS)
        self._claim(uri, owner)
        try:
            if await asyncio.to_thread(self._engine.storage.find, uri=uri) is not None:
                raise UriReserved(uri)
            await self._make_room(owner)
            terminal = await self._start(uri, claim, options, folder, cols, rows)
        finally:
            del self._making[uri]
        self._held[uri] = terminal
        self._update_root()
        terminal.start()
        try:
            self._refuse_if_closed()  # the host may have closed in between
            await self._engine.journal.wait()
        except BaseException:  # nobody knows of it yet, so nobody else would end it
            await self._drop([uri])
            raise
        return terminal

    def _claim(self, uri: str, owner: str) -> None:
        self._refuse_if_closed()
        if uri in RESERVED:
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
        """Remove the oldest terminals that have ended and are held by a session, if there are too many.

        There is a limit for each owner, and one for all.
        """
        limits = self._engine.limits
        if owner:
            own = {uri: one for uri, one in self._held.items() if one.owner == owner}
            making = list(self._making.values()).count(owner)
            await self._drop(_to_evict(own, making, limits.terminals_per_owner, "terminals of yours"))
        await self._drop(_to_evict(self._held, len(self._making), limits.terminals, "terminals"))

    async def _start(
        self, uri: str, claim: TerminalClaim, options: TerminalOptions, folder: Path, cols: int, rows: int
    ) -> Terminal:
        shell = self._program(options.get("command"))
        title = options.get("name") or _title(options.get("command"), shell)
        env = {**terminal_environment(), **shell.env, **options.get("env", {})}
        try:
            command, env = self._confined(shell, folder, env, options.get("owner", ""))
            process = await Process.start(command, cwd=folder, env=env, cols=cols, rows=rows)
        except BaseException:
            shell.remove_script()
            raise
        state: TerminalState = {
            "title": title,
            "cwd": folder.as_uri(),
            "cols": cols,
            "rows": rows,
            "content": [],
            "claim": claim,
            "isPty": True,
            "lifecycle": {"status": "running"},
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
            hooks=Hooks(self._update_root_soon, options.get("on_output"), self.has_private_input),
            shell=shell,
            owner=options.get("owner", ""),
        )

    def _confined(
        self, shell: Shell, folder: Path, env: dict[str, str], owner: str
    ) -> tuple[Sequence[str], dict[str, str]]:
        write = self._writable(folder, owner)
        read = [] if shell.folder is None else [shell.folder]
        if not any(folder.is_relative_to(one) for one in write):
            read.append(folder)
        return self._confinement.shell_command(shell.command, folder=folder, env=env, write=write, read=read)

    def _program(self, command: str | Sequence[str] | None) -> Shell:
        if command is None:
            return interactive_shell(self.shell, os.environ.get("HOME", "/"))
        return Shell(["/bin/sh", "-c", command] if isinstance(command, str) else list(command))

    async def dispose(self, uri: str) -> None:
        """End a terminal, whoever holds it, and remove it.

        Raises:
            TerminalNotFound: there is none with that URI.
        """
        self.get(uri)
        await self._drop([uri])

    async def dispose_held_by(self, session: str) -> None:
        """Remove the terminals that a session or a further chat holds, because it is being removed itself."""
        await self._drop(
            [
                uri
                for uri, one in self._held.items()
                if session in (one.claim.get("session"), one.claim.get("chat"))
            ]
        )

    def move_claims(self, chat: str, session: str) -> None:
        """Let the terminals that a chat holds belong to the session that it has moved to."""
        for one in self._held.values():
            claim = one.claim
            if claim["kind"] == "session" and claim["chat"] == chat:
                one.set_claim({**claim, "session": session})

    async def _drop(self, uris: Sequence[str]) -> None:
        """Remove these terminals concurrently. Those that are gone already are skipped."""
        terminals = [self._held.pop(uri) for uri in uris if uri in self._held]
        if terminals:
            self._update_root()
            await asyncio.gather(*(terminal.remove() for terminal in terminals))

    async def close(self) -> None:
        """End all terminals concurrently, within bounded time. The root is updated at the next start."""
        self._is_closed = True
        terminals = tuple(self._held.values())
        self._held.clear()
        if self._update_timer is not None:
            self._update_timer.cancel()
        await asyncio.gather(*(terminal.remove() for terminal in terminals))

    def _update_root(self) -> None:
        if self._update_timer is not None:
            self._update_timer.cancel()
            self._update_timer = None
        if not self._is_closed:
            self._engine.root.set_terminals(self.list())

    def _update_root_soon(self, *, is_urgent: bool) -> None:
        if is_urgent:
            self._update_root()
        elif self._update_timer is None and not self._is_closed:
            self._update_timer = asyncio.get_running_loop().call_later(UPDATE_SECONDS, self._update_root)


def _to_evict(held: Mapping[str, Terminal], making: int, most: int, what: str) -> list[str]:
    """Return the URIs of those that have to make room for new ones."""
    excess = len(held) + making - most
    ended = [uri for uri, one in held.items() if one.has_exited and one.claim["kind"] == "session"]
    if excess > len(ended):
        raise LimitReached(f"there are {most} {what} already, and no more are allowed")
    return ended[: max(excess, 0)]


def _local_folder(uri: str) -> Path | None:
    """Return the folder that a `file:` URI names, with links resolved; `None` if there is none."""
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
