"""Names of models: which service runs them, and where its key comes from. Asks nobody, imports no library."""

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
"""The environment variables that services take their keys from; the first that is set counts."""

NEARLY = 0.8
"""How much an unknown name of a service is like a known one, if it is a slip: there are more than these."""

LOCAL = "server"
"""What a server at a base URL is called that nobody has named."""

OWN_FORMATS = ("anthropic", "google", "openai-responses")
"""Whose own wire format is spoken at a base URL too; all others are spoken to as OpenAI's chat."""


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model: the service that runs it, what that calls it, and whether it is reached as any server is."""

    service: str
    name: str
    is_compatible: bool = False

    @property
    def label(self) -> str:
        """What to call the service in front of people."""
        return "OpenAI" if self.service.startswith("openai") else self.service.capitalize()


def parse_name(text: str, base_url: str | None = None) -> ModelName:
    """Read the name of a model: `SERVICE:NAME`, or at a base URL `NAME` alone.

    Raises:
        ValueError: it names no service.
    """
    service, colon, name = text.partition(":")
    service = {"gemini": "google", "claude": "anthropic"}.get(service, service)
    if base_url is not None and service not in KEYS:
        return ModelName(
            LOCAL, text, is_compatible=True
        )  # the colon may be one of a tag, as in `llama3.2:3b`
    if not colon or not service or not name:
        right = "SERVICE:NAME, such as openai:gpt-5, anthropic:claude-sonnet-5 or google:gemini-3.5-flash"
        raise ValueError(f"{text!r} is no name of a model: expected {right}")
    if service not in KEYS and (close := get_close_matches(service, KEYS, 1, NEARLY)):
        raise ValueError(f"{text!r} names no service that is known; did you mean {close[0]}:{name}?")
    return ModelName(service, name, is_compatible=base_url is not None and service not in OWN_FORMATS)


def key_variables(name: ModelName, key_env: str | None = None) -> tuple[str, ...]:
    """Give the environment variables that the key of a service may be in; none if nobody knows."""
    return (key_env,) if key_env is not None else KEYS.get(name.service, ())


def find_key(name: ModelName, key_env: str | None = None) -> str | None:
    """Give the key of a service, if the environment has it."""
    return next((key for one in key_variables(name, key_env) if (key := os.environ.get(one))), None)
