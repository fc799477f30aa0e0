"""The vault: encrypts what must not be readable at rest, such as secrets that clients hand over.

The key is in a file of the data folder that only its owner can read, or comes from the environment. A copy of
the database alone reveals nothing.
"""

import logging
import os
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken

from agenthost.errors import StorageError
from agenthost.host.storage.data_folder import replace_file
from agenthost.logs import hide_client_secret

log = logging.getLogger("agenthost.vault")

FILE = "secret.key"
VARIABLE = "AGENTHOST_SECRET_KEY"


class Vault:
    """Encrypts and decrypts texts with one key."""

    def __init__(self, key: bytes, place: str) -> None:
        """Use this key. `place` says where it comes from, for errors."""
        try:
            self._cipher = Fernet(key)
        except ValueError:
            raise StorageError(
                f"the key in {place} is no key: 32 bytes in URL-safe base64 are needed"
            ) from None

    def seal(self, text: str) -> str:
        """Encrypt a text. From now on it is masked in logs."""
        hide_client_secret(text)
        return self._cipher.encrypt(text.encode(errors="replace")).decode()

    def open(self, sealed: str) -> str:
        """Decrypt a sealed text.

        Raises:
            StorageError: it was sealed with another key.
        """
        try:
            text = self._cipher.decrypt(sealed).decode()
        except InvalidToken:
            # The error is shown in the session. The person who can restore the key reads the log.
            log.warning("a secret was sealed with another key than that of %s or %s", VARIABLE, FILE)
            raise StorageError(
                "a secret of this session was sealed with another key than this host has now; set it again"
            ) from None
        hide_client_secret(text)
        return text


def open_vault(folder: Path) -> Vault:
    """Return the vault of a data folder. The first time, a key is created for it.

    Raises:
        StorageError: the key cannot be read, is not a key, or cannot be created.
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
            # Atomically: half a key would make every later start fail.
            replace_file(path, key + b"\n")
    except OSError as error:
        raise StorageError(f"the key {path} cannot be read or made: {error.strerror}") from None
    return Vault(key, str(path))
