"""New memories compared with those very near to them: two that cannot both be true become a contradiction on record."""

from collections.abc import Sequence
from datetime import datetime

from recollect.clock import Clock
from recollect.domain.change import Change, Note
from recollect.domain.ids import ItemId, RecordId, TenantId
from recollect.domain.item import Item
from recollect.domain.record import Open, Resolved
from recollect.errors import ModelFailed
from recollect.policy import pairs, prompts
from recollect.policy.pairs import Pair
from recollect.ports import Store, Writer


def judge(
    store: Store, writer: Writer | None, clock: Clock, tenant: TenantId, item_id: ItemId, near: Sequence[ItemId]
) -> list[Change]:
    """The contradictions between a memory and its neighbours that are not on record yet. Both memories stay as they
    are: who is right is for a person, or for what is said next."""
    found = store.speaking(tenant, [item_id, *near])
    if item_id not in found:
        return []
    own, words = found[item_id][0].item, found[item_id][1].content
    others = [(found[other][0].item, found[other][1].content) for other in near if other in found]
    standing = [(item, text) for item, text in others if _both_hold(own, item)]
    known = {frozenset((record.memory_a, record.memory_b)) for record in _contradictions(store, tenant)}
    verdicts = _verdicts(writer, tenant, words, [text for _, text in standing])
    now: datetime = clock.now()
    return [
        Note(None, Open(id=RecordId(clock.mint()), memory_a=item.id, memory_b=item_id, detected_at=now))
        for (item, _), verdict in zip(standing, verdicts, strict=True)
        if verdict is Pair.CONTRADICTION and frozenset((item.id, item_id)) not in known
    ]


def _verdicts(writer: Writer | None, tenant: TenantId, words: str, others: Sequence[str]) -> list[Pair]:
    """By rules where they are sure; the rest by a language model where there is one and it answers."""
    told = [pairs.compare(other, words) for other in others]
    open_pairs = [number for number, verdict in enumerate(told) if verdict is Pair.UNSURE]
    if writer is None or not open_pairs:
        return told
    try:
        answer = writer.write(prompts.comparison(words, [others[number] for number in open_pairs]), tenant=tenant)
    except ModelFailed:
        return told
    for number, verdict in zip(open_pairs, prompts.compared(answer, len(open_pairs)), strict=True):
        told[number] = verdict
    return told


def _both_hold(a: Item, b: Item) -> bool:
    """Whether two memories claim the same time: one that took over from the other contradicts nothing."""
    return a.superseded_by is None and b.superseded_by is None and a.supersedes != b.id and b.supersedes != a.id


def _contradictions(store: Store, tenant: TenantId) -> list[Open | Resolved]:
    return [record for record in store.records(tenant, "contradiction") if isinstance(record, Open | Resolved)]
