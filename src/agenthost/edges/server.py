"""The server: listens, opens the host, prints where it is, and stops in order. Knows no protocol.

uvicorn does HTTP and WebSocket. The event loop, signals and the order of start and stop are ours: the port is
bound first, and health checks are answered while the host opens. To stop, the server accepts nothing more,
ends connections, and the host writes what is left.
"""

import asyncio
import contextlib
import errno
import gc
import logging
import shlex
import socket
import sys
from collections.abc import Coroutine, Sequence
from contextlib import ExitStack
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import uvicorn
from starlette.routing import BaseRoute

from agenthost.edges.access import Access
from agenthost.edges.ahp.peers import Peers
from agenthost.edges.ahp.stdio import serve_stdio, take_streams
from agenthost.edges.ahp.wire_log import WireLog
from agenthost.edges.app import META_PATHS, App
from agenthost.edges.connections import Connections
from agenthost.edges.console import fail, fill_standard_streams, first_key, say, welcome
from agenthost.edges.cors import Cors
from agenthost.edges.health import Phase
from agenthost.edges.http_protocol import HttpProtocol
from agenthost.edges.page import Page
from agenthost.edges.rates import Rates
from agenthost.edges.shutdown import Stopper, end_within
from agenthost.edges.websocket_protocol import WebSocketProtocol
from agenthost.errors import SandboxUnavailable, StorageError, StoreTaken
from agenthost.host.access.keys import KeyRing, Keys
from agenthost.host.access.token_file import TOKEN, SharedToken, Token, TokenFile
from agenthost.host.cluster.websocket import PeerOptions
from agenthost.host.host import Host
from agenthost.host.sandbox.environment import forbid_inspection, hide_argument, hide_secrets
from agenthost.host.storage.data_folder import mode_for_others
from agenthost.locations import server_note
from agenthost.logs import set_up
from agenthost.settings import (
    MAX_BODY,
    MAX_CONNECTIONS,
    SETTINGS,
    Settings,
    SettingsError,
    as_argument,
    is_loading,
    read_settings,
)

__all__ = ["CannotServe", "listen", "serve"]

log = logging.getLogger("agenthost.server")

BACKLOG = 2048

CONNECTIONS_SECONDS = 2
"""How long responses may still take once the server stops. Then they are cut off."""

HOST_SECONDS = 6.0
"""How long the host may take to close. Its journal waits up to five for a slow disk."""

DRAIN_SECONDS = 10
"""How long turns may still run, if other nodes serve the clients meanwhile."""

LOOK_SECONDS = 0.05

TAKEN_SECONDS = 1.0
"""How long the host may take to close if another process has taken over its store."""

TAKEN = 75
"""The exit code then: that of a temporary failure. A supervisor starts the server again."""

GARBAGE_OBJECTS = 20_000
"""How many new objects trigger the garbage collector. Python's default is 700."""


class CannotServe(Exception):
    """The server cannot start or continue; the message says why."""


def serve(host: Host, settings: Settings | None = None, /, **given: Any) -> None:
    """Serve a host until Ctrl-C or SIGTERM. Blocks.

    Without `settings`, keyword arguments (`port=8787`) override the environment. Settings of the host itself,
    such as its data folder, are not accepted here. While a file is only loaded for its agents (`is_loading`),
    this does nothing.

    Raises:
        SystemExit: it cannot serve. The reason was printed to the standard error.
    """
    if is_loading.get():
        return
    fill_standard_streams()
    settings = settings or _read_settings(given)
    set_up(settings.log_format, settings.log_level)
    if not settings.terminals:
        host.off |= {"terminals"}
    hide_secrets([settings.key_env] if settings.key_env else [])
    if host.store is not None:
        hide_argument(host.store.password)
    forbid_inspection()
    try:
        with (
            Stopper(_longest_drain(host, settings)) as stopper,
            asyncio.Runner(loop_factory=_new_loop) as runner,
        ):
            is_closed = runner.run(ServerRun(host, settings, stopper).run())
    except StoreTaken as error:
        end_within(TAKEN_SECONDS, lambda: TAKEN)  # whatever still runs has nothing to write to
        fail(str(error), code=TAKEN)
    except (CannotServe, SandboxUnavailable, StorageError) as error:
        fail(str(error))
    if not is_closed:
        raise SystemExit(1)


def _read_settings(given: dict[str, Any]) -> Settings:
    for name in given:
        if name in SETTINGS and SETTINGS[name].host_argument:
            fail(f"{name}: pass this to the host itself: Host({SETTINGS[name].host_argument})", code=2)
    try:
        return read_settings(given, spelling=as_argument)
    except SettingsError as error:
        fail(str(error), code=2)


def _longest_drain(host: Host, settings: Settings) -> float:
    if settings.drain is not None:
        return settings.drain
    return 0 if host.store is None else DRAIN_SECONDS


def _new_loop() -> asyncio.AbstractEventLoop:
    if sys.platform == "win32":
        return asyncio.new_event_loop()
    import uvloop  # noqa: PLC0415 - there is none for Windows

    return uvloop.new_event_loop()


class ServerRun:
    """One run of a server, from binding the port to closing the host."""

    def __init__(self, host: Host, settings: Settings, stopper: Stopper) -> None:
        self._host = host
        self._settings = settings
        self._stopper = stopper

    async def run(self) -> bool:
        """Serve until told to stop. Return whether the host was closed properly.

        Raises:
            CannotServe: the port cannot be bound, or an agent cannot start.
            StorageError: the store cannot be opened.
        """
        settings = self._settings
        if settings.stdio:
            return await self._run_on_stdio()
        with ExitStack() as stack:
            return await self._run_on_socket(stack)

    async def _run_on_socket(self, stack: ExitStack) -> bool:
        settings = self._settings
        keys = self._keys(stack)
        advice = first_key(self._host.data, self._host.store)
        listener = listen(settings.host, settings.port, has_keys=keys.has_keys, advice=advice)
        self._leave_note(stack, listener, keys)
        self._host.lease = settings.lease
        self._host.peer_options = PeerOptions(
            settings.node_url or _node_url(listener), settings.peer_ca, settings.peer_plain
        )
        app = _app(self._host, settings, keys, _names(listener, settings.host))
        server = _Server(_config(app, settings.max_body, settings.max_connections))
        running = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            await _wait_unless_ended(server.listening.wait(), running)
            await self._open()
        except BaseException:
            await _end(app, server, running)
            raise
        try:
            app.phase = Phase.READY
            _tune_garbage_collection()
            if not self._stopper.is_stopping:
                say(welcome(_url(listener), self._host, keys))
            await _wait_unless_ended(self._wait_stop(), running)
            await _wait_unless_ended(self._drain(app), running)
        finally:
            log.info("stopping; Ctrl-C again ends at once")
            await _end(app, server, running)
            is_closed = await self._close()
        return is_closed

    def _keys(self, stack: ExitStack) -> Keys:
        """Return the keys of the server, with the token unless authentication is switched off."""
        stack.callback(self._host.close_documents)
        ring = self._host.key_ring()
        keys = Keys(ring)
        if self._settings.no_auth and not keys.has_keys:
            return self._watched(ring, None)
        if self._settings.no_auth:
            log.warning("no_auth is ignored, because there are API keys")
        token = self._token(stack)
        if not keys.has_keys:
            token.make()
        return self._watched(ring, token)

    def _token(self, stack: ExitStack) -> Token:
        host = self._host
        if host.data is not None and host.store is None:
            return TokenFile(host.data / TOKEN)
        path = Path(stack.enter_context(TemporaryDirectory(prefix="agenthost-"))) / TOKEN
        return TokenFile(path) if host.store is None else SharedToken(host.documents().document(TOKEN), path)

    def _watched(self, ring: KeyRing | None, token: Token | None) -> Keys:
        if self._host.store is not None:
            self._host.documents().watch()
        return Keys(ring, token)

    def _leave_note(self, stack: ExitStack, listener: socket.socket, keys: Keys) -> None:
        """Leave a note with which clients of the same user find the token."""
        if keys.token_path is None:
            return
        try:
            host, port = listener.getsockname()[:2]
            stack.enter_context(server_note(host, port, keys.token_path))
        except (LookupError, OSError) as error:
            log.warning("clients on this machine will not find the token automatically: %s", error)

    async def _run_on_stdio(self) -> bool:
        """Serve the one client on the standard streams until it disconnects, or we are told to stop."""
        peers, wire, max_line = Peers(), _wire_log(self._settings, self._host), self._settings.max_body
        await self._open()
        serving = serve_stdio(self._host, peers, take_streams(), max_line=max_line, wire=wire)
        client = asyncio.create_task(serving)
        try:
            await _wait_first(self._wait_stop(), client)
            peers.stop()
            await client
        finally:
            is_closed = await self._close()
        return is_closed

    async def _wait_stop(self) -> None:
        """Wait until told to stop, or until another process has taken over the store.

        Raises:
            StoreTaken: it has.
        """
        told = [asyncio.create_task(self._stopper.wait()), asyncio.create_task(self._host.leaving.wait())]
        waited: set[asyncio.Future[Any]] = {*told, *([] if self._host.taken is None else [self._host.taken])}
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in told:
                task.cancel()
        self._check_taken()
        if not self._stopper.is_stopping:
            self._stopper.stop()

    async def _drain(self, app: App) -> None:
        """Let turns end by themselves for a while. Until then the server serves, and is not ready.

        Raises:
            StoreTaken: another process has taken over the store meanwhile.
        """
        seconds = self._settings.drain
        if seconds is None:
            seconds = DRAIN_SECONDS if self._host.has_other_nodes else 0
        if seconds and (count := self._host.busy_turns):
            app.phase = Phase.DRAINING
            log.info("%d turns may still run for %d s; Ctrl-C again ends at once", count, seconds)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    while self._host.busy_turns and not self._is_taken:  # noqa: ASYNC110
                        await asyncio.sleep(LOOK_SECONDS)
        self._stopper.drained()
        self._check_taken()

    def _check_taken(self) -> None:
        if self._host.taken is not None and self._host.taken.done():
            raise self._host.taken.result()

    @property
    def _is_taken(self) -> bool:
        return self._host.taken is not None and self._host.taken.done()

    async def _open(self) -> None:
        try:
            await self._host.__aenter__()
        except (SandboxUnavailable, StorageError):
            raise
        except Exception as error:
            log.exception("the host could not be opened")
            raise CannotServe("the host could not be opened; the log says why") from error
        _warn_of_others(self._host.data)

    async def _close(self) -> bool:
        try:
            async with asyncio.timeout(self._seconds_to_close()):
                await self._host.__aexit__(None, None, None)
        except TimeoutError:
            log.error("the host could not be closed in %.0f seconds; what was shown is safe", HOST_SECONDS)  # noqa: TRY400
            return False
        except Exception:
            log.exception("the host could not be closed properly")
            return False
        self._stopper.exit_code = 0
        return True

    def _seconds_to_close(self) -> float:
        """Return how long the host may take to close. If its store was taken over, nothing can be written."""
        return TAKEN_SECONDS if self._is_taken else HOST_SECONDS


def _warn_of_others(data: Path | None) -> None:
    """Warn if anyone but its owner can access the data folder."""
    with contextlib.suppress(OSError):
        if data is not None and (mode := mode_for_others(data)):
            quoted = shlex.quote(str(data))
            log.warning(
                "others on this machine can access the data folder (mode %s): chmod 700 %s", mode, quoted
            )


def _tune_garbage_collection() -> None:
    """Collect garbage less often, and ignore everything that was loaded so far: it stays.

    Turns create and drop many small objects, hardly ever in cycles. The default took a tenth of the time.
    """
    gc.freeze()
    gc.set_threshold(GARBAGE_OBJECTS, 20, 20)


async def _end(app: App, server: "_Server", running: asyncio.Task[None]) -> None:
    """Accept no more connections, and end those that are open."""
    app.phase = Phase.STOPPING
    app.stopping.set()
    server.should_exit = True
    await asyncio.wait({running})


async def _wait_first(wanted: Coroutine[Any, Any, object], task: asyncio.Task[None]) -> None:
    """Wait for either of these. The task goes on if it is not the first."""
    waiting = asyncio.create_task(wanted)
    try:
        await asyncio.wait({waiting, task}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    if waiting.done():
        waiting.result()  # raises what it raised


async def _wait_unless_ended(wanted: Coroutine[Any, Any, object], running: asyncio.Task[None]) -> None:
    """Wait for this.

    Raises:
        CannotServe: the server ended first.
    """
    await _wait_first(wanted, running)
    if running.done():
        running.result()
        raise CannotServe("the server ended by itself")


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers, and with an event for when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until `should_exit`."""
        await self._serve(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and set the event."""
        await super().startup(sockets=sockets)
        self.listening.set()


def _config(app: App, max_size: int = MAX_BODY, max_connections: int = MAX_CONNECTIONS) -> uvicorn.Config:
    protocol: Any = partial(HttpProtocol, connections=Connections(max_connections))
    return uvicorn.Config(
        app,
        loop="none",
        http=protocol,
        ws=WebSocketProtocol,
        ws_max_size=max_size,
        ws_per_message_deflate=False,  # it would triple the memory of an idle connection
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        workers=1,
        timeout_graceful_shutdown=CONNECTIONS_SECONDS,
    )


def _app(
    host: Host,
    settings: Settings,
    keys: Keys,
    names: set[str],
    extra: Sequence[BaseRoute] = (),
    page: Page | None = None,
) -> App:
    public = (META_PATHS if settings.public_meta else frozenset()) | (
        {"/metrics"} if settings.public_metrics else set()
    )
    return App(
        host,
        names,
        extra,
        allowed=settings.allowed_hosts,
        access=Access(keys, public, host.off),
        cors=Cors(settings.cors_origins),
        rates=Rates(settings.rate),
        max_body=settings.max_body,
        wire=_wire_log(settings, host),
        page=page,
    )


def _wire_log(settings: Settings, host: Host) -> WireLog | None:
    try:
        return None if settings.wire_log is None else WireLog(settings.wire_log, host.secret_names)
    except OSError as error:
        raise CannotServe(f"cannot write to {settings.wire_log}: {error.strerror}") from None


def listen(host: str, port: int, *, has_keys: bool = False, advice: str = "create one") -> socket.socket:
    """Bind a port on the loopback interface; if there are keys, on any address.

    `advice` says how to create a first key.

    Raises:
        CannotServe: it cannot be bound, or others could reach it without a key.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise CannotServe(f"cannot listen on {host!r}: there is no such address; try 127.0.0.1") from None
    # Only one address, because with port 0 each would get a different port. IPv4 is what clients try first.
    family, _, _, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
    if not has_keys and not ip_address(address[0]).is_loopback:
        raise CannotServe(
            f"cannot listen on {host!r}: others could reach it there, and there are no API keys yet to tell "
            f"who may; {advice}, or listen on 127.0.0.1"
        )
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise CannotServe(_explain(host, port, error)) from None
    return listener


def _explain(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        help_ = "stop what listens there, or choose another port (0 takes any that is free)"
        return f"port {port} on {host} is in use; {help_}"
    if error.errno == errno.EACCES:
        return f"port {port} on {host} is not for this user; choose one above 1023"
    return f"cannot listen on port {port} of {host}: {error.strerror or error}"


def _url(listener: socket.socket) -> str:
    address, port = listener.getsockname()[:2]
    return f"http://{f'[{address}]' if ':' in address else address}:{port}"


def _node_url(listener: socket.socket) -> str:
    """Return where other nodes reach this server, unless a setting says it."""
    address, port = listener.getsockname()[:2]
    return f"http://{socket.gethostname()}:{port}" if ip_address(address).is_unspecified else _url(listener)


def _names(listener: socket.socket, given: str) -> set[str]:
    """Return the names of this machine that a `Host` header may have."""
    bound = _url(listener).removeprefix("http://").rpartition(":")[0]
    return {"localhost", "127.0.0.1", "[::1]", bound, given}
