"""What each grant allows."""

import pytest

from agenthost.core.decisions import RULES, Context, refuse
from agenthost.core.decisions.grants import DEFAULT_GRANTS, GRANTS, Grant, Rights, needed_grant
from agenthost.errors import GrantMissing, SwitchedOff
from agenthost.wire.ahp.legacy.methods import METHODS

FREE = {"initialize", "reconnect", "ping", "subscribe"}
"""Commands that tell nothing by themselves: what is subscribed to decides."""


def test_every_command_and_every_action_of_a_client_needs_a_grant() -> None:
    requests = {name for name, method in METHODS.items() if method.result is not None} - FREE
    assert {name for name in requests if needed_grant(name) is None} == set()
    assert {kind for kind in RULES if needed_grant(kind) is None} == set()


@pytest.mark.parametrize(
    ("command", "grant"),
    [
        ("createChat", "sessions"),
        ("disposeChat", "sessions"),
        ("moveChat", "sessions"),
        ("resourceResolve", "files"),
        ("resourceMkdir", "files"),
        ("createResourceWatch", "files"),
        ("subscribe/watch", "files"),
        ("chat/turnStarted", "sessions"),
    ],
)
def test_a_command_needs_the_grant_for_what_it_is_about(command: str, grant: Grant) -> None:
    assert needed_grant(command) == grant


def test_a_default_key_never_allows_a_shell() -> None:
    rights = Rights(frozenset(DEFAULT_GRANTS))
    for command in (
        "createSession",
        "chat/turnStarted",
        "session/titleChanged",
        "resourceWrite",
        "subscribe/session",
    ):
        rights.check(command)
    for command in ("createTerminal", "subscribe/terminal", "terminal/input", "terminal/claimed", "metrics"):
        with pytest.raises(GrantMissing):
            rights.check(command)


@pytest.mark.parametrize("grant", GRANTS)
def test_a_refusal_names_what_is_missing_and_how_to_have_it(grant: Grant) -> None:
    with pytest.raises(GrantMissing, match=rf"needs a key with the grant '{grant}'.*keys create"):
        Rights(frozenset(GRANTS) - {grant}).check_grant(grant, "this")


def test_a_grant_that_is_switched_off_is_refused_to_everybody() -> None:
    with pytest.raises(SwitchedOff, match="terminals are switched off on this host"):
        Rights(off=frozenset({"terminals"})).check("createTerminal")


@pytest.mark.parametrize("command", ["resourceRead", "resourceResolve"])
def test_content_of_a_session_is_not_a_file(command: str) -> None:
    assert needed_grant(command, {"uri": "file:///etc/passwd"}) == "files"
    assert needed_grant(command, {"uri": 5}) == "files"
    assert needed_grant(command, {"uri": "demo:/one/content/1"}) == "sessions"


@pytest.mark.parametrize(
    "command", ["resourceWrite", "resourceMkdir", "createResourceWatch", "subscribe/watch"]
)
def test_whatever_is_done_with_files_needs_the_grant_for_files(command: str) -> None:
    assert needed_grant(command, {"uri": "demo:/one/content/1"}) == "files"


def test_an_action_is_refused_by_the_rights_in_its_context() -> None:
    action = {"type": "root/configChanged", "config": {}}
    reason = refuse({"agents": []}, action, "me", context=Context(rights=Rights(frozenset(DEFAULT_GRANTS))))
    assert "the grant 'admin'" in str(reason)
    assert "the grant" not in str(refuse({"agents": []}, action, "me"))


@pytest.mark.parametrize(
    "command", ["ping", "createSession", "createTerminal", "metrics", "root/configChanged"]
)
@pytest.mark.parametrize(
    "rights",
    [
        Rights(),
        Rights(frozenset()),
        Rights(frozenset(DEFAULT_GRANTS)),
        Rights(off=frozenset({"terminals", "sessions"})),
    ],
)
def test_whoever_may_do_something_is_not_refused_it(rights: Rights, command: str) -> None:
    if rights.may(command):
        rights.check(command)
        return
    with pytest.raises((GrantMissing, SwitchedOff)):
        rights.check(command)
