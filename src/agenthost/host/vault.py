"""The vault: seals what must not be readable at rest, such as the secrets that an application hands over.

The key is a file in the data folder that only its owner can read, or comes from the environment, so that a
copy of the database alone gives nothing away.
"""

import logging
import os
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken

from agenthost.errors import StorageError
from agenthost.host.storage.folder import replace_file
from agenthost.logs import hide_passing

log = logging.getLogger("agenthost.vault")

FILE = "secret.key"
VARIABLE = "AGENTHOST_SECRET_KEY"


class Vault:
    """Seals and opens texts with one key."""

    def __init__(self, key: bytes, place: str) -> None:
        """Take a key; `place` says where it comes from."""
        try:
            self._cipher = Fernet(key)
        except ValueError:
            raise StorageError(
                f"the key in {place} is no key: 32 bytes in URL-safe base64 are needed"
            ) from None

    def seal(self, text: str) -> str:
        """Make a text unreadable; from now on it is masked in logs."""
        hide_passing(text)
        return self._cipher.encrypt(text.encode(errors="replace")).decode()

    def open(self, sealed: str) -> str:
        """Make it readable again.

        Raises:
            StorageError: it was sealed with another key.
        """
        try:
            text = self._cipher.decrypt(sealed).decode()
        except InvalidToken:
            # The sentence goes to the session; whoever can bring the key back reads the log.
            log.warning("a secret was sealed with another key than that of %s or %s", VARIABLE, FILE)
            raise StorageError(
                "a secret of this session was sealed with another key than this host has now; set it again"
            ) from None
        hide_passing(text)
        return text


def open_vault(folder: Path) -> Vault:
    """Give the vault of a data folder; the first time, a key is made for it.

    Raises:
        StorageError: there is a key, but it cannot be read or is none, or there is none and none can be made.
    """
    given = os.environ.get(VARIABLE, "").strip()
    if given:
        return Vault(given.encode(), VARIABLE)
    path = folder / FILE
    try:
        try:
            key = path.read_bytes().strip()
        except FileNotFoundError:
            key = Fernet.generate_key()
            # Whole or not at all: half a key would be refused at every start from now on.
            replace_file(path, key + b"\n")
    except OSError as error:
        raise StorageError(f"the key {path} cannot be read or made: {error.strerror}") from None
    return Vault(key, str(path))
