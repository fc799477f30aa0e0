"""Resources: what sessions and terminals have in common for an application."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

from agenthost.client.ahp.changes import Change, Changes, Listener
from agenthost.client.ahp.connection import Connection
from agenthost.client.ahp.dispatched_action import DispatchedAction
from agenthost.client.ahp.errors import AhpError, Closed, Gone
from agenthost.wire.ahp.actions.text import Action, TextAction
from agenthost.wire.ahp.common import URI

__all__ = ["Resource"]

S = TypeVar("S")


class Resource(Generic[S]):
    """A resource that this client is subscribed to: its states and its changes.

    Attributes:
        uri: its URI.
    """

    def __init__(self, uri: URI, connection: Connection) -> None:
        self.uri = uri
        self._connection = connection
        self._replica = connection.replica
        self._error: AhpError | None = None
        self._stop = self._replica.listeners(uri).add(self._on_change)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.uri}>"

    def _on_change(self, change: Change) -> None:
        if change.kind in ("gone", "closed"):
            self._error = change.error or Closed("it was closed")
            self._stop()

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    @property
    def is_gone(self) -> bool:
        """Whether it no longer exists, or was closed."""
        return self._error is not None

    @property
    def error(self) -> AhpError | None:
        """Why it can no longer be used; None if it can."""
        return self._error

    @property
    def state(self) -> S:
        """The state to show: the confirmed one with our own pending actions on top. Do not change it.

        Raises:
            AhpError: `Gone` or `Closed`.
        """
        self._check()
        return self._read_state()

    @property
    def confirmed(self) -> S:
        """The state that the host confirmed. Do not change it.

        Raises:
            AhpError: `Gone` or `Closed`.
        """
        self._check()
        return self._read_confirmed()

    def _read_state(self) -> S:
        return cast("S", self._replica.state(self.uri))

    def _read_confirmed(self) -> S:
        return cast("S", self._replica.confirmed(self.uri))

    def changes(self) -> Changes:
        """Return an iterator of all changes from now on.

        Raises:
            AhpError: `Gone` or `Closed`.
        """
        self._check()
        return Changes(self._replica.listeners(self.uri))

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call this with each change at once; returns a function that stops it."""
        return self._replica.listeners(self.uri).add(listener)

    async def until(self, is_true: Callable[[S], Any]) -> S:
        """Wait until something is true of the confirmed state, and return that state.

        Raises:
            AhpError: `Gone` or `Closed`, so it never will be.
        """
        if is_true(self.confirmed):
            return self.confirmed
        # No await since the state was read, so no change is missed.
        changes = self.changes()
        try:
            async for change in changes:
                if isinstance(change.action, TextAction) and changes.has_more:
                    continue  # building the state after each of many words would take quadratic time
                if change.kind in ("confirmed", "snapshot") and is_true(change.after):
                    return cast("S", change.after)
        finally:
            changes.close()
        raise self._error or Gone(f"{self.uri} no longer exists")

    def close(self) -> None:
        """Unsubscribe. The resource goes on without this client (HR-S04)."""
        if self._error is None:
            self._connection.notify("unsubscribe", {"channel": self.uri})
            self._replica.forget(self.uri, Closed(f"{self.uri} was closed"))

    def _dispatch(self, action: Action) -> DispatchedAction:
        """Dispatch an action.

        Raises:
            AhpError: `Gone` or `Closed`.
        """
        self._check()
        return self._connection.dispatch(self.uri, action)
