"""Commands on sessions."""

from typing import NotRequired

from agenthost.wire.ahp.commands.params import BaseParams, PaginatedParams, PaginatedResult, RootParams
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.session import SessionActiveClient, SessionSummary
from agenthost.wire.json import JsonObject


class CreateSessionParams(BaseParams):
    """`createSession`: its agent and settings. The channel is its new URI, which the client chooses."""

    provider: NotRequired[str]
    workingDirectories: NotRequired[list[URI]]
    config: NotRequired[JsonObject]  # values collected through `resolveSessionConfig`
    activeClient: NotRequired[SessionActiveClient]  # its `clientId` must equal the caller's
    progressToken: NotRequired[str]  # for `root/progress`


class DisposeSessionParams(BaseParams):
    """`disposeSession`: the channel is the session."""


class ListSessionsParams(RootParams, PaginatedParams):
    """`listSessions`: which page. AHP names no filter; docs/ahp.md says what we support."""


class ListSessionsResult(PaginatedResult):
    """`listSessions`: that page, the last modified first."""

    items: list[SessionSummary]
