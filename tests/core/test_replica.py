"""The client's replica: confirmed, pending and optimistic state through echoes, rejections and reconnects."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.core.reducers import REDUCERS, Live, ResourceKind
from agenthost.core.replica import KINDS, Pending, Rejection, Replica, kind_of
from agenthost.wire.ahp import ROOT_URI
from building import SESSION, TERMINAL
from channel_logs import actions, states
from chat_building import CHAT, chat, session, terminal

TITLE: Any = {"type": "session/titleChanged", "title": "Mine"}
THEIRS: Any = {"type": "session/titleChanged", "title": "Theirs"}
ARCHIVE: Any = {"type": "session/isArchivedChanged", "isArchived": True}


def watching(from_seq: int = 10) -> Replica:
    replica = Replica("me")
    replica.load({"resource": SESSION, "state": session(), "fromSeq": from_seq})  # type: ignore[typeddict-item]
    return replica


def envelope(
    action: Any,
    seq: int,
    origin: tuple[str, int] | None = None,
    reason: str | None = None,
    channel: str = SESSION,
) -> Any:
    built = {"channel": channel, "action": action, "serverSeq": seq}
    if origin:
        built["origin"] = {"clientId": origin[0], "clientSeq": origin[1]}
    return built if reason is None else {**built, "rejectionReason": reason}


def title(state: Any) -> Any:
    return state["title"]


def test_an_own_action_shows_at_once_and_is_confirmed_by_its_echo() -> None:
    replica = watching()
    assert replica.dispatch(SESSION, TITLE) == {"channel": SESSION, "clientSeq": 1, "action": TITLE}
    assert (title(replica.state(SESSION)), title(replica.confirmed(SESSION))) == ("Mine", "Old title")
    assert replica.apply(envelope(TITLE, 11, ("me", 1))) is None
    assert (title(replica.confirmed(SESSION)), replica.pending(SESSION)) == ("Mine", [])


def test_a_rejected_action_is_undone_and_the_reason_is_returned() -> None:
    replica = watching()
    replica.dispatch(SESSION, TITLE)
    assert replica.apply(envelope(TITLE, 11, ("me", 1), "no")) == Rejection(1, TITLE, "no")
    assert title(replica.state(SESSION)) == title(replica.confirmed(SESSION)) == "Old title"
    assert replica.pending(SESSION) == []


def test_actions_of_others_are_applied_below_the_pending_ones() -> None:
    replica = watching()
    replica.dispatch(SESSION, TITLE)
    replica.apply(envelope(THEIRS, 11, ("you", 1)))
    assert (title(replica.state(SESSION)), title(replica.confirmed(SESSION))) == ("Mine", "Theirs")


def test_rejected_actions_of_others_are_not_applied_but_count_as_seen() -> None:
    replica = watching()
    assert replica.apply(envelope(THEIRS, 11, ("you", 1), "no")) is None
    assert (title(replica.state(SESSION)), replica.last_seen) == ("Old title", 11)


def test_echoes_may_come_out_of_order() -> None:
    replica = watching()
    replica.dispatch(SESSION, TITLE)
    replica.dispatch(SESSION, ARCHIVE)
    replica.apply(envelope(ARCHIVE, 11, ("me", 2)))
    assert replica.pending(SESSION) == [Pending(1, TITLE)]
    assert title(replica.state(SESSION)) == "Mine"


def test_the_same_number_from_another_client_confirms_nothing() -> None:
    replica = watching()
    replica.dispatch(SESSION, TITLE)
    replica.apply(envelope(ARCHIVE, 11, ("you", 1)))
    assert replica.pending(SESSION) == [Pending(1, TITLE)]


@pytest.mark.parametrize("seq", [9, 10])
def test_what_the_snapshot_already_holds_is_not_applied_again(seq: int) -> None:
    replica = watching(from_seq=10)
    replica.apply(envelope(THEIRS, seq))
    assert (title(replica.state(SESSION)), replica.last_seen) == ("Old title", 10)


def test_an_envelope_that_comes_twice_is_applied_once() -> None:
    replica = Replica("me")
    replica.load({"resource": TERMINAL, "state": terminal(), "fromSeq": 1})  # type: ignore[typeddict-item]
    data = {"type": "terminal/data", "data": "x"}
    for _ in range(2):
        replica.apply(envelope(data, 2, channel=TERMINAL))
    state: Any = replica.state(TERMINAL)
    assert state["content"] == [{"type": "unclassified", "value": "x"}]


def test_gaps_in_the_numbers_are_normal() -> None:
    replica = watching()
    replica.apply(envelope(THEIRS, 500))
    assert (title(replica.state(SESSION)), replica.last_seen) == ("Theirs", 500)


def test_an_envelope_for_a_resource_that_is_not_watched_only_counts_as_seen() -> None:
    replica = watching()
    replica.apply(envelope(THEIRS, 12, channel="demo:/other"))
    assert (replica.subscriptions, replica.last_seen) == ([SESSION], 12)


def test_an_unknown_action_changes_nothing_but_counts_as_seen() -> None:
    replica = watching()
    replica.apply(envelope({"type": "session/notYetInvented"}, 11))
    assert (replica.state(SESSION), replica.last_seen) == (session(), 11)


def test_the_kind_of_a_resource_follows_from_its_state_and_not_from_its_uri() -> None:
    replica = Replica("me")
    odd = "terminal:/is-a-session"
    replica.load({"resource": odd, "state": session(), "fromSeq": 1})  # type: ignore[typeddict-item]
    replica.apply(envelope(THEIRS, 2, channel=odd))
    assert title(replica.state(odd)) == "Theirs"


def test_a_state_can_be_asked_for_by_its_kind() -> None:
    replica = watching()
    assert replica.session(SESSION) == session()
    for other in (replica.chat, replica.terminal, lambda _uri: replica.root()):
        with pytest.raises(KeyError):
            other(SESSION)


def test_root_actions_go_to_the_root() -> None:
    replica = Replica("me")
    replica.load({"resource": ROOT_URI, "state": {"agents": []}, "fromSeq": 0})
    replica.apply(envelope({"type": "root/activeSessionsChanged", "activeSessions": 3}, 1, channel=ROOT_URI))
    assert replica.root() == {"agents": [], "activeSessions": 3}


def test_dispatching_on_a_resource_that_is_not_watched_is_allowed() -> None:
    replica = Replica("me")
    assert replica.dispatch(SESSION, ARCHIVE) == {"channel": SESSION, "clientSeq": 1, "action": ARCHIVE}
    assert replica.apply(envelope(ARCHIVE, 5, ("me", 1), "no")) == Rejection(1, ARCHIVE, "no")


def test_forgetting_a_resource_forgets_what_was_pending_on_it() -> None:
    replica = watching()
    replica.dispatch(SESSION, TITLE)
    replica.forget(SESSION)
    assert replica.subscriptions == []
    with pytest.raises(KeyError):
        replica.state(SESSION)


def test_replay_brings_what_was_missed_and_clears_what_is_pending() -> None:
    replica = watching()
    for action in (TITLE, ARCHIVE, TITLE):
        replica.dispatch(SESSION, action)
    assert replica.reconnect_params() == {
        "channel": ROOT_URI,
        "clientId": "me",
        "lastSeenServerSeq": 10,
        "subscriptions": [SESSION],
    }
    missed = [envelope(THEIRS, 12), envelope(ARCHIVE, 14, ("me", 2)), envelope(TITLE, 15, ("me", 1), "no")]
    outcome = replica.apply_reconnect({"type": "replay", "actions": missed, "missing": []})
    assert (title(replica.state(SESSION)), replica.last_seen) == ("Theirs", 15)
    assert outcome.rejected == [Rejection(1, TITLE, "no")]
    assert outcome.unanswered == [Pending(3, TITLE)]
    assert replica.pending(SESSION) == []


def test_after_a_replay_missing_resources_are_forgotten() -> None:
    replica = watching()
    outcome = replica.apply_reconnect({"type": "replay", "actions": [], "missing": [SESSION]})
    assert (outcome.gone, replica.subscriptions) == ([SESSION], [])


def test_snapshots_replace_everything_even_from_a_host_that_restarted_its_count() -> None:
    replica = watching(from_seq=900)
    replica.load({"resource": TERMINAL, "state": terminal(), "fromSeq": 900})  # type: ignore[typeddict-item]
    replica.dispatch(SESSION, TITLE)
    fresh: Any = {"resource": SESSION, "state": session(title="Fresh"), "fromSeq": 7}
    outcome = replica.apply_reconnect({"type": "snapshot", "snapshots": [fresh]})
    assert (title(replica.state(SESSION)), replica.last_seen) == ("Fresh", 7)
    assert (outcome.gone, outcome.unanswered) == ([TERMINAL], [Pending(1, TITLE)])
    replica.apply(envelope(THEIRS, 8))
    assert title(replica.state(SESSION)) == "Theirs"


@given(start=states("session"), log=st.lists(actions("session"), max_size=8), data=st.data())
def test_with_nothing_pending_optimistic_equals_confirmed(start: Any, log: list[Any], data: Any) -> None:
    """Also after own actions came and went, whatever others did between them."""
    replica = Replica("me")
    replica.load({"resource": SESSION, "state": start, "fromSeq": 0})
    expected: Live[Any] = Live(start)
    for seq, drawn in enumerate(log, 1):
        action: Any = drawn
        kind = data.draw(st.sampled_from(["host", "mine", "refused"]))
        origin = None
        if kind != "host":
            origin = ("me", replica.dispatch(SESSION, action)["clientSeq"])
        replica.apply(envelope(action, seq, origin, "no" if kind == "refused" else None))
        if kind != "refused":
            expected = REDUCERS["session"](expected, action)
    assert replica.pending(SESSION) == []
    assert replica.state(SESSION) == replica.confirmed(SESSION) == expected.state


@given(start=states("session"), log=st.lists(actions("session"), max_size=8), data=st.data())
def test_a_client_that_was_away_sees_the_same_as_one_that_stayed(
    start: Any, log: list[Any], data: Any
) -> None:
    envelopes = [envelope(action, seq) for seq, action in enumerate(log, 1)]
    left = data.draw(st.integers(0, len(log)))
    stayed, away = Replica("one"), Replica("two")
    for replica in (stayed, away):
        replica.load({"resource": SESSION, "state": start, "fromSeq": 0})
    for sent in envelopes:
        stayed.apply(sent)
    for sent in envelopes[:left]:
        away.apply(sent)
    missed = [sent for sent in envelopes if sent["serverSeq"] > away.reconnect_params()["lastSeenServerSeq"]]
    away.apply_reconnect({"type": "replay", "actions": missed, "missing": []})
    assert away.state(SESSION) == stayed.state(SESSION)
    assert away.last_seen == stayed.last_seen


def test_a_session_and_its_chat_are_channels_of_their_own() -> None:
    replica = watching()
    replica.load({"resource": CHAT, "state": chat(), "fromSeq": 12})  # type: ignore[typeddict-item]
    draft: Any = {"type": "chat/draftChanged", "draft": {"text": "Well", "origin": {"kind": "user"}}}
    replica.dispatch(CHAT, draft)
    assert (replica.pending(SESSION), len(replica.pending(CHAT))) == ([], 1)
    replica.apply(envelope(draft, 13, ("me", 1), channel=CHAT))
    assert (replica.chat(CHAT)["draft"]["text"], replica.session(SESSION)) == ("Well", session())


@given(data=st.data())
def test_the_kind_of_every_channel_is_known_by_its_state(data: Any) -> None:
    kind: ResourceKind = data.draw(st.sampled_from(sorted({kind for _, kind in KINDS})))
    assert kind_of(data.draw(states(kind))) == kind
    assert {kind for _, kind in KINDS} == set(REDUCERS)
