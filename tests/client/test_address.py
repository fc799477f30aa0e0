"""Addresses: however a server is named, both protocols are found."""

import pytest

from aap_servers import META, answer, odd_server
from agenthost.client import AapClient, AhpClient, SyncAapClient
from agenthost.client.address import DEFAULT_SERVER, VARIABLE, read_address
from hosting import run


@pytest.fixture(autouse=True)
def nothing_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.mark.parametrize(
    ("named", "aap", "ahp"),
    [
        ("h:1", "http://h:1", "ws://h:1/ahp"),
        ("h:1/", "http://h:1", "ws://h:1/ahp"),
        ("127.0.0.1:8642/aap", "http://127.0.0.1:8642/aap", "ws://127.0.0.1:8642/ahp"),
        ("[::1]:1", "http://[::1]:1", "ws://[::1]:1/ahp"),
        ("http://h", "http://h", "ws://h/ahp"),
        ("https://h/", "https://h", "wss://h/ahp"),
        ("ws://h:1", "http://h:1", "ws://h:1/ahp"),
        ("WSS://h", "https://h", "wss://h/ahp"),
        ("ws://h:1/ahp", "http://h:1/aap", "ws://h:1/ahp"),
        ("http://h:1/aap/", "http://h:1/aap", "ws://h:1/ahp"),
        ("http://h:1/aap/v2", "http://h:1/aap/v2", "ws://h:1/ahp"),
        ("https://h/below/aap", "https://h/below/aap", "wss://h/below/ahp"),
        ("wss://h/below/ahp", "https://h/below/aap", "wss://h/below/ahp"),
        ("https://h/other", "https://h/other", "wss://h/other"),
    ],
)
def test_both_protocols_are_found_however_the_server_is_named(named: str, aap: str, ahp: str) -> None:
    address = read_address(named)
    assert (address.aap, address.ahp) == (aap, ahp)
    client = SyncAapClient(named)
    client.close()
    assert client.url == aap

    async def story() -> None:
        assert (AapClient(named).url, AhpClient(named).url) == (aap, ahp)

    run(story)


def test_a_token_in_a_query_goes_to_ahp_and_is_no_part_of_a_base_url() -> None:
    address = read_address("ws://h:1/ahp?tkn=x")
    assert address.ahp == "ws://h:1/ahp?tkn=x"
    with pytest.raises(ValueError, match=r"has to be the base URL alone, without \?") as caught:
        _ = address.aap
    assert "tkn" not in str(caught.value)


def test_the_default_server_is_that_of_the_environment_or_the_local_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert read_address() == read_address(DEFAULT_SERVER)
    monkeypatch.setenv(VARIABLE, "")
    assert read_address() == read_address(DEFAULT_SERVER)
    monkeypatch.setenv(VARIABLE, "wss://h/below/ahp")
    assert read_address() == read_address("https://h/below/ahp")
    assert read_address("h:2").origin == "http://h:2"

    async def story() -> None:
        async with AapClient() as client:
            assert (await client.meta())["agents"][0]["name"] == "odd"

    with odd_server(get_meta=[answer(META)]) as server:
        monkeypatch.setenv(VARIABLE, server.url.replace("http", "ws"))
        run(story)


@pytest.mark.parametrize(
    "named",
    [
        *("", "localhost", "/aap", "h:port", "http://", "http://:1", "ftp://h", "http://h:x", "http://h:0"),
        *("http://[::1", "http://h h", "h:1 2", "http://h\n.x", "https:h"),
    ],
)
def test_what_names_no_server_is_refused_with_what_was_expected(
    named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = "expected HOST:PORT, or a URL such as http://127.0.0.1:8642 or ws://127.0.0.1:8642/ahp, found "
    with pytest.raises(ValueError, match="expected") as caught:
        read_address(named)
    assert str(caught.value) == f"{sentence}{named!r}"
    if named:
        monkeypatch.setenv(VARIABLE, named)
        with pytest.raises(ValueError, match=f"^{VARIABLE}: expected HOST:PORT"):
            read_address()


@pytest.mark.parametrize("named", ["http://me:secret@h", "me:1@h:1", "http://me@h"])
def test_a_password_is_refused_and_not_repeated(named: str) -> None:
    with pytest.raises(ValueError, match="URL") as caught:
        read_address(named)
    assert "secret" not in str(caught.value)


def test_a_url_with_a_fragment_is_refused() -> None:
    with pytest.raises(ValueError, match="it must not have a #"):
        read_address("http://h:1/#x")


@pytest.mark.parametrize(
    ("named", "is_local", "port"),
    [("127.0.0.1:1", True, 1), ("http://localhost", True, 80), ("[::1]:2", True, 2), ("wss://h", False, 443)],
)
def test_local_servers_and_default_ports_are_recognized(named: str, is_local: bool, port: int) -> None:
    address = read_address(named)
    assert (address.is_local, address.port) == (is_local, port)
