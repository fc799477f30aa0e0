"""Connections to model services: from the name of a model to a model object of the library.

The library is large, so it is imported in a thread, when the first model is needed.
"""

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from agenthost.agents.model.model_name import KEYS, ModelName, find_key, key_variables
from agenthost.commands import install_command
from agenthost.errors import AgentUnavailable, ModelFailed
from agenthost.logs import hide

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider

__all__ = ["ModelConnections", "check_available", "connect", "preload"]

_import_lock = threading.Lock()
"""Held while the library is imported: its circular imports must not run in two threads at once."""

EXTRA = "agenthost[llm]"
"""The extra that installs the library."""

LIBRARIES = {
    "anthropic": "anthropic",
    "google": "google.genai",
    "openai": "openai",
    "openai-chat": "openai",
    "openai-responses": "openai",
}
"""The client libraries of the services that the extra covers; the library checks the others itself."""

NO_KEY = "none"
"""Sent instead of a key to servers that need none."""


class ModelConnections:
    """The models in use, each created once."""

    def __init__(self, base_url: str | None, key: str | None, key_env: str | None) -> None:
        self._base_url = base_url
        self._key = key
        self._key_env = key_env
        self._models: dict[ModelName, Model[Any]] = {}
        self._stack = AsyncExitStack()
        self._lock = asyncio.Lock()

    def missing_key(self, name: ModelName) -> str | None:
        """Return the variable that must be set for this model; `None` if nothing is missing."""
        if (self._base_url or _env_base_url(name)) and self._key_env is None:
            return None  # a server of one's own may need no key
        variables = key_variables(name, self._key_env)
        if self._key or not variables or find_key(name, self._key_env):
            return None
        return " or ".join(variables)

    async def get(self, name: ModelName) -> "Model[Any]":
        """Return the model of this name, ready for requests.

        Raises:
            ModelFailed: its key is missing, its service is unknown, or a library is not installed.
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
        """Close all connections. `get` may be called again afterwards."""
        self._models.clear()
        await self._stack.aclose()


def check_available(name: ModelName) -> None:
    """Check that a model could be used here. Sends nothing, and imports the library only if it must.

    Raises:
        AgentUnavailable: a library is not installed.
        ValueError: the service is unknown.
    """
    if not _is_installed("pydantic_ai"):
        raise AgentUnavailable(f"models need an extra library: {install_command(EXTRA)}")
    library = LIBRARIES.get("openai" if name.is_compatible else name.service)
    if library is None:
        _check_unusual(name)
    elif not _is_installed(library):
        raise AgentUnavailable(f"{name.label} needs the library {library}: {install_command(EXTRA)}")


def _is_installed(module: str) -> bool:
    with suppress(ModuleNotFoundError):  # its parent package is missing
        return find_spec(module) is not None
    return False


def _check_unusual(name: ModelName) -> None:
    with _import_lock:
        from pydantic_ai.providers import infer_provider_class  # noqa: PLC0415 - large

        try:
            infer_provider_class(name.service)
        except ImportError as error:
            raise AgentUnavailable(f"{name.label} needs a library that is not installed: {error}") from None
        except ValueError:
            known = f"known are {', '.join(KEYS)} and the others of pydantic-ai"
            own = "for a server of your own, give its address (--base-url, or base_url)"
            raise ValueError(f"'{name.service}:{name.name}': unknown service; {known}; {own}") from None


def preload(name: ModelName) -> None:
    """Load the library for a service in the background, so that the first turn need not wait for it."""

    def load() -> None:
        with suppress(Exception):  # the first turn reports it
            connect(name, "http://127.0.0.1:9", NO_KEY)

    if "pydantic_ai.models" not in sys.modules:
        threading.Thread(target=load, name="models", daemon=True).start()


def _env_base_url(name: ModelName) -> str | None:
    """Return the base URL that the environment sets for a service."""
    return os.environ.get("OPENAI_BASE_URL") if name.service.startswith("openai") else None


def connect(name: ModelName, base_url: str | None, key: str | None) -> "Model[Any]":
    """Create a model object. Nothing is sent yet. Call it in a thread, as it imports the library.

    Raises:
        ModelFailed: the service is unknown, or its library is not installed.
    """
    with _import_lock:
        return _connect(name, base_url, key)


def _connect(name: ModelName, base_url: str | None, key: str | None) -> "Model[Any]":
    try:
        from pydantic_ai.exceptions import UserError  # noqa: PLC0415 - large, and not always installed
        from pydantic_ai.models import infer_model  # noqa: PLC0415
    except ImportError:
        raise ModelFailed(f"models need an extra library: {install_command(EXTRA)}") from None
    kind = "openai-chat" if name.is_compatible else name.service
    try:
        return infer_model(f"{kind}:{name.name}", _provider_factory(name, base_url, key))
    except ImportError as error:
        raise ModelFailed(f"{name.label} needs a library that is not installed: {error}") from None
    except (UserError, ValueError, TypeError) as error:
        raise ModelFailed(f"cannot connect to {name.service}:{name.name}: {error}") from None


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
