"""API keys, in a separate file in the data folder, or in a store that others can reach.

They are not in the SQLite database, because a running server locks it, and keys have to be changed meanwhile.
A key is `ah_ID_SECRET`. Only a hash of the secret is stored. A plain SHA-256 is enough, because 256 random
bits cannot be guessed, however fast. Once the file exists, keys are required, even if it is empty: revoking
the last key must not let everybody in.
"""

import hashlib
import hmac
import logging
import re
import secrets
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from agenthost.core.decisions.grants import DEFAULT_GRANTS, GRANTS, Grant
from agenthost.errors import StorageError
from agenthost.host.access.documents import Document, FileDocument
from agenthost.host.access.token_file import LocalKey, Token

__all__ = ["KEYS", "ApiKey", "KeyFile", "KeyNotFound", "KeyRing", "Keys"]

log = logging.getLogger("agenthost.keys")

FILE = "keys.json"
KEYS = "keys"
"""The name of the document with the keys, in a store."""
LOCK = "keys.lock"

CHECK_SECONDS = 0.5
"""How often a running server checks the file for changes."""

MAX_CLOCK_SKEW = 300
"""How many seconds the clock may be behind the creation of a key that expires."""

# Hex and underscores only, so that a double click selects all of it.
_KEY = re.compile(r"ah_([0-9a-f]{12})_([0-9a-f]{64})")

_NOBODY = hashlib.sha256(b"").hexdigest()


class KeyNotFound(LookupError):
    """There is no key with that id."""

    def __init__(self) -> None:
        super().__init__("there is no key with that id")


class ApiKey(msgspec.Struct, frozen=True, kw_only=True):
    """What is stored of a key.

    Attributes:
        id: the part that is not secret.
        owner: whose sessions it gives access to; empty for those created before there were keys.
        name: a name for people.
        sha256: the hash of its secret.
        created: when it was created, in Unix seconds.
        expires: when it expires, in Unix seconds.
        given: the grants it was created with; `None` if that was before there were any.
    """

    id: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{12}$")]
    owner: str
    name: str
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
    created: int
    expires: int | None = None
    given: tuple[Grant, ...] | None = msgspec.field(default=None, name="grants")

    @property
    def grants(self) -> frozenset[Grant]:
        """What it allows."""
        return frozenset(DEFAULT_GRANTS if self.given is None else self.given)

    def is_valid(self, now: float) -> bool:
        """Return whether it is valid at this time.

        A clock from before the key was created cannot tell when it expires, so the key is not valid.
        """
        return self.expires is None or self.created - MAX_CLOCK_SKEW <= now < self.expires


class _StoredKeys(msgspec.Struct, frozen=True, kw_only=True):
    # Version 1 had no grants. A host that knows only that one would let every key do everything.
    version: Literal[1, 2] = 2
    keys: list[ApiKey]


class KeyRing:
    """The keys of a server, in a document. One process at a time can change them."""

    def __init__(self, document: Document) -> None:
        self._document = document

    @property
    def place(self) -> str:
        """Where they are, for people."""
        return self._document.place

    def stamp(self) -> object:
        """Return what tells versions of the keys apart."""
        return self._document.stamp()

    def read(self) -> list[ApiKey] | None:
        """Return the keys, oldest first; `None` if there never were any.

        Raises:
            StorageError: they cannot be read, or are damaged.
        """
        try:
            data = self._document.read()
        except OSError as error:
            raise StorageError(f"the keys in {self.place} cannot be read: {error.strerror}") from None
        if data is None:
            return None
        try:
            return msgspec.json.decode(data, type=_StoredKeys).keys
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise StorageError(
                f"{self.place} is damaged, or was written by a newer agenthost ({error}); restore a backup, "
                "or remove it and create new keys"
            ) from None

    def create(
        self,
        owner: str = "",
        name: str = "",
        seconds: int | None = None,
        grants: Collection[Grant] = DEFAULT_GRANTS,
    ) -> tuple[ApiKey, str]:
        """Create a key with a lifetime and grants. Return what is stored of it, and the key itself.

        Raises:
            StorageError: the file is damaged, or cannot be written. Nothing has changed.
        """
        secret, now = secrets.token_hex(32), int(time.time())
        key = ApiKey(
            id=secrets.token_hex(6),
            owner=owner,
            name=name,
            sha256=_hash(secret),
            created=now,
            expires=None if seconds is None else now + seconds,
            given=tuple(grant for grant in GRANTS if grant in grants),
        )
        self._change(lambda keys: [*keys, key])
        return key, f"ah_{key.id}_{secret}"

    def revoke(self, key_id: str) -> ApiKey:
        """Remove a key, given its id or the whole key.

        Raises:
            KeyNotFound: there is no key with that id.
            StorageError: the file is damaged, or cannot be written. Nothing has changed.
        """
        whole = _KEY.fullmatch(key_id)
        wanted = whole[1] if whole else key_id
        found: list[ApiKey] = []

        def without(keys: list[ApiKey]) -> list[ApiKey]:
            found.extend(key for key in keys if key.id == wanted)
            if not found:
                raise KeyNotFound
            return [key for key in keys if key.id != wanted]

        self._change(without)
        return found[0]

    def _change(self, change: Callable[[list[ApiKey]], list[ApiKey]]) -> None:
        try:
            with self._document.lock():
                keys = change(self.read() or [])
                data = msgspec.json.format(msgspec.json.encode(_StoredKeys(keys=keys))) + b"\n"
                self._document.replace(data)
        except OSError as error:
            raise StorageError(f"the keys in {self.place} cannot be changed: {error.strerror}") from None


class KeyFile(KeyRing):
    """The key file in a data folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        super().__init__(FileDocument(self.path, LOCK))


class Keys:
    """The keys of a running server. Checks for changes from time to time."""

    def __init__(self, ring: Path | KeyRing | None, token: Token | None = None) -> None:
        """Read these keys, or those of a data folder, if there are any. The token is an additional key.

        Raises:
            StorageError: they cannot be read, or are damaged.
        """
        self._ring = KeyFile(ring) if isinstance(ring, Path) else ring
        self._token = token
        self._keys: dict[str, ApiKey | LocalKey] = {}
        self._has_keys = False
        self._seen = self._stamps()
        self._checked_at = self._began = time.monotonic()
        self._began_at = time.time()
        self._read()

    @property
    def is_needed(self) -> bool:
        """Whether a key or the token is required."""
        if self._token is None and time.monotonic() - self._checked_at >= CHECK_SECONDS:
            self._refresh()
        return self._token is not None or self._has_keys

    @property
    def has_keys(self) -> bool:
        """Whether there are keys besides the token. Once true it stays true, whatever happens to the file."""
        if time.monotonic() - self._checked_at >= CHECK_SECONDS:
            self._refresh()
        return self._has_keys

    @property
    def token_path(self) -> Path | None:
        """Where the token is stored, if there is one."""
        return None if self._token is None else self._token.path

    @property
    def token(self) -> LocalKey | None:
        """The token, if it is valid."""
        self._refresh()
        return next((key for key in self._keys.values() if isinstance(key, LocalKey)), None)

    def find(self, token: str) -> ApiKey | LocalKey | None:
        """Return the key for this text, if it is a valid one."""
        self._refresh()
        parts = _KEY.fullmatch(token)
        key = self._keys.get(parts[1]) if parts else None
        # Always compared, and in constant time, so that timing reveals nothing about stored keys.
        is_same = hmac.compare_digest(_hash(parts[2] if parts else ""), key.sha256 if key else _NOBODY)
        return key if key is not None and is_same and key.is_valid(self._now()) else None

    def get(self, key_id: str) -> ApiKey | LocalKey | None:
        """Return a key by its id, if it is still valid. For long-lived connections."""
        self._refresh()
        key = self._keys.get(key_id)
        return key if key is not None and key.is_valid(self._now()) else None

    def _now(self) -> float:
        """Return the time. If the clock is set back, expired keys must not become valid again."""
        return max(time.time(), self._began_at + time.monotonic() - self._began)

    def _refresh(self) -> None:
        """Read the keys again if they have changed."""
        now = time.monotonic()
        if now - self._checked_at < CHECK_SECONDS:
            return
        self._checked_at = now
        stamp = self._stamps()
        if stamp == self._seen:
            return
        self._seen = stamp
        try:
            self._read()
        except StorageError as error:
            # Keep the known keys, and let nobody in without one.
            self._has_keys = True
            log.error("%s; until then, the keys known so far are used", error)  # noqa: TRY400
        else:
            log.info("the keys have changed; there are %d now", len(self._keys))

    def _read(self) -> None:
        keys = None if self._ring is None else self._ring.read()
        token = None if self._token is None else self._token.read()
        self._has_keys = self._has_keys or keys is not None
        self._keys = {key.id: key for key in keys or []}
        if token is not None and (token.is_enabled or not self._has_keys):
            self._keys[token.id] = token

    def _stamps(self) -> list[object]:
        return [one.stamp() for one in (self._ring, self._token) if one is not None]


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
