"""New memories compared with those very near to them: two that cannot both be true become a contradiction on record."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.clock import Clock
from recollect.domain.change import Change, Note
from recollect.domain.ids import ItemId, RecordId, TenantId
from recollect.domain.item import Item
from recollect.domain.judgement import Chances
from recollect.domain.record import Open, Resolved
from recollect.errors import ModelFailed
from recollect.policy import pairs, prompts
from recollect.policy.pairs import Pair, Ruling
from recollect.ports import Judge, Store, Writer

log = logging.getLogger("recollect.care")

_WRITTEN = 0.9
"""How far the word of a language model is taken, which does not say how sure it is."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Who sits in judgement: rules always, a judge and a language model where there are any."""

    store: Store
    clock: Clock
    judge: Judge | None = None
    writer: Writer | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    verdict: Pair
    why: str
    confidence: float


def judge(bench: Bench, tenant: TenantId, item_id: ItemId, near: Sequence[ItemId]) -> list[Change]:
    """The contradictions between a memory and its neighbours that are not on record yet. Both memories stay as they
    are: who is right is for a person, or for what is said next."""
    found = bench.store.speaking(tenant, [item_id, *near])
    if item_id not in found:
        return []
    own, words = found[item_id][0].item, found[item_id][1].content
    known = {frozenset((record.memory_a, record.memory_b)) for record in _contradictions(bench.store, tenant)}
    others = [found[other] for other in dict.fromkeys(near) if other in found and other != item_id]
    open_pairs = [
        (held.item, version.content)
        for held, version in others
        if _both_hold(own, held.item) and frozenset((held.item.id, item_id)) not in known
    ]
    rulings = _told(bench, tenant, words, [text for _, text in open_pairs])
    now = bench.clock.now()
    return [
        Note(
            None,
            Open(
                id=RecordId(bench.clock.mint()),
                memory_a=item.id,
                memory_b=item_id,
                detected_at=now,
                why=told.why,
                confidence=told.confidence,
            ),
        )
        for (item, _), told in zip(open_pairs, rulings, strict=True)
        if told.verdict is Pair.CONTRADICTION
    ]


def _told(bench: Bench, tenant: TenantId, words: str, others: Sequence[str]) -> list[_Found]:
    """By rules and the judge where they are sure; the rest by a language model where there is one and it answers."""
    chances = _chances(bench.judge, [(other, words) for other in others])
    rulings = [pairs.judged(other, words, said) for other, said in zip(others, chances, strict=True)]
    told = [_Found(ruling.verdict, "; ".join(ruling.grounds), round(ruling.confidence, 4)) for ruling in rulings]
    unsure = [number for number, one in enumerate(told) if one.verdict is Pair.UNSURE]
    if bench.writer is None or not unsure:
        return told
    try:
        answer = bench.writer.write(prompts.comparison(words, [others[number] for number in unsure]), tenant=tenant)
    except ModelFailed as failed:
        log.warning("no language model looked at %d pairs that are unsure: %s", len(unsure), failed.what)
        return told
    for number, verdict in zip(unsure, prompts.compared(answer, len(unsure)), strict=True):
        told[number] = _written(verdict, rulings[number])
    return told


def _chances(judge: Judge | None, asked: Sequence[tuple[str, str]]) -> Sequence[Chances | None]:
    """What the judge says of each pair, asked once for all of them; nothing where there is none, or it fails."""
    if judge is None or not asked:
        return [None] * len(asked)
    try:
        return judge.compare(asked)
    except ModelFailed as failed:
        log.warning("rules judge %d pairs alone: %s", len(asked), failed.what)
        return [None] * len(asked)


def _written(verdict: Pair, ruling: Ruling) -> _Found:
    why = "; ".join((f"a language model finds: {verdict.value}", *ruling.grounds))
    return _Found(verdict, why, _WRITTEN if verdict is not Pair.UNSURE else ruling.confidence)


def _both_hold(a: Item, b: Item) -> bool:
    """Whether two memories claim the same time: one that took over from the other contradicts nothing."""
    return a.superseded_by is None and b.superseded_by is None and a.supersedes != b.id and b.supersedes != a.id


def _contradictions(store: Store, tenant: TenantId) -> list[Open | Resolved]:
    return [record for record in store.records(tenant, "contradiction") if isinstance(record, Open | Resolved)]
