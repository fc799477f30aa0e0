"""Tool calls in words: a line for what is called, and one for what came of it. Pure; knows no terminal."""

import shlex
from typing import Any

from agenthost.cli.chat.render.events import plain_text
from agenthost.cli.chat.terminal.text import clean, one_line
from agenthost.errors import NotJson
from agenthost.wire.json import decode_json, encode_json

__all__ = [
    "content_blocks",
    "describe_content",
    "format_input",
    "headline",
    "input_line",
    "outcome",
    "succeeded",
    "text_lines",
]

MAX_INPUT_LENGTH = 200
"""How much of an input is shown in one line."""

MAX_UNFORMATTED_LENGTH = 50
"""An object longer than this is shown with a line for each field."""

COMMAND_KEYS = ("command", "cmd")
SHELL_FLAGS = ("-c", "-lc")

_REASONS = {"denied": "denied", "skipped": "not run", "result-denied": "result withheld"}


def headline(call: Any) -> str:
    """Return one line on what is called with what input, in the tool's own words if it has any."""
    name, message = call["displayName"], plain_text(call.get("invocationMessage"))
    if message and message != name:
        return one_line(message, MAX_INPUT_LENGTH)
    return f"{one_line(name, 80)} {input_line(call)}".rstrip()


def input_line(call: Any) -> str:
    """Return the input in one line: `$ command`, `a: 1, b: 2`, or what has arrived of it."""
    text = _given_text(call) or call.get("partialInput", "")
    value = _decoded(text)
    if command := _shell_command(value):
        return one_line(f"$ {command}", MAX_INPUT_LENGTH)
    if not isinstance(value, dict):
        return one_line(text, MAX_INPUT_LENGTH)
    fields = [f"{key}: {item if isinstance(item, str) else _json(item)}" for key, item in value.items()]
    return one_line(", ".join(fields), MAX_INPUT_LENGTH)


def format_input(call: Any) -> str:
    """Return the whole input, over several lines if that is easier to read."""
    text = _given_text(call)
    value = _decoded(text)
    if command := _shell_command(value):
        rest = {key: item for key, item in value.items() if key not in COMMAND_KEYS}
        return "\n".join([f"$ {clean(command)}", *_field_rows(rest)])
    if not isinstance(value, dict) or len(text) <= MAX_UNFORMATTED_LENGTH:
        return clean(text)
    return "\n".join(_field_rows(value))


def _given_text(call: Any) -> str:
    """Return the input of a call; where it is a content of its own, the URI of that."""
    given = call.get("toolInput", "")
    return given if isinstance(given, str) else str(given.get("uri", ""))


def _shell_command(value: Any) -> str | None:
    """Return the shell command in an input, or None if there is none."""
    if not isinstance(value, dict):
        return None
    command = next((value[key] for key in COMMAND_KEYS if key in value), None)
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        is_script = len(command) == 3 and command[1] in SHELL_FLAGS
        command = command[2] if is_script else shlex.join(command)
    return command if isinstance(command, str) and command.strip() else None


def _field_rows(value: dict[str, Any]) -> list[str]:
    rows = []
    for key, item in value.items():
        shown = clean(item) if isinstance(item, str) else _json(item)
        rows.append(f"{key}:\n{shown}" if "\n" in shown else f"{key}: {shown}")
    return rows


def succeeded(call: Any) -> bool:
    """Return whether a call that has ended was successful."""
    return call["status"] == "completed" and bool(call.get("success"))


def outcome(call: Any) -> str:
    """Return one line on what came of a call."""
    name = one_line(call["displayName"], 80)
    if call["status"] == "cancelled":
        why = plain_text(call.get("reasonMessage"))
        sentence = f"{headline(call)}: {_REASONS.get(call['reason'], call['reason'])}"
        return f"{sentence}: {one_line(why, 500)}" if why else sentence
    done = one_line(plain_text(call.get("pastTenseMessage")) or name, 200)
    if error := call.get("error"):
        why = one_line(error["message"], 500)
        # Many errors begin with what failed, which the past tense says already.
        return why if why.lower().startswith(done.lower()) else f"{done}: {why}"
    given = input_line(call)
    return f"{done} {given}" if given and name in done else done


def text_lines(call: Any) -> list[str]:
    """Return the lines of text in a call's content."""
    texts = [block["text"] for block in content_blocks(call, "text")]
    return [line.rstrip() for text in texts for line in clean(text).strip("\n").split("\n") if text.strip()]


def content_blocks(call: Any, kind: str) -> list[Any]:
    """Return the content blocks of one kind."""
    return [block for block in call.get("content", []) if block.get("type") == kind]


def describe_content(block: Any) -> str:
    """Return one line on a content block that is not shown itself."""
    kind = block.get("contentType", "content")
    if "data" in block:
        return f"{kind}, {_size(len(block['data']) * 3 // 4)}"  # four characters of Base64 are three bytes
    size = f", {_size(block['sizeHint'])}" if "sizeHint" in block else ""
    return one_line(f"{kind}{size}: {block.get('uri', '')}", MAX_INPUT_LENGTH)


def _size(count: float) -> str:
    return f"{count:.0f} bytes" if count < 1_000 else f"{count / 1_000:.0f} kB"


def _decoded(text: str) -> Any:
    try:
        return decode_json(text)
    except NotJson:
        return None


def _json(value: Any) -> str:
    return encode_json(value).decode()
