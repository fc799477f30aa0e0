"""The `_meta` of a session, where we keep values that only the legacy protocol has fields for."""

from typing import Any, Final

MODEL: Final = "agenthost.model"
"""The key of the model for messages that name none."""

DIFFS: Final = "agenthost.diffs"
"""The key of the files that the session has changed."""

PRIVATE: Final = (MODEL, DIFFS)
"""The keys that legacy clients see elsewhere. They are never removed: there is no legacy action for that."""


def public_meta(meta: Any) -> Any:
    """Return what legacy clients see of a `_meta`; `None` if that is nothing."""
    if not meta or not any(key in meta for key in PRIVATE):
        return meta
    return {key: value for key, value in meta.items() if key not in PRIVATE} or None


def private_meta(meta: Any) -> dict[str, Any]:
    """Return the part of a `_meta` that legacy clients see elsewhere."""
    return {key: meta[key] for key in PRIVATE if key in meta} if meta else {}


def project_model(model: Any) -> Any:
    """Return a model as legacy clients see it: its settings are strings."""
    if "config" not in model:
        return model
    settings = {key: _text(value) for key, value in model["config"].items() if value is not None}
    return {**model, "config": settings}


def _text(value: Any) -> str:
    if type(value) is str:
        return value
    return str(value).lower() if type(value) is bool else str(value)
