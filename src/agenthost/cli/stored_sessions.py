"""Sessions in a data folder, or in a store, that no server uses: their turns can still be ended."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from agenthost.cli.chat.render.wording import join_names, session_id
from agenthost.cli.chat.sessions import MIN_PREFIX_LENGTH
from agenthost.host.offline import cancel_turn
from agenthost.host.store_address import StoreAddress

__all__ = ["end_turn"]


async def end_turn(place: Path | StoreAddress, name: str) -> str:
    """End the turn of a session and of the subagents it started, and return the session's URI.

    Raises:
        StorageInUse: a server uses it.
        StorageError: the store cannot be opened.
        ValueError: there is no such session, or it has no turn.
    """
    return await cancel_turn(place, partial(_chosen, name))


def _chosen(name: str, uris: Sequence[str]) -> str:
    """Return the session that a name means, among those that have a turn."""
    exact = [uri for uri in uris if name in (uri, session_id(uri))]
    begun = [uri for uri in uris if len(name) >= MIN_PREFIX_LENGTH and session_id(uri).startswith(name)]
    found = exact or begun
    if len(found) > 1:
        raise ValueError(
            f"which session? {name!r} begins {join_names([session_id(uri) for uri in found[:5]])}"
        )
    if not found:
        there = f"; these have one: {', '.join(session_id(uri) for uri in uris[:5])}" if uris else ""
        raise ValueError(f"no session {name!r} has an active turn{there}")
    return found[0]
