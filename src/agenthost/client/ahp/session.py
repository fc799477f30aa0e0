"""Sessions: one conversation with an agent, shared with everybody who watches it."""

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from agenthost.client.aap.tools import ClientTool, Tools, tools_of
from agenthost.client.ahp.acting import Acting, message_of
from agenthost.client.ahp.changes import Echo
from agenthost.client.ahp.errors import NotFound, Refused
from agenthost.client.ahp.line import Line
from agenthost.client.ahp.mirrors import Mirrors
from agenthost.client.ahp.running import ToolRunner
from agenthost.client.ahp.tools import definition_of
from agenthost.client.ahp.turn import Saying
from agenthost.wire.ahp.commands.session import CompletionItem, FetchTurnsResult
from agenthost.wire.ahp.message import MessageAttachment
from agenthost.wire.ahp.session import SessionActiveClient, SessionSummary
from agenthost.wire.ahp.toolcall import ToolCallState
from agenthost.wire.ahp.turn import Turn

__all__ = ["Session"]


class Session(Acting):
    """One session that is watched."""

    def __init__(self, uri: str, line: Line, mirrors: Mirrors, runner: ToolRunner, name: str | None) -> None:
        super().__init__(uri, line, mirrors)
        self._name = name
        self._runner = runner

    # What it is

    @property
    def summary(self) -> SessionSummary:
        """The session as the list shows it."""
        return self.state["summary"]

    @property
    def turns(self) -> list[Turn]:
        """The turns that have ended."""
        return self.state["turns"]

    @property
    def calls(self) -> list[ToolCallState]:
        """The tool calls of the turn that is running, as the host confirmed them."""
        parts: list[Any] = self.confirmed.get("activeTurn", {}).get("responseParts", [])
        return [part["toolCall"] for part in parts if part["kind"] == "toolCall"]

    @property
    def open_calls(self) -> list[ToolCallState]:
        """The tool calls that wait for somebody to allow them."""
        return [call for call in self.calls if call["status"] == "pending-confirmation"]

    @property
    def held_results(self) -> list[ToolCallState]:
        """The tool calls whose results wait for somebody to let the agent see them."""
        return [call for call in self.calls if call["status"] == "pending-result-confirmation"]

    # Talking

    def say(self, text: str, attachments: Sequence[MessageAttachment] = ()) -> Saying:
        """Start a turn; gives the pieces of the answer as they come.

        Raises:
            AhpError: `Gone` or `Closed`.
        """
        turn_id = secrets.token_hex(8)
        changes = self.changes()
        message = message_of(text, attachments)
        echo = self._act("session/turnStarted", turnId=turn_id, userMessage=message)
        return Saying(self, turn_id, echo, changes)

    async def send(self, text: str, attachments: Sequence[MessageAttachment] = ()) -> str:
        """Start a turn, and wait until the host has taken it; gives the turn's id.

        Raises:
            Rejected: the host does not, as while another turn runs.
            AhpError: nobody knows, or the session is gone.
        """
        saying = self.say(text, attachments)
        try:
            await saying.echo
        finally:
            await saying.aclose()
        return saying.turn_id

    async def ask(self, text: str, attachments: Sequence[MessageAttachment] = ()) -> str:
        """Start a turn, and give the text of the answer when it is over.

        Raises:
            Rejected: the host does not take it, as while another turn runs.
            TurnFailed: the turn ended with an error.
            AhpError: the session is gone, or the client closed.
        """
        return await self.say(text, attachments).text()

    # Tools of our own

    def become_active(self, tools: Tools = (), *, customizations: Sequence[Any] = ()) -> Echo:
        """Be the client whose tools the agent uses; also after a connection was lost.

        Raises:
            TypeError: a tool takes what has no JSON.
            ValueError: two tools have one name.
        """
        client = active_client(self._mirrors.client_id, self._name, tools_of(tools), customizations)
        self._runner.claim(tools_of(tools), client)
        return self._act("session/activeClientChanged", activeClient=client)

    def set_tools(self, tools: Tools) -> Echo:
        """Offer other tools, as the active client.

        Raises:
            TypeError: a tool takes what has no JSON.
            ValueError: two tools have one name.
        """
        own = tools_of(tools)
        client = active_client(self._mirrors.client_id, self._name, own, ())
        self._runner.claim(own, client)
        return self._act("session/activeClientToolsChanged", tools=client["tools"])

    def release(self) -> Echo:
        """Be the active client no more; calls that run are still finished."""
        self._runner.wanted = None
        self._check()
        action: Any = {"type": "session/activeClientChanged", "session": self.uri, "activeClient": None}
        return self._line.act(action)

    def close(self) -> None:
        """Watch it no more. It goes on without us, and without our tools."""
        if not self.is_gone:
            self._runner.leave()
        super().close()

    # The past, the future

    async def fetch_turns(self, before: str | None = None, limit: int | None = None) -> FetchTurnsResult:
        """Fetch a page of the past: the turns right before one, or the newest.

        Raises:
            AhpError: such as `NotFound`.
        """
        more = {"before": before, "limit": limit}
        params = {"session": self.uri, **{key: value for key, value in more.items() if value is not None}}
        page: FetchTurnsResult = await self._line.request("fetchTurns", params, is_safe=True)
        return page

    async def history(self, page: int = 50) -> AsyncIterator[Turn]:
        """Give all turns that have ended, the newest first, page by page as they are needed.

        Raises:
            AhpError: such as `NotFound`.
        """
        before: str | None = None
        while True:
            found = await self.fetch_turns(before, page)
            for turn in reversed(found["turns"]):
                yield turn
            if not found["hasMore"] or not found["turns"] or found["turns"][0]["id"] == before:
                return
            before = found["turns"][0]["id"]

    async def completions(self, text: str, offset: int | None = None) -> list[CompletionItem]:
        """Ask what could come next in a message; `offset` counts characters, as Python does.

        Raises:
            AhpError: such as `NotFound`.
        """
        place = len((text if offset is None else text[:offset]).encode("utf-16-le")) // 2
        params = {"kind": "userMessage", "session": self.uri, "text": text, "offset": place}
        found = await self._line.request("completions", params, is_safe=True)
        return found["items"]  # type: ignore[no-any-return] # checked

    async def ready(self) -> None:
        """Wait until it can be used.

        Raises:
            Refused: it could not be made.
        """
        state = await self.until(lambda state: state["lifecycle"] != "creating")
        if state["lifecycle"] == "creationFailed":
            error = state.get("creationError")
            raise Refused(error["message"] if error else "the session could not be made", data=error)

    async def dispose(self) -> None:
        """Remove it for good, for everybody.

        Raises:
            AhpError: it cannot be done.
        """
        await self._line.request("disposeSession", {"session": self.uri}, is_safe=True, done=NotFound)
        self._mirrors.forget(self.uri)


def active_client(
    client_id: str, name: str | None, tools: Mapping[str, ClientTool], customizations: Sequence[Any]
) -> SessionActiveClient:
    """Describe this client to a session."""
    client: SessionActiveClient = {
        "clientId": client_id,
        "tools": [definition_of(tool) for tool in tools.values()],
    }
    if name is not None:
        client["displayName"] = name
    if customizations:
        client["customizations"] = list(customizations)
    return client
