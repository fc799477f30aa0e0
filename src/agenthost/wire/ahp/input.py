"""Input requests: what an agent asks the user, and the answers."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.common import URI
from agenthost.wire.annotations import Tag


class ChatInputQuestionBase(TypedDict):
    """The fields of every kind of question."""

    id: str
    title: NotRequired[str]
    message: str
    required: NotRequired[bool]


class ChatInputOption(TypedDict):
    """A choice of a select question."""

    id: str
    label: str
    description: NotRequired[str]
    recommended: NotRequired[bool]


class ChatInputTextQuestion(ChatInputQuestionBase):
    """Asks for text."""

    kind: Literal["text"]
    format: NotRequired[str]  # hint: email, uri, date, date-time, …
    min: NotRequired[float]  # minimum length
    max: NotRequired[float]  # maximum length
    defaultValue: NotRequired[str]


class ChatInputNumberQuestion(ChatInputQuestionBase):
    """Asks for a number."""

    kind: Literal["number", "integer"]
    min: NotRequired[float]
    max: NotRequired[float]
    defaultValue: NotRequired[float]


class ChatInputBooleanQuestion(ChatInputQuestionBase):
    """Asks for yes or no."""

    kind: Literal["boolean"]
    defaultValue: NotRequired[bool]


class ChatInputSingleSelectQuestion(ChatInputQuestionBase):
    """Asks for one of several options."""

    kind: Literal["single-select"]
    options: list[ChatInputOption]
    allowFreeformInput: NotRequired[bool]


class ChatInputMultiSelectQuestion(ChatInputQuestionBase):
    """Asks for some of several options."""

    kind: Literal["multi-select"]
    options: list[ChatInputOption]
    allowFreeformInput: NotRequired[bool]
    min: NotRequired[float]  # minimum number selected
    max: NotRequired[float]  # maximum number selected


ChatInputQuestion: TypeAlias = Annotated[
    ChatInputTextQuestion
    | ChatInputNumberQuestion
    | ChatInputBooleanQuestion
    | ChatInputSingleSelectQuestion
    | ChatInputMultiSelectQuestion,
    Tag("kind"),
]
"""A question of any kind."""


class ChatInputTextAnswerValue(TypedDict):
    """The answer to a text question."""

    kind: Literal["text"]
    value: str


class ChatInputNumberAnswerValue(TypedDict):
    """The answer to a number or integer question."""

    kind: Literal["number"]
    value: float


class ChatInputBooleanAnswerValue(TypedDict):
    """The answer to a boolean question."""

    kind: Literal["boolean"]
    value: bool


class ChatInputSelectedAnswerValue(TypedDict):
    """The answer to a single-select question."""

    kind: Literal["selected"]
    value: str
    freeformValues: NotRequired[list[str]]


class ChatInputSelectedManyAnswerValue(TypedDict):
    """The answer to a multi-select question."""

    kind: Literal["selected-many"]
    value: list[str]
    freeformValues: NotRequired[list[str]]


ChatInputAnswerValue: TypeAlias = Annotated[
    ChatInputTextAnswerValue
    | ChatInputNumberAnswerValue
    | ChatInputBooleanAnswerValue
    | ChatInputSelectedAnswerValue
    | ChatInputSelectedManyAnswerValue,
    Tag("kind"),
]
"""The value of an answer."""


class ChatInputAnswered(TypedDict):
    """An answer that has a value."""

    state: Literal["draft", "submitted"]
    value: ChatInputAnswerValue


class ChatInputSkipped(TypedDict):
    """A question that the user skipped."""

    state: Literal["skipped"]
    freeformValues: NotRequired[list[str]]


ChatInputAnswer: TypeAlias = Annotated[ChatInputAnswered | ChatInputSkipped, Tag("state", is_open=False)]
"""An answer, drafted, submitted or skipped."""


class ChatInputRequest(TypedDict):
    """Questions that the agent has for the user, and the answers so far."""

    id: str
    message: NotRequired[str]
    url: NotRequired[URI]
    questions: NotRequired[list[ChatInputQuestion]]
    answers: NotRequired[dict[str, ChatInputAnswer]]
