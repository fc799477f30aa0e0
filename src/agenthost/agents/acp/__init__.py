"""Agents that are programs: any that speaks the Agent Client Protocol (ACP). Needs `agenthost[acp]`."""

from agenthost.agents.acp.agent import AcpAgent

__all__ = ["AcpAgent"]
