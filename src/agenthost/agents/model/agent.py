"""The model agent: any model behind both protocols.

It is a step function: each step is one request, and the host does the rest. Neighbours: `naming` (which model
is meant), `connecting`, `asking` (one request, tried again if need be), `history` and `streaming` (our words
as the library's, and back), `failing` (what to tell people).
"""

import importlib
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Unpack

from agenthost.agents.model.connecting import Connections
from agenthost.agents.model.facts import CONFIG, EFFORT, context_window
from agenthost.agents.model.naming import ModelName, key_variables, parse_name
from agenthost.host.agent import Agent, Description, Model
from agenthost.host.turn import Turn

__all__ = ["ModelAgent"]

log = logging.getLogger("agenthost.model")


class ModelAgent(Agent):
    """An agent that lets a model answer.

    Attributes:
        system: what the model is told before everything else.
        settings: how it is asked: `temperature`, `max_tokens`, `thinking`, `timeout` and whatever else
            pydantic-ai's `ModelSettings` has.
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
        **declared: Unpack[Description],
    ) -> None:
        """Make an agent of a model, or of several to choose from; the first is the default.

        `base_url` is a server that speaks like OpenAI's chat, or like the service that the name of the model
        begins with. Keys are taken from the environment: the usual variable of the service, or `api_key_env`.

        Raises:
            ValueError: a name that is none of a model.
        """
        self.system = system
        self.settings = dict(settings or {})
        self._key_env = api_key_env
        self._connections = Connections(base_url, api_key, api_key_env)
        self._named: dict[str, ModelName] = {}
        offered = []
        for one in dict.fromkeys((model, *models)):
            declared_model = Model(one) if isinstance(one, str) else one
            named = parse_name(declared_model.id, base_url)
            self._named[declared_model.id] = named
            offered.append(_described(one, named) if isinstance(one, str) else one)
        super().__init__(name, models=offered, **declared)

    async def start(self) -> None:
        """Warn of what is missing; it may be set by the time that somebody asks."""
        for model_id, named in self._named.items():
            missing = self._connections.missing_key(named)
            if missing is not None:
                log.warning("%s is not set: %s cannot answer without it", missing, model_id)

    async def stop(self) -> None:
        """Close the connections to the services."""
        await self._connections.close()

    async def answer(self, turn: Turn) -> AsyncIterator[Any]:
        """Let the model answer: one step of the turn."""
        chosen = turn.model or self.models[0]
        named = self._named[chosen.id]
        model = await self._connections.get(named)
        asking = importlib.import_module("agenthost.agents.model.asking")  # by now the library is loaded
        request = asking.Request(
            model,
            named,
            turn.messages,
            system=self.system,
            tools=turn.tools,
            settings={**self.settings, **_effort(turn.model_config)},
        )
        async with aclosing(asking.step(turn, request, key_variables(named, self._key_env))) as items:
            async for item in items:
                yield item


def _described(model_id: str, named: ModelName) -> Model:
    return Model(model_id, named.name, context_tokens=context_window(named), config=CONFIG)


def _effort(config: Mapping[str, str]) -> dict[str, Any]:
    """Give what a session's choice of effort means as a setting."""
    chosen = config.get(EFFORT, "default")
    if chosen == "default":
        return {}
    return {EFFORT: False if chosen == "off" else chosen}
