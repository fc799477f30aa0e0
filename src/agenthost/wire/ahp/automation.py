"""Automations: sessions that start by themselves, and their runs."""

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from agenthost.wire.ahp.common import URI, ErrorInfo, Meta, Timestamp, UsageInfo
from agenthost.wire.ahp.config import ConfigSchema
from agenthost.wire.ahp.customization import ClientPluginCustomization, PluginCustomization
from agenthost.wire.ahp.enums import AutomationMisfirePolicy, AutomationOperation
from agenthost.wire.ahp.message import Message
from agenthost.wire.ahp.root import AgentSelection, ModelSelection
from agenthost.wire.annotations import Tag
from agenthost.wire.json import JsonObject


class AutomationSchedule(TypedDict):
    """When an automation runs."""

    expression: str
    timeZone: str


class AutomationScheduleTrigger(TypedDict):
    """Runs an automation at certain times."""

    id: str
    kind: Literal["schedule"]
    schedule: AutomationSchedule
    misfirePolicy: NotRequired[AutomationMisfirePolicy]


class AutomationTriggerEventDefinition(TypedDict):
    """An event that a trigger can wait for."""

    id: str
    title: str
    description: NotRequired[str]


class AutomationEventTrigger(TypedDict):
    """Runs an automation at certain events."""

    id: str
    kind: Literal["event"]
    type: str
    title: str
    description: NotRequired[str]
    events: list[AutomationTriggerEventDefinition]
    config: NotRequired[JsonObject]


AutomationTrigger: TypeAlias = Annotated[
    AutomationScheduleTrigger | AutomationEventTrigger, Tag("kind", is_open=False)
]
"""What makes an automation run."""


class AutomationTriggerDefinition(TypedDict):
    """A kind of event trigger that the host offers."""

    type: str
    title: str
    description: NotRequired[str]
    events: list[AutomationTriggerEventDefinition]
    configSchema: NotRequired[ConfigSchema]


class AutomationAfterRunsCondition(TypedDict):
    """Disables an automation after so many runs."""

    kind: Literal["afterRuns"]
    max: int


class AutomationAfterDateCondition(TypedDict):
    """Disables an automation from a moment on."""

    kind: Literal["afterDate"]
    date: Timestamp


AutomationDisableCondition: TypeAlias = Annotated[
    AutomationAfterRunsCondition | AutomationAfterDateCondition, Tag("kind")
]
"""When an automation disables itself."""


class AutomationSessionTemplate(TypedDict):
    """How the sessions of an automation are created."""

    provider: NotRequired[str]
    model: NotRequired[ModelSelection]
    agent: NotRequired[AgentSelection]
    workingDirectories: NotRequired[list[URI]]
    config: NotRequired[JsonObject]
    customizations: NotRequired[list[ClientPluginCustomization]]


class AutomationDefinition(TypedDict):
    """What an automation does, and when."""

    title: str
    message: Message
    session: AutomationSessionTemplate
    enabled: bool
    triggers: list[AutomationTrigger]
    disableConditions: NotRequired[list[AutomationDisableCondition]]
    _meta: NotRequired[Meta]


class AutomationDefinitionPatch(TypedDict):
    """The fields of an `AutomationDefinition` that shall change."""

    title: NotRequired[str]
    message: NotRequired[Message]
    session: NotRequired[AutomationSessionTemplate]
    enabled: NotRequired[bool]
    triggers: NotRequired[list[AutomationTrigger]]
    disableConditions: NotRequired[list[AutomationDisableCondition]]
    _meta: NotRequired[Meta]


class AutomationManualRunOrigin(TypedDict):
    """A person started the run."""

    kind: Literal["manual"]


class AutomationTriggeredRunOrigin(TypedDict):
    """A trigger started the run."""

    kind: Literal["trigger"]
    triggerId: str
    scheduledFor: NotRequired[Timestamp]
    catchUp: NotRequired[bool]  # true: it was missed at its time
    event: NotRequired[JsonObject]


AutomationRunOrigin: TypeAlias = Annotated[
    AutomationManualRunOrigin | AutomationTriggeredRunOrigin, Tag("kind")
]
"""What started a run."""


class AutomationPendingRunLifecycle(TypedDict):
    """The run waits."""

    status: Literal["pending"]
    createdAt: Timestamp


class AutomationRunningRunLifecycle(TypedDict):
    """The run is under way."""

    status: Literal["running"]
    createdAt: Timestamp
    startedAt: Timestamp


class AutomationCompletedRunLifecycle(TypedDict):
    """The run is complete."""

    status: Literal["completed"]
    createdAt: Timestamp
    startedAt: Timestamp
    completedAt: Timestamp
    usage: NotRequired[UsageInfo]


class AutomationFailedRunLifecycle(TypedDict):
    """The run failed, perhaps before it started."""

    status: Literal["failed"]
    createdAt: Timestamp
    startedAt: NotRequired[Timestamp]
    completedAt: Timestamp
    error: ErrorInfo


class AutomationCancelledRunLifecycle(TypedDict):
    """The run was cancelled, perhaps before it started."""

    status: Literal["cancelled"]
    createdAt: Timestamp
    startedAt: NotRequired[Timestamp]
    completedAt: Timestamp


AutomationRunLifecycle: TypeAlias = Annotated[
    AutomationPendingRunLifecycle
    | AutomationRunningRunLifecycle
    | AutomationCompletedRunLifecycle
    | AutomationFailedRunLifecycle
    | AutomationCancelledRunLifecycle,
    Tag("status"),
]
"""How far a run is."""


class AutomationRunSummary(TypedDict):
    """A run as its automation lists it."""

    resource: URI
    automation: URI
    origin: AutomationRunOrigin
    lifecycle: AutomationRunLifecycle
    primarySession: NotRequired[URI]
    sessionCount: int
    _meta: NotRequired[Meta]


class AutomationRunState(TypedDict):
    """The full state of a run, as its subscribers see it."""

    resource: URI
    automation: URI
    origin: AutomationRunOrigin
    lifecycle: AutomationRunLifecycle
    sessions: list[URI]
    primarySession: NotRequired[URI]
    _meta: NotRequired[Meta]


class AutomationEntry(TypedDict):
    """An automation and its latest runs."""

    resource: URI
    definition: AutomationDefinition
    nextRunAt: NotRequired[Timestamp]
    runs: list[AutomationRunSummary]
    runsNextCursor: NotRequired[str]  # for `fetchAutomationRuns`
    runCount: NotRequired[int]
    operations: list[AutomationOperation]
    customizations: NotRequired[list[PluginCustomization]]
    createdAt: Timestamp
    modifiedAt: Timestamp
    _meta: NotRequired[Meta]


class AutomationState(TypedDict):
    """All automations, as the subscribers of their channel see them."""

    entries: list[AutomationEntry]
    _meta: NotRequired[Meta]


class ScheduleCapability(TypedDict):
    """How often a schedule may fire."""

    minIntervalMinutes: NotRequired[float]


class AutomationCapabilities(TypedDict):
    """The host's support for automations."""

    create: NotRequired[JsonObject]  # present: clients may create them
    schedules: NotRequired[ScheduleCapability]  # present: they may run at certain times
    runCancellation: NotRequired[JsonObject]  # present: clients may cancel runs
    runHistoryLimit: NotRequired[int]  # how many runs are kept
    customizations: NotRequired[JsonObject]  # present: their sessions may have plugins
