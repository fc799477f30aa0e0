"""Running: the application's own tools, when the agent calls them.

A call is run when the host has confirmed that it is running and that it is ours, once in the life of this
process, whatever becomes of the connection meanwhile. Its result is told until the host has it. A call that
was running when we first saw the session began in an earlier life of the application: nobody knows how far
it came, so it ends as failed.
"""

import asyncio
import contextvars
import logging
from collections.abc import Mapping
from typing import Any

from agenthost.client.aap.tools import ClientTool
from agenthost.client.ahp.changes import Change
from agenthost.client.ahp.errors import AhpError
from agenthost.client.ahp.line import Line
from agenthost.client.ahp.mirrors import Mirrors
from agenthost.client.ahp.tools import failed, run_tool
from agenthost.wire.ahp.session import SessionActiveClient, SessionState
from agenthost.wire.ahp.toolcall import ToolCallResult

__all__ = ["ToolRunner", "report"]

log = logging.getLogger("agenthost.client")

INTERRUPTED = "the application was restarted while the tool ran; what the tool did before that is not known"
LEFT = "the application has left the session"

LOOKED_AT = frozenset(
    {
        "session/toolCallReady",
        "session/toolCallConfirmed",
        "session/toolCallComplete",
        "session/turnComplete",
        "session/turnCancelled",
        "session/error",
        "session/truncated",
        "session/turnStarted",
        "session/activeClientChanged",
    }
)
"""The actions after which a call of ours may have to be run, or left alone."""

_reporter: contextvars.ContextVar[Any] = contextvars.ContextVar("reporter")


def report(progress: str) -> None:
    """Show how far the tool is that this is called in; in a tool that blocks, too.

    Raises:
        LookupError: this is no tool that an agent called.
    """
    _reporter.get()(progress)


class ToolRunner:
    """Runs the calls of one session that are ours.

    Attributes:
        wanted: what to tell the session to be its active client; None if we do not want to be.
    """

    def __init__(self, uri: str, line: Line, mirrors: Mirrors, started: set[tuple[str, str, str]]) -> None:
        self.wanted: SessionActiveClient | None = None
        self._uri = uri
        self._line = line
        self._mirrors = mirrors
        self._started = started
        self._tools: dict[str, ClientTool] = {}
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._results: dict[str, tuple[str, ToolCallResult]] = {}
        self._stop = mirrors.listeners(uri).add(self._heard)

    def claim(self, tools: Mapping[str, ClientTool], client: SessionActiveClient) -> None:
        """Run these tools, and be the active client from now on. Tools that were there before still run."""
        self._tools.update(tools)
        self.wanted = client

    def begin(self) -> None:
        """Look at the session for the first time."""
        for turn_id, call in self._ours():
            key = (self._uri, turn_id, call["toolCallId"])
            if key not in self._started:
                self._started.add(key)
                self._finish(turn_id, call["toolCallId"], failed(call["toolName"], INTERRUPTED))

    def _heard(self, change: Change) -> None:
        if change.kind in ("gone", "closed"):
            self._end()
        elif change.kind == "snapshot" or (
            change.kind == "confirmed" and change.action is not None and change.action["type"] in LOOKED_AT
        ):
            self._look()
            if change.origin is None and change.action is not None and _lets_go(change.action):
                self.came_back()

    def came_back(self) -> None:
        """Look again after a connection was lost: the host may have taken our place away meanwhile."""
        self._look()
        state: Any = self._mirrors.confirmed(self._uri) if self._mirrors.is_watched(self._uri) else {}
        if self.wanted is not None and state and "activeClient" not in state and not self._is_claiming():
            wanted = self.wanted
            action: Any = {
                "type": "session/activeClientChanged",
                "session": self._uri,
                "activeClient": wanted,
            }
            self._line.act(action)

    def _claim(self, client: SessionActiveClient | None) -> None:
        kind = "session/activeClientChanged"
        action: Any = {"type": kind, "session": self._uri, "activeClient": client}
        self._line.act(action)

    def _is_claiming(self) -> bool:
        waiting = self._mirrors.pending(self._uri)
        return any(entry.action["type"] == "session/activeClientChanged" for entry in waiting)

    def _ours(self) -> list[tuple[str, Any]]:
        """Give the calls that we have to run, with the id of their turn."""
        if not self._mirrors.is_watched(self._uri):
            return []
        state: SessionState = self._mirrors.confirmed(self._uri)  # type: ignore[assignment] # of a session
        turn: Any = state.get("activeTurn")
        calls = (
            [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"] if turn else []
        )
        me = self._mirrors.client_id
        return [
            (turn["id"], call)
            for call in calls
            if call["status"] == "running" and call.get("toolClientId") == me
        ]

    def _look(self) -> None:
        ours = {call["toolCallId"]: (turn_id, call) for turn_id, call in self._ours()}
        for call_id in [one for one in self._tasks if one not in ours]:
            self._tasks.pop(call_id).cancel()
        for call_id in [one for one in self._results if one not in ours]:
            del self._results[call_id]
        for call_id, (turn_id, call) in ours.items():
            if call_id in self._results:
                self._tell(turn_id, call_id)
            elif (self._uri, turn_id, call_id) not in self._started:
                self._start(turn_id, call)

    def _start(self, turn_id: str, call: Any) -> None:
        call_id = call["toolCallId"]
        self._started.add((self._uri, turn_id, call_id))
        tool = self._tools.get(call["toolName"])
        if tool is None:
            sentence = f"the application has no tool {call['toolName']!r} at present"
            self._finish(turn_id, call_id, failed(call["toolName"], sentence, "unknown-tool"))
            return
        self._tasks[call_id] = self._line.reader.spawn(self._run(tool, turn_id, call))

    async def _run(self, tool: ClientTool, turn_id: str, call: Any) -> None:
        call_id = call["toolCallId"]
        loop = asyncio.get_running_loop()

        def reported(progress: str) -> None:
            loop.call_soon_threadsafe(self._report, turn_id, call_id, progress)

        _reporter.set(reported)
        result = await run_tool(tool, call.get("toolInput"))
        self._tasks.pop(call_id, None)
        self._finish(turn_id, call_id, result)

    def _report(self, turn_id: str, call_id: str, progress: str) -> None:
        if call_id in self._tasks:
            content = [{"type": "text", "text": progress}]
            self._act("session/toolCallContentChanged", turn_id, call_id, content=content)

    def _finish(self, turn_id: str, call_id: str, result: ToolCallResult) -> None:
        self._results[call_id] = (turn_id, result)
        self._tell(turn_id, call_id)

    def _tell(self, turn_id: str, call_id: str) -> None:
        """Tell the result, unless that is under way."""
        waiting: list[Any] = [entry.action for entry in self._mirrors.pending(self._uri)]
        if not any(
            one["type"] == "session/toolCallComplete" and one["toolCallId"] == call_id for one in waiting
        ):
            result = self._results[call_id][1]
            self._act("session/toolCallComplete", turn_id, call_id, result=result)

    def _act(self, kind: str, turn_id: str, call_id: str, **fields: Any) -> None:
        action: Any = {
            "type": kind,
            "session": self._uri,
            "turnId": turn_id,
            "toolCallId": call_id,
            **fields,
        }
        try:
            self._line.act(action)
        except AhpError as error:
            log.info("nobody hears of the call %s: %s", call_id, error)

    def leave(self) -> None:
        """Fail the calls that run, and be the active client no more: before the session is closed."""
        for turn_id, call in self._ours():
            if call["toolCallId"] in self._tasks:
                self._finish(turn_id, call["toolCallId"], failed(call["toolName"], LEFT))
        if self.wanted is not None and not self._line.error:
            self.wanted = None
            self._claim(None)

    def _end(self) -> None:
        self._stop()
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()


def _lets_go(action: Any) -> bool:
    return bool(action["type"] == "session/activeClientChanged" and not action.get("activeClient"))
