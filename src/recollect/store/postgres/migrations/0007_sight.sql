-- Which texts of the tenant hold a phrase: the first that come, unranked, of both kinds. Whether the asker may see them
-- is asked outside, under the tenant's policy. `alone`: most rows of this part of the table are the tenant's, so that
-- walking through all of the tenant's places in the index as well saves nothing.
drop function if exists recollect_frequencies(text[], integer, boolean);

create function recollect_hits(phrases text[], most integer, alone boolean) returns table (phrase text, ref text)
language plpgsql stable security definer
set search_path = pg_catalog, recollect, pg_temp
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
as $$
declare
    mine text := nullif(current_setting('app.tenant', true), '');
    asked text;
    within tsquery;
begin
    if mine is null then
        raise exception 'a search without a tenant' using errcode = 'insufficient_privilege';
    end if;
    foreach asked in array phrases loop
        within := phraseto_tsquery('recollect.words', asked);
        if numnode(within) > 0 then
            if not alone then
                within := quote_literal(recollect.mark(mine))::tsquery && within;
            end if;
            return query
                select asked, d.ref::text from recollect.docs d where d.tenant = mine and d.tsv @@ within limit most;
        end if;
    end loop;
end
$$;

revoke execute on function recollect_hits(text[], integer, boolean) from public;

grant execute on function recollect_hits(text[], integer, boolean) to recollect_app;

-- Only an owner who may create in the schema can be given a function there.
grant create on schema recollect to recollect_search;

alter function recollect_hits(text[], integer, boolean) owner to recollect_search;

revoke create on schema recollect from recollect_search;

-- What somebody may see of a tenant, without looking at all of it.
create index items_seen on items (tenant, visibility, user_id, project_id, agent_id);
