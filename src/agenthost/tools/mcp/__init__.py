"""The tools of MCP servers (Model Context Protocol), as tools of an agent. Needs `agenthost[mcp]`."""

from agenthost.tools.mcp.server import McpServer

__all__ = ["McpServer"]
