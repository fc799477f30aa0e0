"""Defaults of settings that others need too, and the default data folder."""

from pathlib import Path

from agenthost import locations
from agenthost.settings.errors import SettingsError

__all__ = ["LOCAL_ORIGINS", "MAX_BODY", "MAX_CONNECTIONS", "data_option", "default_data"]

LOCAL_ORIGINS = ("http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*")
"""The origins of pages on this machine, on any port."""

MAX_BODY = 8 * 1024 * 1024
MAX_CONNECTIONS = 10_000


def default_data() -> Path:
    """Return the folder where this user's data belongs on this system.

    Raises:
        SettingsError: the user has no home folder.
    """
    try:
        return locations.default_data()
    except LookupError as error:
        raise SettingsError(f"{error}; use --data to name a folder for the data") from None


def data_option(folder: Path) -> list[str]:
    """Return the words that name a data folder to one of our commands; none for the default folder."""
    try:
        is_default = folder == default_data()
    except SettingsError:
        is_default = False
    return [] if is_default else ["--data", str(folder)]
