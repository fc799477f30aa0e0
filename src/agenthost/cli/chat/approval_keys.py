"""The keys that decide a tool call. Pure."""

from dataclasses import dataclass
from typing import Any

from agenthost.cli.chat.terminal.terminal import KeyChoice

__all__ = ["ApprovalKeys"]


@dataclass(frozen=True, slots=True)
class ApprovalKeys:
    """The ways to decide a call: letters that are easy to guess, and numbers for the host's other options.

    Attributes:
        choices: the keys to offer.
        options: the host's options by key; a key without one decides without an option.
    """

    choices: list[KeyChoice]
    options: dict[str, Any]

    @classmethod
    def for_call(cls, call: Any, waiting: int = 1) -> "ApprovalKeys":
        """Return the keys for a call while this many calls wait, itself included."""
        choices: list[KeyChoice] = []
        options: dict[str, Any] = {}
        for number, option in enumerate(call.get("options", []), 1):
            key = _letter(option, options) or str(number)
            options[key] = option
            choices.append(KeyChoice(key, option["label"]))
        if not any(option["kind"] == "approve" for option in options.values()):
            choices.insert(0, KeyChoice("y", "Allow"))
        if not any(option["kind"] == "deny" for option in options.values()):
            choices.append(KeyChoice("n", "Deny"))
        if call.get("editable"):
            choices.append(KeyChoice("e", "Edit the input"))
        if waiting > 1:
            choices.append(KeyChoice("a", f"Allow all {waiting}"))
        return cls(choices, options)


def _letter(option: Any, taken: dict[str, Any]) -> str | None:
    if option["kind"] == "deny":
        return "n" if "n" not in taken else None
    if "session" in option["id"].lower() and "s" not in taken:
        return "s"
    return "y" if "y" not in taken else None
