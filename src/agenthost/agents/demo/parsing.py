"""What stands behind a word of the demo agent, read; what is wrong with it, in a sentence."""

import re
from collections.abc import Iterator
from json import JSONDecoder
from typing import NoReturn

from agenthost.errors import NotJson
from agenthost.host.steps import Call
from agenthost.wire.json import JsonObject, decode_json

__all__ = ["WrongArgument", "pieces_of", "read_calls", "read_count", "read_seconds", "read_text"]

_PIECE = re.compile(r"\S+\s*|\s+")
_SHOWN = 40
"""How much of a wrong argument is said back."""


class WrongArgument(Exception):
    """What was said behind a word does not fit; the sentence says what would."""


def pieces_of(text: str) -> Iterator[str]:
    """Take a text apart: each piece is a word with the space after it, so that joined they are the text."""
    return (piece[0] for piece in _PIECE.finditer(text))


def read_text(rest: str) -> str:
    """Read an argument that is any text, but some.

    Raises:
        WrongArgument: there is none.
    """
    if not rest:
        raise WrongArgument("Some text is missing.")
    return rest


def read_count(rest: str, most: int) -> int:
    """Read a whole number.

    Raises:
        WrongArgument: it is none, or too large.
    """
    digits = rest.strip()
    if digits.isascii() and digits.isdigit() and len(digits) <= len(str(most)) and int(digits) <= most:
        return int(digits)
    raise WrongArgument(f"That takes a whole number from 0 to {most}, {_not(rest)}.")


def read_seconds(rest: str, most: float) -> float:
    """Read a number of seconds.

    Raises:
        WrongArgument: it is none, or too large.
    """
    try:
        seconds = float(rest)
    except ValueError:
        seconds = -1
    if not 0 <= seconds <= most:
        raise WrongArgument(f"That takes a number of seconds from 0 to {most:g}, {_not(rest)}.")
    return seconds


def _not(rest: str) -> str:
    words = " ".join(rest.split())
    return f"not `{words[:_SHOWN]}`" if words else "and none is there"


def read_calls(rest: str) -> list[Call]:
    """Read `NAME JSON && NAME JSON …`, where JSON may be left out.

    The JSON itself says where it ends, so that it may have `&&` inside.

    Raises:
        WrongArgument: a name is missing, or the JSON is none.
    """
    calls = []
    while True:
        name, arguments, rest = _read_call(rest.lstrip())
        calls.append(Call(name, arguments))
        if not rest:
            return calls
        rest = rest.removeprefix("&&")


def _read_call(text: str) -> tuple[str, JsonObject, str]:
    """Read one call; gives what is left, which is nothing or begins with `&&`."""
    name = text.split(maxsplit=1)[0] if text else "&&"
    if name.startswith(("&&", "{")):
        raise WrongArgument("The name of a tool is missing.")
    rest = text[len(name) :].lstrip()
    arguments: JsonObject = {}
    if rest and not rest.startswith("&&"):
        arguments, rest = _read_object(name, rest)
    if rest and not rest.startswith("&&"):
        raise WrongArgument(f"After the input of `{name}` comes `&&` or nothing, {_not(rest)}.")
    return name, arguments, rest


def _read_object(name: str, text: str) -> tuple[JsonObject, str]:
    try:
        end = _DECODER.raw_decode(text)[1]
        value = decode_json(text[:end])  # again, as the host does it: it is the stricter of the two
    except (ValueError, RecursionError, NotJson) as error:
        raise WrongArgument(f"The input of `{name}` is not JSON ({error}).") from error
    if type(value) is not dict:
        raise WrongArgument(f"The input of `{name}` has to be a JSON object, {_not(text[:end])}.")
    return value, text[end:].lstrip()


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number there")


_DECODER = JSONDecoder(parse_constant=_refuse)
