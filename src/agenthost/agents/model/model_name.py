"""Names of models: which service runs them, and where its API key comes from. Imports no library."""

import os
from dataclasses import dataclass
from difflib import get_close_matches

__all__ = ["ModelName", "find_key", "key_variables", "parse_name"]

KEYS: dict[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "cerebras": ("CEREBRAS_API_KEY",),
    "cohere": ("CO_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "fireworks": ("FIREWORKS_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "groq": ("GROQ_API_KEY",),
    "huggingface": ("HF_TOKEN",),
    "mistral": ("MISTRAL_API_KEY",),
    "moonshotai": ("MOONSHOTAI_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "openai-chat": ("OPENAI_API_KEY",),
    "openai-responses": ("OPENAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "together": ("TOGETHER_API_KEY",),
    "xai": ("XAI_API_KEY",),
}
"""The environment variables of the services' API keys; the first that is set counts."""

MIN_SIMILARITY = 0.8
"""An unknown service that is this similar to a known one is a typo. Other unknown ones may exist."""

UNNAMED_SERVER = "server"
"""The service name of a server at a base URL, if the model's name has none."""

NATIVE_FORMATS = ("anthropic", "google", "openai-responses")
"""Services whose own API is used at a base URL too. Others get OpenAI's chat completions there."""


@dataclass(frozen=True, slots=True)
class ModelName:
    """The name of a model.

    Attributes:
        service: the service that runs it.
        name: the service's name of it.
        is_compatible: whether it is reached by OpenAI's chat completions at a base URL.
    """

    service: str
    name: str
    is_compatible: bool = False

    @property
    def label(self) -> str:
        """The name of the service for people."""
        return "OpenAI" if self.service.startswith("openai") else self.service.capitalize()


def parse_name(text: str, base_url: str | None = None) -> ModelName:
    """Parse the name of a model: `SERVICE:NAME`, or just `NAME` with a base URL.

    Raises:
        ValueError: it names no service.
    """
    service, colon, name = text.partition(":")
    service = {"gemini": "google", "claude": "anthropic"}.get(service, service)
    if base_url is not None and service not in KEYS:
        # A colon may belong to a tag, as in `llama3.2:3b`.
        return ModelName(UNNAMED_SERVER, text, is_compatible=True)
    if not colon or not service or not name:
        right = "SERVICE:NAME, such as openai:gpt-5, anthropic:claude-sonnet-5 or google:gemini-3.5-flash"
        raise ValueError(f"{text!r} is not the name of a model: expected {right}")
    if service not in KEYS and (close := get_close_matches(service, KEYS, 1, MIN_SIMILARITY)):
        raise ValueError(f"{text!r}: unknown service; did you mean {close[0]}:{name}?")
    return ModelName(service, name, is_compatible=base_url is not None and service not in NATIVE_FORMATS)


def key_variables(name: ModelName, key_env: str | None = None) -> tuple[str, ...]:
    """Return the environment variables that may hold the key of a service; empty if unknown."""
    return (key_env,) if key_env is not None else KEYS.get(name.service, ())


def find_key(name: ModelName, key_env: str | None = None) -> str | None:
    """Return the key of a service, if the environment has it."""
    return next((key for one in key_variables(name, key_env) if (key := os.environ.get(one))), None)
