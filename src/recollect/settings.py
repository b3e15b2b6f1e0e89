"""The only reader of the environment and of configuration files."""

import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from getpass import getuser
from pathlib import Path
from typing import TypeVar, cast
from urllib.parse import unquote

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
    embedder: str
    """Who makes vectors: local (bundled), none (words alone), or remote (embedder_url)."""
    embedder_url: str
    """The address of an OpenAI-compatible service, up to and without /embeddings."""
    embedder_model: str
    embedder_key: str
    judge: str
    """Who compares memories: local (bundled, with rules, and the larger judge where it is installed), small (without
    the larger one), or none (rules alone)."""
    keeper: str
    """Who weighs sentences: local (bundled, with rules), or none (rules and the embedder)."""
    writer: str
    """The language model that reads messages for memories, such as openai:gpt-5-mini; blank means rules alone."""
    writers: Mapping[str, str]
    """Other language models for single tasks, by the name of the task: extract_facts, compare_statements."""
    writer_url: str
    """The address of an OpenAI-compatible service, where the model is not at its maker's own."""
    writer_key: str
    writer_timeout: float
    """How many seconds a language model may take for an answer."""
    writer_tokens: int
    """How many tokens of a language model one tenant may use in a day."""
    turn_cap: int
    """How many memories are made of one turn at most."""
    day_cap: int
    """How many memories are made of one user's turns in a day at most."""
    categories: Path | None
    """A YAML file with categories and allowlists; without one those that come with Recollect hold."""
    escalation_mode: str
    """What happens when more evidence is called for: A serves it and says so, B asks people first."""
    escalation_status: int
    """The HTTP status that asks people first: 409 or 428."""
    episode_idle: float
    """After how many minutes of silence a thread is closed and summarised."""
    lock_minutes: float
    """For how many minutes a promoted version is kept from being compressed, 30 to 120; extended when it is read."""
    summary_days: float
    """After how many days without use an episode is served as its summary at most."""
    packet_days: float
    """After how many days without use an episode is served as a hint."""
    archive_days: float
    """After how many days without use a project's memory is archived, once the project's epoch has advanced."""
    expire_days: float
    """After how many days without any use at all a memory that another one covers expires."""
    repositories: Mapping[str, str]
    """Git repositories by project: a new tag, or a merge to the main branch, advances the project's epoch."""
    host: str
    """Where the server listens."""
    port: int
    """The server's port; 0 takes one that is free."""
    head_seconds: float
    """How many seconds a connection may take until the head of its next request is there."""
    body_seconds: float
    """How many seconds a body may take to be sent, or an answer to be read, besides a second for every 16 kB."""

    @property
    def postgres(self) -> bool:
        return is_address(self.store)


_PREFIX = "RECOLLECT_"
_MOST = 700_000
"""Seconds, minutes and days: more than anybody waits, less than there are dates before now."""
_MOST_WHOLE = 1_000_000_000
_PASSWORD = re.compile(r"(?i)postgres(?:ql)?://(?:[^/@?]*:[^@]+@|[^?]*\?(?:[^#]*&)?(?:ssl)?password=[^&])")
_AMONG_FIELDS = re.compile(  # host=… password=…
    r"(?i)\s*+(?:(?!(?:ssl)?password\b)\w+\s*+=\s*+(?:'(?:[^'\\]|\\.)*+'|[^\s']*+)\s++)*+(?:ssl)?password\s*+=\s*+\S"
)


def is_address(store: str) -> bool:
    """Whether a store is a PostgreSQL database; else it is a SQLite file."""
    return store.startswith(("postgresql://", "postgres://"))


def holds_password(store: str) -> bool:
    """Whether the address of a store holds a password, as far as that can be told without opening it; also one that is
    written as PostgreSQL's own tools take it, and no address here."""
    return bool(_PASSWORD.match(store) or _PASSWORD.match(unquote(store)) or _AMONG_FIELDS.match(store))


def environment(store: str | None) -> Mapping[str, str]:
    """The environment of a program that is to use the same settings, with the store in it: what stands on a command
    line is seen by every user of the machine."""
    return {**os.environ, **({f"{_PREFIX}STORE": store} if store else {})}


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
    store = str(values.get("store") or home / "memory.db")
    if holds_password(store) and not is_address(store):
        raise Invalid(  # and not taken for a file, whose name messages repeat
            "the setting store holds a password and is no address that Recollect reads",
            "Write postgresql://user:password@host:5432/database, in RECOLLECT_STORE or recollect.toml.",
        )
    return Settings(
        store=store,
        home=home,
        tenant=_checked("tenant", tenant_id, str(values.get("tenant") or "default")),
        user=str(values.get("user") or _login()),
        role=_checked("role", Role, str(values.get("role") or Role.ADMIN)),
        agent=str(values["agent"]) if values.get("agent") else None,
        patience=_number("patience", values.get("patience", 60)),
        job_cap=_whole("job_cap", values.get("job_cap", 2)),
        lease=_number("lease", values.get("lease", 60)),
        embedder=_one_of("embedder", str(values.get("embedder") or "local"), ("local", "none", "remote")),
        embedder_url=str(values.get("embedder_url") or ""),
        embedder_model=str(values.get("embedder_model") or ""),
        embedder_key=str(values.get("embedder_key") or ""),
        judge=_one_of("judge", str(values.get("judge") or "local"), ("local", "small", "none")),
        keeper=_one_of("keeper", str(values.get("keeper") or "local"), ("local", "none")),
        writer=str(values.get("writer") or ""),
        writers=_named("writers", values.get("writers") or {}),
        writer_url=str(values.get("writer_url") or ""),
        writer_key=str(values.get("writer_key") or ""),
        writer_timeout=_number("writer_timeout", values.get("writer_timeout", 60)),
        writer_tokens=_whole("writer_tokens", values.get("writer_tokens", 500_000)),
        turn_cap=_whole("turn_cap", values.get("turn_cap", 3)),
        day_cap=_whole("day_cap", values.get("day_cap", 200)),
        categories=_path(values.get("categories"), home / "categories.yaml"),
        escalation_mode=_one_of("escalation_mode", str(values.get("escalation_mode") or "A"), ("A", "B")),
        escalation_status=int(
            _one_of("escalation_status", str(values.get("escalation_status") or "409"), ("409", "428"))
        ),
        episode_idle=_number("episode_idle", values.get("episode_idle", 60)),
        lock_minutes=_number("lock_minutes", values.get("lock_minutes", 60)),
        summary_days=_number("summary_days", values.get("summary_days", 7)),
        packet_days=_number("packet_days", values.get("packet_days", 30)),
        archive_days=_number("archive_days", values.get("archive_days", 30)),
        expire_days=_number("expire_days", values.get("expire_days", 90)),
        repositories=_named("repositories", values.get("repositories") or {}),
        host=str(values.get("host") or "127.0.0.1"),
        port=_port(values.get("port", 7077)),
        head_seconds=_number("head_seconds", values.get("head_seconds", 10)),
        body_seconds=_number("body_seconds", values.get("body_seconds", 30)),
    )


def read_categories(path: Path) -> Mapping[str, object]:
    """The categories and allowlists of a YAML file."""
    import yaml  # few have such a file, and nobody else should wait for its reader

    try:
        read = cast(object, yaml.safe_load(path.read_text("utf-8")))
    except FileNotFoundError:
        raise Invalid(f"there is no file {path}", "Correct the setting categories, or leave it out.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise Invalid(f"{path} is not valid YAML: {error}", "Correct it or move it away.") from None
    if not isinstance(read, dict):
        raise Invalid(f"{path} holds no settings", "Give it the keys categories and allowlists.")
    return cast(Mapping[str, object], read)


def _path(value: object, usual: Path) -> Path | None:
    if value:
        return Path(str(value)).expanduser()
    return usual if usual.is_file() else None


def _one_of(name: str, value: str, known: Sequence[str]) -> str:
    if value not in known:
        raise Invalid(f"the setting {name} cannot be {value!r}", f"There are: {', '.join(known)}.")
    return value


def _named(name: str, value: object) -> Mapping[str, str]:
    """A table of a file, or "name=value" several times with commas between."""
    if isinstance(value, str):
        parts = [part.partition("=") for part in value.split(",") if part.strip()]
        value = {task.strip(): model.strip() for task, _, model in parts}
    table = cast(dict[str, object], value) if isinstance(value, dict) else {"": value}
    for task, model in table.items():
        if not (task and isinstance(model, str) and model.strip()):
            raise Invalid(
                f"the setting {name} cannot be read",
                "Give a table of names and values, or: name=value,name=value",
            )
    return {task: str(model) for task, model in table.items()}


def _port(value: object) -> int:
    if str(value) == "0":
        return 0
    number = _whole("port", value)
    if number > 65_535:
        raise Invalid(f"the setting port is {number}: ports end at 65535")
    return number


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


def _number(name: str, value: object, most: float = _MOST) -> float:
    try:
        number = float(str(value))
    except ValueError:
        raise Invalid(f"the setting {name} is {value!r}, not a number") from None
    if not 0 < number < float("inf"):
        raise Invalid(f"the setting {name} is {value!r}: it must be above 0")
    if number > most:
        raise Invalid(f"the setting {name} is {value!r}: it is {most:,} at most")
    return number


def _whole(name: str, value: object) -> int:
    number = _number(name, value, _MOST_WHOLE)
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
