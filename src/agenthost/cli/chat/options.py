"""The options of `agenthost chat`."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from agenthost.cli.assignments import read_assignments

__all__ = ["ChatOptions"]


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """The options of the command line.

    Attributes:
        options: options of the agent, as NAME=VALUE.
        tokens: tokens for what the agent uses, as RESOURCE=TOKEN.
    """

    url: str | None = None
    key: str | None = None
    agent: str | None = None
    session: str | None = None
    model: str | None = None
    options: Sequence[str] = field(default_factory=list)
    tokens: Sequence[str] = field(default_factory=list)
    continue_newest: bool = False
    approve_all: bool = False
    is_private: bool = False

    def check(self) -> None:
        """Refuse options that do not go together.

        Raises:
            ValueError: they do not, or one is malformed.
        """
        if self.session is not None and self.continue_newest:
            raise ValueError("--continue and --session cannot be used together")
        is_new = self.session is None and not self.continue_newest
        for name, value in (("--agent", self.agent), ("--model", self.model), ("--option", self.options)):
            if value and not is_new:
                raise ValueError(f"{name} is only for new sessions; in the chat, use :set and :model")
        read_assignments("--option", self.options)
        read_assignments("--token", self.tokens)
