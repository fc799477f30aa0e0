"""The model agent: any model behind both protocols.

It is a step function: each step is one request, and the host does the rest. Neighbours: `naming` (which model
is meant), `connecting`, `stepping` (one step), `asking` (a request, tried again if need be), `history` and
`streaming` (our words as the library's, and back), `failing` (what to tell people), `summarising`.
"""

import asyncio
import importlib
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Unpack

from agenthost.agents.model.connecting import Connections, check, preload
from agenthost.agents.model.facts import CONFIG, context_window, effort_of
from agenthost.agents.model.naming import ModelName, key_variables, parse_name
from agenthost.core.tokens import estimate_text
from agenthost.core.transcript import Message
from agenthost.errors import ModelFailed
from agenthost.host.agent import Agent, Description, Model
from agenthost.host.turn import Turn
from agenthost.wire.json import encode_json

if TYPE_CHECKING:
    from agenthost.agents.model.stepping import Step

__all__ = ["ModelAgent"]

log = logging.getLogger("agenthost.model")

LOAD_AFTER = 3.0
"""When the library is loaded, in seconds after the start: it takes a while, and others start, too."""


class ModelAgent(Agent):
    """An agent that lets a model answer.

    Attributes:
        system: what the model is told before everything else.
        settings: how it is asked: `temperature`, `max_tokens`, `thinking`, `timeout` and whatever else
            pydantic-ai's `ModelSettings` has.
        attempts: how often a request is made before it fails.
        titles: whether sessions get titles from the model.
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
        """Make an agent of a model, or of several to choose from; the first is the default.

        `base_url` is a server that speaks like OpenAI's chat, or like the service that the name of the model
        begins with. Keys are taken from the environment: the usual variable of the service, or `api_key_env`.
        A request that fails for a reason that may pass is made `attempts` times in all. With `titles`, the
        model is asked for a title when the first turn of a session is over.

        Raises:
            AgentUnavailable: a library that it takes is not installed.
            ValueError: a name that is none of a model, or of a service that nobody knows.
        """
        self.system = system
        self.settings = dict(settings or {})
        self.attempts = attempts
        self.titles = titles
        self._key_env = api_key_env
        self._connections = Connections(base_url, api_key, api_key_env)
        described = {one.id: one for one in models if isinstance(one, Model)}
        ids = dict.fromkeys([model, *(one if isinstance(one, str) else one.id for one in models)])
        self._named = {model_id: parse_name(model_id, base_url) for model_id in ids}
        for named in self._named.values():
            check(named)
        offered = [described.get(one) or _described(one, name) for one, name in self._named.items()]
        self._loading: asyncio.TimerHandle | None = None
        self._unsummarised: dict[str, str] = {}  # sessions, and the turns in which it did not work
        super().__init__(name, models=offered, **declared)

    async def start(self) -> None:
        """Warn of what is missing, as it may be there by the time that somebody asks."""
        first = self._named[self.models[0].id]
        self._loading = asyncio.get_running_loop().call_later(LOAD_AFTER, preload, first)
        for model_id, named in self._named.items():
            missing = self._connections.missing_key(named)
            if missing is not None:
                log.warning("%s is not set: %s cannot answer without it", missing, model_id)

    async def stop(self) -> None:
        """Close the connections to the services."""
        if self._loading is not None:
            self._loading.cancel()
        await self._connections.close()

    async def forget(self, session: str) -> None:
        """Drop what is known of a session."""
        self._unsummarised.pop(session, None)

    def budget(self, model_id: str | None) -> int:
        """Give how many tokens a transcript may have: what tools, instructions and an answer leave."""
        window = super().budget(model_id)
        tools = [one.definition() for one in self.toolset.values()]
        taken = estimate_text(self.system) + estimate_text(encode_json(tools).decode())
        return max(window * 3 // 4 - taken, window // 4)

    async def answer(self, turn: Turn) -> AsyncIterator[Any]:
        """Let the model answer: one step of the turn."""
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
        """Give what the model is told before everything else in this turn."""
        return self.system

    async def _step(self, turn: Turn, model_id: str) -> "Step":
        named = self._named[model_id]
        model = await self._connections.get(named)
        stepping = importlib.import_module("agenthost.agents.model.stepping")  # by now the library is loaded
        return stepping.Step(  # type: ignore[no-any-return]
            turn=turn,
            model=model,
            name=named,
            system=self.instructions(turn),
            settings={**self.settings, **effort_of(turn.model_config)},
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
        summarising = importlib.import_module("agenthost.agents.model.summarising")
        return await summarising.entitled(model, named, messages, self.settings)  # type: ignore[no-any-return]


def _described(model_id: str, named: ModelName) -> Model:
    return Model(model_id, named.name, context_tokens=context_window(named), config=CONFIG)
