"""What a language model says was in the turns, held against the turns: what they do not bear out is dropped, and what
they say in other words is quoted."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime

from recollect.domain.event import Event
from recollect.domain.item import Fact
from recollect.domain.judgement import Weighed
from recollect.policy.candidate import Candidate
from recollect.policy.contents import is_english, shared, undated
from recollect.policy.prompts import ExtractedFact, ExtractedFacts, moment
from recollect.policy.proof import Proof, day_is_told, prove
from recollect.policy.secrets import redact
from recollect.policy.speech.hearing import is_person
from recollect.policy.speech.planted import planted
from recollect.policy.speech.reading import remarks
from recollect.policy.speech.remark import Remark
from recollect.policy.speech.secret_words import gives_away
from recollect.policy.speech.sentences import sentences
from recollect.policy.wording import fit, normal


def extracted(answer: ExtractedFacts, turns: Sequence[Event], fresh: frozenset[int]) -> list[Candidate]:
    """The candidates in an answer that the turns bear out and that may be kept, worded as memories are."""
    kept: dict[str, Candidate] = {}
    for fact in answer.facts:
        candidate = _candidate(fact, turns, fresh)
        if candidate is not None:
            kept.setdefault(candidate.text.casefold(), candidate)
    return list(_without_shared_keys(list(kept.values())))


def _without_shared_keys(found: Sequence[Candidate]) -> Iterator[Candidate]:
    """The candidates; a key that has several values in one answer is none, or each value would take over from the one
    before."""
    values: dict[tuple[str, str], set[str]] = {}
    for one in found:
        if one.body.key is not None:
            values.setdefault(_property(one.body), set()).add((one.body.value or "").casefold())
    for one in found:
        several = one.body.key is not None and len(values[_property(one.body)]) > 1 and not one.corrects
        yield replace(one, body=replace(one.body, key=None, value=None)) if several else one


def _property(body: Fact) -> tuple[str, str]:
    return (body.key or "").casefold(), (body.scope or "").casefold()


def _candidate(fact: ExtractedFact, turns: Sequence[Event], fresh: frozenset[int]) -> Candidate | None:
    named = sorted({number - 1 for number in fact.witnesses if 0 < number <= len(turns)})
    said = [place for place in named if place in fresh and _may_tell(turns[place])]
    if not said or _hidden(fact, turns[said[-1]].ts.date()):
        return None
    proof = prove(normal(fact.text), named, turns, said[-1])
    if proof is None:
        return None
    text = fit(fact.text)
    return _quoted(fact, turns, said[-1]) if proof.doubt or text is None else _told(fact, text, proof, turns)


def _may_tell(turn: Event) -> bool:
    """Whether memories may rest on a turn: a person's own words, which do not try to steer."""
    return is_person(turn) and not planted(turn.text)


def _hidden(fact: ExtractedFact, at: date) -> bool:
    """Whether a fact gives away a secret, or is an order that somebody planted."""
    fields = [part for part in (fact.text, fact.key, fact.value, fact.scope) if part]
    secret = any(redact(part).found or "[redacted:" in part for part in fields)
    return secret or gives_away(undated(fact.text, at)) or planted(fact.text)


def _told(fact: ExtractedFact, text: str, proof: Proof, turns: Sequence[Event]) -> Candidate:
    """The statement in the words of the model."""
    proved = fact.value is None or prove(fact.value, proof.places, turns, proof.places[-1]) is not None
    return Candidate(
        text=text,
        body=Fact(
            key=fact.key or None if proved else None,
            value=fact.value or None if proved else None,
            scope=fact.scope or None,
            confidence=fact.confidence,
        ),
        category=fact.category,
        importance=fact.importance,
        private=fact.private,
        witnesses=proof.places,
        valid_from=_moment(fact.valid_from, turns),
        valid_to=_moment(fact.valid_to, turns),
        corrects=fact.corrects,
    )


def _moment(iso: str | None, turns: Sequence[Event]) -> datetime | None:
    """Since or until when a fact holds, where the turns tell."""
    at = moment(iso)
    return at if at and day_is_told(at.date(), turns) else None


def _quoted(fact: ExtractedFact, turns: Sequence[Event], said: int) -> Candidate | None:
    """The words of the turn that say what the fact says, as they would be kept without a model; None where they have
    nothing to do with it."""
    worth = [shared(fact.text, sentence.text) for sentence in sentences(turns[said].text)]
    weights = [replace(_WORTHLESS, keep=1.0) if 2 * one >= max(worth) else _WORTHLESS for one in worth]
    made = remarks(turns, [said], {said: weights})
    if not made:
        return None
    remark = max(made, key=lambda one: shared(fact.text, one.quotation.words))
    quoted = f"{remark.quotation.asked} {remark.quotation.words}"
    if not shared(fact.text, quoted) and is_english(quoted):
        return None
    return Candidate(
        text=remark.text,
        quotation=None if remark.told else remark.quotation,
        body=_of_speaker(fact, remark),
        category=fact.category,
        importance=fact.importance,
        private=fact.private,
        witnesses=remark.places,
        valid_from=remark.valid_from,
        valid_to=remark.valid_to,
        corrects=fact.corrects,
    )


_WORTHLESS = Weighed(keep=0.0, kinds={}, categories={}, importance=1.0, private=0.0, injection=0.0)


def _of_speaker(fact: ExtractedFact, remark: Remark) -> Fact:
    """What is quoted is the speaker's; it has the key of the fact where that is about the speaker too."""
    speaker = remark.quotation.speaker
    own = (fact.scope or "").casefold() == speaker.casefold()
    return Fact(
        key=fact.key if own else None, value=fact.value if own else None, scope=speaker, confidence=fact.confidence
    )
