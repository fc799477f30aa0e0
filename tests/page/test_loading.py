"""How the page comes: from its server alone, small, under a strict policy, with a key if one is needed."""

import gzip
from pathlib import Path

from agenthost.edges.page.files import STATIC
from agenthost.host.access.keys import KeyFile
from browsing import OpenTab
from serving import serving

MOST_BYTES = 200_000
"""How much may be loaded before anything can be done, as it is sent."""


def test_the_page_loads_little_and_from_its_server_alone(url: str, open_tab: OpenTab) -> None:
    tab = open_tab(url)
    assert f"{url}/" in tab.asked
    assert f"{url}/ahp".replace("http", "ws") in tab.asked
    tab.page.wait_for_load_state("networkidle")
    assert 0 < sum(tab.sent.values()) < MOST_BYTES
    assert tab.page.title()


def test_what_is_built_is_small_for_browsers_that_take_no_brotli_too(url: str) -> None:
    index = (STATIC / "index.html").read_text()
    named = [
        path
        for path in (STATIC / "assets").iterdir()
        if path.suffix in (".js", ".css") and path.name in index
    ]
    assert named
    assert sum(len(gzip.compress(path.read_bytes())) for path in named) < MOST_BYTES


ATTACKS = [
    "const one = document.createElement('script'); one.textContent = 'globalThis.hacked = 1'; add(one)",
    "document.body.innerHTML = '<img src=x onerror=\"globalThis.hacked = 1\">'",
    "document.body.setAttribute('onclick', 'globalThis.hacked = 1'); document.body.click()",
    "const one = new Image(); one.src = 'https://example.org/'; add(one)",
    "await fetch('https://example.org/')",
]


def test_what_an_agent_might_sneak_in_does_not_run_and_reaches_nobody(url: str, open_tab: OpenTab) -> None:
    tab = open_tab(url)
    tab.forgive("policy violated|violates the following|requires 'Trusted|Refused to")
    for attack in ATTACKS:
        tab.run(f"const add = (one) => document.body.append(one); try {{ {attack} }} catch {{}}")
    assert tab.run("return globalThis.hacked === undefined")
    assert not [address for address in tab.asked if "example.org" in address]


def test_a_window_keeps_its_client_over_a_reload_and_its_copy_becomes_another(
    url: str, open_tab: OpenTab
) -> None:
    tab = open_tab(url)
    name = tab.run("return client.clientId")
    tab.page.reload()
    tab.wait("connected")
    assert tab.run("return client.clientId") == name
    copy = open_tab(url, until="connected", storage_state=None)
    copy.run("sessionStorage.setItem('agenthost.clientId', argument)", name)
    copy.page.reload()
    copy.wait("connected")
    tab.until("client.clientId !== argument && client.connection.value.phase === 'connected'", name)
    assert copy.run("return client.clientId") == name


def test_where_keys_are_needed_the_page_asks_for_one_and_no_address_holds_it(
    tmp_path: Path, open_tab: OpenTab
) -> None:
    key = KeyFile(tmp_path).create("ann")[1]
    with serving("--data", tmp_path) as served:
        tab = open_tab(served.wait_url(), until="locked")
        tab.forgive("WebSocket connection to .* failed")
        assert tab.run("return client.connection.value.reason") == "missing"
        tab.run("client.useKey('ah_0_1', 'tab')")
        tab.until("client.connection.value.reason === 'wrong'")
        for keep, kept in (("tab", [key, None]), ("browser", [None, key])):
            tab.run("client.useKey(argument.key, argument.keep)", {"key": key, "keep": keep})
            tab.wait("connected")
            tab.page.reload()
            tab.wait("connected")
            where = "return [sessionStorage, localStorage].map((one) => one.getItem('agenthost.key'))"
            assert tab.run(where) == kept
            tab.run("client.forgetKey()")
            tab.wait("locked")
            assert tab.run(where) == [None, None]
        assert not [address for address in tab.asked if key in address]


def test_the_token_in_the_address_is_kept_for_the_tab_and_taken_out(
    tmp_path: Path, open_tab: OpenTab
) -> None:
    with serving("--data", tmp_path, AGENTHOST_NO_AUTH="false", XDG_DATA_HOME=str(tmp_path)) as served:
        url = served.wait_url()
        token = served.out.wait_for("#tkn=").partition("#tkn=")[2]
        tab = open_tab(url, until="locked")
        tab.forgive("WebSocket connection to .* failed")
        tab.open(f"/#tkn={token}")  # in a tab that shows the page already
        assert token not in tab.page.url
        tab.run("client.forgetKey()")
        tab.wait("locked")
        tab.page.goto("about:blank")
        tab.open(f"/#tkn={token}")
        assert token not in tab.page.url
        assert tab.run("return sessionStorage.getItem('agenthost.key')") == token
        tab.page.reload()
        tab.wait("connected")
        assert not [address for address in tab.asked if token in address]
