"""Agents declared in TOML: read, checked and built. See docs/toml-agents.md."""

from agenthost.agents.declared.files import DeclaredAgent, read_agent_file, read_agent_tables
from agenthost.agents.declared.locations import AgentFileError, Location

__all__ = ["AgentFileError", "DeclaredAgent", "Location", "read_agent_file", "read_agent_tables"]
