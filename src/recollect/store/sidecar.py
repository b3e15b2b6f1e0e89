"""What is kept beside a store, in files of its own: the list of erasures and the key that signs heads."""

import errno
import json
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.domain.codec import canonical, when
from recollect.errors import StoreDamaged, StoreFull, StoreReadOnly
from recollect.store.unfinished import sync_directory

try:
    import fcntl
except ImportError:  # Windows: what is appended there is short enough to be written at once
    fcntl = None

_BLOCK = 1 << 16

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


class FileErasures:
    """One line per erasure: which journal, which things, when; and one more where it did not come about. It holds ids
    and nothing else."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, chain_id: str, refs: Sequence[str], at: datetime) -> None:
        self._write({"chain": chain_id, "refs": list(refs), "at": when(at)})

    def take_back(self, chain_id: str, refs: Sequence[str], at: datetime) -> None:
        self._write({"chain": chain_id, "refs": [], "kept": list(refs), "at": when(at)})

    def _write(self, entry: dict[str, object]) -> None:
        line = (canonical(entry) + "\n").encode()
        new = not self._path.exists()
        try:
            _append(self._path, line)
            if new:
                sync_directory(self._path.parent)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StoreFull(
                    f"there is no room left for the list of erasures {self._path}; nothing was erased",
                    "Free some disk space and try again.",
                ) from error
            raise StoreReadOnly(
                f"the list of erasures {self._path} cannot be written: {error.strerror}; nothing was erased",
                "Check the permissions of the file and of its directory.",
            ) from error

    def of(self, chain_id: str) -> frozenset[str]:
        if not self._path.exists():
            return frozenset()
        found: set[str] = set()
        *lines, _ = self._path.read_bytes().split(
            b"\n"
        )  # behind the last whole line: one in the making, or a killed one
        for number, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
                ours = entry["chain"] == chain_id
                erased: list[str] = entry["refs"]
                kept: list[str] = entry.get("kept", [])
            except (ValueError, TypeError, KeyError, AttributeError):
                raise StoreDamaged(
                    f"line {number} of the list of erasures {self._path} cannot be read",
                    "Repair or remove that line; without the list an old backup could bring back what was erased.",
                ) from None
            if ours:
                found = (found | set(erased)) - set(kept)
        return frozenset(found)


def _append(path: Path, line: bytes) -> None:
    """The whole line or nothing of it. Half a line is what is left of whoever was killed while they wrote it, before
    anything was erased; it goes."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
            _cut_half_line(file)
        size = os.fstat(file).st_size
        try:
            while line:
                line = line[os.write(file, line) :]
            os.fsync(file)
        except BaseException:
            os.ftruncate(file, size)
            raise
    finally:
        os.close(file)


def _cut_half_line(file: int) -> None:
    """Only for who holds the lock: without it, somebody may be writing that line."""
    end = os.fstat(file).st_size
    whole = end
    while whole and os.pread(file, 1, whole - 1) != b"\n":
        start = max(0, whole - _BLOCK)
        whole = start + os.pread(file, whole - start, start).rfind(b"\n") + 1
    if whole < end:
        os.ftruncate(file, whole)


class FileSeal:
    """An Ed25519 key in a file that only its owner can read, made when it is first needed."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def sign(self, message: bytes) -> bytes:
        return self._key().sign(message)

    def public_key(self) -> bytes:
        return self._key().public_key().public_bytes_raw()

    def valid(self, message: bytes, signature: bytes, public_key: bytes) -> bool:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        return True

    def _key(self) -> "Ed25519PrivateKey":
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        if not self._path.exists():
            made = Ed25519PrivateKey.generate().private_bytes_raw()
            part = self._path.with_name(f"{self._path.name}.{os.urandom(8).hex()}")
            file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                os.write(file, made.hex().encode())
                os.fsync(file)
            finally:
                os.close(file)
            try:
                os.link(part, self._path)  # the first one to get here wins
            except FileExistsError:
                pass
            finally:
                part.unlink()
            sync_directory(self._path.parent)
        try:
            return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(self._path.read_text("utf-8")))
        except (OSError, ValueError) as error:
            raise StoreDamaged(
                f"the key {self._path} cannot be read, or is none",
                "Bring back another copy of it. Where there is none, a new key is made once the file is moved away.",
            ) from error
