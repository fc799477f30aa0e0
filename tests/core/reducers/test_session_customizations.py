"""The session reducer: plugins, directories and MCP servers, and what they contain."""

from typing import Any

import pytest

from chat_building import session, session_act
from folding import changes_nothing, fold_session
from rules import rule

Json = dict[str, Any]
STARTING = {"kind": "starting"}
READY = {"kind": "ready"}
OFF = [{"kind": "session", "enabled": False}, {"kind": "global", "enabled": True}]


def entry(entry_id: str, kind: str, **over: Any) -> Json:
    return {"id": entry_id, "uri": f"f:/{entry_id}", "name": entry_id, "type": kind, **over}


def server(entry_id: str, **over: Any) -> Json:
    return entry(entry_id, "mcpServer", **{"state": STARTING, **over})


def plugin(entry_id: str, *children: Json, **over: Any) -> Json:
    return entry(entry_id, "plugin", children=list(children), **over)


def folder(entry_id: str, *children: Json, **over: Any) -> Json:
    fixed = {"contents": "skill", "writable": False, "enabled": True}
    return entry(entry_id, "directory", **{**fixed, "children": list(children), **over})


def skill(entry_id: str, **over: Any) -> Json:
    return entry(entry_id, "skill", **over)


def having(*entries: Json) -> Json:
    return session(customizations=list(entries))


def toggle(entry_id: str, *enablement: Json) -> Json:
    return session_act("customizationToggled", id=entry_id, enablement=list(enablement))


@rule("1.0/S22")
@pytest.mark.parametrize("make", [plugin, server])
def test_a_plugin_and_a_server_keep_all_decisions(make: Any) -> None:
    state = fold_session(having(make("a"), make("b")), toggle("b", *OFF))
    assert state == having(make("a"), make("b", enablement=OFF))
    assert fold_session(state, toggle("b")) == having(make("a"), make("b"))


@rule("1.0/S22")
def test_others_keep_what_the_first_decision_says() -> None:
    before = having(folder("a", skill("s", enabled=True)))
    assert fold_session(before, toggle("s", *OFF)) == having(folder("a", skill("s", enabled=False)))
    assert fold_session(before, toggle("a", *OFF)) == having(
        folder("a", skill("s", enabled=True), enabled=False)
    )
    assert fold_session(having(folder("a", enabled=False)), toggle("a")) == having(folder("a"))


@rule("1.0/S22")
def test_the_top_level_comes_first_and_only_the_first_is_meant() -> None:
    state = fold_session(having(plugin("p", skill("a")), plugin("a"), plugin("a")), toggle("a", *OFF))
    assert state == having(plugin("p", skill("a")), plugin("a", enablement=OFF), plugin("a"))
    state = fold_session(
        having(plugin("p", skill("b"), server("a")), plugin("q", skill("a"))), toggle("a", *OFF)
    )
    assert state == having(plugin("p", skill("b"), server("a", enablement=OFF)), plugin("q", skill("a")))


@rule("1.0/S22")
def test_a_server_has_no_children_and_an_unknown_id_changes_nothing() -> None:
    odd = server("m", children=[skill("a")])
    assert changes_nothing("session", having(odd, plugin("p", skill("b"))), toggle("a", *OFF))
    assert changes_nothing("session", session(), toggle("a", *OFF))


@rule("1.0/S23")
def test_an_entry_is_replaced_as_a_whole_or_added() -> None:
    before = having(plugin("a", skill("s"), enablement=OFF), plugin("b"))
    replace = session_act("customizationUpdated", customization=plugin("a"))
    add = session_act("customizationUpdated", customization=server("s"))
    assert fold_session(before, replace, add) == having(plugin("a"), plugin("b"), server("s"))
    assert fold_session(session(), add) == having(server("s"))
    assert changes_nothing("session", before, session_act("customizationUpdated"))


@rule("1.0/S24")
def test_an_entry_goes_with_its_children_or_a_child_from_all() -> None:
    before = having(plugin("a", skill("s")), folder("b", skill("a"), skill("s"), skill("t")), server("m"))
    state = fold_session(before, session_act("customizationRemoved", id="a"))
    assert state == having(folder("b", skill("a"), skill("s"), skill("t")), server("m"))
    state = fold_session(before, session_act("customizationRemoved", id="s"))
    assert state == having(plugin("a"), folder("b", skill("a"), skill("t")), server("m"))
    assert changes_nothing("session", before, session_act("customizationRemoved", id="zz"))
    assert changes_nothing("session", session(), session_act("customizationRemoved", id="a"))


# MCP servers.


def change(entry_id: str, state: Any = READY, **fields: Any) -> Json:
    return session_act("mcpServerStateChanged", id=entry_id, state=state, **fields)


@rule("1.0/S25")
def test_the_state_of_a_server_brings_its_channel_or_drops_it() -> None:
    before = having(server("m", channel="mcp:/old"), plugin("p", server("n")))
    assert fold_session(before, change("m"), change("n", channel="mcp:/new")) == having(
        server("m", state=READY), plugin("p", server("n", state=READY, channel="mcp:/new"))
    )


@rule("1.0/S26")
@pytest.mark.parametrize(("name", "kind"), [("Start", "starting"), ("Stop", "stopped")])
def test_a_server_starts_and_stops_without_a_channel(name: str, kind: str) -> None:
    action = session_act(f"mcpServer{name}Requested", id="m")
    running = server("m", state={**READY, "x": 1}, channel="mcp:/a")
    assert fold_session(having(running), action) == having(server("m", state={"kind": kind}))
    state = fold_session(having(plugin("p", running)), action)
    assert state == having(plugin("p", server("m", state={"kind": kind})))


@rule("1.0/S27", "1.0/G6")
def test_nobody_waits_for_a_server_in_the_background() -> None:
    action = session_act("mcpServerBackgroundRequested", id="m")
    waiting = server("m", state={**STARTING, "blocking": True, "x-new": 1}, channel="mcp:/a")
    released = server("m", state={**STARTING, "blocking": False, "x-new": 1}, channel="mcp:/a")
    assert fold_session(having(waiting), action) == having(released)
    assert fold_session(having(plugin("p", waiting)), action) == having(plugin("p", released))
    for state in (STARTING, {**STARTING, "blocking": False}, {**READY, "blocking": True}):
        assert changes_nothing("session", having(server("m", state=state)), action)
        assert changes_nothing("session", having(plugin("p", server("m", state=state))), action)


@rule("1.0/S25", "1.0/S26", "1.0/S27")
@pytest.mark.parametrize(
    "before",
    [
        session(),
        having(server("n")),
        having(plugin("m", server("m"))),
        having(plugin("p", skill("m", state=STARTING))),
    ],
    ids=["none", "unknown", "a plugin", "a skill"],
)
def test_only_a_server_has_such_a_state(before: Json) -> None:
    requests = [session_act(f"mcpServer{name}Requested", id="m") for name in ("Start", "Stop", "Background")]
    assert changes_nothing("session", before, change("m"), *requests)
