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
