"""Commands on automations."""

from typing import NotRequired, TypedDict

from agenthost.wire.ahp.automation import AutomationTriggerDefinition
from agenthost.wire.ahp.commands.params import BaseParams
from agenthost.wire.ahp.common import URI
from agenthost.wire.json import JsonObject


class ListAutomationTriggerDefinitionsParams(BaseParams):
    """`listAutomationTriggerDefinitions`: for which kind of session."""

    provider: NotRequired[str]
    workingDirectories: NotRequired[list[URI]]
    sessionConfig: NotRequired[JsonObject]


class ListAutomationTriggerDefinitionsResult(TypedDict):
    """`listAutomationTriggerDefinitions`: the kinds of event trigger."""

    items: list[AutomationTriggerDefinition]


class RunAutomationParams(BaseParams):
    """`runAutomation`: which one."""

    automation: URI
    requestId: str


class RunAutomationResult(TypedDict):
    """`runAutomation`: the channel of the run."""

    resource: URI


class FetchAutomationRunsParams(BaseParams):
    """`fetchAutomationRuns`: which page of an automation's older runs."""

    automation: URI
    cursor: NotRequired[str]  # the automation's `runsNextCursor`


class FetchAutomationRunsResult(TypedDict):
    """`fetchAutomationRuns`: done. The runs come with actions."""
