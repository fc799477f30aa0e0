"""What a client may ask a session to be: options, trust and tools, whatever protocol it speaks."""

from typing import Any

import pytest

from agenthost.core.decisions.grants import Rights
from agenthost.core.decisions.setup import Offer, check_client_tools, check_session
from agenthost.errors import AgentUnavailable, GrantMissing, InvalidValue

TALK = Rights(frozenset({"sessions"}))
OFFER = Offer(
    tool_grants={"look": None, "run": "run", "hidden": None},
    option_grants={"mode": "run"},
    option_defaults={"mode": "safe", "tone": "plain"},
)


def client(*names: str, client_id: str = "me") -> Any:
    return {"clientId": client_id, "tools": [{"name": name} for name in names]}


def check(offer: Offer = OFFER, rights: Rights = TALK, **asked: Any) -> None:
    wanted: Any = {"options": {}, "tools": None, "active_client": None, "tools_at": "$.tools", **asked}
    check_session(offer, rights, client_id="me", **wanted)


def test_what_needs_no_grant_is_for_everybody() -> None:
    check(
        options={"tone": "loud", "mode": "safe"},
        tools={"look": True, "run": False},
        active_client=client("x"),
    )


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"options": {"mode": "wild"}}, "setting 'mode'"),
        ({"tools": {"look": True, "run": True}}, "trusting 'run'"),
    ],
)
def test_what_needs_a_grant_is_refused_without_it(asked: dict[str, Any], sentence: str) -> None:
    with pytest.raises(GrantMissing, match=sentence):
        check(**asked)
    check(rights=Rights(frozenset({"sessions", "run"})), **asked)


def test_nobody_begins_who_lacks_what_the_agent_needs() -> None:
    lacking = Offer({}, {}, {}, lacks=AgentUnavailable("a token is missing"))
    with pytest.raises(AgentUnavailable, match="a token is missing"):
        check(lacking)


def test_a_client_speaks_for_itself_alone() -> None:
    with pytest.raises(InvalidValue) as refused:
        check(active_client=client(client_id="you"))
    assert refused.value.path == "$.activeClient.clientId"


@pytest.mark.parametrize("names", [("x", "look"), ("x", "hidden"), ("x", "x")])
def test_no_two_tools_share_a_name_not_even_with_one_that_is_hidden_or_off(names: tuple[str, ...]) -> None:
    with pytest.raises(InvalidValue, match="a name that no other tool has") as refused:
        check(active_client=client(*names))
    assert refused.value.path == "$.tools[1].name"


def test_an_agent_may_take_no_tools_of_clients() -> None:
    closed = Offer({}, {}, {}, takes_client_tools=False)
    check_client_tools(closed, [], "$.tools")
    with pytest.raises(InvalidValue, match="the agent takes none from clients"):
        check_client_tools(closed, [{"name": "x"}], "$.tools")
