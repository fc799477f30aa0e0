"""How the demo agent speaks: its options and models, and their effect on its answers."""

from collections.abc import Iterable

from agenthost.host.authoring.agent import Model
from agenthost.host.authoring.options import Option
from agenthost.host.authoring.turn import Turn
from agenthost.wire.ahp.config import ConfigSchema

__all__ = ["MODELS", "OPTIONS", "Voice"]

OPTIONS = (
    Option.select(
        "style", ("plain", "loud"), title="Style", description="How it speaks; loud is all in capitals."
    ),
    Option.text("greeting", title="Greeting", description="What it says before each answer."),
    Option.secret("token", title="Token", description="Not used: it shows how a secret is kept."),
)

PAUSES = {"short": 0.01, "medium": 0.05, "long": 0.2}
"""How many seconds the steady model waits after each word."""

_PAUSE: ConfigSchema = {
    "type": "object",
    "properties": {
        "pause": {
            "type": "string",
            "title": "Pause",
            "description": "How long it waits after each word.",
            "enum": list(PAUSES),
            "default": "medium",
        }
    },
}

MODELS = (
    Model("swift", "Swift: as fast as it can", vision=True),
    Model("steady", "Steady: a pause after each word", vision=True, config=_PAUSE),
    Model("forgetful", "Forgetful: little room, so that histories are compacted", 1_000, vision=True),
)


class Voice:
    """Says the answer in the style of the session, after its greeting."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._is_loud = turn.options.get("style") == "loud"
        greeting = turn.options.get("greeting", "")
        self._greeting = greeting if not greeting or greeting[-1].isspace() else f"{greeting} "
        self._pause = 0.0
        if (model := turn.model) is not None and model.id == "steady":
            self._pause = PAUSES.get(turn.model_config.get("pause", ""), PAUSES["medium"])

    async def say(self, text: str) -> None:
        """Say one piece of the answer."""
        await self.stream((text,))

    async def stream(self, pieces: Iterable[str]) -> None:
        """Say the answer piece by piece; each is one delta. A greeting comes first."""
        turn = self._turn
        if self._greeting:
            greeting, self._greeting = self._greeting, ""
            await turn.say(greeting.upper() if self._is_loud else greeting)
        for piece in map(str.upper, pieces) if self._is_loud else pieces:
            await turn.say(piece)
            if self._pause:
                await turn.sleep(self._pause)
