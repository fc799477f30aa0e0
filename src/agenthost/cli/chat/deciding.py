"""Deciding: whoever sits here allows tool calls, lets results through and answers questions, one at a time.

Others may be quicker, from a browser or another terminal: then what was asked here is withdrawn.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, TypeAlias, TypeVar

from agenthost.cli.chat.asking import Asking
from agenthost.cli.chat.calls import blocks_of, headline, outcome, pretty_input, texts_of
from agenthost.cli.chat.diffs import edit_lines, fetch_versions
from agenthost.cli.chat.face import Back, Face, Key
from agenthost.cli.chat.hearing import Hearing
from agenthost.cli.chat.painting import Painter
from agenthost.cli.chat.story import plain_of
from agenthost.client.ahp import AhpClient, AhpError, Echo, Session
from agenthost.errors import NotJson
from agenthost.wire.json import decode_json

__all__ = ["Decider", "Desk", "Options"]

Kind: TypeAlias = Literal["call", "result", "request"]

MOST_INPUT_LINES = 30

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Options:
    """What can be answered to a call: by keys that everybody guesses, and by the numbers of what is offered.

    Attributes:
        keys: what to press.
        by_key: the options behind the keys; a key that is not in it answers without an option.
    """

    keys: list[Key]
    by_key: dict[str, Any]

    @classmethod
    def of(cls, call: Any, waiting: int = 1) -> "Options":
        """Give the keys for a call, one of so many that wait."""
        keys: list[Key] = []
        by_key: dict[str, Any] = {}
        for number, option in enumerate(call.get("options", []), 1):
            key = _letter(option, by_key) or str(number)
            by_key[key] = option
            keys.append(Key(key, option["label"]))
        if not any(option["kind"] == "approve" for option in by_key.values()):
            keys.insert(0, Key("y", "Allow"))
        if not any(option["kind"] == "deny" for option in by_key.values()):
            keys.append(Key("n", "Deny"))
        if call.get("editable"):
            keys.append(Key("e", "Edit the input"))
        if waiting > 1:
            keys.append(Key("a", f"Allow all {waiting}"))
        return cls(keys, by_key)


@dataclass(frozen=True, slots=True)
class Pressed:
    """A key that was pressed, and what was on the screen then."""

    key: str
    options: Options
    about: list[str]
    waiting: list[Any]


def _letter(option: Any, taken: dict[str, Any]) -> str | None:
    if option["kind"] == "deny":
        return "n" if "n" not in taken else None
    if "session" in option["id"].lower() and "s" not in taken:
        return "s"
    return "y" if "y" not in taken else None


@dataclass(frozen=True, slots=True)
class Desk:
    """Where decisions are made, whatever session they are for.

    Attributes:
        tell: says something to whoever sits here.
        is_trusting: whether everything is allowed without asking.
    """

    client: AhpClient
    face: Face
    painter: Painter
    tell: Callable[[str], None]
    is_trusting: bool


class Decider:
    """Settles what waits for somebody in one session; `who` is the agent, if it is not the one talked to."""

    def __init__(self, desk: Desk, session: Session, hearing: Hearing, who: str = "") -> None:
        self._client = desk.client
        self._face = desk.face
        self._painter = desk.painter
        self._tell = desk.tell
        self._is_trusting = desk.is_trusting
        self._session = session
        self._hearing = hearing
        self._who = f"{who}: " if who else ""
        self._asking = Asking(session, desk.face, desk.painter, self._who)

    async def run(self) -> NoReturn:
        """Settle one thing after the other, for as long as the session is there."""
        while True:
            await self._session.until(lambda _: self._first() is not None)
            if (first := self._first()) is not None:
                await self._settle(*first)

    def _first(self) -> tuple[Kind, Any] | None:
        if calls := self._session.open_calls:
            return "call", calls[0]
        if calls := self._session.held_results:
            return "result", calls[0]
        return ("request", self._session.requests[0]) if self._session.requests else None

    def _is_open(self, kind: Kind, name: str) -> bool:
        if kind == "request":
            return any(one["id"] == name for one in self._session.requests)
        calls = self._session.open_calls if kind == "call" else self._session.held_results
        return any(one["toolCallId"] == name for one in calls)

    async def _settle(self, kind: Kind, item: Any) -> None:
        name = item["id"] if kind == "request" else item["toolCallId"]
        asks: dict[Kind, Callable[[Any], Awaitable[None]]] = {
            "call": self._ask_call,
            "result": self._ask_result,
            "request": self._asking.ask,
        }
        gone = self._session.until(lambda _: not self._is_open(kind, name))
        if not await _unless(self._asked(asks[kind](item)), gone):
            self._withdrawn(kind, name, item)

    async def _asked(self, ask: Awaitable[None]) -> bool:
        try:
            await ask
        except AhpError as error:
            self._tell(f"that was not possible: {error}")
        return True

    def _withdrawn(self, kind: Kind, name: str, item: Any) -> None:
        who = self._hearing.other("request" if kind == "request" else "call", name)
        if who and kind == "request":
            self._tell(f"{self._who}the questions were answered by {who}")
        elif who:
            self._tell(f"{self._who}{headline(item)} was decided by {who}")

    # Calls

    async def _ask_call(self, call: Any) -> None:
        if self._is_trusting:
            await self._session.approve(call)
            return
        details = await self._details(call)
        while (echoes := await self._decided(call, details)) is None:
            pass  # somebody went back
        for echo in echoes:
            await echo

    async def _details(self, call: Any) -> list[str]:
        edits = [
            (edit, await fetch_versions(self._client, edit))
            for edit in call.get("edits", {}).get("items", [])
        ]
        lines = [row for edit, versions in edits for row in edit_lines(self._painter, edit, versions)]
        is_told = bool(edits) and all(versions is not None for _, versions in edits)
        return lines if is_told else [*self._input(call), *lines]

    def _input(self, call: Any) -> list[str]:
        given = pretty_input(call).split("\n")
        lines = [row for line in given[:MOST_INPUT_LINES] for row in self._painter.text(line, indent=2)]
        if len(given) > MOST_INPUT_LINES:
            lines += self._painter.text(f"… {len(given) - MOST_INPUT_LINES} more lines", "dim", indent=2)
        return lines

    async def _decided(self, call: Any, details: list[str]) -> list[Echo] | None:
        asked = await self._pressed(call, details)
        option = asked.options.by_key.get(asked.key)
        name = option["id"] if option else None
        if asked.key == "e":
            return await self._edited(call, asked.about)
        if asked.key == "a":
            return [self._session.approve(one) for one in asked.waiting]
        if asked.key == "y" or (option and option["kind"] == "approve"):
            return [self._session.approve(call, option=name)]
        try:
            reason = await self._face.line("  why not (Enter: no reason)? ", about=asked.about)
        except Back:
            return None
        return [self._session.deny(call, reason.strip() or None, option=name)]

    async def _pressed(self, call: Any, details: list[str]) -> "Pressed":
        """Ask for a key, and anew when more calls wait, or fewer: "all" means those that it said."""
        title = plain_of(call.get("confirmationTitle")) or f"Allow {call['displayName']}?"
        while True:
            waiting = self._session.open_calls
            place = f" (1 of {len(waiting)})" if len(waiting) > 1 else ""
            about = ["", *self._painter.text(f"{self._who}{title}{place}", "bold yellow"), *details]
            options = Options.of(call, len(waiting))
            key = await _unless(self._face.key(about, options.keys), self._others_wait(call, waiting))
            if key is not None:
                return Pressed(key, options, about, waiting)

    async def _others_wait(self, call: Any, waiting: list[Any]) -> None:
        """Wait until other calls wait beside this one than those that were named."""
        name, names = call["toolCallId"], _names(waiting)

        def is_so(_: object) -> bool:
            now = _names(self._session.open_calls)
            return name in now and now != names

        await self._session.until(is_so)

    async def _edited(self, call: Any, about: list[str]) -> list[Echo] | None:
        given = text = call.get("toolInput", "")
        while True:
            try:
                text = await self._face.line("  input: ", text, about=about[:2])
            except Back:
                return None
            try:
                decode_json(text)
            except NotJson as error:
                self._tell(f"the input has to stay JSON: {error}")
            else:
                return [self._session.approve(call, edited_input=None if text == given else text)]

    # Results

    async def _ask_result(self, call: Any) -> None:
        if self._is_trusting:
            await self._session.confirm_result(call)
            return
        title = f"{self._who}Let the agent see this result of {call['displayName']}?"
        lines = ["", *self._painter.text(title, "bold yellow")]
        lines += self._painter.text(outcome(call), indent=2)
        for line in texts_of(call)[:MOST_INPUT_LINES]:
            lines += self._painter.text(line, "dim", indent=2)
        for edit in blocks_of(call, "fileEdit"):
            lines += edit_lines(self._painter, edit, await fetch_versions(self._client, edit))
        key = await self._face.key(lines, [Key("y", "Let it see"), Key("n", "Withhold")])
        await self._session.confirm_result(call, approved=key == "y")


def _names(calls: list[Any]) -> list[str]:
    return [call["toolCallId"] for call in calls]


async def _unless(wanted: Awaitable[T], other: Awaitable[object]) -> T | None:
    """Wait for something, and give it up when something else comes first."""
    tasks = asyncio.ensure_future(wanted), asyncio.ensure_future(other)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done():
            return tasks[0].result()
        tasks[1].result()  # it may have failed
        return None
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
