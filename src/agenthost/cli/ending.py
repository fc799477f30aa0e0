"""How a command ends that talks to a server: with a sentence and a code, never with a traceback."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn, TextIO

from agenthost.errors import HostError

__all__ = ["STOPS", "called_as", "fail", "plain_ends", "safe", "without_controls"]

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


def called_as() -> str:
    """Give what people type to call us: `./run` tells."""
    return os.environ.get("_AGENTHOST_CALLED_AS", "agenthost")


def fail(sentence: str, code: int = 1) -> NoReturn:
    """Say on the standard error what is wrong, and end."""
    print(f"agenthost: {sentence}", file=sys.stderr)
    raise SystemExit(code)


@contextmanager
def plain_ends(*, unreachable: type[HostError], unauthorized: type[HostError]) -> Iterator[None]:
    """End with 2 if what was asked for makes no sense, with 1 if it fails, with 130 on Ctrl-C.

    Which errors mean that no server is there, or that it wants a key, each client has names of its own for.
    """
    try:
        yield
    except ValueError as error:
        fail(str(error), 2)
    except unreachable as error:
        fail(f"{error}; a server is started with: {called_as()} serve")
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


def safe(text: str, stream: TextIO) -> str:
    """Take out what a terminal would obey, and what it could not write at all."""
    plain = without_controls(text) if stream.isatty() else text
    return plain.encode(stream.encoding, "replace").decode(stream.encoding)
