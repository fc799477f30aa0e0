"""Facts about models that need no request: their context window, and their thinking levels."""

from collections.abc import Mapping
from typing import Any

from agenthost.agents.model.model_name import ModelName
from agenthost.wire.ahp.config import ConfigSchema

__all__ = ["CONFIG", "context_window", "thinking_settings"]

THINKING = "thinking"

THINKING_LEVELS = ("default", "off", "minimal", "low", "medium", "high", "xhigh", "max")

CONFIG: ConfigSchema = {
    "type": "object",
    "properties": {
        THINKING: {
            "type": "string",
            "title": "Thinking",
            "description": "How much the model thinks before it answers, as far as it can be told.",
            "default": "default",
            "enum": list(THINKING_LEVELS),
        }
    },
}
"""The schema of a model's settings."""


def context_window(name: ModelName) -> int | None:
    """Return the size of a model's context window in tokens, if it is known."""
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


def thinking_settings(config: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings for a session's choice of thinking level."""
    chosen = config.get(THINKING, THINKING_LEVELS[0])
    if chosen == THINKING_LEVELS[0] or chosen not in THINKING_LEVELS:
        return {}
    return {THINKING: False if chosen == "off" else chosen}
