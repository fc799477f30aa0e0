"""Actions on automations and their runs."""

from typing import Literal, NotRequired, TypedDict

from agenthost.wire.ahp.automation import (
    AutomationDefinition,
    AutomationDefinitionPatch,
    AutomationEntry,
    AutomationRunLifecycle,
)
from agenthost.wire.ahp.common import URI


class AutomationSetAction(TypedDict):
    """An automation is new, or has changed."""

    type: Literal["automation/set"]
    automation: AutomationEntry


class AutomationRemovedAction(TypedDict):
    """An automation is gone."""

    type: Literal["automation/removed"]
    resource: URI


class AutomationCreateRequestedAction(TypedDict):
    """A client wants a new automation."""

    type: Literal["automation/createRequested"]
    resource: URI
    definition: AutomationDefinition


class AutomationUpdateRequestedAction(TypedDict):
    """A client wants an automation to change."""

    type: Literal["automation/updateRequested"]
    resource: URI
    changes: AutomationDefinitionPatch


class AutomationRunLifecycleChangedAction(TypedDict):
    """How far the run is."""

    type: Literal["automationRun/lifecycleChanged"]
    lifecycle: AutomationRunLifecycle


class AutomationRunSessionSetAction(TypedDict):
    """The run has one more session."""

    type: Literal["automationRun/sessionSet"]
    session: URI


class AutomationRunSessionRemovedAction(TypedDict):
    """A session no longer belongs to the run."""

    type: Literal["automationRun/sessionRemoved"]
    session: URI


class AutomationRunPrimarySessionChangedAction(TypedDict):
    """Another session is the one to look at first, or none."""

    type: Literal["automationRun/primarySessionChanged"]
    primarySession: NotRequired[URI]


class AutomationRunCancelRequestedAction(TypedDict):
    """A client wants the run to end."""

    type: Literal["automationRun/cancelRequested"]
