"""A store: receipts for what clients sent. Real ones."""

from agenthost.host.storage import DropReceipts, EchoReceipt, Receipt, Storage
from storing import added, appended, commit


def receipt(slot: int, seq: int | None, identity: str = "me", client_seq: int = 1) -> Receipt:
    return Receipt(identity, slot, client_seq, b"digest", seq)


def slots(store: Storage, identity: str = "me") -> list[int]:
    return [found.slot for found in store.receipts(identity)]


def test_receipts_are_read_oldest_first_after_a_restart_too(store: Storage) -> None:
    commit(store, [receipt(0, 5), receipt(1, None), receipt(2, 3), receipt(0, 1, "you")], 5)
    store.close()
    store.open()
    assert store.receipts("me") == [receipt(2, 3), receipt(0, 5), receipt(1, None)]
    assert slots(store, "you") == [0]
    assert store.receipts("nobody") == []


def test_a_receipt_takes_the_place_of_the_one_in_its_slot(store: Storage) -> None:
    commit(store, [receipt(slot, slot) for slot in range(1, 100)], 100)
    commit(store, [receipt(7, 101)], 101)
    assert slots(store) == [*range(1, 7), *range(8, 100), 7]


def test_receipts_are_dropped_one_by_one_or_all_of_a_client(store: Storage) -> None:
    commit(store, [receipt(0, 1), receipt(1, 2), receipt(0, 3, "you"), DropReceipts("me", 0)], 3)
    assert slots(store) == [1]
    commit(store, [receipt(0, 4), DropReceipts("me"), receipt(5, 5)], 5)
    assert (slots(store), slots(store, "you")) == ([5], [0])


def test_a_late_echo_is_recorded_on_the_receipts_that_wait_for_it(store: Storage) -> None:
    commit(store, [receipt(0, 1), receipt(1, None), receipt(2, None, client_seq=2)], 1)
    commit(store, [EchoReceipt("me", 1, b"digest", 9)], 9)
    assert [found.seq for found in store.receipts("me")] == [1, 9, None]


def test_receipts_of_clients_that_never_return_are_trimmed_with_the_log(store: Storage) -> None:
    commit(store, [added(1), *appended(range(1, 21))], 20)
    commit(store, [receipt(slot, slot) for slot in range(1, 21)] + [receipt(99, None)], 20)
    store.trim(1_000, 1_000)
    assert len(slots(store)) == 21
    store.trim(1_000, 5)
    assert slots(store) == [16, 17, 18, 19, 20, 99]
