-- What happens later, what happened around memory, and where supervisors stand.

create table jobs (
    tenant text collate "C" not null,
    id text collate "C" not null,
    kind text collate "C" not null,
    key text collate "C" not null,
    payload json not null,
    not_before timestamptz not null,
    every_s double precision,
    step integer not null,
    state json not null,
    attempts integer not null,
    again boolean not null,
    lease_token text collate "C",
    lease_until timestamptz,
    done_at timestamptz,
    failed_at timestamptz,
    last_error text,
    primary key (tenant, id)
);

create unique index jobs_key on jobs (tenant, kind, key);

create index jobs_due on jobs (not_before, id) where done_at is null and failed_at is null;

call guard('jobs');

-- Workers serve all tenants: the claim sees the jobs of everybody, and nothing else.
create policy worker on jobs to recollect_worker using (true) with check (true);

grant select, update on jobs to recollect_worker;

create table operations (
    tenant text collate "C" not null,
    id text collate "C" not null,
    user_id text collate "C",
    thread_id text collate "C",
    node text collate "C" not null,
    op text collate "C" not null,
    status text collate "C" not null,
    memory_id text collate "C",
    category text collate "C",
    sim double precision,
    ts timestamptz not null,
    primary key (tenant, id)
);

create index operations_user on operations (tenant, user_id, ts desc);

create index operations_node on operations (tenant, node, ts desc);

call guard('operations');

-- How far readers were told in their threads what has changed.
create table header_cursors (
    tenant text collate "C" not null,
    reader text collate "C" not null,
    thread_id text collate "C" not null,
    rev bigint not null,
    seq bigint not null,
    thread_rev bigint not null,
    primary key (tenant, reader, thread_id)
);

call guard('header_cursors');

-- What readers were served for answers in the making: subjects and contexts are fingerprints, never words.
create table turns (
    tenant text collate "C" not null,
    reader text collate "C" not null,
    turn_id text collate "C" not null,
    begun_at timestamptz not null,
    bumps integer not null,
    mark text collate "C",
    marked_at timestamptz,
    primary key (tenant, reader, turn_id)
);

create index turns_begun on turns (tenant, begun_at);

call guard('turns');

create table turn_servings (
    tenant text collate "C" not null,
    reader text collate "C" not null,
    turn_id text collate "C" not null,
    context text collate "C" not null,
    subject text collate "C" not null,
    at timestamptz not null,
    primary key (tenant, reader, turn_id, context)
);

call guard('turn_servings');

create table turn_items (
    tenant text collate "C" not null,
    reader text collate "C" not null,
    turn_id text collate "C" not null,
    context text collate "C" not null,
    item_id text collate "C" not null,
    version_id text collate "C",
    primary key (tenant, reader, turn_id, context, item_id)
);

create index turn_items_item on turn_items (tenant, item_id);

create index turn_items_version on turn_items (tenant, version_id) where version_id is not null;

call guard('turn_items');

create table supervisor_checkpoints (
    tenant text collate "C" not null,
    id text collate "C" not null,
    user_id text collate "C" not null,
    thread_id text collate "C" not null,
    checkpoint_data json not null,
    nonce bytea not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (tenant, id)
);

create unique index supervisor_checkpoints_thread on supervisor_checkpoints (tenant, user_id, thread_id);

create index supervisor_checkpoints_updated on supervisor_checkpoints (tenant, updated_at desc);

call guard('supervisor_checkpoints');
