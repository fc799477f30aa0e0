"""Errors of PostgreSQL and of its driver, translated to sentences that say what would help."""

import asyncio
import ssl
import struct

import asyncpg  # type: ignore[import-untyped]

from agenthost.errors import StorageError, StoreTaken

__all__ = ["BELOW", "POOLED", "is_refusal", "translate"]

POOLED = (
    "there is a connection pool in between that gives each transaction another connection, such as PgBouncer "
    "in transaction mode; use a direct connection, or a pool in session mode"
)

BELOW = (
    "{place} is used by newer servers, and their upgrade was finished (`agenthost migrate --finish`); "
    "upgrade this agenthost too; nothing was changed"
)

_SENTENCES = {
    "28000": "refuses this role; check the name of the role, and pg_hba.conf",
    "28P01": "refuses the password; check PGPASSWORD or PGPASSFILE",
    "3D000": "has no such database; create it, or name another one",
    "42501": "does not let this role do that; grant it rights on its schema, or create the schema for it",
    "53100": "has no room to grow: its disk is full; free some space there",
    "53300": "has too many connections; raise max_connections, or close some",
    "57P03": "is starting or stopping; try again in a moment",
    "25006": "is read-only, as a standby is; name the primary",
    "23505": "already holds that sequence number, or a session of that number, URI or name",
    "54000": "cannot hold a value that large",
    "42P05": f"cannot be used: {POOLED}",
    "26000": f"cannot be used: {POOLED}",
}

_REASONS = {"53100": "the disk of the database is full", "25006": "the database is read-only"}

_WRONG_URL = asyncpg.exceptions.ClientConfigurationError

_FENCED = (
    "another process has taken over the store {place}, because this one did not answer in time; "
    "this one has to end, and may be started again"
)
_LOST = (
    "the store {place} has lost what was written last, as after a failover to a standby that was behind; "
    "this process has to end, and clients get fresh views from the next one"
)


def is_refusal(error: BaseException) -> bool:
    """Return whether the server refused a statement, so that nothing has changed and the connection is fine.

    Anything else leaves in doubt what the server did, or may do later.
    """
    if _is_misfit(error):
        return True
    state = getattr(error, "sqlstate", None)
    return isinstance(error, asyncpg.PostgresError) and str(state)[:2] not in ("08", "57", "XX", "None")


def translate(error: BaseException, place: str) -> StorageError:
    """Return the `StorageError` for what was raised while the store at this place was used."""
    if isinstance(error, StorageError):
        return error
    if _is_misfit(error):
        return StorageError(f"{place} cannot hold this text or number: {error}")
    state = str(getattr(error, "sqlstate", ""))
    if state == "AH001":
        return StoreTaken(_FENCED.format(place=place))
    if state == "AH003":
        return StoreTaken(_LOST.format(place=place))
    if state == "AH005":
        return StorageError(BELOW.format(place=place))
    if state == "AH002":
        return StorageError(str(error))
    if state in _SENTENCES:
        # The driver adds hints of its own, some of them wrong here.
        said = str(error).partition("\n")[0]
        return StorageError(f"{place} {_SENTENCES[state]} ({said})", _REASONS.get(state))
    return StorageError(f"{place} {_trouble(error)}", "the database cannot be reached")


def _is_misfit(error: BaseException) -> bool:
    """Return whether no column can hold a value: a lone surrogate, or an integer of more than 64 bits."""
    if isinstance(error, _WRONG_URL):
        return False
    is_ours = isinstance(error, asyncpg.InterfaceError) and isinstance(error, ValueError)
    return is_ours or isinstance(error, UnicodeError | OverflowError | struct.error | asyncpg.DataError)


def _trouble(error: BaseException) -> str:
    if isinstance(error, _WRONG_URL):
        why = " ".join(str(error).split())
        return f"cannot be used with this URL, or with the variables of PostgreSQL: {why}"
    if isinstance(error, ssl.SSLError) or "SSL" in str(error):
        return f"cannot be reached over TLS: {error}; see sslmode and sslrootcert in the URL"
    if isinstance(error, TimeoutError | asyncio.CancelledError):
        return "does not answer; check the server and the network"
    if isinstance(error, OSError):
        return f"cannot be reached ({error.strerror or error}); check that the server runs, and its address"
    if str(getattr(error, "sqlstate", "")).startswith("08"):
        return f"cannot be reached ({error}); check that the server runs, and the network"
    return f"cannot be used: {str(error) or type(error).__name__}"
