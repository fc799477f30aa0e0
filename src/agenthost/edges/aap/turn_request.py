"""Translates a request for a turn into actions of the application, which the host decides all at once."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from agenthost.core import actions
from agenthost.core.history_import import sent_message
from agenthost.core.queries import find_active_client
from agenthost.core.session_meta import model_changed, model_of
from agenthost.core.turn_transcript import message_text
from agenthost.edges.aap.agents import SECRET_MASK
from agenthost.edges.aap.checks import check_brought_tools
from agenthost.edges.aap.projection import is_for_application, open_calls, waits_for_application
from agenthost.edges.aap.sessions import active_client, sort_options
from agenthost.errors import InvalidValue, SessionNotReady, TurnInProgress
from agenthost.host.authoring.agent import Agent
from agenthost.host.client import HostClient
from agenthost.host.forwarding import Choices
from agenthost.host.sessions.action_source import ClientAction
from agenthost.host.sessions.session_options import option_values
from agenthost.host.state.private import with_values
from agenthost.host.state.session import Session, TranscriptEntry
from agenthost.wire.aap.v3 import AgentOverrides, ApplicationMessage, PostSessionTurnRequest, ToolSpec
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.error_messages import quote

__all__ = ["TurnRequest"]


class TurnRequest:
    """One request for a turn: translated, then passed to the host.

    Attributes:
        app_id: the client id of the application.
        is_new_turn: whether it starts a turn, and does not continue one.
    """

    __slots__ = (
        "_agent",
        "_client",
        "_messages",
        "_overrides",
        "_session",
        "_tools",
        "app_id",
        "is_new_turn",
    )

    def __init__(
        self, client: HostClient, agent: Agent, session: Session, body: PostSessionTurnRequest
    ) -> None:
        self._client = client
        self._agent = agent
        self._session = session
        self._overrides: AgentOverrides = body.get("agent", {})
        self._tools: Sequence[ToolSpec] | None = body.get("tools")
        self._messages: Sequence[ApplicationMessage] = body["messages"]
        self.app_id = client.identity.client_id
        self.is_new_turn = self._messages[0]["role"] == "user"

    def submit(self) -> None:
        """Apply everything in one commit.

        Raises:
            HostError: it is refused, and nothing has changed (X1).
        """
        wanted, choices = self.prepare()
        self._client.act(self._session, wanted, **choices)

    def prepare(self) -> tuple[list[ClientAction], Choices]:
        """Return the actions, and what is chosen with them. Raises as `submit` does."""
        state = self._session.state
        if state["lifecycle"] != "ready":
            raise SessionNotReady(state["lifecycle"])
        has_turn = self._session.has_turn
        if not self._overrides and self._tools is None and self.is_new_turn and not has_turn:
            return [self._start()], {}  # the fast path of most turns
        wanted: list[ClientAction] = []
        secrets: Mapping[str, str] = {}
        if options := self._overrides.get("options"):
            secrets = self._change_options(options, state, wanted)
        if self._tools is not None:
            check_brought_tools(self._tools)
            self._bring_tools(self._tools, wanted)
        wanted += self._turn_actions(self._session.chat)
        named = self._overrides.get("tools")
        return wanted, {
            "tools": None if named is None else {one["name"]: one.get("trust", False) for one in named},
            "secrets": secrets,
            "client_tools": None if self._tools is None else active_client(self.app_id, self._tools)["tools"],
        }

    def _turn_actions(self, state: ChatState) -> list[ClientAction]:
        turn = state.get("activeTurn")
        is_waiting = waits_for_application(state, self.app_id)
        if not self.is_new_turn:
            # X12, P9: answers count only once the turn has stopped for them.
            if turn is not None and not is_waiting:
                raise TurnInProgress(turn["id"])
            self._check_answers(state)
            return [self._answer(str(turn and turn["id"]), message) for message in self._messages]
        if turn is not None and is_waiting:
            # P8: open calls are skipped, and the model is told.
            cancelled = actions.turn_cancelled(turn["id"], self._client.elapsed(self._session))
            return [ClientAction(cancelled), self._start()]
        return [self._start()]

    def _start(self) -> ClientAction:
        # Unique only within its session, and no secret: the system's random source would cost too much.
        turn_id = f"{random.getrandbits(64):016x}"
        message: Any = self._messages[0]
        content = message["content"]
        shown: Any = sent_message(content)
        started = actions.turn_started(turn_id, shown, self._client.now(self._session))
        return ClientAction(started, [TranscriptEntry(turn_id, message)])

    def _answer(self, turn_id: str, message: Any) -> ClientAction:
        call_id = message["toolCallId"]
        if message["role"] == "tool":
            result: Any = {
                "success": True,
                "pastTenseMessage": "Done by the application",
                "content": [{"type": "text", "text": message_text(message["content"])}],
            }
            # The transcript gets the message as it was sent (T10), not what the state has of it.
            done = actions.tool_call_complete(turn_id, call_id, result)
            return ClientAction(done, [TranscriptEntry(turn_id, message)])
        if message["granted"]:
            return ClientAction(actions.tool_call_approved(turn_id, call_id))
        reason = message.get("reason") or None
        return ClientAction(actions.tool_call_denied(turn_id, call_id, message=reason))

    def _check_answers(self, state: ChatState) -> None:
        """Check that each call that waits for the application is answered once and in the right way (X7)."""
        calls = {call["toolCallId"]: call for call in open_calls(state)}
        waiting = {key: call for key, call in calls.items() if is_for_application(call, self.app_id)}
        answered: set[str] = set()
        for place, message in enumerate(self._messages):
            at = f"$.messages[{place}].toolCallId"
            call_id: str = message["toolCallId"]  # type: ignore[typeddict-item] # not a user message
            if call_id not in waiting or call_id in answered:
                raise InvalidValue(at, "the id of a call that waits for an answer", quote(call_id))
            is_clients = waiting[call_id]["status"] == "running"
            if is_clients != (message["role"] == "tool"):
                wanted = "a result, as the tool is the application's" if is_clients else "a permission"
                rest = wanted if is_clients else f"{wanted}, as the tool is the server's"
                raise InvalidValue(f"$.messages[{place}].role", rest, quote(message["role"]))
            answered.add(call_id)
        if missing := sorted(waiting.keys() - answered):
            raise InvalidValue("$.messages", "an answer to every open call", f"none for {', '.join(missing)}")

    def _change_options(
        self, values: Mapping[str, str], state: SessionState, wanted: list[ClientAction]
    ) -> Mapping[str, str]:
        """Add the actions that change options (O1). Return the secrets. An equal value is no change."""
        current = option_values(self._agent, state)
        self._check_fixed(values, current)
        sorted_values = sort_options(self._agent, values)
        news: Any = {
            name: value for name, value in sorted_values.config.items() if value != current.get(name)
        }
        if news:
            wanted.append(ClientAction(actions.config_changed(news)))
        chosen = model_of(state)
        if sorted_values.model not in (None, chosen and chosen["id"]):
            wanted.append(ClientAction(model_changed(state, {"id": str(sorted_values.model)})))
        return sorted_values.secrets

    def _check_fixed(self, values: Mapping[str, str], current: Mapping[str, str]) -> None:
        """Refuse to change an option that is fixed at the start, secrets included (O7)."""
        sealed = self._session.private.get("secrets", {})
        for option in self._agent.options:
            value = values.get(option.name)
            # O3: an unset secret is shown as the mask of its default, or as empty.
            is_unset = option.kind == "secret" and not sealed.get(option.name)
            same = (None, current.get(option.name, SECRET_MASK), "" if is_unset else None)
            if not option.mutable and value not in same:
                at = f"$.agent.options.{option.name}"
                found = "another one" if option.kind == "secret" else quote(value or "")
                raise InvalidValue(at, "no change, as it is fixed at the start", found)

    def _bring_tools(self, tools: Sequence[ToolSpec], wanted: list[ClientAction]) -> None:
        session = self._session
        brought: Any = list(tools) or None
        private = {"app": self.app_id, "app_tools": brought}
        is_same = with_values(session.private, **private) is None
        has_client = find_active_client(session.state, self.app_id) is not None
        # O4: tools that are there already need no action.
        if (is_same and has_client) or (not tools and not has_client):
            return
        changed = (
            actions.active_client_set(active_client(self.app_id, tools))
            if tools
            else actions.active_client_removed(self.app_id)
        )
        wanted.append(ClientAction(changed, private=private))
