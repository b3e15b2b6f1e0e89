"""Where a database is. The URL is kept whole for connecting; what is shown of it never holds the password."""

from dataclasses import dataclass, field

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from recollect.errors import Invalid


@dataclass(frozen=True, slots=True)
class Address:
    """A PostgreSQL URL, taken apart."""

    host: str
    port: str
    database: str
    user: str
    conninfo: str = field(repr=False)
    password: str = field(repr=False)

    def __str__(self) -> str:
        return f"{self.host}:{self.port}/{self.database}"

    def shown(self, message: str) -> str:
        """The first line of a message from the server or the driver, without the password."""
        first = message.strip().partition("\n")[0]
        return first.replace(self.password, "***") if self.password else first


def read_address(url: str, *, patience: float) -> Address:
    """The address in a URL (or in libpq's `key=value` form). What it leaves open is filled in for a server that may
    vanish without a word: a peer that is silent for as long as `patience` counts as gone."""
    try:
        given = {name: str(value) for name, value in conninfo_to_dict(url).items() if value is not None}
    except psycopg.ProgrammingError:
        raise _unreadable() from None  # the driver's own message quotes the URL, password and all
    port = given.get("port", "5432")
    if "@" in given.get("host", "") + given.get("dbname", "") or not port.replace(",", "").isdigit():
        raise _unreadable()  # an unquoted @ or / in the password: the rest of it is taken for host, port or database
    silence = str(max(1, int(patience * 1000)))
    filled = {
        "connect_timeout": str(max(2, min(10, int(patience)))),
        "tcp_user_timeout": silence,
        "fallback_application_name": "recollect",
        "client_encoding": "UTF8",
    } | given
    user = given.get("user", "")
    return Address(
        host=given.get("host") or given.get("hostaddr") or "localhost",
        port=port,
        database=given.get("dbname") or user,
        user=user,
        conninfo=make_conninfo("", **filled),
        password=given.get("password", ""),
    )


def _unreadable() -> Invalid:
    return Invalid(
        "the PostgreSQL URL cannot be read",
        "Write postgresql://user:password@host:5432/database, and in the password %40 for @, %2F for /, %25 for %.",
    )
