"""The URIs and names of sessions and chats: which are reserved, in use, or claimed for a moment."""

import asyncio
from collections.abc import Callable

from agenthost.errors import SessionExists, UriReserved
from agenthost.host.log.journal import Journal
from agenthost.host.storage import SessionRow, Storage
from agenthost.host.storage.shared import shared_of
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.legacy import ROOT_URI as LEGACY_ROOT_URI

__all__ = ["CHAT_PREFIX", "RESERVED", "Claims", "chat_uri_of", "find_chat_row"]

CHAT_PREFIX = "ahp-chat:/"

RESERVED = (ROOT_URI, LEGACY_ROOT_URI)
"""The URIs of the root, which nothing else can have."""


def chat_uri_of(name: str) -> str:
    """Return the URI of the default chat of the session with this name."""
    return CHAT_PREFIX + name


def find_chat_row(storage: Storage, uri: str) -> SessionRow | None:
    """Find a session by its URI or by that of its default chat, or a further chat by its URI."""
    found = storage.find(uri=uri)
    if found is None and uri.startswith(CHAT_PREFIX):
        found = storage.find(name=uri.removeprefix(CHAT_PREFIX))
    return found


class Claims:
    """URIs and names of sessions that are being created or removed. Nobody else may use them meanwhile."""

    def __init__(self, storage: Storage, journal: Journal, is_taken: Callable[[str], bool]) -> None:
        """Start without claims. `is_taken` returns whether something else than a session has a URI."""
        self._storage = storage
        self._shared = shared_of(storage)
        self._journal = journal
        self._is_taken = is_taken
        self._owners: dict[tuple[str, str], str] = {}
        self._reserved: dict[str, int] = {}

    def has_uri(self, uri: str) -> bool:
        """Return whether a URI is claimed."""
        return ("uri", uri) in self._owners

    async def claim(self, uri: str, name: str, owner: str) -> int | None:
        """Claim a URI and a name for a session or chat that is created.

        Return the number for it, if the store gives numbers because it is shared.

        Raises:
            SessionExists: one is in use, even by a session that is just being created.
            UriReserved: one is in use by another owner, or by something else.
        """
        self._journal.refuse_if_in_trouble()
        # A session cannot have the URI of its own chat.
        if uri in (*RESERVED, chat_uri_of(name)) or self._is_taken(uri):
            raise UriReserved(uri)
        for claim in _claims_on(uri, name):
            if claim in self._owners:
                raise _taken_error(uri, self._owners[claim], owner)
        self.take(uri, name, owner)
        try:
            found = await asyncio.to_thread(self._reserve, uri, name, owner)
        except BaseException:
            self.release(uri, name)
            raise
        if isinstance(found, str):
            self.release(uri, name)
            raise _taken_error(uri, found, owner)
        if found is not None:
            self._reserved[uri] = found
        return found

    def take(self, uri: str, name: str, owner: str) -> None:
        """Claim a URI and a name for a session or chat that has them, while it is removed."""
        self._owners |= dict.fromkeys(_claims_on(uri, name), owner)

    def release(self, uri: str, name: str) -> None:
        """End the claims on a URI and a name."""
        for claim in _claims_on(uri, name):
            self._owners.pop(claim, None)
        self._reserved.pop(uri, None)

    def give_up(self, uri: str, name: str) -> None:
        """End the claims on a URI and a name for something that was not created after all."""
        number = self._reserved.get(uri)
        self.release(uri, name)
        if number is not None and self._shared is not None:
            asyncio.get_running_loop().run_in_executor(None, self._shared.unreserve, number)

    def _reserve(self, uri: str, name: str, owner: str) -> int | str | None:
        """Return the owner of what has a URI or name already, or the number that was reserved with them."""
        if self._shared is None:
            found = self._find_either(uri, name)
            return None if found is None else found.owner
        # A chat and the session that it goes with must not have each other's names.
        names = [uri.removeprefix(CHAT_PREFIX)] if uri.startswith(CHAT_PREFIX) else []
        return self._shared.reserve(uri, name, owner, ([chat_uri_of(name)], names))

    def _find_either(self, uri: str, name: str) -> SessionRow | None:
        """Find what has a URI or a name already, or the URI of the chat that goes with it."""
        found = find_chat_row(self._storage, uri) or self._storage.find(name=name)
        return found or self._storage.find(uri=chat_uri_of(name))


def _claims_on(uri: str, name: str) -> tuple[tuple[str, str], ...]:
    """Return what nobody else may have while a session is created or removed: its URIs and its name."""
    return ("uri", uri), ("uri", chat_uri_of(name)), ("name", name)


def _taken_error(uri: str, theirs: str, owner: str) -> SessionExists | UriReserved:
    """Return the error for a taken URI or name. Only its owner learns that there is a session."""
    return SessionExists(uri) if theirs == owner else UriReserved(uri)
