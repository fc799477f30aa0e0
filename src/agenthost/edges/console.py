"""The console: what a server says to whoever started it, and what is left to do when nobody listens."""

import contextlib
import os
import shlex
import sys
from pathlib import Path
from typing import NoReturn

from agenthost import __version__
from agenthost.commands import command
from agenthost.host.host import Host
from agenthost.host.keys import Keys
from agenthost.settings import data_option

__all__ = ["fail", "fill_standard_streams", "first_key", "say", "welcome"]


DEFAULT_URL = "http://127.0.0.1:8642"
"""Where everybody looks first."""


def welcome(url: str, host: Host, keys: Keys) -> str:
    """Say where it listens, what it serves and how to try it."""
    agents = [agent.name + (f" ({agent.title})" if agent.title else "") for agent in host.agents.values()]
    rows = [("page", f"{url}/" if keys.token is None else f"{url}/#tkn={keys.token.text}")]
    rows += zip(["agents", *[""] * len(agents)], agents or ["none"], strict=False)
    rows.append(("data", "kept until it stops only" if host.data is None else str(host.data)))
    rows.append(("workspace", str(host.workspace)))
    if host.workspaces is not None:
        rows.append(("", f"{host.workspaces}, a folder for each owner of keys"))
    rows.append(("sandbox", str(host.confinement)))
    if keys.has_keys and host.data is not None:
        shown = command("keys", "list", *data_option(host.data))
        rows.append(("access", f"with an API key only; {shown} shows which there are"))
    elif keys.is_needed and host.data is not None:
        shown = command("token", *data_option(host.data))
        rows.append(("access", f"with the token in the page's address; {shown} prints it"))
    if not keys.is_needed:
        rows.append(("warning", "nobody is asked who they are: all on this machine can do what you can"))
    rows += [("AAP", f"{url}/aap"), ("AHP", f"{url.replace('http', 'ws', 1)}/ahp")]
    rows += [("try", _first_words(url, host, has_keys=keys.has_keys)), ("stop", "Ctrl-C")]
    lines = [f"  {word:<11}{text}" for word, text in rows]
    return "\n".join([f"agenthost {__version__} listens on {url}", *lines])


def _first_words(url: str, host: Host, *, has_keys: bool) -> str:
    """Give a command that gets an answer of the first agent."""
    if has_keys or not host.agents:
        return f"curl {url}/healthz"
    name = next(iter(host.agents))
    where = [] if url == DEFAULT_URL else [url]
    which = [] if name == "demo" else ["--agent", name]
    return command("chat", *where, *which)


def first_key(data: Path | None) -> str:
    """Return how a first key is created for the server of a data folder."""
    if data is None:
        return "give the host a data folder, and create one there"
    option = data_option(data)
    make = f"mkdir -p {shlex.quote(str(data))} && " if option and not data.is_dir() else ""
    return f"create one with `{make}{command('keys', 'create', *option)}`"


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
