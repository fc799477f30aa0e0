"""Actions of a chat apart from its turns: activity, questions, and messages that wait."""

from collections.abc import Mapping

from agenthost.wire.ahp.actions.chat import (
    ChatActivityChangedAction,
    ChatChangesetsChangedAction,
    ChatDraftChangedAction,
    ChatIsArchivedChangedAction,
    ChatIsReadChangedAction,
    ChatPendingMessageRemovedAction,
    ChatPendingMessageSetAction,
    ChatQueuedMessagesReorderedAction,
)
from agenthost.wire.ahp.actions.input import (
    ChatInputAnswerChangedAction,
    ChatInputCompletedAction,
    ChatInputRequestedAction,
)
from agenthost.wire.ahp.changeset import Changeset
from agenthost.wire.ahp.enums import ChatInputResponseKind, PendingMessageKind
from agenthost.wire.ahp.input import ChatInputAnswer, ChatInputRequest
from agenthost.wire.ahp.message import Message

__all__ = [
    "activity_changed",
    "chat_changesets_changed",
    "chat_is_archived_changed",
    "chat_is_read_changed",
    "draft_changed",
    "input_answer_changed",
    "input_completed",
    "input_requested",
    "pending_message_removed",
    "pending_message_set",
    "queued_messages_reordered",
]


def chat_changesets_changed(changesets: list[Changeset]) -> ChatChangesetsChangedAction:
    """The chat offers these changesets now."""
    return {"type": "chat/changesetsChanged", "changesets": changesets}


def chat_is_read_changed(*, is_read: bool) -> ChatIsReadChangedAction:
    """The chat was read, or is unread again."""
    return {"type": "chat/isReadChanged", "isRead": is_read}


def chat_is_archived_changed(*, is_archived: bool) -> ChatIsArchivedChangedAction:
    """The chat was archived, or brought back."""
    return {"type": "chat/isArchivedChanged", "isArchived": is_archived}


def activity_changed(activity: str | None) -> ChatActivityChangedAction:
    """The agent says what it is doing; `None` if nothing in particular."""
    action: ChatActivityChangedAction = {"type": "chat/activityChanged"}
    if activity:
        action["activity"] = activity
    return action


def input_requested(request: ChatInputRequest) -> ChatInputRequestedAction:
    """The agent asks the user something."""
    return {"type": "chat/inputRequested", "request": request}


def input_answer_changed(
    request_id: str, question_id: str, answer: ChatInputAnswer | None
) -> ChatInputAnswerChangedAction:
    """An answer was drafted or given; `None` takes it back."""
    action: ChatInputAnswerChangedAction = {
        "type": "chat/inputAnswerChanged",
        "requestId": request_id,
        "questionId": question_id,
    }
    if answer is not None:
        action["answer"] = answer
    return action


def input_completed(
    request_id: str,
    response: ChatInputResponseKind,
    answers: Mapping[str, ChatInputAnswer] | None = None,
) -> ChatInputCompletedAction:
    """The questions of a request are answered, declined or cancelled."""
    action: ChatInputCompletedAction = {
        "type": "chat/inputCompleted",
        "requestId": request_id,
        "response": response,
    }
    if answers is not None:
        action["answers"] = dict(answers)
    return action


def pending_message_set(
    kind: PendingMessageKind, message_id: str, message: Message
) -> ChatPendingMessageSetAction:
    """A message waits, or its text changed."""
    return {
        "type": "chat/pendingMessageSet",
        "kind": kind,
        "id": message_id,
        "message": message,
    }


def pending_message_removed(kind: PendingMessageKind, message_id: str) -> ChatPendingMessageRemovedAction:
    """A message waits no longer."""
    return {"type": "chat/pendingMessageRemoved", "kind": kind, "id": message_id}


def queued_messages_reordered(order: list[str]) -> ChatQueuedMessagesReorderedAction:
    """The queue has a new order."""
    return {"type": "chat/queuedMessagesReordered", "order": order}


def draft_changed(draft: Message | None) -> ChatDraftChangedAction:
    """The draft of a message has changed; `None` removes it."""
    action: ChatDraftChangedAction = {"type": "chat/draftChanged"}
    if draft is not None:
        action["draft"] = draft
    return action
