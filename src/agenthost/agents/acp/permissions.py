"""Permissions: the program's ways to be answered, as ways to confirm a call, and back. Pure.

What somebody chose is sent exactly. Who plainly allows, allows this once, and who plainly denies, denies this
once; a program that offers no such way is not given another one.
"""

from collections.abc import Sequence
from typing import Any

from agenthost.host.reports import Decision
from agenthost.wire.ahp.toolcall import ConfirmationOption
from agenthost.wire.json import JsonObject

__all__ = ["CANCELLED", "options_of", "outcome_of"]

CANCELLED: JsonObject = {"outcome": {"outcome": "cancelled"}}


def options_of(listed: Any) -> list[ConfirmationOption]:
    """Read the ways to answer; those that deny stand apart."""
    options: list[ConfirmationOption] = []
    for one in _readable(listed):
        name = str(one.get("name") or one["optionId"])
        if _kind(one).startswith("allow"):
            options.append({"id": one["optionId"], "label": name, "kind": "approve"})
        else:
            options.append({"id": one["optionId"], "label": name, "kind": "deny", "group": 1})
    return options


def outcome_of(decision: Decision, listed: Any) -> JsonObject:
    """Give the answer to the program; a reason rides along for those that read it."""
    chosen = decision.option or _once(listed, "allow_once" if decision.approved else "reject_once")
    if chosen is None:
        return CANCELLED
    outcome: JsonObject = {"outcome": {"outcome": "selected", "optionId": chosen}}
    return {**outcome, "_meta": {"reason": decision.reason}} if decision.reason else outcome


def _once(listed: Any, kind: str) -> str | None:
    return next((one["optionId"] for one in _readable(listed) if _kind(one) == kind), None)


def _readable(listed: Any) -> Sequence[JsonObject]:
    found = listed if isinstance(listed, list) else []
    return [one for one in found if type(one) is dict and isinstance(one.get("optionId"), str)]


def _kind(option: JsonObject) -> str:
    return str(option.get("kind"))
