"""Programs that speak the Agent Client Protocol (ACP), served as agents. Needs `agenthost[acp]`."""

from agenthost.agents.acp.agent import AcpAgent

__all__ = ["AcpAgent"]
