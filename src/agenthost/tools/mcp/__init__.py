"""Tools of MCP servers (Model Context Protocol) for agents. Needs `agenthost[mcp]`."""

from agenthost.tools.mcp.server import McpServer

__all__ = ["McpServer"]
