"""Credentials: which token stands for whom. Tokens themselves are kept nowhere, only their digests; the owner's own
token is the exception, in a file that only the owner can read."""

import hmac
import json
import os
import re
import secrets
import stat
import tomllib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from recollect.domain.codec import moment, when
from recollect.domain.ids import tenant_id
from recollect.domain.scope import Principal, Role
from recollect.domain.text import name as sound_name
from recollect.errors import Invalid, NotFound, Refused, checked
from recollect.store.unfinished import sync_directory

PREFIX = "rec_"  # so that a token is recognised where it should not be
_LARGEST = 4 << 20
_LASTING = re.compile(r"(\d{1,5})([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True, slots=True)
class Former:
    """The token that a credential had before it was rotated, and until when that is taken."""

    digest: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Credential:
    """A token by its digest, and who it stands for. `name` is what people call it."""

    name: str
    digest: str
    principal: Principal
    created_at: datetime
    expires: datetime | None = None
    former: Former | None = None

    def expired(self, now: datetime) -> bool:
        return self.expires is not None and now >= self.expires

    def digests(self, now: datetime) -> tuple[str, ...]:
        """Of the tokens that are taken at a moment."""
        own = () if self.expired(now) else (self.digest,)
        return (*own, self.former.digest) if self.former and now < self.former.until else own


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

    def add(
        self, name: str, principal: Principal, now: datetime | None = None, *, expires: datetime | None = None
    ) -> str:
        """A new token for the principal, taken until it expires. It is told here and never again."""
        with checked():
            sound_name(name, "the credential's name")
        token = new_token()
        with self._alone() as known:
            if any(one.name == name for one in known):
                raise Refused(f"there is a credential {name!r} already", "Revoke it first, or give another name.")
            made = Credential(name, digest(token), principal, now or datetime.now(UTC), expires)
            self._write([*known, made])
        return token

    def rotate(
        self, name: str, now: datetime, *, grace: timedelta = timedelta(), expires: datetime | None = None
    ) -> str:
        """Another token for the same principal, also for a server that runs; that of before is taken for a grace time
        yet, never past its own expiry. Where nothing else is said, the new one is taken for as long as the old was made
        for."""
        token = new_token()
        with self._alone() as known:
            old = _named(known, name)
            lifetime = old.expires - old.created_at if old.expires else None
            until = min(filter(None, (now + grace, old.expires)))
            made = replace(
                old,
                digest=digest(token),
                created_at=now,
                expires=expires or (now + lifetime if lifetime else None),
                former=Former(old.digest, until) if until > now else None,
            )
            self._write([made if one is old else one for one in known])
        return token

    def revoke(self, name: str) -> Credential:
        """From now on the credential's token is refused, also by a server that runs."""
        with self._alone() as known:
            found = _named(known, name)
            self._write([one for one in known if one.name != name])
        return found

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
            sync_directory(self._path.parent)  # or what was revoked would be back when the power goes
        finally:
            part.unlink(missing_ok=True)


class Credentials:
    """Who a token stands for: the owner, or one of the file."""

    def __init__(
        self, token: str, owner: Principal, file: CredentialFile, now: Callable[[], datetime] | None = None
    ) -> None:
        self._owner, self._digest, self._file = owner, digest(token), file
        self._now = now or partial(datetime.now, UTC)

    def principal(self, token: str) -> Principal | None:
        """Digests are compared in constant time: how long it takes tells nothing about the tokens."""
        given = digest(token)
        if hmac.compare_digest(given, self._digest):
            return self._owner  # first, so that a broken file does not lock the owner out
        found, now = None, self._now()
        for one in self._file.all():
            for taken in one.digests(now):
                if hmac.compare_digest(given, taken):
                    found = one.principal
        return found

    def expired(self, token: str) -> bool:
        """Whether a token was one that is taken no more: who holds it is told why."""
        given, was = digest(token), False
        for one in self._file.all():
            for known in (one.digest, *((one.former.digest,) if one.former else ())):
                was |= hmac.compare_digest(given, known)
        return was


def lasting(text: str) -> timedelta:
    """A time such as 90m, 12h, 30d or 8w."""
    found = _LASTING.fullmatch(text.strip())
    if not found:
        raise Invalid(f"{text!r} is no length of time", "Write for example 90m, 12h, 30d or 8w.")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def ending(text: str, now: datetime) -> datetime:
    """When something ends: after a time such as 30d, or at a moment such as 2027-01-31T12:00:00Z."""
    if _LASTING.fullmatch(text.strip()):
        end = now + lasting(text)
    else:
        try:
            end = moment(text.strip())
        except ValueError:
            raise Invalid(
                f"{text!r} is neither a length of time nor a moment", "Write for example 30d, or 2027-01-31T12:00:00Z."
            ) from None
    if end <= now:
        raise Invalid(f"{text} is over already", "Give a moment that is still to come.")
    return end


def _named(known: Sequence[Credential], name: str) -> Credential:
    found = next((one for one in known if one.name == name), None)
    if found is None:
        raise NotFound(f"there is no credential {name!r}", "List them with: recollect token list")
    return found


def _read(path: Path) -> Iterator[Credential]:
    try:
        read = tomllib.loads(_text(path))
        entries = cast(Sequence[Mapping[str, Any]], read.get("credential", []))
        digests: set[str] = set()
        for entry in entries:
            with checked():
                found = _credential(entry)
            tokens = {found.digest, *((found.former.digest,) if found.former else ())}
            if tokens & digests:
                raise Invalid(f"the token of the credential {found.name!r} is another's as well")
            digests |= tokens
            yield found
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError, OSError) as error:
        why = f"it lacks {error}" if isinstance(error, KeyError) else _why(error)
        raise Invalid(
            f"{path} cannot be read: {why}", "Correct it, or make it anew with: recollect token add"
        ) from None


def _text(path: Path) -> str:
    """What a plain file holds. A pipe would keep everybody waiting who asks the server, a device fill its memory."""
    file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise ValueError("it is no plain file")
        with os.fdopen(file, "rb", closefd=False) as opened:
            held = opened.read(_LARGEST + 1)
    finally:
        os.close(file)
    if len(held) > _LARGEST:
        raise ValueError(f"it has more than {_LARGEST:,} bytes")
    return held.decode()


def _why(error: Exception) -> str:
    return error.strerror or "it cannot be opened" if isinstance(error, OSError) else str(error) or "it is no list"


_FIELDS = frozenset(
    "name sha256 tenant id role agent users projects relays created_at expires old_sha256 old_until".split()
)


def _credential(entry: Mapping[str, Any]) -> Credential:
    unknown = sorted(entry.keys() - _FIELDS)
    if unknown:  # a misspelt bound would be none
        raise Invalid(f"{unknown[0]!r} is no field of a credential")
    for key in sorted(entry.keys() - {"users", "projects", "relays"}):
        if not isinstance(entry[key], str):
            raise Invalid(f"{key} is no text")
    sound_name(entry["name"], "the name")
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
    return Credential(
        name=entry["name"],
        digest=_digest(entry, "sha256"),
        principal=principal,
        created_at=moment(entry["created_at"]),
        expires=moment(entry["expires"]) if "expires" in entry else None,
        former=Former(_digest(entry, "old_sha256"), moment(entry["old_until"])) if "old_sha256" in entry else None,
    )


def _digest(entry: Mapping[str, Any], key: str) -> str:
    kept = str(entry[key])
    if len(kept) != 64 or not set(kept) <= set("0123456789abcdef"):
        raise Invalid(f"the {key} of the credential {entry['name']!r} is none")
    return kept


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
        "expires": when(one.expires) if one.expires else None,
        "old_sha256": one.former.digest if one.former else None,
        "old_until": when(one.former.until) if one.former else None,
    }
    lines = [f"{key} = {_toml(value)}" for key, value in told.items() if value is not None]
    return "\n[[credential]]\n" + "\n".join(lines) + "\n"


def _toml(value: str | list[str]) -> str:
    """JSON's text and lists are TOML's, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
