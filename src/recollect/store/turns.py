"""Turns: what each reader was served for an answer in the making, by fingerprints; and what people said about it.

They are of no use once the answer is given, and their fingerprints mean nothing under another key: a dump leaves them
out, and `forget` takes them away.
"""

from collections.abc import Sequence
from datetime import datetime

from recollect.domain.change import Erase
from recollect.domain.ids import ItemId, VersionId
from recollect.domain.turn import Mark, Serving, Turn
from recollect.store import rows
from recollect.store.fingerprint import fingerprint, held_key
from recollect.store.journal import no_tenant
from recollect.store.tx import Tx

_TURN = "tenant = :tenant and reader = :reader and turn_id = :turn_id"
_BUMPS = frozenset({Mark.REROLL, Mark.INCORRECT})


def turn(tx: Tx, reader: str, turn_id: str, subject: str | None) -> Turn | None:
    """How a turn stands for one subject, or for all of them; None for a new one."""
    row = tx.one(f"select begun_at, bumps from turns where {_TURN}", reader=reader, turn_id=turn_id)
    if row is None:
        return None
    about = None if subject is None else fingerprint(_key(tx), f"subject\n{subject}")
    return _told(tx, reader, turn_id, row[0], row[1], about)


def turns_of(tx: Tx, readers: str, turn_id: str) -> list[Turn]:
    """How the turns of this name stand, of all readers that begin so."""
    found = tx.all(
        "select reader, begun_at, bumps from turns where tenant = :tenant and turn_id = :turn_id "
        "and substr(reader, 1, length(:readers)) = :readers order by reader",
        turn_id=turn_id,
        readers=readers,
    )
    return [_told(tx, reader, turn_id, begun_at, bumps, None) for reader, begun_at, bumps in found]


def serve(tx: Tx, reader: str, serving: Serving) -> bool:
    """Keep a context of a turn; False, and nothing kept, where the turn has it already."""
    key = _key(tx)
    turn = {"reader": reader, "turn_id": serving.turn_id}
    context = fingerprint(key, f"context\n{serving.context}")
    tx.run(
        "insert into turns (tenant, reader, turn_id, begun_at, bumps) values (:tenant, :reader, :turn_id, :at, 0) "
        "on conflict do nothing",
        at=serving.at,
        **turn,
    )
    if not tx.run(
        "insert into turn_servings (tenant, reader, turn_id, context, subject, at) "
        "values (:tenant, :reader, :turn_id, :context, :subject, :at) on conflict do nothing",
        context=context,
        subject=fingerprint(key, f"subject\n{serving.subject}"),
        at=serving.at,
        **turn,
    ):
        return False
    tx.many(
        "insert into turn_items (tenant, reader, turn_id, context, item_id, version_id) "
        "values (:tenant, :reader, :turn_id, :context, :item_id, :version_id) on conflict do nothing",
        [{**turn, "context": context, "item_id": id, "version_id": version} for id, version in serving.items.items()],
    )
    return True


def mark(tx: Tx, reader: str, turn_id: str, mark: Mark, at: datetime) -> Turn | None:
    """Keep what a person says about a turn; how it stands then, all of its subjects together."""
    row = tx.one(
        f"select begun_at, bumps from turns where {_TURN} {tx.for_update}",
        reader=reader,
        turn_id=turn_id,
    )
    if row is None:
        return None
    bumps = row[1] + int(mark in _BUMPS)
    tx.run(
        f"update turns set bumps = :bumps, mark = :mark, marked_at = :at where {_TURN}",
        reader=reader,
        turn_id=turn_id,
        bumps=bumps,
        mark=mark.value,
        at=at,
    )
    return _told(tx, reader, turn_id, row[0], bumps, None)


def forget(tx: Tx, before: datetime) -> int:
    """Forget the turns that were begun before then: how many."""
    for table in ("turn_items", "turn_servings"):
        tx.run(
            f"delete from {table} where tenant = :tenant and (reader, turn_id) in "
            "(select t.reader, t.turn_id from turns t where t.tenant = :tenant and t.begun_at < :before)",
            before=before,
        )
    return tx.run("delete from turns where tenant = :tenant and begun_at < :before", before=before)


def erase(tx: Tx, change: Erase) -> None:
    """What was served with the words that are to go: a fingerprint of a short text can be guessed."""
    for column, ids in (
        ("item_id in :ids[]", [*change.items]),
        ("version_id in :ids[]", [*change.versions]),
        (
            "item_id in (select e.item_id from events e where e.tenant = :tenant and e.id in :ids[])",
            [*change.events],
        ),
    ):
        if ids:
            _withdraw(tx, column, ids)


def _withdraw(tx: Tx, condition: str, ids: Sequence[str]) -> None:
    found = tx.all(
        f"select distinct reader, turn_id, context from turn_items where tenant = :tenant and {condition}",
        ids=list(ids),
    )
    served = [{"reader": reader, "turn_id": turn_id, "context": context} for reader, turn_id, context in found]
    for table in ("turn_items", "turn_servings"):
        tx.many(f"delete from {table} where {_TURN} and context = :context", served)


def _told(tx: Tx, reader: str, turn_id: str, begun_at: object, bumps: int, subject: str | None) -> Turn:
    about = "" if subject is None else "and s.subject = :subject"
    values = {"reader": reader, "turn_id": turn_id, **({} if subject is None else {"subject": subject})}
    served = tx.all(
        "select s.context, i.item_id, i.version_id from turn_servings s "
        "left join turn_items i on i.tenant = s.tenant and i.reader = s.reader and i.turn_id = s.turn_id "
        "and i.context = s.context "
        f"where s.tenant = :tenant and s.reader = :reader and s.turn_id = :turn_id {about} "
        "order by s.at, s.context, i.item_id",
        **values,
    )
    return Turn(
        id=turn_id,
        reader=reader,
        served=len({row[0] for row in served}),
        bumps=bumps,
        items={ItemId(id): version and VersionId(version) for _, id, version in served if id is not None},
        begun_at=rows.moment(begun_at),
    )


def _key(tx: Tx) -> bytes:
    row = tx.one("select dedup_key from tenants where tenant = :tenant")
    if row is None:
        raise no_tenant(tx)
    return held_key(row[0])
