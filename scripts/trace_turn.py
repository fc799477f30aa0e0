"""Trace a turn through the host, function by function: `.venv/bin/python scripts/trace_turn.py`.

Counts the calls of functions under `src/agenthost`, in all threads of a warm host, for three things:

- `aap`: a turn over AAP in which the agent speaks, calls a trusted tool and speaks again;
- `ahp`: `chat/turnStarted` over AHP 1.0, with two subscribers of the session and its chat;
- `ahp-0.1`: `session/turnStarted` over AHP 0.1, in a session with two subscribers.

A trace starts with the call of the ASGI application, or with the frame that it receives, and ends when the
last commit is done and nothing more happens. The median of several traces is shown. Resuming a coroutine or a
generator counts as a call; a comprehension does not, as newer Pythons do not call it. `--steps` prints the
calls in order instead of the table by file.
"""

import argparse
import asyncio
import itertools
import json
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import agenthost
from agenthost import Host, Turn
from agenthost.edges.app import App
from agenthost.edges.health import Phase
from agenthost.wire.ahp import ROOT_URI

SOURCE = Path(agenthost.__file__).parent
COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>"}
WARM_UP = 5
TRACES = 9
QUIET_SECONDS = 0.1
TIMEOUT = 20

Story = Callable[[], Awaitable[None]]


class Tracer:
    """Notes calls of our functions while it is on, in every thread that starts after it."""

    def __init__(self) -> None:
        self.is_on = False
        self._calls: list[CodeType] = []
        self._ours: dict[CodeType, bool] = {}
        # Python 3.11 cannot set it for threads that run already, so it is there from the beginning.
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def _note(self, frame: FrameType, event: str, _argument: Any) -> None:
        if not self.is_on or event != "call":
            return
        code = frame.f_code
        is_ours = self._ours.get(code)
        if is_ours is None:
            is_ours = self._ours[code] = _is_ours(code)
        if is_ours:
            self._calls.append(code)

    async def trace(self, story: Story) -> list[CodeType]:
        """Return the calls from the start of a story until nothing more happens."""
        self._calls = []
        self.is_on = True
        await story()
        seen = -1
        while len(self._calls) != seen:  # what is not awaited by the client: commits, and what follows them
            seen = len(self._calls)
            await asyncio.sleep(QUIET_SECONDS)
        self.is_on = False
        return self._calls


class Client:
    """A peer of the ASGI application in the same process. Over a WebSocket it speaks AHP."""

    def __init__(self, app: App, name: str = "", hello: Any = None) -> None:
        self._app = app
        self._hello = {**(hello or {}), "clientId": name}
        self._inbox: asyncio.Queue[Any] = asyncio.Queue()
        self._outbox: asyncio.Queue[Any] = asyncio.Queue()
        self._ids = itertools.count(1)

    def _scope(self, kind: str, path: str) -> dict[str, Any]:
        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        scope = {"type": kind, "asgi": {"version": "3.0"}, "http_version": "1.1", "path": path}
        ends = {"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2), "scheme": "http"}
        return {**scope, **ends, "raw_path": path.encode(), "query_string": b"", "headers": headers}

    async def post(self, path: str, body: Any) -> bytes:
        """Send a request, and return the body of the answer."""
        received: list[bytes] = []
        messages = iter([{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}])

        async def receive() -> Any:
            return next(messages, None) or await asyncio.Event().wait()

        async def send(message: Any) -> None:
            received.append(message.get("body", b""))

        await self._app({**self._scope("http", path), "method": "POST"}, receive, send)
        return b"".join(received)

    @asynccontextmanager
    async def connected(self) -> AsyncIterator["Client"]:
        """Open a WebSocket, and say who we are."""
        scope = {**self._scope("websocket", "/ahp"), "subprotocols": []}
        self._inbox.put_nowait({"type": "websocket.connect"})
        serving = asyncio.ensure_future(self._app(scope, self._inbox.get, self._outbox.put))
        await self._outbox.get()  # it is accepted
        await self.request("initialize", **self._hello)
        yield self
        self._inbox.put_nowait({"type": "websocket.disconnect", "code": 1000})
        await serving

    def tell(self, method: str, **params: Any) -> None:
        """Send a notification."""
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self._inbox.put_nowait({"type": "websocket.receive", "text": json.dumps(message)})

    async def request(self, method: str, **params: Any) -> Any:
        """Ask, and return the result."""
        number = next(self._ids)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self._inbox.put_nowait({"type": "websocket.receive", "text": json.dumps(message)})
        answer = await self.receive(lambda frame: frame.get("id") == number)
        if "error" in answer:
            sys.exit(f"{method}: {answer['error']['message']}")
        return answer["result"]

    async def see(self, kind: str) -> Any:
        """Wait for an action of this type, and return it."""
        frame = await self.receive(lambda one: _action_of(one).get("type") == kind)
        return _action_of(frame)

    async def receive(self, is_wanted: Callable[[Any], bool]) -> Any:
        """Wait for a frame, and return it; those before it are passed over."""
        async with asyncio.timeout(TIMEOUT):
            while True:
                frame = json.loads((await self._outbox.get())["text"])
                if is_wanted(frame):
                    return frame


def _is_ours(code: CodeType) -> bool:
    return code.co_name not in COMPREHENSIONS and Path(code.co_filename).is_relative_to(SOURCE)


def _action_of(frame: Any) -> Any:
    return frame["params"]["action"] if frame.get("method") == "action" else {}


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def host_in(folder: Path, go_on: asyncio.Event) -> Host:
    """Return a host with an agent for each trace."""
    host = Host(data=folder, workspace=folder, sandbox="off")

    @host.agent("adder", tools=[add])
    async def adder(turn: Turn) -> None:
        await turn.say("One moment. ")
        await turn.say(f"It is {await turn.call('add', a=1, b=2)}.")

    @host.agent("patient")
    async def patient(_turn: Turn) -> None:
        await go_on.wait()

    return host


async def trace_aap(app: App, tracer: Tracer) -> list[list[CodeType]]:
    """Trace turns with a trusted tool."""
    client = Client(app)
    agent = {"name": "adder", "tools": [{"name": "add", "trust": True}]}
    session = json.loads(await client.post("/aap/sessions", {"agent": agent}))["sessionId"]
    body = {"messages": [{"role": "user", "content": "Add"}], "stream": "delta"}

    async def turn() -> None:
        answer = await client.post(f"/aap/sessions/{session}/turns", body)
        if b"It is 3." not in answer or b"end_turn" not in answer:
            sys.exit(f"the turn went wrong: {answer.decode()}")

    for _ in range(WARM_UP):
        await turn()
    return [await tracer.trace(turn) for _ in range(TRACES)]


class Dialect(NamedTuple):
    """How a client of a version of AHP follows a session and starts turns in it."""

    hello: Any
    subject: str
    scope: str
    follow: Callable[[Client, str], Awaitable[str]]
    start: Callable[[str, str], Any]


async def follow_chat(client: Client, session: str) -> str:
    """Subscribe to a session and to its chat; returns the chat."""
    found = await client.request("subscribe", channel=session)
    chat: str = found["snapshot"]["state"]["defaultChat"]
    await client.request("subscribe", channel=chat)
    return chat


async def follow_session(client: Client, session: str) -> str:
    """Subscribe to a session of AHP 0.1; returns it."""
    await client.request("subscribe", resource=session)
    return session


def start_in_chat(chat: str, turn: str) -> Any:
    """Return what starts a turn."""
    message = {"text": "Begin", "origin": {"kind": "user"}}
    times = {"startedAt": "2026-01-01T00:00:00.000Z"}
    return {
        "channel": chat,
        "action": {"type": "chat/turnStarted", "turnId": turn, **times, "message": message},
    }


def start_in_session(session: str, turn: str) -> Any:
    """Return what starts a turn of AHP 0.1."""
    message = {"userMessage": {"text": "Begin"}}
    return {"action": {"type": "session/turnStarted", "session": session, "turnId": turn, **message}}


DIALECTS = {
    "ahp": Dialect(
        {"channel": ROOT_URI, "protocolVersions": ["1.0.0"]}, "channel", "chat", follow_chat, start_in_chat
    ),
    "ahp-0.1": Dialect(
        {"protocolVersions": ["0.1.0"]}, "session", "session", follow_session, start_in_session
    ),
}


async def trace_ahp(app: App, tracer: Tracer, go_on: asyncio.Event, dialect: Dialect) -> list[list[CodeType]]:
    """Trace how turns start, and are seen by both clients. The agent waits until the trace is over."""
    session, found = "patient:/one", []
    first, second = (Client(app, name, dialect.hello) for name in ("one", "two"))
    async with first.connected() as one, second.connected() as two:
        await one.request("createSession", **{dialect.subject: session})
        (uri,) = {await dialect.follow(client, session) for client in (one, two)}
        for number in range(1, WARM_UP + TRACES + 1):

            async def start(number: int = number) -> None:
                one.tell("dispatchAction", clientSeq=number, **dialect.start(uri, f"t{number}"))
                await both_see("turnStarted")

            async def both_see(kind: str) -> None:
                await asyncio.gather(*(client.see(f"{dialect.scope}/{kind}") for client in (one, two)))

            found.append(await tracer.trace(start))
            go_on.set()
            await both_see("turnComplete")
            go_on.clear()
    return found[WARM_UP:]


async def trace(name: str, tracer: Tracer) -> list[CodeType]:
    """Return the calls of the median trace."""
    go_on = asyncio.Event()
    with tempfile.TemporaryDirectory() as folder:
        async with host_in(Path(folder), go_on) as host:
            app = App(host)
            app.phase = Phase.READY
            dialect = DIALECTS.get(name)
            if dialect is None:
                traces = await trace_aap(app, tracer)
            else:
                traces = await trace_ahp(app, tracer, go_on, dialect)
            app.stopping.set()
    return sorted(traces, key=len)[len(traces) // 2]


def file_of(code: CodeType) -> str:
    """Return the file of a function, as the project names it."""
    return str(Path(code.co_filename).relative_to(SOURCE))


def show(name: str, calls: list[CodeType], *, in_steps: bool) -> None:
    """Print the totals and the path."""
    files = Counter(map(file_of, calls))  # in the order in which they were reached
    print(f"{name}: {len(calls)} calls, {len(set(calls))} functions, {len(files)} files")
    if in_steps:
        for file, step in itertools.groupby(calls, key=file_of):
            print(f"  {file:<36} {', '.join(code.co_qualname for code in step)}")
        return
    for file, count in files.items():
        names = dict.fromkeys(code.co_qualname for code in calls if file_of(code) == file)
        print(f"  {file:<36} {count:>4}  {', '.join(names)}")


def main() -> None:
    """Trace what is asked for, or everything."""
    names = ["aap", *DIALECTS]
    parser = argparse.ArgumentParser(description="Trace a turn through the host, function by function.")
    parser.add_argument("what", nargs="?", choices=names, help="what to trace; everything, unless told")
    parser.add_argument("--steps", action="store_true", help="print the calls in their order")
    arguments = parser.parse_args()
    tracer = Tracer()
    for name in [arguments.what] if arguments.what else names:
        show(name, asyncio.run(trace(name, tracer)), in_steps=arguments.steps)


if __name__ == "__main__":
    main()
