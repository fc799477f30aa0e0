"""The PostgreSQL store: several nodes share it, and each session is written by one of them."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from agenthost.errors import StoreTaken
from agenthost.host.storage import Group, PutPresence, PutSnapshot, Receipt
from agenthost.host.storage.postgres.notices import MAX_ABOUT, encode_about, parse_notice
from agenthost.host.storage.postgres.store import PostgresStorage
from agenthost.host.storage.shared import Committed, NodeNotice
from databases import Postgres, needs_postgres
from storing import added, commit, unnumbered

pytestmark = needs_postgres

HOUR = "UPDATE node SET lease = '-1 hour', beat = beat - interval '1 hour' WHERE id = {}"


def node(server: Postgres, schema: str) -> PostgresStorage:
    return PostgresStorage(server.url(schema), begin=lambda last: last, is_alone=False)


@pytest.fixture(name="nodes")
def two(server: Postgres, schema: str) -> Iterator[tuple[PostgresStorage, PostgresStorage]]:
    first, second = node(server, schema), node(server, schema)
    first.open()
    second.open()
    yield first, second
    first.close()
    second.close()


Pair = tuple[PostgresStorage, PostgresStorage]


def fence(server: Postgres, schema: str, by: PostgresStorage, dead: PostgresStorage) -> bool:
    server.execute(HOUR.format(dead.node), schema=schema)
    return bool(server.execute("SELECT fence_v1($1, $2)", by.node, dead.node, schema=schema))


def write(store: PostgresStorage, number: int) -> list[int]:
    return [store.commit(unnumbered(number)) for _ in range(40)]


def test_several_nodes_write_and_get_numbers_in_one_order(nodes: Pair) -> None:
    first, second = nodes
    commit(first, [added(1), added(2)], 0)
    with ThreadPoolExecutor(2) as threads:
        futures = [
            threads.submit(
                lambda one, number: [one.commit(unnumbered(number)) for _ in range(40)], store, place
            )
            for place, store in enumerate(nodes, 1)
        ]
        bases = [base for future in futures for base in future.result()]
    assert sorted(bases) == list(range(80))
    assert [one.seq for one in second.replay(0, [1, 2], "me")] == list(range(1, 81))


def test_what_needs_a_number_gets_the_one_that_the_server_gives(nodes: Pair) -> None:
    first, second = nodes
    commit(first, [added(1)], 0)
    second.commit(unnumbered(1, 5))
    group = unnumbered(1, 3)
    group.writes += [PutSnapshot(1, b"after it"), Receipt("me", 0, 7, b"digest", -1)]
    assert first.commit(group) == 5
    stored = second.load(1)
    assert stored
    assert (stored.state, stored.state_seq) == (b"after it", 8)
    assert [one.seq for one in second.receipts("me")] == [8]


def test_every_node_hears_of_every_commit_in_order(nodes: Pair) -> None:
    first, second = nodes
    heard: list[Committed | NodeNotice] = []
    second.listen(heard.append)
    commit(first, [added(1)], 0)
    for _ in range(5):
        first.commit(unnumbered(1, 2))
        second.commit(unnumbered(1))
    second.commit(unnumbered(0, 1, PutPresence("me", is_there=True)))
    deadline = time.monotonic() + 5
    while len([one for one in heard if isinstance(one, Committed) and one.place > second.place]) < 12:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    commits = [one for one in heard if isinstance(one, Committed) and one.place > second.place]
    assert [one.place for one in commits] == list(range(second.place + 1, second.place + 13))
    assert [one.base for one in commits[1:]] == [one.last_seq for one in commits[:-1]]
    assert commits[0].rows == {1: "+"}
    assert commits[1].resources == frozenset({1})
    assert [one.has_presence for one in commits[-2:]] == [False, True]
    assert second.presence_after(0)[1] == [(second.node, "me", True)]


def test_a_notice_that_would_be_too_long_says_less() -> None:
    about = encode_about(range(5_000), {}, has_presence=False)
    assert about == "*"
    assert len(encode_about([], dict.fromkeys(range(1000), "~"), has_presence=True)) < MAX_ABOUT
    assert parse_notice(f"7 3 2 100 5 {about}") == Committed(7, 3, 2, 100, 5)
    assert parse_notice("dead 4") == NodeNotice("dead", 4)


def test_a_session_belongs_to_the_node_that_made_it_until_that_is_dead(
    nodes: Pair, server: Postgres, schema: str
) -> None:
    first, second = nodes
    commit(first, [added(1)], 0)
    assert second.claim([1]) == {1: first.node}
    assert fence(server, schema, second, first)
    assert second.owner_of(1) == 0
    assert second.claim([1, 99]) == {1: second.node}
    with pytest.raises(StoreTaken):
        first.commit(unnumbered(1))
    second.commit(unnumbered(1))


def test_turns_that_nobody_goes_on_with_are_found(nodes: Pair, server: Postgres, schema: str) -> None:
    first, second = nodes
    commit(first, [added(1, is_active=True), added(2, is_active=True), added(3)], 0)
    assert second.unattended(9, []) == []
    assert fence(server, schema, second, first)
    assert {row.number for row in second.unattended(9, [])} == {1, 2}
    second.claim([1, 2])
    assert [row.number for row in second.unattended(9, [2])] == [1]  # it was claimed, and is not held


def test_a_group_without_writes_is_no_commit(nodes: Pair) -> None:
    first, second = nodes
    commit(first, [added(1)], 0)
    first.commit(unnumbered(1, 5))
    before = second.ledger_after(0)
    # This node has read of number 5 in the ledger. Whether the store has heard of it does not matter.
    assert second.commit(Group(ordinal=1, at_least=50)) == 50
    assert second.ledger_after(0) == before


def test_of_several_that_claim_a_session_one_gets_it(server: Postgres, schema: str) -> None:
    stores = [node(server, schema) for _ in range(4)]
    for store in stores:
        store.open()
    commit(stores[0], [added(number) for number in range(1, 31)], 0)
    assert fence(server, schema, stores[1], stores[0])
    with ThreadPoolExecutor(3) as threads:
        claims = list(threads.map(lambda store: store.claim(range(1, 31)), stores[1:]))
    assert claims[0] == claims[1] == claims[2]
    assert set(claims[0].values()) <= {store.node for store in stores[1:]}
    for store in stores:
        store.close()


def test_what_was_released_can_be_claimed_at_once_and_not_by_who_released_it(nodes: Pair) -> None:
    first, second = nodes
    commit(first, [added(1)], 0)
    first.release()
    assert first.claim([1]) == {1: 0}
    assert second.claim([1]) == {1: second.node}
    first.commit(unnumbered(0))  # it still serves its clients


def test_two_nodes_cannot_reserve_the_same_uri(nodes: Pair) -> None:
    first, second = nodes
    number = first.reserve("demo:/1", "one", "ann", (["ahp-chat:/one"], []))
    assert isinstance(number, int)
    assert second.reserve("demo:/1", "other", "bob", ([], [])) == "ann"
    assert second.reserve("demo:/2", "one", "bob", ([], [])) == "ann"
    assert first.reserve("demo:/1", "one", "ann", ([], [])) == number  # the answer was lost
    first.unreserve(number)
    assert second.reserve("demo:/1", "one", "bob", ([], [])) == number + 1


def test_reservations_of_a_dead_node_are_free(nodes: Pair, server: Postgres, schema: str) -> None:
    first, second = nodes
    first.reserve("demo:/1", "one", "", ([], []))
    assert fence(server, schema, second, first)
    assert isinstance(second.reserve("demo:/1", "one", "", ([], [])), int)


def test_a_zombie_that_waits_with_its_commit_is_refused(nodes: Pair, server: Postgres, schema: str) -> None:
    """The fence comes while the commit waits for the order lock."""
    first, second = nodes
    commit(first, [added(1)], 0)
    server.execute(HOUR.format(first.node), schema=schema)
    hold = f"""DO $$ BEGIN PERFORM enter_v1({second.node}); PERFORM pg_sleep(1);
        PERFORM end_node_v1({first.node}); END $$"""
    holding = threading.Thread(target=lambda: server.execute(hold, schema=schema))
    holding.start()
    time.sleep(0.3)
    with pytest.raises(StoreTaken):
        first.commit(unnumbered(1))
    holding.join()
    assert not second.replay(0, [1], "me")


def test_a_node_that_is_killed_is_fenced_by_another_one(nodes: Pair, server: Postgres, schema: str) -> None:
    first, second = nodes
    heard: list[Committed | NodeNotice] = []
    second.listen(heard.append)
    commit(first, [added(1)], 0)
    loop = first._opened()  # as if its process were gone: it says nothing more
    loop.run(first._node.fall_silent())
    begun = time.monotonic()
    while NodeNotice("dead", first.node) not in heard:
        assert time.monotonic() - begun < 4
        time.sleep(0.02)
    assert second.claim([1]) == {1: second.node}
