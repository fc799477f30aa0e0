"""Agents in files and modules: finds and imports them. Starts nothing."""

import importlib
import importlib.util
import os
import sys
import traceback
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType

from agenthost.agents.declared import (
    AgentFileError,
    DeclaredAgent,
    Location,
    read_agent_file,
    read_agent_tables,
)
from agenthost.commands import install_command
from agenthost.errors import AgentUnavailable
from agenthost.host.authoring.agent import Agent
from agenthost.host.host import Host
from agenthost.settings import AgentTables, is_loading

__all__ = ["LoadError", "load_agents"]

PACKAGES = {
    "acp": "agenthost[acp]",
    "langchain_core": "langgraph",
    "langgraph": "langgraph",
    "mcp": "agenthost[mcp]",
    "pydantic_ai": "agenthost[llm]",
}
"""The packages of modules that agents often use. Packages are not always named like their modules."""


class LoadError(Exception):
    """Something cannot be loaded; the sentence says why. `trace` is the traceback of the user's code."""

    def __init__(self, sentence: str, trace: str = "") -> None:
        super().__init__(sentence)
        self.trace = trace


def load_agents(
    names: Sequence[str], tables: AgentTables | None = None, others: Sequence[Agent] = ()
) -> list[Agent]:
    """Return the agents in files (`agent.py`, `agent.toml`), folders of TOML files, and modules.

    Each agent is returned once. `tables` are agents that the file with the settings declares; `others` are
    served too, so that agents may refer to them.

    Raises:
        LoadError: a file cannot be loaded or has no agents, or two agents have the same name.
    """
    try:
        return _load_all(names, tables, [agent.name for agent in others])
    except AgentFileError as error:
        raise LoadError(str(error)) from None


def _load_all(names: Sequence[str], tables: AgentTables | None, others: Sequence[str]) -> list[Agent]:
    found: dict[str, tuple[Agent, str]] = {}
    written: list[DeclaredAgent] = []
    if tables is not None:
        written += read_agent_tables(tables.tables, Location(tables.file, "agents"), _import)
    for name in names:
        if name.endswith(".toml") or _is_toml_folder(name):
            for file in _toml_files(name):
                written += read_agent_file(file, _import)
            continue
        agents = list(_agents_in(_import(name), name))
        if not agents:
            raise LoadError(f"{name} has no agents; it needs an `Agent` or a `Host` at its top level")
        for agent, place in agents:
            _add(found, agent, place)
    for one in written:
        _add(found, one.agent, str(one.location))
    for one in written:
        one.check([*found, *others])
    return [agent for agent, _ in found.values()]


def _add(found: dict[str, tuple[Agent, str]], agent: Agent, place: str) -> None:
    known, where = found.setdefault(agent.name, (agent, place))
    if known is not agent:
        both = f"{where} and {place}"
        raise LoadError(f"two agents are called {agent.name!r}: {both}; rename one of them")
    for name, (_, where) in found.items():
        if name != agent.name and name.lower() == agent.name.lower():
            both = f"{name!r}, {where}, and {agent.name!r}, {place}"
            raise LoadError(f"the names of two agents differ only in case: {both}; rename one of them")


def _is_toml_folder(name: str) -> bool:
    """Tell whether a name means a folder of TOML files, rather than a package."""
    path = Path(name).expanduser()
    return path.is_dir() and (os.sep in name or any(path.glob("*.toml")))


def _toml_files(name: str) -> list[Path]:
    path = Path(name).expanduser()
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.toml"))
    if not files:
        raise LoadError(f"there are no agents in the folder {name}: it has no .toml files")
    return files


def _agents_in(module: ModuleType, name: str) -> Iterator[tuple[Agent, str]]:
    """Yield the agents at the top level of a module, each with its place."""
    for variable, value in list(vars(module).items()):
        place = f"`{variable}` in {name}"
        if isinstance(value, Agent):
            yield value, place
        elif isinstance(value, Host):
            for agent in value.agents.values():
                yield agent, f"an agent of {place}"


def _import(name: str) -> ModuleType:
    if name.endswith(".py") or os.sep in name:
        return _import_file(name)
    _add_path(Path.cwd())
    return _guarded(name, lambda: importlib.import_module(name))


def _import_file(name: str) -> ModuleType:
    """Import a file under a name that no import statement can have. Modules next to it can be imported."""
    path = Path(name).expanduser().resolve()
    if not path.is_file():
        raise LoadError(f"there is no file {name}")
    module_name = f"_agenthost_file_{path.stem}_{zlib.crc32(os.fsencode(path)):08x}"
    if module_name in sys.modules:
        return sys.modules[module_name]
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise LoadError(f"{name} is not a Python file: its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    _add_path(path.parent)
    loader = spec.loader
    sys.modules[module_name] = module  # dataclasses, for one, looks for it there

    def load() -> ModuleType:
        loader.exec_module(module)
        return module

    try:
        return _guarded(name, load)
    except BaseException:
        sys.modules.pop(module_name, None)
        raise


def _add_path(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _guarded(name: str, load: Callable[[], ModuleType]) -> ModuleType:
    """Run the user's code. Tracebacks are shown without our frames."""
    token = is_loading.set(True)
    try:
        return load()
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise LoadError(f"there is no module {name}; the name of a file ends in .py") from None
        raise _missing(name, error) from None
    except AgentUnavailable as error:  # a library that is not installed
        raise LoadError(f"{name} cannot be loaded: {error}") from None
    except SystemExit as error:
        raise LoadError(f"{name} cannot be loaded: it ends the program (SystemExit: {error.code})") from None
    except Exception as error:
        raise _raised(name, error) from None
    finally:
        is_loading.reset(token)


def _missing(name: str, error: ModuleNotFoundError) -> LoadError:
    library = (error.name or "").partition(".")[0]
    if library not in PACKAGES:
        return _raised(name, error)
    return LoadError(f"{name} cannot be loaded: it needs {library}: {install_command(PACKAGES[library])}")


def _raised(name: str, error: Exception) -> LoadError:
    trace = traceback.TracebackException.from_exception(error)
    _remove_our_frames(trace)
    return LoadError(f"{name} cannot be loaded: it raises {type(error).__name__}", "".join(trace.format()))


def _remove_our_frames(trace: traceback.TracebackException | None) -> None:
    """Remove the frames of this file and of Python's imports, in the causes too."""
    if trace is None:
        return
    ours = (__file__, importlib.__file__)
    kept = [
        one for one in trace.stack if one.filename not in ours and "<frozen importlib" not in one.filename
    ]
    trace.stack = traceback.StackSummary.from_list(kept)
    _remove_our_frames(trace.__cause__)
    _remove_our_frames(trace.__context__)
