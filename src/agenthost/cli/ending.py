"""How a command ends that talks to a server: with a sentence and a code, never with a traceback."""

import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn, TextIO

from agenthost.client.address import DEFAULT_SERVER, read_address
from agenthost.commands import called_as
from agenthost.errors import HostError

__all__ = ["STOPS", "called_as", "command_for", "fail", "plain_ends", "safe", "visible", "without_controls"]

STOPS = {
    "refusal": "the agent refused to answer",
    "max_tokens": "the answer is cut off: the agent ran out of room",
    "error": "something went wrong while the agent answered; the server's log says what",
}
"""What to say of an answer that is not whole."""

INTERRUPTED = 130
"""How shells count a command that Ctrl-C ended."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What could move the cursor, or worse: nothing that an agent says may do that."""


def command_for(url: str | None, command: str) -> str:
    """Return a command as people would type it, with the server where it is not the usual one.

    Raises:
        ValueError: the server is named wrongly.
    """
    address = read_address(url)
    where = "" if address == read_address() else f" --url {shlex.quote(str(address))}"
    return f"{called_as()} {command}{where}"


def _way_out(url: str | None) -> str:
    """Say what to do where no server is."""
    address, usual = read_address(url), read_address(DEFAULT_SERVER)
    if address.origin == usual.origin:
        return f"a server is started with: {called_as()} serve"
    if address.is_local:
        return f"a server is started there with: {called_as()} serve --port {address.port}"
    return "is it started, and is this where it is?"


def fail(sentence: str, code: int = 1) -> NoReturn:
    """Say on the standard error what is wrong, and end."""
    print(f"agenthost: {sentence}", file=sys.stderr)
    raise SystemExit(code)


@contextmanager
def plain_ends(
    url: str | None, *, unreachable: type[HostError], unauthorized: type[HostError]
) -> Iterator[None]:
    """End with 2 if what was asked for makes no sense, with 1 if it fails, with 130 on Ctrl-C.

    `url` is how the server was named. Which errors mean that no server is there, or that it wants a key,
    each client has names of its own for.
    """
    try:
        yield
    except ValueError as error:
        fail(str(error), 2)
    except unreachable as error:
        fail(f"{error}; {_way_out(url)}")
    except unauthorized as error:
        fail(f"{error}; a key is given by --key, or by AGENTHOST_KEY")
    except HostError as error:
        fail(str(error))
    except BrokenPipeError:
        # Whoever read the answer has left; so do we, without Python's own complaint at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


def without_controls(text: str) -> str:
    """Take out what a terminal would obey; tabs and ends of lines stay."""
    return _CONTROLS.sub("", text)


def visible(text: str) -> str:
    """Return a text with what a terminal would obey written out: nothing may hide from who has to decide."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def safe(text: str, stream: TextIO) -> str:
    """Take out what a terminal would obey, and what it could not write at all."""
    plain = without_controls(text) if stream.isatty() else text
    return plain.encode(stream.encoding, "replace").decode(stream.encoding)
