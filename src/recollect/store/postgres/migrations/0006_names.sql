-- What an event or a memory is called by, besides its words, as the text index holds it: files, tags, artifacts.

alter table events add column names text not null default '';

alter table versions add column names text not null default '';

-- Names as the text index reads texts: letters and digits, without accents, parted by spaces; of scripts that put no
-- spaces between words, every letter by itself.
create function called(names text) returns tsvector language sql immutable as $$
    select to_tsvector('recollect.words', regexp_replace(
        regexp_replace(
            regexp_replace(normalize(names, NFKD), '[\u0300-\u036f]', '', 'g'), '[^[:alnum:]]+', ' ', 'g'
        ),
        '([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff])',
        ' \1 ', 'g'
    ))
$$;

revoke execute on function called(text) from public;

grant execute on function called(text) to recollect_app;

-- Under the policies that hold for everybody: one tenant after the other.
set local role recollect_app;

do $$
declare
    mine text;
begin
    for mine in select recollect_tenants() loop
        perform set_config('app.tenant', mine, true);
        update events e set names = found.names from (
            select id, (
                select string_agg(name, ' ') from (
                    select meta ->> 'file' as name where json_typeof(meta -> 'file') = 'string'
                    union all
                    select value #>> '{}' from json_array_elements(
                        case when json_typeof(meta -> 'tags') = 'array' then meta -> 'tags' else '[]' end
                    ) where json_typeof(value) = 'string'
                    union all
                    select value #>> '{}' from json_array_elements(
                        case when json_typeof(meta -> 'artifacts') = 'array' then meta -> 'artifacts' else '[]' end
                    ) where json_typeof(value) = 'string'
                ) as given where trim(name) <> ''
            ) as names from events where tenant = mine and meta::text <> '{}'
        ) as found where e.tenant = mine and e.id = found.id and found.names is not null;
        update versions v set names = found.names from (
            select id, (
                select string_agg(name, ' ') from (
                    select json_array_elements_text(i.tags) as name
                    union all
                    select artifact_ref from episode_artifacts a where a.tenant = mine and a.episode_id = i.id
                ) as given
            ) as names from items i where tenant = mine
        ) as found where v.tenant = mine and v.item_id = found.id and v.level = 3 and found.names is not null;
        update docs d set tsv = d.tsv || called(e.names) from events e
        where d.tenant = mine and e.tenant = mine and d.ref = 'e:' || e.id and d.part = 0 and e.names <> '';
        update docs d set tsv = d.tsv || called(v.names) from versions v
        where d.tenant = mine and v.tenant = mine and d.ref = 'v:' || v.id and d.part = 0 and v.names <> '';
    end loop;
    perform set_config('app.tenant', '', true);
end
$$;

reset role;

drop function called(text);
