"""Watching: what sessions and terminals have in common for an application. Knows no details of either."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

from agenthost.client.ahp.changes import Change, Changes, Echo, Listener
from agenthost.client.ahp.errors import AhpError, Closed, Gone
from agenthost.client.ahp.line import Line
from agenthost.client.ahp.mirrors import Mirrors
from agenthost.wire.ahp.actions.text import TextAction
from agenthost.wire.ahp.common import URI

__all__ = ["Watched"]

S = TypeVar("S")


class Watched(Generic[S]):
    """A resource that is watched: its states, and what happens to it.

    Attributes:
        uri: which one.
    """

    def __init__(self, uri: URI, line: Line, mirrors: Mirrors) -> None:
        self.uri = uri
        self._line = line
        self._mirrors = mirrors
        self._error: AhpError | None = None
        self._stop = mirrors.listeners(uri).add(self._heard)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.uri}>"

    def _heard(self, change: Change) -> None:
        if change.kind in ("gone", "closed"):
            self._error = change.error or Closed("it was closed")
            self._stop()

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    @property
    def is_gone(self) -> bool:
        """Whether it is not there any more, or not watched."""
        return self._error is not None

    @property
    def error(self) -> AhpError | None:
        """Why it is not there any more, or not watched, if that is so."""
        return self._error

    @property
    def state(self) -> S:
        """What a person should see: what the host confirmed, with our own actions on top. Not to be changed.

        Raises:
            AhpError: `Gone` or `Closed`.
        """
        self._check()
        return cast("S", self._mirrors.state(self.uri))

    @property
    def confirmed(self) -> S:
        """What the host confirmed. Not to be changed.

        Raises:
            AhpError: `Gone` or `Closed`.
        """
        self._check()
        return cast("S", self._mirrors.confirmed(self.uri))

    def changes(self) -> Changes:
        """Give all changes from now on.

        Raises:
            AhpError: `Gone` or `Closed`.
        """
        self._check()
        return Changes(self._mirrors.listeners(self.uri))

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Have this called with each change, at once; gives what ends it."""
        return self._mirrors.listeners(self.uri).add(listener)

    async def until(self, is_so: Callable[[S], Any]) -> S:
        """Wait until something is so in what the host confirmed; gives that state.

        Raises:
            AhpError: it will not be any more: `Gone` or `Closed`.
        """
        if is_so(self.confirmed):
            return self.confirmed
        changes = self.changes()
        try:
            async for change in changes:
                if isinstance(change.action, TextAction) and changes.has_more:
                    continue  # to look at the whole text after each word would take ever longer
                if change.kind in ("confirmed", "snapshot") and is_so(change.after):
                    return cast("S", change.after)
        finally:
            changes.close()
        raise self._error or Gone(f"{self.uri} is not there any more")

    def close(self) -> None:
        """Watch it no more. It goes on without us."""
        if self._error is None:
            self._line.notify("unsubscribe", {"resource": self.uri})
            self._mirrors.forget(self.uri, Closed(f"{self.uri} is not watched any more"))

    def _act(self, kind: str, /, **fields: Any) -> Echo:
        """Let an action happen; what is None is left out.

        Raises:
            AhpError: `Gone` or `Closed`.
        """
        self._check()
        scope = kind.partition("/")[0]
        given = {key: value for key, value in fields.items() if value is not None}
        return self._line.act(cast("Any", {"type": kind, scope: self.uri, **given}))
