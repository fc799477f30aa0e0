"""How commands that talk to a server end: with a sentence and an exit code, never with a traceback."""

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from agenthost.client.address import DEFAULT_SERVER, read_address
from agenthost.commands import program_name
from agenthost.errors import HostError

__all__ = ["INTERRUPTED", "UNFINISHED", "command_for", "exit_on_error", "fail", "leave_pipe"]

INTERRUPTED = 130
"""The exit code that shells report for a command that was ended by Ctrl-C."""

UNFINISHED = {
    "refusal": "the agent refused to answer",
    "max_tokens": "the answer was cut off: the agent reached its limit",
    "error": "something went wrong while the agent answered; see the server's log",
}
"""Messages about incomplete answers, by stop reason."""


def fail(sentence: str, code: int = 1) -> NoReturn:
    """Print what is wrong to standard error, and exit."""
    print(f"agenthost: {sentence}", file=sys.stderr)
    raise SystemExit(code)


@contextmanager
def exit_on_error(
    url: str | None, *, unreachable: type[HostError], unauthorized: type[HostError]
) -> Iterator[None]:
    """Exit with 2 if the command makes no sense, with 1 if it fails, with 130 on Ctrl-C.

    `url` is the server as the user named it. The clients' exception classes differ, so they are arguments.
    """
    try:
        yield
    except ValueError as error:
        fail(str(error), 2)
    except unreachable as error:
        fail(f"{error}; {_start_hint(url)}")
    except unauthorized as error:
        fail(f"{error}; pass a key with --key or AGENTHOST_KEY")
    except HostError as error:
        fail(str(error))
    except BrokenPipeError:
        leave_pipe()
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


def leave_pipe() -> None:
    """Send what is left of standard output nowhere. Nobody reads it, and Python would complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def command_for(url: str | None, command: str) -> str:
    """Return a command as people type it, with `--url` unless it would find the server without.

    Raises:
        ValueError: the URL is not one of a server.
    """
    address = read_address(url)
    where = "" if address == read_address() else f" --url {shlex.quote(str(address))}"
    return f"{program_name()} {command}{where}"


def _start_hint(url: str | None) -> str:
    """Say what to do if there is no server."""
    address = read_address(url)
    if address.origin == read_address(DEFAULT_SERVER).origin:
        return f"start a server with: {program_name()} serve"
    if address.is_local:
        return f"start a server there with: {program_name()} serve --port {address.port}"
    return "is it running, and is the address right?"
