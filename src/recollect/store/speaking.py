"""Which version speaks for an item, as a condition on a version v of an item i."""

from recollect.domain.level import Level

_R3 = f"level = {int(Level.R3)}"
SPEAKS = (
    f"v.{_R3} and not v.withdrawn and (v.id = i.active_version_id or ("
    "(i.active_version_id is null or not exists (select 1 from versions p where p.tenant = :tenant "
    f"and p.id = i.active_version_id and p.item_id = i.id and p.{_R3} and not p.withdrawn)) "
    "and not exists (select 1 from versions n where n.tenant = :tenant and n.item_id = v.item_id "
    f"and n.id > v.id and n.{_R3} and not n.withdrawn)))"
)
"""The version that speaks for an item: the promoted one where it is a live R3, else the newest live R3."""

TELLS = (
    f"({SPEAKS} or not exists (select 1 from versions l where l.tenant = :tenant and l.item_id = i.id "
    f"and l.{_R3} and not l.withdrawn))"
)
"""The version that speaks; where none does, every one that there ever was."""
