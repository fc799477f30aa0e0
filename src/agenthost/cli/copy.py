"""`agenthost copy`: everything that a stopped server has kept, in another store."""

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agenthost.cli.exit_codes import fail
from agenthost.commands import command
from agenthost.errors import StorageError, WrongAddress
from agenthost.host.access.documents import Document, FileDocument
from agenthost.host.access.keys import FILE as KEYS_FILE
from agenthost.host.access.keys import KEYS
from agenthost.host.access.token_file import TOKEN
from agenthost.host.access.vault import FILE as SECRET_FILE
from agenthost.host.access.vault import VARIABLE
from agenthost.host.sandbox.environment import hide_argument
from agenthost.host.storage.copying import CopiedStore, copy_store
from agenthost.host.storage.data_folder import DataFolder, sync_folder
from agenthost.host.storage.sqlite import FILE, SqliteStorage
from agenthost.host.storage.stores import shared_documents, shared_store
from agenthost.host.store_address import StoreAddress, parse_address

__all__ = ["run"]

PREFIX = "sqlite:"
WORK = "copying"
"""Where a copy is made, inside its folder, until it is complete."""

PROGRESS_SECONDS = 2.0


def run(source: str, target: str) -> None:
    """Copy everything from one place to another, new one."""
    try:
        one, other = _read_place("--from", source), _read_place("--to", target)
        with one.opened() as opened, other.made() as made:
            count = copy_store(opened, made, _Progress())
        for name in (KEYS, TOKEN):
            _copy_document(one, other, name)
    except (StorageError, OSError) as error:
        fail(str(error))
    print(f"Copied {count:,} sessions to {other.shown}.")
    print(other.advice(one))


class _Progress:
    """Says now and then how far the copy is."""

    def __init__(self) -> None:
        self._said = time.monotonic()

    def __call__(self, what: str, count: int, total: int) -> None:
        if time.monotonic() - self._said >= PROGRESS_SECONDS:
            self._said = time.monotonic()
            print(f"copied {count:,} of {total:,} {what}", file=sys.stderr)


@dataclass(frozen=True)
class _Folder:
    """A data folder with an SQLite store."""

    path: Path

    @property
    def shown(self) -> str:
        return str(self.path)

    @contextmanager
    def opened(self) -> Iterator[CopiedStore]:
        if not (self.path / FILE).is_file():
            raise StorageError(f"there is no store in {self.path}")
        yield SqliteStorage(self.path)

    @contextmanager
    def made(self) -> Iterator[CopiedStore]:
        """Give a store that is put in its place once it is complete."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder, work = DataFolder(self.path), self.path / WORK
        folder.acquire()
        try:
            if (self.path / FILE).exists():
                raise StorageError(f"there is a store in {self.path} already; name another folder")
            shutil.rmtree(work, ignore_errors=True)
            yield SqliteStorage(work, begin=lambda _: 0)
            (work / FILE).rename(self.path / FILE)
            sync_folder(self.path)
        finally:
            shutil.rmtree(work, ignore_errors=True)
            folder.release()

    @contextmanager
    def document(self, name: str) -> Iterator[Document]:
        yield FileDocument(self.path / {KEYS: KEYS_FILE, TOKEN: TOKEN}[name])

    def advice(self, _source: object) -> str:
        start = command("serve", "--data", str(self.path))
        return (
            f"Secrets of sessions are sealed with the key in {VARIABLE}: keep it set, or put it into "
            f"{self.path / SECRET_FILE}. To serve the copy: {start}"
        )


@dataclass(frozen=True)
class _Database:
    """A store in PostgreSQL."""

    address: StoreAddress

    @property
    def shown(self) -> str:
        return self.address.shown

    @contextmanager
    def opened(self) -> Iterator[CopiedStore]:
        yield shared_store(self.address, is_alone=True)

    @contextmanager
    def made(self) -> Iterator[CopiedStore]:
        yield shared_store(self.address, begin=lambda _: 0, is_copy=True)

    @contextmanager
    def document(self, name: str) -> Iterator[Document]:
        documents = shared_documents(self.address)
        try:
            yield documents.document(name)
        finally:
            documents.close()

    def advice(self, source: "_Place") -> str:
        start = command("serve", "--store", self.shown)
        if isinstance(source, _Folder) and (source.path / SECRET_FILE).is_file():
            key = f"{VARIABLE} to what is in {source.path / SECRET_FILE}"
        else:
            key = f"{VARIABLE} to the same key as before"
        return f"Secrets of sessions are sealed: set {key}. To serve the copy: {start}"


_Place = _Folder | _Database


def _read_place(option: str, text: str) -> _Place:
    if text.startswith(PREFIX) and text != PREFIX:
        return _Folder(Path(text.removeprefix(PREFIX)).expanduser().absolute())
    try:
        address = parse_address(text)
    except WrongAddress as error:
        fail(f"{option}: {error}, or sqlite: and a data folder", code=2)
    hide_argument(address.password)
    return _Database(address)


def _copy_document(source: _Place, target: _Place, name: str) -> None:
    with source.document(name) as document:
        data = document.read()
    if data is not None:
        with target.document(name) as document:
            document.replace(data)
