"""How often somebody may ask: the buckets by themselves, and what a server answers."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.routing import WebSocketRoute
from starlette.types import Receive, Scope, Send
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from agenthost.edges.rates import Rates, client_source
from agenthost.host.access.keys import KeyFile
from hosting import run
from sites import Site, site


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("rate", "seconds"), [("2/s", 1), ("2/m", 30), ("2/h", 1800), ("1/s", 1), ("1/m", 60)]
)
def test_an_idle_client_may_use_its_whole_bucket_and_then_waits_for_the_next_token(
    rate: str, seconds: int
) -> None:
    clock = Clock()
    rates = Rates(rate, clock=clock)
    for _ in range(int(rate[0])):
        assert rates.take("ann") == 0
    assert rates.take("ann") == seconds
    assert rates.take("bob") == 0
    clock.now += seconds
    assert rates.take("ann") == 0


@given(st.integers(1, 50), st.sampled_from("smh"), st.lists(st.floats(0, 100), max_size=200))
def test_nobody_gets_more_than_a_bucket_and_its_refill(count: int, unit: str, pauses: list[float]) -> None:
    clock = Clock()
    rates = Rates(f"{count}/{unit}", clock=clock)
    allowed = 0
    for pause in pauses:
        clock.now += pause
        wait = rates.take("ann")
        allowed += wait == 0
        assert wait >= 0
    per_second = count / {"s": 1, "m": 60, "h": 3600}[unit]
    assert allowed <= count + (clock.now - 1000) * per_second + 1e-6


@given(st.integers(1, 5), st.integers(1, 20))
def test_a_client_that_waits_as_long_as_told_is_allowed(count: int, refused: int) -> None:
    clock = Clock()
    rates = Rates(f"{count}/m", clock=clock)
    waits = [rates.take("ann") for _ in range(count + refused)]  # being refused costs nothing
    clock.now += waits[-1]
    assert rates.take("ann") == 0


def test_memory_is_bounded_and_the_longest_idle_client_is_forgotten_first() -> None:
    rates = Rates("1/h", clock=Clock(), max_buckets=3)
    for who in ("a", "b", "c", "a", "d"):
        rates.take(who)
    assert len(rates._buckets) == 3
    assert rates.take("a") > 0
    assert rates.take("b") == 0


def test_off_means_no_limit_and_no_memory() -> None:
    rates = Rates("off")
    assert not rates.is_on
    assert [rates.take("ann") for _ in range(100)] == [0] * 100
    assert not rates._buckets


@pytest.mark.parametrize(
    ("address", "source"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("not an address", "not an address"),
    ],
)
def test_an_ipv6_network_counts_as_one_client(address: str, source: str) -> None:
    assert client_source(address) == source


async def ask_until_refused(here: Site, **headers: str) -> int:
    """Return how many answers there were before it was too much."""
    for count in range(10):
        answer = await here.ask("/aap/sessions", **headers)
        if answer.status == 429:
            assert answer.json["error"]["code"] == "too_many_requests"
            assert 1 <= int(answer.headers["retry-after"]) <= 1200
            return count
    return 10


def test_without_keys_addresses_are_limited_except_for_health_checks(tmp_path: Path) -> None:
    async def story() -> None:
        async with site(tmp_path, rate="3/h") as here:
            assert await ask_until_refused(here) == 3
            for path in ("/healthz", "/readyz"):
                assert (await here.ask(path)).status == 200
            assert (await here.ask("/nothing")).status == 429
        async with site(tmp_path) as here:
            assert await ask_until_refused(here) == 10

    run(story)


def test_each_key_has_its_own_limit_and_clients_without_one_share_theirs(tmp_path: Path) -> None:
    ann, bob = (KeyFile(tmp_path).create()[1] for _ in range(2))

    async def story() -> None:
        async with site(tmp_path, rate="3/h") as here:
            assert await ask_until_refused(here, Authorization=f"Bearer {ann}") == 3
            assert await ask_until_refused(here, Authorization="Bearer wrong") == 3
            assert await ask_until_refused(here, Authorization="Bearer wronger") == 0
            assert await ask_until_refused(here, Authorization=f"Bearer {bob}") == 3

    run(story)


class Welcome:
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.close"})


def test_a_websocket_counts_as_one_request(tmp_path: Path) -> None:
    def talk(url: str) -> None:
        address = url.replace("http", "ws") + "/ahp"
        with connect(address):
            pass
        with pytest.raises(InvalidStatus) as caught, connect(address):
            pass
        assert caught.value.response.status_code == 429
        assert int(caught.value.response.headers["Retry-After"]) > 0

    async def story() -> None:
        async with site(tmp_path, WebSocketRoute("/ahp", Welcome()), rate="1/h") as here:
            await asyncio.to_thread(talk, here.url)

    run(story)
