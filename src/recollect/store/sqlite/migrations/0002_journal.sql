-- The journal: chained headers, bodies that can be erased, an index over what is named, and thread revisions.

create table journal (
    tenant text not null,
    seq integer not null,
    rev integer not null,
    at integer not null,
    op text not null,
    item_id text,
    user_id text,
    project_id text,
    agent_id text,
    thread_id text,
    thread_rev integer,
    actor text not null,
    actor_role text not null,
    actor_agent text,
    cause text,
    undoes integer,
    body_hash text not null,
    prev_hash text not null,
    hash text not null,
    primary key (tenant, seq)
);

create index journal_cause on journal (tenant, cause, seq) where cause is not null;

create table journal_bodies (
    tenant text not null,
    seq integer not null,
    nonce blob not null,
    body text not null,
    primary key (tenant, seq)
);

create table journal_refs (
    tenant text not null,
    ref text not null,
    seq integer not null,
    own integer not null,
    primary key (tenant, ref, seq)
) without rowid;

create table thread_revision (
    tenant text not null,
    owner text not null,
    thread_id text not null,
    rev integer not null,
    primary key (tenant, owner, thread_id)
) without rowid;

create table receipts (
    tenant text not null,
    actor text not null,
    key text not null,
    digest text not null,
    answer text not null,
    rev integer not null,
    at integer not null,
    primary key (tenant, actor, key)
) without rowid;
