"""Parses the arguments of the demo agent's commands."""

import re
from collections.abc import Iterator
from json import JSONDecoder
from typing import NoReturn

from agenthost.errors import NotJson
from agenthost.host.authoring.steps import Call
from agenthost.wire.json import JsonObject, decode_json

__all__ = ["ArgumentError", "parse_calls", "parse_count", "parse_seconds", "require_text", "split_words"]

_PIECE = re.compile(r"\S+\s*|\s+")
_MAX_SHOWN = 40
"""How many characters of a wrong argument are quoted."""


class ArgumentError(Exception):
    """The argument of a command is wrong; the message says what would be right."""


def split_words(text: str) -> Iterator[str]:
    """Split a text into words, each with the space after it. Joined, they are the text."""
    return (piece[0] for piece in _PIECE.finditer(text))


def require_text(rest: str) -> str:
    """Return an argument that may be any text.

    Raises:
        ArgumentError: it is empty.
    """
    if not rest:
        raise ArgumentError("Some text is missing.")
    return rest


def parse_count(rest: str, maximum: int) -> int:
    """Parse a whole number.

    Raises:
        ArgumentError: it is not one, or too large.
    """
    digits = rest.strip()
    if digits.isascii() and digits.isdigit() and len(digits) <= len(str(maximum)) and int(digits) <= maximum:
        return int(digits)
    raise ArgumentError(f"That takes a whole number from 0 to {maximum}, {_but_found(rest)}.")


def parse_seconds(rest: str, maximum: float) -> float:
    """Parse a number of seconds.

    Raises:
        ArgumentError: it is not one, or too large.
    """
    try:
        seconds = float(rest)
    except ValueError:
        seconds = -1
    if not 0 <= seconds <= maximum:
        raise ArgumentError(f"That takes a number of seconds from 0 to {maximum:g}, {_but_found(rest)}.")
    return seconds


def _but_found(rest: str) -> str:
    words = " ".join(rest.split())
    return f"not `{words[:_MAX_SHOWN]}`" if words else "but there is none"


def parse_calls(rest: str) -> list[Call]:
    """Parse `NAME JSON && NAME JSON …`, where JSON may be left out.

    The JSON parser finds the end of each input, so it may contain `&&`.

    Raises:
        ArgumentError: a name is missing, or the JSON is invalid.
    """
    calls = []
    while True:
        name, arguments, rest = _read_call(rest.lstrip())
        calls.append(Call(name, arguments))
        if not rest:
            return calls
        rest = rest.removeprefix("&&")


def _read_call(text: str) -> tuple[str, JsonObject, str]:
    """Parse one call. The third value is the rest, which is empty or begins with `&&`."""
    name = text.split(maxsplit=1)[0] if text else "&&"
    if name.startswith(("&&", "{")):
        raise ArgumentError("The name of a tool is missing.")
    rest = text[len(name) :].lstrip()
    arguments: JsonObject = {}
    if rest and not rest.startswith("&&"):
        arguments, rest = _read_object(name, rest)
    if rest and not rest.startswith("&&"):
        raise ArgumentError(f"After the input of `{name}` comes `&&` or nothing, {_but_found(rest)}.")
    return name, arguments, rest


def _read_object(name: str, text: str) -> tuple[JsonObject, str]:
    try:
        end = _DECODER.raw_decode(text)[1]
        value = decode_json(text[:end])  # once more with the host's parser, which is stricter
    except (ValueError, RecursionError, NotJson) as error:
        raise ArgumentError(f"The input of `{name}` is not JSON ({error}).") from error
    if type(value) is not dict:
        raise ArgumentError(f"The input of `{name}` has to be a JSON object, {_but_found(text[:end])}.")
    return value, text[end:].lstrip()


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


_DECODER = JSONDecoder(parse_constant=_refuse)
