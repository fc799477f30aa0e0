"""The model agent: any model, served over both protocols.

It is a step function: each step is one request, and the host does the rest. Related modules: `model_name`,
`connections`, `step` (one step of a turn), `request` (a request and its retries), `history` and
`response_reader` (conversions to and from the library), `errors`, `summaries`.
"""

import asyncio
import importlib
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Unpack

from agenthost.agents.model.connections import ModelConnections, check_available, preload
from agenthost.agents.model.facts import CONFIG, context_window, thinking_settings
from agenthost.agents.model.model_name import ModelName, key_variables, parse_name
from agenthost.core.token_estimate import estimate_text
from agenthost.core.transcript import Message
from agenthost.errors import ModelFailed
from agenthost.host.authoring.agent import Agent, Description, Model
from agenthost.host.authoring.turn import Turn
from agenthost.wire.json import encode_json

if TYPE_CHECKING:
    from agenthost.agents.model.step import ModelStep

__all__ = ["ModelAgent"]

log = logging.getLogger("agenthost.model")

PRELOAD_DELAY = 3.0
"""Seconds after the start until the library is loaded: loading is slow and would delay the start."""


class ModelAgent(Agent):
    """An agent that answers with a model.

    Attributes:
        system: the system prompt.
        settings: `temperature`, `max_tokens`, `thinking`, `timeout` and the other keys of pydantic-ai's
            `ModelSettings`.
        attempts: how often a request is tried before it fails.
        titles: whether the model suggests titles for sessions.
    """

    description = "Answers with a model."
    images = ("http", "data")

    def __init__(
        self,
        name: str = "assistant",
        *,
        model: str,
        models: Sequence[str | Model] = (),
        system: str = "",
        base_url: str | None = None,
        api_key: str | None = None,
        api_key_env: str | None = None,
        settings: Mapping[str, Any] | None = None,
        attempts: int = 5,
        titles: bool = True,
        **declared: Unpack[Description],
    ) -> None:
        """Declare an agent with a model, or several to choose from; the first is the default.

        `base_url` is a server that speaks OpenAI's chat completions, or the format of the service that the
        name of the model begins with. API keys come from the environment: the usual variable of the service,
        or `api_key_env`. A request that fails with a transient error is tried up to `attempts` times. With
        `titles`, the model is asked for a title after the first turn of a session.

        Raises:
            AgentUnavailable: a required library is not installed.
            ValueError: the name of a model is invalid, or its service is unknown.
        """
        self.system = system
        self.settings = dict(settings or {})
        self.attempts = attempts
        self.titles = titles
        self._key_env = api_key_env
        self._connections = ModelConnections(base_url, api_key, api_key_env)
        described = {one.id: one for one in models if isinstance(one, Model)}
        ids = dict.fromkeys([model, *(one if isinstance(one, str) else one.id for one in models)])
        self._named = {model_id: parse_name(model_id, base_url) for model_id in ids}
        for named in self._named.values():
            check_available(named)
        offered = [described.get(one) or _describe(one, name) for one, name in self._named.items()]
        self._preload: asyncio.TimerHandle | None = None
        self._unsummarised: dict[str, str] = {}  # by session, the turn in which a summary failed
        super().__init__(name, models=offered, **declared)

    async def start(self) -> None:
        """Warn about missing API keys. That is not an error yet: they may be set before the first turn."""
        first = self._named[self.models[0].id]
        self._preload = asyncio.get_running_loop().call_later(PRELOAD_DELAY, preload, first)
        for model_id, named in self._named.items():
            missing = self._connections.missing_key(named)
            if missing is not None:
                log.warning("%s is not set: %s cannot answer without it", missing, model_id)

    async def stop(self) -> None:
        """Close the connections to the services."""
        if self._preload is not None:
            self._preload.cancel()
        await self._connections.close()

    async def forget(self, session: str) -> None:
        """Drop what is remembered of a session."""
        self._unsummarised.pop(session, None)

    def budget(self, model_id: str | None) -> int:
        """Return how many tokens a transcript may have: the window less tools, instructions and an answer."""
        window = super().budget(model_id)
        tools = [one.definition() for one in self.toolset.values()]
        taken = estimate_text(self.system) + estimate_text(encode_json(tools).decode())
        return max(window * 3 // 4 - taken, window // 4)

    async def answer(self, turn: Turn) -> AsyncIterator[Any]:
        """Run one step of the turn with the model."""
        chosen = turn.model or self.models[0]
        try:
            step = await self._step(turn, chosen.id)
            async with aclosing(step.run()) as items:
                async for item in items:
                    yield item
        except ModelFailed as error:
            log.warning("%s: %s", chosen.id, error)
            raise

    def instructions(self, turn: Turn) -> str:
        """Return the system prompt for this turn."""
        return self.system

    async def _step(self, turn: Turn, model_id: str) -> "ModelStep":
        named = self._named[model_id]
        model = await self._connections.get(named)
        module = importlib.import_module("agenthost.agents.model.step")  # the library is loaded by now
        return module.ModelStep(  # type: ignore[no-any-return]
            turn=turn,
            model=model,
            name=named,
            system=self.instructions(turn),
            settings={**self.settings, **thinking_settings(turn.model_config)},
            variables=key_variables(named, self._key_env),
            budget=self.budget(model_id),
            attempts=self.attempts,
            unsummarised=self._unsummarised,
        )

    async def suggest_title(self, messages: Sequence[Message]) -> str | None:
        """Ask the first model for a title."""
        if not self.titles:
            return None
        named = self._named[self.models[0].id]
        model = await self._connections.get(named)
        module = importlib.import_module("agenthost.agents.model.summaries")
        return await module.suggest_title(model, named, messages, self.settings)  # type: ignore[no-any-return]


def _describe(model_id: str, named: ModelName) -> Model:
    return Model(model_id, named.name, context_tokens=context_window(named), config=CONFIG)
