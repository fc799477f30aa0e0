"""The conversation: one session, talked in until somebody leaves it or goes to another one."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from agenthost.cli.chat.attaching import Attachments
from agenthost.cli.chat.attendance import Attendance
from agenthost.cli.chat.deciding import Desk
from agenthost.cli.chat.face import Face
from agenthost.cli.chat.hearing import Hearing
from agenthost.cli.chat.painting import Painter, one_line
from agenthost.cli.chat.story import Story
from agenthost.cli.chat.view import View
from agenthost.cli.ending import INTERRUPTED
from agenthost.client.ahp import AhpClient, AhpError, Change, Event, Gone, Lost, Rejected, Session

__all__ = ["Conversation", "Leave", "Place", "Switch"]

FRAME_SECONDS = 1 / 30
"""So long what streams is gathered before it is painted again."""

TICK_SECONDS = 0.1
"""So often it is painted while something goes on, if nothing comes."""

TWICE_SECONDS = 2.0
"""Two Ctrl-C within this time leave."""

TURNS_SHOWN = 5
"""How many turns of a session are shown when it is gone on with."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Leave:
    """The chat is over."""

    code: int = 0


@dataclass(frozen=True, slots=True)
class Switch:
    """The chat goes on in another session."""

    session: Session
    is_new: bool = False


Outcome: TypeAlias = Leave | Switch


@dataclass(slots=True)
class Place:
    """Where a conversation happens: a host, and a terminal.

    Attributes:
        offered: what goes with proposals of the host's, by their texts.
        enter: told of each session that is entered.
    """

    client: AhpClient
    face: Face
    painter: Painter
    view_kind: type[View]
    is_trusting: bool
    offered: dict[str, Any] = field(default_factory=dict)
    enter: Callable[[Session], None] = lambda _: None


class Conversation:
    """One session at one terminal."""

    def __init__(self, place: Place, session: Session) -> None:
        self.place = place
        self.client = place.client
        self.session = session
        self.face = place.face
        self.hearing = Hearing(place.client.client_id)
        self.view = self._new_view()
        self.attachments = Attachments()
        self._story = Story()
        self._news = asyncio.Event()
        self._trouble = ""
        self._queued: set[str] = set()
        self._interrupted = -TWICE_SECONDS
        self._outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._tasks: set[asyncio.Task[None]] = set()
        desk = Desk(place.client, place.face, place.painter, self.view.note, place.is_trusting)
        self._attendance = Attendance(desk, session, self.hearing)

    async def run(self) -> Outcome:
        """Talk; gives what comes afterwards.

        Raises:
            AhpError: there is no host any more.
        """
        stops = [self.session.listen(self._heard), self.client.listen(self._connection)]
        self.face.interrupted = self.interrupt
        try:
            await self._begin()
            return await _first(self._tell(), self._attendance.run(), self._read(), self._wait_outcome())
        except Gone:
            self.view.fail("this session is not there any more")
            return Leave(1)
        finally:
            for stop in stops:
                stop()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await self.view.close()

    def _new_view(self) -> View:
        return self.place.view_kind(self.client, self.face, self.place.painter, self.hearing)

    async def _wait_outcome(self) -> Outcome:
        return await self._outcome

    def end(self, outcome: Outcome) -> None:
        """Have it end."""
        if not self._outcome.done():
            self._outcome.set_result(outcome)

    # What happens

    def _heard(self, change: Change) -> None:
        self.hearing.hear(change)
        self._news.set()

    def _connection(self, event: Event) -> None:
        if isinstance(event, Lost):
            self._trouble = "the connection is lost; trying to get it back…"
            self.view.note(f"the connection is lost: {event.error}")
        elif self._trouble:
            self._trouble = ""
            self.view.note("connected again")
        self._news.set()

    async def _begin(self) -> None:
        """Show the end of what was said before."""
        await self._show_past(self._story, TURNS_SHOWN, self.view)

    async def show_again(self, turns: int) -> None:
        """Show the last turns that have ended once more; a turn that runs is not disturbed by it."""
        await self._show_past(Story(), turns, self._new_view())

    async def _show_past(self, story: Story, turns: int, view: View) -> None:
        state: Any = {key: value for key, value in self.session.confirmed.items() if key != "activeTurn"}
        left_out = story.skip(state, turns)
        if left_out:
            view.note(f"… {left_out} earlier turn{'' if left_out == 1 else 's'}")
        view.is_past = True
        for event in story.look(state):
            await view.tell(event)
        view.is_past = False

    async def _tell(self) -> Outcome:
        """Show what is new, as often as a person can see it."""
        while True:
            state: Any = self.session.confirmed
            for event in self._story.look(state):
                await self.view.tell(event)
            self.view.live(self.session.state, self._story.waiting(state), self._trouble)
            await asyncio.sleep(FRAME_SECONDS)
            is_busy = "activeTurn" in state or bool(self._trouble) or self.view.is_hinting
            try:
                async with asyncio.timeout(TICK_SECONDS if is_busy else None):
                    await self._news.wait()
            except TimeoutError:
                continue
            self._news.clear()

    # What is typed

    async def _read(self) -> Outcome:
        from agenthost.cli.chat.commands import Commands  # noqa: PLC0415 - which know conversations

        commands = Commands(self)
        while True:
            try:
                typed = await self.face.read()
            except EOFError:
                return Leave()
            if commands.is_one(typed):
                outcome = await commands.run(typed)
                if outcome is not None:
                    return outcome
            elif typed.strip():
                self.say(typed.removeprefix(":") if typed.startswith("::") else typed)
            self._news.set()

    def say(self, text: str) -> None:
        """Say something: now, or after the turn that is running."""
        attachments = self.attachments.take(text, self.place.offered)
        self.spawn(self._say(text, attachments))

    async def _say(self, text: str, attachments: list[Any]) -> None:
        try:
            if self.session.active_turn is None:
                try:
                    await self.session.send(text, attachments)
                except Rejected:
                    if self.session.active_turn is None:
                        raise
                    await self._queue(text, attachments)  # somebody else was quicker
            else:
                await self._queue(text, attachments)
        except AhpError as error:
            self.view.fail(f"not sent: {error}")
            self.face.put_back(text)
        except asyncio.CancelledError:
            if not self.client.is_connected:  # whoever leaves now should know
                self.view.fail(f"not sent: {one_line(text, 200)}")
            raise

    async def _queue(self, text: str, attachments: list[Any]) -> None:
        name = secrets.token_hex(8)
        self._queued.add(name)
        await self.session.queue(text, attachments, message_id=name)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside all else; errors of the host's are told."""

        async def told() -> None:
            try:
                await work
            except (AhpError, ValueError) as error:
                self.view.fail(str(error))

        task = asyncio.create_task(told())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def interrupt(self) -> None:
        """Stop the turn; the second time, leave."""
        now = asyncio.get_running_loop().time()
        if now - self._interrupted < TWICE_SECONDS:
            self.end(Leave(INTERRUPTED))
            return
        self._interrupted = now
        self._news.set()
        if self.session.is_gone or self.session.active_turn is None:
            self.view.hint("Ctrl-C once more leaves; so does Ctrl-D")
        else:
            self.view.hint("stopping; Ctrl-C once more leaves")
            self.spawn(self.stop())

    async def stop(self) -> None:
        """Stop the turn that is running. What we queued behind it comes back to be changed or sent again."""
        queued: Any = self.session.state.get("queuedMessages", [])
        ours = [one for one in queued if one["id"] in self._queued]
        for message in ours:
            self.session.unqueue(message["id"])
        if ours:
            self.face.put_back("\n".join(one["userMessage"]["text"] for one in ours))
        try:
            await self.session.cancel()
        except (ValueError, Rejected):
            if self.session.active_turn is not None:
                raise  # else it has just ended by itself


async def _first(*works: Awaitable[T]) -> T:
    """Do several things until one of them is done; gives what it gave, or raises what it raised."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(iter(done)).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
