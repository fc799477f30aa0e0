"""Opening: which host, which session."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agenthost.cli.chat.wording import id_of, one_of
from agenthost.cli.pairs import read_pairs
from agenthost.client.ahp import AhpClient, NotFound, Session
from agenthost.wire.ahp.enums import SessionStatus

__all__ = ["Wish", "find_session", "newest_first", "open_session"]

SHORTEST_PREFIX = 4
"""By so many characters of its name, or more, a session is found if no other begins with them."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for on the command line."""

    url: str | None = None
    key: str | None = None
    agent: str | None = None
    session: str | None = None
    model: str | None = None
    options: Sequence[str] = field(default_factory=list)
    tokens: Sequence[str] = field(default_factory=list)
    is_continuing: bool = False
    is_trusting: bool = False
    is_private: bool = False

    def check(self) -> None:
        """Refuse what makes no sense.

        Raises:
            ValueError: it makes none.
        """
        is_old = self.session is not None or self.is_continuing
        if self.session is not None and self.is_continuing:
            raise ValueError("--continue: the newest session, or that of --session?")
        for name, value in (("--agent", self.agent), ("--model", self.model), ("--option", self.options)):
            if is_old and value:
                raise ValueError(
                    f"{name}: a session that is there keeps what it has; inside, :set and :model change it"
                )
        read_pairs("--option", self.options)
        read_pairs("--token", self.tokens)


async def open_session(client: AhpClient, wish: Wish) -> tuple[Session, bool]:
    """Open the session that was asked for; gives whether it was made for this.

    Raises:
        AhpError: it cannot be had.
        ValueError: there are several agents to choose from.
    """
    for resource, token in read_pairs("--token", wish.tokens).items():
        await client.authenticate(resource, token)
    if wish.session is not None:
        return await client.session(await find_session(client, wish.session)), False
    if wish.is_continuing and (summaries := newest_first(await client.sessions.load())):
        return await client.session(summaries[0]["resource"]), False
    config: Any = read_pairs("--option", wish.options) or None
    return await client.create(wish.agent, model=wish.model, config=config), True


async def find_session(client: AhpClient, name: str) -> str:
    """Find a session by its name, the beginning of its name, or its whole URI.

    Raises:
        NotFound: there is none, or more than one.
    """
    if ":/" in name:
        return name
    uris = [summary["resource"] for summary in await client.sessions.load()]
    exact = [uri for uri in uris if id_of(uri) == name]
    begun = [uri for uri in uris if len(name) >= SHORTEST_PREFIX and id_of(uri).startswith(name)]
    found = exact or begun
    if len(found) == 1:
        return found[0]
    if found:
        raise NotFound(f"which session? {name!r} begins {one_of([id_of(uri) for uri in found[:5]])}")
    raise NotFound(f"there is no session {name!r}")


def newest_first(summaries: list[Any], *, has_archived: bool = False) -> list[Any]:
    """Sort sessions by when something last happened in them; those that were put away only if wanted."""
    there = [one for one in summaries if has_archived or not int(one["status"]) & SessionStatus.IS_ARCHIVED]
    return sorted(there, key=lambda one: one["modifiedAt"], reverse=True)
