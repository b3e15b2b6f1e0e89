"""The only reader of the environment and of configuration files."""

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from getpass import getuser
from pathlib import Path
from typing import TypeVar

from recollect.domain.ids import TenantId, tenant_id
from recollect.domain.scope import Role
from recollect.errors import Invalid

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set, with its default."""

    store: str
    """Where memory rests: the path of a SQLite file, or a postgresql:// address."""
    home: Path
    """Where files beside the store go when it is not a file itself, and the default store."""
    tenant: TenantId
    user: str
    role: Role
    agent: str | None
    patience: float
    """How many seconds a write waits for others before it gives up."""
    job_cap: int
    """How many jobs of one tenant run at a time."""
    lease: float
    """How many seconds a worker holds a job before others may take it, unless it renews."""

    @property
    def postgres(self) -> bool:
        return self.store.startswith(("postgresql://", "postgres://"))


_PREFIX = "RECOLLECT_"


def load(overrides: Mapping[str, str | None] | None = None) -> Settings:
    """Settings from, each before the next: what is passed, RECOLLECT_* variables, recollect.toml in the home
    directory of Recollect, and the defaults."""
    given = {name: value for name, value in (overrides or {}).items() if value is not None}
    environment = {
        name.removeprefix(_PREFIX).lower(): value
        for name, value in os.environ.items()
        if name.startswith(_PREFIX) and value
    }
    home = Path(given.get("home") or environment.get("home") or Path.home() / ".recollect").expanduser()
    values = {**_file(home / "recollect.toml"), **environment, **given}
    known = {field.name for field in fields(Settings)}
    for name in sorted(given.keys() - known):
        raise Invalid(f"there is no setting {name!r}", f"There are: {', '.join(sorted(known))}.")
    return Settings(
        store=str(values.get("store") or home / "memory.db"),
        home=home,
        tenant=_checked("tenant", tenant_id, str(values.get("tenant") or "default")),
        user=str(values.get("user") or _login()),
        role=_checked("role", Role, str(values.get("role") or Role.ADMIN)),
        agent=str(values["agent"]) if values.get("agent") else None,
        patience=_number("patience", values.get("patience", 60)),
        job_cap=_whole("job_cap", values.get("job_cap", 2)),
        lease=_number("lease", values.get("lease", 60)),
    )


def _file(path: Path) -> dict[str, object]:
    if not path.is_file():
        return {}
    try:
        read = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Invalid(f"{path} is not valid TOML: {error}", "Correct it or move it away.") from None
    known = {field.name for field in fields(Settings)} - {"home"}  # the file lies in it
    for name in sorted(read.keys() - known):
        raise Invalid(f"{path} sets {name!r}, which is no setting", f"There are: {', '.join(sorted(known))}.")
    return read


def _checked(name: str, check: Callable[[str], T], text: str) -> T:
    try:
        return check(text)
    except ValueError as error:
        raise Invalid(f"the setting {name} cannot be {text!r}: {error}") from None


def _number(name: str, value: object) -> float:
    try:
        number = float(str(value))
    except ValueError:
        raise Invalid(f"the setting {name} is {value!r}, not a number") from None
    if not 0 < number < float("inf"):
        raise Invalid(f"the setting {name} is {value!r}: it must be above 0")
    return number


def _whole(name: str, value: object) -> int:
    number = _number(name, value)
    if number != int(number):
        raise Invalid(f"the setting {name} is {value!r}: give a whole number")
    return int(number)


def _login() -> str:
    try:
        return getuser()
    except (KeyError, OSError):
        raise Invalid(
            "this machine has no name for the user who runs this", "Give one: --user NAME, or RECOLLECT_USER=NAME"
        ) from None
