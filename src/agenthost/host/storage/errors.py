"""Errors of SQLite, translated to sentences that say what would help. Knows no tables."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agenthost.errors import StorageError

_LOCKED = "is locked by another program; close what has it open (a database browser, a backup)"
_READ_ONLY = "cannot be written; check who may write there, and that the disk is not read-only"
_BEGIN_ANEW = "restore a backup, or move it away to start over"
_NOT_OURS = f"is not a database of agenthost, or its beginning is damaged; {_BEGIN_ANEW}; it was not changed"

_SENTENCES = {
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_FULL: "has no room to grow: the disk is full; free some space",
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check who may write there, and that the disk has room",
    sqlite3.SQLITE_IOERR: "cannot be read or written: the disk reports an error; check it and its free space",
    sqlite3.SQLITE_NOTADB: _NOT_OURS,
    sqlite3.SQLITE_CORRUPT: f"is damaged; {_BEGIN_ANEW}; `agenthost doctor --repair` may save some of it",
    sqlite3.SQLITE_CONSTRAINT: "already holds that sequence number, or a session of that number, URI or name",
    sqlite3.SQLITE_TOOBIG: "cannot hold a value that large",
    sqlite3.SQLITE_NOMEM: "cannot be used: there is no memory left; free some",
}

_REASONS = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "the disk cannot be written",
    sqlite3.SQLITE_PERM: "the disk cannot be written",
    sqlite3.SQLITE_IOERR: "the disk reports an error",
    sqlite3.SQLITE_CORRUPT: "the database is damaged",
    sqlite3.SQLITE_BUSY: "another program has locked it",
    sqlite3.SQLITE_LOCKED: "another program has locked it",
}
"""The reason in a few words, without paths: clients may read it."""

_PRIMARY = 0xFF  # the low byte of an extended result code is the primary code


RAISED = (sqlite3.Error, UnicodeError, OverflowError)
"""The exceptions that SQLite, or binding a value, may raise."""


@contextmanager
def translated_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite raises about this file into `StorageError`."""
    try:
        yield
    except RAISED as error:
        raise translate(error, path) from error


def translate(error: Exception, path: Path) -> StorageError:
    """Return the `StorageError` for one of `RAISED` about this file."""
    if isinstance(error, sqlite3.Error):
        return StorageError(f"{path} {_sentence(error)}", _reason(error))
    if isinstance(error, UnicodeDecodeError):
        # The schema or an error message of SQLite is no longer text.
        return StorageError(f"{path} {_SENTENCES[sqlite3.SQLITE_CORRUPT]}", "the database is damaged")
    # A lone surrogate, or an integer of more than 64 bits: binding the value failed.
    return StorageError(f"{path} cannot hold this text or number: {error}")


def is_corrupt(error: BaseException) -> bool:
    """Return whether SQLite says that pages of the file are damaged."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(error, sqlite3.Error) and code is not None and code & _PRIMARY == sqlite3.SQLITE_CORRUPT


def _sentence(error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", None)  # missing if Python's module raised it, not the library
    known = None if code is None else _SENTENCES.get(code & _PRIMARY)
    return f"{known} ({error})" if known else f"could not be used: {error}"


def _reason(error: sqlite3.Error) -> str | None:
    return _REASONS.get(getattr(error, "sqlite_errorcode", 0) & _PRIMARY)
