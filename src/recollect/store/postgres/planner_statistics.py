"""What PostgreSQL's planner knows of tables that are being filled.

Of a table that was never analyzed it takes one row for all that a condition on the tenant lets through, and then any
order of joins is as good as any other: a question among 240 texts took 40 seconds. The server looks for itself, once a
minute. So those who write count their texts, and have what has grown analyzed, ever more seldom.
"""

import threading

from recollect.store.postgres.pool import Connection

_FIRST = 32
_LAST = 20_000
"""From here on growth takes long enough for the server to come round to it."""
_GROWN = """
select quote_ident(n.nspname) || '.' || quote_ident(c.relname)
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = 'recollect' and c.relkind = 'r'
  and pg_relation_size(c.oid) > 2 * greatest(c.relpages, 0)::bigint * current_setting('block_size')::bigint
"""


class TextsWritten:
    """Counts what this process writes. Safe to be told by several threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._count = 0
        self._next = _FIRST

    def due(self, texts: int) -> bool:
        """Whether tables should be looked at after so many more: whenever there are twice as many."""
        if not texts or self._next > _LAST:
            return False
        with self._guard:
            self._count += texts
            if self._count < self._next:
                return False
            while self._next <= self._count:
                self._next *= 2
            return True


def analyze_grown(connection: Connection) -> None:
    """Tables that are twice as large as when they were last looked at. Where the login may not, the server says so in
    its log and does nothing."""
    if names := [str(row[0]) for row in connection.execute(_GROWN.encode()).fetchall()]:
        connection.execute(f"analyze (skip_locked) {', '.join(names)}".encode())
