"""Commands on chats."""

from typing import NotRequired, TypedDict

from agenthost.wire.ahp.chat import ChatMoveDestination, ChatSource
from agenthost.wire.ahp.commands.params import BaseParams
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.enums import CompletionItemKind
from agenthost.wire.ahp.message import Message, MessageAttachment


class CreateChatParams(BaseParams):
    """`createChat`: its URI, and what it starts with. The channel is the session."""

    chat: URI  # chosen by the client
    initialMessage: NotRequired[Message]
    source: NotRequired[ChatSource]
    workingDirectories: NotRequired[list[URI]]


class DisposeChatParams(BaseParams):
    """`disposeChat`: the channel is the chat."""


class MoveChatParams(BaseParams):
    """`moveChat`: where to. The channel is the chat."""

    destination: ChatMoveDestination


class MoveChatResult(TypedDict):
    """`moveChat`: the session that the chat belongs to now."""

    session: URI


class FetchTurnsParams(BaseParams):
    """`fetchTurns`: which page of older turns. The channel is the chat."""

    cursor: NotRequired[str]  # the chat's `turnsNextCursor`


class FetchTurnsResult(TypedDict):
    """`fetchTurns`: done. The turns came before, with `chat/turnsLoaded`."""


class CompletionsParams(BaseParams):
    """`completions`: the text typed so far. The channel is the chat."""

    kind: CompletionItemKind
    text: str
    offset: int  # UTF-16 code units, 0 ≤ offset ≤ length of text in UTF-16 units


class CompletionItem(TypedDict):
    """Something to insert into the text."""

    insertText: str
    rangeStart: NotRequired[int]  # UTF-16, half-open range; absent = insert at cursor
    rangeEnd: NotRequired[int]  # UTF-16, exclusive
    attachment: MessageAttachment


class CompletionsResult(TypedDict):
    """`completions`: the suggestions."""

    items: list[CompletionItem]
