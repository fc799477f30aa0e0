"""Dispatched actions: what the client did, and what the host says to it."""

import asyncio
from collections.abc import Generator
from typing import Any

from agenthost.client.ahp.errors import AhpError
from agenthost.wire.ahp.actions.text import Action

__all__ = ["DispatchedAction"]


class DispatchedAction:
    """An action of this client. It shows in `state` at once; awaiting it waits for the host's answer.

    Raises, when awaited:
        Rejected: the host rejected it.
        OutcomeUnknown: the connection was lost, and only the state can tell.
        AhpError: there will be no answer, as with `Gone` and `Closed`.
    """

    def __init__(self, client_seq: int, action: Action) -> None:
        self.client_seq = client_seq
        self.action = action
        self._answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def is_answered(self) -> bool:
        """Whether the host has answered."""
        return self._answer.done()

    def __await__(self) -> Generator[Any, None, None]:
        # Shielded: several callers may wait, and if one gives up, the others must not be cancelled.
        return asyncio.shield(self._answer).__await__()

    def resolve(self, error: AhpError | None = None) -> None:
        """Set the answer; the first one counts."""
        if self._answer.done():
            return
        if error is None:
            self._answer.set_result(None)
        else:
            self._answer.set_exception(error)
            self._answer.exception()  # nobody has to await it; asyncio would log it
