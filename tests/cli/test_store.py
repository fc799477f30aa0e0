"""`--store`: a server on PostgreSQL, its keys, its end when it was taken over, and copies. Real processes."""

import asyncio
import base64
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenthost.host.host import Host
from databases import Postgres, needs_postgres, own_schema, shared_postgres
from serving import ask, run_agenthost, run_serve, serving

pytestmark = needs_postgres


def secret_key() -> str:
    return base64.urlsafe_b64encode(os.urandom(32)).decode()


KEY = secret_key()


@pytest.fixture(name="server")
def postgres() -> Postgres:
    return shared_postgres()


@pytest.fixture(name="store")
def url(server: Postgres) -> Iterator[str]:
    with own_schema(server) as schema:
        yield server.url(schema)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))


def schema_of(store: str) -> str:
    return store.rpartition("=")[2]


def test_sessions_are_there_after_a_restart_and_nothing_is_in_the_data_folder(
    store: str, tmp_path: Path
) -> None:
    place: dict[str, Any] = {
        "AGENTHOST_STORE": store,
        "AGENTHOST_SECRET_KEY": KEY,
        "AGENTHOST_DATA": str(tmp_path / "data"),
    }
    with serving(**place) as served:
        url = served.wait_url()
        assert store in served.out.wait_for("store")
        code, out, told = run_agenthost("ask", "hello", "--url", url)
        assert (code, out) == (0, "You said: hello\n")
        assert served.stop(signal.SIGTERM) == 0
    session = re.findall(r"session (\w+):", told)[0]
    with serving(**place) as served:
        url = served.wait_url()
        code, out, _ = run_agenthost("ask", "again", "--session", session, "--url", url)
        assert (code, out) == (0, "You said: again\n")
        code, out, _ = run_agenthost("sessions", "show", session, "--url", url)
        assert "hello" in out
    assert not (tmp_path / "data").exists()


def test_a_server_goes_on_after_one_that_was_killed(store: str) -> None:
    place: dict[str, Any] = {"AGENTHOST_STORE": store, "AGENTHOST_SECRET_KEY": KEY}
    with serving(**place) as first:
        first.wait_url()
        first.stop(signal.SIGKILL)
        with serving(**place) as second:
            assert ask(second.wait_url(), "/healthz").status == 200


def test_a_server_that_was_taken_over_ends_with_75_and_lets_its_clients_go(
    store: str, server: Postgres
) -> None:
    with serving(AGENTHOST_STORE=store, AGENTHOST_SECRET_KEY=KEY) as served:
        served.wait_url()
        begun = time.monotonic()
        server.execute("UPDATE node SET is_dead = true", schema=schema_of(store))
        assert served.process.wait(10) == 75
        assert time.monotonic() - begun < 5
        sentence = served.err.wait_for("another process has taken over the store")
    assert "may be started again" in sentence


def test_keys_and_the_token_are_in_the_store_and_change_while_it_is_served(store: str) -> None:
    token = run_agenthost("token", "--store", store)
    assert token[0] == 1
    assert "there is no token in postgresql:///postgres" in token[2]
    place: dict[str, Any] = {
        "AGENTHOST_STORE": store,
        "AGENTHOST_SECRET_KEY": KEY,
        "AGENTHOST_NO_AUTH": "false",
    }
    with serving(**place) as served:
        url = served.wait_url()
        code, token_text, _ = run_agenthost("token", "--store", store)
        assert code == 0
        assert ask(url, "/metrics", authorization=f"Bearer {token_text.strip()}").status == 200
        assert ask(url, "/metrics").status == 401
        code, key, told = run_agenthost("keys", "create", "--admin", "--store", store)
        assert (code, "This is the first key." in told) == (0, True)
        wait_status(url, key, 200)
        wait_status(url, token_text, 401)
        code, listed, _ = run_agenthost("keys", "list", AGENTHOST_STORE=store)
        assert key.split("_")[1] in listed
        code, _, told = run_agenthost("keys", "revoke", key.split("_")[1], "--store", store)
        assert "DELETE FROM" in told
        wait_status(url, key, 401)
        assert ask(url, "/metrics").status == 401


def wait_status(url: str, key: str, status: int) -> None:
    deadline = time.monotonic() + 5
    while ask(url, "/metrics", authorization=f"Bearer {key.strip()}").status != status:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_server_without_a_secret_key_or_with_another_one_changes_nothing(
    store: str, server: Postgres
) -> None:
    ended = run_serve("--port", "0", "--store", store)
    assert ended.returncode == 1
    assert "needs a secret key: set AGENTHOST_SECRET_KEY" in ended.stderr
    ended = run_serve("--port", "0", "--store", store, AGENTHOST_SECRET_KEY="short")  # noqa: S106
    assert "the key in AGENTHOST_SECRET_KEY is no key" in ended.stderr
    assert server.execute("SELECT to_regnamespace($1)::text", schema_of(store)) is None
    with serving("--store", store, AGENTHOST_SECRET_KEY=KEY) as served:
        served.wait_url()
        served.stop(signal.SIGTERM)
    nodes = server.execute("SELECT max(id) FROM node", schema=schema_of(store))
    newer = secret_key()
    ended = run_serve("--port", "0", "--store", store, AGENTHOST_SECRET_KEY=newer)
    assert "is not the one of this store; use that one, or both with a comma" in ended.stderr
    assert server.execute("SELECT max(id) FROM node", schema=schema_of(store)) == nodes
    for key in (f"{newer},{KEY}", newer):  # rotated
        with serving("--store", store, AGENTHOST_SECRET_KEY=key) as served:
            served.wait_url()
            served.stop(signal.SIGTERM)


def test_a_password_in_the_url_is_in_no_log_and_in_no_list_of_processes(store: str, server: Postgres) -> None:
    schema = schema_of(store)
    server.execute("DROP ROLE IF EXISTS guarded; CREATE ROLE guarded LOGIN PASSWORD 's3cret-word'")
    server.execute(f"CREATE SCHEMA {schema} AUTHORIZATION guarded")
    with_password = f"postgresql://guarded:s3cret-word@/postgres?host={server.folder}&schema={schema}"
    with serving(
        "--log-level", "debug", "--store", with_password, AGENTHOST_SECRET_KEY=KEY, PGPASSWORD="other-word"
    ) as served:
        served.wait_url()
        process = Path(f"/proc/{served.process.pid}")
        assert b"guarded:***********@/" in (process / "cmdline").read_bytes()
        assert b"other-word" not in (process / "environ").read_bytes()
        served.stop(signal.SIGTERM)
        told = "\n".join([*served.out.rest(), *served.err.rest()])
    assert "s3cret-word" not in told
    assert "use PGPASSFILE instead" in told
    server.execute(f"DROP SCHEMA {schema} CASCADE; DROP ROLE guarded")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--store", "mysql://ann:s3cret-word@db/agents"], "--store: expected a URL such as"),
        (["--store", "postgresql://127.0.0.1:1/agents"], "check that the server runs, and its address"),
    ],
)
def test_a_store_that_cannot_be_used_is_told_in_a_sentence(words: list[str], sentence: str) -> None:
    ended = run_serve("--port", "0", *words, AGENTHOST_SECRET_KEY=KEY)
    assert ended.returncode in (1, 2)
    assert sentence in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert "s3cret-word" not in ended.stderr


def test_doctor_says_that_it_is_not_for_such_a_store(store: str) -> None:
    code, _, told = run_agenthost("doctor", "--store", store)
    assert (code, "pg_amcheck" in told) == (2, True)


def test_everything_is_copied_there_and_back(store: str, tmp_path: Path) -> None:
    data, back = tmp_path / "data", tmp_path / "back"
    with serving("--data", data) as served:
        url = served.wait_url()
        _, _, told = run_agenthost("ask", "hello", "--url", url)
        served.stop(signal.SIGTERM)
    session = re.findall(r"session (\w+):", told)[0]
    _, key, _ = run_agenthost("keys", "create", "--data", str(data))
    code, out, told = run_agenthost("copy", "--from", f"sqlite:{data}", "--to", store)
    assert (code, told) == (0, "")
    assert "Copied 1 sessions to postgresql:///postgres" in out
    assert f"set AGENTHOST_SECRET_KEY to what is in {data / 'secret.key'}" in out
    words = ("ask", "again", "--session", session, "--key", key.strip(), "--url")
    with serving("--store", store, AGENTHOST_SECRET_KEY=(data / "secret.key").read_text()) as served:
        assert run_agenthost(*words, served.wait_url())[:2] == (0, "You said: again\n")
        code, _, told = run_agenthost("copy", "--from", store, "--to", f"sqlite:{back}")
        assert (code, "is in use by" in told, (back / "agenthost.db").exists()) == (1, True, False)
        served.stop(signal.SIGTERM)
    code, out, _ = run_agenthost("copy", "--from", store, "--to", f"sqlite:{back}")
    assert (code, f"Copied 1 sessions to {back}." in out) == (0, True)
    with serving("--data", back) as served:
        url = served.wait_url()
        assert run_agenthost(*words, url)[:2] == (0, "You said: again\n")
        assert (
            run_agenthost("sessions", "show", session, "--key", key.strip(), "--url", url)[1].count("again")
            == 4
        )
    for place in (store, f"sqlite:{back}"):
        code, _, told = run_agenthost("copy", "--from", f"sqlite:{data}", "--to", place)
        assert (code, "already" in told) == (1, True)


def test_copy_names_what_it_cannot_read(tmp_path: Path, store: str) -> None:
    code, _, told = run_agenthost("copy", "--from", "data", "--to", store)
    assert (code, "--from: expected a URL" in told and "or sqlite: and a data folder" in told) == (2, True)
    code, _, told = run_agenthost("copy", "--from", f"sqlite:{tmp_path}", "--to", store)
    assert (code, f"there is no store in {tmp_path}" in told) == (1, True)


def test_a_host_is_given_a_store_in_python(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTHOST_SECRET_KEY", KEY)

    async def count() -> int:
        async with Host(store=store) as host:
            assert host.trouble is None
            return host.counters().sessions

    assert asyncio.run(count()) == 0
