-- Memories: items, their events, versions and edges, and what is indexed of them.
-- Tables with long rows keep their rowid: without it, rows of more than a quarter page spill into pages of their own.

create table tenants (
    tenant text primary key,
    chain_id text not null,
    rev integer not null,
    seq integer not null,
    head text not null,
    dedup_key blob not null,
    created_at integer not null
) without rowid;

create table items (
    tenant text not null,
    id text not null,
    rev integer not null,
    withdrawn integer not null,
    last_seq integer not null,
    kind text not null,
    body text not null,
    category text not null,
    visibility text not null,
    user_id text,
    agent_id text,
    project_id text,
    thread_id text,
    run_id text,
    actor_id text,
    role text,
    topic_key text,
    importance integer not null,
    tags text not null,
    trust text not null,
    private integer not null,
    core integer not null,
    constitutional integer not null,
    state text not null,
    state_at integer,
    state_reason text,
    purge_at integer,
    default_level integer not null,
    active_version_id text,
    pinned_min_level integer,
    active_lock_until integer,
    active_lock_reason text,
    project_epoch integer not null,
    origin_at integer not null,
    created_at integer not null,
    updated_at integer not null,
    valid_from integer,
    valid_to integer,
    supersedes text,
    superseded_by text,
    primary key (tenant, id)
) without rowid;

create unique index items_thread on items (
    tenant, thread_id, visibility, coalesce(user_id, ''), coalesce(agent_id, ''), coalesce(project_id, '')
) where kind = 'episode' and thread_id is not null and not withdrawn;

create index items_user on items (tenant, user_id, id);

create index items_purge on items (tenant, purge_at) where purge_at is not null;

create table events (
    rid integer primary key,
    tenant text not null,
    id text not null,
    item_id text not null,
    seq integer not null,
    ts integer not null,
    author text not null,
    role text,
    text text not null,
    trust text not null,
    chunks text not null,
    meta text not null,
    digest text not null,
    withdrawn integer not null,
    unique (tenant, id)
);

create unique index events_seq on events (tenant, item_id, seq);

create index events_digest on events (tenant, item_id, digest);

create table versions (
    rid integer primary key,
    tenant text not null,
    id text not null,
    item_id text not null,
    level integer not null,
    content text not null,
    bullets text not null,
    derived_from text,
    derivation text,
    created_at integer not null,
    quality_score real,
    withdrawn integer not null,
    unique (tenant, id)
);

-- With what it takes to know which version speaks for an item.
create index versions_item on versions (tenant, item_id, id, level, withdrawn);

create index versions_derived on versions (tenant, derived_from) where derived_from is not null;

create table witnesses (
    tenant text not null,
    event_id text not null,
    version_id text not null,
    primary key (tenant, event_id, version_id)
) without rowid;

create index witnesses_version on witnesses (tenant, version_id);

create table episode_artifacts (
    tenant text not null,
    episode_id text not null,
    artifact_type text not null,
    artifact_ref text not null,
    primary key (tenant, artifact_type, artifact_ref, episode_id)
) without rowid;

create index episode_artifacts_episode on episode_artifacts (tenant, episode_id);

create table relations (
    tenant text not null,
    id text not null,
    from_id text not null,
    to_id text not null,
    relation_type text not null,
    strength real not null,
    created_at integer not null,
    primary key (tenant, id)
) without rowid;

create unique index relations_pair on relations (tenant, from_id, to_id);

create index relations_to on relations (tenant, to_id);

create table contradictions (
    tenant text not null,
    id text not null,
    memory_a text not null,
    memory_b text not null,
    detected_at integer not null,
    resolved_at integer,
    resolution text,
    resolution_note text,
    primary key (tenant, id)
) without rowid;

create index contradictions_a on contradictions (tenant, memory_a);

create index contradictions_b on contradictions (tenant, memory_b);

create table records (
    tenant text not null,
    family text not null,
    id text not null,
    stage text not null,
    body text not null,
    primary key (tenant, family, id)
) without rowid;

create table usage (
    tenant text not null,
    item_id text not null,
    retrieval_count integer not null,
    citation_count integer not null,
    ignore_count integer not null,
    last_accessed integer,
    primary key (tenant, item_id)
) without rowid;

-- The same for single versions: which length of a memory was of use.
create table version_usage (
    tenant text not null,
    version_id text not null,
    retrieval_count integer not null,
    citation_count integer not null,
    ignore_count integer not null,
    last_accessed integer,
    primary key (tenant, version_id)
) without rowid;

create table tombstones (
    tenant text not null,
    ref text not null,
    at integer not null,
    primary key (tenant, ref)
) without rowid;

create table vectors (
    rid integer primary key,
    tenant text not null,
    embedder text not null,
    ref text not null,
    rev integer not null,
    data blob not null,
    unique (tenant, embedder, ref)
);

create index vectors_rev on vectors (tenant, embedder, rev);

-- The text index has no table of its own beside it: an event is row 2 * rid, a version row 2 * rid + 1.
create virtual table texts using fts5 (
    tenant, text, content = '', columnsize = 0, tokenize = 'porter unicode61 remove_diacritics 2'
);

insert into texts (texts, rank) values ('secure-delete', 1);

insert into texts (texts, rank) values ('automerge', 8);

-- The index begins with texts that nobody asks for: how rare a word is shows only against more than a handful.
insert into texts (rowid, tenant, text)
with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 200)
select -n, '', replace(printf('%.16c', 'x'), 'x', 'recollectfirsttexts ') from numbers;

-- How many texts hold a word, for the choice of the words that are worth looking for.
create virtual table vocabulary using fts5vocab (texts, 'row');
