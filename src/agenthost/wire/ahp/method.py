"""A method of the protocol: its name, who calls it, its params and its result."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agenthost.wire.shape import Shape

__all__ = ["NULL", "Caller", "Method", "by_name", "notification", "request"]

Caller: TypeAlias = Literal["client", "host", "both"]
"""Which side calls a method."""

NULL = type(None)
"""The result of a method that has none."""


@dataclass(frozen=True)
class Method:
    """A method of the protocol. `result` is `None` for a notification, which has no response."""

    name: str
    caller: Caller
    params: Shape[Any]
    result: Shape[Any] | None


def request(name: str, params: Any, result: Any, caller: Caller = "client") -> Method:
    """Return a method that is answered."""
    return Method(name, caller, Shape(params), Shape(result))


def notification(name: str, params: Any, caller: Caller) -> Method:
    """Return a method that is not answered."""
    return Method(name, caller, Shape(params), None)


def by_name(*methods: Method) -> dict[str, Method]:
    """Return a table of methods."""
    return {method.name: method for method in methods}
