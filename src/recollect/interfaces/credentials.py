"""Credentials: which token stands for whom. Tokens themselves are kept nowhere, only their digests; the owner's own
token is the exception, in a file that only the owner can read."""

import hmac
import json
import os
import secrets
import tomllib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from recollect.domain.codec import moment, when
from recollect.domain.ids import tenant_id
from recollect.domain.scope import Principal, Role
from recollect.domain.text import name as sound_name
from recollect.errors import Invalid, NotFound, Refused, checked

PREFIX = "rec_"  # so that a token is recognised where it should not be


@dataclass(frozen=True, slots=True)
class Credential:
    """A token by its digest, and who it stands for. `name` is what people call it."""

    name: str
    digest: str
    principal: Principal
    created_at: datetime


def new_token() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def digest(token: str) -> str:
    """A token has 256 random bits: a plain digest of it cannot be guessed back."""
    return sha256(token.encode(errors="replace")).hexdigest()


def owner_token(path: Path) -> str:
    """The token of whoever owns the store: made once, so that what was connected stays connected."""
    if not path.exists():
        part = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        try:
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(new_token() + "\n")
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):  # the first one to get here wins
                os.link(part, path)
        finally:
            part.unlink(missing_ok=True)
    token = path.read_text("utf-8").strip()
    if len(token) < 32:
        raise Invalid(f"{path} holds no token", "Remove it: a new one is made by the next recollect serve.")
    return token


class CredentialFile:
    """The credentials besides the owner's, in a TOML file. It is read again when it has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int, int] | None = None
        self._known: tuple[Credential, ...] = ()

    def all(self) -> tuple[Credential, ...]:
        stamp = self._look()
        if stamp != self._stamp:
            self._known = tuple(_read(self._path)) if stamp else ()
            self._stamp = stamp
        return self._known

    def add(self, name: str, principal: Principal, now: datetime | None = None) -> str:
        """A new token for the principal. It is told here and never again."""
        with checked():
            sound_name(name, "the credential's name")
        token = new_token()
        with self._alone() as known:
            if any(one.name == name for one in known):
                raise Refused(f"there is a credential {name!r} already", "Revoke it first, or give another name.")
            made = Credential(name, digest(token), principal, now or datetime.now(UTC))
            self._write([*known, made])
        return token

    def revoke(self, name: str) -> Credential:
        """From now on the credential's token is refused, also by a server that runs."""
        with self._alone() as known:
            found = [one for one in known if one.name == name]
            if not found:
                raise NotFound(f"there is no credential {name!r}", "List them with: recollect token list")
            self._write([one for one in known if one.name != name])
        return found[0]

    def _look(self) -> tuple[int, int, int] | None:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    @contextmanager
    def _alone(self) -> Generator[tuple[Credential, ...]]:
        """The credentials as they are, and nobody else changes them meanwhile."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(self._path.with_name(self._path.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                import fcntl
            except ImportError:  # Windows: two people at one keyboard are unlikely
                pass
            else:
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield self.all()
        finally:
            os.close(lock)

    def _write(self, credentials: Sequence[Credential]) -> None:
        part = self._path.with_name(f"{self._path.name}.{secrets.token_hex(8)}")
        try:
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                file.write("# Written by: recollect token. Each entry is a token's digest and who it stands for.\n")
                for one in credentials:
                    file.write(_written(one))
                file.flush()
                os.fsync(file.fileno())
            part.replace(self._path)
        finally:
            part.unlink(missing_ok=True)


class Credentials:
    """Who a token stands for: the owner, or one of the file."""

    def __init__(self, token: str, owner: Principal, file: CredentialFile) -> None:
        self._owner, self._digest, self._file = owner, digest(token), file

    def principal(self, token: str) -> Principal | None:
        """Digests are compared in constant time: how long it takes tells nothing about the tokens."""
        given = digest(token)
        if hmac.compare_digest(given, self._digest):
            return self._owner  # first, so that a broken file does not lock the owner out
        found = None
        for one in self._file.all():
            if hmac.compare_digest(given, one.digest):
                found = one.principal
        return found


def _read(path: Path) -> Iterator[Credential]:
    try:
        read = tomllib.loads(path.read_text("utf-8"))
        entries = cast(Sequence[Mapping[str, Any]], read.get("credential", []))
        for entry in entries:
            with checked():
                yield _credential(entry)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError, Invalid) as error:
        why = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise Invalid(
            f"{path} cannot be read: {why}", "Correct it, or make it anew with: recollect token add"
        ) from None


def _credential(entry: Mapping[str, Any]) -> Credential:
    reach = {key: _names(key, entry[key]) if key in entry else None for key in ("users", "projects", "relays")}
    principal = Principal(
        tenant=tenant_id(str(entry["tenant"])),
        id=str(entry["id"]),
        role=Role(str(entry["role"])),
        agent_id=str(entry["agent"]) if "agent" in entry else None,
        users=reach["users"],
        projects=reach["projects"],
        relays=reach["relays"],
    )
    kept = str(entry["sha256"])
    if len(kept) != 64 or not set(kept) <= set("0123456789abcdef"):
        raise Invalid(f"the sha256 of the credential {entry['name']!r} is none")
    return Credential(str(entry["name"]), kept, principal, moment(str(entry["created_at"])))


def _names(key: str, given: object) -> frozenset[str]:
    """A list of names; one text would be taken for a list of letters."""
    if not isinstance(given, list) or not all(isinstance(one, str) for one in cast(list[object], given)):
        raise Invalid(f"{key} is no list of names")
    return frozenset(cast(list[str], given))


def _written(one: Credential) -> str:
    who = one.principal
    told: dict[str, str | list[str] | None] = {
        "name": one.name,
        "sha256": one.digest,
        "tenant": who.tenant,
        "id": who.id,
        "role": who.role.value,
        "agent": who.agent_id,
        "users": None if who.users is None else sorted(who.users),
        "projects": None if who.projects is None else sorted(who.projects),
        "relays": None if who.relays is None else sorted(who.relays),
        "created_at": when(one.created_at),
    }
    lines = [f"{key} = {_toml(value)}" for key, value in told.items() if value is not None]
    return "\n[[credential]]\n" + "\n".join(lines) + "\n"


def _toml(value: str | list[str]) -> str:
    """JSON's text and lists are TOML's, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
