"""Reads agents from TOML files: one agent per file, named like it, or several as `[agents.NAME]`."""

import tomllib
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agenthost.agents.declared.locations import AgentFileError, LoadModule, Location
from agenthost.agents.declared.tables import AgentTable, read_table
from agenthost.host.authoring.agent import Agent

__all__ = ["DeclaredAgent", "read_agent_file", "read_agent_tables"]


@dataclass(frozen=True, slots=True)
class DeclaredAgent:
    """An agent declared in TOML.

    Attributes:
        agent: the agent.
        location: where it is declared.
        needs: the names of its subagents.
    """

    agent: Agent
    location: Location
    needs: frozenset[str] = field(default_factory=frozenset)

    def check(self, known: Collection[str]) -> None:
        """Check that its subagents are among the known agents.

        Raises:
            AgentFileError: one is not.
        """
        for name in sorted(self.needs - set(known)):
            there = ", ".join(one for one in known if one != self.agent.name) or "no others"
            raise self.location.under("subagents").error(f"there is no agent {name!r}; there are {there}")


def read_agent_file(path: Path, load: LoadModule) -> list[DeclaredAgent]:
    """Read the agents of a file.

    Raises:
        AgentFileError: something is wrong; the message says what, where, and what would be right.
    """
    location = Location(path)
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise location.error(f"it cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise location.error("it is not TOML: it is not text in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise location.error(f"it is not TOML: {error}") from None
    if "agents" in table:
        location.check_keys(table, ["agents"])
        return read_agent_tables(table["agents"], location.under("agents"), load)
    return [_declare(path.stem, table, location, load)]


def read_agent_tables(tables: Any, location: Location, load: LoadModule) -> list[DeclaredAgent]:
    """Read agents from tables by their names, as in `[agents.NAME]`.

    Raises:
        AgentFileError: something is wrong.
    """
    if not isinstance(tables, dict):
        raise location.error("expected a table for each agent: [agents.NAME]")
    return [_declare(name, table, location.under(name), load) for name, table in tables.items()]


def _declare(name: str, table: Any, location: Location, load: LoadModule) -> DeclaredAgent:
    # Imported here: without such files, none of the modules that agents are built of are needed.
    from agenthost.agents.declared.builder import build_agent  # noqa: PLC0415

    read = read_table(table, AgentTable, location)
    try:
        return DeclaredAgent(build_agent(name, read, location, load), location, frozenset(read.subagents))
    except AgentFileError:
        raise
    except (ValueError, TypeError) as error:  # such as an invalid name, or two tools of the same name
        raise location.error(str(error)) from None
