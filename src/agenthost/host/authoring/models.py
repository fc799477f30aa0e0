"""What an agent offers to choose from: models and slash commands."""

from dataclasses import dataclass

from agenthost.wire.ahp.config import ConfigSchema
from agenthost.wire.ahp.root import SessionModelInfo

__all__ = ["Command", "Model"]


@dataclass(frozen=True, slots=True)
class Model:
    """A model that an agent offers.

    Attributes:
        id: its id, by which it is chosen.
        name: its name for people.
        context_tokens: how many tokens its context holds.
        vision: whether it understands images.
        config: the schema of its settings.
    """

    id: str
    name: str | None = None
    context_tokens: int | None = None
    vision: bool | None = None
    config: ConfigSchema | None = None

    def info(self, provider: str) -> SessionModelInfo:
        """Return its description for clients."""
        info: SessionModelInfo = {"id": self.id, "provider": provider, "name": self.name or self.id}
        if self.context_tokens is not None:
            info["maxContextWindow"] = self.context_tokens
        if self.vision is not None:
            info["supportsVision"] = self.vision
        if self.config is not None:
            info["configSchema"] = self.config
        return info


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command: something that an agent does when a message begins with it.

    Attributes:
        name: its name, without the slash.
        description: what it does.
    """

    name: str
    description: str = ""
