"""The turn as an agent sees it: what was said, and how to answer. This is the API for authors of agents.

An agent may be run again after a restart of the host: from the start if it is a coroutine, from the
interrupted step if it is a step function. Everything that it said, asked and called before is then taken from
the record, not done twice. Other side effects are up to the agent.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from agenthost.core.session_meta import model_of
from agenthost.core.transcript import Image, Message
from agenthost.errors import ToolError
from agenthost.host.authoring.machine import Machine
from agenthost.host.authoring.models import Model
from agenthost.host.authoring.questions import Answers, Question
from agenthost.host.authoring.reported_call import ReportedCall
from agenthost.host.authoring.steps import Call, StopReason, Usage
from agenthost.host.authoring.turn_run import Result, TextKind, TurnAgent, TurnRun
from agenthost.wire.ahp.common import UsageInfo
from agenthost.wire.ahp.message import Message as SentMessage
from agenthost.wire.ahp.tool import ToolDefinition
from agenthost.wire.json import JsonObject, copy_json

__all__ = ["Stopped", "Turn"]


class Stopped(Exception):
    """Ends a turn early, for a reason that is not a failure."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason: StopReason = reason


class Turn:
    """One turn: a message of the user, and the agent's answer to it.

    Attributes:
        agent: the agent that answers.
        message: what the user sent, with its attachments.
    """

    def __init__(self, run: TurnRun) -> None:
        self._run = run
        self._option_values: tuple[object, Mapping[str, str]] | None = None
        self.agent: TurnAgent = run.agent
        self.message: SentMessage = run.message

    @property
    def id(self) -> str:
        """The id of the turn, unique in its session."""
        return self._run.id

    @property
    def session(self) -> str:
        """The URI of the session."""
        return self._run.uri

    @cached_property
    def workspace(self) -> Path:
        """The folder that the session works in, and whose files may be used.

        Raises:
            ResourceError: it no longer exists, or may no longer be used.
        """
        return self._run.workspace()

    @property
    def text(self) -> str:
        """What the user said."""
        return self.message["text"]

    @property
    def options(self) -> Mapping[str, str]:
        """The current values of the agent's options, with secrets in plain text."""
        session = self._run.session
        made_of = (session.private, session.state.get("config"))
        if self._option_values is None or self._option_values[0] != made_of:
            self._option_values = (made_of, self._run.option_values())
        return self._option_values[1]

    @property
    def model(self) -> Model | None:
        """The model that the session uses, chosen or default; None if the agent declares no models."""
        return self.agent.model(self.chosen_model)

    @property
    def model_config(self) -> Mapping[str, str]:
        """The settings of the model."""
        chosen: Any = model_of(self._run.session.state)
        return chosen.get("config", {}) if chosen else {}

    @property
    def transcript(self) -> list[Message]:
        """All messages of the session so far, unabridged."""
        return self._run.session.transcript

    @property
    def messages(self) -> list[Message]:
        """The messages for the model: the transcript, compacted if it is too long."""
        model = self.model
        return self.compacted(self.agent.budget(model.id if model else None))

    @property
    def tokens(self) -> int:
        """An estimate of how many tokens the transcript has."""
        return self._run.session.tokens

    def compacted(self, budget: int) -> list[Message]:
        """Return the transcript, compacted by the agent if it has more tokens than this."""
        agent = self.agent
        # Most transcripts fit, and to find that out they need not be read again at every step.
        if self.tokens <= budget and not agent.compacts_itself:
            return self.transcript
        return agent.compact(self.transcript, budget)

    @property
    def images(self) -> list[Image]:
        """The images that the user sent with this turn."""
        content = next(one["content"] for one in self._run.messages if one["role"] == "user")
        return [block for block in content if block["type"] == "image"] if isinstance(content, list) else []

    @property
    def tools(self) -> list[ToolDefinition]:
        """The tools that may be called: those of the host that are switched on, and the client's."""
        return self._run.offered_tools()

    @property
    def usage(self) -> UsageInfo:
        """What the turn has cost so far, as reported last."""
        return self._run.turn.get("usage", {})

    @property
    def is_over(self) -> bool:
        """Whether the turn has ended: nothing more can be said."""
        return self._run.is_over

    @property
    def is_replaying(self) -> bool:
        """Whether the agent still repeats what was shown before a restart; until then nothing is new."""
        return self._run.is_replaying

    async def say(self, text: str) -> None:
        """Stream a piece of the answer, in Markdown."""
        if self._run.say("markdown", text):
            await self._run.yield_to_others()

    async def think(self, text: str) -> None:
        """Stream a piece of reasoning."""
        if self._run.say("reasoning", text):
            await self._run.yield_to_others()

    def emit(self, kind: TextKind, text: str) -> None:
        """Stream text without waiting, such as from a callback. Await `yield_to_others` now and then."""
        self._run.say(kind, text)

    async def yield_to_others(self) -> None:
        """Let other tasks run, and wait while the disk is behind."""
        await self._run.yield_to_others()

    async def notify(self, text: str) -> None:
        """Show the user a notice that is not part of the answer, such as that a limit is near."""
        self._run.notify(text)

    async def show(self, data: bytes | str, content_type: str = "text/plain") -> None:
        """Show content that is too large for a conversation. Clients fetch it when a user looks at it."""
        self._run.show(data.encode() if isinstance(data, str) else data, content_type)

    async def call(self, name: str, input: JsonObject | None = None, /, **more: Any) -> Result:  # noqa: A002
        """Call a tool of the host or of the client, and wait for its result. The user is asked if necessary.

        Calls made at the same time, with `asyncio.gather`, run concurrently.

        Raises:
            ToolError: it failed, was denied, or there is no such tool.
        """
        (result,) = await self._run.call([(name, copy_json({**(input or {}), **more}))])
        if not result.ok:
            raise ToolError(str(result))
        return result

    async def calls(self, *calls: Call) -> list[Result]:
        """Call several tools concurrently, and return the results, failures included."""
        if not calls:
            return []
        return await self._run.call([(call.name, copy_json(call.input)) for call in calls])

    def report(self, name: str, input: JsonObject | None = None, *, title: str | None = None) -> ReportedCall:  # noqa: A002
        """Show a tool call that the agent runs by itself. Report its progress with the returned object."""
        return self._run.report(name, title or name, copy_json(input or {}))

    async def ask(
        self, *questions: Question | str, message: str | None = None, url: str | None = None
    ) -> Answers:
        """Ask the user, and wait for the answers. The answer to a plain string has the key `answer`."""
        made = [Question.text("answer", one) if isinstance(one, str) else one for one in questions]
        return await self._run.ask(made, message, url)

    async def use(self, usage: Usage) -> None:
        """Report what the turn has cost so far."""
        self._run.use(usage.info())

    async def title(self, text: str) -> None:
        """Set the title of the session."""
        if not self.is_replaying:
            self._run.set_title(text)

    async def activity(self, text: str | None) -> None:
        """Show in a few words what the agent is doing; None clears it."""
        if not self.is_replaying:
            self._run.set_activity(text)

    async def sleep(self, seconds: float) -> None:
        """Wait. A wait that ended before a restart is not repeated."""
        if not self.is_replaying:
            await asyncio.sleep(seconds)

    def watch(self, look: Callable[[], None]) -> None:
        """Call `look` after each action in the session, until the turn ends."""
        self._run.watch(look)

    @property
    def machine(self) -> Machine:
        """The files and terminals of the session, for agents that do not use the host's tools."""
        return self._run.machine

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of the session that everybody can see and that have a value."""
        return self._run.session.state.get("config", {}).get("values", {})

    async def configure(self, values: Mapping[str, str]) -> None:
        """Show that the agent itself has changed settings of the session."""
        known = self.settings
        news: JsonObject = {name: value for name, value in values.items() if known.get(name, value) != value}
        if news:
            self._run.set_config(news)

    @property
    def chosen_model(self) -> str | None:
        """The id of the model that the session shows; None if none was chosen."""
        chosen = model_of(self._run.session.state)
        return chosen["id"] if chosen else None

    async def choose_model(self, model_id: str) -> None:
        """Show that the agent itself has changed the session's model."""
        if model_id != self.chosen_model:
            self._run.set_model(model_id)

    def history(self, after: str | None = None) -> list[Message]:
        """Return all messages before this turn, or those after the end of the turn `after`."""
        said = self._run.session.messages
        start = 1 + max((place for place, one in enumerate(said) if after and one.turn == after), default=-1)
        return [one.message for one in said[start:] if one.turn != self.id]

    @property
    def past_turns(self) -> list[str]:
        """The ids of the turns before this one, oldest first."""
        return [turn["id"] for turn in self._run.session.chat["turns"]]

    def fail_reported(self, sentence: str) -> None:
        """Fail all reported calls that have not ended, because whatever ran them is gone."""
        self._run.fail_reported(sentence)

    @property
    def kept(self) -> JsonObject:
        """The agent's private data for this session. A fork does not inherit it."""
        return self._run.session.private.get("kept", {})

    async def keep(self, value: JsonObject) -> None:
        """Replace `kept` with this value. It is durable when this returns."""
        await self._run.keep(copy_json(value))

    async def steering(self) -> Message | None:
        """Return the next message that the user sent while the agent was working, if any (HR-U04)."""
        return self._run.next_steering()

    def stop(self, reason: StopReason) -> NoReturn:
        """End the turn here: the model refuses, or has reached its token limit."""
        raise Stopped(reason)
