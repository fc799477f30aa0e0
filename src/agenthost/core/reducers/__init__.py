"""The reducers: how each action changes the state of a resource. Client and host run the same ones.

They are pure: the state handed in is never changed, times come with the actions, and an action that does not
apply (G2) or that we do not know (G3) returns the state as it was. Rule ids in this package (`C3`, `H8`, …)
are those of docs/reducers.md.
"""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from agenthost.core.reducers.annotations import reduce_annotations
from agenthost.core.reducers.automation import reduce_automation
from agenthost.core.reducers.automation_run import reduce_automation_run
from agenthost.core.reducers.canvas import reduce_canvas
from agenthost.core.reducers.changeset import reduce_changeset
from agenthost.core.reducers.chat import reduce_chat
from agenthost.core.reducers.live import Live
from agenthost.core.reducers.resource_watch import reduce_resource_watch
from agenthost.core.reducers.root import reduce_root
from agenthost.core.reducers.session import next_session_state, reduce_session
from agenthost.core.reducers.terminal import reduce_terminal

__all__ = [
    "REDUCERS",
    "Live",
    "Reducer",
    "ResourceKind",
    "next_session_state",
    "reduce_annotations",
    "reduce_automation",
    "reduce_automation_run",
    "reduce_canvas",
    "reduce_changeset",
    "reduce_chat",
    "reduce_resource_watch",
    "reduce_root",
    "reduce_session",
    "reduce_terminal",
]

ResourceKind: TypeAlias = Literal[
    "root",
    "session",
    "chat",
    "terminal",
    "changeset",
    "resourceWatch",
    "annotations",
    "automation",
    "automationRun",
    "canvas",
]

Reducer: TypeAlias = Callable[[Live[Any], Any], Live[Any]]

REDUCERS: dict[ResourceKind, Reducer] = {
    "root": reduce_root,
    "session": reduce_session,
    "chat": reduce_chat,
    "terminal": reduce_terminal,
    "changeset": reduce_changeset,
    "resourceWatch": reduce_resource_watch,
    "annotations": reduce_annotations,
    "automation": reduce_automation,
    "automationRun": reduce_automation_run,
    "canvas": reduce_canvas,
}
"""The reducer of each kind of resource. A URI does not tell its kind: the caller has to know it (G4)."""
