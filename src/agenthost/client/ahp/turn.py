"""Turns: what is said, and the answer as it comes."""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Self

from agenthost.client.ahp.changes import Change, Changes, Echo
from agenthost.client.ahp.errors import Closed, TurnFailed
from agenthost.client.ahp.watching import Watched
from agenthost.core.stopping import stop_reason_of
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.turn import Turn

__all__ = ["Saying", "answer_of", "find_turn", "stop_reason_of"]

ENDINGS = frozenset({"session/turnComplete", "session/turnCancelled", "session/error", "session/truncated"})


def answer_of(turn: Any) -> str:
    """Give the text of a turn's answer."""
    return "".join(part["content"] for part in turn["responseParts"] if part["kind"] == "markdown")


def find_turn(state: SessionState, turn_id: str) -> Any:
    """Give a turn, running or ended; None if it is not there."""
    found = [*state["turns"], *([state["activeTurn"]] if "activeTurn" in state else [])]
    return next((turn for turn in found if turn["id"] == turn_id), None)


class Saying(AsyncIterator[str]):
    """Something that was said: the pieces of the answer, once, as they come; or the turn, when it is over.

    It goes on through lost connections. Iterating ends with the turn, whether it is complete or cancelled.

    Attributes:
        turn_id: the turn's id.
        echo: awaited, it tells whether the host took it.
    """

    def __init__(self, session: Watched[SessionState], turn_id: str, echo: Echo, changes: Changes) -> None:
        self.turn_id = turn_id
        self.echo = echo
        self._changes = changes
        self._session = session
        self._has_begun = False
        self._pieces = self._told()
        self._turn: Turn | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        return await anext(self._pieces)

    async def turn(self) -> Turn:
        """Wait for the end, and give the whole turn.

        Raises:
            Rejected: the host did not take it, as while another turn runs.
            TurnFailed: it ended with an error, or was taken out of the session.
            AhpError: the session is gone, or the client closed.
        """
        async for _ in self:
            pass
        assert self._turn is not None  # noqa: S101 - else something was raised
        return self._turn

    async def text(self) -> str:
        """Wait for the end, and give the text of the answer.

        Raises:
            AhpError: as `turn` does.
        """
        return answer_of(await self.turn())

    async def aclose(self) -> None:
        """Listen no more; the turn goes on."""
        self._changes.close()
        await self._pieces.aclose()

    async def _told(self) -> AsyncGenerator[str, None]:
        said: dict[str, int] = {}
        try:
            await self.echo
            async for change in self._changes:
                for piece in self._pieces_of(change, said):
                    yield piece
                if self._is_over(change):
                    return
            raise self._session.error or Closed("nobody listens to the turn any more")
        finally:
            self._changes.close()

    def _pieces_of(self, change: Change, said: dict[str, int]) -> list[str]:
        """Give what a change adds to the answer; `said` is how much of each part was given already."""
        action: Any = change.action
        if change.kind == "snapshot":
            return self._missed(change.after, said)
        if change.kind != "confirmed" or action.get("turnId") != self.turn_id:
            return []
        if action["type"] == "session/delta":
            part_id, piece = action["partId"], action["content"]
        elif action["type"] == "session/responsePart" and action["part"].get("kind") == "markdown":
            part_id, piece = action["part"]["id"], action["part"]["content"]
        else:
            return []
        said[part_id] = said.get(part_id, 0) + len(piece)
        return [piece] if piece else []

    def _missed(self, state: SessionState, said: dict[str, int]) -> list[str]:
        turn = find_turn(state, self.turn_id)
        pieces = []
        for part in turn["responseParts"] if turn is not None else []:
            if part["kind"] == "markdown":
                pieces.append(part["content"][said.get(part["id"], 0) :])
                said[part["id"]] = len(part["content"])
        return [piece for piece in pieces if piece]

    def _is_over(self, change: Change) -> bool:
        """Tell whether the turn has ended, and remember it.

        Raises:
            TurnFailed: it ended badly.
        """
        action: Any = change.action
        if change.kind != "snapshot" and (change.kind != "confirmed" or action["type"] not in ENDINGS):
            return False
        turn = find_turn(change.after, self.turn_id)
        if turn is None:
            # A state may have come whole before the host had taken the turn.
            if self._has_begun or not self._changes.has_more:
                raise TurnFailed("the turn was taken out of the session")
            return False
        self._has_begun = True
        if "state" not in turn:
            return False
        self._turn = turn
        if turn["state"] == "error":
            error = turn.get("error")
            raise TurnFailed(error["message"] if error else "the turn failed", error)
        return True
