"""Two servers on one store are one host: whoever is connected to either of them. Real processes."""

import http.client
import json
import signal
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from agenthost.wire.json import decode_json
from ahp_speaking import Client
from databases import needs_postgres, own_schema, shared_postgres
from hosting import run
from peer_nodes import SECRET
from serving import Served, ask, run_agenthost, serving

pytestmark = needs_postgres

COUNTER = """
import asyncio
from agenthost.host.authoring.agent import Agent

async def count(turn):
    await turn.say("begun ")
    for number in range(30):
        await asyncio.sleep(0.1)
        await turn.say(f"{number} ")

async def greet(turn):
    await turn.say("hello")

counter = Agent("counter", count, stream=["none", "delta"])
greeter = Agent("greeter", greet, stream=["none", "delta"])
"""


@pytest.fixture(name="place")
def store() -> Iterator[dict[str, str]]:
    server = shared_postgres()
    with own_schema(server) as schema:
        yield {"AGENTHOST_STORE": server.url(schema), "AGENTHOST_SECRET_KEY": SECRET.decode()}


@contextmanager
def two(place: Any, folder: Path, *words: str) -> Iterator[tuple[Served, Served]]:
    file = folder / "agents.py"
    file.write_text(COUNTER)
    with serving(file, *words, **place) as first, serving(file, *words, **place) as second:
        yield first, second


def aap(url: str, path: str, method: str = "GET", body: Any = None) -> Any:
    answer = ask(url, f"/aap/v3{path}", method, body=body)
    assert answer.status < 300, answer.body
    return answer.json if answer.body else None


def create(url: str, agent: str) -> str:
    return str(aap(url, "/sessions", "POST", {"agent": {"name": agent}})["sessionId"])


def said(text: str = "go") -> Any:
    return {"messages": [{"role": "user", "content": text}]}


class Stream(threading.Thread):
    """A turn over AAP, whose events are collected."""

    def __init__(self, url: str, session: str) -> None:
        super().__init__(daemon=True)
        self.url, self.session = url, session
        self.events: list[Any] = []
        self.start()

    def run(self) -> None:
        host = self.url.removeprefix("http://")
        connection = http.client.HTTPConnection(host, timeout=30)
        with closing(connection):
            self._read(connection)

    def _read(self, connection: http.client.HTTPConnection) -> None:
        body = json.dumps({**said(), "stream": "delta"})
        headers = {"Content-Type": "application/json"}
        connection.request("POST", f"/aap/v3/sessions/{self.session}/turns", body, headers)
        with connection.getresponse() as response:
            for line in response:
                if line.startswith(b"data:"):
                    self.events.append(decode_json(line[5:].strip()))

    @property
    def text(self) -> str:
        return "".join(event.get("delta", "") for event in self.events)

    def wait(self, text: str) -> None:
        pause = threading.Event()
        for _ in range(1_000):
            if text in self.text:
                return
            pause.wait(0.02)
        raise AssertionError(self.events)


def test_a_turn_of_a_session_of_another_node_runs_there_and_is_answered_here(
    place: dict[str, str], tmp_path: Path
) -> None:
    with two(place, tmp_path) as (first, second):
        here, there = first.wait_url(), second.wait_url()
        session = create(here, "greeter")
        answer = aap(there, f"/sessions/{session}/turns", "POST", said())
        assert answer["stopReason"] == "end_turn"
        assert answer["messages"][0]["content"] == "hello"
        histories = [aap(url, f"/sessions/{session}/history?type=full") for url in (here, there)]
        assert histories[0] == histories[1]
        assert len(aap(there, "/sessions")["sessions"]) == 1
        assert ask(there, f"/aap/v3/sessions/{session}", "DELETE").status == 204
        assert aap(here, "/sessions")["sessions"] == []


def test_a_turn_goes_on_after_its_node_was_killed_and_its_application_sees_one_stream(
    place: dict[str, str], tmp_path: Path
) -> None:
    with two(place, tmp_path) as (first, second):
        here, there = first.wait_url(), second.wait_url()
        session = create(here, "counter")
        stream = Stream(there, session)
        stream.wait("3 ")
        first.stop(signal.SIGKILL)
        stream.join(20)
        assert stream.events[-1] == {"stopReason": "end_turn"}
        assert stream.text.count("29 ") == 1
        numbers = [int(one) for one in stream.text.split() if one.isdigit()]
        assert numbers[:4] == [0, 1, 2, 3]
        assert numbers[-1] == 29


def has_echo(client: Client) -> bool:
    return any("From there" in frame and '"clientSeq":1' in frame for frame in client.frames)


def test_a_client_of_ahp_acts_on_a_session_of_another_node_and_sees_the_same(
    place: dict[str, str], tmp_path: Path
) -> None:
    async def story(here: str, there: str) -> None:
        async with Client.connected(here, "one") as one, Client.connected(there, "two") as two_:
            await one.open()
            await two_.open()
            uri = "greeter:/shared"
            await one.request("createSession", session=uri, provider="greeter")
            await one.subscribe(uri)
            await two_.subscribe(uri)
            await two_.tell(
                "dispatchAction",
                clientSeq=1,
                action={"type": "session/titleChanged", "session": uri, "title": "From there"},
            )
            await one.until(lambda: has_echo(one))
            await two_.until(lambda: has_echo(two_))
            await two_.tell(
                "dispatchAction",
                clientSeq=2,
                action={"type": "session/turnCancelled", "session": uri, "turnId": "none"},
            )
            await two_.until(lambda: any("rejectionReason" in frame for frame in two_.frames))
            assert not any("rejectionReason" in frame for frame in one.frames)

    with two(place, tmp_path) as (first, second):
        urls = first.wait_url(), second.wait_url()
        run(lambda: story(*urls))


def test_a_planned_stop_gives_its_turns_to_others(place: dict[str, str], tmp_path: Path) -> None:
    with two(place, tmp_path, "--drain", "0") as (first, second):
        here, there = first.wait_url(), second.wait_url()
        session = create(here, "counter")
        stream = Stream(there, session)
        stream.wait("3 ")
        assert first.stop(signal.SIGTERM) == 0
        stream.join(20)
        assert stream.events[-1] == {"stopReason": "end_turn"}
        assert stream.text.count("29 ") == 1


def node_of(served: Served, place: dict[str, str]) -> str:
    """Return the id of a server."""
    nodes = json.loads(run_agenthost("nodes", "--json", "--store", place["AGENTHOST_STORE"])[1])
    return next(str(node["id"]) for node in nodes if f"(process {served.process.pid})" in node["name"])


def test_a_node_that_is_drained_lets_its_turns_end_and_stops(place: dict[str, str], tmp_path: Path) -> None:
    with two(place, tmp_path) as (first, second):
        here, there = first.wait_url(), second.wait_url()
        session = create(here, "counter")
        stream = Stream(here, session)
        stream.wait("3 ")
        drained = node_of(first, place)
        code, out, err = run_agenthost("nodes", "drain", drained, "--store", place["AGENTHOST_STORE"])
        assert (code, out) == (0, "")
        assert err.startswith(f"{drained}: ")
        assert err.endswith(" has stopped\n")
        assert first.process.wait(5) == 0
        stream.join(5)
        assert stream.events[-1] == {"stopReason": "end_turn"}
        assert stream.text == "begun " + "".join(f"{number} " for number in range(30))
        (node,) = json.loads(run_agenthost("nodes", "--json", "--store", place["AGENTHOST_STORE"])[1])
        assert node["id"] != int(drained)
        assert aap(there, f"/sessions/{session}/turns", "POST", said())["stopReason"] == "end_turn"


def test_what_cannot_be_drained_is_told(place: dict[str, str], tmp_path: Path) -> None:
    with two(place, tmp_path) as (first, second):
        here, _ = first.wait_url(), second.wait_url()
        code, _, err = run_agenthost("nodes", "drain", "7", "--store", place["AGENTHOST_STORE"])
        assert code == 1
        assert "no server with the id 7 is alive" in err
        stream = Stream(here, create(here, "counter"))
        stream.wait("0 ")
        node = node_of(first, place)
        words = ("nodes", "drain", node, "--wait", "1", "--store", place["AGENTHOST_STORE"])
        code, _, err = run_agenthost(*words)
        assert code == 1
        assert f"still running after 1 seconds: {node} (" in err
        assert ask(here, "/readyz").json["error"]["code"] == "draining"
    code, _, err = run_agenthost("nodes", "drain", "1")
    assert code == 2
    assert "only servers on PostgreSQL share a store" in err
