"""An ACP agent that does what it is told, word by word: for tests. Written with the protocol's library.

`python acting.py [--no-load] [--resume] [--locked] [--stubborn] [--slow]`; sessions are kept in $ACTING_HOME.
"""

import asyncio
import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from acp import RequestError, run_agent
from acp.helpers import plan_entry, text_block, update_agent_message, update_agent_thought, update_plan
from acp.schema import (
    AgentCapabilities,
    AvailableCommand,
    AvailableCommandsUpdate,
    ContentToolCallContent,
    CurrentModeUpdate,
    EnvVariable,
    FileEditToolCallContent,
    ImageContentBlock,
    Implementation,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PermissionOption,
    PromptCapabilities,
    PromptResponse,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionInfoUpdate,
    SessionMode,
    SessionModeState,
    SessionResumeCapabilities,
    SetSessionModeResponse,
    TerminalToolCallContent,
    ToolCallLocation,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
    Usage,
    UserMessageChunk,
)

FLAGS = set(sys.argv[1:])
HOME = Path(os.environ.get("ACTING_HOME", "."))

OPTIONS = [
    PermissionOption(option_id="y1", name="Yes", kind="allow_once"),
    PermissionOption(option_id="yy", name="Always", kind="allow_always"),
    PermissionOption(option_id="n1", name="No", kind="reject_once"),
]


def text(content: str) -> ContentToolCallContent:
    return ContentToolCallContent(type="content", content=text_block(content))


class Acting:
    """The agent; one method for each word that it knows."""

    conn: Any

    def __init__(self) -> None:
        self.modes: dict[str, str] = {}
        self.stops: dict[str, asyncio.Event] = {}
        self.folders: dict[str, str] = {}
        self.said: dict[str, list[str]] = {}

    def on_connect(self, conn: Any) -> None:
        self.conn = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        print("Welcome to the acting agent!", flush=True)
        print("a word of warning", file=sys.stderr, flush=True)
        if "--slow" in FLAGS:
            await asyncio.sleep(0.3)
        resume = SessionResumeCapabilities() if "--resume" in FLAGS else None
        return InitializeResponse(
            protocol_version=protocol_version,
            agent_info=Implementation(name="acting", title="Acting", version="7.1"),
            agent_capabilities=AgentCapabilities(
                load_session="--no-load" not in FLAGS and "--resume" not in FLAGS,
                prompt_capabilities=PromptCapabilities(image=True, embedded_context=True),
                session_capabilities=SessionCapabilities(resume=resume),
            ),
        )

    async def new_session(self, cwd: str, mcp_servers: Any = None, **_: Any) -> NewSessionResponse:
        if "--locked" in FLAGS and "KEY" not in os.environ:
            raise RequestError.auth_required()
        session_id = uuid4().hex
        # Before the client knows the session's id.
        command = AvailableCommand(name="say", description="Say something.")
        await self.update(
            session_id,
            AvailableCommandsUpdate(session_update="available_commands_update", available_commands=[command]),
        )
        self.open(session_id, cwd, [])
        self.servers = [server.model_dump(mode="json", exclude_none=True) for server in mcp_servers or []]
        return NewSessionResponse(session_id=session_id, modes=self.mode_state(session_id))

    def open(self, session_id: str, cwd: str, said: list[str]) -> None:
        self.modes[session_id] = "ask"
        self.folders[session_id] = cwd
        self.said[session_id] = said

    def mode_state(self, session_id: str) -> SessionModeState:
        modes = [
            SessionMode(id="ask", name="Ask"),
            SessionMode(id="auto", name="Auto", description="Never asks"),
        ]
        return SessionModeState(available_modes=modes, current_mode_id=self.modes[session_id])

    async def load_session(self, cwd: str, session_id: str, **_: Any) -> LoadSessionResponse:
        self.take_up(session_id, cwd)
        for one in self.said[session_id]:
            update = UserMessageChunk(session_update="user_message_chunk", content=text_block(one))
            await self.update(session_id, update)
            await self.say(session_id, f"(what I said to {one!r})")
        return LoadSessionResponse(modes=self.mode_state(session_id))

    async def resume_session(self, cwd: str, session_id: str, **_: Any) -> ResumeSessionResponse:
        self.take_up(session_id, cwd)
        return ResumeSessionResponse(modes=self.mode_state(session_id))

    def take_up(self, session_id: str, cwd: str) -> None:
        try:
            said = json.loads((HOME / session_id).read_text())
        except FileNotFoundError:
            raise RequestError.resource_not_found(session_id) from None
        self.open(session_id, cwd, said)

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> SetSessionModeResponse:
        if mode_id not in ("ask", "auto"):
            raise RequestError.invalid_params({"details": f"no mode {mode_id}"})
        self.modes[session_id] = mode_id
        return SetSessionModeResponse()

    async def cancel(self, session_id: str, **_: Any) -> None:
        if "--stubborn" not in FLAGS:
            self.stops[session_id].set()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        stop = self.stops[session_id] = asyncio.Event()
        words = next(block.text for block in reversed(prompt) if block.type == "text")
        self.said[session_id].append(words)
        (HOME / session_id).write_text(json.dumps(self.said[session_id]))
        self.blocks = prompt
        name, _, rest = words.partition(" ")
        do = getattr(self, f"do_{name}", None) or partial(self.hear, words)
        working = asyncio.create_task(do(session_id, rest))
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait([working, stopping], return_when=asyncio.FIRST_COMPLETED)
        if stop.is_set():
            await self.say(session_id, " (too late)")
            return PromptResponse(stop_reason="cancelled")
        reason: Any = await working or "end_turn"
        return PromptResponse(
            stop_reason=reason, usage=Usage(total_tokens=5, input_tokens=3, output_tokens=2)
        )

    async def update(self, session_id: str, update: Any) -> None:
        await self.conn.session_update(session_id, update)

    async def say(self, session_id: str, words: str) -> None:
        await self.update(session_id, update_agent_message(text_block(words)))

    async def call(self, session_id: str, call_id: str, **fields: Any) -> None:
        update = ToolCallStart(session_update="tool_call", tool_call_id=call_id, **fields)
        await self.update(session_id, update)

    async def go_on(self, session_id: str, call_id: str, **fields: Any) -> None:
        update = ToolCallProgress(session_update="tool_call_update", tool_call_id=call_id, **fields)
        await self.update(session_id, update)

    async def ask(self, session_id: str, call_id: str, options: Any = None, **fields: Any) -> str:
        call = ToolCallUpdate(tool_call_id=call_id, **fields)
        answer = await self.conn.request_permission(
            session_id=session_id, tool_call=call, options=options or OPTIONS
        )
        return str(getattr(answer.outcome, "option_id", answer.outcome.outcome))

    async def hear(self, words: str, session_id: str, _rest: str) -> None:
        await self.say(session_id, f" I heard: {words}")

    # Words

    async def do_say(self, session_id: str, rest: str) -> None:
        for word in rest.split(" "):
            await self.say(session_id, f"{word} ")

    async def do_think(self, session_id: str, rest: str) -> None:
        await self.update(session_id, update_agent_thought(text_block(rest)))
        await self.say(session_id, "I thought.")

    async def do_stop(self, _session_id: str, rest: str) -> str:
        return rest

    async def do_plan(self, session_id: str, _rest: str) -> None:
        for first, second in (
            ("pending", "pending"),
            ("in_progress", "pending"),
            ("completed", "in_progress"),
        ):
            both: Any = (("Look", first), ("Leap", second))
            steps = [plan_entry(step, status=status) for step, status in both]
            await self.update(session_id, update_plan(steps))
        await self.say(session_id, "Planned.")

    async def do_read(self, session_id: str, rest: str) -> None:
        await self.call(session_id, "c1", title="Read", kind="read", status="pending")
        place = ToolCallLocation(path=rest)
        await self.go_on(session_id, "c1", status="in_progress", title=f"Read {rest}", locations=[place])
        await self.go_on(session_id, "c1", content=[text("half of it")])
        done = [text("all of it")]
        await self.go_on(session_id, "c1", status="completed", content=done, raw_output={"lines": 3})
        await self.say(session_id, "There it is.")

    async def do_fail(self, session_id: str, rest: str) -> None:
        await self.call(session_id, "c1", title="Try", kind="other", raw_input={"how": "hard"})
        await self.go_on(session_id, "c1", status="failed", content=[text(rest)])

    async def do_edit(self, session_id: str, rest: str) -> None:
        path = Path(self.folders[session_id]) / rest
        old = path.read_text() if path.exists() else None
        diff = FileEditToolCallContent(type="diff", path=str(path), old_text=old, new_text="new\n")
        chosen = await self.ask(session_id, "e1", title=f"Edit {rest}", kind="edit", content=[diff])
        if chosen.startswith("y"):
            await self.conn.write_text_file(session_id=session_id, path=str(path), content="new\n")
            await self.go_on(session_id, "e1", status="completed", content=[diff])
        await self.say(session_id, f"You chose {chosen}.")

    async def do_late(self, session_id: str, rest: str) -> None:
        """Begin first, ask then, and do not tell what was changed."""
        path = Path(self.folders[session_id]) / rest
        await self.call(session_id, "l1", title="write", kind="edit", status="pending", raw_input={})
        await self.go_on(session_id, "l1", status="in_progress", raw_input={"path": rest})
        chosen = await self.ask(session_id, "l1", title=str(path), raw_input={"path": str(path)})
        await self.conn.write_text_file(session_id=session_id, path=str(path), content="late\n")
        await self.go_on(session_id, "l1", status="completed", content=[text("Wrote it.")])
        await self.say(session_id, f"You chose {chosen}.")

    async def do_forever(self, session_id: str, _rest: str) -> None:
        """Offer nothing but what is for good."""
        options = [PermissionOption(option_id="yy", name="Always", kind="allow_always")]
        chosen = await self.ask(session_id, "f1", options, title="Rule the world")
        await self.say(session_id, f"You chose {chosen}.")

    async def do_both(self, session_id: str, _rest: str) -> None:
        """Run one call while two others ask, all at once."""
        await self.call(
            session_id, "b1", title="Run", kind="execute", status="in_progress", raw_input={"n": 1}
        )
        asking = [
            asyncio.create_task(self.ask(session_id, f"b{n}", title=f"Ask {n}", raw_input={"n": n}))
            for n in (2, 3)
        ]
        await asyncio.sleep(0)
        await self.say(session_id, "Meanwhile. ")
        await self.go_on(session_id, "b1", status="completed", content=[text("one")])
        chosen = await asyncio.gather(*asking)
        for n in (3, 2):
            await self.go_on(session_id, f"b{n}", status="completed", content=[text(f"{n}")])
        await self.say(session_id, f"You chose {' '.join(chosen)}.")

    async def do_run(self, session_id: str, rest: str) -> None:
        env = [EnvVariable(name="WHO", value="me")]
        made = await self.conn.create_terminal(session_id=session_id, command=rest, env=env)
        terminal = made.terminal_id
        shown = [TerminalToolCallContent(type="terminal", terminal_id=terminal)]
        await self.call(session_id, "t1", title=rest, kind="execute", status="in_progress", content=shown)
        ended = await self.conn.wait_for_terminal_exit(session_id=session_id, terminal_id=terminal)
        output = await self.conn.terminal_output(session_id=session_id, terminal_id=terminal)
        await self.conn.release_terminal(session_id=session_id, terminal_id=terminal)
        await self.go_on(session_id, "t1", status="completed")
        await self.say(session_id, f"{ended.exit_code}: {output.output.strip()}")

    async def do_fetch(self, session_id: str, rest: str) -> None:
        path, _, line = rest.partition(":")
        more: Any = {"line": int(line), "limit": 1} if line else {}
        try:
            found = await self.conn.read_text_file(session_id=session_id, path=path, **more)
            await self.say(session_id, found.content)
        except RequestError as error:
            await self.say(session_id, f"{error.code}: {error}")

    async def do_write(self, session_id: str, rest: str) -> None:
        path, _, content = rest.partition(" ")
        try:
            await self.conn.write_text_file(session_id=session_id, path=path, content=content)
            await self.say(session_id, "Written.")
        except RequestError as error:
            await self.say(session_id, f"{error.code}: {error}")

    async def do_blocks(self, session_id: str, _rest: str) -> None:
        blocks = [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in self.blocks]
        await self.say(session_id, json.dumps(blocks))

    async def do_picture(self, session_id: str, _rest: str) -> None:
        picture = ImageContentBlock(type="image", data="aGVsbG8=", mime_type="image/png")
        await self.update(session_id, update_agent_message(picture))

    async def do_mode(self, session_id: str, rest: str) -> None:
        if rest == "?":
            await self.ask(session_id, "m1", title="Go on")
            for _ in range(500):  # the request for it may come after the answer
                await asyncio.sleep(0.01 if self.modes[session_id] == "ask" else 0)
        elif rest:
            self.modes[session_id] = rest
            update = CurrentModeUpdate(session_update="current_mode_update", current_mode_id=rest)
            await self.update(session_id, update)
        await self.say(session_id, self.modes[session_id])

    async def do_title(self, session_id: str, rest: str) -> None:
        await self.update(session_id, SessionInfoUpdate(session_update="session_info_update", title=rest))

    async def do_memory(self, session_id: str, _rest: str) -> None:
        await self.say(session_id, json.dumps(self.said[session_id][:-1]))

    async def do_servers(self, session_id: str, _rest: str) -> None:
        await self.say(session_id, json.dumps(self.servers))

    async def do_env(self, session_id: str, rest: str) -> None:
        await self.say(session_id, str(os.environ.get(rest)))

    async def do_hang(self, session_id: str, rest: str) -> None:
        await self.call(session_id, "h1", title="Wait", status="in_progress")
        if rest:
            # A grandchild that outlives its parent, unless somebody ends the whole tree.
            await asyncio.create_subprocess_shell(f"(sleep 300 & echo $! > {rest}; wait) &")
        await self.say(session_id, "Waiting.")
        await asyncio.Event().wait()

    async def do_die(self, session_id: str, _rest: str) -> None:
        await self.call(session_id, "d1", title="Die", status="in_progress")
        await self.say(session_id, "Farewell.")
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
        odd = {"sessionUpdate": "newer_than_you", "content": 5}
        for update in (odd, {"sessionUpdate": "agent_message_chunk", "content": {"type": "video"}}):
            message = {"method": "session/update", "params": {"sessionId": session_id, "update": update}}
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()
        await self.say(session_id, "Still here.")

    async def do_flood(self, session_id: str, rest: str) -> None:
        await self.say(session_id, "x" * int(rest))


acting: Any = Acting()
asyncio.run(run_agent(acting, use_unstable_protocol=True))
