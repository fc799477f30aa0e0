"""Dialects: how messages of AHP 1.0, which is what this client speaks, look to the host of a connection.

Clients and hosts of 0.9 and 1.0 speak alike. `legacy_dialect` is for hosts that only know 0.1.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from agenthost.client.ahp.errors import NotAhp
from agenthost.errors import InvalidValue
from agenthost.wire.ahp.actions.envelope import ActionEnvelope
from agenthost.wire.ahp.method import Method
from agenthost.wire.ahp.methods import METHODS
from agenthost.wire.json import Json, JsonObject

__all__ = ["Call", "CurrentDialect", "Dialect", "checked_result"]


class Call(NamedTuple):
    """A method with its params, as one side names them."""

    method: str
    params: Any


class Dialect(Protocol):
    """What is said to a host, and heard from it."""

    has_several_clients: bool
    """Whether several clients can be active in a session."""

    has_changesets: bool
    """Whether sessions may offer changesets."""

    def say(self, call: Call) -> Call | None:
        """Return a request or notification as the host knows it; `None` if it has nothing of the kind.

        Raises:
            Refused: the host cannot do this.
        """

    def read_result(self, call: Call, result: Json) -> Any:
        """Return the result of a request that we made.

        Raises:
            NotAhp: it has not the right shape.
        """

    def dispatches(self, params: Any) -> list[JsonObject]:
        """Return the params of each `dispatchAction` that an action becomes.

        Raises:
            Refused: the host cannot do this.
        """

    def read_envelopes(self, params: Any) -> Iterable[ActionEnvelope]:
        """Return the envelopes that an `action` of the host stands for, each to be applied before the next.

        Raises:
            InvalidValue: it is not one.
        """

    def read_notification(self, call: Call) -> Call | None:
        """Return another notification of the host; `None` if it says nothing to us.

        Raises:
            InvalidValue: it has not the right shape.
        """

    def stale_resource(self, params: Any) -> str | None:
        """Return the channel that an `action` was about which could not be applied."""


def checked_result(methods: dict[str, Method], method: str, result: Json) -> Any:
    """Return the result of a method if it has the right shape.

    Raises:
        NotAhp: it has not.
    """
    shape = methods[method].result
    try:
        return result if shape is None else shape.take(result)
    except InvalidValue as error:
        raise NotAhp(f"the host's answer to {method} violates AHP: {error}") from error


class CurrentDialect:
    """AHP 1.0 and 0.9: everything is said and heard as it is."""

    has_several_clients = True
    has_changesets = True

    def say(self, call: Call) -> Call | None:
        """Return it."""
        return call

    def read_result(self, call: Call, result: Json) -> Any:
        """Return it, checked."""
        return checked_result(METHODS, call.method, result)

    def dispatches(self, params: Any) -> list[JsonObject]:
        """Return it."""
        return [params]

    def read_envelopes(self, params: Any) -> Iterable[ActionEnvelope]:
        """Return the envelope, checked."""
        envelope: ActionEnvelope = METHODS["action"].params.take(params)
        if "type" not in envelope["action"]:
            raise InvalidValue("$.action.type", "a string", "nothing")
        return [envelope]

    def read_notification(self, call: Call) -> Call | None:
        """Return it, checked; what we do not know is ignored (I4)."""
        if call.method not in METHODS or METHODS[call.method].caller != "host":
            return None
        return Call(call.method, METHODS[call.method].params.take(call.params))

    def stale_resource(self, params: Any) -> str | None:
        """Return its channel."""
        channel = params.get("channel")
        return channel if type(channel) is str else None
