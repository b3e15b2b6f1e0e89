-- What an event or a memory is called by, besides its words, as the text index holds it: files, tags, artifacts. The
-- index keeps no texts: what is to be taken out of it has to be told it exactly.

alter table events add column names text not null default '';

alter table versions add column names text not null default '';

create temp table called (rid integer primary key, names text not null);

insert into called (rid, names)
select rid, found from (select e.rid as rid, (
    select group_concat(name, ' ') from (
        select json_extract(e.meta, '$.file') as name where json_type(e.meta, '$.file') = 'text'
        union all select value from json_each(e.meta, '$.tags')
        where json_type(e.meta, '$.tags') = 'array' and type = 'text'
        union all select value from json_each(e.meta, '$.artifacts')
        where json_type(e.meta, '$.artifacts') = 'array' and type = 'text'
    ) where trim(name) <> ''
) as found from events e where e.meta <> '{}') where found is not null;

insert into texts (texts, rowid, tenant, text)
select 'delete', 2 * e.rid, recollect_token(e.tenant), recollect_indexed(e.text, '')
from called c join events e on e.rid = c.rid;

insert into texts (rowid, tenant, text)
select 2 * e.rid, recollect_token(e.tenant), recollect_indexed(e.text, c.names)
from called c join events e on e.rid = c.rid;

update events set names = (select c.names from called c where c.rid = events.rid)
where rid in (select rid from called);

delete from called;

insert into called (rid, names)
select rid, found from (select v.rid as rid, (
    select group_concat(name, ' ') from (
        select value as name from json_each(i.tags)
        union all select a.artifact_ref from episode_artifacts a where a.tenant = i.tenant and a.episode_id = i.id
    )
) as found from versions v join items i on i.tenant = v.tenant and i.id = v.item_id where v.level = 3)
where found is not null;

insert into texts (texts, rowid, tenant, text)
select 'delete', 2 * v.rid + 1, recollect_token(v.tenant), recollect_indexed(recollect_bare(v.content), '')
from called c join versions v on v.rid = c.rid;

insert into texts (rowid, tenant, text)
select 2 * v.rid + 1, recollect_token(v.tenant), recollect_indexed(recollect_bare(v.content), c.names)
from called c join versions v on v.rid = c.rid;

update versions set names = (select c.names from called c where c.rid = versions.rid)
where rid in (select rid from called);

drop table called;
