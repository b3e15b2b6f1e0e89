"""New memories compared with those near to them: what no longer holds is over; of two that cannot both be true and
claim the same time, a contradiction is put on record; and where it is not sure that an earlier one still holds, the two
are joined by an edge that says so."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from recollect.clock import Clock
from recollect.domain.change import Change, Link, Note, Relink, Verb, revise
from recollect.domain.ids import ItemId, RecordId, Rev, TenantId
from recollect.domain.item import Item
from recollect.domain.judgement import Chances
from recollect.domain.record import Open
from recollect.domain.relation import Relation
from recollect.domain.version import Version
from recollect.errors import ModelFailed
from recollect.policy import bands, currency, pairs, prompts
from recollect.policy.pairs import Pair, Ruling
from recollect.ports import Embedder, Judge, Store, Writer

log = logging.getLogger("recollect.care")

_WRITTEN = 0.9
"""How far the word of a language model is taken, which does not say how sure it is."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Who sits in judgement: rules always, a judge and a language model where there are any, and an embedder that tells
    whether two statements are about one matter."""

    store: Store
    clock: Clock
    judge: Judge | None = None
    writer: Writer | None = None
    embedder: Embedder | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    verdict: Pair
    why: str
    confidence: float
    sure: bool = False
    """Sure enough to end something, or to put it on record."""
    perhaps: bool = False
    """Likely enough to be said of the earlier one, where it is not ended."""
    clash: float = 0.0
    chance: float = 0.0
    """How likely it is that both are not true, by the judge's own word where there is one."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What is to be written, and the revisions of the memories that it stands on."""

    changes: Sequence[Change] = ()
    expect: Mapping[ItemId, Rev] = field(default_factory=dict[ItemId, Rev])


def judge(bench: Bench, tenant: TenantId, item_id: ItemId, near: Sequence[ItemId]) -> Judged:
    """What follows from a memory for its neighbours: the time of those that it replaces ends where its own begins, or
    its own time ends where it was said before the one that replaces it; contradictions that are not on record yet are
    put there, the likeliest alone, and both memories stay as they are: who is right is for a person, or for what is
    said next. Where it is not sure, nothing ends: an edge says which of the two may have replaced the other."""
    found = bench.store.speaking(tenant, [item_id, *near])
    if item_id not in found:
        return Judged()
    held, words = found[item_id][0], found[item_id][1].content
    own = held.item
    records = bench.store.contradictions(tenant, [item_id])
    known = {frozenset((record.memory_a, record.memory_b)) for record in records}
    others = [found[other] for other in dict.fromkeys(near) if other in found and other != item_id]
    open_pairs = [
        (held.item, version.content)
        for held, version in others
        if _both_hold(own, held.item) and frozenset((held.item.id, item_id)) not in known
    ]
    turns = _messages(bench.store, tenant, [version for _, version in found.values()])
    said_before = [currency.said(item) <= currency.said(own) for item, _ in open_pairs]
    rulings = _told(
        bench,
        tenant,
        (words, turns[item_id]),
        [((text, turns[item.id]), before) for (item, text), before in zip(open_pairs, said_before, strict=True)],
    )
    now = bench.clock.now()
    told = [(item, text, ruling) for (item, text), ruling in zip(open_pairs, rulings, strict=True)]
    changed = [(item, text) for item, text, one in told if one.verdict is Pair.UPDATE and one.sure]
    over = [item for item, text in changed if currency.replaces(own, item, text)]
    by = [item for item, _ in changed if currency.replaces(item, own, words)]
    changes: list[Change] = [currency.ended(item, own, now) for item in over]
    if over or by:
        changes += _own(own, over, by, now)
    revs = {item.id: found[item.id][0].rev for item in [*over, *([own] if over or by else [])]}
    conflict = [] if any(record.memory_b == item_id for record in records) else _likeliest(own, words, told)
    changes += _conflicts(bench, item_id, conflict, now)
    settled = {item.id for item in (*over, *by)}
    doubtful = [(item, one.clash) for item, _, one in told if one.perhaps and item.id not in settled]
    return Judged([*changes, *_doubts(bench, tenant, own, doubtful, now)], revs)


def _messages(store: Store, tenant: TenantId, versions: Sequence[Version]) -> dict[ItemId, str]:
    """What a judge is shown of each memory: the message that it was said in, where it is short and the only one."""
    said_in = {one.item_id: next(iter(one.quoted)) for one in versions if len(one.quoted) == 1}
    texts = {event.id: event.text for event in store.events_by_id(tenant, sorted(set(said_in.values())))}
    return {
        one.item_id: pairs.in_context(one.content, texts[said_in[one.item_id]])
        if said_in.get(one.item_id) in texts
        else one.content
        for one in versions
    }


def _own(own: Item, over: Sequence[Item], by: Sequence[Item], now: datetime) -> list[Change]:
    """What is said of the new memory itself, in one change: what it took over from, and what took over from it."""
    after = own
    if over:
        after = replace(after, supersedes=max(over, key=currency.said).id, valid_from=currency.since(own))
    if by:
        newest = min(by, key=currency.said)
        after = replace(after, superseded_by=newest.id, valid_to=max(currency.since(newest), currency.since(own)))
    return [revise(own, after, now, Verb.UPDATE)]


def _likeliest(own: Item, words: str, told: Sequence[tuple[Item, str, _Found]]) -> list[tuple[Item, _Found]]:
    """Of the contradictions of one statement, the likeliest: who looks into it meets the others there. Something that
    never was on one day and is told of on another has come about in between: that is none."""

    def is_none(item: Item, text: str) -> bool:
        (first, earlier), (second, later) = sorted(
            ((currency.said(item), text), (currency.said(own), words)), key=lambda one: one[0]
        )
        return first.date() < second.date() and pairs.came_true_since(earlier, later)

    found = [
        (item, one)
        for item, text, one in told
        if one.verdict is Pair.CONTRADICTION and one.sure and not is_none(item, text)
    ]
    return sorted(found, key=lambda one: -one[1].chance)[:1]


def _conflicts(bench: Bench, item_id: ItemId, conflict: Sequence[tuple[Item, _Found]], now: datetime) -> list[Change]:
    return [
        Note(
            None,
            Open(
                id=RecordId(bench.clock.mint()),
                memory_a=item.id,
                memory_b=item_id,
                detected_at=now,
                why=one.why,
                confidence=one.confidence,
            ),
        )
        for item, one in conflict
    ]


def _doubts(
    bench: Bench, tenant: TenantId, own: Item, doubtful: Sequence[tuple[Item, float]], now: datetime
) -> list[Change]:
    """Edges from what may have replaced something to what it may have replaced."""
    ends = [
        (newer, older, clash)
        for item, clash in doubtful
        for newer, older in ((own, item), (item, own))
        if currency.casts_doubt(newer, older)
    ]
    if not ends:
        return []
    there = {(edge.from_id, edge.to_id): edge for edge in bench.store.relations(tenant, own.id)}
    changes: list[Change] = []
    for newer, older, clash in ends:
        edge = Relation(
            id=RecordId(bench.clock.mint()),
            from_id=newer.id,
            to_id=older.id,
            relation_type=currency.MAY_REPLACE,
            strength=round(clash, 4),
            created_at=now,
        )
        known = there.get((newer.id, older.id))
        if known is None:
            changes.append(Link(edge))
        elif (known.relation_type, known.strength) != (edge.relation_type, edge.strength):
            changes.append(Relink(known, replace(edge, id=known.id)))
    return changes


def _told(
    bench: Bench, tenant: TenantId, own: tuple[str, str], near: Sequence[tuple[tuple[str, str], bool]]
) -> list[_Found]:
    """By rules and the judge where they are sure; the rest by a language model where there is one and it answers.
    Of each neighbour it is known whether it was said before: what is said later may tell of a change."""
    words, turn = own
    others = [text for (text, _), _ in near]
    asked = [(text, words) if before else (words, text) for (text, _), before in near]
    heard = [(other, turn) if before else (turn, other) for (_, other), before in near] if bench.judge else asked
    chances = _chances(bench.judge, heard)
    rulings = [pairs.judged(*pair, said) for pair, said in zip(heard, chances, strict=True)]
    rulings = _sure_by_themselves(bench.judge, asked, heard, rulings)
    try:
        rulings = of_one_matter(bench.embedder, asked, rulings)
    except ModelFailed as failed:
        log.warning("nothing is ended or put on record: %s", failed.what)
        rulings = [replace(ruling, sure=False) for ruling in rulings]
    told = [
        replace(_found(ruling), chance=said.contradiction + said.update if said else ruling.chances.contradiction)
        for ruling, said in zip(rulings, chances, strict=True)
    ]
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


def _sure_by_themselves(
    judge: Judge | None,
    asked: Sequence[tuple[str, str]],
    heard: Sequence[tuple[str, str]],
    rulings: Sequence[Ruling],
) -> list[Ruling]:
    """The same, none of them sure unless the statements by themselves are, too: what else the messages say may raise a
    doubt, but ends nothing and is put on no record."""
    again = [number for number, ruling in enumerate(rulings) if ruling.sure and heard[number] != asked[number]]
    found = list(rulings)
    for number, said in zip(again, _chances(judge, [asked[number] for number in again]), strict=True):
        if not pairs.judged(*asked[number], said).sure:
            found[number] = replace(rulings[number], sure=False)
    return found


def of_one_matter(
    embedder: Embedder | None, asked: Sequence[tuple[str, str]], rulings: Sequence[Ruling]
) -> list[Ruling]:
    """The same, none of them sure unless both statements are seen to be about one matter: a judge that is wrong is
    mostly wrong about two that have little to do with each other. Without an embedder that is not asked. Raises
    ModelFailed where the embedder fails."""
    sure = [number for number, ruling in enumerate(rulings) if ruling.sure]
    if embedder is None or not sure:
        return list(rulings)
    texts = sorted({text for number in sure for text in asked[number]})
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    found = list(rulings)
    for number in sure:
        a, b = asked[number]
        least = embedder.profile.end if rulings[number].verdict is Pair.UPDATE else embedder.profile.judge
        if bands.cosine(vectors[a], vectors[b]) < least:
            found[number] = replace(rulings[number], sure=False)
    return found


def _chances(judge: Judge | None, asked: Sequence[tuple[str, str]]) -> Sequence[Chances | None]:
    """What the judge says of each pair, asked once for all of them; nothing where there is none, or it fails."""
    if judge is None or not asked:
        return [None] * len(asked)
    try:
        return judge.compare(asked)
    except ModelFailed as failed:
        log.warning("rules judge %d pairs alone: %s", len(asked), failed.what)
        return [None] * len(asked)


def _found(ruling: Ruling) -> _Found:
    return _Found(
        ruling.verdict,
        "; ".join(ruling.grounds),
        round(ruling.confidence, 4),
        sure=ruling.sure,
        perhaps=ruling.perhaps,
        clash=ruling.chances.contradiction,
    )


def _written(verdict: Pair, ruling: Ruling) -> _Found:
    why = "; ".join((f"a language model finds: {verdict.value}", *ruling.grounds))
    if verdict is Pair.UNSURE:
        return replace(_found(ruling), verdict=verdict, why=why)
    changed = verdict is Pair.UPDATE
    return _Found(verdict, why, _WRITTEN, sure=True, perhaps=changed, clash=_WRITTEN if changed else 0.0)


def _both_hold(a: Item, b: Item) -> bool:
    """Whether two memories claim the same time: one that took over from the other contradicts nothing."""
    return a.superseded_by is None and b.superseded_by is None and a.supersedes != b.id and b.supersedes != a.id
