"""Agents that are written down in TOML: read, checked and built. See docs/toml-agents.md."""

from agenthost.agents.declared.files import Written, read_file, read_tables
from agenthost.agents.declared.places import DeclarationError, Place

__all__ = ["DeclarationError", "Place", "Written", "read_file", "read_tables"]
