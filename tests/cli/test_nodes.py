"""`agenthost nodes`: the servers that share a store. Real processes on a real database."""

import json
import os
import signal
from collections.abc import Iterator

import pytest

from databases import Postgres, needs_postgres, own_schema, shared_postgres
from peer_nodes import SECRET
from serving import run_agenthost, serving

pytestmark = needs_postgres


@pytest.fixture(name="server")
def postgres() -> Postgres:
    return shared_postgres()


@pytest.fixture(name="store")
def url(server: Postgres) -> Iterator[str]:
    with own_schema(server) as schema:
        yield server.url(schema)


def test_servers_are_listed_while_they_are_there_and_with_all_afterwards(store: str) -> None:
    with serving(AGENTHOST_STORE=store, AGENTHOST_SECRET_KEY=SECRET.decode()) as served:
        url = served.wait_url()
        run_agenthost("ask", "hello", "--url", url)
        code, out, err = run_agenthost("nodes", "--store", store)
        assert (code, err) == (0, "")
        head, line = out.splitlines()
        assert head.split() == [
            "id",
            "name",
            "url",
            "version",
            "level",
            "state",
            "sessions",
            "up",
            "last",
            "beat",
        ]
        assert f"(process {served.process.pid})" in line
        assert f"{url}  " in line
        assert " alive " in line
        code, out, _ = run_agenthost("nodes", "--store", store, "--json")
        (node,) = json.loads(out)
        assert (node["id"], node["url"], node["state"]) == (1, url, "alive")
        assert node["name"].startswith(os.uname().nodename)
        assert 0 <= node["beat_seconds"] < 2
        assert served.stop(signal.SIGTERM) == 0
    code, out, err = run_agenthost("nodes", "--store", store)
    assert (code, out, err) == (0, "", "No server uses this store at present.\n")
    code, out, _ = run_agenthost("nodes", "--all", "--store", store)
    assert (code, " dead " in out) == (0, True)
    assert json.loads(run_agenthost("nodes", "--json", "--store", store)[1]) == []


def test_a_server_that_was_killed_is_silent(store: str) -> None:
    with serving(AGENTHOST_STORE=store, AGENTHOST_SECRET_KEY=SECRET.decode()) as served:
        served.wait_url()
        served.stop(signal.SIGKILL)
    states = set()
    while "silent" not in states:
        (node,) = json.loads(run_agenthost("nodes", "--json", "--store", store)[1])
        states.add(node["state"])
    assert states <= {"alive", "silent"}


def test_without_a_store_there_are_no_nodes(store: str, server: Postgres) -> None:
    code, out, err = run_agenthost("nodes")
    assert (code, out) == (2, "")
    assert "name it with --store URL or AGENTHOST_STORE" in err
    code, out, err = run_agenthost("nodes", "--store", store)
    assert (code, out) == (1, "")
    assert "there is no host in the schema" in err
    assert (
        server.execute("SELECT count(*) FROM pg_namespace WHERE nspname = $1", store.rpartition("=")[2]) == 0
    )


def test_a_database_that_cannot_be_reached_is_told(store: str) -> None:
    away = store.replace("host=", "host=/nowhere")
    code, _, err = run_agenthost("nodes", "--store", away)
    assert code == 1
    assert "Traceback" not in err
    assert "/nowhere" in err


def test_a_store_is_upgraded_without_a_server(store: str) -> None:
    code, out, err = run_agenthost("migrate", "--store", store)
    assert (code, err) == (0, "")
    assert out.endswith("has schema version 3, and is used at level 1.\n")
    with serving(AGENTHOST_STORE=store, AGENTHOST_SECRET_KEY=SECRET.decode()) as served:
        served.wait_url()
        code, out, _ = run_agenthost("migrate", "--finish", "--store", store)
        assert (code, out.endswith("is used at level 1.\n")) == (0, True)
    code, _, err = run_agenthost("migrate")
    assert code == 2
    assert "only servers on PostgreSQL share a store" in err
