"""Connecting: from the name of a model to something that can be asked. Knows the library, no turn.

The library is large, so it is imported when the first model is needed, in a thread.
"""

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from agenthost.agents.model.naming import KEYS, ModelName, find_key, key_variables
from agenthost.commands import install
from agenthost.errors import AgentUnavailable, ModelFailed
from agenthost.logs import hide

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider

__all__ = ["Connections", "check", "connect", "preload"]

_one_at_a_time = threading.Lock()
"""Held while the library is imported: its parts import each other, which two threads must not do at once."""

EXTRA = "agenthost[llm]"
"""What brings the library."""

LIBRARIES = {
    "anthropic": "anthropic",
    "google": "google.genai",
    "openai": "openai",
    "openai-chat": "openai",
    "openai-responses": "openai",
}
"""What else the services need that come with the extra; of the others, the library knows."""

NO_KEY = "none"
"""What is sent in the place of a key to servers that need none."""


class Connections:
    """The models that are in use, each made once; they share nothing but what they are told."""

    def __init__(self, base_url: str | None, key: str | None, key_env: str | None) -> None:
        self._base_url = base_url
        self._key = key
        self._key_env = key_env
        self._models: dict[ModelName, Model[Any]] = {}
        self._stack = AsyncExitStack()
        self._lock = asyncio.Lock()

    def missing_key(self, name: ModelName) -> str | None:
        """Say which variable has to be set before this model can be asked; nothing if it can."""
        if (self._base_url or _usual_url(name)) and self._key_env is None:
            return None  # it may well need none
        variables = key_variables(name, self._key_env)
        if self._key or not variables or find_key(name, self._key_env):
            return None
        return " or ".join(variables)

    async def get(self, name: ModelName) -> "Model[Any]":
        """Give the model of this name, ready to be asked.

        Raises:
            ModelFailed: there is no key for it, no such service, or its library is not installed.
        """
        async with self._lock:
            if name not in self._models:
                missing = self.missing_key(name)
                if missing is not None:
                    raise ModelFailed(f"there is no API key for {name.label}: set {missing}")
                key = self._key or find_key(name, self._key_env)
                hide(key or "")
                model = await asyncio.to_thread(connect, name, self._base_url, key)
                self._models[name] = await self._stack.enter_async_context(model)
            return self._models[name]

    async def close(self) -> None:
        """Close what is open; may be used again after that."""
        self._models.clear()
        await self._stack.aclose()


def check(name: ModelName) -> None:
    """Refuse a model that could never be asked here. Sends nothing, and imports only for unusual services.

    Raises:
        AgentUnavailable: a library is not installed.
        ValueError: there is no such service.
    """
    if not _is_installed("pydantic_ai"):
        raise AgentUnavailable(f"models need an extra library: {install(EXTRA)}")
    library = LIBRARIES.get("openai" if name.is_compatible else name.service)
    if library is None:
        _check_unusual(name)
    elif not _is_installed(library):
        raise AgentUnavailable(f"{name.label} needs the library {library}: {install(EXTRA)}")


def _is_installed(module: str) -> bool:
    with suppress(ModuleNotFoundError):  # of a package that it would be in
        return find_spec(module) is not None
    return False


def _check_unusual(name: ModelName) -> None:
    with _one_at_a_time:
        from pydantic_ai.providers import infer_provider_class  # noqa: PLC0415 - large

        try:
            infer_provider_class(name.service)
        except ImportError as error:
            raise AgentUnavailable(f"{name.label} needs a library that is not installed: {error}") from None
        except ValueError:
            known = f"there are {', '.join(KEYS)} and the others of pydantic-ai"
            own = "a model of a server of your own needs its address (--base-url, or base_url)"
            raise ValueError(
                f"'{name.service}:{name.name}' names no service that is known: {known}; {own}"
            ) from None


def preload(name: ModelName) -> None:
    """Load the library for a service in the background, so that the first turn need not wait for it."""

    def load() -> None:
        with suppress(Exception):  # who asks is told
            connect(name, "http://127.0.0.1:9", NO_KEY)

    if "pydantic_ai.models" not in sys.modules:
        threading.Thread(target=load, name="models", daemon=True).start()


def _usual_url(name: ModelName) -> str | None:
    """Give the address that the environment has for a service in place of its own."""
    return os.environ.get("OPENAI_BASE_URL") if name.service.startswith("openai") else None


def connect(name: ModelName, base_url: str | None, key: str | None) -> "Model[Any]":
    """Make a model that can be asked; nothing is sent yet. Imports, so it is for a thread.

    Raises:
        ModelFailed: there is no such service, or its library is not installed.
    """
    with _one_at_a_time:
        return _connect(name, base_url, key)


def _connect(name: ModelName, base_url: str | None, key: str | None) -> "Model[Any]":
    try:
        from pydantic_ai.exceptions import UserError  # noqa: PLC0415 - large, and not always installed
        from pydantic_ai.models import infer_model  # noqa: PLC0415
    except ImportError:
        raise ModelFailed(f"models need an extra library: {install(EXTRA)}") from None
    kind = "openai-chat" if name.is_compatible else name.service
    try:
        return infer_model(f"{kind}:{name.name}", _provider_factory(name, base_url, key))
    except ImportError as error:
        raise ModelFailed(f"{name.label} needs a library that is not installed: {error}") from None
    except (UserError, ValueError, TypeError) as error:
        raise ModelFailed(f"there is no way to reach {name.service}:{name.name}: {error}") from None


def _provider_factory(
    name: ModelName, base_url: str | None, key: str | None
) -> "Callable[[str], Provider[Any]]":
    from pydantic_ai.providers import infer_provider_class  # noqa: PLC0415 - as above

    def make(service: str) -> "Provider[Any]":
        if base_url is None:
            given: dict[str, Any] = {} if key is None else {"api_key": key}
            return infer_provider_class(service)(**given)
        if name.is_compatible:
            from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider  # noqa: PLC0415

            service = "openai" if name.service.startswith("openai") else name.service
            return OpenAICompatibleProvider(service, base_url=base_url, api_key=key)
        return infer_provider_class(service)(base_url=base_url, api_key=key or NO_KEY)  # type: ignore[call-arg]

    return make
