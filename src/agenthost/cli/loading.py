"""Loading: the agents in people's files and modules. Knows Python's imports, starts nothing."""

import importlib
import importlib.util
import os
import sys
import traceback
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType

from agenthost.agents.declared import DeclarationError, Place, Written, read_file, read_tables
from agenthost.commands import install
from agenthost.errors import AgentUnavailable
from agenthost.host.agent import Agent
from agenthost.host.host import Host
from agenthost.settings import Sections, is_loading

__all__ = ["LoadError", "load_agents"]

PACKAGES = {
    "acp": "agenthost[acp]",
    "langchain_core": "langgraph",
    "langgraph": "langgraph",
    "mcp": "agenthost[mcp]",
    "pydantic_ai": "agenthost[llm]",
}
"""What to install for modules that agents are often made of; of others, packages may have other names."""


class LoadError(Exception):
    """Something cannot be loaded; the sentence says what and why. `trace` is of people's own code."""

    def __init__(self, sentence: str, trace: str = "") -> None:
        super().__init__(sentence)
        self.trace = trace


def load_agents(
    names: Sequence[str], sections: Sections | None = None, others: Sequence[Agent] = ()
) -> list[Agent]:
    """Load files (`agent.py`, `agent.toml`), folders of the latter, and modules (`package.module`).

    Gives all agents in them, each once, and those of the sections of a file with settings. `others` are
    served beside them.

    Raises:
        LoadError: one cannot be loaded, has no agents, or two agents have one name.
    """
    try:
        return _loaded(names, sections, [agent.name for agent in others])
    except DeclarationError as error:
        raise LoadError(str(error)) from None


def _loaded(names: Sequence[str], sections: Sections | None, others: Sequence[str]) -> list[Agent]:
    found: dict[str, tuple[Agent, str]] = {}
    written: list[Written] = []
    if sections is not None:
        written += read_tables(sections.tables, Place(sections.file, "agents"), _load)
    for name in names:
        if name.endswith(".toml") or _is_toml_folder(name):
            for file in _toml_files(name):
                written += read_file(file, _load)
            continue
        agents = list(_agents_in(_load(name), name))
        if not agents:
            raise LoadError(f"{name} has no agents: it needs an `Agent` or a `Host` at its top level")
        for agent, place in agents:
            _add(found, agent, place)
    for one in written:
        _add(found, one.agent, str(one.place))
    for one in written:
        one.check([*found, *others])
    return [agent for agent, _ in found.values()]


def _add(found: dict[str, tuple[Agent, str]], agent: Agent, place: str) -> None:
    known, where = found.setdefault(agent.name, (agent, place))
    if known is not agent:
        both = f"{where} and {place}"
        raise LoadError(f"two agents are called {agent.name!r}: {both}; give one another name")


def _is_toml_folder(name: str) -> bool:
    """Tell whether a folder is meant, and not the module that is in it."""
    path = Path(name).expanduser()
    return path.is_dir() and (os.sep in name or any(path.glob("*.toml")))


def _toml_files(name: str) -> list[Path]:
    path = Path(name).expanduser()
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.toml"))
    if not files:
        raise LoadError(f"there are no agents in the folder {name}: it has no files that end with .toml")
    return files


def _agents_in(module: ModuleType, name: str) -> Iterator[tuple[Agent, str]]:
    """Give the agents at the top level of a module, and how to find them in it."""
    for variable, value in list(vars(module).items()):
        place = f"`{variable}` in {name}"
        if isinstance(value, Agent):
            yield value, place
        elif isinstance(value, Host):
            for agent in value.agents.values():
                yield agent, f"an agent of {place}"


def _load(name: str) -> ModuleType:
    if name.endswith(".py") or os.sep in name:
        return _load_file(name)
    _add_path(Path.cwd())
    return _guarded(name, lambda: importlib.import_module(name))


def _load_file(name: str) -> ModuleType:
    """Load a file under a name that no import can mean; the modules beside it can be imported."""
    path = Path(name).expanduser().resolve()
    if not path.is_file():
        raise LoadError(f"there is no file {name}")
    module_name = f"_agenthost_file_{path.stem}_{zlib.crc32(os.fsencode(path)):08x}"
    if module_name in sys.modules:
        return sys.modules[module_name]
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise LoadError(f"{name} is not a Python file: its name has to end with .py")
    module = importlib.util.module_from_spec(spec)
    _add_path(path.parent)
    loader = spec.loader
    sys.modules[module_name] = module  # dataclasses and others look for it there

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
    """Run people's code; what it raises is theirs to see, without the frames that are ours."""
    token = is_loading.set(True)
    try:
        return load()
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise LoadError(f"there is no module {name}; a file is named with .py at its end") from None
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
    return LoadError(f"{name} cannot be loaded: it needs {library}: {install(PACKAGES[library])}")


def _raised(name: str, error: Exception) -> LoadError:
    trace = traceback.TracebackException.from_exception(error)
    _leave_out_ours(trace)
    return LoadError(f"{name} cannot be loaded: it raises {type(error).__name__}", "".join(trace.format()))


def _leave_out_ours(trace: traceback.TracebackException | None) -> None:
    """Take out the frames of this file and of Python's imports, of what was the cause of it too."""
    if trace is None:
        return
    ours = (__file__, importlib.__file__)
    kept = [
        one for one in trace.stack if one.filename not in ours and "<frozen importlib" not in one.filename
    ]
    trace.stack = traceback.StackSummary.from_list(kept)
    _leave_out_ours(trace.__cause__)
    _leave_out_ours(trace.__context__)
