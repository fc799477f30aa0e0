"""Trace a turn through the host, function by function: `.venv/bin/python scripts/trace_turn.py`.

Counts the calls of functions under `src/agenthost`, in all threads, for two things that a warm host does:

- `aap`: a turn over AAP in which the agent speaks, calls a trusted tool and speaks again;
- `ahp`: `session/turnStarted` over AHP, in a session with two subscribers.

Each trace begins with the call of the ASGI application, or with the frame that it receives, and ends when the
last commit is done and nothing more happens. Of several traces the median is shown. What resumes a coroutine
or a generator is a call too; a comprehension is none, as newer Pythons do not call it. `--steps` prints the
calls in their order, in place of the table by file.
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
from typing import Any

import agenthost
from agenthost import Host, Turn
from agenthost.edges.app import App
from agenthost.edges.health import Phase

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

    def __init__(self, app: App, name: str = "") -> None:
        self._app, self._name = app, name
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
        await self.request("initialize", protocolVersions=["0.1.0"], clientId=self._name)
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


async def trace_ahp(app: App, tracer: Tracer, go_on: asyncio.Event) -> list[list[CodeType]]:
    """Trace how turns start, and are seen by both clients. The agent waits until the trace is over."""
    session, found = "patient:/one", []
    async with Client(app, "one").connected() as one, Client(app, "two").connected() as two:
        await one.request("createSession", session=session)
        for client in (one, two):
            await client.request("subscribe", resource=session)
        for number in range(1, WARM_UP + TRACES + 1):
            action = {"session": session, "turnId": f"t{number}", "userMessage": {"text": "Begin"}}

            async def start(number: int = number, action: Any = action) -> None:
                full = {"type": "session/turnStarted", **action}
                one.tell("dispatchAction", clientSeq=number, action=full)
                await asyncio.gather(*(client.see("session/turnStarted") for client in (one, two)))

            found.append(await tracer.trace(start))
            go_on.set()
            await asyncio.gather(*(client.see("session/turnComplete") for client in (one, two)))
            go_on.clear()
    return found[WARM_UP:]


async def trace(name: str, tracer: Tracer) -> list[CodeType]:
    """Return the calls of the median trace."""
    go_on = asyncio.Event()
    with tempfile.TemporaryDirectory() as folder:
        async with host_in(Path(folder), go_on) as host:
            app = App(host)
            app.phase = Phase.READY
            traces = await (trace_aap(app, tracer) if name == "aap" else trace_ahp(app, tracer, go_on))
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
    """Trace what is asked for, or both."""
    parser = argparse.ArgumentParser(description="Trace a turn through the host, function by function.")
    parser.add_argument("what", nargs="?", choices=["aap", "ahp"], help="what to trace; both, unless told")
    parser.add_argument("--steps", action="store_true", help="print the calls in their order")
    arguments = parser.parse_args()
    tracer = Tracer()
    for name in [arguments.what] if arguments.what else ["aap", "ahp"]:
        show(name, asyncio.run(trace(name, tracer)), in_steps=arguments.steps)


if __name__ == "__main__":
    main()
