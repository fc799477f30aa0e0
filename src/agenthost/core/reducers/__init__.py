"""The reducers: how each action changes the state of a resource. Client and host run the same ones.

They are pure: a state that was handed in is never changed, time is an argument, and an action that no
longer applies, or that we do not know, gives the state back as it was. Rule ids in this package (`S3`,
`H9`, …) are those of docs/reducers.md.
"""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from agenthost.core.reducers.live import Live
from agenthost.core.reducers.root import reduce_root
from agenthost.core.reducers.session import reduce_session
from agenthost.core.reducers.terminal import reduce_terminal

__all__ = ["REDUCERS", "Live", "Reducer", "ResourceKind", "reduce_root", "reduce_session", "reduce_terminal"]

ResourceKind: TypeAlias = Literal["root", "session", "terminal"]

Reducer: TypeAlias = Callable[[Live[Any], Any, float], Live[Any]]

REDUCERS: dict[ResourceKind, Reducer] = {
    "root": reduce_root,
    "session": reduce_session,
    "terminal": reduce_terminal,
}
"""The reducer of each kind of resource. Which kind a URI names is not in the URI: whoever routes knows it."""
