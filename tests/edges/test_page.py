"""The page's files on real sockets: what is sent, how it is kept, and what needs a key."""

import asyncio
import gzip
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from agenthost.edges.health import Phase
from agenthost.edges.page import Page
from agenthost.host.access.keys import KeyFile
from hosting import run
from sites import site

INDEX = b"<!doctype html><title>built</title>"
SCRIPT = b"console.log('built')"


@pytest.fixture
def built(tmp_path: Path) -> Page:
    """Make a page as a build leaves it."""
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_bytes(INDEX)
    (folder / "favicon.svg").write_bytes(b"<svg/>")
    (folder / "sources").write_bytes(b"1234")
    (folder / "assets" / "index-1a.js").write_bytes(SCRIPT)
    (folder / "assets" / "index-1a.js.gz").write_bytes(gzip.compress(SCRIPT, mtime=0))
    (folder / "assets" / "index-1a.js.br").write_bytes(b"as brotli")
    return Page(folder)


def test_the_page_loads_only_from_its_server_and_cannot_be_framed(tmp_path: Path, built: Page) -> None:
    async def story() -> None:
        async with site(tmp_path, page=built) as here:
            answer = await here.ask("/")
            assert (answer.status, answer.body) == (200, INDEX)
            policy = dict(one.split(" ", 1) for one in answer.headers["content-security-policy"].split("; "))
            assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
            assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"

    run(story)


def test_files_named_by_hash_are_cached_and_others_revalidated(tmp_path: Path, built: Page) -> None:
    async def story() -> None:
        async with site(tmp_path, page=built) as here:
            assert "immutable" in (await here.ask("/assets/index-1a.js")).headers["cache-control"]
            index = await here.ask("/")
            assert index.headers["cache-control"] == "no-cache"
            for held in (index.headers["etag"], f'"other", W/{index.headers["etag"]}'):
                again = await here.ask("/", If_None_Match=held)
                assert (again.status, again.body) == (304, b"")
            assert (await here.ask("/", If_None_Match='"other"')).status == 200

    run(story)


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [("gzip, deflate, br", "br"), ("gzip", "gzip"), ("br;q=0, gzip;q=0.5", "gzip"), ("br; q=0.0", None)],
)
def test_a_browser_gets_the_best_encoding_it_accepts(
    tmp_path: Path, built: Page, accepted: str, encoding: str | None
) -> None:
    async def story() -> None:
        async with site(tmp_path, page=built) as here:
            answer = await here.ask("/assets/index-1a.js", Accept_Encoding=accepted)
            assert answer.headers.get("content-encoding") == encoding
            forms = {"br": b"as brotli", "gzip": gzip.compress(SCRIPT, mtime=0), None: SCRIPT}
            assert answer.body == forms[encoding]
            assert answer.headers["content-type"] == "text/javascript; charset=utf-8"

    run(story)


def test_head_returns_the_headers_and_other_methods_are_refused(tmp_path: Path, built: Page) -> None:
    async def story() -> None:
        async with site(tmp_path, page=built) as here:
            head = await here.ask("/", "HEAD")
            assert (head.status, head.headers["content-length"], head.body) == (200, str(len(INDEX)), b"")
            assert (await here.ask("/", "POST")).status == 405
            for path in ("/assets/none.js", "/assets/../index.html", "/sources", "/assets/index-1a.js.br"):
                assert (await here.ask(path)).status == 404

    run(story)


def test_without_a_build_a_placeholder_says_so_and_links_the_protocols(tmp_path: Path) -> None:
    async def story() -> None:
        async with site(tmp_path, page=Page(tmp_path / "none")) as here:
            answer = await here.ask("/")
            assert answer.status == 200
            assert b"was not built" in answer.body
            for link in (b"/aap/meta", b"/openapi.json", b"/ahp", b"/healthz"):
                assert link in answer.body

    run(story)


def test_the_page_needs_no_key_and_no_open_host_and_says_whether_a_key_is_valid(
    tmp_path: Path, built: Page
) -> None:
    async def story() -> None:
        async with site(tmp_path, page=built) as here:
            assert (await here.ask("/access")).json == {
                "needsKey": False,
                "isGranted": True,
                "withheld": {},
            }
        key = KeyFile(tmp_path).create("ann")[1]
        async with site(tmp_path, page=built) as here:
            here.app.phase = Phase.STARTING
            assert (await here.ask("/")).status == 200
            assert (await here.ask("/access")).json == {"needsKey": True, "isGranted": False}
            wrong = await here.ask("/access", Authorization="Bearer ah_0_1")
            assert wrong.json == {"needsKey": True, "isGranted": False}
            right = await here.ask("/access", Authorization=f"Bearer {key}")
            assert right.json == {
                "needsKey": True,
                "isGranted": True,
                "withheld": {"terminals": "key", "run": "key", "admin": "key"},
            }
            assert (await here.ask("/access", "POST")).status == 401

    run(story)


def test_a_websocket_may_send_its_key_as_a_subprotocol(tmp_path: Path, built: Page) -> None:
    key = KeyFile(tmp_path).create("ann")[1]

    def open_with(url: str, *protocols: str) -> str | None:
        with connect(url, subprotocols=[Subprotocol(one) for one in protocols], proxy=None) as socket:
            return socket.subprotocol

    async def story() -> None:
        async with site(tmp_path, page=built) as here:
            url = here.url.replace("http", "ws") + "/ahp"
            assert await asyncio.to_thread(open_with, url, "ahp", f"bearer.{key}") == "ahp"
            assert await asyncio.to_thread(open_with, url, f"bearer.{key}") is None
            for wrong in (["ahp"], ["ahp", "bearer."], ["ahp", f"bearer.{key}", f"bearer.{key}"]):
                with pytest.raises(InvalidStatus):
                    await asyncio.to_thread(open_with, url, *wrong)

    run(story)
