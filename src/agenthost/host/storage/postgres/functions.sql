-- What changes the tables. Each function is called as one statement: everything has reached the server before
-- anything is locked, so a node that stops in the middle holds no lock.
--
-- The search path has the schema of the host alone. Advisory locks belong to a database, so the first half of
-- their keys is the schema: (schema, 0) orders all commits, (schema, node) is held by a node while it lives,
-- (schema, -node) by a commit of that node, and (schema, -2147483648) while a session is reserved.
--
-- What several nodes change (the ledger, the tally, receipts, clients) is changed under the order lock. The rows
-- of a session are changed by the node that owns it.
--
-- AH001: this node was fenced. AH002: a write that makes no sense. AH003: history was lost. AH004: another
-- node is alive. AH005: this node is below the level of the host.

CREATE FUNCTION lock_space() RETURNS integer LANGUAGE sql STABLE AS
    'SELECT current_schema()::regnamespace::oid::integer';

-- The name of a node's connections, by which they are ended when it is fenced.
CREATE FUNCTION connection_name(me integer) RETURNS text LANGUAGE sql STABLE AS
    'SELECT concat(''agenthost '', lock_space(), ''.'', me)';

-- Where each commit is announced, in the order of the numbers: its place, node, ordinal, base and count, and
-- what it is about; see notices.py. Other notices begin with a letter.
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

-- The nodes that are alive, or seem to be, with what tells whether they are.
CREATE FUNCTION living_v1(OUT id integer, OUT name text, OUT since timestamptz, OUT beat timestamptz,
    OUT is_over boolean) RETURNS SETOF record LANGUAGE sql AS $$
    SELECT id, name, since, beat, beat + lease < clock_timestamp()
        OR (beat < clock_timestamp() - interval '1 second' AND NOT EXISTS (
            SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND classid = lock_space()::oid AND objid = node.id::oid))
    FROM node WHERE NOT is_dead ORDER BY id
$$;

-- Fence a node: nothing that it writes from now on is kept. The caller has the order lock.
CREATE FUNCTION end_node_v1(p_node integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE node SET is_dead = true WHERE id = p_node;
    UPDATE presence SET is_there = false, place = (SELECT max(place) + 1 FROM ledger) WHERE node = p_node;
    DELETE FROM reservation WHERE node = p_node;
    PERFORM pg_notify(channel(), 'dead ' || p_node);
END
$$;

-- End the connections of a node that is dead: one of them may hold a lock.
CREATE FUNCTION cut_off_v1(p_node integer) RETURNS void LANGUAGE sql AS $$
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = connection_name(p_node)
        AND usename = current_user AND datname = current_database()
$$;

-- Say that this node is alive. Returns false once it was fenced.
CREATE FUNCTION beat_v1(me integer) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE node SET beat = clock_timestamp() WHERE id = me AND NOT is_dead;
    RETURN FOUND;
END
$$;

-- Declare another node dead if its time is over. Returns whether it is. Under the order lock, so a commit of
-- that node came before, or will be refused.
CREATE FUNCTION fence_v1(me integer, p_dead integer) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM cut_off_v1(p_dead) FROM living_v1() WHERE id = p_dead AND is_over;  -- it may hold the order lock
    PERFORM enter_v1(me);
    PERFORM FROM node WHERE id = p_dead AND NOT is_dead FOR UPDATE;  -- a beat that is under way counts
    PERFORM FROM living_v1() WHERE id = p_dead AND is_over;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM end_node_v1(p_dead);
    RETURN true;
END
$$;

CREATE FUNCTION leave_v1(me integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(lock_space(), 0);
    PERFORM end_node_v1(me);
END
$$;

-- Give all sessions away. The node has written everything about them, and goes on serving its clients.
CREATE FUNCTION release_v1(me integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM enter_v1(me);
    UPDATE node SET is_leaving = true WHERE id = me;
    UPDATE about SET root_node = 0 WHERE root_node = me;
    PERFORM pg_notify(channel(), 'released ' || me);
END
$$;

CREATE FUNCTION put_facts_v1(me integer, p_facts bytea) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE node SET facts = p_facts WHERE id = me;
    PERFORM pg_notify(channel(), 'facts ' || me);
END
$$;

-- Whether sessions of a node can be taken by another one.
CREATE FUNCTION is_free_v1(p_node integer) RETURNS boolean LANGUAGE sql STABLE AS
    'SELECT NOT EXISTS (SELECT FROM node WHERE id = p_node AND NOT is_dead AND NOT is_leaving)';

-- Take these sessions, with what belongs to them, if they are free. Returns whose each is then; of one that is
-- free and could not be taken, 0. The look comes after the lock, in a statement of its own, as in `enter_v1`.
CREATE FUNCTION claim_v1(me integer, p_numbers bigint[])
RETURNS TABLE (claimed bigint, holder integer) LANGUAGE plpgsql AS $$
DECLARE
    families bigint[] := ARRAY(SELECT DISTINCT coalesce(top.number, one.number) FROM session AS one
        LEFT JOIN session AS top ON top.number = one.family WHERE one.number = ANY (p_numbers) ORDER BY 1);
BEGIN
    PERFORM FROM session WHERE number = ANY (families) ORDER BY number FOR UPDATE;
    UPDATE session SET node = me
    WHERE number = ANY (families) AND node <> me AND is_free_v1(node) AND NOT is_free_v1(me);
    RETURN QUERY SELECT one.number, CASE WHEN is_free_v1(coalesce(top.node, one.node)) THEN 0
            ELSE coalesce(top.node, one.node) END
        FROM session AS one LEFT JOIN session AS top ON top.number = one.family
        WHERE one.number = ANY (p_numbers);
END
$$;

-- Take the root, if it is free. Returns whose it is then.
CREATE FUNCTION claim_root_v1(me integer) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
    PERFORM enter_v1(me);
    UPDATE about SET root_node = me WHERE root_node <> me AND is_free_v1(root_node) AND NOT is_free_v1(me);
    RETURN (SELECT root_node FROM about);
END
$$;

-- Reserve the URI and the name of a new session. `p_uris` and `p_names` are what nothing else may have, these
-- first. Returns its number, or whose session or reservation is in the way.
CREATE FUNCTION reserve_v1(me integer, p_uris bytea[], p_names bytea[], p_owner bytea,
    OUT given bigint, OUT taken_by bytea) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(lock_space(), -2147483648);
    SELECT number INTO given FROM reservation WHERE node = me AND uri = p_uris[1] AND name = p_names[1];
    IF FOUND THEN
        RETURN;  -- the answer to an earlier call was lost
    END IF;
    SELECT owner INTO taken_by FROM (
        SELECT owner FROM session WHERE sha256(uri) = ANY (SELECT sha256(one) FROM unnest(p_uris) AS one)
        UNION ALL
        SELECT owner FROM session WHERE sha256(name) = ANY (SELECT sha256(one) FROM unnest(p_names) AS one)
        UNION ALL
        SELECT owner FROM reservation WHERE uri = ANY (p_uris) OR name = ANY (p_names)
    ) AS found LIMIT 1;
    IF FOUND THEN
        RETURN;
    END IF;
    UPDATE tally SET last_number = last_number + 1 RETURNING last_number INTO given;
    INSERT INTO reservation VALUES (given, p_uris[1], p_names[1], p_owner, me);
END
$$;

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
    p_family bigint[], p_sum bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE session SET is_active = given.is_active, summary = given.summary, private = given.private,
        checksum = given.checksum,
        family = CASE given.family WHEN 0 THEN session.family ELSE given.family END
    FROM unnest(p_number, p_is_active, p_summary, p_private, p_family, p_sum)
        AS given (number, is_active, summary, private, family, checksum)
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

-- A number in a write: one that is given, or, below 0, so far after the base of the group, less one.
CREATE FUNCTION number_v1(p_base bigint, p_number bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS
    'SELECT CASE WHEN p_number < 0 THEN p_base - p_number - 1 ELSE p_number END';

CREATE FUNCTION put_receipts_v1(p_base bigint, p_identity bytea[], p_slot bigint[], p_client_seq bigint[], p_digest bytea[],
    p_seq bigint[], p_sum bigint[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO receipt
    SELECT identity, slot, client_seq, digest, number_v1(p_base, seq),
        checksum + coalesce(number_v1(p_base, seq), 0)
    FROM unnest(p_identity, p_slot, p_client_seq, p_digest, p_seq, p_sum)
        AS given (identity, slot, client_seq, digest, seq, checksum)
    ON CONFLICT (identity, slot) DO UPDATE SET client_seq = excluded.client_seq, digest = excluded.digest,
        seq = excluded.seq, checksum = excluded.checksum
$$;

CREATE FUNCTION drop_session_v1(p_number bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    gone record;
BEGIN
    DELETE FROM session WHERE number = p_number RETURNING uri, owner, parent, family INTO gone;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF gone.parent = 0 THEN
        INSERT INTO removed VALUES
            (p_number, (SELECT max(place) + 1 FROM ledger), gone.uri, gone.owner, gone.family <> p_number);
    END IF;
    PERFORM remove_entries_v1(p_number, 9223372036854775807);
    DELETE FROM message WHERE number = p_number;
    DELETE FROM content WHERE number = p_number;
    DELETE FROM snapshot WHERE number = p_number;
    DELETE FROM resource WHERE number = p_number;
    UPDATE tally SET session_count = session_count - 1 WHERE gone.parent = 0;
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
CREATE FUNCTION put_other_v1(me integer, p_base bigint, kind text, p_number bigint, p_other bigint,
    text1 bytea, text2 bytea, text3 bytea, p_data bytea, p_more bytea, p_sum bigint, p_sum2 bigint, p_family bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    newest bigint;
    seq_meant bigint := number_v1(p_base, p_other);
BEGIN
    CASE kind
    WHEN 'S', 'A' THEN  -- a session, or an active one
        INSERT INTO session VALUES
            (p_number, text1, text2, text3, kind = 'A', p_data, p_more, p_sum, p_sum2, p_other,
            CASE WHEN p_family > 0 THEN p_family WHEN p_other > 0 THEN p_other ELSE p_number END, me);
        INSERT INTO resource (number) VALUES (p_number);
        DELETE FROM reservation WHERE number = p_number;
        UPDATE tally SET session_count = session_count + CASE p_other WHEN 0 THEN 1 ELSE 0 END,
            last_number = greatest(last_number, p_number);
    WHEN 'P' THEN  -- a snapshot
        UPDATE resource SET state_seq = seq_meant WHERE number = p_number;
        IF FOUND THEN
            INSERT INTO snapshot VALUES (p_number, p_data, p_sum + seq_meant) ON CONFLICT (number)
            DO UPDATE SET state = excluded.state, checksum = excluded.checksum;
        ELSE
            PERFORM check_known_v1(p_number);
        END IF;
    WHEN 'D' THEN
        PERFORM drop_session_v1(p_number);
    WHEN 'L' THEN
        PERFORM raise_floor_v1(p_number, seq_meant);
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
        UPDATE receipt SET seq = seq_meant, checksum = p_sum + slot + seq_meant
        WHERE identity = text1 AND client_seq = p_number AND digest = p_data AND seq IS NULL;
    WHEN 'V' THEN  -- the version that was agreed with a client
        SELECT coalesce(max(place), 0) + 1 INTO newest FROM client;
        DELETE FROM client WHERE identity = text1 OR place <= newest - p_other;
        INSERT INTO client VALUES (newest, text1, text2);
    WHEN 'I', 'O' THEN  -- a client comes in, or goes out
        INSERT INTO presence VALUES (me, text1, kind = 'I', (SELECT max(place) + 1 FROM ledger))
        ON CONFLICT (node, identity) DO UPDATE SET is_there = excluded.is_there, place = excluded.place;
    END CASE;
END
$$;

-- One commit. Returns its base: entries have the numbers `base + offset`, and the store continues from
-- `base + p_count`. Rows and messages of sessions are written before the order lock is taken if nothing has to
-- come before them. The writes of one step do not depend on each other; between two steps stands one of the
-- other writes. `p_notice` is what other nodes are told of it.
CREATE FUNCTION put_group_v1(me integer, p_ordinal bigint, p_at_least bigint, p_count bigint, p_notice text,
    e_offset bigint[], e_resource bigint[], e_envelope bytea[], e_only_for bytea[], e_sum bigint[],
    r_step integer[], r_number bigint[], r_is_active boolean[], r_summary bytea[], r_private bytea[],
    r_family bigint[], r_sum bigint[],
    m_step integer[], m_number bigint[], m_position bigint[], m_body bytea[], m_sum bigint[],
    t_step integer[], t_identity bytea[], t_slot bigint[], t_client_seq bigint[], t_digest bytea[],
    t_seq bigint[], t_sum bigint[],
    o_kind text[], o_number bigint[], o_other bigint[], o_text1 bytea[], o_text2 bytea[], o_text3 bytea[],
    o_data bytea[], o_more bytea[], o_sum bigint[], o_sum2 bigint[], o_family bigint[]) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    newest record;
    given bigint;
    low integer;
    high integer;
    is_early boolean := cardinality(o_kind) = 0;
BEGIN
    PERFORM pg_advisory_xact_lock(lock_space(), -me);  -- an earlier try may still be running on the server
    SELECT base INTO given FROM ledger WHERE node = me AND ordinal = p_ordinal;
    IF FOUND THEN
        RETURN given;
    END IF;
    IF is_early THEN
        IF cardinality(r_number) > 0 THEN
            PERFORM put_rows_v1(r_number, r_is_active, r_summary, r_private, r_family, r_sum);
        END IF;
        IF cardinality(m_number) > 0 THEN
            PERFORM add_messages_v1(m_number, m_position, m_body, m_sum);
        END IF;
    END IF;
    PERFORM enter_v1(me);
    PERFORM FROM ledger WHERE node = me AND ordinal = p_ordinal - 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'history was lost' USING ERRCODE = 'AH003';
    END IF;
    SELECT place, last_seq INTO newest FROM ledger ORDER BY place DESC LIMIT 1;
    given := greatest(newest.last_seq, p_at_least);
    FOR step IN 0..cardinality(o_kind) LOOP
        IF step > 0 THEN
            PERFORM put_other_v1(me, given, o_kind[step], o_number[step], o_other[step], o_text1[step],
                o_text2[step], o_text3[step], o_data[step], o_more[step], o_sum[step], o_sum2[step],
                o_family[step]);
        END IF;
        IF NOT is_early THEN
            low := array_position(r_step, step);
            IF low IS NOT NULL THEN
                high := low + cardinality(array_positions(r_step, step)) - 1;
                PERFORM put_rows_v1(r_number[low:high], r_is_active[low:high], r_summary[low:high],
                    r_private[low:high], r_family[low:high], r_sum[low:high]);
            END IF;
            low := array_position(m_step, step);
            IF low IS NOT NULL THEN
                high := low + cardinality(array_positions(m_step, step)) - 1;
                PERFORM add_messages_v1(m_number[low:high], m_position[low:high], m_body[low:high],
                    m_sum[low:high]);
            END IF;
        END IF;
        low := array_position(t_step, step);
        IF low IS NOT NULL THEN
            high := low + cardinality(array_positions(t_step, step)) - 1;
            PERFORM put_receipts_v1(given, t_identity[low:high], t_slot[low:high], t_client_seq[low:high],
                t_digest[low:high], t_seq[low:high], t_sum[low:high]);
        END IF;
    END LOOP;
    INSERT INTO ledger VALUES (newest.place + 1, given, given + p_count, me, p_ordinal);
    INSERT INTO log
    SELECT given + entry.place, entry.resource, entry.envelope, entry.only_for, entry.checksum + given
    FROM unnest(e_offset, e_resource, e_envelope, e_only_for, e_sum)
        AS entry (place, resource, envelope, only_for, checksum)
    JOIN resource ON resource.number = entry.resource AND given + entry.place > resource.floor;
    PERFORM pg_notify(channel(), concat_ws(' ', newest.place + 1, me, p_ordinal, given, p_count, p_notice));
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
    DELETE FROM ledger WHERE place <= (SELECT max(place) FROM ledger) - 100000
        AND (node, ordinal) NOT IN (SELECT node, max(ordinal) FROM ledger GROUP BY node);
    DELETE FROM removed WHERE place <= (SELECT max(place) FROM ledger) - 100000;
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
