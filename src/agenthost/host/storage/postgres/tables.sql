-- The tables of version 2. The search path has the schema of the host alone.
--
-- Text is `bytea`, in UTF-8: names that clients choose may contain the NUL that PostgreSQL's text cannot hold.
-- URIs and names can be longer than an index takes, so their digests are indexed.

CREATE TABLE about (
    version integer NOT NULL,
    written_by text NOT NULL,
    is_complete boolean NOT NULL,  -- false while a store is copied into it
    sealed text,  -- a word, sealed with the secret key of the host
    root_node integer NOT NULL DEFAULT 0  -- the node that writes the root
);

-- A node is one run of a server. `is_dead` never becomes false again: whoever comes back is another node. A
-- node that is leaving still serves its clients, but its sessions can be taken. `facts` is what it has that
-- all nodes show, such as its agents and terminals.
CREATE TABLE node (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    version text NOT NULL,
    url text NOT NULL DEFAULT '',  -- where other nodes reach it
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    beat timestamptz NOT NULL DEFAULT clock_timestamp(),
    lease interval NOT NULL,
    is_leaving boolean NOT NULL DEFAULT false,
    is_dead boolean NOT NULL DEFAULT false,
    facts bytea NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50);

-- One row for each commit, in order, with the numbers that it gave: above `base`, up to `last_seq`. The newest
-- has the sequence number to continue from.
CREATE TABLE ledger (
    place bigint PRIMARY KEY,
    base bigint NOT NULL,
    last_seq bigint NOT NULL,
    node integer NOT NULL,
    ordinal bigint NOT NULL,
    UNIQUE (node, ordinal)
);

-- Numbers that outlive what they count. Further chats are no sessions here, and `entry_count` counts the log up
-- to `counted_seq`.
CREATE TABLE tally (
    last_number bigint NOT NULL,
    session_count bigint NOT NULL,
    entry_count bigint NOT NULL,
    counted_seq bigint NOT NULL
);
INSERT INTO tally VALUES (0, 0, 0, 0);

CREATE TABLE session (
    number bigint PRIMARY KEY CHECK (number > 0),
    uri bytea NOT NULL,
    name bytea NOT NULL,
    owner bytea NOT NULL,
    is_active boolean NOT NULL,
    summary bytea NOT NULL,
    private bytea NOT NULL,
    checksum bigint NOT NULL,
    names_checksum bigint NOT NULL,
    parent bigint NOT NULL,  -- of a further chat, its session; else 0
    family bigint NOT NULL,  -- the session that it belongs to: of a chat or a task another one
    node integer NOT NULL DEFAULT 0  -- the node that owns it with its family, if that is alive
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX session_by_uri ON session (sha256(uri));
CREATE UNIQUE INDEX session_by_name ON session (sha256(name));
CREATE INDEX session_by_owner ON session (sha256(owner), number) WHERE parent = 0;
CREATE INDEX session_newest ON session (number) WHERE parent = 0;
CREATE INDEX session_active ON session (number) WHERE is_active;

-- URIs, names and numbers of sessions that nodes are about to create.
CREATE TABLE reservation (
    number bigint PRIMARY KEY,
    uri bytea NOT NULL,
    name bytea NOT NULL,
    owner bytea NOT NULL,
    node integer NOT NULL
);

-- Sessions that were removed lately, for nodes that tell their clients. `place` is that of the ledger.
CREATE TABLE removed (
    number bigint PRIMARY KEY,
    place bigint NOT NULL,
    uri bytea NOT NULL,
    owner bytea NOT NULL,
    is_task boolean NOT NULL
);

-- The clients that are connected, at which node. `place` is that of the ledger at the last change.
CREATE TABLE presence (
    node integer NOT NULL,
    identity bytea NOT NULL,
    is_there boolean NOT NULL,
    place bigint NOT NULL,
    PRIMARY KEY (node, identity)
);
CREATE INDEX presence_newest ON presence (place);

-- The checksum is that of the rest, plus `state_seq`.
CREATE TABLE snapshot (number bigint PRIMARY KEY, state bytea NOT NULL, checksum bigint NOT NULL);

CREATE TABLE message (
    number bigint NOT NULL,
    position bigint NOT NULL,
    body bytea NOT NULL,
    checksum bigint NOT NULL,
    PRIMARY KEY (number, position)
);

CREATE TABLE content (
    number bigint NOT NULL,
    content_id bytea NOT NULL,
    content_type bytea NOT NULL,
    data bytea NOT NULL,
    checksum bigint NOT NULL,
    PRIMARY KEY (number, content_id)
);

-- The checksum is that of the rest of the row, plus `seq`: the store gives the numbers.
CREATE TABLE log (
    seq bigint PRIMARY KEY,
    resource bigint NOT NULL,
    envelope bytea NOT NULL,
    only_for bytea,
    checksum bigint NOT NULL
);
CREATE INDEX log_by_resource ON log (resource, seq);

-- `entry_count` and `first` are about the log up to `counted_seq`; `floor` is the highest number removed.
CREATE TABLE resource (
    number bigint PRIMARY KEY,
    state_seq bigint,
    entry_count bigint NOT NULL DEFAULT 0,
    first bigint,
    floor bigint NOT NULL DEFAULT 0
);
INSERT INTO resource (number) VALUES (0);
CREATE INDEX resource_longest ON resource (entry_count) WHERE first <= state_seq;
CREATE INDEX resource_oldest ON resource (first) WHERE first <= state_seq;

-- The checksum is that of the rest of the row, plus `slot` and `seq`.
CREATE TABLE receipt (
    identity bytea NOT NULL,
    slot bigint NOT NULL,
    client_seq bigint NOT NULL,
    digest bytea NOT NULL,
    seq bigint,
    checksum bigint NOT NULL,
    PRIMARY KEY (identity, slot)
);
CREATE INDEX receipt_by_seq ON receipt (seq);

CREATE TABLE range (first bigint PRIMARY KEY, last bigint NOT NULL, checksum bigint NOT NULL);

-- What commands change while a server runs: the keys, and the token.
CREATE TABLE document (name text PRIMARY KEY, data bytea NOT NULL, version bigint NOT NULL);

CREATE TABLE client (place bigint PRIMARY KEY, identity bytea NOT NULL UNIQUE, version bytea NOT NULL);

-- Half the CPU time and size of the default; not every build of the server has it.
DO $$
BEGIN
    ALTER TABLE log ALTER envelope SET COMPRESSION lz4;
    ALTER TABLE message ALTER body SET COMPRESSION lz4;
    ALTER TABLE snapshot ALTER state SET COMPRESSION lz4;
    ALTER TABLE content ALTER data SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL;
END
$$;
