"""Identities: who a client is, among the clients of all owners."""

from hypothesis import given
from hypothesis import strategies as st

from agenthost.host.access.identity import Identity

OWNERS = st.text(st.characters(exclude_characters="\0"), max_size=3)


@given(OWNERS, st.text(max_size=4), OWNERS, st.text(max_size=4))
def test_no_two_clients_have_the_same_key(owner: str, client_id: str, other: str, other_id: str) -> None:
    mine, theirs = Identity(client_id, owner), Identity(other_id, other)
    assert (mine.key == theirs.key) == (mine == theirs)
    assert Identity.from_key(mine.key) == mine


def test_an_owner_cannot_be_part_of_a_client_id() -> None:
    others = [Identity("me", "ann"), Identity("me"), Identity("ann\0me"), Identity("\0me", "ann")]
    assert len({one.key for one in others}) == 4
