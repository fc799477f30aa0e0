"""The turn as an agent sees it: what was said, and the means to answer. This is what agent authors meet.

An agent may be run again after a restart of the host, from the top if it talks, from the step that was
interrupted if it is a step function. What it said, asked and called before is then answered from the record
instead of done twice; only what it does by other means is its own business.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from agenthost.core.transcript import Image, Message
from agenthost.errors import ToolError
from agenthost.host.agent import Agent, Model
from agenthost.host.asking import Answers, Question
from agenthost.host.means import Means
from agenthost.host.output import Kind
from agenthost.host.reports import ReportedCall
from agenthost.host.running import Result, RunningTurn
from agenthost.host.session import Session
from agenthost.host.setup import changed, offered_tools, private_of
from agenthost.host.steps import Call, StopReason, Usage
from agenthost.wire.ahp.common import UsageInfo
from agenthost.wire.ahp.message import UserMessage
from agenthost.wire.ahp.tool import ToolDefinition
from agenthost.wire.json import JsonObject, copy_json

__all__ = ["Stopped", "Turn"]


class Stopped(Exception):
    """Ends a turn early, for a reason that is no failure."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason)
        self.reason: StopReason = reason


class Turn:
    """One turn: the user said something, and the agent answers.

    Attributes:
        agent: the agent that answers.
        message: what the user sent, with its attachments.
    """

    def __init__(
        self,
        running: RunningTurn,
        options: Callable[[], Mapping[str, str]],
        workspace: Callable[[Session], Path],
    ) -> None:
        self._running = running
        self._options = options
        self._option_values: tuple[object, Mapping[str, str]] | None = None
        self.agent: Agent = running.agent
        self.message: UserMessage = running.turn["userMessage"]
        self._workspace = workspace

    @property
    def id(self) -> str:
        """The id of the turn, unique in its session."""
        return self._running.id

    @property
    def session(self) -> str:
        """The URI of the session."""
        return self._running.uri

    @cached_property
    def workspace(self) -> Path:
        """The folder that the session works in, and that files may be touched in.

        Raises:
            ResourceError: it is not there any more, or may not be touched any more.
        """
        return self._workspace(self._running.session)

    @property
    def text(self) -> str:
        """What the user said."""
        return self.message["text"]

    @property
    def options(self) -> Mapping[str, str]:
        """The values of the agent's options at this moment, secrets in clear."""
        session = self._running.session
        made_of = (session.private, session.state.get("config"))
        if self._option_values is None or self._option_values[0] != made_of:
            self._option_values = (made_of, self._options())
        return self._option_values[1]

    @property
    def model(self) -> Model | None:
        """The model that the session has chosen, or the default; none if the agent declares none."""
        chosen = self._running.session.state["summary"].get("model")
        return self.agent.model(chosen["id"] if chosen else None)

    @property
    def model_config(self) -> Mapping[str, str]:
        """The settings of the model."""
        chosen = self._running.session.state["summary"].get("model")
        return chosen.get("config", {}) if chosen else {}

    @property
    def transcript(self) -> list[Message]:
        """All that was said in the session so far, exactly."""
        return [said.message for said in self._running.session.messages]

    @property
    def messages(self) -> list[Message]:
        """What the model is to be given: the transcript, compacted if it is too long."""
        model = self.model
        return self.agent.compact(self.transcript, self.agent.budget(model.id if model else None))

    @property
    def images(self) -> list[Image]:
        """The images that the user sent with this turn."""
        content = next(one["content"] for one in self._running.messages if one["role"] == "user")
        return [block for block in content if block["type"] == "image"] if isinstance(content, list) else []

    @property
    def tools(self) -> list[ToolDefinition]:
        """The tools that may be called: the host's that are switched on, and the client's."""
        # A step keeps what it was given; a handler may look again.
        toolset = self._running.calls.toolset if self.agent.is_stepwise else self.agent.toolset
        return offered_tools(self.agent, toolset, self._running.session)

    @property
    def usage(self) -> UsageInfo:
        """What the turn cost so far, as it was said last."""
        return self._running.turn.get("usage", {})

    @property
    def is_over(self) -> bool:
        """Whether the turn has ended, so that nothing more can be said."""
        return self._running.is_over

    @property
    def is_replaying(self) -> bool:
        """Whether what was shown before a restart has still to be said again; till then nothing is new."""
        return self._running.output.is_replaying

    async def say(self, text: str) -> None:
        """Say something: a piece of the answer, in Markdown. It appears at once."""
        if self._running.say("markdown", text):
            await self._running.breathe()

    async def think(self, text: str) -> None:
        """Think aloud."""
        if self._running.say("reasoning", text):
            await self._running.breathe()

    def emit(self, kind: Kind, text: str) -> None:
        """Say or think without waiting, for text that comes by itself; `breathe` now and then."""
        self._running.say(kind, text)

    async def breathe(self) -> None:
        """Let others run, and wait while the disk is behind."""
        await self._running.breathe()

    async def notify(self, text: str) -> None:
        """Tell the user something that is no part of the answer, such as that a limit is near."""
        self._running.check()
        self._running.output.notify(text)

    async def show(self, data: bytes | str, content_type: str = "text/plain") -> None:
        """Show content that is too large for a conversation; clients fetch it when somebody looks."""
        self._running.check()
        self._running.show(data.encode() if isinstance(data, str) else data, content_type)

    async def call(self, name: str, input: JsonObject | None = None, /, **more: Any) -> Result:  # noqa: A002
        """Call a tool of the host or of the client, and wait for its result; asks first if need be.

        Calls that are made at the same time (`asyncio.gather`) run side by side.

        Raises:
            ToolError: it failed, there is no such tool, or somebody denied it.
        """
        (result,) = await self.calls(Call(name, {**(input or {}), **more}))
        if not result.ok:
            raise ToolError(str(result))
        return result

    async def calls(self, *calls: Call) -> list[Result]:
        """Call several tools at the same time, and give what came of each, well or not."""
        if not calls:
            return []
        return await self._running.call([(call.name, copy_json(call.input)) for call in calls])

    def report(self, name: str, input: JsonObject | None = None, *, title: str | None = None) -> ReportedCall:  # noqa: A002
        """Show a call of a tool that the agent runs by itself; what is given back says how it goes on."""
        return self._running.reports.begin(name, title or name, copy_json(input or {}))

    async def ask(
        self, *questions: Question | str, message: str | None = None, url: str | None = None
    ) -> Answers:
        """Ask the user, and wait for the answers. A plain string asks for text; its answer is `answer`."""
        made = [Question.text("answer", one) if isinstance(one, str) else one for one in questions]
        return await self._running.ask(made, message, url)

    async def use(self, usage: Usage) -> None:
        """Say what the turn cost so far."""
        self._running.use(usage.info())

    async def title(self, text: str) -> None:
        """Give the session a title."""
        if not self.is_replaying:
            self._running.act({"type": "session/titleChanged", "session": self.session, "title": text})

    async def activity(self, text: str | None) -> None:
        """Say in a few words what goes on, or that it is over."""
        action: JsonObject = {"type": "session/activityChanged", "session": self.session}
        if not self.is_replaying:
            self._running.act({**action, "activity": text} if text else action)

    async def sleep(self, seconds: float) -> None:
        """Wait; what was waited for before a restart is not waited for again."""
        if not self.is_replaying:
            await asyncio.sleep(seconds)

    def watch(self, look: Callable[[], None]) -> None:
        """Have this called whenever something happened in the session, until the turn ends."""
        self._running.watchers.append(look)

    @property
    def means(self) -> Means:
        """What of this machine may be used for the session, by agents that do not work with tools."""
        return self._running.means

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of the session as everybody sees them, without those that it does not have."""
        return self._running.session.state.get("config", {}).get("values", {})

    async def configure(self, values: Mapping[str, str]) -> None:
        """Change settings of the session: the agent has done so by itself, and people should see it."""
        known = self.settings
        news = {name: value for name, value in values.items() if known.get(name, value) != value}
        if news:
            self._running.act({"type": "session/configChanged", "session": self.session, "config": news})

    @property
    def chosen_model(self) -> str | None:
        """The id of the model that the session shows; none if nobody has chosen one."""
        chosen = self._running.session.state["summary"].get("model")
        return chosen["id"] if chosen else None

    async def choose_model(self, model_id: str) -> None:
        """Choose a model for the session: the agent has done so by itself, and people should see it."""
        if model_id != self.chosen_model:
            model = {"id": model_id}
            self._running.act({"type": "session/modelChanged", "session": self.session, "model": model})

    def history(self, after: str | None = None) -> list[Message]:
        """Give what was said before this turn, exactly; with the id of a turn, from its end on."""
        said = self._running.session.messages
        start = 1 + max((place for place, one in enumerate(said) if after and one.turn == after), default=-1)
        return [one.message for one in said[start:] if one.turn != self.id]

    @property
    def past_turns(self) -> list[str]:
        """The ids of the turns before this one, the oldest first."""
        return [turn["id"] for turn in self._running.session.state["turns"]]

    def fail_reported(self, sentence: str) -> None:
        """Let all calls that were reported and have not ended fail: who ran them is gone."""
        self._running.reports.fail_open(sentence)

    @property
    def kept(self) -> JsonObject:
        """What the agent keeps with this session and shows to nobody; a fork does not have it."""
        return private_of(self._running.session).get("kept", {})

    async def keep(self, value: JsonObject) -> None:
        """Keep this in the place of `kept`; it is durable when this returns."""
        self._running.check()
        session = self._running.session
        private = changed(session, kept=copy_json(value) or None)
        if private is not None:
            session.keep(private)
        await session.journal.wait()

    async def steering(self) -> Message | None:
        """Give what the user said while the agent was at work, if there is something new."""
        return self._running.next_steering()

    def stop(self, reason: StopReason) -> NoReturn:
        """End the turn here: the model refuses, or has no room left."""
        raise Stopped(reason)
