"""Input requests: what an agent asks the user, and the answers."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.legacy.common import URI
from agenthost.wire.annotations import Tag


class SessionInputQuestionBase(TypedDict):
    """The fields of every kind of question."""

    id: str
    title: NotRequired[str]
    message: str
    required: NotRequired[bool]


class SessionInputOption(TypedDict):
    """A choice of a select question."""

    id: str
    label: str
    description: NotRequired[str]
    recommended: NotRequired[bool]


class SessionInputTextQuestion(SessionInputQuestionBase):
    """Asks for text."""

    kind: Literal["text"]
    format: NotRequired[str]  # hint: email, uri, date, date-time, …
    min: NotRequired[float]  # minimum length
    max: NotRequired[float]  # maximum length
    defaultValue: NotRequired[str]


class SessionInputNumberQuestion(SessionInputQuestionBase):
    """Asks for a number."""

    kind: Literal["number", "integer"]
    min: NotRequired[float]  # float allowed
    max: NotRequired[float]  # float allowed
    defaultValue: NotRequired[float]  # float allowed


class SessionInputBooleanQuestion(SessionInputQuestionBase):
    """Asks for yes or no."""

    kind: Literal["boolean"]
    defaultValue: NotRequired[bool]


class SessionInputSingleSelectQuestion(SessionInputQuestionBase):
    """Asks for one of several options."""

    kind: Literal["single-select"]
    options: list[SessionInputOption]
    allowFreeformInput: NotRequired[bool]


class SessionInputMultiSelectQuestion(SessionInputQuestionBase):
    """Asks for some of several options."""

    kind: Literal["multi-select"]
    options: list[SessionInputOption]
    allowFreeformInput: NotRequired[bool]
    min: NotRequired[float]  # minimum number selected
    max: NotRequired[float]  # maximum number selected


SessionInputQuestion: TypeAlias = Annotated[
    SessionInputTextQuestion
    | SessionInputNumberQuestion
    | SessionInputBooleanQuestion
    | SessionInputSingleSelectQuestion
    | SessionInputMultiSelectQuestion,
    Tag("kind"),
]
"""A question of any kind."""


class SessionInputTextAnswerValue(TypedDict):
    """The answer to a text question."""

    kind: Literal["text"]
    value: str


class SessionInputNumberAnswerValue(TypedDict):
    """The answer to a number or integer question."""

    kind: Literal["number"]
    value: float  # float allowed; also used for `integer` questions


class SessionInputBooleanAnswerValue(TypedDict):
    """The answer to a boolean question."""

    kind: Literal["boolean"]
    value: bool


class SessionInputSelectedAnswerValue(TypedDict):
    """The answer to a single-select question."""

    kind: Literal["selected"]
    value: str
    freeformValues: NotRequired[list[str]]


class SessionInputSelectedManyAnswerValue(TypedDict):
    """The answer to a multi-select question."""

    kind: Literal["selected-many"]
    value: list[str]
    freeformValues: NotRequired[list[str]]


SessionInputAnswerValue: TypeAlias = Annotated[
    SessionInputTextAnswerValue
    | SessionInputNumberAnswerValue
    | SessionInputBooleanAnswerValue
    | SessionInputSelectedAnswerValue
    | SessionInputSelectedManyAnswerValue,
    Tag("kind"),
]
"""The value of an answer."""


class SessionInputAnswered(TypedDict):
    """An answer that has a value."""

    state: Literal["draft", "submitted"]
    value: SessionInputAnswerValue


class SessionInputSkipped(TypedDict):
    """A question that the user skipped."""

    state: Literal["skipped"]
    freeformValues: NotRequired[list[str]]


SessionInputAnswer: TypeAlias = Annotated[SessionInputAnswered | SessionInputSkipped, Tag("state")]
"""An answer, drafted, submitted or skipped."""


class SessionInputRequest(TypedDict):
    """Questions that the agent has for the user, and the answers so far."""

    id: str
    message: NotRequired[str]
    url: NotRequired[URI]
    questions: NotRequired[list[SessionInputQuestion]]
    answers: NotRequired[dict[str, SessionInputAnswer]]
