"""Backups: all tenants of one moment in a compressed file of JSON lines."""

import gzip
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from recollect.domain.codec import canonical
from recollect.errors import StoreFull, StoreReadOnly
from recollect.store.unfinished import create, sync_directory, unfinished

FORMAT = 1
_DISK_FULL = 28


def write_backup(target: Path, lines: Iterator[Mapping[str, object]]) -> None:
    """Into a file beside the target first, for its owner's eyes only, and moved into place when it is whole."""
    try:
        with unfinished(target) as part:
            with os.fdopen(create(part), "wb") as file:
                with gzip.open(file, "wt", encoding="utf-8", compresslevel=6) as packed:
                    packed.write(canonical({"recollect": "backup", "format": FORMAT}) + "\n")
                    for line in lines:
                        packed.write(canonical(line) + "\n")
                file.flush()
                os.fsync(file.fileno())
            part.replace(target)
            sync_directory(target.parent)
    except OSError as error:
        if error.errno == _DISK_FULL:
            raise StoreFull(f"there is no room left for {target}", "Free some disk space and try again.") from error
        raise StoreReadOnly(
            f"{target} cannot be written: {error.strerror}",
            "Check that its directory exists and that you may write there.",
        ) from error
