-- Which witnesses a version quotes: it needs every one of them. Versions of before quote nobody.

alter table witnesses add column quoted boolean not null default false;

-- Who took part in a thread: who appended to it, who spoke in it, whose it is.
create table participants (
    tenant text collate "C" not null,
    episode_id text collate "C" not null,
    principal_id text collate "C" not null,
    primary key (tenant, episode_id, principal_id)
);

call guard('participants');

-- Events of shared threads whose words are for those alone who took part. Derived data: nothing of it is journalled.
create table private_events (
    tenant text collate "C" not null,
    event_id text collate "C" not null,
    episode_id text collate "C" not null,
    primary key (tenant, event_id)
);

call guard('private_events');

create index items_private on items (tenant, id) where private;

-- Under the policies that hold for everybody: one tenant after the other.
set local role recollect_app;

do $$
declare
    mine text;
begin
    for mine in select recollect_tenants() loop
        perform set_config('app.tenant', mine, true);
        insert into participants (tenant, episode_id, principal_id)
        select tenant, id, user_id from items where tenant = mine and kind = 'episode' and user_id is not null
        union select tenant, id, actor_id from items where tenant = mine and kind = 'episode' and actor_id is not null
        union select tenant, item_id, author from events where tenant = mine
        union select h.tenant, h.item_id, h.actor from journal h
        where h.tenant = mine and h.op = 'append' and h.undoes is null and h.item_id is not null
        and exists (select from items i where i.tenant = h.tenant and i.id = h.item_id)
        on conflict do nothing;
    end loop;
    perform set_config('app.tenant', '', true);
end
$$;

reset role;
