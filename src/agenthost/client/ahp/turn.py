"""Turns: a message of ours, and the answer as it comes."""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Self

from agenthost.client.ahp.changes import Change, Changes
from agenthost.client.ahp.dispatched_action import DispatchedAction
from agenthost.client.ahp.errors import Closed, TurnFailed
from agenthost.client.ahp.resource import Resource
from agenthost.core.conversation import Conversation
from agenthost.core.queries import TURN_ENDINGS, error_of
from agenthost.core.stop_reasons import stop_reason_of
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.turn import Turn

__all__ = ["TurnStream", "answer_text", "find_turn", "stop_reason_of"]

ENDINGS = TURN_ENDINGS | {"chat/truncated"}


def answer_text(turn: Any) -> str:
    """Return the text of a turn's answer."""
    return "".join(part["content"] for part in turn["responseParts"] if part["kind"] == "markdown")


def find_turn(state: ChatState, turn_id: str) -> Any:
    """Return a turn, running or ended; None if the chat does not have it."""
    turns = [*state["turns"], *([state["activeTurn"]] if "activeTurn" in state else [])]
    return next((turn for turn in turns if turn["id"] == turn_id), None)


class TurnStream(AsyncIterator[str]):
    """A turn that this client started: an iterator of the pieces of its answer.

    It survives lost connections, and ends with the turn, whether that is completed or cancelled.

    Attributes:
        turn_id: the id of the turn.
        dispatched: await it to learn whether the host accepted the turn.
    """

    def __init__(
        self, chat: Resource[Conversation], turn_id: str, dispatched: DispatchedAction, changes: Changes
    ) -> None:
        self.turn_id = turn_id
        self.dispatched = dispatched
        self._changes = changes
        self._chat = chat
        self._has_begun = False
        self._pieces = self._stream()
        self._turn: Turn | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        return await anext(self._pieces)

    async def turn(self) -> Turn:
        """Wait for the end and return the whole turn.

        Raises:
            Rejected: the host did not accept it, for example because another turn is running.
            TurnFailed: it ended with an error, or was removed from the session.
            AhpError: the chat is gone, or the client is closed.
        """
        async for _ in self:
            pass
        assert self._turn is not None  # noqa: S101 - otherwise something was raised
        return self._turn

    async def text(self) -> str:
        """Wait for the end and return the text of the answer.

        Raises:
            AhpError: as `turn` does.
        """
        return answer_text(await self.turn())

    async def aclose(self) -> None:
        """Stop listening; the turn goes on."""
        self._changes.close()
        await self._pieces.aclose()

    async def _stream(self) -> AsyncGenerator[str, None]:
        lengths: dict[str, int] = {}
        try:
            # A turn that the host refused has no answer to wait for.
            await self.dispatched
            async for change in self._changes:
                for piece in self._new_pieces(change, lengths):
                    yield piece
                if self._is_over(change):
                    return
            raise self._chat.error or Closed("the turn was closed before it was over")
        finally:
            self._changes.close()

    def _new_pieces(self, change: Change, lengths: dict[str, int]) -> list[str]:
        """Return what a change adds to the answer; `lengths` is how much of each part was yielded."""
        action: Any = change.action
        if change.kind == "snapshot":
            return self._missed_pieces(change.after.chat, lengths)
        if change.kind != "confirmed" or action.get("turnId") != self.turn_id:
            return []
        self._has_begun = True
        if action["type"] == "chat/delta":
            part_id, piece = action["partId"], action["content"]
        elif action["type"] == "chat/responsePart" and action["part"].get("kind") == "markdown":
            part_id, piece = action["part"]["id"], action["part"]["content"]
        else:
            return []
        lengths[part_id] = lengths.get(part_id, 0) + len(piece)
        return [piece] if piece else []

    def _missed_pieces(self, state: ChatState, lengths: dict[str, int]) -> list[str]:
        turn = find_turn(state, self.turn_id)
        pieces = []
        for part in turn["responseParts"] if turn is not None else []:
            if part["kind"] == "markdown":
                pieces.append(part["content"][lengths.get(part["id"], 0) :])
                lengths[part["id"]] = len(part["content"])
        return [piece for piece in pieces if piece]

    def _is_over(self, change: Change) -> bool:
        """Return whether the turn has ended, and keep it if so.

        Raises:
            TurnFailed: it failed.
        """
        action: Any = change.action
        if change.kind != "snapshot" and (change.kind != "confirmed" or action["type"] not in ENDINGS):
            return False
        turn = find_turn(change.after.chat, self.turn_id)
        if turn is None:
            # A snapshot may be older than the turn.
            if self._has_begun or not self._changes.has_more:
                raise TurnFailed("the turn was removed from the session")
            return False
        self._has_begun = True
        if "state" not in turn:
            return False
        self._turn = turn
        if turn["state"] == "error":
            error = error_of(turn)
            raise TurnFailed(error["message"] if error else "the turn failed", error)
        return True
