"""Settings of a server, from options, the environment and a file. Knows no server.

`declarations` has them all. A setting that is wrong or unknown is refused, with the place where it was given
and what was expected: a setting that is silently ignored is noticed too late.
"""

from contextvars import ContextVar

from agenthost.settings.declarations import REPLACED, SETTINGS, Settings
from agenthost.settings.defaults import LOCAL_ORIGINS, MAX_BODY, MAX_CONNECTIONS, data_option
from agenthost.settings.errors import SettingsError
from agenthost.settings.kinds import AgentTables, Flag
from agenthost.settings.setting import Setting, as_argument, as_option
from agenthost.settings.sources import read_settings

__all__ = [
    "LOCAL_ORIGINS",
    "MAX_BODY",
    "MAX_CONNECTIONS",
    "REPLACED",
    "SETTINGS",
    "AgentTables",
    "Flag",
    "Setting",
    "Settings",
    "SettingsError",
    "as_argument",
    "as_option",
    "data_option",
    "is_loading",
    "read_settings",
]

is_loading: ContextVar[bool] = ContextVar("is_loading", default=False)
"""Whether a file is imported for its agents only: `Host.serve` must then do nothing."""
