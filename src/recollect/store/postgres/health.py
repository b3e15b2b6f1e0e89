"""What can be wrong with the schema of a running database, and what an erasure leaves behind in it."""

import re
from collections.abc import Sequence

from recollect.store.migrations import Migration
from recollect.store.postgres.pool import Connection

# Where content was. `vacuum` reaches the parts of a table through its name.
ERASED_FROM = (
    "items, events, versions, witnesses, vectors, docs, episode_artifacts, relations, contradictions, records, usage, "
    "journal_bodies, supervisor_checkpoints"
)

_WRONG = r"""
select 'the index ' || c.relname || ' is not valid: reindex it'
from pg_index x join pg_class c on c.oid = x.indexrelid
where c.relnamespace = 'recollect'::regnamespace and not (x.indisvalid and x.indisready)
union all
select 'row level security is off or not forced on ' || c.relname
from pg_class c
where c.relnamespace = 'recollect'::regnamespace and c.relkind in ('r', 'p')
  and not (c.relrowsecurity and c.relforcerowsecurity)
union all
select 'the application''s role owns ' || c.relname || ' and could lift its policies'
from pg_class c
where c.relnamespace = 'recollect'::regnamespace and c.relowner = 'recollect_app'::regrole
union all
select 'the role ' || r.rolname || ' passes by row level security'
from pg_roles r
where r.rolname in ('recollect_app', 'recollect_search', 'recollect_roster', 'recollect_worker')
  and (r.rolsuper or r.rolbypassrls)
union all
select 'the ' || case when c.relkind in ('r', 'p') then 'table ' else 'view ' end || c.relname
    || ' is none of Recollect''s'
from pg_class c
where c.relnamespace = 'recollect'::regnamespace
  and (c.relkind in ('v', 'm', 'f') or (c.relkind in ('r', 'p') and not c.relispartition and c.relname <> all ($1)))
union all
select 'the trigger ' || t.tgname || ' on ' || c.relname || ' is none of Recollect''s'
from pg_trigger t join pg_class c on c.oid = t.tgrelid
where c.relnamespace = 'recollect'::regnamespace and not t.tgisinternal
union all
select 'the rule ' || r.rulename || ' on ' || c.relname || ' is none of Recollect''s'
from pg_rewrite r join pg_class c on c.oid = r.ev_class
where c.relnamespace = 'recollect'::regnamespace and c.relkind in ('r', 'p')
union all
select 'the function ' || f.proname || ' is not as Recollect makes it'
from pg_proc f
where f.pronamespace = 'recollect'::regnamespace and f.prosrc <> all ($2)
union all
select 'the policy ' || p.polname || ' on ' || c.relname || ' is not as Recollect makes it'
from pg_policy p join pg_class c on c.oid = p.polrelid cross join lateral (values (
    regexp_replace(coalesce(pg_get_expr(p.polqual, c.oid), ''), '[()\s]|::text', '', 'g'),
    regexp_replace(coalesce(pg_get_expr(p.polwithcheck, c.oid), ''), '[()\s]|::text', '', 'g')
)) as told (sees, writes)
where c.relnamespace = 'recollect'::regnamespace and not coalesce(case p.polname
    when 'tenant' then p.polroles = array['recollect_app'::regrole::oid] and told.writes = told.sees
        and told.sees = 'tenant=NULLIFcurrent_setting''app.tenant'',true,'''''
    when 'search' then c.relname = 'docs' and p.polroles = array['recollect_search'::regrole::oid]
    when 'roster' then c.relname = 'tenants' and p.polroles = array['recollect_roster'::regrole::oid]
    when 'worker' then c.relname = 'jobs' and p.polroles = array['recollect_worker'::regrole::oid]
    when 'everybody' then c.relname = 'recollect_schema'
end, false)
order by 1
"""
_TABLE = re.compile(r"create table (\w+)")
_BODY = re.compile(r"\$\$(.*?)\$\$", re.DOTALL)

_MAY_VACUUM = """
select bool_and({}) from pg_class c
where c.relnamespace = 'recollect'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'recollect_schema'
"""
_MAINTAIN = "has_table_privilege(c.oid, 'maintain')"
_OWN = "pg_has_role(c.relowner, 'usage')"
_FIRST_TO_GRANT_IT = 170000

_OTHERS = """
select exists (
    select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
      and greatest(age(backend_xmin), age(backend_xid)) >= age($1::text::xid)
)
"""


def findings(connection: Connection, known: Sequence[Migration]) -> list[str]:
    """What is at odds with what the migrations make."""
    statements = [statement for migration in known for statement in migration.statements]
    tables = [found[1] for statement in statements if (found := _TABLE.match(statement))]
    bodies = [body for statement in statements for body in _BODY.findall(statement)]
    return [str(row[0]) for row in connection.execute(_WRONG.encode(), [tables, bodies]).fetchall()]


def may_vacuum(connection: Connection) -> bool:
    granted = connection.info.server_version >= _FIRST_TO_GRANT_IT
    return _holds(connection, _MAY_VACUUM.format(_MAINTAIN if granted else _OWN))


def vacuum(connection: Connection) -> bool:
    """Remove erased rows and their index entries; False while somebody reads an older moment, in which they are."""
    row = connection.execute(b"select pg_current_xact_id()::xid::text").fetchone()
    assert row is not None
    held_up = _holds(connection, _OTHERS, row[0])
    names = ", ".join(f"recollect.{name}" for name in ERASED_FROM.split(", "))
    connection.execute(f"vacuum {names}".encode())
    return not held_up


def _holds(connection: Connection, question: str, *values: object) -> bool:
    row = connection.execute(question.encode(), values or None).fetchone()
    return row is not None and bool(row[0])
