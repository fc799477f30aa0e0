"""What is kept of refused actions: small ones whole, of others what they were; and never a secret."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenthost.host.access.identity import Identity
from agenthost.host.log.entries import first_line
from agenthost.host.sessions.dispatch import Dispatcher
from agenthost.host.sessions.listeners import ActionListeners
from agenthost.host.state.engine import Engine
from agenthost.host.state.refusals import MAX_KEPT
from agenthost.host.state.session import Session
from agenthost.host.storage import Entry
from agenthost.logs import hide
from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.json import decode_json
from hosting import new_session, run, started

URI = "demo:/one"
ME, YOU = Identity("me", "ann"), Identity("me", "bob")
VALUE = "sk-very-secret-1"


def config(**values: Any) -> Any:
    return {"type": "session/configChanged", "config": values}


def root_config(**values: Any) -> Any:
    return {"type": "root/configChanged", "config": values}


def stored_refusal(host: Engine, client: Identity) -> list[Entry]:
    numbers = [0, 1]
    return [one for one in host.storage.replay(0, numbers, client.key) if one.only_for is not None]


async def refused(host: Engine, session: Session, action: Any) -> bytes:
    """Have an action refused; returns what its client is sent."""
    dispatcher = Dispatcher(
        host.sessions,
        root=host.root,
        senders=host.senders,
        listeners=ActionListeners(),
        secrets=lambda: {"apikey"},
    )
    refusal = await dispatcher.dispatch(
        ME, 1, ROOT_URI if action["type"].startswith("root/") else URI, action
    )
    await host.journal.wait()
    assert refusal is not None
    assert session.state
    return refusal.envelopes()[0]


@pytest.mark.parametrize("make", [config, root_config])
def test_a_large_refusal_is_sent_whole_and_kept_as_what_it_was(
    tmp_path: Path, make: Callable[..., Any]
) -> None:
    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            sent = decode_json(await refused(host, session, make(x="y" * 1_000_000)))
            assert sent["action"] == make(x="y" * 1_000_000)
            (kept,) = stored_refusal(host, ME)
            assert len(kept.envelope) < MAX_KEPT
            assert decode_json(first_line(kept.envelope, kept.seq)) == {
                "isCut": True,
                "action": {"type": make()["type"]},
                **{key: sent[key] for key in ("serverSeq", "origin", "rejectionReason")},
            }

    run(story)


@pytest.mark.parametrize(
    "action",
    [
        config(apiKey=VALUE),
        config(apiKey=["in a list", VALUE]),
        config(other=f"well known: {VALUE}"),
        {**config(), "nested": {"password": VALUE}},
        root_config(apiKey=VALUE),
    ],
)
def test_a_secret_in_a_refused_action_is_not_kept(tmp_path: Path, action: Any) -> None:
    hide(VALUE)

    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            assert VALUE.encode() in await refused(host, session, action)
            assert len(stored_refusal(host, ME)) == 1

    run(story)
    assert all(VALUE.encode() not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


@pytest.mark.parametrize("uri", [URI, ROOT_URI])
def test_who_was_away_gets_a_fresh_view_in_place_of_what_was_not_kept(tmp_path: Path, uri: str) -> None:
    make = config if uri == URI else root_config

    async def story() -> None:
        async with started(tmp_path) as host:
            session = await new_session(host, URI)
            before = host.line.shown_seq
            await refused(host, session, make(x="small"))
            small = host.line.shown_seq
            back = await host.feed(ME).resume(before, [uri])
            assert back.replay is not None
            assert b'"small"' in back.replay[-1].envelope
            await refused(host, session, make(x="y" * MAX_KEPT))
            for seen in (before, small):
                back = await host.feed(ME).resume(seen, [uri])
                assert back.replay is None
                assert [view.uri for view in back.views] == [uri]
            after = await host.feed(ME).resume(host.line.shown_seq, [uri])
            assert after.replay == []
            # It is nobody else's, not even of one who has the same id.
            others = await host.feed(YOU).resume(before, [uri])
            assert others.replay is not None
            assert all(b"rejectionReason" not in entry.envelope for entry in others.replay)

    run(story)
