"""Random actions on a session, for the state that they meet."""

from typing import Any

from agenthost.core.legacy.meta import DIFFS, MODEL
from drawn_values import (
    CHAT,
    Draw,
    Json,
    errors,
    few,
    file_edits,
    flags,
    metas,
    models,
    one_of,
    pick,
    some,
    texts,
    times,
    tools,
)


def session_action(draw: Draw, session: Any) -> Json:
    return pick(draw, client_action, customization_action, meta_action, state_action, session_noise)(
        draw, session
    )


def client_action(draw: Draw, session: Any) -> Json:
    active = [client["clientId"] for client in session["activeClients"]]
    client_id = pick(draw, "me", "you", "them", *active, *active)
    if pick(draw, *range(3)) == 0:
        return {"type": "session/activeClientRemoved", "clientId": client_id}
    brought = few(plugins)
    client = {
        "clientId": client_id,
        "tools": draw(tools),
        **some(draw, displayName=texts, customizations=brought),
    }
    return {"type": "session/activeClientSet", "activeClient": client}


def plugins(draw: Draw) -> Json:
    name = pick(draw, "k1", "k2", "k3")
    loads = (
        {"kind": "loading"},
        {"kind": "loaded"},
        {"kind": "error", "message": "no"},
        {"kind": "degraded", "message": ""},
    )
    extra = some(
        draw, icons=[], nonce="1", clientId="me", load=pick(draw, *loads), enablement=enablements, children=[]
    )
    described = some(draw, _meta={"agenthost.description": "What it does"})
    return {
        "type": "plugin",
        "id": name,
        "uri": pick(draw, f"p:/{name}", "p:/same"),
        "name": name,
        **extra,
        **described,
    }


enablements = few(one_of({"kind": "session", "enabled": False}, {"kind": "global", "enabled": True}))
CHILD = {"type": "skill", "id": "child", "uri": "s:/1", "name": "child"}
SERVER: Json = {"type": "mcpServer", "id": "s", "uri": "m:/1", "name": "s", "state": {"kind": "ready"}}
FOLDER: Json = {
    "type": "directory",
    "id": "d",
    "uri": "f:/d",
    "name": "d",
    "enabled": True,
    "contents": "skill",
}


def customizations(draw: Draw) -> Json:
    other: Json = pick(draw, SERVER, {**FOLDER, "writable": False, "children": [CHILD]})
    return pick(draw, draw(plugins), draw(plugins), other)


def customization_action(draw: Draw, session: Any) -> Json:
    entry_id = pick(draw, "child", *[one["id"] for one in session.get("customizations", [])])
    changes: tuple[Json, ...] = (
        {
            "type": "session/customizationsChanged",
            "customizations": draw(few(customizations, 3)),
        },
        {"type": "session/customizationToggled", "id": entry_id, "enablement": draw(enablements)},
        {"type": "session/customizationUpdated", "customization": draw(customizations)},
        {"type": "session/customizationRemoved", "id": entry_id},
        {"type": "session/mcpServerStateChanged", "id": entry_id, "state": {"kind": "stopped"}},
    )
    return pick(draw, *changes)


def meta_action(draw: Draw, session: Any) -> Json:
    """Draw a change of `_meta`. What legacy clients see elsewhere is never removed."""
    kept = {key: value for key, value in (session.get("_meta") or {}).items() if key in (MODEL, DIFFS)}
    meta = {
        **(draw(metas) if draw(flags) else {}),
        **kept,
        **some(draw, **{MODEL: models, DIFFS: file_edits}),
    }
    return {"type": "session/metaChanged", **({"_meta": meta} if meta else {})}


def state_action(draw: Draw, session: Any) -> Json:
    values = some(draw, a=draw(texts), b=[1])
    changes: tuple[Json, ...] = (
        {"type": "session/titleChanged", "title": draw(texts)},
        {"type": "session/isReadChanged", "isRead": draw(flags)},
        {"type": "session/isReadChanged", "isRead": True},
        {"type": "session/isArchivedChanged", "isArchived": draw(flags)},
        {"type": "session/activityChanged", **some(draw, activity=texts)},
        {"type": "session/configChanged", "config": values, **some(draw, replace=flags)},
        {"type": "session/serverToolsChanged", "tools": draw(tools)},
        {"type": "session/creationFailed", "error": draw(errors)["error"]},
    )
    return pick(draw, *changes)


def session_noise(draw: Draw, session: Any) -> Json:
    summary = {"resource": CHAT, "title": "", "status": 8, "modifiedAt": draw(times)}
    waiting = {"id": "n", "chat": CHAT, "kind": "chatInput", "request": {"id": "r1"}}
    changes: tuple[Json, ...] = (
        {"type": "session/chatAdded", "summary": {**summary, "resource": "ahp-chat:/other"}},
        {"type": "session/chatUpdated", "chat": CHAT, "changes": {"status": pick(draw, 1, 8, 24)}},
        {"type": "session/chatRemoved", "chat": "ahp-chat:/other"},
        {"type": "session/inputNeededSet", "request": waiting},
        {"type": "session/inputNeededRemoved", "id": "n"},
        {"type": "session/workingDirectorySet", "directory": "f:/second"},
        {"type": "session/changesetsChanged", "changesets": []},
        {"type": "session/notYetInvented"},
    )
    return pick(draw, *changes)
