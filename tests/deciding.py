"""Decisions as the tests ask for them, and an example of each action that is allowed.

States of sessions and chats come in pairs here: `session`, `chat` and `in_turn` build a whole conversation.
"""

from copy import deepcopy
from typing import Any, NamedTuple

import chat_building
from agenthost.core.conversation import Conversation
from agenthost.core.decisions import Context, refuse
from agenthost.core.reducers import ResourceKind
from building import option, pending, pending_result, root, root_act, running, text, tool
from chat_building import (
    CHAT,
    act,
    approve,
    complete,
    confirm_result,
    deny,
    done,
    end,
    failed,
    message,
    request,
    said,
    session_act,
    show,
    started,
    terminal,
    terminal_act,
)
from folding import fold

Json = dict[str, Any]
ME = "me"


def reason(state: Any, action: Any, client: str = ME, **context: Any) -> str | None:
    """Ask why an action of mine is refused; `None` if it is not. Nothing that is handed in may change."""
    copies = deepcopy((state, action))
    found = refuse(state, action, client, context=Context(**context))
    assert (state, action) == copies, "the decision changed its input"
    return found


def given(action: Json) -> Any:
    """Take an action of a test as one that was decoded."""
    return action


def reduced(state: Any, *actions: Any) -> Any:
    """Apply actions, each to the part of a conversation that it is about."""
    for action in actions:
        kind: ResourceKind = action["type"].partition("/")[0]
        if kind == "session":
            state = state._replace(session=fold(kind, state.session, action))
        elif kind == "chat":
            state = state._replace(chat=fold(kind, state.chat, action))
        else:
            state = fold(kind, state, action)
    return state


# Conversations.


def conversation(of_session: Json, of_chat: Json) -> Any:
    """Build a session with these fields, and its idle chat with those."""
    state: Any = chat_building.session(**of_session)
    one: Any = chat_building.chat(**of_chat)
    return Conversation(state, one)


def session(**over: Any) -> Any:
    """Build a session with these fields, and an idle chat."""
    return conversation(over, {})


def chat(**over: Any) -> Any:
    """Build a session that is ready, and its idle chat with these fields."""
    return conversation({}, over)


def in_turn(*parts: Json, **over: Any) -> Any:
    """Build a session that is ready, and its chat whose turn `t1` runs with these parts."""
    return conversation({}, chat_building.in_turn(*parts, **over))


# Pieces that only decisions look at.


def brought(client_id: str = ME) -> Json:
    """Build what a call of a client's tool says about it."""
    return {"contributor": {"kind": "client", "clientId": client_id}}


def mine(**over: Any) -> Json:
    """Build a call of a tool of mine that runs."""
    return running(**brought(), **over)


def client(client_id: str = ME, **over: Any) -> Json:
    return {"clientId": client_id, "tools": [], **over}


def plugin(plugin_id: str, **over: Any) -> Json:
    """Build a customization of a session."""
    return {"type": "plugin", "id": plugin_id, "uri": f"file:///{plugin_id}", "name": plugin_id, **over}


def skill(skill_id: str, **over: Any) -> Json:
    """Build a customization inside of another."""
    return {**plugin(skill_id), "type": "skill", **over}


def toggled(customization_id: str, *, enabled: bool = False) -> Json:
    enablement = [{"kind": "session", "enabled": enabled}]
    return session_act("customizationToggled", id=customization_id, enablement=enablement)


def question(kind: str, question_id: str = "q", **over: Any) -> Json:
    return {"kind": kind, "id": question_id, "message": "Well?", **over}


def open_request(request_id: str = "r", **over: Any) -> Json:
    """Build the part of a turn that asks for input."""
    return {"kind": "inputRequest", "request": request(request_id, **over)}


def asking(*questions: Json, **over: Any) -> Any:
    """Build a conversation that waits for answers to these questions of the request `r`."""
    return in_turn(open_request("r", questions=list(questions), **over), status=24)


def answer(kind: str, value: Any, state: str = "submitted", **over: Any) -> Json:
    return {"state": state, "value": {"kind": kind, "value": value, **over}}


def answered(new: Json | None = None, question_id: str = "q", request_id: str = "r") -> Json:
    fields = {} if new is None else {"answer": new}
    return act("inputAnswerChanged", requestId=request_id, questionId=question_id, **fields)


def settled(response: str = "accept", **over: Any) -> Json:
    return act("inputCompleted", **{"requestId": "r", "response": response, **over})


def setting(kind: str = "string", **over: Any) -> Json:
    return {"type": kind, "title": "A setting", **over}


def configured(settings: Json, values: Json | None = None, **schema: Any) -> Json:
    """Build the settings of a session or a host."""
    return {"schema": {"type": "object", "properties": settings, **schema}, "values": values or {}}


def in_use(**over: Any) -> Json:
    """Build a terminal that a tool call is using."""
    return terminal(claim={**DETACHED, "turnId": "t1", "toolCallId": "c1", **over})


SESSION = "demo:/one"
DETACHED = {"kind": "session", "session": SESSION, "chat": CHAT}
TAKEN = {"kind": "client", "clientId": ME}
QUEUE = {"queuedMessages": [message("m1"), message("m2")]}
MODE = {"mode": setting(sessionMutable=True)}
OPTIONS = [option("y"), option("n", "deny")]
TURNS = [done("t1"), done("t2")]


class Example(NamedTuple):
    """A state and an action that may be applied to it."""

    state: Any
    action: Json

    @property
    def kind(self) -> str:
        """The kind of state that is decided on."""
        scope: str = self.action["type"].partition("/")[0]
        return "conversation" if scope in ("session", "chat") else scope


ALLOWED = [
    Example(session(), started()),
    Example(chat(turns=[done("t1")], **QUEUE), started(queuedMessageId="m2")),
    Example(chat(steeringMessage=message("m1")), started(queuedMessageId="m1")),
    Example(session(), started(message=said("Hi", model={"id": "gpt"}, agent={"uri": "file:///a"}))),
    Example(in_turn(), end("turnCancelled")),
    Example(chat(turns=[done("t1"), failed("t2")]), act("turnResume", turnId="t2")),
    Example(chat(turns=TURNS), act("truncated", turnId="t1")),
    Example(in_turn(turns=[done("t0")]), act("truncated", turnId="t0")),
    Example(chat(turns=[done("t1")]), act("truncated")),
    Example(in_turn(pending()), approve()),
    Example(in_turn(pending(editable=True, toolInput="{}")), approve(editedToolInput="")),
    Example(in_turn(pending(options=OPTIONS)), approve(selectedOptionId="y")),
    Example(in_turn(pending(options=OPTIONS)), deny(selectedOptionId="n")),
    Example(in_turn(pending()), deny(reason="skipped", editedToolInput="ignored")),
    Example(in_turn(pending()), deny(userSuggestion=said("Ask first"))),
    Example(in_turn(mine()), complete()),
    Example(in_turn(mine()), complete(requiresResultConfirmation=True)),
    Example(in_turn(mine()), show(text("half"))),
    Example(in_turn(pending_result()), confirm_result(approved=True)),
    Example(in_turn(pending_result()), confirm_result(approved=False)),
    Example(asking(question("text")), answered(answer("text", "x", "draft"))),
    Example(asking(question("text"), answers={"q": answer("text", "x")}), answered()),
    Example(asking(question("text", required=True), answers={"q": answer("text", "x")}), settled()),
    Example(asking(question("text", required=True)), settled("cancel")),
    Example(session(), act("pendingMessageSet", kind="queued", **message("m1"))),
    Example(session(), act("pendingMessageSet", kind="steering", **message("m1"))),
    Example(chat(**QUEUE), act("pendingMessageRemoved", kind="queued", id="m1")),
    Example(chat(steeringMessage=message("m1")), act("pendingMessageRemoved", kind="steering", id="m1")),
    Example(chat(**QUEUE), act("queuedMessagesReordered", order=["m2", "m1"])),
    Example(session(), act("draftChanged", draft=said("Perha"))),
    Example(chat(draft=said("Perha")), act("draftChanged")),
    Example(session(), act("isReadChanged", isRead=True)),
    Example(session(workingDirectories=["file:///a"]), act("workingDirectorySet", directory="file:///a")),
    Example(chat(workingDirectories=["file:///a"]), act("workingDirectoryRemoved", directory="file:///a")),
    Example(session(), act("isArchivedChanged", isArchived=True)),
    Example(session(), session_act("titleChanged", title="New")),
    Example(session(), session_act("isReadChanged", isRead=True)),
    Example(session(), session_act("isArchivedChanged", isArchived=True)),
    Example(session(), session_act("activeClientSet", activeClient=client())),
    Example(
        session(activeClients=[client("you"), client()]),
        session_act("activeClientSet", activeClient=client(tools=[tool("a")])),
    ),
    Example(
        session(activeClients=[client("you"), client()]), session_act("activeClientRemoved", clientId=ME)
    ),
    Example(session(customizations=[plugin("p1")]), toggled("p1")),
    Example(session(customizations=[plugin("p1", children=[skill("s1")])]), toggled("s1")),
    Example(session(config=configured(MODE)), session_act("configChanged", config={"mode": "fast"})),
    Example(root(config=configured(MODE)), root_act("configChanged", config={"mode": "fast"})),
    Example(terminal(), terminal_act("input", data="ls\r")),
    Example(terminal(), terminal_act("resized", cols=80, rows=24)),
    Example(terminal(), terminal_act("claimed", claim=DETACHED)),
    Example(in_use(), terminal_act("claimed", claim=DETACHED)),
    Example(terminal(claim=DETACHED), terminal_act("claimed", claim=TAKEN)),
    Example(terminal(), terminal_act("titleChanged", title="New")),
    Example(terminal({"type": "unclassified", "value": "x"}), terminal_act("cleared")),
]
"""What a client called `me` may do, and where."""
