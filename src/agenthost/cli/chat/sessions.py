"""Finding and opening sessions."""

from typing import Any

from agenthost.cli.assignments import read_assignments
from agenthost.cli.chat.options import ChatOptions
from agenthost.cli.chat.render.wording import join_names, session_id
from agenthost.cli.exit_codes import command_for
from agenthost.client.ahp import AhpClient, NotFound, Session
from agenthost.wire.ahp.enums import SessionStatus

__all__ = ["MIN_PREFIX_LENGTH", "find_session", "newest_first", "open_session", "resume_hint"]

MIN_PREFIX_LENGTH = 4
"""How many characters of a session's id are needed at least to find it."""


async def open_session(client: AhpClient, options: ChatOptions) -> tuple[Session, bool]:
    """Open the session that the options ask for. Return it, and whether it is new.

    Raises:
        AhpError: the host refuses, or there is no such session.
        ValueError: there are several agents to choose from.
    """
    for resource, token in read_assignments("--token", options.tokens).items():
        await client.authenticate(resource, token)
    if options.session is not None:
        return await client.session(await find_session(client, options.session)), False
    if options.continue_newest and (summaries := newest_first(await client.sessions.load())):
        return await client.session(summaries[0]["resource"]), False
    config: Any = read_assignments("--option", options.options) or None
    return await client.create(options.agent, model=options.model, config=config), True


async def find_session(client: AhpClient, name: str) -> str:
    """Find a session by its URI, its id, or the beginning of its id. Return its URI.

    Raises:
        NotFound: there is none, or more than one.
    """
    if ":/" in name:
        return name
    uris = [summary["resource"] for summary in await client.sessions.load()]
    exact = [uri for uri in uris if session_id(uri) == name]
    begun = [uri for uri in uris if len(name) >= MIN_PREFIX_LENGTH and session_id(uri).startswith(name)]
    found = exact or begun
    if len(found) == 1:
        return found[0]
    if found:
        names = join_names([session_id(uri) for uri in found[:5]])
        raise NotFound(f"which session? {name!r} matches {names}")
    raise NotFound(f"there is no session {name!r}")


def newest_first(summaries: list[Any], *, has_archived: bool = False) -> list[Any]:
    """Return the sessions, the last used first; archived ones only if wanted."""
    wanted = [one for one in summaries if has_archived or not int(one["status"]) & SessionStatus.IS_ARCHIVED]
    return sorted(wanted, key=lambda one: one["modifiedAt"], reverse=True)


def resume_hint(url: str | None, uri: str) -> str:
    """Return a line with the command that continues a session."""
    name = session_id(uri)
    return f"session {name}: continue with {command_for(url, f'chat --session {name}')}"
