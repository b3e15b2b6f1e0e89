-- Which witnesses a version quotes: it needs every one of them. Versions of before quote nobody.

alter table witnesses add column quoted integer not null default 0;

-- Who took part in a thread: who appended to it, who spoke in it, whose it is.
create table participants (
    tenant text not null,
    episode_id text not null,
    principal_id text not null,
    primary key (tenant, episode_id, principal_id)
) without rowid;

insert or ignore into participants (tenant, episode_id, principal_id)
select tenant, id, user_id from items where kind = 'episode' and user_id is not null
union select tenant, id, actor_id from items where kind = 'episode' and actor_id is not null
union select tenant, item_id, author from events
union select h.tenant, h.item_id, h.actor from journal h
where h.op = 'append' and h.undoes is null and h.item_id is not null
and exists (select 1 from items i where i.tenant = h.tenant and i.id = h.item_id);

-- Events of shared threads whose words are for those alone who took part. Derived data: nothing of it is journalled.
create table private_events (
    tenant text not null,
    event_id text not null,
    episode_id text not null,
    primary key (tenant, event_id)
) without rowid;

create index items_private on items (tenant, id) where private;

insert into sqlite_stat1 (tbl, idx, stat) values
    ('participants', 'participants', '100000 100000 3 1'),
    ('private_events', 'private_events', '10000 10000 1'),
    ('items', 'items_private', '10000 10000 1');

analyze sqlite_schema;
