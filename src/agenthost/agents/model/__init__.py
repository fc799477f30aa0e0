"""Models as agents: OpenAI's, Anthropic's, Google's, and any server that speaks like one of them."""

from agenthost.agents.model.agent import ModelAgent

__all__ = ["ModelAgent"]
