"""The metadata of a session: its model, and the files that it has changed.

AHP has no field for the model of a session: each message names its own. Ours is for
messages that name none. Clients that do not know these keys ignore them.
"""

from typing import Any, cast

from agenthost.core import actions
from agenthost.wire.ahp.actions.session import SessionMetaChangedAction
from agenthost.wire.ahp.common import Meta
from agenthost.wire.ahp.root import ModelSelection
from agenthost.wire.ahp.session import SessionState
from agenthost.wire.ahp.tool import FileEdit

__all__ = [
    "DIFFS",
    "MODEL",
    "SESSION",
    "STAND_IN",
    "diffs_changed",
    "diffs_of",
    "is_stand_in",
    "model_changed",
    "model_of",
    "subagent_session",
]

MODEL = "agenthost.model"
DIFFS = "agenthost.diffs"

SESSION = "agenthost.session"
"""In a block about a subagent: its session, which clients of an older protocol see instead of its chat."""

STAND_IN = "agenthost.standIn"
"""In the metadata of a model: it stands for an agent without a choice of models."""


def is_stand_in(model: Any) -> bool:
    """Return whether a model only stands for its agent, which lets nobody choose."""
    return STAND_IN in (model.get("_meta") or {})


def subagent_session(block: Any) -> str:
    """Return the session of a subagent, given the block of a call that shows its chat."""
    session: str = (block.get("_meta") or {}).get(SESSION, block["resource"])
    return session


def model_of(state: SessionState) -> ModelSelection | None:
    """Return the model of a session, if one was chosen."""
    return cast("ModelSelection | None", state.get("_meta", {}).get(MODEL))


def model_changed(state: SessionState, model: ModelSelection) -> SessionMetaChangedAction:
    """Return the action that gives a session another model."""
    return _changed(state, MODEL, model)


def diffs_of(state: SessionState) -> list[FileEdit]:
    """Return the files that a session has changed so far."""
    return cast("list[FileEdit]", state.get("_meta", {}).get(DIFFS, []))


def diffs_changed(state: SessionState, diffs: list[FileEdit]) -> SessionMetaChangedAction:
    """Return the action that records which files a session has changed so far."""
    return _changed(state, DIFFS, diffs)


def _changed(state: SessionState, key: str, value: Any) -> SessionMetaChangedAction:
    meta: Meta = {**state.get("_meta", {}), key: value}
    return actions.meta_changed(meta)
