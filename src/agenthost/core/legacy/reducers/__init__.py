"""The reducers: how each action changes the state of a resource. Client and host run the same ones.

They are pure: the state handed in is never changed (G2), time is an argument (G3), and an action that no
longer applies, or that we do not know, returns the state as it was (G4). Rule ids in this package (`S3`,
`H9`, …) are those of docs/reducers.md.
"""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from agenthost.core.legacy.reducers.root import reduce_root
from agenthost.core.legacy.reducers.session import reduce_session
from agenthost.core.legacy.reducers.terminal import reduce_terminal
from agenthost.core.reducers.live import Live

__all__ = ["REDUCERS", "Live", "Reducer", "ResourceKind", "reduce_root", "reduce_session", "reduce_terminal"]

ResourceKind: TypeAlias = Literal["root", "session", "terminal"]

Reducer: TypeAlias = Callable[[Live[Any], Any, float], Live[Any]]

REDUCERS: dict[ResourceKind, Reducer] = {
    "root": reduce_root,
    "session": reduce_session,
    "terminal": reduce_terminal,
}
"""The reducer of each kind of resource. A URI does not tell its kind: the caller has to know it (G5)."""
