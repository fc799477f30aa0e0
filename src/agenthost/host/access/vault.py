"""The vault: encrypts what must not be readable at rest, such as secrets that clients hand over.

The key is in a file of the data folder that only its owner can read, or comes from the environment. If other
machines can reach the store, it has to. A copy of the database alone reveals nothing.
"""

import base64
import logging
import os
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from agenthost.errors import StorageError
from agenthost.host.storage.data_folder import replace_file
from agenthost.logs import hide_client_secret

log = logging.getLogger("agenthost.vault")

FILE = "secret.key"
VARIABLE = "AGENTHOST_SECRET_KEY"


_WORD = "agenthost"


class Vault:
    """Encrypts texts with one key, and decrypts what was encrypted with that one or an older one."""

    def __init__(self, key: bytes, place: str) -> None:
        """Use this key; older ones may follow, with commas. `place` says where it comes from, for errors."""
        keys = [one.strip() for one in key.split(b",")]
        try:
            ciphers = [Fernet(one) for one in keys]
        except ValueError:
            raise StorageError(
                f"the key in {place} is no key: 32 bytes in URL-safe base64 are needed"
            ) from None
        self._keys = [base64.urlsafe_b64decode(one) for one in keys]
        self._newest, self._cipher = ciphers[0], MultiFernet(ciphers)

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

    def derive(self, label: str) -> list[bytes]:
        """Return a key for another purpose, made of each of ours, the newest first."""
        return [HKDF(SHA256(), 32, salt=None, info=label.encode()).derive(one) for one in self._keys]

    def check_word(self, sealed: str | None) -> str:
        """Check that a store is for this key, by a word that was sealed with its own. Return the word for it.

        Raises:
            StorageError: it was sealed with another key.
        """
        if sealed is not None:
            try:
                self._newest.decrypt(sealed)
            except InvalidToken:
                pass
            else:
                return sealed
            try:
                self._cipher.decrypt(sealed)
            except InvalidToken:
                raise StorageError(
                    f"the key in {VARIABLE} is not the one of this store; use that one, or both with a comma "
                    "between them, the newer one first; nothing was changed"
                ) from None
        return self._cipher.encrypt(_WORD.encode()).decode()


def open_shared_vault() -> Vault:
    """Return the vault of a store that other machines can reach.

    Raises:
        StorageError: there is no key in the environment, or it is not a key.
    """
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        raise StorageError(
            f"a store that other machines can reach needs a secret key: set {VARIABLE} to the same one "
            "wherever this store is served, and keep it. To make one: "
            "python3 -c 'import base64, os; print(base64.urlsafe_b64encode(os.urandom(32)).decode())'"
        )
    return Vault(given.encode(), VARIABLE)


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
