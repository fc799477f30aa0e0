"""Facts about models that are known without asking their services: how much they read, how they can think."""

from collections.abc import Mapping
from typing import Any

from agenthost.agents.model.naming import ModelName
from agenthost.wire.ahp.config import ConfigSchema

__all__ = ["CONFIG", "context_window", "effort_of"]

EFFORT = "thinking"

EFFORTS = ("default", "off", "minimal", "low", "medium", "high", "xhigh", "max")

CONFIG: ConfigSchema = {
    "type": "object",
    "properties": {
        EFFORT: {
            "type": "string",
            "title": "Thinking",
            "description": "How much the model thinks before it answers, as far as it can be told.",
            "default": "default",
            "enum": list(EFFORTS),
        }
    },
}
"""The settings of a model, as a form."""


def context_window(name: ModelName) -> int | None:
    """Give how many tokens a model reads, if that is known."""
    try:
        from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415 - comes with the library
    except ImportError:
        return None
    service = "openai" if name.service.startswith("openai") else name.service
    try:
        _, model = get_snapshot().find_provider_model(
            name.name, provider=None, provider_id=service, provider_api_url=None
        )
    except LookupError:
        return None
    return model.context_window


def effort_of(config: Mapping[str, str]) -> dict[str, Any]:
    """Give what a session's choice in that form means as a setting."""
    chosen = config.get(EFFORT, EFFORTS[0])
    if chosen == EFFORTS[0] or chosen not in EFFORTS:
        return {}
    return {EFFORT: False if chosen == "off" else chosen}
