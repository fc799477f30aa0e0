"""Makes a store with an older agenthost, and records what its clients saw: both are kept here, compressed.

`python make_store.py SRC NAME` runs the agenthost in the folder SRC and writes NAME.db.xz and NAME.json.xz.
The server is killed while turns run and wait, clients are connected, and some of the log is not indexed. The
stores 1 to 7 have those versions of the tables. The last commits with the first five: a776e0b, 77f6880,
3d98cf4, e33cfd9 and 7afbfb1; the sixth and the seventh come from versions that were never released.
"""

import asyncio
import http.client
import itertools
import json
import lzma
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

HERE = Path(__file__).parent
WORKSPACE = Path("/srv/story")
TIMEOUT = 20

WRITE = '/call write_file {"path": "notes.txt", "text": "Buy milk"}'
LOOKUP: Any = {
    "name": "lookup",
    "description": "Look something up.",
    "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}},
}
CLIENT: Any = {"clientId": "me", "displayName": "The editor", "tools": [LOOKUP]}
NOTES: Any = {
    "type": "embeddedResource",
    "label": "notes.txt",
    "contentType": "text/plain",
    "data": "TWlsaw==",
}


class Server:
    """An older agenthost that serves these agents."""

    def __init__(self, source: Path, data: Path) -> None:
        command = ["serve", str(HERE / "agents.py"), "--port", "0", "--data", str(data)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "agenthost", *command, "--workspace", str(WORKSPACE)],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(source), "HOME": str(data)},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout
        lines = itertools.takewhile(lambda line: " stop " not in line, self._process.stdout)
        said = "".join(lines)
        self.address = re.findall(r"http://(127\.0\.0\.1:\d+)", said)[0]
        self.token = (re.findall(r"#tkn=(\w+)", said) or [""])[0]

    def kill(self) -> None:
        """End it as a power cut would."""
        self._process.kill()
        self._process.wait()


class Client:
    """A client that keeps everything it was sent."""

    def __init__(self, socket: ClientConnection, client_id: str) -> None:
        self.client_id = client_id
        self._socket = socket
        self._ids = itertools.count(1)
        self._seqs = itertools.count(1)
        self._sent: list[Any] = []

    @classmethod
    async def connected(cls, server: Server, client_id: str) -> "Client":
        headers = {"Authorization": f"Bearer {server.token}"} if server.token else {}
        socket = await connect(f"ws://{server.address}/ahp", additional_headers=headers, max_size=None)
        client = cls(socket, client_id)
        await client.request("initialize", protocolVersions=["0.1.0"], clientId=client_id)
        return client

    async def request(self, method: str, **params: Any) -> Any:
        message_id = next(self._ids)
        request = {"jsonrpc": "2.0", "id": message_id, "method": method, "params": params}
        await self._socket.send(json.dumps(request))
        answer = await self.heard(lambda message: message.get("id") == message_id)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    async def heard(self, wanted: Callable[[Any], bool]) -> Any:
        """Wait for a message, and take it out of what was sent."""
        while True:
            place = next((place for place, one in enumerate(self._sent) if wanted(one)), None)
            if place is not None:
                return self._sent.pop(place)
            self._sent.append(json.loads(await asyncio.wait_for(self._socket.recv(), TIMEOUT)))

    async def act(self, session: str, name: str, /, **fields: Any) -> None:
        """Dispatch an action on a session."""
        action = {"type": f"session/{name}", "session": session, **fields}
        params = {"clientSeq": next(self._seqs), "action": action}
        await self._socket.send(json.dumps({"jsonrpc": "2.0", "method": "dispatchAction", "params": params}))

    async def saw(self, session: str, name: str, /, **fields: Any) -> Any:
        """Wait for an action on a session."""

        def wanted(message: Any) -> bool:
            action = message.get("params", {}).get("action", {})
            expected = {"type": f"session/{name}", "session": session, **fields}
            return all(action.get(key) == value for key, value in expected.items())

        return (await self.heard(wanted))["params"]["action"]

    async def create(self, session: str, agent: str = "demo", **more: Any) -> str:
        """Create a session, and subscribe to it."""
        await self.request("createSession", session=session, provider=agent, **more)
        await self.request("subscribe", resource=session)
        return session

    async def say(self, session: str, turn: str, text: str, **more: Any) -> None:
        """Start a turn."""
        await self.act(session, "turnStarted", turnId=turn, userMessage={"text": text, **more})

    async def ask(
        self, session: str, turn: str, text: str, *, end: str = "turnComplete", **more: Any
    ) -> None:
        """Start a turn, and wait for its end."""
        await self.say(session, turn, text, **more)
        await self.saw(session, end, turnId=turn)

    async def state(self, resource: str) -> Any:
        """Return what a client sees that comes new."""
        return (await self.request("subscribe", resource=resource))["snapshot"]["state"]


async def converse(me: Client) -> None:
    """Have turns of every kind, which have all ended."""
    turns = await me.create("demo:/turns", config={"greeting": "Well met."})
    await me.ask(turns, "t1", "/think Hello there", attachments=[NOTES])
    await me.say(turns, "t2", '/call add {"a": 2, "b": 3}')
    await approve(me, turns, "t2", option="allow-session")
    await me.saw(turns, "turnComplete", turnId="t2")
    await me.ask(turns, "t3", "/error", end="error")
    await me.say(turns, "t4", '/call sleep {"seconds": 600}')
    await me.saw(turns, "toolCallReady", turnId="t4")
    await me.act(turns, "turnCancelled", turnId="t4")
    await me.saw(turns, "turnCancelled", turnId="t4")
    await me.say(turns, "t5", WRITE)
    await approve(me, turns, "t5")
    await me.saw(turns, "turnComplete", turnId="t5")
    await me.ask(turns, "t6", "/full")
    await me.act(turns, "titleChanged", title="All kinds of turns")
    await me.act(turns, "configChanged", config={"style": "loud"})
    await me.act(turns, "modelChanged", model={"id": "steady"})
    await me.saw(turns, "modelChanged")
    await me.act(turns, "turnCancelled", turnId="gone")  # is refused
    await me.saw(turns, "turnCancelled", turnId="gone")
    await me.request("createSession", session="demo:/fork", fork={"session": turns, "turnId": "t2"})
    await me.request("subscribe", resource="demo:/fork")
    await me.ask("demo:/fork", "f1", "More")
    await me.act("demo:/fork", "truncated", turnId="t1")
    await me.saw("demo:/fork", "truncated")


async def approve(me: Client, session: str, turn: str, option: str | None = None) -> None:
    """Approve the call that a turn waits with, by one of the options that there are."""
    asked = await me.saw(session, "toolCallReady", turnId=turn)
    choice: Any = {"approved": True, "confirmed": "user-action", "toolCallId": asked["toolCallId"]}
    if option in [one["id"] for one in asked.get("options", [])]:
        choice["selectedOptionId"] = option
    await me.act(session, "toolCallConfirmed", turnId=turn, **choice)
    await me.saw(session, "toolCallConfirmed", turnId=turn)


async def stream(me: Client) -> None:
    """Fill a log: with so many actions that there is a snapshot, and with more after it."""
    long = await me.create("demo:/long")
    await me.ask(long, "t1", "/stream 2500")
    await me.ask(long, "t2", "/stream 700")
    await me.ask(long, "t3", "Zażółć gęślą jaźń 🎈")


async def wait(me: Client) -> None:
    """Leave turns that wait: for approval, for answers, for a tool of the client, and in a tool."""
    approval = await me.create("demo:/approval")
    await me.ask(approval, "t1", "Hello")
    await me.say(approval, "t2", WRITE)
    await me.saw(approval, "toolCallReady", turnId="t2")
    for place in (1, 2):
        message = {"text": f"Later {place}"}
        await me.act(approval, "pendingMessageSet", kind="queued", id=f"q{place}", userMessage=message)
    await me.act(approval, "queuedMessagesReordered", order=["q2", "q1"])
    await me.act(approval, "modelChanged", model={"id": "swift"})  # is deferred
    steering = {"text": "In between"}
    await me.act(approval, "pendingMessageSet", kind="steering", id="s1", userMessage=steering)
    await me.saw(approval, "pendingMessageSet", id="s1")

    question = await me.create("demo:/question")
    await me.say(question, "t1", "/ask")
    asked = (await me.saw(question, "inputRequested"))["request"]
    answer = {"state": "draft", "value": {"kind": "text", "value": "Ann"}}
    changed = {"requestId": asked["id"], "questionId": "name", "answer": answer}
    await me.act(question, "inputAnswerChanged", **changed)
    await me.saw(question, "inputAnswerChanged")

    client = await me.create("demo:/client", activeClient={**CLIENT, "clientId": me.client_id})
    await me.say(client, "t1", '/call lookup {"word": "host"}')
    await me.saw(client, "toolCallReady", turnId="t1")

    running = await me.create("demo:/running")
    await me.say(running, "t1", '/call sleep {"seconds": 600}')
    await approve(me, running, "t1")


async def delegate(me: Client) -> None:
    """Leave a turn that waits for the turn of another session, which waits for approval."""
    task = await me.create("lead:/task", "lead")
    await me.say(task, "t1", WRITE)
    shown = await me.saw(task, "toolCallContentChanged", turnId="t1")
    child = shown["content"][0]["resource"]
    if "pending-confirmation" not in json.dumps(await me.state(child)):
        await me.saw(child, "toolCallReady")


async def mark(me: Client) -> None:
    """Leave sessions with flags, one that was never used, and some that are not ready."""
    read = await me.create("demo:/read")
    await me.ask(read, "t1", "Hello")
    await me.act(read, "isReadChanged", isRead=True)
    await me.saw(read, "isReadChanged")
    archived = await me.create("demo:/archived")
    await me.ask(archived, "t1", "/title Put away")
    await me.act(archived, "isReadChanged", isRead=True)
    await me.act(archived, "isArchivedChanged", isArchived=True)
    await me.saw(archived, "isArchivedChanged")
    await me.create("demo:/empty")
    await me.create("failing:/never", "failing")
    creating = await me.create("slow:/creating", "slow")
    await me.say(creating, "t1", "When you are ready")
    await me.request("ping")


def use_tools(server: Server) -> None:
    """Leave a session of an application, with a secret, and a tool of its own that is waited for."""
    connection = http.client.HTTPConnection(server.address, timeout=TIMEOUT)
    headers = {"Content-Type": "application/json"}
    if server.token:
        headers["Authorization"] = f"Bearer {server.token}"

    def call(method: str, path: str, body: Any = None) -> Any:
        connection.request(method, f"/aap/v3{path}", None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        said = answer.read()
        assert answer.status < 300, said
        return json.loads(said)

    tool = {key: value for key, value in LOOKUP.items() if key != "inputSchema"}
    tool["parameters"] = LOOKUP["inputSchema"]
    options = {"greeting": "Yes?"}
    if '"token"' in json.dumps(call("GET", "/meta")):
        options["token"] = "a secret of the story"  # noqa: S105 # of nobody
    agent = {"name": "demo", "tools": [{"name": "add", "trust": True}], "options": options}
    made = call("POST", "/sessions", {"agent": agent, "tools": [tool]})
    said = {"role": "user", "content": '/call add {"a": 1, "b": 1} && lookup'}
    call("POST", f"/sessions/{made['sessionId']}/turns", {"messages": [said], "stream": "none"})


async def record(me: Client) -> Any:
    """Return what a client sees of everything."""
    listed = await me.request("listSessions")
    return {
        "root": await me.state("agenthost:/root"),
        "list": listed["items"],
        "sessions": {one["resource"]: await me.state(one["resource"]) for one in listed["items"]},
    }


async def story(source: Path, data: Path) -> Any:
    """Fill a store, kill its server, and return what was seen of it."""
    server = Server(source, data)
    try:
        me = await Client.connected(server, "me")
        for part in (converse, stream, wait, delegate, mark):
            await part(me)
        await asyncio.to_thread(use_tools, server)
        seen = await record(me)
    finally:
        server.kill()
    return seen


def main(source: Path, name: str) -> None:
    """Write the files."""
    shutil.rmtree(WORKSPACE, ignore_errors=True)
    WORKSPACE.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        seen = asyncio.run(story(source, Path(folder) / "data"))
        file = Path(folder) / "data" / "agenthost.db"
        with closing(sqlite3.connect(file)) as store:
            store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            seen["version"] = store.execute("PRAGMA user_version").fetchone()[0]
        key = file.with_name("secret.key")
        seen["key"] = key.read_text() if key.exists() else None
        (HERE / f"{name}.db.xz").write_bytes(lzma.compress(file.read_bytes(), preset=9))
    (HERE / f"{name}.json.xz").write_bytes(lzma.compress(json.dumps(seen).encode(), preset=9))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
