"""What can be wrong with the schema of a running database, and what an erasure leaves behind in it."""

from recollect.store.postgres.pool import Connection

# Where content was. `vacuum` reaches the parts of a table through its name.
ERASED_FROM = (
    "items, events, versions, witnesses, vectors, docs, episode_artifacts, relations, contradictions, records, usage, "
    "journal_bodies, supervisor_checkpoints"
)

_WRONG = """
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
order by 1
"""

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


def findings(connection: Connection) -> list[str]:
    return [str(row[0]) for row in connection.execute(_WRONG.encode()).fetchall()]


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
