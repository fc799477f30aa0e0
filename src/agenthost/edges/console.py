"""The console: what a server says to whoever started it, and what is left to do when nobody listens."""

import contextlib
import os
import sys
from typing import NoReturn

from agenthost import __version__
from agenthost.host.host import Host

__all__ = ["fail", "fill_standard_streams", "say", "welcome"]


DEFAULT_URL = "http://127.0.0.1:8642"
"""Where everybody looks first."""


def welcome(url: str, host: Host, *, has_keys: bool = False) -> str:
    """Say where it listens, what it serves and how to try it."""
    agents = [agent.name + (f" ({agent.title})" if agent.title else "") for agent in host.agents.values()]
    rows = [("page", f"{url}/")]
    rows += zip(["agents", *[""] * len(agents)], agents or ["none"], strict=False)
    rows.append(("data", "kept until it stops only" if host.data is None else str(host.data)))
    rows.append(("workspace", str(host.workspace)))
    if has_keys:
        rows.append(("access", "with an API key only; agenthost keys list shows which there are"))
    rows += [("AAP", f"{url}/aap"), ("AHP", f"{url.replace('http', 'ws', 1)}/ahp")]
    rows += [("try", _first_words(url, host, has_keys=has_keys)), ("stop", "Ctrl-C")]
    lines = [f"  {word:<11}{text}" for word, text in rows]
    return "\n".join([f"agenthost {__version__} listens on {url}", *lines])


def _first_words(url: str, host: Host, *, has_keys: bool) -> str:
    """Give a command that gets an answer of the first agent."""
    if has_keys or not host.agents:
        return f"curl {url}/healthz"
    name = next(iter(host.agents))
    which = "" if name == "demo" else f" --agent {name}"
    where = "" if url == DEFAULT_URL else f" {url}"
    command = os.environ.get("_AGENTHOST_CALLED_AS", "agenthost")  # as `./run` tells
    return f"{command} chat{where}{which}"


def fill_standard_streams() -> None:
    """Open the standard streams that are closed on nothing: a socket in their place would abort the loop."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one


def say(text: str) -> None:
    """Print for people. That nobody reads it is no reason to stop."""
    out = sys.stdout
    if out is None:
        return
    try:
        print(text.encode(out.encoding, "backslashreplace").decode(out.encoding), file=out, flush=True)
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            # Else Python would complain at its end about what it could not write.
            os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())


def fail(sentence: str, code: int = 1, trace: str = "") -> NoReturn:
    """Say on the standard error why it does not go on, and end."""
    if sys.stderr is not None:
        print(f"{trace}agenthost: {sentence}", file=sys.stderr)
    raise SystemExit(code)
