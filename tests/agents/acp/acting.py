"""An ACP agent that does what it is told, word by word: for tests. Plain JSON-RPC, so that it starts at once.

`python acting.py [--no-load] [--resume] [--locked] [--stubborn] [--slow]`; sessions are kept in $ACTING_HOME.
It introduces itself once there is a file $ACTING_GATE, if that is set.
"""

import asyncio
import json
import os
import sys
import time
import traceback
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

FLAGS = set(sys.argv[1:])
HOME = Path(os.environ.get("ACTING_HOME", "."))

OPTIONS = [
    {"optionId": "y1", "name": "Yes", "kind": "allow_once"},
    {"optionId": "yy", "name": "Always", "kind": "allow_always"},
    {"optionId": "n1", "name": "No", "kind": "reject_once"},
]


class Refused(Exception):
    """A request cannot be done."""

    def __init__(self, code: int, message: str, details: str = "") -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, **({"data": {"details": details}} if details else {})}


def text(content: str) -> Any:
    return {"type": "content", "content": {"type": "text", "text": content}}


def wait_for_file(file: Path) -> None:
    while not file.exists():
        time.sleep(0.02)


class Acting:
    """The agent; one method for each word that it knows."""

    def __init__(self) -> None:
        self.modes: dict[str, str] = {}
        self.stops: dict[str, asyncio.Event] = {}
        self.folders: dict[str, str] = {}
        self.said: dict[str, list[str]] = {}
        self.servers: list[Any] = []
        self.answers: dict[str, asyncio.Future[Any]] = {}
        self.tasks: set[asyncio.Task[None]] = set()

    # The line

    async def listen(self) -> None:
        reader = asyncio.StreamReader(limit=1 << 26)
        protocol = asyncio.StreamReaderProtocol(reader)
        await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
        while line := await reader.readline():
            message = json.loads(line)
            if "method" not in message:
                self.answers.pop(message["id"]).set_result(message)
                continue
            task = asyncio.create_task(self.take(message))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def take(self, message: Any) -> None:
        method = getattr(self, message["method"].replace("/", "_"))
        try:
            answer = {"result": await method(**message["params"])}
        except Refused as refused:
            answer = {"error": refused.error}
        except Exception:
            traceback.print_exc()
            os._exit(9)
        if "id" in message:
            self.write({"id": message["id"], **answer})

    def write(self, message: Any) -> None:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

    async def request(self, method: str, **params: Any) -> Any:
        request_id = uuid4().hex
        answer = self.answers[request_id] = asyncio.get_running_loop().create_future()
        self.write({"id": request_id, "method": method, "params": params})
        found = await answer
        if "error" in found:
            raise Refused(found["error"]["code"], found["error"]["message"])
        return found["result"]

    # What is asked of it

    async def initialize(self, protocolVersion: int, **_: Any) -> Any:  # noqa: N803
        print("Welcome to the acting agent!", flush=True)
        print("a word of warning", file=sys.stderr, flush=True)
        if "--slow" in FLAGS:
            await asyncio.sleep(0.3)
        if gate := os.environ.get("ACTING_GATE"):
            await asyncio.to_thread(wait_for_file, Path(gate))
        return {
            "protocolVersion": protocolVersion,
            "agentInfo": {"name": "acting", "title": "Acting", "version": "7.1"},
            "agentCapabilities": {
                "loadSession": not FLAGS & {"--no-load", "--resume"},
                "promptCapabilities": {"image": True, "embeddedContext": True},
                "sessionCapabilities": {"resume": {}} if "--resume" in FLAGS else {},
            },
        }

    async def session_new(self, cwd: str, mcpServers: Any) -> Any:  # noqa: N803
        if "--locked" in FLAGS:
            raise Refused(-32000, "Authentication required")
        session_id = uuid4().hex
        # Before the client knows the session's id.
        command = {"name": "say", "description": "Say something."}
        self.update(session_id, "available_commands_update", availableCommands=[command])
        self.open(session_id, cwd, [])
        self.servers = mcpServers
        return {"sessionId": session_id, "modes": self.mode_state(session_id)}

    def open(self, session_id: str, cwd: str, said: list[str]) -> None:
        self.modes[session_id] = "ask"
        self.folders[session_id] = cwd
        self.said[session_id] = said

    def mode_state(self, session_id: str) -> Any:
        modes = [{"id": "ask", "name": "Ask"}, {"id": "auto", "name": "Auto", "description": "Never asks"}]
        return {"availableModes": modes, "currentModeId": self.modes[session_id]}

    async def session_load(self, cwd: str, sessionId: str, **_: Any) -> Any:  # noqa: N803
        self.resume(sessionId, cwd)
        for one in self.said[sessionId]:
            self.update(sessionId, "user_message_chunk", content={"type": "text", "text": one})
            self.say(sessionId, f"(what I said to {one!r})")
        return {"modes": self.mode_state(sessionId)}

    async def session_resume(self, cwd: str, sessionId: str, **_: Any) -> Any:  # noqa: N803
        self.resume(sessionId, cwd)
        return {"modes": self.mode_state(sessionId)}

    def resume(self, session_id: str, cwd: str) -> None:
        if not (HOME / session_id).exists():
            raise Refused(-32002, "Resource not found")
        self.open(session_id, cwd, json.loads((HOME / session_id).read_text()))

    async def session_set_mode(self, sessionId: str, modeId: str) -> Any:  # noqa: N803
        if modeId not in ("ask", "auto"):
            raise Refused(-32602, "Invalid params", f"no mode {modeId}")
        self.modes[sessionId] = modeId
        return {}

    async def session_cancel(self, sessionId: str) -> None:  # noqa: N803
        if "--stubborn" not in FLAGS:
            self.stops[sessionId].set()

    async def session_prompt(self, sessionId: str, prompt: list[Any]) -> Any:  # noqa: N803
        stop = self.stops[sessionId] = asyncio.Event()
        words = next(block["text"] for block in reversed(prompt) if block["type"] == "text")
        self.said[sessionId].append(words)
        (HOME / sessionId).write_text(json.dumps(self.said[sessionId]))
        self.blocks = prompt
        name, _, rest = words.partition(" ")
        do = getattr(self, f"do_{name}", None) or partial(self.hear, words)
        working = asyncio.create_task(do(sessionId, rest))
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait([working, stopping], return_when=asyncio.FIRST_COMPLETED)
        if stop.is_set():
            self.say(sessionId, " (too late)")
            return {"stopReason": "cancelled"}
        usage = {"totalTokens": 5, "inputTokens": 3, "outputTokens": 2}
        return {"stopReason": await working or "end_turn", "usage": usage}

    # What it says

    def update(self, session_id: str, kind: str, /, **fields: Any) -> None:
        update = {"sessionUpdate": kind, **fields}
        self.write({"method": "session/update", "params": {"sessionId": session_id, "update": update}})

    def say(self, session_id: str, words: str) -> None:
        self.update(session_id, "agent_message_chunk", content={"type": "text", "text": words})

    def call(self, session_id: str, call_id: str, **fields: Any) -> None:
        self.update(session_id, "tool_call", toolCallId=call_id, **fields)

    def go_on(self, session_id: str, call_id: str, **fields: Any) -> None:
        self.update(session_id, "tool_call_update", toolCallId=call_id, **fields)

    async def ask(self, session_id: str, call_id: str, options: Any = None, **fields: Any) -> str:
        answer = await self.request(
            "session/request_permission",
            sessionId=session_id,
            toolCall={"toolCallId": call_id, **fields},
            options=options or OPTIONS,
        )
        return str(answer["outcome"].get("optionId", answer["outcome"]["outcome"]))

    async def hear(self, words: str, session_id: str, _rest: str) -> None:
        self.say(session_id, f" I heard: {words}")

    # Words

    async def do_say(self, session_id: str, rest: str) -> None:
        for word in rest.split(" "):
            self.say(session_id, f"{word} ")

    async def do_think(self, session_id: str, rest: str) -> None:
        self.update(session_id, "agent_thought_chunk", content={"type": "text", "text": rest})
        self.say(session_id, "I thought.")

    async def do_stop(self, _session_id: str, rest: str) -> str:
        return rest

    async def do_plan(self, session_id: str, _rest: str) -> None:
        for first, second in (
            ("pending", "pending"),
            ("in_progress", "pending"),
            ("completed", "in_progress"),
        ):
            both = (("Look", first), ("Leap", second))
            steps = [{"content": step, "priority": "medium", "status": status} for step, status in both]
            self.update(session_id, "plan", entries=steps)
        self.say(session_id, "Planned.")

    async def do_read(self, session_id: str, rest: str) -> None:
        self.call(session_id, "c1", title="Read", kind="read", status="pending")
        place = {"path": rest}
        self.go_on(session_id, "c1", status="in_progress", title=f"Read {rest}", locations=[place])
        self.go_on(session_id, "c1", content=[text("half of it")])
        done = [text("all of it")]
        self.go_on(session_id, "c1", status="completed", content=done, rawOutput={"lines": 3})
        self.say(session_id, "There it is.")

    async def do_fail(self, session_id: str, rest: str) -> None:
        self.call(session_id, "c1", title="Try", kind="other", rawInput={"how": "hard"})
        self.go_on(session_id, "c1", status="failed", content=[text(rest)])

    async def do_edit(self, session_id: str, rest: str) -> None:
        path = Path(self.folders[session_id]) / rest
        old = path.read_text() if path.exists() else None
        diff = {"type": "diff", "path": str(path), "oldText": old, "newText": "new\n"}
        chosen = await self.ask(session_id, "e1", title=f"Edit {rest}", kind="edit", content=[diff])
        if chosen.startswith("y"):
            await self.request("fs/write_text_file", sessionId=session_id, path=str(path), content="new\n")
            self.go_on(session_id, "e1", status="completed", content=[diff])
        self.say(session_id, f"You chose {chosen}.")

    async def do_late(self, session_id: str, rest: str) -> None:
        """Begin first, ask then, and do not tell what was changed."""
        path = Path(self.folders[session_id]) / rest
        self.call(session_id, "l1", title="write", kind="edit", status="pending", rawInput={})
        self.go_on(session_id, "l1", status="in_progress", rawInput={"path": rest})
        chosen = await self.ask(session_id, "l1", title=str(path), rawInput={"path": str(path)})
        await self.request("fs/write_text_file", sessionId=session_id, path=str(path), content="late\n")
        self.go_on(session_id, "l1", status="completed", content=[text("Wrote it.")])
        self.say(session_id, f"You chose {chosen}.")

    async def do_forever(self, session_id: str, _rest: str) -> None:
        """Offer nothing but what is for good."""
        options = [OPTIONS[1]]
        chosen = await self.ask(session_id, "f1", options, title="Rule the world")
        self.say(session_id, f"You chose {chosen}.")

    async def do_both(self, session_id: str, _rest: str) -> None:
        """Run one call while two others ask, all at once."""
        self.call(session_id, "b1", title="Run", kind="execute", status="in_progress", rawInput={"n": 1})
        asking = [
            asyncio.create_task(self.ask(session_id, f"b{n}", title=f"Ask {n}", rawInput={"n": n}))
            for n in (2, 3)
        ]
        await asyncio.sleep(0)
        self.say(session_id, "Meanwhile. ")
        self.go_on(session_id, "b1", status="completed", content=[text("one")])
        chosen = await asyncio.gather(*asking)
        for n in (3, 2):
            self.go_on(session_id, f"b{n}", status="completed", content=[text(f"{n}")])
        self.say(session_id, f"You chose {' '.join(chosen)}.")

    async def do_run(self, session_id: str, rest: str) -> None:
        env = [{"name": "WHO", "value": "me"}]
        made = await self.request("terminal/create", sessionId=session_id, command=rest, env=env)
        which = {"sessionId": session_id, **made}
        shown = [{"type": "terminal", **made}]
        self.call(session_id, "t1", title=rest, kind="execute", status="in_progress", content=shown)
        ended = await self.request("terminal/wait_for_exit", **which)
        output = await self.request("terminal/output", **which)
        await self.request("terminal/release", **which)
        self.go_on(session_id, "t1", status="completed")
        self.say(session_id, f"{ended['exitCode']}: {output['output'].strip()}")

    async def do_fetch(self, session_id: str, rest: str) -> None:
        path, _, line = rest.partition(":")
        more: Any = {"line": int(line), "limit": 1} if line else {}
        try:
            found = await self.request("fs/read_text_file", sessionId=session_id, path=path, **more)
            self.say(session_id, found["content"])
        except Refused as refused:
            self.say(session_id, f"{refused.error['code']}: {refused}")

    async def do_write(self, session_id: str, rest: str) -> None:
        path, _, content = rest.partition(" ")
        try:
            await self.request("fs/write_text_file", sessionId=session_id, path=path, content=content)
            self.say(session_id, "Written.")
        except Refused as refused:
            self.say(session_id, f"{refused.error['code']}: {refused}")

    async def do_blocks(self, session_id: str, _rest: str) -> None:
        self.say(session_id, json.dumps(self.blocks))

    async def do_picture(self, session_id: str, _rest: str) -> None:
        picture = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
        self.update(session_id, "agent_message_chunk", content=picture)

    async def do_mode(self, session_id: str, rest: str) -> None:
        if rest == "?":
            await self.ask(session_id, "m1", title="Go on")
            for _ in range(500):  # the request for it may come after the answer
                await asyncio.sleep(0.01 if self.modes[session_id] == "ask" else 0)
        elif rest:
            self.modes[session_id] = rest
            self.update(session_id, "current_mode_update", currentModeId=rest)
        self.say(session_id, self.modes[session_id])

    async def do_title(self, session_id: str, rest: str) -> None:
        self.update(session_id, "session_info_update", title=rest)

    async def do_memory(self, session_id: str, _rest: str) -> None:
        self.say(session_id, json.dumps(self.said[session_id][:-1]))

    async def do_servers(self, session_id: str, _rest: str) -> None:
        self.say(session_id, json.dumps(self.servers))

    async def do_env(self, session_id: str, rest: str) -> None:
        self.say(session_id, str(os.environ.get(rest)))

    async def do_hang(self, session_id: str, rest: str) -> None:
        self.call(session_id, "h1", title="Wait", status="in_progress")
        if rest:
            # A grandchild that outlives its parent, unless somebody ends the whole tree.
            await asyncio.create_subprocess_shell(f"(sleep 300 & echo $! > {rest}; wait) &")
        self.say(session_id, "Waiting.")
        await asyncio.Event().wait()

    async def do_die(self, session_id: str, _rest: str) -> None:
        self.call(session_id, "d1", title="Die", status="in_progress")
        self.say(session_id, "Farewell.")
        print("out of paper", file=sys.stderr, flush=True)
        os._exit(3)

    async def do_garbage(self, session_id: str, _rest: str) -> None:
        sys.stdout.write("not JSON\n[1, 2]\n{}\n\n\x00\xff\n")
        sys.stdout.write('{"jsonrpc":"2.0","method":"session/update","params":[]}\n')
        sys.stdout.write(
            '{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":7}}}\n'
        )
        sys.stdout.write('{"jsonrpc":"2.0","method":"no/such","params":{}}\n')
        sys.stdout.flush()
        self.update(session_id, "newer_than_you", content=5)
        self.update(session_id, "agent_message_chunk", content={"type": "video"})
        self.say(session_id, "Still here.")

    async def do_flood(self, session_id: str, rest: str) -> None:
        self.say(session_id, "x" * int(rest))


asyncio.run(Acting().listen())
