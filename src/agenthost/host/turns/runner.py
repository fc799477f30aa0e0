"""The turn runner: one task for each turn that runs or waits.

Starts turns, ends them, and resumes them after a restart. However an agent ends, its turn ends exactly once
(HR-U02). A turn that is still running when the host stops does not end: the next start resumes it (HR-C08).
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic

from agenthost.core import actions
from agenthost.core.stop_reasons import STOP_SENTENCES
from agenthost.errors import HostError, LimitReached
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.turn import Stopped, Turn
from agenthost.host.sessions.listeners import AppliedAction
from agenthost.host.sessions.recorder import without_turn
from agenthost.host.state.session import Session
from agenthost.host.turns.crashes import CrashCounts
from agenthost.host.turns.running_turn import RunningTurn
from agenthost.host.turns.services import TurnServices
from agenthost.host.turns.step_loop import run_steps
from agenthost.wire.ahp.common import ErrorInfo
from agenthost.wire.json import Json

log = logging.getLogger("agenthost.turns")

CLOCK_SECONDS = 1.0
"""The longest interval between checks of the time limits."""

MAX_LOGGED = 500
"""How many characters of an error message are logged."""

STOP_SECONDS = 5.0
"""How long agents may take to stop when the host stops."""

CRASHED = (
    "the host ended unexpectedly {} times while this turn ran, each time before the turn got any further; "
    "so it is not run again"
)


@dataclass(slots=True)
class TurnStats:
    """Counters for the metrics: how turns ended, how tool calls ended, and errors by kind."""

    turns: Counter[str] = field(default_factory=Counter)
    tool_calls: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)


class TurnRunner:
    """All turns that run or wait, at most one per session."""

    def __init__(
        self,
        *,
        agents: Mapping[str, Agent],
        services: TurnServices,
        crashes: CrashCounts,
        lacks: Callable[[Session], HostError | None],
        stats: TurnStats,
    ) -> None:
        self._agents = agents
        self._services = services
        self._limits = services.limits
        self._crashes = crashes
        self._lacks = lacks
        self._stats = stats
        self._running: dict[int, RunningTurn] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._is_closing = False

    @property
    def count(self) -> int:
        """How many turns run or wait."""
        return len(self._running)

    def sessions(self) -> list[Session]:
        """Return the sessions whose turns run or wait."""
        return [running.session for running in self._running.values()]

    def on_action(self, applied: AppliedAction) -> None:
        """React to an action: start a turn, stop one, or wake what waits in it."""
        session = applied.session
        running = self._running.get(session.number)
        turn = session.chat.get("activeTurn")
        if running is not None:
            if turn is not None and turn["id"] == running.id:
                if running.waiter.is_waited:
                    running.waiter.wake()
                turn = None
            else:
                self._end(running)
                if "activity" in session.chat:
                    self._clear_activity(session)
        if turn is not None:
            # A turn that failed continues after what it had said: its agent is run again.
            is_continued = applied.action["type"] == "chat/turnResume"
            self._start(session, is_resumed=is_continued, is_counted=False)
        if self._crashes.trial is not None:
            self._crashes.look_at(session)

    def wake(self, session: Session) -> None:
        """Wake what waits in a session's turn, because something happened elsewhere."""
        running = self._running.get(session.number)
        if running is not None:
            running.waiter.wake()

    def resume(self, session: Session) -> None:
        """Resume a turn that was running or waiting when the host stopped."""
        if "activeTurn" in session.chat and session.number not in self._running:
            if "activity" in session.chat:
                self._clear_activity(session)
            self._start(session, is_resumed=True)

    def _clear_activity(self, session: Session) -> None:
        """Clear the activity that an agent left behind when it ended or was interrupted."""
        self._services.act(session, actions.activity_changed(None))

    def _start(self, session: Session, *, is_resumed: bool, is_counted: bool = True) -> None:
        """Start the agent of a turn. One that is resumed repeats itself; `is_counted` counts crashes."""
        if self._is_closing:
            return  # the next start resumes it
        name = session.state["provider"]
        agent = self._agents.get(name)
        if agent is None:
            sentence = f"the agent {name!r} is no longer served"
            log.warning("turn failed: %s", sentence)
            self._fail(session, "agentNotFound", sentence)
            return
        # HR-P01. A resumed turn was checked when it started, and tokens do not survive a restart.
        lacking = self._lacks(session) if agent.protected_resources and not is_resumed else None
        if lacking is not None:
            self._fail(session, "authRequired", str(lacking))
            return
        running = RunningTurn(session, agent, self._services, is_resumed=is_resumed)
        running.task = asyncio.get_running_loop().create_task(
            self._run(running, is_counted=is_resumed and is_counted)
        )
        self._running[session.number] = running
        if self._timer is None:
            self._set_timer()

    def _end(self, running: RunningTurn) -> None:
        """Stop the agent, because its turn has ended in one way or another."""
        del self._running[running.session.number]
        running.waiter.is_over = True
        if running.waiter.is_waited:
            running.waiter.wake()
        for task in running.tasks:
            task.cancel()
        # A finished agent's task may be the one that applies this action: it must not cancel itself.
        if not running.is_answered:
            running.task.cancel()

    async def _run(self, running: RunningTurn, *, is_counted: bool) -> None:
        try:
            if is_counted and not await self._crashes.admit(running.session):
                # No agent runs, and `_end` must not cancel this task.
                running.is_answered = True
                sentence = CRASHED.format(self._limits.crashes_per_turn)
                log.error("the turn of %s is ended: %s", running.uri, sentence)
                self._fail(running.session, "hostCrashed", sentence, is_resumable=True)
                return
            await self._answer(running)
        except asyncio.CancelledError as error:
            # The turn has ended, or the host stops; but an agent may also cancel itself.
            if not running.is_over and not self._is_closing:
                self._fail_with(running, error)
        except Stopped as stopped:
            self._complete(running, stopped.reason)
        # An agent that calls `sys.exit` ends its turn, not the host.
        except (Exception, SystemExit) as error:
            self._fail_with(running, error)
        else:
            self._complete(running, running.stop_reason)

    async def _answer(self, running: RunningTurn) -> None:
        turn = Turn(running)
        running.waiter.deadline = monotonic() + self._limits.turn_seconds
        try:
            if running.agent.sources:
                await running.wait_tools()
            if running.agent.is_stepwise:
                await run_steps(turn, running, self._limits.steps_per_turn)
            else:
                await running.agent.answer(turn)  # type: ignore[misc] # not stepwise, so a coroutine
        except asyncio.CancelledError:
            if running.waiter.is_late and not running.is_over:
                seconds = self._limits.turn_seconds
                raise LimitReached(f"the turn took longer than {seconds:g} seconds") from None
            raise
        finally:
            running.is_answered = True

    def _watch_clock(self) -> None:
        """Check the time limits of all turns now and then: a timer per turn would cost too much."""
        self._timer = None
        now = monotonic()
        for running in self._running.values():
            waiter = running.waiter
            if waiter.deadline is not None and waiter.deadline <= now and not waiter.is_late:
                waiter.is_late = True
                running.task.cancel()
        if self._running:
            self._set_timer()

    def _set_timer(self) -> None:
        # At least ten checks per limit, so that a short one is not exceeded by much.
        pause = min(CLOCK_SECONDS, self._limits.turn_seconds / 10)
        self._timer = asyncio.get_running_loop().call_later(pause, self._watch_clock)

    def _complete(self, running: RunningTurn, reason: str | None) -> None:
        # HR-U02: it may have been cancelled while its agent finished.
        if running.waiter.is_over:
            return
        private = None
        if reason is not None:
            running.output.notify(STOP_SENTENCES[reason])
            stops: Json = {**running.session.private.get("stops", {}), running.id: reason}
            private = without_turn(running.session, stops=stops)
        self._services.act(
            running.session, actions.turn_complete(running.id, running.session.elapsed()), private=private
        )

    def _fail_with(self, running: RunningTurn, error: BaseException) -> None:
        if running.is_over:
            return
        kind = type(error).__name__
        self._stats.errors[kind] += 1
        # The text of any other error may contain internals; users are told only its class.
        if isinstance(error, HostError):
            log.warning("turn of agent %s failed: %s: %.*s", running.agent.name, kind, MAX_LOGGED, error)
            self._fail(running.session, kind[0].lower() + kind[1:], str(error), is_resumable=True)
        else:
            log.error("agent %s failed", running.agent.name, exc_info=error)
            sentence = f"the agent failed unexpectedly ({kind}); the log of the host says more"
            self._fail(running.session, "agentFailed", sentence, is_resumable=True)

    def _fail(self, session: Session, kind: str, sentence: str, *, is_resumable: bool = False) -> None:
        turn_id = session.chat["activeTurn"]["id"]
        error: ErrorInfo = {"errorType": kind, "message": sentence}
        failed = actions.turn_failed(turn_id, error, session.elapsed(), is_resumable=is_resumable)
        self._services.act(session, failed)

    def count_outcome(self, applied: AppliedAction) -> None:
        """Count how turns and calls ended."""
        action = applied.action
        if action["type"] == "chat/toolCallComplete":
            self._stats.tool_calls["completed" if action["result"]["success"] else "failed"] += 1
        elif action["type"] == "chat/toolCallConfirmed":
            if not action["approved"]:
                self._stats.tool_calls["denied"] += 1
        elif (outcome := _OUTCOMES.get(action["type"])) is not None:
            self._stats.turns[outcome] += 1

    async def close(self) -> None:
        """Stop all agents, without ending their turns."""
        self._is_closing = True
        self._crashes.close(self.sessions())
        if self._timer is not None:
            self._timer.cancel()
        tasks = {
            task: running.uri for running in self._running.values() for task in (running.task, *running.tasks)
        }
        # What an agent still does while it is stopped is not applied: the next start runs it again.
        for running in self._running.values():
            running.waiter.is_over = True
        for task in tasks:
            task.cancel()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=STOP_SECONDS)
            for task in late:
                log.warning("the agent of %s did not stop in time", tasks[task])
        self._running.clear()


_OUTCOMES = {
    "chat/turnComplete": "complete",
    "chat/turnCancelled": "cancelled",
    "chat/error": "error",
}

COUNTED = frozenset({*_OUTCOMES, "chat/toolCallComplete", "chat/toolCallConfirmed"})
"""The types of actions that `TurnRunner.count_outcome` counts."""
