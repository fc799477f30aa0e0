"""Models as agents: OpenAI's, Anthropic's, Google's, and any server with a compatible API."""

from agenthost.agents.model.agent import ModelAgent

__all__ = ["ModelAgent"]
