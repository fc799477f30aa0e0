"""The place where a server keeps its keys and its token: a data folder, or a store. The server may run."""

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenthost.cli.exit_codes import fail
from agenthost.errors import StorageError
from agenthost.host.access.keys import KEYS, KeyFile, KeyRing
from agenthost.host.access.token_file import TOKEN, Token, TokenFile
from agenthost.host.sandbox.environment import hide_argument
from agenthost.host.storage.stores import shared_documents
from agenthost.host.store_address import StoreAddress
from agenthost.settings import SettingsError, data_option, read_settings

__all__ = ["Place", "opened_place"]


@dataclass(frozen=True)
class Place:
    """Where the keys and the token are.

    Attributes:
        keys: the keys.
        token: the token.
        shown: the place, for people.
        option: the words that name it to our commands.
        removal: how to go back to the token once there are keys.
    """

    keys: KeyRing
    token: Token
    shown: str
    option: list[str]
    removal: str


@contextmanager
def opened_place(options: Mapping[str, Any]) -> Iterator[Place]:
    """Give the place that these options name. If it cannot be used, exit with a sentence."""
    try:
        settings = read_settings(options)
    except SettingsError as error:
        fail(str(error), code=2)
    is_folder = options.get("data") is not None and options.get("store") is None
    try:
        if settings.store is None or is_folder:  # an option wins over the environment
            yield _folder(settings.data)
        else:
            with _store(settings.store) as place:
                yield place
    except StorageError as error:
        fail(str(error))


def _folder(data: Path) -> Place:
    """Return a data folder. One that was named has to exist: the name may be a typo."""
    if data_option(data) and not data.is_dir():
        hint = f"to create it for a new server: mkdir -p {shlex.quote(str(data))}"
        fail(f"there is no folder {data}; {hint}")
    file = KeyFile(data)
    removal = f"rm {shlex.quote(str(file.path))}"
    return Place(file, TokenFile(data / TOKEN), str(data), data_option(data), removal)


@contextmanager
def _store(address: StoreAddress) -> Iterator[Place]:
    hide_argument(address.password)
    documents = shared_documents(address)
    ring, token = KeyRing(documents.document(KEYS)), Token(documents.document(TOKEN), Path())
    removal = f"run in the database: DELETE FROM {address.schema}.document WHERE name = '{KEYS}'"  # noqa: S608
    try:
        yield Place(ring, token, address.shown, ["--store", address.shown], removal)
    finally:
        documents.close()
