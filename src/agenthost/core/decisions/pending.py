"""Whether what waits in a session may be answered, settled or taken away: input requests and messages."""

from typing import Any

from agenthost.core.decisions.answers import check_answer
from agenthost.core.decisions.refusal import Dispatch, Refused, check_size, check_tokens, message_name
from agenthost.wire.ahp.actions.input import (
    SessionInputAnswerChangedAction,
    SessionInputCompletedAction,
    SessionPendingMessageRemovedAction,
    SessionPendingMessageSetAction,
)
from agenthost.wire.ahp.input import SessionInputAnswer, SessionInputRequest
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.mismatch import quote


def input_answer_changed(state: SessionState, action: SessionInputAnswerChangedAction, _by: Dispatch) -> None:
    """Refuse an answer to no open question, or one that does not fit; taking it back fits always."""
    question = _question(_request(state, action["requestId"]), action["questionId"])
    if "answer" in action:
        check_answer(question, action["answer"])


def input_completed(state: SessionState, action: SessionInputCompletedAction, _by: Dispatch) -> None:
    """Refuse to accept with answers missing or unfit; declining and cancelling need none."""
    request = _request(state, action["requestId"])
    if action["response"] != "accept":
        return
    for question_id, answer in action.get("answers", {}).items():
        check_answer(_question(request, question_id), answer)
    answers: Any = final_answers(state, action)
    for question in request.get("questions", []):
        answer = answers.get(question.get("id"))
        if answer is not None and answer.get("state") == "submitted":
            # Those stored are looked at again: the question may have changed since.
            check_answer(question, answer)
        elif question.get("required"):
            raise Refused(f"question {quote(question.get('id'))} needs an answer that is submitted")


def final_answers(state: SessionState, action: SessionInputCompletedAction) -> dict[str, SessionInputAnswer]:
    """Give the answers with which a request ends: those stored, and over them those of the action.

    Drafts and skipped questions are among them, as such. To be asked before the action is reduced: the
    request goes then, and its answers with it. Without such a request there are only the action's own.
    """
    requests = state.get("inputRequests", [])
    request: Any = next((one for one in requests if one.get("id") == action["requestId"]), {})
    return {**request.get("answers", {}), **action.get("answers", {})}


def pending_message_set(_state: SessionState, action: SessionPendingMessageSetAction, by: Dispatch) -> None:
    """Refuse a message that has had its time, and one without an id: the reducers read "" as none."""
    if not action["id"]:
        raise Refused("the id of a message may not be empty")
    check_tokens(by)  # a turn begins with it, now or later
    if message_name(action["kind"], action["id"]) in by.context.taken:
        raise Refused(f"the {action['kind']} message {quote(action['id'])} was taken or removed before")
    check_size(action["userMessage"], by)


def pending_message_removed(
    state: SessionState, action: SessionPendingMessageRemovedAction, _by: Dispatch
) -> None:
    """Refuse to take away what does not wait."""
    if action["kind"] == "steering":
        steering = state.get("steeringMessage")
        waiting = [] if steering is None else [steering]
    else:
        waiting = state.get("queuedMessages", [])
    if action["id"] not in [message.get("id") for message in waiting]:
        raise Refused(f"no {action['kind']} message {quote(action['id'])} is pending")


def _request(state: SessionState, request_id: str) -> SessionInputRequest:
    for request in state.get("inputRequests", []):
        if request.get("id") == request_id:
            return request
    raise Refused(f"no input request {quote(request_id)} is open")


def _question(request: SessionInputRequest, question_id: str) -> Any:
    for question in request.get("questions", []):
        if question.get("id") == question_id:
            return question
    raise Refused(f"input request {quote(request.get('id'))} has no question {quote(question_id)}")
