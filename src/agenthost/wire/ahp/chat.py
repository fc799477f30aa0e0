"""Chats: their state, their summary, where they come from, and their background work."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.canvas import CanvasReference
from agenthost.wire.ahp.changeset import Changeset, ChangesSummary
from agenthost.wire.ahp.common import URI, Meta, Timestamp
from agenthost.wire.ahp.enums import ChatInteractivity
from agenthost.wire.ahp.message import Message, PendingMessage
from agenthost.wire.ahp.turn import ActiveTurn, Turn
from agenthost.wire.annotations import Tag


class SideChatSelection(TypedDict):
    """The text that a side chat is about."""

    text: str
    responsePartId: NotRequired[str]


class ForkChatSource(TypedDict):
    """Another chat up to a turn, which the new one continues."""

    kind: Literal["fork"]
    chat: URI
    turnId: str


class SideChatSource(TypedDict):
    """Another chat up to a turn, which the new one is about."""

    kind: Literal["sideChat"]
    chat: URI
    turnId: str
    selection: NotRequired[SideChatSelection]


ChatSource: TypeAlias = Annotated[ForkChatSource | SideChatSource, Tag("kind")]
"""What a new chat starts from."""


class UserChatOrigin(TypedDict):
    """The user began the chat."""

    kind: Literal["user"]


class ToolChatOrigin(TypedDict):
    """A tool call of another chat began the chat, such as one of a subagent."""

    kind: Literal["tool"]
    chat: URI
    toolCallId: str


ChatOrigin: TypeAlias = Annotated[
    UserChatOrigin | ForkChatSource | SideChatSource | ToolChatOrigin, Tag("kind")
]
"""Where a chat comes from."""


class SessionMoveDestination(TypedDict):
    """A chat moves to another session."""

    kind: Literal["session"]
    session: URI
    after: NotRequired[URI]  # the chat that it shall follow


class NewSessionMoveDestination(TypedDict):
    """A chat moves to its own session."""

    kind: Literal["newSession"]


ChatMoveDestination: TypeAlias = Annotated[SessionMoveDestination | NewSessionMoveDestination, Tag("kind")]
"""Where a chat moves to."""


class BackgroundShellWork(TypedDict):
    """A command that runs in the background of a chat."""

    kind: Literal["shell"]
    id: str
    label: str
    startedAt: Timestamp
    command: str
    terminal: NotRequired[URI]
    _meta: NotRequired[Meta]


class BackgroundSubagentWork(TypedDict):
    """A subagent that runs in the background of a chat."""

    kind: Literal["subagent"]
    id: str
    label: str
    startedAt: Timestamp
    chat: URI
    _meta: NotRequired[Meta]


BackgroundWork: TypeAlias = Annotated[BackgroundShellWork | BackgroundSubagentWork, Tag("kind")]
"""Background work of a chat."""


class ChatSummary(TypedDict):
    """A chat as its session lists it."""

    resource: URI
    title: str
    status: int  # see `SessionStatus`
    activity: NotRequired[str]
    modifiedAt: Timestamp
    origin: NotRequired[ChatOrigin]
    interactivity: NotRequired[ChatInteractivity]
    workingDirectories: NotRequired[list[URI]]
    changes: NotRequired[ChangesSummary]
    movable: NotRequired[bool]


class PartialChatSummary(TypedDict):
    """The fields of a `ChatSummary` that changed."""

    resource: NotRequired[URI]  # ignored
    title: NotRequired[str]
    status: NotRequired[int]
    activity: NotRequired[str]
    modifiedAt: NotRequired[Timestamp]
    origin: NotRequired[ChatOrigin]
    interactivity: NotRequired[ChatInteractivity]
    workingDirectories: NotRequired[list[URI]]
    changes: NotRequired[ChangesSummary]
    movable: NotRequired[bool]


class ChatState(ChatSummary):
    """The full state of a chat, as its subscribers see it."""

    turns: list[Turn]
    turnsNextCursor: NotRequired[str]  # for `fetchTurns`; present: older turns exist
    activeTurn: NotRequired[ActiveTurn]
    steeringMessage: NotRequired[PendingMessage]  # single slot
    queuedMessages: NotRequired[list[PendingMessage]]  # FIFO; absent when empty
    draft: NotRequired[Message]
    changesets: NotRequired[list[Changeset]]
    backgroundWork: NotRequired[list[BackgroundWork]]
    canvases: NotRequired[list[CanvasReference]]
    _meta: NotRequired[Meta]
