"""API keys: who may ask this host, kept in a file of their own in the data folder.

Not in the database, because that belongs to the server while it runs, and keys have to come and go meanwhile.
A key is `ah_ID_SECRET`. Only a hash of the secret is kept: a plain SHA-256 is enough, because the secret is
256 random bits that nobody guesses, however fast. Once there is a file, keys are needed, even if it holds
none any more: revoking the last key must not open the door to everybody.
"""

import fcntl
import hashlib
import hmac
import logging
import os
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from agenthost.core.decisions.grants import DEFAULT_GRANTS, GRANTS, Grant
from agenthost.errors import StorageError
from agenthost.host.storage.folder import replace_file
from agenthost.host.tokenfile import LocalKey, TokenFile

__all__ = ["ApiKey", "KeyFile", "KeyNotFound", "Keys"]

log = logging.getLogger("agenthost.keys")

FILE = "keys.json"
LOCK = "keys.lock"

LOOK_SECONDS = 0.5
"""How long the file may have changed before a running server notices."""

MAX_CLOCK_SKEW = 300
"""How many seconds the clock may be behind the making of a key that expires."""

# Hex and underscores only, so that a double click takes all of it.
_KEY = re.compile(r"ah_([0-9a-f]{12})_([0-9a-f]{64})")

_NOBODY = hashlib.sha256(b"").hexdigest()


class KeyNotFound(LookupError):
    """There is no key of that id."""

    def __init__(self) -> None:
        super().__init__("there is no key of that id")


class ApiKey(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a key.

    Attributes:
        id: the part of it that is no secret.
        owner: whose sessions it opens; the empty one has those that were made before there were keys.
        name: what people call it.
        sha256: the hash of its secret.
        created: when it was made, in Unix seconds.
        expires: from when on it opens nothing any more, in Unix seconds.
        given: the grants that it was made with; None if it was made before there were any.
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
        """What it is worth."""
        return frozenset(DEFAULT_GRANTS if self.given is None else self.given)

    def is_valid(self, now: float) -> bool:
        """Tell whether it opens anything at this time.

        A clock that is behind the making of the key cannot tell when it expires: then it opens nothing.
        """
        return self.expires is None or self.created - MAX_CLOCK_SKEW <= now < self.expires


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    # Version 1 had no grants: a host that knows no other would take every key for one to everything.
    version: Literal[1, 2] = 2
    keys: list[ApiKey]


class KeyFile:
    """The file of keys in a data folder: read, and changed by one process at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.path = folder / FILE

    def read(self) -> list[ApiKey] | None:
        """Give the keys, oldest first; None if there never were any.

        Raises:
            StorageError: the file cannot be read, or is damaged.
        """
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StorageError(f"the keys in {self.path} cannot be read: {error.strerror}") from None
        try:
            return msgspec.json.decode(data, type=_Kept).keys
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise StorageError(
                f"{self.path} is damaged, or of a newer agenthost ({error}); bring back a copy of it, or "
                "remove it and create new keys"
            ) from None

    def create(
        self,
        owner: str = "",
        name: str = "",
        seconds: int | None = None,
        grants: Collection[Grant] = DEFAULT_GRANTS,
    ) -> tuple[ApiKey, str]:
        """Make a key that is good for so long, and for so much; gives what is kept of it, and the key itself.

        Raises:
            StorageError: the file is damaged, or cannot be written; then nothing has changed.
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
        """Remove a key, by its id or by all of it.

        Raises:
            KeyNotFound: there is none of that id.
            StorageError: the file is damaged, or cannot be written; then nothing has changed.
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
        with self._locked():
            keys = change(self.read() or [])
            replace_file(self.path, msgspec.json.format(msgspec.json.encode(_Kept(keys=keys))) + b"\n")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Let others wait who want to change the file, too. The lock goes with the process that holds it."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self._folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
            finally:
                os.close(lock)
        except OSError as error:
            raise StorageError(f"the keys in {self.path} cannot be changed: {error.strerror}") from None


class Keys:
    """The keys as a server sees them while they change. Looks at the file when asked, but not each time."""

    def __init__(self, folder: Path | None, token: TokenFile | None = None) -> None:
        """Read the keys of a data folder; without a folder, there are none. A token is one more.

        Raises:
            StorageError: the file cannot be read, or is damaged.
        """
        self._file = None if folder is None else KeyFile(folder)
        self._token = token
        self._keys: dict[str, ApiKey | LocalKey] = {}
        self._has_keys = False
        self._seen = self._stamp()
        self._looked = self._began = time.monotonic()
        self._began_at = time.time()
        self._read()

    @property
    def is_needed(self) -> bool:
        """Whether nobody comes in without a key or the token."""
        return self._token is not None or self.has_keys

    @property
    def has_keys(self) -> bool:
        """Whether there are keys beside the token. Once true it stays so, whatever happens to the file."""
        self._look()
        return self._has_keys

    @property
    def token_path(self) -> Path | None:
        """Where the token is kept, if there is one to be kept."""
        return None if self._token is None else self._token.path

    @property
    def token(self) -> LocalKey | None:
        """The token, if it opens anything."""
        self._look()
        return next((key for key in self._keys.values() if isinstance(key, LocalKey)), None)

    def find(self, token: str) -> ApiKey | LocalKey | None:
        """Give the key that this is, if it is one and still good."""
        self._look()
        parts = _KEY.fullmatch(token)
        key = self._keys.get(parts[1]) if parts else None
        # Compared in any case, and in constant time: how long it takes tells nothing of what is kept.
        is_same = hmac.compare_digest(_hash(parts[2] if parts else ""), key.sha256 if key else _NOBODY)
        return key if key is not None and is_same and key.is_valid(self._now()) else None

    def get(self, key_id: str) -> ApiKey | LocalKey | None:
        """Return a key that was found before, if it is still good, for connections that last."""
        self._look()
        key = self._keys.get(key_id)
        return key if key is not None and key.is_valid(self._now()) else None

    def _now(self) -> float:
        """Return the time; at least as much later than the start as has passed, if the clock is set back."""
        return max(time.time(), self._began_at + time.monotonic() - self._began)

    def _look(self) -> None:
        """Read the file again if it has changed."""
        now = time.monotonic()
        if now - self._looked < LOOK_SECONDS:
            return
        self._looked = now
        stamp = self._stamp()
        if stamp == self._seen:
            return
        self._seen = stamp
        try:
            self._read()
        except StorageError as error:
            # What was known still counts, and nobody comes in who would not have before.
            self._has_keys = True
            log.error("%s; until then the keys are those known so far", error)  # noqa: TRY400
        else:
            log.info("the keys have changed; there are %d", len(self._keys))

    def _read(self) -> None:
        keys = None if self._file is None else self._file.read()
        token = None if self._token is None else self._token.read()
        self._has_keys = self._has_keys or keys is not None
        self._keys = {key.id: key for key in keys or []}
        if token is not None and (token.is_enabled or not self._has_keys):
            self._keys[token.id] = token

    def _stamp(self) -> list[tuple[int, ...] | None]:
        """Give what tells one version of the files from another: each is a file of its own."""
        return [_stamp_of(file.path) for file in (self._file, self._token) if file is not None]


def _stamp_of(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except OSError as error:
        return None if isinstance(error, FileNotFoundError) else (error.errno or 0,)
    return found.st_mtime_ns, found.st_size, found.st_ino


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
