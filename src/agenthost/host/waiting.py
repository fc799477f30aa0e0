"""A turn that waits: for people who answer its questions, and for whatever else happens in its session.

Its time stands still meanwhile. Knows one turn; what it says and calls is the business of `running`.
"""

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, TypeVar

from agenthost.host.asking import Answers, Question
from agenthost.host.session import Session
from agenthost.host.setup import private_of
from agenthost.wire.json import JsonObject

T = TypeVar("T")


class WaitingTurn:
    """What a turn waits with.

    Attributes:
        deadline: when its time is over, by the clock that only goes forward; not while it waits.
        is_late: whether its time is over.
        is_over: whether it has ended.
        watchers: told whenever something happened in the session.
    """

    def __init__(self, session: Session, act: Callable[..., None]) -> None:
        self.session = session
        self.id: str = session.state["activeTurn"]["id"]
        self.uri = session.row.uri
        self.is_over = False
        self.is_late = False
        self.deadline: float | None = None
        self.watchers: list[Callable[[], None]] = []
        self._act = act
        self._waiters: set[asyncio.Future[None]] = set()
        self._time_left: float | None = None
        self._waiting = 0

    def act(self, action: Any, **along: Any) -> None:
        """Let an action of this turn happen."""
        self.check()
        self._act(self.session, action, **along)

    def check(self) -> None:
        """Stop an agent that goes on although its turn has ended."""
        if self.is_over:
            raise asyncio.CancelledError("the turn has ended")

    async def wait_for(self, look: Callable[[], T | None]) -> T:
        """Wait until `look` gives a value; it is asked again whenever something happened in the session."""
        while (value := look()) is None:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.add(waiter)
            self._stop_clock()
            try:
                await waiter
            finally:
                self._waiters.discard(waiter)
                self._start_clock()
            self.check()
        return value

    def wake(self) -> None:
        """Let everything that waits look again."""
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        for watch in self.watchers if not self.is_over else ():
            watch()

    def limit_time(self, seconds: float) -> None:
        """Count the time of this turn from now on, but not the time that it waits for people."""
        self.deadline = monotonic() + seconds

    def _stop_clock(self) -> None:
        self._waiting += 1
        if self._waiting == 1 and self.deadline is not None:
            self._time_left = self.deadline - monotonic()
            self.deadline = None

    def _start_clock(self) -> None:
        self._waiting -= 1
        if self._waiting == 0 and self._time_left is not None:
            self.limit_time(self._time_left)
            self._time_left = None

    async def _ask(
        self, request_id: str, questions: Sequence[Question], message: str | None, url: str | None
    ) -> Answers:
        if self._answered(request_id) is None and not self._is_asked(request_id):
            self._request_input(request_id, questions, message, url)
        return await self.wait_for(lambda: self._answered(request_id))

    def _call_question(self, call_id: str) -> str:
        """Give what the ids of all questions of a call begin with."""
        return f"{self.id}/ask/{call_id}/"

    async def _ask_in_call(self, request_id: str, *asked: Any) -> Answers:
        """Ask on behalf of a tool; when that gives up, nobody is asked any more."""
        try:
            return await self._ask(request_id, *asked)
        finally:
            self._withdraw(request_id)

    def _withdraw(self, beginning: str) -> None:
        if self.is_over:
            return  # its questions went with it, or wait for the next start
        for request in self.session.state.get("inputRequests", []):
            if request["id"].startswith(beginning):
                done = {"type": "session/inputCompleted", "session": self.uri, "requestId": request["id"]}
                self.act({**done, "response": "cancel"})

    def _request_input(
        self, request_id: str, questions: Sequence[Question], message: str | None, url: str | None
    ) -> None:
        request: JsonObject = {"id": request_id}
        if message is not None:
            request["message"] = message
        if url is not None:
            request["url"] = url
        if questions:
            request["questions"] = [question.asked() for question in questions]
        self.act({"type": "session/inputRequested", "session": self.uri, "request": request})

    def _is_asked(self, request_id: str) -> bool:
        requests = self.session.state.get("inputRequests", [])
        return any(request["id"] == request_id for request in requests)

    def _answered(self, request_id: str) -> Answers | None:
        kept: Any = private_of(self.session).get("asked", {}).get(request_id)
        return None if kept is None else Answers(kept["response"], kept["answers"])
