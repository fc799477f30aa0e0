"""The tool runner: runs the application's own tools when the agent calls them.

A call runs when the host has confirmed that it is running and that it is ours, once in the life of this
process, whatever happens to the connection. Its result is sent until the host has it. A call that was already
running when we first saw the session was started by an earlier process. Nobody knows how far it got, so it
fails.
"""

import asyncio
import contextvars
import logging
from collections.abc import Callable, Mapping
from typing import Any

from agenthost.client.ahp.changes import Change
from agenthost.client.ahp.connection import Connection
from agenthost.client.ahp.errors import AhpError
from agenthost.client.ahp.tools import failed_result, run_tool
from agenthost.client.tools import ClientTool, ToolFailure
from agenthost.core import actions
from agenthost.core.queries import active_calls, client_of
from agenthost.wire.ahp.actions.text import Action
from agenthost.wire.ahp.session import SessionActiveClient
from agenthost.wire.ahp.toolcall import ToolCallResult

__all__ = ["ToolRunner", "report"]

log = logging.getLogger("agenthost.client")

INTERRUPTED = "the application was restarted while the tool ran; what the tool did before that is not known"
LEFT = "the application has left the session"

RELEVANT = frozenset(
    {
        "chat/toolCallReady",
        "chat/toolCallConfirmed",
        "chat/toolCallComplete",
        "chat/turnComplete",
        "chat/turnCancelled",
        "chat/error",
        "chat/truncated",
        "chat/turnStarted",
        "chat/turnResume",
        "session/activeClientSet",
        "session/activeClientRemoved",
    }
)
"""The actions that may start or end a call of ours."""

_reporter: contextvars.ContextVar[Callable[[str], None]] = contextvars.ContextVar("reporter")


def report(progress: str) -> None:
    """Show the progress of the tool that calls this, from any thread.

    Raises:
        LookupError: this is not inside a tool that an agent called.
    """
    _reporter.get()(progress)


class ToolRunner:
    """Runs this client's calls in the chat of one resource. `started` has all calls of this process so far.

    Attributes:
        wanted: what this client declares to be the active one; None if it does not want to be.
        tools: the tools, which all chats of a session share.
    """

    def __init__(
        self,
        uri: str,
        connection: Connection,
        started: set[tuple[str, str, str]],
        tools: dict[str, ClientTool] | None = None,
    ) -> None:
        self.wanted: SessionActiveClient | None = None
        self.tools: dict[str, ClientTool] = {} if tools is None else tools
        self._uri = uri
        self._connection = connection
        self._replica = connection.replica
        self._started = started
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._results: dict[str, tuple[str, ToolCallResult]] = {}
        self._stop = self._replica.listeners(uri).add(self._on_change)

    def offer(self, tools: Mapping[str, ClientTool], client: SessionActiveClient) -> None:
        """Run these tools, and stay the active client. Earlier tools can still run."""
        self.tools.update(tools)
        self.wanted = client

    def begin(self) -> None:
        """Fail the calls of an earlier process."""
        for turn_id, call in self._own_calls():
            key = (self._uri, turn_id, call["toolCallId"])
            if key not in self._started:
                self._started.add(key)
                result = failed_result(call["toolName"], ToolFailure(INTERRUPTED))
                self._finish(turn_id, call["toolCallId"], result)

    def resume(self) -> None:
        """Claim the active role again if the host took it away, as it does after a while (C8)."""
        self._update()
        if self.wanted is None or not self._replica.is_subscribed(self._uri) or self._is_claiming():
            return
        clients = self._replica.confirmed_conversation(self._uri).session["activeClients"]
        # HR-A11: a host of 0.1 has one active client, and another may have become it.
        is_taken = bool(clients) and not self._connection.has_several_clients
        if not is_taken and all(one["clientId"] != self._replica.client_id for one in clients):
            self._connection.dispatch(self._uri, actions.active_client_set(self.wanted))

    def leave(self) -> None:
        """Fail running calls and give up the active role, before the session is closed."""
        for turn_id, call in self._own_calls():
            if call["toolCallId"] in self._tasks:
                result = failed_result(call["toolName"], ToolFailure(LEFT))
                self._finish(turn_id, call["toolCallId"], result)
        if self.wanted is not None and not self._connection.error:
            self.wanted = None
            self._connection.dispatch(self._uri, actions.active_client_removed(self._replica.client_id))

    # Following the session

    def _on_change(self, change: Change) -> None:
        if change.kind in ("gone", "closed"):
            self._end()
        elif change.kind == "snapshot" or (
            change.kind == "confirmed" and change.action is not None and change.action["type"] in RELEVANT
        ):
            self._update()
            # Only if the host removed us: `release` is meant to last.
            if change.origin is None and change.action is not None and self._ends_role(change.action):
                self.resume()

    def _ends_role(self, action: Any) -> bool:
        is_removal = action["type"] == "session/activeClientRemoved"
        return is_removal and bool(action["clientId"] == self._replica.client_id)

    def _is_claiming(self) -> bool:
        pending = self._replica.pending(self._uri)
        return any(entry.action["type"].startswith("session/activeClient") for entry in pending)

    def _own_calls(self) -> list[tuple[str, Any]]:
        """Return the running calls of this client (HR-A12), each with the id of its turn."""
        if not self._replica.is_subscribed(self._uri):
            return []
        chat: Any = self._replica.confirmed_conversation(self._uri).chat
        me = self._replica.client_id
        return [
            (chat["activeTurn"]["id"], call)
            for call in active_calls(chat)
            if call["status"] == "running" and client_of(call) == me
        ]

    def _update(self) -> None:
        """Start new calls, stop those that ended without us, and send results that the host lacks."""
        own = {call["toolCallId"]: (turn_id, call) for turn_id, call in self._own_calls()}
        for call_id in [one for one in self._tasks if one not in own]:
            self._tasks.pop(call_id).cancel()
        # The host has the result, or no longer wants it.
        for call_id in [one for one in self._results if one not in own]:
            del self._results[call_id]
        for call_id, (turn_id, call) in own.items():
            if call_id in self._results:
                self._send_result(turn_id, call_id)
            elif (self._uri, turn_id, call_id) not in self._started:
                self._start(turn_id, call)

    def _end(self) -> None:
        self._stop()
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()

    # Running

    def _start(self, turn_id: str, call: Any) -> None:
        call_id = call["toolCallId"]
        # Before anything can fail: a call is started once, whatever comes of it.
        self._started.add((self._uri, turn_id, call_id))
        tool = self.tools.get(call["toolName"])
        if tool is None:
            sentence = f"the application has no tool {call['toolName']!r} at present"
            result = failed_result(call["toolName"], ToolFailure(sentence, "unknown-tool"))
            self._finish(turn_id, call_id, result)
            return
        self._tasks[call_id] = self._connection.tasks.spawn(self._run(tool, turn_id, call))

    async def _run(self, tool: ClientTool, turn_id: str, call: Any) -> None:
        call_id = call["toolCallId"]
        loop = asyncio.get_running_loop()

        def show(progress: str) -> None:
            loop.call_soon_threadsafe(self._show_progress, turn_id, call_id, progress)

        _reporter.set(show)
        result = await run_tool(tool, call.get("toolInput"))
        self._tasks.pop(call_id, None)
        self._finish(turn_id, call_id, result)

    def _show_progress(self, turn_id: str, call_id: str, progress: str) -> None:
        if call_id in self._tasks:
            shown = actions.tool_call_content_changed(turn_id, call_id, [{"type": "text", "text": progress}])
            self._dispatch(call_id, shown)

    def _finish(self, turn_id: str, call_id: str, result: ToolCallResult) -> None:
        self._results[call_id] = (turn_id, result)
        self._send_result(turn_id, call_id)

    def _send_result(self, turn_id: str, call_id: str) -> None:
        """Dispatch the result, unless that action is still pending."""
        chat = self._replica.chat_of(self._uri)
        pending: list[Any] = [entry.action for entry in self._replica.pending(chat)]
        if not any(
            one["type"] == "chat/toolCallComplete" and one["toolCallId"] == call_id for one in pending
        ):
            result = self._results[call_id][1]
            self._dispatch(call_id, actions.tool_call_complete(turn_id, call_id, result))

    def _dispatch(self, call_id: str, action: Action) -> None:
        try:
            self._connection.dispatch(self._replica.chat_of(self._uri), action)
        except AhpError as error:
            log.info("the call %s could not be reported: %s", call_id, error)
