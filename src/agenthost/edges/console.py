"""The console: what a server prints for the user who started it, even if its streams are closed."""

import contextlib
import os
import shlex
import sys
from pathlib import Path
from typing import NoReturn

from agenthost import __version__
from agenthost.commands import command
from agenthost.host.access.keys import Keys
from agenthost.host.host import Host
from agenthost.host.store_address import StoreAddress
from agenthost.settings import data_option

__all__ = ["fail", "fill_standard_streams", "first_key", "say", "welcome"]


DEFAULT_URL = "http://127.0.0.1:8642"
"""The address that clients use by default."""


def welcome(url: str, host: Host, keys: Keys) -> str:
    """Return the text that says where the server listens, what it serves and how to try it."""
    agents = [agent.name + (f" ({agent.title})" if agent.title else "") for agent in host.agents.values()]
    rows = [("page", f"{url}/" if keys.token is None else f"{url}/#tkn={keys.token.text}")]
    rows += zip(["agents", *[""] * len(agents)], agents or ["none"], strict=False)
    rows.append(_data_row(host))
    rows.append(("workspace", str(host.workspace)))
    if host.workspaces is not None:
        rows.append(("", f"{host.workspaces}, a folder for each owner of keys"))
    rows.append(("sandbox", str(host.confinement)))
    place = _place_option(host.data, host.store)
    if keys.has_keys and place is not None:
        shown = command("keys", "list", *place)
        rows.append(("access", f"only with an API key; {shown} lists them"))
    elif keys.is_needed and place is not None:
        shown = command("token", *place)
        rows.append(("access", f"with the token in the page's address; {shown} prints it"))
    if not keys.is_needed:
        rows.append(("warning", "no authentication: everybody on this machine can do what you can"))
    rows += [("AAP", f"{url}/aap"), ("AHP", f"{url.replace('http', 'ws', 1)}/ahp")]
    rows += [("try", _first_words(url, host, has_keys=keys.has_keys)), ("stop", "Ctrl-C")]
    lines = [f"  {word:<11}{text}" for word, text in rows]
    return "\n".join([f"agenthost {__version__} listens on {url}", *lines])


def _data_row(host: Host) -> tuple[str, str]:
    if host.store is not None:
        return "store", host.store.shown
    return "data", "kept only until it stops" if host.data is None else str(host.data)


def _place_option(data: Path | None, store: StoreAddress | None) -> list[str] | None:
    """Return the words that name the place of the keys to our commands; `None` if there is none."""
    if store is not None:
        return ["--store", store.shown]
    return None if data is None else data_option(data)


def _first_words(url: str, host: Host, *, has_keys: bool) -> str:
    """Return a command that talks to the first agent."""
    if has_keys or not host.agents:
        return f"curl {url}/healthz"
    name = next(iter(host.agents))
    where = [] if url == DEFAULT_URL else [url]
    which = [] if name == "demo" else ["--agent", name]
    return command("chat", *where, *which)


def first_key(data: Path | None, store: StoreAddress | None = None) -> str:
    """Return how to create a first key for the server of a data folder, or of a store."""
    if store is not None:
        return f"create one with `{command('keys', 'create', '--store', store.shown)}`"
    if data is None:
        return "give the host a data folder, and create one there"
    option = data_option(data)
    make = f"mkdir -p {shlex.quote(str(data))} && " if option and not data.is_dir() else ""
    return f"create one with `{make}{command('keys', 'create', *option)}`"


def fill_standard_streams() -> None:
    """Open closed standard streams on the null device: a socket in their place would abort the loop."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one


def say(text: str) -> None:
    """Print for people. Errors of the stream are ignored."""
    out = sys.stdout
    if out is None:
        return
    try:
        print(text.encode(out.encoding, "backslashreplace").decode(out.encoding), file=out, flush=True)
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            # Otherwise Python would complain at exit about what it could not write.
            os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())


def fail(sentence: str, code: int = 1, trace: str = "") -> NoReturn:
    """Print an error to the standard error, and exit."""
    if sys.stderr is not None:
        print(f"{trace}agenthost: {sentence}", file=sys.stderr)
    raise SystemExit(code)
