"""Delegation: a tool call gives a task to another agent of this host, in a session of its own.

The chat of that session, the child, is also a chat of the parent's session (C7, see `task_session`).

The child's URI is recorded in the parent's private data, under the call, before the child is created. So a
call that is run again after a restart finds its child, and waits for the same turn. A child does not outlive
the turn that created it: however that turn ends, the child's turn is cancelled.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from agenthost.core import actions
from agenthost.core.conversation import Conversation
from agenthost.core.queries import (
    TURN_ENDINGS,
    WAITING_CALL_STATUSES,
    active_calls,
    error_of,
    open_questions,
    working_directory,
)
from agenthost.core.session_meta import SESSION
from agenthost.core.turn_transcript import display_text
from agenthost.errors import AgentNotFound, AuthRequired, SessionNotFound, ToolError
from agenthost.host.access.identity import Identity
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.tool import Tool
from agenthost.host.authoring.tool_context import Delegated, OnProgress
from agenthost.host.authoring.tool_pins import pin_of
from agenthost.host.authoring.tool_results import text_block
from agenthost.host.lifecycle import Lifecycle, new_id
from agenthost.host.limits import Limits
from agenthost.host.sessions.dispatch import Dispatcher
from agenthost.host.sessions.listeners import AppliedAction
from agenthost.host.sessions.new_session import NewSession, TaskOrigin, title_from
from agenthost.host.sessions.tokens import Tokens
from agenthost.host.sessions.tool_access import approved_scopes, is_approved
from agenthost.host.state.private import Private, with_values
from agenthost.host.state.registry import SessionRegistry
from agenthost.host.state.session import Session
from agenthost.host.task_limits import TASK, TaskLimits, depth_of
from agenthost.host.turns.tool_calls import WaitFor
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.message import Message
from agenthost.wire.ahp.tool import ToolResultContent, ToolResultSubagentContent
from agenthost.wire.ahp.turn import Turn

__all__ = ["Delegation", "Task"]


@dataclass(frozen=True, slots=True)
class Task:
    """A task that a call gives to another agent.

    Attributes:
        parent: the session of the call.
        turn_id: the id of its turn.
        call_id: the id of the call.
        agent: the agent that does the task.
        text: what is to be done.
        trust: the tools of that agent that need no approval.
        show: shows progress in the call.
        wait_for: waits in the parent's turn, checking again whenever that turn is woken.
    """

    parent: Session
    turn_id: str
    call_id: str
    agent: str
    text: str
    trust: Collection[str]
    show: OnProgress
    wait_for: WaitFor[Delegated]

    @property
    def key(self) -> str:
        """The key under which the child is recorded."""
        return f"{self.turn_id}/{self.call_id}"


class Delegation:
    """The tasks that agents have given to each other.

    `wake` wakes what waits in a session's turn. `listeners` returns how many subscribers a session has.
    `turn_on` makes `on_action` a listener, which most hosts never need.
    """

    def __init__(
        self,
        agents: Mapping[str, Agent],
        *,
        sessions: SessionRegistry,
        lifecycle: Lifecycle,
        dispatcher: Dispatcher,
        wake: Callable[[Session], None],
        listeners: Callable[[Session], int],
        limits: Limits,
        tokens: Tokens,
        turn_on: Callable[[], None],
    ) -> None:
        self._agents = agents
        self._sessions = sessions
        self._lifecycle = lifecycle
        self._dispatcher = dispatcher
        self._wake = wake
        self._listeners = listeners
        self._tasks = TaskLimits(sessions, limits)
        self._tokens = tokens
        self._turn_on = turn_on
        self._watches: dict[int, _Watch] = {}

    async def delegate(
        self,
        parent: Session,
        turn_id: str,
        call_id: str,
        wait_for: WaitFor[Delegated],
        agent: str,
        text: str,
        trust: Collection[str],
        show: OnProgress,
    ) -> Delegated:
        """Delegate a task of a call; `wait_for` waits in the turn of the call. Raises like `run`."""
        return await self.run(Task(parent, turn_id, call_id, agent, text, trust, show, wait_for))

    async def run(self, task: Task) -> Delegated:
        """Run a task, or continue it after a restart, and wait until it has ended.

        Raises:
            ToolError: it cannot be started; the message says why.
        """
        self._turn_on()
        parent = task.parent
        top = await self._tasks.find_top(parent, task.turn_id)
        is_new = task.key not in parent.private.get("children", {})
        client = self._tokens.beginner(top[0])
        if is_new:
            self._check(task, client)
        # No await between check and count: concurrent calls must not exceed the limit together.
        with self._tasks.counted(parent, top, is_new=is_new):
            return await self._run(task, client)

    def _check(self, task: Task, client: Identity) -> None:
        agent = self._agents.get(task.agent)
        if agent is None:
            raise AgentNotFound(task.agent)
        try:
            self._tokens.check(client, agent)
        except AuthRequired as error:
            raise ToolError(f"{agent.label} cannot start: {error}") from None

    async def _run(self, task: Task, client: Identity) -> Delegated:
        child = await self._child(task)
        watch = self._watches[child.number] = _Watch(task, self._block(child, task), child.uri, self._wake)
        try:
            self._begin(child, task, client)
            self._decline_questions(child, task.parent)
            watch.look(child.conversation)
            return await task.wait_for(lambda: watch.outcome)
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is None or current.cancelling():
                raise
            # The turn has ended, and the call is about to be cancelled: nothing has failed.
            raise ToolError("the turn has ended") from None
        finally:
            del self._watches[child.number]

    async def _child(self, task: Task) -> Session:
        """Return the task's session, and create it if necessary."""
        parent = task.parent
        children: dict[str, str] = parent.private.get("children", {})
        uri = children.get(task.key)
        if uri is None:
            uri = f"{task.agent}:/{new_id()}"
            # Recorded before it is created: even after a crash there is never a second one.
            parent.keep(with_values(parent.private, children={**children, task.key: uri}) or parent.private)
        try:
            child = await self._sessions.get(uri)
        except SessionNotFound:
            child = await self._lifecycle.create(self._start(task, uri))
        await self._lifecycle.wait_prepared(child)
        return await self._sessions.get(uri)

    def _start(self, task: Task, uri: str) -> NewSession:
        parent = task.parent
        above = {"session": parent.row.uri, "turn": task.turn_id, "call": task.call_id}
        above["chat"] = parent.chat_uri
        tools, trusted = self._tools(task)
        return NewSession(
            agent=task.agent,
            uri=uri,
            owner=parent.row.owner,
            tools=tools,
            working_directory=working_directory(parent.state),
            private={"parent": {**above, "depth": depth_of(parent) + 1}, **trusted},
            task=TaskOrigin(parent, task.call_id, self._title(task)),
        )

    def _tools(self, task: Task) -> tuple[dict[str, bool] | None, Private]:
        """Return the child's tools. Those that need no approval in the parent need none here either.

        If the parent's client chose the tools by name, there may be nobody to ask in the child, so the child
        gets only tools that need no approval.
        """
        private = task.parent.private
        named = private.get("tools")
        toolset = self._agents[task.agent].toolset
        same = [one for one in toolset.exposed() if self._is_of(task.parent, one)]
        trusted = {one.name for one in same if is_approved(private, one)} | set(task.trust)
        scopes = {one.name: keys for one in same if (keys := approved_scopes(private, one))}
        more: Private = {"scopes": scopes} if scopes else {}
        if named is None:
            if trusted:
                more["given"] = sorted(trusted)
            return None, more
        return {one.name: True for one in toolset.exposed() if one.trusted or one.name in trusted}, more

    def _is_of(self, parent: Session, one: Tool) -> bool:
        """Return whether the parent's agent has this very tool, not only one with the same name."""
        agent = self._agents.get(parent.state["provider"])
        other = None if agent is None else agent.toolset.get(one.name)
        if other is None or other is one:
            return other is one
        return other.definition() == one.definition() and pin_of(other) == pin_of(one)

    def _block(self, child: Session, task: Task) -> ToolResultSubagentContent:
        agent = self._agents.get(task.agent)
        block: Any = {
            "type": "subagent",
            "resource": child.chat_uri,
            "title": self._title(task),
            "agentName": task.agent if agent is None else agent.label,
        }
        if agent is not None and agent.description:
            block["description"] = agent.description
        if child.is_task:
            block["_meta"] = {SESSION: child.uri}
        else:  # of a version before, in which tasks were no chats
            block["resource"] = child.uri
        return block  # type: ignore[no-any-return] # built of its fields

    def _title(self, task: Task) -> str:
        agent = self._agents.get(task.agent)
        return title_from(task.text) or (task.agent if agent is None else agent.label)

    def _begin(self, child: Session, task: Task, client: Identity) -> None:
        chat = child.chat
        if child.state["lifecycle"] != "ready" or chat["turns"] or "activeTurn" in chat:
            return
        self._tokens.begin(child, client)
        message: Message = {"text": task.text, "origin": {"kind": "agent"}}
        self._dispatcher.act(child, actions.turn_started(TASK, message, child.now()))

    def loaded(self, session: Session) -> None:
        """Listen to actions if the loaded session has delegated tasks."""
        if "children" in session.private:
            self._turn_on()

    def on_action(self, applied: AppliedAction) -> None:
        """Follow the children that calls wait for, and cancel the children of a turn that has ended."""
        session, action = applied.session, applied.action
        watch = self._watches.get(session.number)
        if watch is not None:
            self._decline_questions(session, watch.task.parent)
            watch.look(session.conversation)
        if "children" not in session.private:
            return
        turn_id = action.get("turnId", "")
        if action["type"] in TURN_ENDINGS:
            for uri in _children(session, str(turn_id)).values():
                self._cancel(uri)
        elif action["type"] == "chat/turnStarted" and (old := _children(session, action["turnId"])):
            # Children of a removed turn whose id is used again: this turn's calls must not find them.
            children = session.private["children"]
            others = {uri if key in old else key: uri for key, uri in children.items()}
            session.keep(with_values(session.private, children=others) or session.private)

    def _decline_questions(self, child: Session, parent: Session) -> None:
        """Decline a child's questions if nobody can answer: a client that names tools sees no children."""
        if "tools" not in parent.private or self._listeners(child) > 0:
            return
        if self._listeners(parent) > 1 or self._listeners(parent.top) > 1:
            return  # what waits is told there
        for request in open_questions(child.chat):
            declined = actions.input_completed(request["id"], "decline")
            self._dispatcher.act(child, declined)

    def _cancel(self, uri: str) -> None:
        child = self._sessions.peek(uri)  # a session with a turn is always in memory
        if child is not None and child.chat.get("activeTurn", {}).get("id") == TASK:
            self._dispatcher.act(child, actions.turn_cancelled(TASK, child.elapsed()))


@dataclass(slots=True)
class _Watch:
    """A child that a call waits for."""

    task: Task
    block: ToolResultSubagentContent
    session: str
    wake: Callable[[Session], None]
    outcome: Delegated | None = None
    shown: list[ToolResultContent] = field(default_factory=list)

    def look(self, conversation: Conversation) -> None:
        """Check its state: show in the call what it waits for, and set the outcome when it has ended."""
        if self.outcome is not None:
            return
        self.outcome = _outcome(conversation, self.block, self.session)
        if self.outcome is not None:
            self.wake(self.task.parent)
            return
        content: list[ToolResultContent] = [self.block, *map(text_block, _needs(conversation.chat))]
        if content != self.shown:
            self.shown = content
            self.task.show(content)


def _children(session: Session, turn_id: str) -> dict[str, str]:
    children = session.private.get("children", {})
    return {key: uri for key, uri in children.items() if key.startswith(f"{turn_id}/")}


def _outcome(conversation: Conversation, block: ToolResultSubagentContent, session: str) -> Delegated | None:
    """Return the outcome of a task; None until its turn has ended."""
    state, chat = conversation
    if state["lifecycle"] == "failed":
        why = state.get("creationError", {}).get("message", "the agent could not get ready")
        return Delegated(block, session, error=f"{block['agentName']} could not start: {why}")
    if chat.get("activeTurn", {}).get("id") == TASK or not (chat["turns"] or "activeTurn" in chat):
        return None
    turn = next((turn for turn in chat["turns"] if turn["id"] == TASK), None)
    if turn is None:
        return Delegated(block, session, error=f"the turn of {block['agentName']} was removed")
    return Delegated(block, session, _final_text(turn), _error(turn, block["agentName"]), turn.get("usage"))


def _error(turn: Turn, name: str) -> str | None:
    if turn["state"] == "complete":
        return None
    if turn["state"] == "cancelled":
        return f"{name} was cancelled before it had finished"
    error = error_of(turn)
    return f"{name} failed: {'the reason is unknown' if error is None else error['message']}"


def _final_text(turn: Turn) -> str:
    """Return the text after the last call, or all text if there is none after it."""
    texts: list[str] = []
    everything: list[str] = []
    for part in turn["responseParts"]:
        if part["kind"] == "toolCall":
            texts = []
        elif part["kind"] == "markdown":
            texts.append(part["content"])
            everything.append(part["content"])
    return "".join(texts).strip() or "".join(everything).strip()


def _needs(state: ChatState) -> list[str]:
    """Return what a turn waits for from people."""
    calls: list[Any] = active_calls(state)
    needs = [
        f"Waits for approval: {display_text(call['invocationMessage'])}"
        for call in calls
        if call["status"] in WAITING_CALL_STATUSES
    ]
    return [*needs, *("Waits for an answer" for _ in open_questions(state))]
