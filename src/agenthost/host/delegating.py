"""Delegating: a tool call gives a task to another agent of this host, in a session of its own.

The child is recorded with its parent before it is made, under the call; so a call that is run again after a
restart finds the child that it had, and waits for the same turn. A child works as long as the turn that it
was made for, and no longer: however that turn ends, the child's is cancelled with it.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from agenthost.core.recording import plain
from agenthost.errors import AgentNotFound, AuthRequired, SessionNotFound, ToolError
from agenthost.host.agent import Agent
from agenthost.host.calls import WaitFor
from agenthost.host.dispatch import Dispatcher, Happening
from agenthost.host.identity import Identity
from agenthost.host.lifetimes import Lifetimes, new_id
from agenthost.host.limits import Limits
from agenthost.host.pins import pin_of
from agenthost.host.session import Session
from agenthost.host.sessions import Sessions
from agenthost.host.setup import approved_scopes, is_approved, private_of
from agenthost.host.starting import Start, title_from
from agenthost.host.tasks import TASK, Tasks, depth_of
from agenthost.host.tokens import Tokens
from agenthost.host.toolcontext import Delegated, OnDelegate, OnProgress
from agenthost.host.toolresults import text_block
from agenthost.host.tools import Tool
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.tool import ToolResultContent, ToolResultSubagentContent
from agenthost.wire.ahp.turn import Turn
from agenthost.wire.json import JsonObject

__all__ = ["Delegation", "Task"]

ENDINGS = ("session/turnComplete", "session/turnCancelled", "session/error")


@dataclass(frozen=True, slots=True)
class Task:
    """What a call gives to another agent.

    Attributes:
        parent: the session of the call.
        turn_id: its turn.
        call_id: the call.
        agent: who is to do it.
        text: what is to be done.
        trust: the tools of that agent that need no asking.
        show: shows what becomes of it, in the call.
        wait_for: waits in the parent's turn, looking again whenever that is woken.
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
        """What the child is recorded under."""
        return f"{self.turn_id}/{self.call_id}"


class Delegation:
    """The tasks that agents have given to each other.

    `wake` lets a session's turn look again; `listeners` tells how many listen to a session.
    """

    def __init__(
        self,
        agents: Mapping[str, Agent],
        *,
        sessions: Sessions,
        lifetimes: Lifetimes,
        dispatcher: Dispatcher,
        wake: Callable[[Session], None],
        listeners: Callable[[Session], int],
        limits: Limits,
        tokens: Tokens,
    ) -> None:
        self._agents = agents
        self._sessions = sessions
        self._lifetimes = lifetimes
        self._dispatcher = dispatcher
        self._wake = wake
        self._listeners = listeners
        self._tasks = Tasks(sessions, limits)
        self._tokens = tokens
        self._watches: dict[int, _Watch] = {}

    def by_call(
        self, parent: Session, turn_id: str, call_id: str, wait_for: WaitFor[Delegated]
    ) -> OnDelegate:
        """Give what a call delegates with; `wait_for` waits in its turn, looking whenever that is woken."""

        def delegate(agent: str, text: str, trust: Collection[str], show: OnProgress) -> Awaitable[Delegated]:
            return self.run(Task(parent, turn_id, call_id, agent, text, trust, show, wait_for))

        return delegate

    async def run(self, task: Task) -> Delegated:
        """Have a task done, and wait for its end; the same again after a restart.

        Raises:
            ToolError: it cannot be begun; the sentence says why.
        """
        parent = task.parent
        top = await self._tasks.find_top(parent, task.turn_id)
        is_new = task.key not in private_of(parent).get("children", {})
        client = self._tokens.beginner(top[0])
        if is_new:
            self._check(task, client)
        # No await from here until it is counted: what is asked for at once must not slip through together.
        with self._tasks.counted(parent, top, is_new=is_new):
            return await self._run(task, client)

    def _check(self, task: Task, client: Identity) -> None:
        agent = self._agents.get(task.agent)
        if agent is None:
            raise AgentNotFound(task.agent)
        try:
            self._tokens.check(client, agent)
        except AuthRequired as error:
            raise ToolError(f"{agent.label} cannot begin: {error}") from None

    async def _run(self, task: Task, client: Identity) -> Delegated:
        child = await self._child(task)
        watch = self._watches[child.number] = _Watch(task, self._block(child, task), self._wake)
        try:
            self._begin(child, task, client)
            self._settle_questions(child, task.parent)
            watch.look(child.state)
            return await task.wait_for(lambda: watch.outcome)
        finally:
            del self._watches[child.number]

    async def _child(self, task: Task) -> Session:
        """Give the session that the task has, or make it."""
        parent = task.parent
        children: dict[str, str] = private_of(parent).get("children", {})
        uri = children.get(task.key)
        if uri is None:
            uri = f"{task.agent}:/{new_id()}"
            # Before it is made: whatever happens now, there is never a second one.
            parent.keep({**parent.private, "children": {**children, task.key: uri}})
        try:
            child = await self._sessions.get(uri)
        except SessionNotFound:
            child = await self._lifetimes.create(self._start(task, uri))
        await self._lifetimes.wait_prepared(child)
        return await self._sessions.get(uri)

    def _start(self, task: Task, uri: str) -> Start:
        parent = task.parent
        above = {"session": parent.row.uri, "turn": task.turn_id, "call": task.call_id}
        tools, trusted = self._tools(task)
        return Start(
            agent=task.agent,
            uri=uri,
            owner=parent.row.owner,
            tools=tools,
            working_directory=parent.state["summary"].get("workingDirectory"),
            more={"parent": {**above, "depth": depth_of(parent) + 1}, **trusted},
        )

    def _tools(self, task: Task) -> tuple[dict[str, bool] | None, JsonObject]:
        """Give the child's tools: what needs no asking in the parent needs none here either.

        Where the parent names its tools, nobody may be there to be asked in the child: so it has only those
        that need no asking.
        """
        private = private_of(task.parent)
        named = private.get("tools")
        toolset = self._agents[task.agent].toolset
        same = [one for one in toolset.exposed() if self._is_of(task.parent, one)]
        trusted = {one.name for one in same if is_approved(private, one)} | set(task.trust)
        scopes = {one.name: keys for one in same if (keys := approved_scopes(private, one))}
        more: JsonObject = {"scopes": scopes} if scopes else {}
        if named is None:
            return None, {**more, "trusted": sorted(trusted)} if trusted else more
        return {one.name: True for one in toolset.exposed() if one.trusted or one.name in trusted}, more

    def _is_of(self, parent: Session, one: Tool) -> bool:
        """Tell whether the parent's agent has the same tool: another of that name is another tool."""
        agent = self._agents.get(parent.state["summary"]["provider"])
        other = None if agent is None else agent.toolset.get(one.name)
        if other is None or other is one:
            return other is one
        return other.definition() == one.definition() and pin_of(other) == pin_of(one)

    def _block(self, child: Session, task: Task) -> ToolResultSubagentContent:
        agent = self._agents.get(task.agent)
        label = task.agent if agent is None else agent.label
        block: ToolResultSubagentContent = {
            "type": "subagent",
            "resource": child.row.uri,
            "title": title_from(task.text) or label,
            "agentName": label,
        }
        if agent is not None and agent.description:
            block["description"] = agent.description
        return block

    def _begin(self, child: Session, task: Task, client: Identity) -> None:
        state = child.state
        if state["lifecycle"] != "ready" or state["turns"] or "activeTurn" in state:
            return
        self._tokens.begin(child, client)
        started = {"type": "session/turnStarted", "session": child.row.uri, "turnId": TASK}
        self._dispatcher.act(child, {**started, "userMessage": {"text": task.text}})

    def happened(self, happening: Happening) -> None:
        """Tell who waits how a child gets on; cancel the children of a turn that has ended."""
        session, action = happening.session, happening.action
        watch = self._watches.get(session.number)
        if watch is not None:
            self._settle_questions(session, watch.task.parent)
            watch.look(session.state)
        if "children" not in session.private:
            return
        if action["type"] in ENDINGS:
            for uri in _children(session, action["turnId"]).values():
                self._cancel(uri)
        elif action["type"] == "session/turnStarted" and (old := _children(session, action["turnId"])):
            # Of a turn that was taken back, and whose id is used again: not what this one's calls began.
            children = private_of(session)["children"]
            others = {uri if key in old else key: uri for key, uri in children.items()}
            session.keep({**session.private, "children": others})

    def _settle_questions(self, child: Session, parent: Session) -> None:
        """Decline what a child asks if nobody can answer: who names its tools sees no child."""
        if "tools" not in parent.private or self._listeners(child) > 0 or self._listeners(parent) > 1:
            return
        for request in child.state.get("inputRequests", []):
            action = {"type": "session/inputCompleted", "session": child.row.uri, "requestId": request["id"]}
            self._dispatcher.act(child, {**action, "response": "decline"})

    def _cancel(self, uri: str) -> None:
        child = self._sessions.peek(uri)  # one with a turn is in memory
        if child is not None and child.state.get("activeTurn", {}).get("id") == TASK:
            self._dispatcher.act(child, {"type": "session/turnCancelled", "session": uri, "turnId": TASK})


@dataclass(slots=True)
class _Watch:
    """A child that somebody waits for."""

    task: Task
    block: ToolResultSubagentContent
    wake: Callable[[Session], None]
    outcome: Delegated | None = None
    shown: list[ToolResultContent] = field(default_factory=list)

    def look(self, state: SessionState) -> None:
        """See how it gets on: what it needs is shown in the call, its end is the outcome."""
        if self.outcome is not None:
            return
        self.outcome = _outcome(state, self.block)
        if self.outcome is not None:
            self.wake(self.task.parent)
            return
        content: list[ToolResultContent] = [self.block, *map(text_block, _needs(state))]
        if content != self.shown:
            self.shown = content
            self.task.show(content)


def _children(session: Session, turn_id: str) -> dict[str, str]:
    children = private_of(session).get("children", {})
    return {key: uri for key, uri in children.items() if key.startswith(f"{turn_id}/")}


def _outcome(state: SessionState, block: ToolResultSubagentContent) -> Delegated | None:
    """Give what came of a task, once its turn has ended."""
    if state["lifecycle"] == "creationFailed":
        why = state.get("creationError", {}).get("message", "the agent could not get ready")
        return Delegated(block, error=f"{block['agentName']} could not begin: {why}")
    if state.get("activeTurn", {}).get("id") == TASK or not (state["turns"] or "activeTurn" in state):
        return None
    turn = next((turn for turn in state["turns"] if turn["id"] == TASK), None)
    if turn is None:
        return Delegated(block, error=f"the turn of {block['agentName']} was taken back")
    return Delegated(block, _final_text(turn), _error(turn, block["agentName"]), turn.get("usage"))


def _error(turn: Turn, name: str) -> str | None:
    if turn["state"] == "complete":
        return None
    if turn["state"] == "cancelled":
        return f"{name} was stopped before it was done"
    return f"{name} failed: {turn.get('error', {}).get('message', 'nobody knows why')}"


def _final_text(turn: Turn) -> str:
    """Give what was said last: after all calls, if anything was; else all that was said."""
    texts: list[str] = []
    everything: list[str] = []
    for part in turn["responseParts"]:
        if part["kind"] == "toolCall":
            texts = []
        elif part["kind"] == "markdown":
            texts.append(part["content"])
            everything.append(part["content"])
    return "".join(texts).strip() or "".join(everything).strip()


def _needs(state: SessionState) -> list[str]:
    """Say what a turn waits for that only people can do."""
    parts: list[Any] = state["activeTurn"]["responseParts"] if "activeTurn" in state else []
    calls = [part["toolCall"] for part in parts if part["kind"] == "toolCall"]
    needs = [
        f"Waits for approval: {plain(call['invocationMessage'])}"
        for call in calls
        if call["status"] in ("pending-confirmation", "pending-result-confirmation")
    ]
    return [*needs, *("Waits for an answer" for _ in state.get("inputRequests", []))]
