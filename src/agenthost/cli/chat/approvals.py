"""Approvals: the user allows tool calls, releases results and answers questions, one at a time.

Another client may be faster. Then the question is withdrawn here.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, TypeAlias

from agenthost.cli.chat.approval_keys import ApprovalKeys
from agenthost.cli.chat.questions import QuestionForm
from agenthost.cli.chat.render.authorship import Authorship
from agenthost.cli.chat.render.calls import content_blocks, format_input, headline, outcome, text_lines
from agenthost.cli.chat.render.diffs import edit_lines, fetch_versions
from agenthost.cli.chat.render.events import plain_text
from agenthost.cli.chat.render.wording import more_lines
from agenthost.cli.chat.tasks import first_completed
from agenthost.cli.chat.terminal.paint import Painter
from agenthost.cli.chat.terminal.terminal import ChatTerminal, InputCancelled, KeyChoice
from agenthost.client.ahp import AhpClient, AhpError, Chat, DispatchedAction
from agenthost.errors import NotJson
from agenthost.wire.json import decode_json

__all__ = ["ApprovalContext", "SessionApprovals"]

Kind: TypeAlias = Literal["call", "result", "request"]

MAX_LINES = 30
"""How many lines of an input or a result are shown."""


@dataclass(frozen=True, slots=True)
class ApprovalContext:
    """Where and how the user is asked, for any session.

    Attributes:
        notify: shows the user a remark.
        approve_all: whether every call is allowed without asking.
    """

    client: AhpClient
    terminal: ChatTerminal
    painter: Painter
    notify: Callable[[str], None]
    approve_all: bool


@dataclass(frozen=True, slots=True)
class KeyPress:
    """A key that was pressed, and what was on the screen then."""

    key: str
    keys: ApprovalKeys
    about: list[str]
    waiting: list[Any]


class SessionApprovals:
    """Asks the user for what one session waits for; `agent` names its agent if it is a subagent's session."""

    def __init__(
        self, context: ApprovalContext, session: Chat, authorship: Authorship, agent: str = ""
    ) -> None:
        self._client = context.client
        self._terminal = context.terminal
        self._painter = context.painter
        self._notify = context.notify
        self._approve_all = context.approve_all
        self._session = session
        self._authorship = authorship
        self._prefix = f"{agent}: " if agent else ""
        self._form = QuestionForm(session, context.terminal, context.painter, self._prefix)

    async def run(self) -> NoReturn:
        """Ask for one thing after the other, as long as the session exists."""
        while True:
            await self._session.until(lambda _: self._next() is not None)
            if (pending := self._next()) is not None:
                await self._resolve(*pending)

    def _next(self) -> tuple[Kind, Any] | None:
        if calls := self._session.open_calls:
            return "call", calls[0]
        if calls := self._session.held_results:
            return "result", calls[0]
        return ("request", self._session.requests[0]) if self._session.requests else None

    def _is_pending(self, kind: Kind, item_id: str) -> bool:
        if kind == "request":
            return any(request["id"] == item_id for request in self._session.requests)
        calls = self._session.open_calls if kind == "call" else self._session.held_results
        return item_id in _ids(calls)

    async def _resolve(self, kind: Kind, item: Any) -> None:
        item_id = item["id"] if kind == "request" else item["toolCallId"]
        if not await first_completed(self._ask(kind, item), self._wait_resolved(kind, item_id)):
            self._report_other(kind, item_id, item)

    async def _ask(self, kind: Kind, item: Any) -> bool:
        """Ask the user. Return True: it was decided here."""
        asks: dict[Kind, Callable[[Any], Awaitable[None]]] = {
            "call": self._ask_call,
            "result": self._ask_result,
            "request": self._form.ask,
        }
        try:
            await asks[kind](item)
        except AhpError as error:
            self._notify(f"that failed: {error}")
        return True

    async def _wait_resolved(self, kind: Kind, item_id: str) -> bool:
        """Wait until it no longer waits for anybody. Return False: it was not decided here."""
        await self._session.until(lambda _: not self._is_pending(kind, item_id))
        return False

    def _report_other(self, kind: Kind, item_id: str, item: Any) -> None:
        other = self._authorship.other_client("request" if kind == "request" else "call", item_id)
        if other and kind == "request":
            self._notify(f"{self._prefix}the questions were answered by {other}")
        elif other:
            self._notify(f"{self._prefix}{headline(item)} was decided by {other}")

    # Calls

    async def _ask_call(self, call: Any) -> None:
        if self._approve_all:
            await self._session.approve(call)
            return
        details = await self._details(call)
        while (echoes := await self._decide(call, details)) is None:
            pass  # the user went back to the keys
        for echo in echoes:
            await echo

    async def _details(self, call: Any) -> list[str]:
        """Paint the edits that a call would make, and its input unless the edits show everything."""
        edits = [
            (edit, await fetch_versions(self._client, edit))
            for edit in call.get("edits", {}).get("items", [])
        ]
        lines = [row for edit, versions in edits for row in edit_lines(self._painter, edit, versions)]
        is_complete = bool(edits) and all(versions is not None for _, versions in edits)
        return lines if is_complete else [*self._input_lines(call), *lines]

    def _input_lines(self, call: Any) -> list[str]:
        given = format_input(call).split("\n")
        lines = [row for line in given[:MAX_LINES] for row in self._painter.text(line, indent=2)]
        if len(given) > MAX_LINES:
            lines += self._painter.text(more_lines(len(given) - MAX_LINES), "dim", indent=2)
        return lines

    async def _decide(self, call: Any, details: list[str]) -> list[DispatchedAction] | None:
        """Ask for a decision and send it. Return None if the user went back."""
        press = await self._press(call, details)
        option = press.keys.options.get(press.key)
        option_id = option["id"] if option else None
        if press.key == "e":
            return await self._approve_edited(call, press.about)
        if press.key == "a":
            return [self._session.approve(one) for one in press.waiting]
        if press.key == "y" or (option and option["kind"] == "approve"):
            return [self._session.approve(call, option=option_id)]
        try:
            reason = await self._terminal.ask_line("  why not (Enter for no reason)? ", about=press.about)
        except InputCancelled:
            return None
        return [self._session.deny(call, reason.strip() or None, option=option_id)]

    async def _press(self, call: Any, details: list[str]) -> KeyPress:
        """Ask for a key. Ask again when other calls wait: "all" means the number that was shown."""
        title = plain_text(call.get("confirmationTitle")) or f"Allow {call['displayName']}?"
        while True:
            waiting = self._session.open_calls
            count = f" (1 of {len(waiting)})" if len(waiting) > 1 else ""
            about = ["", *self._painter.text(f"{self._prefix}{title}{count}", "bold yellow"), *details]
            keys = ApprovalKeys.for_call(call, len(waiting))
            key = await first_completed(
                self._terminal.ask_key(about, keys.choices), self._wait_others(call, waiting)
            )
            if key is not None:
                return KeyPress(key, keys, about, waiting)

    async def _wait_others(self, call: Any, waiting: list[Any]) -> None:
        """Wait until calls join or leave those that wait with this one."""
        call_id, before = call["toolCallId"], _ids(waiting)

        def is_different(_: object) -> bool:
            now = _ids(self._session.open_calls)
            return call_id in now and now != before

        await self._session.until(is_different)

    async def _approve_edited(self, call: Any, about: list[str]) -> list[DispatchedAction] | None:
        given = text = call["toolInput"] if isinstance(call.get("toolInput"), str) else ""
        while True:
            try:
                text = await self._terminal.ask_line("  input: ", text, about=about[:2])
            except InputCancelled:
                return None
            try:
                decode_json(text)
            except NotJson as error:
                self._notify(f"the input has to be JSON: {error}")
            else:
                return [self._session.approve(call, edited_input=None if text == given else text)]

    # Results

    async def _ask_result(self, call: Any) -> None:
        if self._approve_all:
            await self._session.confirm_result(call)
            return
        title = f"{self._prefix}Let the agent see this result of {call['displayName']}?"
        lines = ["", *self._painter.text(title, "bold yellow")]
        lines += self._painter.text(outcome(call), indent=2)
        for line in text_lines(call)[:MAX_LINES]:
            lines += self._painter.text(line, "dim", indent=2)
        for edit in content_blocks(call, "fileEdit"):
            lines += edit_lines(self._painter, edit, await fetch_versions(self._client, edit))
        key = await self._terminal.ask_key(lines, [KeyChoice("y", "Show it"), KeyChoice("n", "Withhold it")])
        await self._session.confirm_result(call, approved=key == "y")


def _ids(calls: list[Any]) -> list[str]:
    return [call["toolCallId"] for call in calls]
