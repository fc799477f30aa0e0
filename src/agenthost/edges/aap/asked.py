"""What an application asks for in a turn: first checked as a whole, then let happen as a whole."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from agenthost.core.decisions.grants import Rights
from agenthost.core.recording import plain_text
from agenthost.core.seeding import sent_message
from agenthost.edges.aap.agents import SECRET_MASK
from agenthost.edges.aap.checks import check_tools
from agenthost.edges.aap.problems import Problem
from agenthost.edges.aap.projection import is_for_application, open_calls, waits_for_application
from agenthost.edges.aap.sessions import active_client, app_id_of, seal_secrets, settle_options
from agenthost.errors import InvalidValue, TurnInProgress
from agenthost.host.agent import Agent
from agenthost.host.host import Host
from agenthost.host.session import Said, Session
from agenthost.host.setup import changed, enabled_tools, option_values, private_of
from agenthost.host.tokens import NOBODY
from agenthost.wire.aap.v3 import AgentOverrides, ApplicationMessage, PostSessionTurnRequest, ToolSpec
from agenthost.wire.json import JsonObject
from agenthost.wire.mismatch import quote

__all__ = ["Asked"]


class Asked:
    """One request for a turn: first checked, then applied."""

    def __init__(
        self, host: Host, agent: Agent, session: Session, body: PostSessionTurnRequest, rights: Rights
    ) -> None:
        self.host = host
        self.rights = rights
        self.agent = agent
        self.session = session
        self.overrides: AgentOverrides = body.get("agent", {})
        self.tools: Sequence[ToolSpec] | None = body.get("tools")
        self.messages: Sequence[ApplicationMessage] = body["messages"]
        self.app_id = app_id_of(session.row.name)
        self.is_new_turn = self.messages[0]["role"] == "user"
        """Whether it begins a turn, rather than go on with one."""

    def check(self) -> None:
        """Refuse what cannot happen now.

        Raises:
            HostError, Problem: with what is wrong, and where.
        """
        state = self.session.state
        if state["lifecycle"] != "ready":
            raise Problem(409, "session_not_ready", f"the session is {state['lifecycle']!r}")
        self._check_tools()
        self._check_fixed()
        turn = state.get("activeTurn")
        if turn is not None and not waits_for_application(state, self.app_id):
            raise TurnInProgress(turn["id"])
        if self.is_new_turn:
            self.host.tokens.check(NOBODY, self.agent)
        else:
            self._check_answers()

    def _check_tools(self) -> None:
        if self.tools is None and "tools" not in self.overrides:
            return  # they are what they were, and that was checked
        if "tools" in self.overrides:
            enabled = [tool["name"] for tool in self.overrides["tools"]]
        else:
            enabled = list(enabled_tools(self.agent.toolset, self.session))
        brought: Any = self.tools if self.tools is not None else private_of(self.session).get("app_tools", [])
        check_tools(self.agent, brought, enabled)
        active = self.session.state.get("activeClient")
        if self.tools is not None and active is not None and active["clientId"] != self.app_id:
            sentence = "another client brings the tools of this session at the moment"
            raise Problem(409, "client_active", sentence, "$.tools")

    def _check_fixed(self) -> None:
        """Refuse to change an option that stays what it was at the start, or that is not for whoever asks.

        Sending a value again is no change.
        """
        if "options" not in self.overrides:
            return
        values = option_values(self.agent, self.session.state)
        sealed = private_of(self.session).get("secrets", {})
        for option in self.agent.options:
            value = self.overrides["options"].get(option.name)
            if value is not None and value != values.get(option.name, value):
                self.rights.check_grant(option.grant, f"setting {quote(option.name)}")
            # A secret that is not set is shown as the mask of its default, or as nothing.
            is_unset = option.kind == "secret" and not sealed.get(option.name)
            same = (None, values.get(option.name, SECRET_MASK), "" if is_unset else None)
            if not option.mutable and value not in same:
                at = f"$.agent.options.{option.name}"
                found = "another one" if option.kind == "secret" else quote(value or "")
                raise InvalidValue(at, "no change, as it stays what it was at the start", found)

    def _check_answers(self) -> None:
        """Every open call that waits for the application is answered, once, in the way that it asks for."""
        calls = {call["toolCallId"]: call for call in open_calls(self.session.state)}
        waiting = {key: call for key, call in calls.items() if is_for_application(call, self.app_id)}
        answered: set[str] = set()
        for place, message in enumerate(self.messages):
            at = f"$.messages[{place}].toolCallId"
            call_id: str = message["toolCallId"]  # type: ignore[typeddict-item] # not a user's
            if call_id not in waiting or call_id in answered:
                raise InvalidValue(at, "the id of a call that waits for an answer", quote(call_id))
            is_clients = waiting[call_id]["status"] == "running"
            if is_clients != (message["role"] == "tool"):
                wanted = "a result, as the tool is the application's" if is_clients else "a permission"
                rest = wanted if is_clients else f"{wanted}, as the tool is the server's"
                raise InvalidValue(f"$.messages[{place}].role", rest, quote(message["role"]))
            if message["role"] != "tool" and message["granted"]:  # type: ignore[typeddict-item]
                what = f"approving {quote(waiting[call_id]['toolName'])}"
                self.rights.check_grant(self.agent.grant_of(waiting[call_id]), what)
            answered.add(call_id)
        if missing := sorted(waiting.keys() - answered):
            raise InvalidValue("$.messages", "an answer to every open call", f"none for {', '.join(missing)}")

    def apply(self) -> None:
        """Let it happen, all in one commit."""
        self._apply_overrides()
        if self.is_new_turn:
            self._start_turn()
        else:
            for message in self.messages:
                self._answer(message)

    def _apply_overrides(self) -> None:
        if "tools" in self.overrides:
            trust = {tool["name"]: tool.get("trust", False) for tool in self.overrides["tools"]}
            self.host.switch_tools(self.session, trust)
        if self.overrides.get("options"):
            self._apply_options(self.overrides["options"])
        if self.tools is not None:
            self._bring_tools(self.tools)

    def _apply_options(self, values: Mapping[str, str]) -> None:
        settled = settle_options(self.agent, values)
        if settled.config:
            self._act("configChanged", config=settled.config)
        if settled.model not in (None, self._model()):
            self.host.dispatcher.request(
                self.session, self._action("modelChanged", model={"id": settled.model})
            )
        if settled.secrets:
            kept = private_of(self.session).get("secrets", {})
            sealed = seal_secrets(self.host, kept, settled.secrets)
            self.session.keep({**self.session.private, "secrets": sealed})

    def _model(self) -> str | None:
        model = self.session.state["summary"].get("model")
        return model["id"] if model is not None else None

    def _bring_tools(self, tools: Sequence[ToolSpec]) -> None:
        private = changed(self.session, app=self.app_id, app_tools=list(tools) or None)
        if private is None and "activeClient" in self.session.state:
            return
        client = active_client(self.app_id, tools) if tools else None
        self._act("activeClientChanged", activeClient=client, private=private)

    def _start_turn(self) -> None:
        turn = self.session.state.get("activeTurn")
        if turn is not None:
            # What was still open is skipped, and the model told so.
            self._act("turnCancelled", turnId=turn["id"])
        # Of its own session alone, and no secret: asking the system for it would cost more than the rest.
        turn_id = f"{random.getrandbits(64):016x}"
        message: Any = self.messages[0]
        shown = sent_message(message["content"])
        self.host.tokens.begin(self.session, NOBODY)
        self._act("turnStarted", turnId=turn_id, userMessage=shown, messages=[Said(turn_id, message)])

    def _answer(self, message: Any) -> None:
        turn_id = self.session.state["activeTurn"]["id"]
        base: dict[str, Any] = {"turnId": turn_id, "toolCallId": message["toolCallId"]}
        if message["role"] == "tool":
            result = {
                "success": True,
                "pastTenseMessage": "Done by the application",
                "content": [{"type": "text", "text": plain_text(message["content"])}],
            }
            self._act("toolCallComplete", **base, result=result, messages=[Said(turn_id, message)])
        elif message["granted"]:
            self._act("toolCallConfirmed", **base, approved=True, confirmed="user-action")
        else:
            reason = {"reasonMessage": message["reason"]} if message.get("reason") else {}
            self._act("toolCallConfirmed", **base, approved=False, reason="denied", **reason)

    def _action(self, kind: str, **fields: Any) -> JsonObject:
        return {"type": f"session/{kind}", "session": self.session.row.uri, **fields}

    def _act(
        self, kind: str, *, messages: Sequence[Said] = (), private: JsonObject | None = None, **fields: Any
    ) -> None:
        self.host.dispatcher.act(
            self.session, self._action(kind, **fields), messages=messages, private=private
        )
