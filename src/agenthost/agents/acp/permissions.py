"""Permissions: ACP's permission options as AHP's confirmation options, and the decision back. Pure.

If the user chose an option, exactly that one is sent. A plain approval means `allow_once` and a plain denial
`reject_once`. A program that does not offer that kind gets no other one: its request is cancelled.
"""

from collections.abc import Sequence
from typing import Any

from agenthost.host.authoring.reported_call import Decision
from agenthost.wire.ahp.toolcall import ConfirmationOption
from agenthost.wire.json import JsonObject

__all__ = ["CANCELLED", "confirmation_options", "permission_outcome"]

CANCELLED: JsonObject = {"outcome": {"outcome": "cancelled"}}


def confirmation_options(listed: Any) -> list[ConfirmationOption]:
    """Convert a program's permission options. Those that deny form a separate group."""
    options: list[ConfirmationOption] = []
    for one in _readable(listed):
        name = str(one.get("name") or one["optionId"])
        if _kind(one).startswith("allow"):
            options.append({"id": one["optionId"], "label": name, "kind": "approve"})
        else:
            options.append({"id": one["optionId"], "label": name, "kind": "deny", "group": 1})
    return options


def permission_outcome(decision: Decision, listed: Any) -> JsonObject:
    """Return the outcome for the program. ACP has no field for a reason, so it is sent as `_meta`."""
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
