"""Settings: what a server is told, by options, by the environment and by a file. Knows no server.

Each source is read into the same `Settings`; the earlier in that order wins. What is wrong is refused with
where it stands, what was found there and what would be right, because a setting that is silently ignored
is found out too late.
"""

import dataclasses
import difflib
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_origin

import msgspec

from agenthost import whereabouts
from agenthost.host.limits import Limits

__all__ = [
    "LOCAL_PAGES",
    "MAX_BODY",
    "MAX_CONNECTIONS",
    "Settings",
    "SettingsError",
    "as_argument",
    "as_option",
    "data_option",
    "is_loading",
    "read_settings",
]

is_loading: ContextVar[bool] = ContextVar("is_loading", default=False)
"""Whether a file is being loaded for its agents only: a call of `Host.serve` in it must start nothing."""

PREFIX = "AGENTHOST_"

OF_CLIENTS = ("AGENTHOST_KEY", "AGENTHOST_URL")
"""What tells clients which server to use: no settings of it, but often there where one is started."""

LOCAL_PAGES = ("http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*")
"""The pages of this machine, on whatever port."""

MAX_BODY = 8 * 1024 * 1024
MAX_CONNECTIONS = 10_000

Name = Annotated[str, msgspec.Meta(pattern=r"^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])\Z")]
Origin = Annotated[str, msgspec.Meta(pattern=r"^(\*|[a-z][a-z0-9+.-]*://[^\s/*?#,]+(:\*)?)\Z")]
Url = Annotated[str, msgspec.Meta(pattern=r"^https?://[^\s/?#]+[^\s?#]*\Z")]
Variable = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\Z")]
Handed = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(=(.|\n)*)?\Z")]
Rate = Annotated[str, msgspec.Meta(pattern=r"^(off|[1-9][0-9]{0,8}/[smh])\Z")]


class SettingsError(ValueError):
    """A setting is wrong; the sentence says which, where and what would be right."""


def default_data() -> Path:
    """Give the folder where this user's data belongs on this system."""
    try:
        return whereabouts.default_data()
    except LookupError as error:
        raise SettingsError(f"{error}; say with --data where the data belongs") from None


def data_option(folder: Path) -> list[str]:
    """Return the words that name a data folder to a command of ours; none where it is the default."""
    try:
        is_default = folder == default_data()
    except SettingsError:
        is_default = False
    return [] if is_default else ["--data", str(folder)]


class Sections(NamedTuple):
    """Agents that are written down in the file with the settings: `agents.declared` reads them."""

    file: Path
    tables: dict[str, Any]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What a server is told.

    Attributes:
        host: the address to listen on.
        port: the port to listen on; 0 takes any that is free.
        data: the folder where everything is kept.
        workspace: the folder that files and terminals may touch.
        workspaces: a folder in which each owner of keys has one of its own, in place of the workspace.
        sandbox: whether shells and programs are kept apart from the rest of this machine.
        sandbox_network: whether what is in a sandbox may use the network.
        sandbox_read: what shells in a sandbox may read beside the system and the workspace.
        sandbox_write: what they may read and write beside the workspace.
        log_format: lines for people, or JSON lines.
        log_level: what is logged, from this level on.
        sync: whether commits wait for the disk (`full`), or a power cut may take the last of them (`normal`).
        allowed_hosts: what a `Host` header may name beside this machine.
        cors_origins: the pages in browsers that may use the server.
        public_meta: whether AAP's description of the agents needs no key.
        public_metrics: whether the metrics need no key.
        no_auth: whether everybody of this machine is let in, while there are no keys.
        terminals: whether clients may have shells at all.
        read_outside: what becomes of requests of clients to read outside of the workspace.
        write_outside: what becomes of requests of clients to write there.
        max_body: how large the body of a request may be, in bytes.
        max_connections: how many connections there may be at once; fewer if there are too few descriptors.
        rate: how often one key, or one address, may ask.
        stdio: serve one client of AHP on the standard input and output, and listen nowhere.
        wire_log: a file for every message of AHP, in and out.
        acp: programs that speak ACP, each an agent: commands, or names and commands (`helper=gemini --acp`).
        acp_env: variables that these programs get, beside the few that all do: names, or `NAME=VALUE`.
        model: the models of the agent that answers with one; none, no such agent.
        base_url: where they are asked, if not at their own services.
        key_env: the environment variable with the key for them, if not the usual one.
        system: what they are told before everything else.
        model_settings: how they are asked.
        agents: agents that are written down, as the file has them, and which file that is.
        limits: how much of everything the host holds.
    """

    host: Annotated[str, msgspec.Meta(min_length=1)] = "127.0.0.1"
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 8642
    data: Path = msgspec.field(default_factory=default_data)
    workspace: Path = msgspec.field(default_factory=Path.cwd)
    workspaces: Path | None = None
    sandbox: Literal["auto", "on", "off"] = "auto"
    sandbox_network: bool = True
    sandbox_read: tuple[Path, ...] = ()
    sandbox_write: tuple[Path, ...] = ()
    log_format: Literal["human", "json"] = "human"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    sync: Literal["full", "normal"] = "full"
    allowed_hosts: tuple[Name, ...] = ()
    cors_origins: tuple[Origin, ...] = LOCAL_PAGES
    public_meta: bool = False
    public_metrics: bool = False
    no_auth: bool = False
    terminals: bool = True
    read_outside: Literal["ask", "allow", "deny"] = "ask"
    write_outside: Literal["ask", "allow", "deny"] = "ask"
    max_body: Annotated[int, msgspec.Meta(ge=1)] = MAX_BODY
    max_connections: Annotated[int, msgspec.Meta(ge=16)] = MAX_CONNECTIONS
    rate: Rate = "off"
    stdio: bool = False
    wire_log: Path | None = None
    acp: tuple[Annotated[str, msgspec.Meta(min_length=1)], ...] = ()
    acp_env: tuple[Handed, ...] = ()
    model: tuple[Annotated[str, msgspec.Meta(min_length=1)], ...] = ()
    base_url: Url | None = None
    key_env: Variable | None = None
    system: str = ""
    model_settings: dict[str, Any] = {}
    agents: "Sections | None" = None
    limits: Limits = msgspec.field(default_factory=Limits)


EXPECTED = {
    "host": "a name or an address, such as 127.0.0.1",
    "port": "a number from 0 (any free port) to 65535",
    "data": "the path of a folder",
    "workspace": "the path of a folder that is there",
    "workspaces": "the path of a folder",
    "sandbox": "auto, on or off",
    "sandbox_network": "true or false",
    "sandbox_read": "paths of files or folders",
    "sandbox_write": "paths of files or folders",
    "log_format": "human or json",
    "log_level": "debug, info, warning or error",
    "sync": "full or normal",
    "allowed_hosts": "names or addresses without ports, such as agents.example",
    "cors_origins": "origins, such as https://app.example or http://localhost:*, or * for all",
    "public_meta": "true or false",
    "public_metrics": "true or false",
    "no_auth": "true or false",
    "terminals": "true or false",
    "read_outside": "ask, allow or deny",
    "write_outside": "ask, allow or deny",
    "max_body": "a number of bytes from 1 on",
    "max_connections": "a number from 16 on",
    "rate": "off, or a number from 1 on for each second, minute or hour, such as 100/s, 6000/m or 1000/h",
    "stdio": "true or false",
    "wire_log": "the path of a file",
    "acp": "commands, such as gemini --acp, or with a name, helper=gemini --acp",
    "acp_env": "names of variables, such as GEMINI_API_KEY, or NAME=VALUE",
    "model": "names of models, such as openai:gpt-5",
    "base_url": "an address such as http://127.0.0.1:11434/v1",
    "key_env": "the name of an environment variable, such as MY_API_KEY",
    "system": "a text, or @ and the path of a file with it",
    "model_settings": "a table",
    "agents": "a table for each agent: [agents.NAME]",
    "limits": "a table",
    "config": "the path of a TOML file",
}
"""What would be right, in words."""

REPLACED = {"full_sync": ("sync", "full, the default, or normal")}
"""Settings of earlier versions: what takes their place, and its values."""

_TYPES = {field.name: field.type for field in msgspec.structs.fields(Settings)}
_TABLES = ("limits", "model_settings", "agents")
_NAMES = [name for name in _TYPES if name not in _TABLES]
_LISTS = [name for name, type_ in _TYPES.items() if get_origin(type_) is tuple]
_PATHS = [name for name, type_ in _TYPES.items() if type_ == tuple[Path, ...]]
_LIMITS = [field.name for field in dataclasses.fields(Limits)]


class Given(NamedTuple):
    """A value that was given, where, what relative paths count from, and whether text may be a number."""

    value: Any
    place: str
    base: Path
    is_text: bool = True


def as_option(name: str) -> str:
    """Spell a setting as an option of the command line."""
    return "--" + name.replace("_", "-")


def as_argument(name: str) -> str:
    """Spell a setting as an argument of a call."""
    return name


def read_settings(
    given: Mapping[str, Any],
    environ: Mapping[str, str] | None = None,
    *,
    spelling: Callable[[str], str] = as_option,
) -> Settings:
    """Read the settings: what is given over the environment over the file over the defaults.

    Args:
        given: by name; None counts as not given. `config` names the file.
        environ: the environment, unless it is the one of this process.
        spelling: how to call what was given when it is wrong.

    Raises:
        SettingsError: something is wrong; the sentence says what, where, and what would be right.
    """
    first = _from_call(given, spelling)
    second = _from_environment(os.environ if environ is None else environ)
    config = first.pop("config", None) or second.pop("config", None)
    second.pop("config", None)
    found = {**(_from_file(config) if config else {}), **second, **first}
    return Settings(**{name: _taken(name, one) for name, one in found.items()})


def _from_call(given: Mapping[str, Any], spelling: Callable[[str], str]) -> dict[str, Given]:
    known = [*_NAMES, "config"]
    for name in given:
        if name not in known:
            raise SettingsError(_unknown(spelling(name), "", name, known, spelling))
    here = Path.cwd()
    return {name: Given(value, spelling(name), here) for name, value in given.items() if value is not None}


def _from_environment(environ: Mapping[str, str]) -> dict[str, Given]:
    """Take our variables. Those that look like none of ours stay: others may use the same beginning."""
    here = Path.cwd()
    known = {PREFIX + name.upper(): name for name in (*_NAMES, "config")}
    for variable in sorted(set(environ).difference(OF_CLIENTS)):
        if not variable.startswith(PREFIX) or variable in known:
            continue
        if variable.removeprefix(PREFIX).lower() in REPLACED or _nearest(variable, known, PREFIX):
            raise SettingsError(_unknown(variable, PREFIX, variable, known, str))
    return {
        name: Given(environ[variable], variable, here)
        for variable, name in known.items()
        if environ.get(variable)  # an empty one counts as not set
    }


def _from_file(config: Given) -> dict[str, Given]:
    path = _path(config, "config")
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(f"{config.place}: {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is not TOML: it is not text in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not TOML: {error}") from None
    known = [*_NAMES, *_TABLES]
    for name in table:
        if name not in known:
            raise SettingsError(_unknown(f"{path}: {name}", "", name, known, str))
    return {
        name: Given(value, f"{path}: {name}", path if name == "agents" else path.parent, is_text=False)
        for name, value in table.items()
    }


def _taken(name: str, given: Given) -> Any:
    """Check one value, and give it its type."""
    if name == "limits":
        return _limits(given)
    if name == "agents":
        return _sections(given)
    if _TYPES[name] in (Path, Path | None):
        path = _path(given, name)
        if name == "workspace" and not path.is_dir():
            raise _wrong(name, given)
        return path
    value = given.value
    if name == "system" and isinstance(value, str) and value.startswith("@"):
        return _text_of(given)
    if name in _LISTS and given.is_text and isinstance(value, str):
        # A command may well have a comma in it, but is one line.
        value = [part.strip() for part in value.split("\n" if name == "acp" else ",") if part.strip()]
    if name in _PATHS:
        return _paths(name, given._replace(value=value))
    try:
        return msgspec.convert(value, _TYPES[name], strict=not given.is_text)
    except msgspec.ValidationError:
        raise _wrong(name, given) from None


def _path(given: Given, name: str) -> Path:
    value = given.value
    if not isinstance(value, str | Path) or not str(value) or "\0" in str(value):
        raise _wrong(name, given)
    try:
        return Path(os.path.normpath(given.base / Path(value).expanduser()))
    except RuntimeError:  # a home folder that nobody knows
        raise _wrong(name, given) from None


def _paths(name: str, given: Given) -> tuple[Path, ...]:
    if not isinstance(given.value, list | tuple):
        raise _wrong(name, given)
    return tuple(_path(given._replace(value=one), name) for one in given.value)


def _text_of(given: Given) -> str:
    path = _path(given._replace(value=given.value[1:]), "system")
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise SettingsError(f"{given.place}: {path} cannot be read: {why}") from None


def _sections(given: Given) -> Sections:
    if not isinstance(given.value, dict):
        raise _wrong("agents", given)
    return Sections(given.base, given.value)


def _limits(given: Given) -> Limits:
    if not isinstance(given.value, dict):
        raise _wrong("limits", given)
    for name, value in given.value.items():
        place = f"{given.place}.{name}"
        if name not in _LIMITS:
            raise SettingsError(_unknown(place, "", name, _LIMITS, str))
        if type(value) is not int or value < 1:
            raise SettingsError(f"{place}: expected a number from 1 on, found {_shown(value)}")
    return Limits(**given.value)


def _wrong(name: str, given: Given) -> SettingsError:
    return SettingsError(f"{given.place}: expected {EXPECTED[name]}, found {_shown(given.value)}")


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(str(value) if isinstance(value, Path) else value)


def _nearest(name: str, known: Iterable[str], prefix: str = "") -> str | None:
    """Find what was probably meant. What all names begin with says nothing."""
    bare = {one.removeprefix(prefix).lower(): one for one in known}
    close = difflib.get_close_matches(name.removeprefix(prefix).lower(), bare, 1)
    return bare[close[0]] if close else None


def _unknown(place: str, prefix: str, name: str, known: Iterable[str], spelling: Callable[[str], str]) -> str:
    known = list(known)
    replaced = REPLACED.get(name.removeprefix(prefix).lower())
    if replaced is not None:
        new, values = replaced
        spelled = prefix + new.upper() if prefix else spelling(new)
        return f"{place}: there is no such setting any more; use {spelled} ({values})"
    nearest = _nearest(name, known, prefix)
    help_ = (
        f"did you mean {spelling(nearest)}?" if nearest else f"there are {', '.join(map(spelling, known))}"
    )
    return f"{place}: there is no such setting; {help_}"
