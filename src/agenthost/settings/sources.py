"""The sources of settings: options or arguments, the environment, a file. The earlier in that order wins."""

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from agenthost.settings.declarations import REPLACED, SETTINGS, Settings
from agenthost.settings.errors import SettingsError, closest
from agenthost.settings.places import Given, Place, TomlFile
from agenthost.settings.setting import PREFIX, as_argument, as_option, as_variable

__all__ = ["read_settings"]

CLIENT_VARIABLES = ("AGENTHOST_KEY", "AGENTHOST_URL")
"""Variables that tell clients which server to use. They are often set where a server is started, too."""

OUTSIDE_FILES = [name for name, one in SETTINGS.items() if not one.is_table]
IN_FILES = [name for name, one in SETTINGS.items() if one.is_in_file]


def read_settings(
    given: Mapping[str, Any],
    environ: Mapping[str, str] | None = None,
    *,
    spelling: Callable[[str], str] = as_option,
) -> Settings:
    """Read the settings: what is given wins over the environment, that over the file, that over defaults.

    Args:
        given: options or arguments by name; None counts as not given. `config` names the file.
        environ: the environment, by default that of this process.
        spelling: how error messages spell what is given.

    Raises:
        SettingsError: a setting is wrong or unknown.
    """
    found = _from_environment(os.environ if environ is None else environ) | _from_call(given, spelling)
    if "config" in found:
        config = found["config"]
        found = _from_file(config) | found
    return Settings(**{name: SETTINGS[name].kind.read(one) for name, one in found.items()})


def _from_call(given: Mapping[str, Any], spelling: Callable[[str], str]) -> dict[str, Given]:
    for name in given:
        if name not in OUTSIDE_FILES:
            raise _unknown(Place((spelling(name),)), name, OUTSIDE_FILES, spelling)
    here = Path.cwd()
    return {
        name: Given(value, Place((spelling(name),)), here)
        for name, value in given.items()
        if value is not None
    }


def _from_environment(environ: Mapping[str, str]) -> dict[str, Given]:
    """Read our variables. Others that begin like ours are left alone, unless they look like a slip."""
    known = {as_variable(name): name for name in OUTSIDE_FILES}
    for variable in sorted({*environ} - {*known} - {*CLIENT_VARIABLES}):
        name = variable.removeprefix(PREFIX).lower()
        if variable.startswith(PREFIX) and (name in REPLACED or closest(name, OUTSIDE_FILES)):
            raise _unknown(Place((variable,)), name, OUTSIDE_FILES, as_variable)
    here = Path.cwd()
    return {
        name: Given(environ[variable], Place((variable,)), here)
        for variable, name in known.items()
        if environ.get(variable)  # an empty one counts as not set
    }


def _from_file(config: Given) -> dict[str, Given]:
    path = SETTINGS["config"].kind.read(config)
    try:
        file = TomlFile(path)
    except OSError as error:
        raise SettingsError(f"{config.place}: cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is not TOML: it is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not TOML: {error}") from None
    for name in file.table:
        if name not in IN_FILES:
            raise _unknown(Place((name,), file), name, IN_FILES, as_argument)
    return {
        name: Given(value, Place((name,), file), path.parent, is_text=False)
        for name, value in file.table.items()
    }


def _unknown(place: Place, name: str, known: Iterable[str], spelling: Callable[[str], str]) -> SettingsError:
    if name in REPLACED:
        new, values = REPLACED[name]
        return SettingsError(f"{place}: this setting was replaced; use {spelling(new)} ({values})")
    near = closest(name, known)
    help_ = (
        f"did you mean {spelling(near)}?" if near else f"the settings are {', '.join(map(spelling, known))}"
    )
    return SettingsError(f"{place}: no such setting; {help_}")
