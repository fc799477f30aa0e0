"""Whether open input requests may be answered, and pending messages and drafts set or removed."""

from typing import Any

from agenthost.core.conversation import Conversation
from agenthost.core.decisions.answers import check_answer
from agenthost.core.decisions.refusal import (
    Dispatch,
    Refused,
    check_model,
    check_origin,
    check_size,
    check_tokens,
    message_name,
)
from agenthost.wire.ahp.actions.chat import (
    ChatDraftChangedAction,
    ChatPendingMessageRemovedAction,
    ChatPendingMessageSetAction,
)
from agenthost.wire.ahp.actions.input import ChatInputAnswerChangedAction, ChatInputCompletedAction
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.input import ChatInputAnswer, ChatInputRequest
from agenthost.wire.error_messages import quote


def input_answer_changed(
    conversation: Conversation, action: ChatInputAnswerChangedAction, _by: Dispatch
) -> None:
    """Refuse an answer that no open question asks for, or that does not fit. Removing one is always fine."""
    # HR-A07: the question has to be open, and the answer has to fit it.
    question = _question(_request(conversation.chat, action["requestId"]), action["questionId"])
    if "answer" in action:
        check_answer(question, action["answer"])


def input_completed(conversation: Conversation, action: ChatInputCompletedAction, _by: Dispatch) -> None:
    """Refuse to accept if answers are missing or do not fit; declining and cancelling need none."""
    request = _request(conversation.chat, action["requestId"])
    if action["response"] != "accept":
        return
    for question_id, answer in action.get("answers", {}).items():
        check_answer(_question(request, question_id), answer)
    answers: Any = final_answers(conversation.chat, action)
    for question in request.get("questions", []):
        answer = answers.get(question.get("id"))
        if answer is not None and answer.get("state") == "submitted":
            # C14: a repeated request keeps its answers, and its questions may have changed since.
            check_answer(question, answer)
        elif question.get("required"):  # HR-A08
            raise Refused(f"question {quote(question.get('id'))} needs a submitted answer")


def final_answers(chat: ChatState, action: ChatInputCompletedAction) -> dict[str, ChatInputAnswer]:
    """Return the answers with which a request ends: the stored ones, overridden by those of the action.

    Drafts and skipped questions are included as such. Call this before the action is reduced, as that closes
    the request (C16). Without an open request, only the action's own answers are returned.
    """
    request: Any = _find_request(chat, action["requestId"]) or {}
    return {**request.get("answers", {}), **action.get("answers", {})}


def pending_message_set(
    _conversation: Conversation, action: ChatPendingMessageSetAction, by: Dispatch
) -> None:
    """Refuse a message without an id, and one that was taken or removed before."""
    # G6: the reducers test `queuedMessageId` for truth, so "" would mean no message.
    if not action["id"]:
        raise Refused("the id of a message may not be empty")
    check_tokens(by)  # HR-P01: sooner or later a turn starts with it
    # HR-C09: a message that is sent again after a lost connection must not run twice.
    if message_name(action["kind"], action["id"]) in by.context.taken:
        raise Refused(f"the {action['kind']} message {quote(action['id'])} was taken or removed before")
    check_origin(action["message"], "$.message")
    check_model(action["message"].get("model"), by)
    check_size(action["message"], by)


def pending_message_removed(
    conversation: Conversation, action: ChatPendingMessageRemovedAction, _by: Dispatch
) -> None:
    """Refuse to remove a message that is not pending."""
    # HR-A09: only what is pending can be removed.
    if action["kind"] == "steering":
        steering = conversation.chat.get("steeringMessage")
        waiting = [] if steering is None else [steering]
    else:
        waiting = conversation.chat.get("queuedMessages", [])
    if action["id"] not in [message.get("id") for message in waiting]:
        raise Refused(f"no {action['kind']} message {quote(action['id'])} is pending")


def draft_changed(_conversation: Conversation, action: ChatDraftChangedAction, by: Dispatch) -> None:
    """Refuse a draft that could never be sent. Its model may still change, so that is not checked."""
    if "draft" in action:
        check_origin(action["draft"], "$.draft")
        check_size(action["draft"], by)


def _request(chat: ChatState, request_id: str) -> ChatInputRequest:
    request = _find_request(chat, request_id)
    if request is None:
        raise Refused(f"no input request {quote(request_id)} is open")
    return request


def _find_request(chat: ChatState, request_id: str) -> ChatInputRequest | None:
    """Return the open request that the reducer would take: the first with the id (C15, C16)."""
    turn: Any = chat.get("activeTurn", {})
    for part in turn.get("responseParts", []):
        if part.get("kind") == "inputRequest" and part.get("response") is None:
            request: Any = part.get("request", {})
            if request.get("id") == request_id:
                return request  # type: ignore[no-any-return] # one, by its kind
    return None


def _question(request: ChatInputRequest, question_id: str) -> Any:
    for question in request.get("questions", []):
        if question.get("id") == question_id:
            return question
    raise Refused(f"input request {quote(request.get('id'))} has no question {quote(question_id)}")
