"""Turns: a task for each turn that runs or waits. Starts them, ends them, and takes them up after a restart.

However an agent ends, its turn gets exactly one ending. A turn that is still running when the host stops gets
none: the next start takes it up.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from agenthost.core.stopping import STOPPED
from agenthost.errors import HostError, LimitReached
from agenthost.host.agent import Agent
from agenthost.host.crashes import Crashes
from agenthost.host.dispatch import Dispatcher, Happening
from agenthost.host.limits import Limits
from agenthost.host.recorder import Notes, without_turn
from agenthost.host.running import RunningTurn, Surroundings
from agenthost.host.session import Session
from agenthost.host.setup import private_of
from agenthost.host.steps import run_steps
from agenthost.host.turn import Stopped, Turn

log = logging.getLogger("agenthost.turns")

CLOCK_SECONDS = 1.0
"""How often it is looked whose time is over, at least."""

MAX_LOGGED = 500
"""How many characters of the sentence of an error are logged."""

END_SECONDS = 5.0
"""How long agents may take to end when the host stops."""

CRASHED = (
    "the host ended unexpectedly {} times while this turn ran, each time before the turn got any further; "
    "so it is not run again"
)


@dataclass(slots=True)
class Stats:
    """What happened so far, for the metrics: how turns ended, how tool calls did, errors by their kinds."""

    turns: Counter[str] = field(default_factory=Counter)
    tool_calls: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)


class Turns:
    """All turns that run or wait, at most one of each session."""

    def __init__(
        self,
        *,
        agents: Mapping[str, Agent],
        dispatcher: Dispatcher,
        around: Surroundings,
        options: Callable[[Agent, Session], dict[str, str]],
        workspace: Callable[[Session], Path],
        crashes: Crashes,
        lacks: Callable[[Session], str | None],
        stats: Stats,
    ) -> None:
        self._agents = agents
        self._dispatcher = dispatcher
        self._around = around
        self._options = options
        self._workspace = workspace
        self._crashes = crashes
        self._lacks = lacks
        self._stats = stats
        self._running: dict[int, RunningTurn] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._is_closing = False

    @property
    def limits(self) -> Limits:
        """How long and how much."""
        return self._around.limits

    @property
    def count(self) -> int:
        """How many turns run or wait."""
        return len(self._running)

    def sessions(self) -> list[Session]:
        """Give the sessions whose turns run or wait."""
        return [running.session for running in self._running.values()]

    def notes(self, session: Session) -> Notes:
        """Give what the agent of the running turn wants to have kept with its words."""
        running = self._running.get(session.number)
        return running.notes if running is not None else {}

    def happened(self, happening: Happening) -> None:
        """Do what follows from an action: start a turn, end one, let what waits look again."""
        session = happening.session
        running = self._running.get(session.number)
        turn = session.state.get("activeTurn")
        if running is not None and (turn is None or turn["id"] != running.id):
            self._end(running)
            running = None
            self._say_nothing_goes_on(session)
        if turn is not None and running is None:
            self._start(session, is_taken_up=False)
        elif running is not None:
            running.wake()
        self._crashes.happened(session)

    def wake(self, session: Session) -> None:
        """Let what waits in a session's turn look again: something happened elsewhere."""
        running = self._running.get(session.number)
        if running is not None:
            running.wake()

    def take_up(self, session: Session) -> None:
        """Go on with a turn that was running or waiting when the host stopped."""
        if "activeTurn" in session.state and session.number not in self._running:
            self._say_nothing_goes_on(session)
            self._start(session, is_taken_up=True)

    def _say_nothing_goes_on(self, session: Session) -> None:
        """Take back what an agent said that it is doing: it ended, or was interrupted, before it could."""
        if "activity" in session.state["summary"]:
            action = {"type": "session/activityChanged", "session": session.row.uri}
            self._dispatcher.act(session, action)

    def _start(self, session: Session, *, is_taken_up: bool) -> None:
        if self._is_closing:
            return  # taken up by the next start
        name = session.state["summary"]["provider"]
        agent = self._agents.get(name)
        if agent is None:
            sentence = f"the agent {name!r} is not served any more"
            log.warning("turn failed: %s", sentence)
            self._fail(session, "agentNotFound", sentence)
            return
        lacking = None if is_taken_up or not agent.protected_resources else self._lacks(session)
        if lacking is not None:
            self._fail(session, "authRequired", lacking)
            return
        running = RunningTurn(session, agent, self._around, is_taken_up=is_taken_up)
        running.task = asyncio.get_running_loop().create_task(self._run(running, is_taken_up=is_taken_up))
        self._running[session.number] = running
        if self._timer is None:
            self._set_timer()

    def _end(self, running: RunningTurn) -> None:
        """Stop the agent's work: its turn has ended, in whatever way."""
        del self._running[running.session.number]
        running.is_over = True
        running.wake()
        for task in running.tasks:
            task.cancel()
        if not running.is_answered:
            running.task.cancel()

    async def _run(self, running: RunningTurn, *, is_taken_up: bool) -> None:
        try:
            if is_taken_up and not await self._crashes.admit(running.session):
                running.is_answered = True
                sentence = CRASHED.format(self.limits.crashes_per_turn)
                log.error("the turn of %s is ended: %s", running.uri, sentence)
                self._fail(running.session, "hostCrashed", sentence)
                return
            await self._answer(running)
        except asyncio.CancelledError as error:
            # The turn is over, or the host stops; but an agent may also cancel itself.
            if not running.is_over and not self._is_closing:
                self._broke(running, error)
        except Stopped as stopped:
            self._complete(running, stopped.reason)
        except (Exception, SystemExit) as error:
            self._broke(running, error)
        else:
            self._complete(running, running.stop_reason)

    async def _answer(self, running: RunningTurn) -> None:
        turn = Turn(running, partial(self._options, running.agent, running.session), self._workspace)
        running.limit_time(self.limits.turn_seconds)
        try:
            if running.agent.sources:
                await running.wait_tools()
            if running.agent.is_stepwise:
                await run_steps(turn, running, self.limits.steps_per_turn)
            else:
                await running.agent.answer(turn)  # type: ignore[misc] # a coroutine, as it is no generator
        except asyncio.CancelledError:
            if running.is_late and not running.is_over:
                seconds = self.limits.turn_seconds
                raise LimitReached(f"the turn took longer than {seconds:g} seconds") from None
            raise
        finally:
            running.is_answered = True

    def _watch_clock(self) -> None:
        """Look whose time is over, from time to time: a timer for each turn would cost too much."""
        self._timer = None
        now = monotonic()
        for running in self._running.values():
            deadline = running.deadline
            if deadline is not None and deadline <= now and not running.is_late:
                running.is_late = True
                running.task.cancel()
        if self._running:
            self._set_timer()

    def _set_timer(self) -> None:
        pause = min(CLOCK_SECONDS, self.limits.turn_seconds / 10)
        self._timer = asyncio.get_running_loop().call_later(pause, self._watch_clock)

    def _complete(self, running: RunningTurn, reason: str | None) -> None:
        if running.is_over:
            return
        private = None
        if reason is not None:
            running.output.notify(STOPPED[reason])
            stops = {**private_of(running.session).get("stops", {}), running.id: reason}
            private = without_turn(running.session, stops=stops)
        action = {"type": "session/turnComplete", "session": running.uri, "turnId": running.id}
        self._dispatcher.act(running.session, action, private=private)

    def _broke(self, running: RunningTurn, error: BaseException) -> None:
        if running.is_over:
            return
        kind = type(error).__name__
        self._stats.errors[kind] += 1
        if isinstance(error, HostError):
            log.warning("turn of agent %s failed: %s: %.*s", running.agent.name, kind, MAX_LOGGED, error)
            self._fail(running.session, kind[0].lower() + kind[1:], str(error))
        else:
            log.error("agent %s failed", running.agent.name, exc_info=error)
            sentence = f"the agent failed unexpectedly ({kind}); the log of the host says more"
            self._fail(running.session, "agentFailed", sentence)

    def _fail(self, session: Session, kind: str, sentence: str) -> None:
        uri, turn_id = session.row.uri, session.state["activeTurn"]["id"]
        error = {"errorType": kind, "message": sentence}
        self._dispatcher.act(
            session, {"type": "session/error", "session": uri, "turnId": turn_id, "error": error}
        )

    def count_up(self, happening: Happening) -> None:
        """Count how turns and calls ended."""
        action: Any = happening.action
        match action["type"]:
            case "session/turnComplete" | "session/turnCancelled" | "session/error":
                self._stats.turns[_OUTCOMES[action["type"]]] += 1
            case "session/toolCallComplete":
                self._stats.tool_calls["completed" if action["result"]["success"] else "failed"] += 1
            case "session/toolCallConfirmed" if not action["approved"]:
                self._stats.tool_calls["denied"] += 1

    async def close(self) -> None:
        """Stop all agents, without ending their turns."""
        self._is_closing = True
        self._crashes.close(self.sessions())
        if self._timer is not None:
            self._timer.cancel()
        tasks = {
            task: running.uri for running in self._running.values() for task in (running.task, *running.tasks)
        }
        for running in self._running.values():
            running.is_over = True
        for task in tasks:
            task.cancel()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=END_SECONDS)
            for task in late:
                log.warning("the turn of %s did not end when it was asked to", tasks[task])
        self._running.clear()


_OUTCOMES = {
    "session/turnComplete": "complete",
    "session/turnCancelled": "cancelled",
    "session/error": "error",
}
