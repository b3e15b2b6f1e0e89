-- Memories: items, their events, versions and edges, and what is indexed of them. And who may see them.
--
-- Ids are text in collation "C": they sort by bytes, as SQLite sorts them, wherever the database was made.
-- JSON is json, never jsonb: a text that was hashed or exported comes back letter for letter.

create schema if not exists recollect;

-- Roles belong to the whole server, so another database may be making them at this moment.
do $$
declare
    role text;
    recent boolean := current_setting('server_version_num')::integer >= 160000;
    -- Without inheritance the owner of the tables is under none of the policies, and sees nothing.
    how text := case when recent then ' with inherit false, set true' else '' end;
begin
    foreach role in array array['recollect_app', 'recollect_search', 'recollect_roster', 'recollect_worker'] loop
        if not exists (select from pg_roles where rolname = role) then
            begin
                execute format('create role %I nologin', role);
            exception when duplicate_object or unique_violation then
                null;
            end;
        end if;
        begin
            if not pg_has_role(current_user, role, case when recent then 'set' else 'member' end) then
                execute format('grant %I to current_user', role) || how;
            end if;
        exception when unique_violation then
            null;
        end;
    end loop;
end
$$;

grant usage on schema recollect to recollect_app, recollect_search, recollect_roster, recollect_worker;

-- pgvector stays where it is when somebody has it already: its type is found there while this migration runs.
create extension if not exists vector with schema public;

select set_config('search_path', 'recollect, ' || quote_ident(n.nspname), true)
from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector';

-- A tenant's rows and nobody else's, for the owner as well. A session that names no tenant sees nothing: the setting
-- is then null, or empty once a transaction of the same session has had one.
create procedure guard(name text) language plpgsql as $$
declare
    mine text := 'tenant = nullif(current_setting(''app.tenant'', true), '''')';
begin
    call seal(name);
    execute format('create policy tenant on %I to recollect_app using (%s) with check (%s)', name, mine, mine);
    execute format('grant select, insert, update, delete on %I to recollect_app', name);
end
$$;

-- The application may vacuum what it erased from, where PostgreSQL (17) can grant that.
create procedure seal(name text) language plpgsql as $$
begin
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    if current_setting('server_version_num')::integer >= 170000 then
        execute format('grant maintain on %I to recollect_app', name);
    end if;
end
$$;

-- Eight parts by tenant. A part has no policy and no grant of its own: it is reached through its table or not at all.
create procedure spread(name text) language plpgsql as $$
begin
    for part in 0..7 loop
        execute format(
            'create table %I partition of %I for values with (modulus 8, remainder %s)', name || '_' || part, name, part
        );
        call seal(name || '_' || part);
    end loop;
end
$$;

revoke execute on all routines in schema recollect from public;

create table recollect_schema (
    version integer primary key,
    at timestamptz not null default now()
);

call seal('recollect_schema');

create policy everybody on recollect_schema using (true) with check (true);

grant select on recollect_schema to recollect_app;

create table tenants (
    tenant text collate "C" primary key,
    chain_id text not null,
    rev bigint not null,
    seq bigint not null,
    head text not null,
    dedup_key bytea not null,
    created_at timestamptz not null
);

call guard('tenants');

create table items (
    tenant text collate "C" not null,
    id text collate "C" not null,
    rev bigint not null,
    withdrawn boolean not null,
    last_seq bigint not null,
    kind text collate "C" not null,
    body json not null,
    category text collate "C" not null,
    visibility text collate "C" not null,
    user_id text collate "C",
    agent_id text collate "C",
    project_id text collate "C",
    thread_id text collate "C",
    run_id text collate "C",
    actor_id text collate "C",
    role text collate "C",
    topic_key text collate "C",
    importance integer not null,
    tags json not null,
    trust text collate "C" not null,
    private boolean not null,
    core boolean not null,
    constitutional boolean not null,
    state text collate "C" not null,
    state_at timestamptz,
    state_reason text,
    purge_at timestamptz,
    default_level integer not null,
    active_version_id text collate "C",
    pinned_min_level integer,
    active_lock_until timestamptz,
    active_lock_reason text collate "C",
    project_epoch bigint not null,
    origin_at timestamptz not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    valid_from timestamptz,
    valid_to timestamptz,
    supersedes text collate "C",
    superseded_by text collate "C",
    primary key (tenant, id)
) partition by hash (tenant);

create unique index items_thread on items (
    tenant, thread_id, visibility, coalesce(user_id, ''), coalesce(agent_id, ''), coalesce(project_id, '')
) where kind = 'episode' and thread_id is not null and not withdrawn;

create index items_user on items (tenant, user_id, id);

create index items_purge on items (tenant, purge_at) where purge_at is not null;

call spread('items');

call guard('items');

create table events (
    tenant text collate "C" not null,
    id text collate "C" not null,
    item_id text collate "C" not null,
    seq bigint not null,
    ts timestamptz not null,
    author text collate "C" not null,
    role text collate "C",
    text text not null,
    trust text collate "C" not null,
    chunks json not null,
    meta json not null,
    digest text collate "C" not null,
    withdrawn boolean not null,
    primary key (tenant, id)
) partition by hash (tenant);

create unique index events_seq on events (tenant, item_id, seq);

create index events_digest on events (tenant, item_id, digest);

call spread('events');

call guard('events');

create table versions (
    tenant text collate "C" not null,
    id text collate "C" not null,
    item_id text collate "C" not null,
    level integer not null,
    content text not null,
    bullets json not null,
    derived_from text collate "C",
    derivation text collate "C",
    created_at timestamptz not null,
    quality_score double precision,
    withdrawn boolean not null,
    primary key (tenant, id)
) partition by hash (tenant);

create index versions_item on versions (tenant, item_id, id);

create index versions_derived on versions (tenant, derived_from) where derived_from is not null;

call spread('versions');

call guard('versions');

create table witnesses (
    tenant text collate "C" not null,
    event_id text collate "C" not null,
    version_id text collate "C" not null,
    primary key (tenant, event_id, version_id)
) partition by hash (tenant);

create index witnesses_version on witnesses (tenant, version_id);

call spread('witnesses');

call guard('witnesses');

create table episode_artifacts (
    tenant text collate "C" not null,
    episode_id text collate "C" not null,
    artifact_type text collate "C" not null,
    artifact_ref text collate "C" not null,
    primary key (tenant, artifact_type, artifact_ref, episode_id)
);

create index episode_artifacts_episode on episode_artifacts (tenant, episode_id);

call guard('episode_artifacts');

create table relations (
    tenant text collate "C" not null,
    id text collate "C" not null,
    from_id text collate "C" not null,
    to_id text collate "C" not null,
    relation_type text collate "C" not null,
    strength double precision not null,
    created_at timestamptz not null,
    primary key (tenant, id)
);

create unique index relations_pair on relations (tenant, from_id, to_id);

create index relations_to on relations (tenant, to_id);

call guard('relations');

create table contradictions (
    tenant text collate "C" not null,
    id text collate "C" not null,
    memory_a text collate "C" not null,
    memory_b text collate "C" not null,
    detected_at timestamptz not null,
    resolved_at timestamptz,
    resolution text collate "C",
    resolution_note text,
    primary key (tenant, id)
);

create index contradictions_a on contradictions (tenant, memory_a);

create index contradictions_b on contradictions (tenant, memory_b);

call guard('contradictions');

create table records (
    tenant text collate "C" not null,
    family text collate "C" not null,
    id text collate "C" not null,
    stage text collate "C" not null,
    body json not null,
    primary key (tenant, family, id)
);

call guard('records');

create table usage (
    tenant text collate "C" not null,
    item_id text collate "C" not null,
    retrieval_count bigint not null,
    citation_count bigint not null,
    ignore_count bigint not null,
    last_accessed timestamptz,
    primary key (tenant, item_id)
);

call guard('usage');

-- The same for single versions: which length of a memory was of use.
create table version_usage (
    tenant text collate "C" not null,
    version_id text collate "C" not null,
    retrieval_count bigint not null,
    citation_count bigint not null,
    ignore_count bigint not null,
    last_accessed timestamptz,
    primary key (tenant, version_id)
);

call guard('version_usage');

create table tombstones (
    tenant text collate "C" not null,
    ref text collate "C" not null,
    at timestamptz not null,
    primary key (tenant, ref)
);

call guard('tombstones');

-- No dimension: each embedder has its own, and an index of its own (recollect_index_vectors).
create table vectors (
    tenant text collate "C" not null,
    embedder text collate "C" not null,
    ref text collate "C" not null,
    rev bigint not null,
    embedding vector not null,
    primary key (tenant, embedder, ref)
) partition by hash (tenant);

create index vectors_rev on vectors (tenant, embedder, rev);

call spread('vectors');

call guard('vectors');

-- Two indexes over the vectors of one embedder, of events and of versions, made when it is first used: the application
-- may not make one itself, and this makes no other. They hold directions, as numbers of half the length: enough to tell
-- who is near, and how near is told by the table. The function is its owner's, who owns the table.
create function recollect_index_vectors(embedder text, dimension integer) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set maintenance_work_mem = '512MB'
as $$
declare
    place text := (select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace
                   where e.extname = 'vector');
    name text := 'vectors_' || substr(md5(embedder || ' ' || dimension), 1, 16);
    marks text;
begin
    if dimension not between 1 and 2000 or to_regclass('recollect.' || name || '_1') is not null then
        return;
    end if;
    foreach marks in array array['ref < ''f''', 'ref >= ''v:'' and ref < ''v;'''] loop
        execute format(
            'create index %I on recollect.vectors '
            'using hnsw ((%I.l2_normalize(embedding)::%I.halfvec(%s)) %I.halfvec_cosine_ops) '
            'where embedder = %L and %I.vector_dims(embedding) = %s and ' || marks,
            name || case when marks like '%v%' then '_2' else '_1' end,
            place, place, dimension, place, embedder, place, dimension
        );
    end loop;
end
$$;

-- A long text is indexed in parts, since a tsvector ends at one megabyte. Each part holds its tenant as one more
-- lexeme, so that the index itself sorts out the tenants that share it.
create table docs (
    tenant text collate "C" not null,
    ref text collate "C" not null,
    part integer not null,
    item_id text collate "C" not null,
    octets integer not null default 0,
    tsv tsvector not null,
    primary key (tenant, ref, part) include (octets)
) partition by hash (tenant);

create index docs_tsv on docs using gin (tsv) with (gin_pending_list_limit = 256);

call spread('docs');

call guard('docs');

-- A constant policy adds no barrier before `@@`, which is not leakproof: behind a barrier it cannot use the index.
create policy search on docs for select to recollect_search using (true);

grant select on docs to recollect_search;

-- English stems, and no stop words: "who" and "will" are found where nothing else was asked for.
create text search dictionary stem (template = pg_catalog.snowball, language = english);

create text search configuration words (copy = pg_catalog.english);

alter text search configuration words alter mapping replace english_stem with stem;

-- The tenant as a lexeme that no parser makes of a text.
create function mark(tenant text) returns text language sql immutable as $$
    select chr(1) || encode(convert_to(tenant, 'UTF8'), 'hex')
$$;

-- The one way past the tenants' barrier: it reads the tenant from the session and gives out references, no texts.
-- A word of several parts is a phrase. Stop words count only when all the words are stop words.
create function recollect_search(words text[], hits integer) returns table (ref text, score real)
language plpgsql stable security definer
set search_path = pg_catalog, recollect, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
    mine text := nullif(current_setting('app.tenant', true), '');
    wanted tsquery := (
        select string_agg('(' || q::text || ')', ' | ')::tsquery
        from (
            select phraseto_tsquery('recollect.words', word) as q, phraseto_tsquery('pg_catalog.english', word) as rare
            from unnest(words) as word
        ) as asked
        where numnode(q) > 0 and (numnode(rare) > 0 or not exists (
            select from unnest(words) as other where numnode(phraseto_tsquery('pg_catalog.english', other)) > 0
        ))
    );
    within tsquery := quote_literal(recollect.mark(mine))::tsquery && wanted;
begin
    if mine is null then
        raise exception 'a search without a tenant' using errcode = 'insufficient_privilege';
    end if;
    return query
        select d.ref, max(ts_rank(d.tsv, wanted, 1)) from recollect.docs d
        where d.tenant = mine and d.tsv @@ within
        group by d.ref order by 2 desc, 1 limit hits;
end
$$;

-- How many texts of the tenant hold a phrase: counted up to `most`, and beyond that judged by how much of the table, from
-- the first one on, it took to find so many. Rows come in the order of their blocks. `alone`: most rows of this part of the table are the
-- tenant's, so that walking through all of the tenant's places in the index as well saves nothing.
create function recollect_frequencies(phrases text[], most integer, alone boolean)
returns table (phrase text, texts bigint)
language plpgsql stable security definer
set search_path = pg_catalog, recollect, pg_temp
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
as $$
declare
    mine text := nullif(current_setting('app.tenant', true), '');
    within tsquery;
    first bigint;
    last bigint;
    part oid;
begin
    if mine is null then
        raise exception 'a search without a tenant' using errcode = 'insufficient_privilege';
    end if;
    foreach phrase in array phrases loop
        within := phraseto_tsquery('recollect.words', phrase);
        if numnode(within) > 0 then
            if not alone then
                within := quote_literal(recollect.mark(mine))::tsquery && within;
            end if;
            select count(*), (min(counted.ctid)::text::point)[0], (max(counted.ctid)::text::point)[0], max(tableoid)
            into texts, first, last, part from (
                select d.ctid, d.tableoid from recollect.docs d where d.tenant = mine and d.tsv @@ within limit most
            ) as counted;
            if texts >= most then
                texts := texts * (greatest(pg_relation_size(part) / 8192, last + 1) - first) / (last + 1 - first);
            end if;
            return next;
        end if;
    end loop;
end
$$;

-- The best texts of one kind for weighted phrases: of each phrase its weight, more where it occurs more than once, less
-- in a text that is longer than the average. One occurrence ranks as 0.0607927. `among` narrows it to these texts.
create function recollect_find(
    phrases text[], weights double precision[], kind text, average double precision, hits integer, among text[],
    alone boolean
) returns table (ref text, score double precision)
language plpgsql stable security definer
set search_path = pg_catalog, recollect, pg_temp
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
as $$
declare
    mine text := nullif(current_setting('app.tenant', true), '');
    asked tsquery[] := (select array_agg(phraseto_tsquery('recollect.words', p) order by n)
                        from unnest(phrases) with ordinality as given (p, n));
    wanted tsquery := (select string_agg('(' || q::text || ')', ' | ')::tsquery from unnest(asked) as q);
    within tsquery := case when alone then wanted else quote_literal(recollect.mark(mine))::tsquery && wanted end;
    sum text := (select string_agg(
        case when numnode(asked[n]) = 1 then format('%s * ts_rank(d.tsv, $1[%s]) / 0.0607927', weights[n], n)
             else format('case when d.tsv @@ $1[%s] then %s else 0 end', n, weights[n]) end, ' + ')
        from generate_subscripts(asked, 1) as n);
begin
    if mine is null then
        raise exception 'a search without a tenant' using errcode = 'insufficient_privilege';
    end if;
    if wanted is null then
        return;
    end if;
    return query execute format(
        'select d.ref::text, max((%s) / sqrt(0.35 + 0.65 * d.octets / $2)) from recollect.docs d '
        'where d.tenant = $3 and d.tsv @@ $4 and d.ref >= $5 and d.ref < $5 || ''~'' %s '
        'group by d.ref order by 2 desc, 1 limit $6',
        sum, case when among is null then '' else 'and d.ref = any($7)' end
    ) using asked, average, mine, within, kind, hits, among;
end
$$;

-- Who is here, in one column: what `Store.tenants` needs, and no more.
create policy roster on tenants for select to recollect_roster using (true);

grant select (tenant) on tenants to recollect_roster;

create function recollect_tenants() returns setof text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select tenant from recollect.tenants order by tenant
$$;

revoke execute on function
    recollect_search(text[], integer), recollect_frequencies(text[], integer, boolean), recollect_tenants(),
    recollect_find(text[], double precision[], text, double precision, integer, text[], boolean),
    recollect_index_vectors(text, integer)
from public;

grant execute on function
    recollect_search(text[], integer), recollect_frequencies(text[], integer, boolean), recollect_tenants(),
    recollect_find(text[], double precision[], text, double precision, integer, text[], boolean),
    recollect_index_vectors(text, integer)
to recollect_app;

-- Only an owner who may create in the schema can be given a function there.
grant create on schema recollect to recollect_search, recollect_roster;

alter function recollect_search(text[], integer) owner to recollect_search;

alter function recollect_frequencies(text[], integer, boolean) owner to recollect_search;

alter function recollect_find(text[], double precision[], text, double precision, integer, text[], boolean)
    owner to recollect_search;

alter function recollect_tenants() owner to recollect_roster;

revoke create on schema recollect from recollect_search, recollect_roster;
