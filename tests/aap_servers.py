"""AAP servers for the tests of the client: ours, with the demo agent, and one that does what none should."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from agenthost.wire.aap.event import encode_event
from agenthost.wire.json import encode_json
from serving import serving, wait_ready

TIMEOUT = 30


@contextmanager
def demo_server(folder: Path) -> Iterator[str]:
    """Run the demo agent in a process of its own; returns the URL without the path of a protocol."""
    workspace = folder / "workspace"
    workspace.mkdir()
    with serving("--data", folder / "data", "--workspace", workspace) as served:
        url = served.wait_url()
        wait_ready(url)
        yield url


META: Any = {
    "version": 3,
    "agents": [{"name": "odd", "version": "1", "capabilities": {"stream": {"delta": {}, "none": {}}}}],
}
STOP: Any = {"event": "turn_stop", "stopReason": "end_turn"}
START: Any = {"event": "turn_start"}


def answer(body: Any, status: str = "200 OK", **headers: str) -> list[bytes]:
    """Return a whole answer, of JSON or of bytes; a name with `_` in it becomes a header with `-`."""
    data = body if isinstance(body, bytes) else encode_json(body)
    fields = {"content-type": "application/json", "content-length": str(len(data))}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [
        f"HTTP/1.1 {status}",
        *(f"{name}: {value}" for name, value in fields.items()),
        "connection: close",
    ]
    return ["\r\n".join(lines).encode() + b"\r\n\r\n", data]


def stream(*events: Any) -> list[bytes]:
    """Return a stream of events, or of bytes, that ends when the connection does."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    return [head, *(event if isinstance(event, bytes) else encode_event(event) for event in events)]


HANG = b"(hang)"
"""In an answer: say nothing more until the server is closed."""

CUT = b"(cut)"
"""In an answer: break the connection off, so that the other side hears of it."""

LEAVE = b"(leave)"
"""In an answer: say nothing more until the client has left, and note that it has."""

PAUSE = b"(pause)"
"""In an answer: say nothing for a fifth of a second."""


class OddServer:
    """A server that answers as it is told, by method and path; the last answer of each is given again."""

    def __init__(self, **answers: Sequence[list[bytes]]) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self._answers = {key: list(told) for key, told in answers.items()}
        self._closed = threading.Event()
        self.left = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def asked(self) -> list[str]:
        """Return the requests that came, as method and path."""
        return [line for line, _, _ in self.requests]

    def close(self) -> None:
        self._closed.set()
        self._listener.shutdown(socket.SHUT_RDWR)  # wakes who waits for the next connection
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(TIMEOUT)
            request = _read_request(connection)
            for piece in self._told(request) if request[0] else []:  # else it left without a word
                if piece == HANG:
                    self._closed.wait(TIMEOUT)
                elif piece == LEAVE:
                    while connection.recv(65536):
                        pass
                    self.left.set()
                elif piece == PAUSE:
                    self._closed.wait(0.2)
                elif piece == CUT:
                    # With this, closing resets the connection instead of ending it in order.
                    connection.setsockopt(
                        socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00"
                    )
                    return
                else:
                    connection.sendall(piece)

    def _told(self, request: tuple[str, dict[str, str], bytes]) -> list[bytes]:
        self.requests.append(request)
        method, path = request[0].split(" ")
        name = f"{method}_{path.partition('?')[0].strip('/').replace('/', '_')}".lower()
        told = self._answers.get(name)
        if not told:
            return answer({"error": {"code": "not_found", "message": "nothing here"}}, "404 Not Found")
        return told.pop(0) if len(told) > 1 else told[0]


def _read_request(connection: socket.socket) -> tuple[str, dict[str, str], bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536) or b"\r\n\r\n"
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65536)
    return first.rpartition(" ")[0], headers, body


@contextmanager
def odd_server(meta: Any = META, **answers: Sequence[list[bytes]]) -> Iterator[OddServer]:
    """Run a server that answers as it is told: `post_sessions=[answer(…)]` for `POST /sessions`."""
    told: dict[str, Sequence[list[bytes]]] = {"get_meta": [answer(meta)]}
    told["post_sessions"] = [answer({"sessionId": "s1"}, "201 Created")]
    server = OddServer(**{**told, **answers})
    try:
        yield server
    finally:
        server.close()
