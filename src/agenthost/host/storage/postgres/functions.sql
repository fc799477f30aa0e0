-- What changes the tables. Each function is called as one statement: everything has reached the server before
-- anything is locked, so a node that stops in the middle holds no lock.
--
-- The search path has the schema of the host alone. Advisory locks belong to a database, so the first half of
-- their keys is the schema: (schema, 0) orders all commits, (schema, node) is held by a node while it lives,
-- and (schema, -node) by a commit of that node.
--
-- AH001: this node was fenced. AH002: a write that makes no sense. AH003: history was lost. AH004: another
-- node is alive.

CREATE FUNCTION lock_space() RETURNS integer LANGUAGE sql STABLE AS
    'SELECT current_schema()::regnamespace::oid::integer';

-- The name of a node's connections, by which they are ended when it is fenced.
CREATE FUNCTION connection_name(me integer) RETURNS text LANGUAGE sql STABLE AS
    'SELECT concat(''agenthost '', lock_space(), ''.'', me)';

-- Where each commit is announced, in the order of the numbers: its node, ordinal, base and count.
CREATE FUNCTION channel() RETURNS text LANGUAGE sql STABLE AS
    'SELECT ''agenthost_'' || current_schema()::regnamespace::oid';

-- Wait for the order lock, then look whether this node may write. The look has to be a statement of its own
-- after the wait: a snapshot from before it would not show a fence that was set meanwhile.
CREATE FUNCTION enter_v1(me integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(lock_space(), 0);
    PERFORM FROM node WHERE id = me AND NOT is_dead;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'fenced' USING ERRCODE = 'AH001';
    END IF;
END
$$;

-- Whoever is alive, or seems to be, with what tells whether it is.
CREATE FUNCTION holder_v1(OUT id integer, OUT name text, OUT since timestamptz, OUT beat timestamptz,
    OUT is_over boolean) RETURNS SETOF record LANGUAGE sql AS $$
    SELECT id, name, since, beat, beat + lease < clock_timestamp()
        OR (beat < clock_timestamp() - interval '1 second' AND NOT EXISTS (
            SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND classid = lock_space()::oid AND objid = node.id::oid))
    FROM node WHERE NOT is_dead ORDER BY id
$$;

-- Become the node of this schema, fencing `dead` if its time is over. Called on the connection of the beat.
CREATE FUNCTION join_v1(p_dead integer, p_name text, p_version text, p_lease interval) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    other record;
    me integer;
BEGIN
    PERFORM pg_advisory_xact_lock(lock_space(), 0);
    PERFORM FROM node WHERE NOT is_dead FOR UPDATE;  -- a beat that is under way counts
    FOR other IN SELECT * FROM holder_v1() LOOP
        IF other.id IS DISTINCT FROM p_dead OR NOT other.is_over THEN
            RAISE EXCEPTION 'another node is alive' USING ERRCODE = 'AH004';
        END IF;
    END LOOP;
    PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = connection_name(p_dead)
        AND usename = current_user AND datname = current_database();
    UPDATE node SET is_dead = true WHERE NOT is_dead;
    DELETE FROM node WHERE id <= (SELECT max(id) - 100 FROM node);
    INSERT INTO node (name, version, lease) VALUES (p_name, p_version, p_lease) RETURNING id INTO me;
    PERFORM pg_advisory_lock(lock_space(), me);
    RETURN me;
END
$$;

-- Say that this node is alive. Returns false once it was fenced.
CREATE FUNCTION beat_v1(me integer) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE node SET beat = clock_timestamp() WHERE id = me AND NOT is_dead;
    RETURN FOUND;
END
$$;

CREATE FUNCTION leave_v1(me integer) RETURNS void LANGUAGE sql AS
    'UPDATE node SET is_dead = true WHERE id = me';

-- Remove entries of the log of a resource up to a number. Returns how many of them had been counted.
CREATE FUNCTION remove_entries_v1(p_number bigint, p_up_to bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    gone bigint;
BEGIN
    WITH removed AS (DELETE FROM log WHERE resource = p_number AND seq <= p_up_to RETURNING seq)
    SELECT count(*) INTO gone FROM removed WHERE seq <= (SELECT counted_seq FROM tally);
    UPDATE tally SET entry_count = entry_count - gone WHERE gone > 0;
    RETURN gone;
END
$$;

-- Refuse a session that never existed. Writes for one that was removed are ignored.
CREATE FUNCTION check_known_v1(p_number bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF p_number > (SELECT last_number FROM tally) THEN
        RAISE EXCEPTION 'there is no session with number %', p_number USING ERRCODE = 'AH002';
    END IF;
END
$$;

CREATE FUNCTION put_rows_v1(p_number bigint[], p_is_active boolean[], p_summary bytea[], p_private bytea[],
    p_sum bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE session SET is_active = given.is_active, summary = given.summary, private = given.private,
        checksum = given.checksum
    FROM unnest(p_number, p_is_active, p_summary, p_private, p_sum)
        AS given (number, is_active, summary, private, checksum)
    WHERE session.number = given.number;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed < cardinality(p_number) THEN
        PERFORM check_known_v1((SELECT max(n) FROM unnest(p_number) AS n));
    END IF;
END
$$;

-- Append to transcripts: only at their ends, and only of sessions that exist.
CREATE FUNCTION add_messages_v1(p_number bigint[], p_position bigint[], p_body bytea[], p_sum bigint[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    wrong record;
    added bigint;
BEGIN
    SELECT number, first, ended INTO wrong FROM (
        SELECT number, min(position) AS first, max(position) - min(position) + 1 - count(*) AS missing,
            (SELECT coalesce(max(there.position) + 1, 0) FROM message AS there
                WHERE there.number = given.number) AS ended
        FROM unnest(p_number, p_position) AS given (number, position) GROUP BY number
    ) AS found
    WHERE (first <> ended OR missing <> 0) AND EXISTS (SELECT FROM session WHERE session.number = found.number)
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'the transcript of session % goes on at %, not at %', wrong.number, wrong.ended,
            wrong.first USING ERRCODE = 'AH002';
    END IF;
    INSERT INTO message
    SELECT * FROM unnest(p_number, p_position, p_body, p_sum) AS given (number, position, body, checksum)
    WHERE EXISTS (SELECT FROM session WHERE session.number = given.number);
    GET DIAGNOSTICS added = ROW_COUNT;
    IF added < cardinality(p_number) THEN
        PERFORM check_known_v1((SELECT max(n) FROM unnest(p_number) AS n));
    END IF;
END
$$;

CREATE FUNCTION put_receipts_v1(p_identity bytea[], p_slot bigint[], p_client_seq bigint[], p_digest bytea[],
    p_seq bigint[], p_sum bigint[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO receipt SELECT * FROM unnest(p_identity, p_slot, p_client_seq, p_digest, p_seq, p_sum)
    ON CONFLICT (identity, slot) DO UPDATE SET client_seq = excluded.client_seq, digest = excluded.digest,
        seq = excluded.seq, checksum = excluded.checksum
$$;

CREATE FUNCTION drop_session_v1(p_number bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    home bigint;
BEGIN
    DELETE FROM session WHERE number = p_number RETURNING parent INTO home;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM remove_entries_v1(p_number, 9223372036854775807);
    DELETE FROM message WHERE number = p_number;
    DELETE FROM content WHERE number = p_number;
    DELETE FROM snapshot WHERE number = p_number;
    DELETE FROM resource WHERE number = p_number;
    UPDATE tally SET session_count = session_count - 1 WHERE home = 0;
END
$$;

CREATE FUNCTION raise_floor_v1(p_number bigint, p_up_to bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    gone bigint := remove_entries_v1(p_number, p_up_to);
BEGIN
    UPDATE resource SET entry_count = entry_count - gone, floor = greatest(floor, p_up_to),
        first = (SELECT min(seq) FROM log WHERE resource = p_number
            AND seq <= (SELECT counted_seq FROM tally))
    WHERE number = p_number;
    RETURN gone;
END
$$;

-- One of the writes that are not collected. What the columns mean depends on `kind`: see group.py.
CREATE FUNCTION put_other_v1(kind text, p_number bigint, p_other bigint, text1 bytea, text2 bytea,
    text3 bytea, p_data bytea, p_more bytea, p_sum bigint, p_sum2 bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    newest bigint;
BEGIN
    CASE kind
    WHEN 'S', 'A' THEN  -- a session, or an active one
        INSERT INTO session VALUES
            (p_number, text1, text2, text3, kind = 'A', p_data, p_more, p_sum, p_sum2, p_other);
        INSERT INTO resource (number) VALUES (p_number);
        UPDATE tally SET session_count = session_count + CASE p_other WHEN 0 THEN 1 ELSE 0 END,
            last_number = greatest(last_number, p_number);
    WHEN 'P' THEN  -- a snapshot
        UPDATE resource SET state_seq = p_other WHERE number = p_number;
        IF FOUND THEN
            INSERT INTO snapshot VALUES (p_number, p_data, p_sum) ON CONFLICT (number)
            DO UPDATE SET state = excluded.state, checksum = excluded.checksum;
        ELSE
            PERFORM check_known_v1(p_number);
        END IF;
    WHEN 'D' THEN
        PERFORM drop_session_v1(p_number);
    WHEN 'L' THEN
        PERFORM raise_floor_v1(p_number, p_other);
    WHEN 'M' THEN  -- the end of a transcript is cut off
        DELETE FROM message WHERE number = p_number AND position >= p_other;
    WHEN 'C' THEN  -- a content
        PERFORM FROM session WHERE number = p_number;
        IF FOUND THEN
            INSERT INTO content VALUES (p_number, text1, text2, p_data, p_sum) ON CONFLICT (number, content_id)
            DO UPDATE SET content_type = excluded.content_type, data = excluded.data,
                checksum = excluded.checksum;
        ELSE
            PERFORM check_known_v1(p_number);
        END IF;
    WHEN 'Y' THEN  -- contents are copied
        PERFORM FROM session WHERE number = p_number;
        IF FOUND THEN
            INSERT INTO content SELECT p_number, content_id, content_type, data, checksum FROM content
            WHERE number = p_other ON CONFLICT (number, content_id)
            DO UPDATE SET content_type = excluded.content_type, data = excluded.data,
                checksum = excluded.checksum;
        ELSE
            PERFORM check_known_v1(p_number);
        END IF;
    WHEN 'R' THEN  -- receipts are dropped
        DELETE FROM receipt WHERE identity = text1 AND (p_other IS NULL OR slot = p_other);
    WHEN 'E' THEN  -- a late echo
        UPDATE receipt SET seq = p_other, checksum = p_sum + slot
        WHERE identity = text1 AND client_seq = p_number AND digest = p_data AND seq IS NULL;
    WHEN 'V' THEN  -- the version that was agreed with a client
        SELECT coalesce(max(place), 0) + 1 INTO newest FROM client;
        DELETE FROM client WHERE identity = text1 OR place <= newest - p_other;
        INSERT INTO client VALUES (newest, text1, text2);
    END CASE;
END
$$;

-- One commit. Returns its base: entries have the numbers `base + offset`, and the store continues from
-- `base + p_count`. Rows that need no number are written before the order lock is taken, and the log after it.
-- The writes of one step do not depend on each other; between two steps stands one of the other writes.
CREATE FUNCTION put_group_v1(me integer, p_ordinal bigint, p_at_least bigint, p_count bigint,
    e_offset bigint[], e_resource bigint[], e_envelope bytea[], e_only_for bytea[], e_sum bigint[],
    r_step integer[], r_number bigint[], r_is_active boolean[], r_summary bytea[], r_private bytea[],
    r_sum bigint[],
    m_step integer[], m_number bigint[], m_position bigint[], m_body bytea[], m_sum bigint[],
    t_step integer[], t_identity bytea[], t_slot bigint[], t_client_seq bigint[], t_digest bytea[],
    t_seq bigint[], t_sum bigint[],
    o_kind text[], o_number bigint[], o_other bigint[], o_text1 bytea[], o_text2 bytea[], o_text3 bytea[],
    o_data bytea[], o_more bytea[], o_sum bigint[], o_sum2 bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    newest record;
    given bigint;
    low integer;
    high integer;
BEGIN
    PERFORM pg_advisory_xact_lock(lock_space(), -me);  -- an earlier try may still be running on the server
    SELECT base INTO given FROM ledger WHERE node = me AND ordinal = p_ordinal;
    IF FOUND THEN
        RETURN given;
    END IF;
    FOR step IN 0..cardinality(o_kind) LOOP
        IF step > 0 THEN
            PERFORM put_other_v1(o_kind[step], o_number[step], o_other[step], o_text1[step], o_text2[step],
                o_text3[step], o_data[step], o_more[step], o_sum[step], o_sum2[step]);
        END IF;
        low := array_position(r_step, step);
        IF low IS NOT NULL THEN
            high := low + cardinality(array_positions(r_step, step)) - 1;
            PERFORM put_rows_v1(r_number[low:high], r_is_active[low:high], r_summary[low:high],
                r_private[low:high], r_sum[low:high]);
        END IF;
        low := array_position(m_step, step);
        IF low IS NOT NULL THEN
            high := low + cardinality(array_positions(m_step, step)) - 1;
            PERFORM add_messages_v1(m_number[low:high], m_position[low:high], m_body[low:high],
                m_sum[low:high]);
        END IF;
        low := array_position(t_step, step);
        IF low IS NOT NULL THEN
            high := low + cardinality(array_positions(t_step, step)) - 1;
            PERFORM put_receipts_v1(t_identity[low:high], t_slot[low:high], t_client_seq[low:high],
                t_digest[low:high], t_seq[low:high], t_sum[low:high]);
        END IF;
    END LOOP;
    PERFORM enter_v1(me);
    PERFORM FROM ledger WHERE node = me AND ordinal = p_ordinal - 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'history was lost' USING ERRCODE = 'AH003';
    END IF;
    SELECT place, last_seq INTO newest FROM ledger ORDER BY place DESC LIMIT 1;
    given := greatest(newest.last_seq, p_at_least);
    INSERT INTO ledger VALUES (newest.place + 1, given, given + p_count, me, p_ordinal);
    INSERT INTO log
    SELECT given + entry.place, entry.resource, entry.envelope, entry.only_for, entry.checksum + given
    FROM unnest(e_offset, e_resource, e_envelope, e_only_for, e_sum)
        AS entry (place, resource, envelope, only_for, checksum)
    JOIN resource ON resource.number = entry.resource AND given + entry.place > resource.floor;
    PERFORM pg_notify(channel(), concat_ws(' ', me, p_ordinal, given, p_count));
    RETURN given;
END
$$;

-- Count what came to the log since the last time, so that what is too long is found without reading all of it.
CREATE FUNCTION count_entries_v1() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    newest bigint;
    counted bigint := (SELECT counted_seq FROM tally);
BEGIN
    SELECT coalesce(max(seq), 0) INTO newest FROM log;
    IF newest <= counted THEN
        RETURN;
    END IF;
    UPDATE resource SET entry_count = entry_count + found.count, first = coalesce(resource.first, found.first)
    FROM (SELECT resource AS number, count(*), min(seq) AS first FROM log WHERE seq > counted GROUP BY resource)
        AS found
    WHERE resource.number = found.number;
    UPDATE tally SET counted_seq = newest,
        entry_count = entry_count + (SELECT count(*) FROM log WHERE seq > counted);
END
$$;

-- Remove some of the oldest entries of a resource, none above a number. There is at least one.
CREATE FUNCTION trim_resource_v1(p_number bigint, p_up_to bigint, p_count bigint) RETURNS bigint
LANGUAGE sql AS $$
    SELECT raise_floor_v1(p_number, (SELECT max(seq) FROM (
        SELECT seq FROM log WHERE resource = p_number AND seq <= p_up_to ORDER BY seq LIMIT p_count) AS oldest))
$$;

CREATE FUNCTION trim_up_to_v1(p_seq bigint, p_limit bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    one record;
    removed bigint := 0;
BEGIN
    FOR one IN SELECT number, state_seq FROM resource WHERE first <= state_seq AND first <= p_seq
        ORDER BY first LIMIT 1000
    LOOP
        EXIT WHEN removed >= p_limit;
        removed := removed + trim_resource_v1(one.number, least(one.state_seq, p_seq), p_limit - removed);
    END LOOP;
    RETURN removed;
END
$$;

-- Remove old entries beyond these limits, of each resource and in all, and receipts up to `p_oldest`.
CREATE FUNCTION trim_v1(me integer, p_per_session bigint, p_total bigint, p_oldest bigint, p_limit bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    one record;
    excess bigint;
    near bigint;
    more bigint;
    removed bigint := 0;
BEGIN
    PERFORM enter_v1(me);
    DELETE FROM ledger WHERE place <= (SELECT max(place) FROM ledger) - 10000
        AND (node, ordinal) NOT IN (SELECT node, max(ordinal) FROM ledger GROUP BY node);
    DELETE FROM receipt WHERE (identity, slot) IN
        (SELECT identity, slot FROM receipt WHERE seq <= p_oldest ORDER BY seq LIMIT p_limit);
    PERFORM count_entries_v1();
    FOR one IN SELECT number, entry_count, state_seq FROM resource
        WHERE first <= state_seq AND entry_count > p_per_session ORDER BY entry_count DESC LIMIT 1000
    LOOP
        EXIT WHEN removed >= p_limit;
        removed := removed + trim_resource_v1(one.number, one.state_seq,
            least(one.entry_count - p_per_session, p_limit - removed));
    END LOOP;
    excess := (SELECT entry_count FROM tally) - p_total;
    IF excess <= 0 OR removed >= p_limit THEN
        RETURN removed;
    END IF;
    near := least(excess, p_limit);
    more := trim_up_to_v1((SELECT seq FROM log ORDER BY seq LIMIT 1 OFFSET near - 1), p_limit - removed);
    IF more = 0 AND near < excess THEN
        -- None of the oldest is in a snapshot yet. Look beyond them, at the cost of counting them.
        more := trim_up_to_v1((SELECT seq FROM log ORDER BY seq LIMIT 1 OFFSET excess - 1), p_limit - removed);
    END IF;
    RETURN removed + more;
END
$$;
