-- What happens later, what happened around memory, and where supervisors stand.

create table jobs (
    tenant text not null,
    id text not null,
    kind text not null,
    key text not null,
    payload text not null,
    not_before integer not null,
    every_s real,
    step integer not null,
    state text not null,
    attempts integer not null,
    again integer not null,
    lease_token text,
    lease_until integer,
    done_at integer,
    failed_at integer,
    last_error text,
    primary key (tenant, id)
) without rowid;

create unique index jobs_key on jobs (tenant, kind, key);

create index jobs_due on jobs (not_before, id) where done_at is null and failed_at is null;

create table operations (
    tenant text not null,
    id text not null,
    user_id text,
    thread_id text,
    node text not null,
    op text not null,
    status text not null,
    memory_id text,
    category text,
    sim real,
    ts integer not null,
    primary key (tenant, id)
) without rowid;

create index operations_user on operations (tenant, user_id, ts desc);

create index operations_node on operations (tenant, node, ts desc);

-- How far readers were told in their threads what has changed.
create table header_cursors (
    tenant text not null,
    reader text not null,
    thread_id text not null,
    rev integer not null,
    seq integer not null,
    thread_rev integer not null,
    primary key (tenant, reader, thread_id)
) without rowid;

-- What readers were served for answers in the making: subjects and contexts are fingerprints, never words.
create table turns (
    tenant text not null,
    reader text not null,
    turn_id text not null,
    begun_at integer not null,
    bumps integer not null,
    mark text,
    marked_at integer,
    primary key (tenant, reader, turn_id)
) without rowid;

create index turns_begun on turns (tenant, begun_at);

create table turn_servings (
    tenant text not null,
    reader text not null,
    turn_id text not null,
    context text not null,
    subject text not null,
    at integer not null,
    primary key (tenant, reader, turn_id, context)
) without rowid;

create table turn_items (
    tenant text not null,
    reader text not null,
    turn_id text not null,
    context text not null,
    item_id text not null,
    version_id text,
    primary key (tenant, reader, turn_id, context, item_id)
) without rowid;

create index turn_items_item on turn_items (tenant, item_id);

create index turn_items_version on turn_items (tenant, version_id) where version_id is not null;

create table supervisor_checkpoints (
    tenant text not null,
    id text not null,
    user_id text not null,
    thread_id text not null,
    checkpoint_data text not null,
    nonce blob not null,
    created_at integer not null,
    updated_at integer not null,
    primary key (tenant, id)
) without rowid;

create unique index supervisor_checkpoints_thread on supervisor_checkpoints (tenant, user_id, thread_id);

create index supervisor_checkpoints_updated on supervisor_checkpoints (tenant, updated_at desc);

-- What the planner is to assume: most rows are one tenant's. Left to itself it takes a tenant for a handful of rows, and
-- walks through all of them rather than look up a few. Nothing is ever sampled from the tables.
analyze;

insert into sqlite_stat1 (tbl, idx, stat) values
    ('items', 'items', '1000000 1000000 1'),
    ('items', 'items_user', '1000000 1000000 50000 1'),
    ('items', 'items_thread', '40000 40000 2 1 1 1 1'),
    ('items', 'items_purge', '10000 10000 2'),
    ('events', 'sqlite_autoindex_events_1', '1000000 1000000 1'),
    ('events', 'events_seq', '1000000 1000000 25 1'),
    ('events', 'events_digest', '1000000 1000000 25 1'),
    ('versions', 'sqlite_autoindex_versions_1', '1000000 1000000 1'),
    ('versions', 'versions_item', '1000000 1000000 2 1 1 1'),
    ('versions', 'versions_derived', '500000 500000 2'),
    ('witnesses', 'witnesses', '1000000 1000000 2 1'),
    ('witnesses', 'witnesses_version', '1000000 1000000 2'),
    ('episode_artifacts', 'episode_artifacts', '100000 100000 30000 5 1'),
    ('episode_artifacts', 'episode_artifacts_episode', '100000 100000 5'),
    ('relations', 'relations', '1000000 1000000 1'),
    ('relations', 'relations_pair', '1000000 1000000 5 1'),
    ('relations', 'relations_to', '1000000 1000000 5'),
    ('contradictions', 'contradictions', '10000 10000 1'),
    ('contradictions', 'contradictions_a', '10000 10000 2'),
    ('contradictions', 'contradictions_b', '10000 10000 2'),
    ('records', 'records', '10000 10000 2000 1'),
    ('usage', 'usage', '1000000 1000000 1'),
    ('version_usage', 'version_usage', '1000000 1000000 1'),
    ('tombstones', 'tombstones', '10000 10000 1'),
    ('vectors', 'sqlite_autoindex_vectors_1', '2000000 2000000 1000000 1'),
    ('vectors', 'vectors_rev', '2000000 2000000 1000000 3'),
    ('journal', 'sqlite_autoindex_journal_1', '3000000 3000000 1'),
    ('journal', 'journal_cause', '3000000 3000000 10 1'),
    ('journal_bodies', 'sqlite_autoindex_journal_bodies_1', '3000000 3000000 1'),
    ('journal_refs', 'journal_refs', '6000000 6000000 3 1'),
    ('thread_revision', 'thread_revision', '40000 40000 2000 1'),
    ('receipts', 'receipts', '100000 100000 5000 1'),
    ('jobs', 'jobs', '1000 1000 1'),
    ('jobs', 'jobs_key', '1000 1000 100 1'),
    ('jobs', 'jobs_due', '100 2 1'),
    ('operations', 'operations', '100000 100000 1'),
    ('operations', 'operations_user', '100000 100000 5000 1'),
    ('operations', 'operations_node', '100000 100000 10000 1'),
    ('header_cursors', 'header_cursors', '1000 1000 50 1'),
    ('turns', 'turns', '10000 10000 1000 1'),
    ('turns', 'turns_begun', '10000 10000 2'),
    ('turn_servings', 'turn_servings', '20000 20000 2000 2 1'),
    ('turn_items', 'turn_items', '100000 100000 10000 10 5 1'),
    ('turn_items', 'turn_items_item', '100000 100000 10'),
    ('turn_items', 'turn_items_version', '100000 100000 10'),
    ('supervisor_checkpoints', 'supervisor_checkpoints', '1000 1000 1'),
    ('supervisor_checkpoints', 'supervisor_checkpoints_thread', '1000 1000 50 1'),
    ('supervisor_checkpoints', 'supervisor_checkpoints_updated', '1000 1000 1');

analyze sqlite_schema;
