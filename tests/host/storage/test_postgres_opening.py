"""The PostgreSQL store: what is refused when it is opened, with what to do, and without touching anything."""

import logging
from contextlib import suppress

import pytest

from agenthost.errors import Damaged, StorageError
from agenthost.host.storage import ROOT, AddSession, PutContent, PutSnapshot, Receipt
from agenthost.host.storage.postgres import levels, migrations
from agenthost.host.storage.postgres.levels import migrate
from agenthost.host.storage.postgres.store import PostgresStorage
from agenthost.host.store_address import masked_url, parse_address
from agenthost.logs import masked
from database_proxies import Proxy, TransactionPool, in_front_of
from databases import Postgres, dense_postgres, needs_postgres
from storing import added, commit, entry, row

EVERYTHING = """SELECT string_agg(concat_ws('.', nspname, relname, relacl::text), ' ')
    FROM (SELECT nspname, relname, relacl FROM pg_class
        RIGHT JOIN pg_namespace ON relnamespace = pg_namespace.oid WHERE nspname NOT LIKE 'pg_%'
        ORDER BY nspname, relname) AS found"""


BACK_TO_2 = """DROP FUNCTION join_v2, finish_v1; ALTER TABLE about DROP COLUMN level;
    ALTER TABLE node DROP COLUMN level; UPDATE about SET version = 2"""


def refusal(url: str) -> str:
    """Return the sentence with which a store is refused."""
    with pytest.raises(StorageError) as caught:
        PostgresStorage(url).open()
    return str(caught.value)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "does not begin with postgresql://"),
        ("agents.db", "does not begin with postgresql://"),
        ("mysql://db.example/agents", "does not begin with postgresql://"),
        ("postgresql://db.example", "names no database"),
        ("postgresql://db.example/", "names no database"),
        ("postgresql://db.example:many/agents", "cannot be read"),
        ("postgresql://[::1/agents", "cannot be read"),
        ("postgresql://db.example/agents?schema=Ann", "small letters, digits and _"),
        ("postgresql://db.example/agents?schema=pg_own", "small letters, digits and _"),
        ("postgresql://db.example/agents?schema", "cannot be read"),
    ],
)
def test_what_is_no_url_of_a_store_is_refused_with_an_example(url: str, why: str) -> None:
    with pytest.raises(
        StorageError, match=r"a URL such as postgresql://agenthost@db.example/agents"
    ) as caught:
        parse_address(url)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:s3cret-word@db.example/agents",
        "postgresql://ann:s3c@ret-word@db.example:1/agents?schema=No!",
        "postgresql://db.example/agents?password=s3cret-word&user=ann",
        "ann:s3cret-word@db.example",
        "mysql://ann:s3cret-word@db.example/",
    ],
)
def test_a_password_is_never_shown(url: str) -> None:
    assert "s3c" not in masked_url(url)
    with suppress(StorageError):
        address = parse_address(url)
        assert "s3c" not in f"{address!r} {address.dsn}"
        assert (address.password, masked("with s3cret-word")) == ("s3cret-word", "with ***")
        return
    with pytest.raises(StorageError) as caught:
        parse_address(url)
    assert "s3c" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "is_near"),
    [
        ("postgresql:///agents", True),
        ("postgresql:///agents?host=/run/postgresql", True),
        ("postgresql://localhost/agents", True),
        ("postgresql://127.0.0.2:5433/agents", True),
        ("postgresql://[::1]/agents", True),
        ("postgresql://db.example/agents", False),
        ("postgresql://10.0.0.7/agents", False),
    ],
)
def test_a_server_elsewhere_has_to_show_a_certificate(url: str, is_near: bool) -> None:
    assert parse_address(url).is_near == is_near


@needs_postgres
def test_a_server_that_is_not_there_is_named_with_what_to_check(server: Postgres) -> None:
    nobody = "postgresql:///agents?host=/nowhere&user=ann"
    assert "check that the server runs, and its address" in refusal(nobody)
    assert "check that the server runs, and its address" in refusal("postgresql://127.0.0.1:1/agents")
    assert "create it, or name another one" in refusal(server.url(database="nothing"))


@needs_postgres
def test_a_server_without_tls_is_refused_where_it_is_needed(server: Postgres) -> None:
    with in_front_of(server, Proxy) as proxy:
        port = proxy.listen_on_tcp()
        url = f"postgresql://agenthost@127.0.0.1:{port}/postgres?sslmode="
        assert "cannot be reached over TLS" in refusal(f"{url}require")
        assert "sslmode" in refusal(f"{url}sometimes")


@needs_postgres
def test_a_wrong_password_and_a_role_that_does_not_exist_are_told_apart(
    server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.execute("DROP ROLE IF EXISTS guarded; CREATE ROLE guarded LOGIN PASSWORD 'right'")
    monkeypatch.setenv("PGPASSWORD", "s3cret-word")
    sentence = refusal(server.url(user="guarded"))
    assert "check PGPASSWORD or PGPASSFILE" in sentence
    assert "s3cret-word" not in sentence
    assert "check the name of the role" in refusal(server.url(user="nobody_of_that_name"))


@needs_postgres
def test_a_role_without_rights_is_told_what_an_administrator_can_do(server: Postgres, schema: str) -> None:
    server.execute("DROP ROLE IF EXISTS plain; CREATE ROLE plain LOGIN")
    before = server.execute(EVERYTHING)
    url = server.url(schema, user="plain")
    assert f"CREATE SCHEMA {schema} AUTHORIZATION plain" in refusal(url)
    assert server.execute(EVERYTHING) == before
    server.execute(f"CREATE SCHEMA {schema} AUTHORIZATION plain")
    store = PostgresStorage(url)
    store.open()
    store.close()
    server.execute("DROP ROLE IF EXISTS plainer; CREATE ROLE plainer LOGIN")
    server.execute(f"GRANT USAGE ON SCHEMA {schema} TO plainer")
    assert "SELECT, INSERT, UPDATE and DELETE" in refusal(server.url(schema, user="plainer"))
    server.execute(f"DROP SCHEMA {schema} CASCADE; DROP ROLE plain; DROP ROLE plainer")


@needs_postgres
def test_a_role_that_only_uses_the_tables_is_enough(server: Postgres, schema: str) -> None:
    store = dense_postgres(server, schema)
    store.open()
    store.close()
    server.execute("DROP ROLE IF EXISTS clerk; CREATE ROLE clerk LOGIN")
    rights = f"SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema}"
    server.execute(f"GRANT USAGE ON SCHEMA {schema} TO clerk; GRANT {rights} TO clerk")
    other = PostgresStorage(server.url(schema, user="clerk"), begin=lambda last_seq: last_seq)
    other.open()
    commit(other, [added(1), entry(1)], 1)
    other.close()
    server.execute(f"DROP SCHEMA {schema} CASCADE; DROP ROLE clerk")


@needs_postgres
def test_a_schema_of_another_program_is_left_alone(server: Postgres, schema: str) -> None:
    server.execute(f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.session (id integer)")
    before = server.execute(EVERYTHING)
    assert "belongs to another program" in refusal(server.url(schema))
    assert server.execute(EVERYTHING) == before


@needs_postgres
def test_a_store_above_this_level_is_left_alone(server: Postgres, schema: str) -> None:
    store = dense_postgres(server, schema)
    store.open()
    store.close()
    server.execute("UPDATE about SET version = 99, level = 9, written_by = 'agenthost 99.0'", schema=schema)
    nodes = server.execute("SELECT count(*) FROM node", schema=schema)
    sentence = refusal(server.url(schema))
    assert "written by agenthost 99.0, is used by newer servers" in sentence
    assert "upgrade this agenthost too; nothing was changed" in sentence
    assert server.execute("SELECT count(*) FROM node", schema=schema) == nodes


@needs_postgres
def test_tables_that_a_newer_version_has_added_to_can_be_used(server: Postgres, schema: str) -> None:
    store = dense_postgres(server, schema)
    store.open()
    commit(store, [added(1)], 0)
    store.close()
    server.execute("UPDATE about SET version = 99; ALTER TABLE session ADD COLUMN colour text", schema=schema)
    store = dense_postgres(server, schema)
    store.open()
    commit(store, [added(2)], 0)
    assert store.load(2)
    store.close()


@needs_postgres
def test_a_store_of_the_version_before_is_upgraded_while_its_nodes_go_on(
    server: Postgres, schema: str
) -> None:
    old = PostgresStorage(server.url(schema), begin=lambda last: last, is_alone=False)
    old.open()
    server.execute(BACK_TO_2, schema=schema)
    new = PostgresStorage(server.url(schema), begin=lambda last: last, is_alone=False)
    new.open()
    assert server.execute("SELECT version FROM about", schema=schema) == migrations.VERSION
    commit(old, [added(1)], 0)
    commit(new, [added(2)], 0)
    assert new.load(1)
    old.close()
    new.close()


@needs_postgres
def test_an_upgrade_is_finished_when_no_older_node_is_left(
    server: Postgres, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = parse_address(server.url(schema))
    assert migrate(address, is_finish=False).level == migrations.LEVEL
    old = PostgresStorage(server.url(schema), is_alone=False)
    old.open()
    monkeypatch.setattr(migrations, "LEVEL", 2)
    monkeypatch.setattr(levels, "LEVEL", 2)
    new = PostgresStorage(server.url(schema), is_alone=False)
    new.open()
    refused = migrate(address, is_finish=True)
    assert (refused.level, refused.newest) == (1, 2)
    assert [one.partition(" ")[0] for one in refused.older] == [str(old.node)]
    old.close()
    assert migrate(address, is_finish=True).level == 2
    monkeypatch.setattr(migrations, "LEVEL", 1)
    assert "upgrade this agenthost too" in refusal(server.url(schema))
    new.close()


@needs_postgres
def test_a_pool_that_gives_each_transaction_another_connection_is_found_out(
    server: Postgres, schema: str
) -> None:
    before = server.execute(EVERYTHING)
    with in_front_of(server, TransactionPool) as pool:
        assert "PgBouncer in transaction mode; use a direct connection" in refusal(pool.url(schema))
    assert server.execute(EVERYTHING) == before


@needs_postgres
def test_every_opening_begins_a_range_of_numbers_and_those_between_were_never_given(
    server: Postgres, schema: str
) -> None:
    store = PostgresStorage(server.url(schema))
    first = store.open().last_seq
    commit(store, [added(1), entry(first + 1)], first + 3)
    assert [store.holds(seq) for seq in (0, 1, first - 1, first, first + 3, first + 4)] == [
        *(True, False, False, True, True, False)
    ]
    store.close()
    second = store.open().last_seq
    assert second > first + 3
    known = (0, first, first + 3, second)
    assert all(store.holds(seq) for seq in known)
    assert not any(store.holds(seq) for seq in (1, first - 1, first + 4, second - 1, second + 1))
    store.close()


@needs_postgres
def test_a_clock_that_is_wrong_is_warned_of_once(
    server: Postgres, schema: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    store = dense_postgres(server, schema)
    with caplog.at_level(logging.WARNING, "agenthost"):
        store.open()
        store.close()
        assert caplog.messages == []
        monkeypatch.setattr(migrations, "MAX_CLOCK_SECONDS", -1.0)
        store.open()
        store.close()
    (warning,) = caplog.messages
    assert "the clock of the database is" in warning


@needs_postgres
@pytest.mark.parametrize(
    ("damage", "read"),
    [
        ("UPDATE session SET summary = 'x'", lambda store: store.load(1)),
        ("UPDATE session SET owner = 'x'", lambda store: store.find(number=1)),
        ("UPDATE session SET parent = 7", lambda store: store.find(number=1)),
        ("UPDATE snapshot SET state = 'x' WHERE number = 1", lambda store: store.load(1)),
        ("UPDATE resource SET state_seq = 1 WHERE number = 1", lambda store: store.load(1)),
        ("UPDATE message SET position = 7", lambda store: store.load(1)),
        ("UPDATE log SET seq = 9", lambda store: store.replay(0, [1], "me")),
        ("UPDATE log SET envelope = 'x'", lambda store: store.replay(0, [1], "me")),
        ("UPDATE content SET data = 'x'", lambda store: store.content(1, "a")),
    ],
)
def test_what_is_not_what_was_written_is_noticed(
    server: Postgres, schema: str, damage: str, read: object
) -> None:
    store = dense_postgres(server, schema)
    store.open()
    commit(store, [added(1), entry(1), PutContent(1, "a", "text/plain", b"a")], 1)
    server.execute(damage, schema=schema)
    with pytest.raises(Damaged):
        read(store)  # type: ignore[operator]
    store.close()


@needs_postgres
def test_damaged_rows_are_left_out_of_lists_and_the_root_is_started_again(
    server: Postgres, schema: str
) -> None:
    store = dense_postgres(server, schema)
    store.open()
    receipts = [Receipt("me", slot, slot, b"digest", slot) for slot in (1, 2)]
    commit(
        store, [added(1), added(2), AddSession(row(3), b"", 0), PutSnapshot(ROOT, b"root", 1), *receipts], 2
    )
    server.execute("UPDATE session SET summary = 'x' WHERE number = 2", schema=schema)
    server.execute("UPDATE receipt SET seq = 7 WHERE slot = 1", schema=schema)
    server.execute("UPDATE snapshot SET state = 'x' WHERE number = 0", schema=schema)
    assert [found.number for found in store.list(owner=None, before=None, limit=2)] == [3, 1]
    assert store.receipts("me") == [receipts[1]]
    store.close()
    opening = store.open()
    assert (opening.root, opening.root_seq, store.floor([ROOT])) == (None, 0, 2)
    store.close()
