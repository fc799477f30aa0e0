-- From version 2 to 3: levels. Upgrades only add, so that nodes of the version before can go on beside new ones.
--
-- A node has the level of what it can read and write. That of the host is what all nodes may write: it rises
-- when somebody says that no older node will come back, and never falls.

ALTER TABLE about ADD COLUMN level integer NOT NULL DEFAULT 1;
ALTER TABLE node ADD COLUMN level integer NOT NULL DEFAULT 1;

-- Become a node. With `p_is_alone` no other may be alive, and `p_dead` is fenced if its time is over. A
-- node below the level of the host is refused. Called on the connection of the beat.
CREATE FUNCTION join_v2(p_is_alone boolean, p_dead integer, p_name text, p_version text, p_url text,
    p_lease interval, p_level integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    other record;
    me integer;
BEGIN
    PERFORM pg_advisory_xact_lock(lock_space(), 0);
    PERFORM FROM about WHERE level > p_level;
    IF FOUND THEN
        RAISE EXCEPTION 'below the level of the host' USING ERRCODE = 'AH005';
    END IF;
    IF p_is_alone THEN
        PERFORM FROM node WHERE NOT is_dead FOR UPDATE;  -- a beat that is under way counts
        FOR other IN SELECT * FROM living_v1() LOOP
            IF other.id IS DISTINCT FROM p_dead OR NOT other.is_over THEN
                RAISE EXCEPTION 'another node is alive' USING ERRCODE = 'AH004';
            END IF;
            PERFORM cut_off_v1(other.id);
            PERFORM end_node_v1(other.id);
        END LOOP;
    END IF;
    DELETE FROM presence WHERE NOT is_there AND place < (SELECT max(place) - 100000 FROM ledger);
    DELETE FROM node WHERE is_dead AND id <= (SELECT max(id) - 1000 FROM node);
    INSERT INTO node (name, version, url, lease, level) VALUES (p_name, p_version, p_url, p_lease, p_level)
        RETURNING id INTO me;
    PERFORM pg_advisory_lock(lock_space(), me);
    RETURN me;
END
$$;

-- Raise the level of the host, unless a node is below it. Returns those that are.
CREATE FUNCTION finish_v1(p_level integer) RETURNS SETOF node LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(lock_space(), 0);
    RETURN QUERY SELECT * FROM node WHERE NOT is_dead AND level < p_level ORDER BY id;
    IF NOT FOUND THEN
        UPDATE about SET level = greatest(level, p_level);
    END IF;
END
$$;
