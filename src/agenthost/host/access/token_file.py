"""The token of a server that has no keys: created at its first start, and stored where the keys are.

It is a key with all grants and no owner. Its file contains all of it, readable by its user alone. It works
until there are keys; after that only if it is enabled (`agenthost token --enable`).
"""

import hashlib
import re
import secrets
from pathlib import Path

import msgspec

from agenthost.core.decisions.grants import GRANTS, Grant
from agenthost.errors import StorageError
from agenthost.host.access.documents import Document, FileDocument

__all__ = ["TOKEN", "LocalKey", "SharedToken", "Token", "TokenFile"]

TOKEN = "token"  # noqa: S105 - the name of the file
ENABLED = "enabled"

_TOKEN = re.compile(r"ah_([0-9a-f]{12})_([0-9a-f]{64})")


class LocalKey(msgspec.Struct, frozen=True, kw_only=True):
    """The token, as a key.

    Attributes:
        id: the part that is not secret.
        sha256: the hash of its secret.
        text: the whole token.
        is_enabled: whether it works even if there are keys.
        owner: always `None`: it gives access to the sessions of all owners.
        grants: all grants.
    """

    id: str
    sha256: str
    text: str
    is_enabled: bool = False
    owner: None = None
    grants: frozenset[Grant] = frozenset(GRANTS)

    def is_valid(self, _now: float) -> bool:
        """Return true: it never expires."""
        return True


class Token:
    """The token in a document. `path` is a file that contains it, for clients on this machine."""

    def __init__(self, document: Document, path: Path) -> None:
        self._document = document
        self.path = path

    def stamp(self) -> object:
        """Return what tells versions of it apart."""
        return self._document.stamp()

    def read(self) -> LocalKey | None:
        """Return the token; `None` if there is none.

        Raises:
            StorageError: it cannot be read, or is something else.
        """
        place = self._document.place
        try:
            data = self._document.read()
            words = [] if data is None else data.decode("ascii").split()
        except (OSError, UnicodeDecodeError) as error:
            raise StorageError(f"the token in {place} cannot be read: {error}") from None
        if data is None:
            return None
        found = _TOKEN.fullmatch(words[0]) if words else None
        if found is None or words[1:] not in ([], [ENABLED]):
            raise StorageError(f"{place} contains no token; remove it, and the next start creates one")
        digest = hashlib.sha256(found[2].encode()).hexdigest()
        return LocalKey(id=found[1], sha256=digest, text=found[0], is_enabled=bool(words[1:]))

    def make(self) -> None:
        """Create a token, unless there is one. Raises as `renew` does."""
        if self.read() is None:
            self.write(_new_token(), is_enabled=False)

    def renew(self) -> None:
        """Create another token. The previous one is no longer valid.

        Raises:
            StorageError: it cannot be read or written.
        """
        old = self.read()
        self.write(_new_token(), is_enabled=old is not None and old.is_enabled)

    def enable(self, *, is_enabled: bool) -> None:
        """Set whether it works even if there are keys. Raises as `renew` does."""
        old = self.read()
        self.write(_new_token() if old is None else old.text, is_enabled=is_enabled)

    def write(self, token: str, *, is_enabled: bool) -> None:
        """Replace the token. Raises as `renew` does."""
        text = f"{token}\n{ENABLED}\n" if is_enabled else f"{token}\n"
        try:
            self._document.replace(text.encode())
        except OSError as error:
            place = self._document.place
            raise StorageError(f"the token in {place} cannot be written: {error.strerror}") from None


class TokenFile(Token):
    """The file of the token."""

    def __init__(self, path: Path) -> None:
        super().__init__(FileDocument(path), path)


class SharedToken(Token):
    """The token in a document that is no file. A file gets a copy of it whenever it is read."""

    def __init__(self, document: Document, path: Path) -> None:
        super().__init__(document, path)
        self._copy = TokenFile(path)

    def read(self) -> LocalKey | None:
        """Return the token; `None` if there is none."""
        found = super().read()
        if found is not None and found != self._copy.read():
            self._copy.write(found.text, is_enabled=found.is_enabled)
        return found


def _new_token() -> str:
    return f"ah_{secrets.token_hex(6)}_{secrets.token_hex(32)}"
