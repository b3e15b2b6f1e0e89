-- The journal: chained headers, bodies that can be erased, an index over what is named, and thread revisions.

create table journal (
    tenant text collate "C" not null,
    seq bigint not null,
    rev bigint not null,
    at timestamptz not null,
    op text collate "C" not null,
    item_id text collate "C",
    user_id text collate "C",
    project_id text collate "C",
    agent_id text collate "C",
    thread_id text collate "C",
    thread_rev bigint,
    actor text collate "C" not null,
    actor_role text collate "C" not null,
    actor_agent text collate "C",
    cause text collate "C",
    undoes bigint,
    body_hash text collate "C" not null,
    prev_hash text collate "C" not null,
    hash text collate "C" not null,
    primary key (tenant, seq)
) partition by hash (tenant);

create index journal_cause on journal (tenant, cause, seq) where cause is not null;

call spread('journal');

call guard('journal');

create table journal_bodies (
    tenant text collate "C" not null,
    seq bigint not null,
    nonce bytea not null,
    body text not null,
    primary key (tenant, seq)
) partition by hash (tenant);

call spread('journal_bodies');

call guard('journal_bodies');

create table journal_refs (
    tenant text collate "C" not null,
    ref text collate "C" not null,
    seq bigint not null,
    own boolean not null,
    primary key (tenant, ref, seq)
) partition by hash (tenant);

call spread('journal_refs');

call guard('journal_refs');

create table thread_revision (
    tenant text collate "C" not null,
    owner text collate "C" not null,
    thread_id text collate "C" not null,
    rev bigint not null,
    primary key (tenant, owner, thread_id)
);

call guard('thread_revision');

create table receipts (
    tenant text collate "C" not null,
    actor text collate "C" not null,
    key text collate "C" not null,
    digest text collate "C" not null,
    answer text not null,
    rev bigint not null,
    at timestamptz not null,
    primary key (tenant, actor, key)
);

call guard('receipts');
