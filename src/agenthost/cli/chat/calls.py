"""How a tool call looks: one line of what it is, and what came of it. Pure; knows no terminal."""

import shlex
from typing import Any

from agenthost.cli.chat.painting import clean, one_line
from agenthost.cli.chat.story import plain_of
from agenthost.errors import NotJson
from agenthost.wire.json import decode_json, encode_json

__all__ = ["blocks_of", "headline", "input_of", "is_well", "outcome", "pretty_input", "sized", "texts_of"]

LONGEST_INPUT = 200
"""How much of an input stands in one line."""

COMMAND_KEYS = ("command", "cmd")
SHELL_FLAGS = ("-c", "-lc")

_ENDS = {"denied": "denied", "skipped": "not run", "result-denied": "its result was withheld"}


def headline(call: Any) -> str:
    """Say in a line what is called, and with what: in the tool's own words, if it has any."""
    name, told = call["displayName"], plain_of(call.get("invocationMessage"))
    if told and told != name:
        return one_line(told, LONGEST_INPUT)
    return f"{one_line(name, 80)} {input_of(call)}".rstrip()


def input_of(call: Any) -> str:
    """Give the input in a line: `$ command`, `a: 1, b: 2`, or what there is of it so far."""
    text = call.get("toolInput", call.get("partialInput", ""))
    value = _value_of(text)
    if command := command_of(value):
        return one_line(f"$ {command}", LONGEST_INPUT)
    if not isinstance(value, dict):
        return one_line(text, LONGEST_INPUT)
    given = [f"{key}: {item if isinstance(item, str) else _json(item)}" for key, item in value.items()]
    return one_line(", ".join(given), LONGEST_INPUT)


def pretty_input(call: Any) -> str:
    """Give the input whole, over several lines if that is easier to read."""
    text = call.get("toolInput", "")
    value = _value_of(text)
    if command := command_of(value):
        rest = {key: item for key, item in value.items() if key not in COMMAND_KEYS}
        return "\n".join([f"$ {clean(command)}", *_rows(rest)])
    if not isinstance(value, dict) or len(text) <= LONGEST_INPUT // 4:
        return clean(text)
    return "\n".join(_rows(value))


def command_of(value: Any) -> str | None:
    """Return the shell command that an input holds, or None if it holds none."""
    if not isinstance(value, dict):
        return None
    command = next((value[key] for key in COMMAND_KEYS if key in value), None)
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        is_script = len(command) == 3 and command[1] in SHELL_FLAGS
        command = command[2] if is_script else shlex.join(command)
    return command if isinstance(command, str) and command.strip() else None


def _rows(value: dict[str, Any]) -> list[str]:
    rows = []
    for key, item in value.items():
        shown = clean(item) if isinstance(item, str) else _json(item)
        rows.append(f"{key}:\n{shown}" if "\n" in shown else f"{key}: {shown}")
    return rows


def is_well(call: Any) -> bool:
    """Tell whether a call that is over did what it was asked for."""
    return call["status"] == "completed" and bool(call.get("success"))


def outcome(call: Any) -> str:
    """Say in a line what came of a call."""
    name = one_line(call["displayName"], 80)
    if call["status"] == "cancelled":
        why = plain_of(call.get("reasonMessage"))
        said = f"{headline(call)}: {_ENDS.get(call['reason'], call['reason'])}"
        return f"{said}: {one_line(why, 500)}" if why else said
    done = one_line(plain_of(call.get("pastTenseMessage")) or name, 200)
    if error := call.get("error"):
        why = one_line(error["message"], 500)
        # Many say first what failed, as the past tense does.
        return why if why.lower().startswith(done.lower()) else f"{done}: {why}"
    given = input_of(call)
    return f"{done} {given}" if given and name in done else done


def texts_of(call: Any) -> list[str]:
    """Give the lines of text that a call has shown."""
    texts = [block["text"] for block in call.get("content", []) if block.get("type") == "text"]
    return [line.rstrip() for text in texts for line in clean(text).strip("\n").split("\n") if text.strip()]


def blocks_of(call: Any, kind: str) -> list[Any]:
    """Give the blocks of a kind."""
    return [block for block in call.get("content", []) if block.get("type") == kind]


def sized(block: Any) -> str:
    """Say in a line what content there is that is not shown."""
    kind = block.get("contentType", "content")
    if "data" in block:
        return f"{kind}, {_size(len(block['data']) * 3 // 4)}"
    size = f", {_size(block['sizeHint'])}" if "sizeHint" in block else ""
    return one_line(f"{kind}{size}: {block.get('uri', '')}", LONGEST_INPUT)


def _size(count: float) -> str:
    return f"{count:.0f} bytes" if count < 1_000 else f"{count / 1_000:.0f} kB"


def _value_of(text: str) -> Any:
    try:
        return decode_json(text)
    except NotJson:
        return None


def _json(value: Any) -> str:
    return encode_json(value).decode()
