"""Names of things. Every id is a UUIDv7 in its canonical text form, so ids sort by the time they were made."""

import re
from datetime import UTC, datetime, timedelta
from typing import NewType
from uuid import UUID

TenantId = NewType("TenantId", str)
ItemId = NewType("ItemId", str)
VersionId = NewType("VersionId", str)
EventId = NewType("EventId", str)
RecordId = NewType("RecordId", str)
JobId = NewType("JobId", str)
CauseId = NewType("CauseId", str)

Rev = NewType("Rev", int)
"""A tenant's revision: one more for every write that was accepted."""
Seq = NewType("Seq", int)
"""A place in a tenant's journal, counted from 1 without gaps."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TENANT = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


def uuid7(at: datetime, entropy: bytes) -> str:
    """The UUIDv7 of a moment and ten random bytes (74 bits of them are used)."""
    millis = (at - _EPOCH) // timedelta(milliseconds=1)
    noise = int.from_bytes(entropy[:10], "big")
    value = (millis & 0xFFFF_FFFF_FFFF) << 80
    value |= 0x7 << 76 | (noise >> 62 & 0xFFF) << 64
    value |= 0b10 << 62 | noise & 0x3FFF_FFFF_FFFF_FFFF
    return str(UUID(int=value))


def short(name: str) -> str:
    """The last eight characters: what people type and read. The front of a UUIDv7 is only its time."""
    return name[-8:]


def tenant_id(name: str) -> TenantId:
    """A tenant's name, checked: it stands in index tokens and file names."""
    if not _TENANT.fullmatch(name):
        raise ValueError(
            f"tenant {name!r}: use 1-63 lower-case letters, digits, '-' or '_', starting with a letter or digit"
        )
    return TenantId(name)
