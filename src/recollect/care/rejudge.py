"""Contradictions on record judged anew: what an earlier judge put there and the one of now does not find is closed, or
turns out to be an update. What people or agents reported or had a hand in is left alone. Nothing is written here."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from recollect.care.judge import Bench, of_one_matter
from recollect.domain.change import Change, Note, Revise, Verb, revise
from recollect.domain.ids import CauseId, ItemId, RecordId, Rev, TenantId
from recollect.domain.item import Item
from recollect.domain.record import Open, Resolved, Verdict, family
from recollect.errors import ModelFailed
from recollect.holdings import Held
from recollect.policy import currency, pairs, prompts
from recollect.policy.ground import change_of, past
from recollect.policy.pairs import CLASHES, Pair, Ruling
from recollect.ports import Store, Writer

log = logging.getLogger("recollect.care")

KIND = "rejudge"
STEP = 24
"""Contradictions that are judged in one step."""
_PAGE = 500
_JOB = "job:"
_BY_A_MODEL = "a language model finds"
"""How the reason begins of what a language model put on record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a run would look at: so many open contradictions; so many more are people's or agents' own."""

    contradictions: int = 0
    left_alone: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejudged:
    """How a run stands, and, once it is at its end, what it did. `cause`: rolling that back takes all of it back."""

    cause: CauseId
    done: int = 0
    total: int = 0
    settled: bool = False
    failed: str = ""
    closed: int = 0
    """So many do not contradict each other."""
    ended: int = 0
    """Of so many, the later one tells that the earlier one no longer holds."""

    @property
    def left(self) -> int:
        return max(0, self.total - self.done)

    @property
    def besides(self) -> int:
        return 0


@dataclass(frozen=True, slots=True)
class Batch:
    """What becomes of the next contradictions: changes, the revisions that they stand on, how many were looked at, and
    behind which one it goes on."""

    last: RecordId
    looked_at: int
    changes: Sequence[Change] = ()
    expect: Mapping[ItemId, Rev] = field(default_factory=dict[ItemId, Rev])


def survey(store: Store, tenant: TenantId) -> Survey:
    found = own = 0
    after: RecordId | None = None
    while page := store.open_contradictions(tenant, after, _PAGE):
        by_jobs = _by_jobs(store, tenant, page)
        found, own, after = found + len(by_jobs), own + len(page) - len(by_jobs), page[-1].id
    return Survey(contradictions=found, left_alone=own)


def standing(store: Store, tenant: TenantId, cause: CauseId) -> Rejudged:
    """How a run stands. What it did is counted when it has come to its end."""
    status = next((one for one in store.jobs(tenant, open_only=True) if one.job.id == cause), None)
    done, total = (status.progress if status else None) or (0, 0)
    if status and not status.failed_at:
        return Rejudged(cause=cause, done=done, total=total)
    failed = (status.last_error or "it was given up") if status else ""
    changes = [change_of(entry) for entry in store.entries(tenant, cause=cause)]
    notes = [change for change in changes if isinstance(change, Note)]
    verdicts = [note.after.resolution for note in notes if isinstance(note.after, Resolved)]
    closed = verdicts.count(Verdict.BOTH_VALID)
    return Rejudged(
        cause=cause,
        done=done,
        total=total,
        settled=True,
        failed=failed,
        closed=closed,
        ended=len(verdicts) - closed,
    )


@dataclass(frozen=True, slots=True)
class _Case:
    """A contradiction on record with both of its memories and their words."""

    record: Open
    a: Held
    a_words: str
    b: Held
    b_words: str

    @property
    def memories(self) -> frozenset[ItemId]:
        return frozenset({self.a.item.id, self.b.item.id})


def next_batch(bench: Bench, tenant: TenantId, after: RecordId | None, until: datetime) -> Batch | None:
    """What becomes of the open contradictions behind `after` that were found before the run; None at the end. Raises
    ModelFailed where the judge or the embedder fails: rules alone are no second look."""
    page = [one for one in bench.store.open_contradictions(tenant, after, STEP) if one.detected_at < until]
    if not page:
        return None
    cases = _cases(bench.store, tenant, _by_jobs(bench.store, tenant, page))
    asked = [(case.a_words, case.b_words) for case in cases]
    chances = bench.judge.compare(asked) if bench.judge and asked else [None] * len(asked)
    rulings = [pairs.judged(*pair, said) for pair, said in zip(asked, chances, strict=True)]
    rulings = of_one_matter(bench.embedder, asked, rulings)
    now = bench.clock.now()
    changes: list[Change] = []
    expect: dict[ItemId, Rev] = {}
    changed: set[ItemId] = set()
    for case, ruling in zip(cases, rulings, strict=True):
        if changed & case.memories:  # one of them is over by what comes before it: the next step sees that
            place = page.index(case.record)
            return Batch(page[place - 1].id, place, changes, expect)
        told = _outcome(case, *_verdict(bench.writer, tenant, case, ruling), now)
        changes += told
        if told:
            expect |= {held.item.id: held.rev for held in (case.a, case.b)}
        changed |= {change.item_id for change in told if isinstance(change, Revise)}
    return Batch(page[-1].id, len(page), changes, expect)


def _by_jobs(store: Store, tenant: TenantId, records: Sequence[Open]) -> list[Open]:
    """Those that nobody but jobs ever wrote about."""
    people: set[RecordId] = set()
    for entry in store.entries(tenant, refs=[f"{family(one)}:{one.id}" for one in records]):
        note = past(entry).plain
        if isinstance(note, Note) and not entry.header.actor.startswith(_JOB):
            people |= {stage.id for stage in (note.before, note.after) if stage}
    return [one for one in records if one.id not in people]


def _cases(store: Store, tenant: TenantId, records: Sequence[Open]) -> list[_Case]:
    """Those whose memories are both there to be compared."""
    spoken = store.speaking(tenant, sorted({id for one in records for id in (one.memory_a, one.memory_b)}))
    return [
        _Case(one, a[0], a[1].content, b[0], b[1].content)
        for one in records
        if (a := spoken.get(one.memory_a)) and (b := spoken.get(one.memory_b))
    ]


def _verdict(writer: Writer | None, tenant: TenantId, case: _Case, ruling: Ruling) -> tuple[Pair, str]:
    """The verdict, and why: where rules and the judge are not sure, that of a language model. Where it does not answer,
    or is no longer there for what it once found, the record stands."""
    why = "; ".join(ruling.grounds)
    if ruling.verdict is not Pair.UNSURE:
        return (Pair.COMPATIBLE if ruling.verdict in CLASHES and not ruling.sure else ruling.verdict), why
    if writer is None:
        return (Pair.CONTRADICTION if case.record.why.startswith(_BY_A_MODEL) else Pair.UNSURE), why
    try:
        answer = writer.write(prompts.comparison(case.b_words, [case.a_words]), tenant=tenant)
    except ModelFailed as failed:
        log.warning("no language model looked at a contradiction that is unsure: %s", failed.what)
        return Pair.CONTRADICTION, why
    [verdict] = prompts.compared(answer, 1)
    return verdict, f"{_BY_A_MODEL}: {verdict.value}"


def _outcome(case: _Case, verdict: Pair, why: str, now: datetime) -> list[Change]:
    """What becomes of a contradiction; nothing where it stands."""
    a, b = case.a.item, case.b.item
    if a.superseded_by or b.superseded_by:
        return [_closed(case.record, _winner(a, b), "the time of one of them is over", now)]
    if verdict is Pair.CONTRADICTION:
        return []
    if verdict is Pair.UPDATE and currency.replaces(b, a, case.a_words):
        return [*_ended(a, b, now), _closed(case.record, Verdict.B_WINS, why, now)]
    if verdict is Pair.UPDATE and currency.replaces(a, b, case.b_words):
        return [*_ended(b, a, now), _closed(case.record, Verdict.A_WINS, why, now)]
    return [_closed(case.record, Verdict.BOTH_VALID, why, now)]


def _winner(a: Item, b: Item) -> Verdict:
    if a.superseded_by == b.id:
        return Verdict.B_WINS
    return Verdict.A_WINS if b.superseded_by == a.id else Verdict.BOTH_VALID


def _ended(old: Item, by: Item, now: datetime) -> list[Change]:
    after = replace(by, supersedes=by.supersedes or old.id, valid_from=currency.since(by))
    return [currency.ended(old, by, now), *([revise(by, after, now, Verb.UPDATE)] if after != by else [])]


def _closed(record: Open, resolution: Verdict, why: str, now: datetime) -> Note:
    after = Resolved(
        id=record.id,
        memory_a=record.memory_a,
        memory_b=record.memory_b,
        detected_at=record.detected_at,
        resolved_at=now,
        resolution=resolution,
        resolution_note=f"judged again: {why}",
        why=record.why,
        confidence=record.confidence,
    )
    return Note(record, after)
