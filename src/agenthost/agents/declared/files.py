"""Files: which agents are written where. One agent a file, called like it; or several, by `[agents.NAME]`."""

import tomllib
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agenthost.agents.declared.places import DeclarationError, LoadModule, Place
from agenthost.agents.declared.tables import AgentTable, read_table
from agenthost.host.agent import Agent

__all__ = ["Written", "read_file", "read_tables"]


@dataclass(frozen=True, slots=True)
class Written:
    """An agent that is written down.

    Attributes:
        agent: what it is.
        place: where it stands.
        needs: the agents that it gives tasks to, by name.
    """

    agent: Agent
    place: Place
    needs: frozenset[str] = field(default_factory=frozenset)

    def check(self, known: Collection[str]) -> None:
        """Refuse an agent that gives tasks to one that there is not.

        Raises:
            DeclarationError: it names one.
        """
        for name in sorted(self.needs - set(known)):
            there = ", ".join(one for one in known if one != self.agent.name) or "no others"
            raise self.place.under("subagents").wrong(f"there is no agent {name!r}; there are {there}")


def read_file(path: Path, load: LoadModule) -> list[Written]:
    """Read the agents of a file.

    Raises:
        DeclarationError: something in it is wrong; the sentence says what, where, and what would be right.
    """
    place = Place(path)
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise place.wrong(f"it cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise place.wrong("it is not TOML: it is not text in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise place.wrong(f"it is not TOML: {error}") from None
    if "agents" in table:
        place.check_keys(table, ["agents"])
        return read_tables(table["agents"], place.under("agents"), load)
    return [_built(path.stem, table, place, load)]


def read_tables(tables: Any, place: Place, load: LoadModule) -> list[Written]:
    """Read agents from tables by their names, as in `[agents.NAME]`.

    Raises:
        DeclarationError: something in them is wrong.
    """
    if not isinstance(tables, dict):
        raise place.wrong("expected a table for each agent: [agents.NAME]")
    return [_built(name, table, place.under(name), load) for name, table in tables.items()]


def _built(name: str, table: Any, place: Place, load: LoadModule) -> Written:
    # Loaded here: whoever reads no such file needs none of what agents are built of.
    from agenthost.agents.declared.building import build  # noqa: PLC0415

    read = read_table(table, AgentTable, place)
    try:
        return Written(build(name, read, place, load), place, frozenset(read.subagents))
    except DeclarationError:
        raise
    except (ValueError, TypeError) as error:  # such as a name that is none, or two tools of one name
        raise place.wrong(str(error)) from None
