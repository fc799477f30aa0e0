"""Decisions as the tests ask for them, and an example of each action that is allowed."""

from copy import deepcopy
from typing import Any, NamedTuple

from agenthost.core.decisions import Context, refuse
from agenthost.core.reducers import ResourceKind
from building import (
    act,
    approve,
    complete,
    confirm_result,
    deny,
    done,
    in_turn,
    message,
    option,
    pending,
    pending_result,
    plugin,
    request,
    root,
    root_act,
    running,
    session,
    show,
    started,
    term_act,
    terminal,
    text,
    tool,
    turn_act,
)

Json = dict[str, Any]
ME = "me"


def reason(state: Json, action: Any, client: str = ME, **context: Any) -> str | None:
    """Ask why an action of mine is refused; `None` if it is not. Nothing that is handed in may change."""
    copies = deepcopy((state, action))
    found = refuse(state, action, client, context=Context(**context))  # type: ignore[arg-type] # plain JSON
    assert (state, action) == copies, "the decision changed its input"
    return found


# Pieces that only decisions look at.


def mine(**over: Any) -> Json:
    """Build a call of a tool of mine that runs."""
    return running(toolClientId=ME, **over)


def client(client_id: str = ME, **over: Any) -> Json:
    return {"clientId": client_id, "tools": [], **over}


def question(kind: str, question_id: str = "q", **over: Any) -> Json:
    return {"kind": kind, "id": question_id, "message": "Well?", **over}


def asking(*questions: Json, **over: Any) -> Json:
    """Build a session that waits for answers to these questions of the request `r`."""
    return in_turn(status=24, inputRequests=[request("r", questions=list(questions), **over)])


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
    return terminal(
        claim={"kind": "session", "session": "demo:/one", "turnId": "t1", "toolCallId": "c1", **over}
    )


DETACHED = {"kind": "session", "session": "demo:/one"}
TAKEN = {"kind": "client", "clientId": ME}
QUEUE = {"queuedMessages": [message("m1"), message("m2")]}
MODE = {"mode": setting(sessionMutable=True)}


class Example(NamedTuple):
    """A state and an action that may be applied to it."""

    state: Json
    action: Json

    @property
    def kind(self) -> ResourceKind:
        """The kind of resource."""
        scope: ResourceKind = self.action["type"].partition("/")[0]
        return scope


ALLOWED = [
    Example(session(), started()),
    Example(session(turns=[done("t1")], **QUEUE), started(queuedMessageId="m2")),
    Example(session(steeringMessage=message("m1")), started(queuedMessageId="m1")),
    Example(in_turn(), turn_act("turnCancelled")),
    Example(session(turns=[done("t1"), done("t2")]), act("truncated", turnId="t1")),
    Example(in_turn(turns=[done("t0")]), act("truncated", turnId="t0")),
    Example(session(turns=[done("t1")]), act("truncated")),
    Example(in_turn(pending()), approve()),
    Example(in_turn(pending(editable=True)), approve(editedToolInput="")),
    Example(in_turn(pending(options=[option("y"), option("n", "deny")])), approve(selectedOptionId="y")),
    Example(in_turn(pending(options=[option("y"), option("n", "deny")])), deny(selectedOptionId="n")),
    Example(in_turn(pending()), deny(reason="skipped", editedToolInput="ignored")),
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
    Example(session(**QUEUE), act("pendingMessageRemoved", kind="queued", id="m1")),
    Example(session(steeringMessage=message("m1")), act("pendingMessageRemoved", kind="steering", id="m1")),
    Example(session(**QUEUE), act("queuedMessagesReordered", order=["m2", "m1"])),
    Example(session(), act("titleChanged", title="New")),
    Example(session(), act("isReadChanged", isRead=True)),
    Example(session(), act("isArchivedChanged", isArchived=True)),
    Example(session(), act("modelChanged", model={"id": "gpt"})),
    Example(session(), act("activeClientChanged", activeClient=client())),
    Example(
        session(activeClient=client()), act("activeClientChanged", activeClient=client(tools=[tool("a")]))
    ),
    Example(session(activeClient=client()), act("activeClientChanged", activeClient=None)),
    Example(session(activeClient=client()), act("activeClientToolsChanged", tools=[tool("a")])),
    Example(session(customizations=[plugin("p:/1")]), act("customizationToggled", uri="p:/1", enabled=False)),
    Example(session(config=configured(MODE)), act("configChanged", config={"mode": "fast"})),
    Example(root(config=configured(MODE)), root_act("configChanged", config={"mode": "fast"})),
    Example(terminal(), term_act("input", data="ls\r")),
    Example(terminal(), term_act("resized", cols=80, rows=24)),
    Example(terminal(), term_act("claimed", claim=DETACHED)),
    Example(in_use(), term_act("claimed", claim=DETACHED)),
    Example(terminal(claim=DETACHED), term_act("claimed", claim=TAKEN)),
    Example(terminal(), term_act("titleChanged", title="New")),
    Example(terminal({"type": "unclassified", "value": "x"}), term_act("cleared")),
]
"""What a client called `me` may do, and where."""
