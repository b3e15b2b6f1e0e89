"""What is worth keeping of a conversation, each remark ready to be kept: told where that is sure, else quoted.

A keeper has weighed every sentence. Here sentences become remarks: neighbours that belong together, an answer with its
question, a correction with what it takes back. Facts and the bullets of summaries are made of the same remarks.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recollect.domain.event import Event
from recollect.domain.judgement import Weighed
from recollect.domain.quotation import Quotation
from recollect.policy.secrets import redact
from recollect.policy.speech import days
from recollect.policy.speech.hearing import name_of
from recollect.policy.speech.planted import planted
from recollect.policy.speech.quoting import Piece, fits, pieces, question, quotation, room_of
from recollect.policy.speech.secret_words import gives_away
from recollect.policy.speech.sentences import Sentence, sentences, words
from recollect.policy.speech.third_person import told
from recollect.policy.wording import Sound, check

KEEP = 0.45
"""How likely a sentence must be worth keeping."""
PRIVATE = 0.5
HIDDEN = 0.3
"""How likely a secret, or an order that is none of the speaker's, must be for a sentence to be left alone."""
_CORRECTION = 0.5
_ASSENT = 0.4
_SHORT = 9
"""Words of an answer up to which its question is quoted with it."""
_BACK = 4
"""Turns before a correction in which what it takes back is looked for."""
Weights = Mapping[int, Sequence[Weighed]]
"""What the sentences of turns are worth, by the place of their turn."""

_LEANS = re.compile(
    r"(?:(?:and|but|so|also|or|then|because|plus|though|well|ok|oh|yes|no|yeah)\b[,\s]+)*(?:it|its|it's|that|that's|this|"
    r"these|those|they|they're|he|she|he's|she's|him|her|his|their|them|same|both|one|ones|only|not|currently|there|then|"
    r"such|either|neither|yes|yeah|no|nope|just|which|who|because|except|otherwise|instead|"
    r"the (?:first|second|other|latter))\b",
    re.IGNORECASE,
)
_PERSON = re.compile(r"(?<![\w'’])(?:he|she|him|her|his|hers|they|them|their)(?![\w’])", re.IGNORECASE)  # noqa: RUF001
_NAMED = re.compile(r"(?<=[a-z,;:] )[A-ZÀ-ÖØ-Þ][\w-]+|\b(?:my|our|the) [a-z-]+\b")
_CORRECTS = re.compile(
    r"(?:(?:oh|ah|ok|um|uh|argh|ugh|damn|hmm?|sorry)[,!\s]+)*(?:no,? wait|wait,? no|oh wait|no,? sorry|typo|correction|"
    r"scratch that|strike that|my bad|my mistake|i (?:mean|meant|misread|misspoke|mistyped)|make that|or rather|"
    r"actually,? (?:no|it's|make|the)|not \S+,? but)\b",
    re.IGNORECASE,
)
_BARE = 4
"""Words of an answer that says nothing by itself."""
_ASKS = re.compile(r"[?？]\s*$|^\W*(?:\w+,? )?(?:what|which|who|whose|when|where|why|how)\b", re.IGNORECASE)  # noqa: RUF001
_ASSENTS = re.compile(
    r"(?:yes|yep|yeah|ok|okay|perfect|sure|great|deal|agreed|sounds good|do (?:that|it)|go (?:with|for|ahead)|"
    r"let's do)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something that was said and is worth keeping. `told` says it in the third person where that is sure."""

    quotation: Quotation
    told: str | None
    places: tuple[int, ...]
    """The turns that bear it out, the one it was said in last."""
    weighed: tuple[Weighed, ...]
    corrects: bool = False
    valid_from: datetime | None = None
    valid_to: datetime | None = None

    @property
    def text(self) -> str:
        """What is compared and embedded."""
        return self.told or self.quotation.plain

    @property
    def served(self) -> str:
        return self.told or self.quotation.framed

    @property
    def keep(self) -> float:
        return max(one.keep for one in self.weighed)

    @property
    def importance(self) -> int:
        """From 1 to 5, as the sentence that matters most."""
        return max(min(5, max(1, round(one.importance))) for one in self.weighed)

    @property
    def category(self) -> str:
        """The likeliest for all its sentences together."""
        names = self.weighed[0].categories
        return max(names, key=lambda name: sum(one.categories[name] * one.keep for one in self.weighed))

    @property
    def private(self) -> bool:
        return any(one.private >= PRIVATE for one in self.weighed)

    def kind(self, *names: str) -> float:
        """How likely it is one of these kinds of talk."""
        return max(sum(one.kinds.get(name, 0.0) for name in names) for one in self.weighed)


@dataclass(slots=True)
class _Group:
    """Sentences that are kept together: by the place of their turn and their number in it."""

    members: list[tuple[int, int]]
    asked: tuple[int, int] | None = None
    corrects: bool = False
    heavy: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Those that a keeper would keep; the others come along because these lean on them."""


def remarks(turns: Sequence[Event], places: Sequence[int], weights: Weights, keep: float = KEEP) -> list[Remark]:
    """The remarks in the turns at some places, in their order; the other turns are what they answer."""
    reader = _Reader(turns, weights, keep)
    for place in sorted(places):
        if place in weights:
            reader.read(place)
    return [remark for group in reader.groups for remark in reader.made(group)]


def open_question(turns: Sequence[Event], place: int, number: int, weights: Weights) -> Remark | None:
    """A question that nobody answered, in the words of who asked it."""
    reader = _Reader(turns, weights, 0.0)
    if reader.hidden(place, number):
        return None
    return next(reader.made(_Group([(place, number)], heavy=[(place, number)]), plain=True), None)


def is_private(weighed: Sequence[Weighed]) -> bool:
    """Whether one of some sentences is for those alone who were there."""
    return any(one.private >= PRIVATE for one in weighed)


class _Reader:
    def __init__(self, turns: Sequence[Event], weights: Weights, keep: float) -> None:
        self._turns, self._weights, self._keep = turns, weights, keep
        self.groups: list[_Group] = []

    # -- choosing -------------------------------------------------------------------------------------------

    def read(self, place: int) -> None:
        said = self._said(place)
        for number, sentence in enumerate(said):
            corrects = self._corrects(place, number)
            if corrects and self._take_back(place, number):
                continue
            if not self._kept(place, number):
                continue
            if self._joins(place, number):
                continue
            group = _Group([(place, number)], heavy=[(place, number)])
            if number and self._leans(place, number) and not self.hidden(place, number - 1):
                group.members.insert(0, (place, number - 1))
            elif number == 0:
                group.asked = self._asked(place, sentence)
            self._add(group)

    def _said(self, place: int) -> Sequence[Sentence]:
        return sentences(self._turns[place].text)

    def _worth(self, place: int, number: int) -> Weighed | None:
        weighed = self._weights.get(place, ())
        return weighed[number] if number < len(weighed) else None

    def _kept(self, place: int, number: int) -> bool:
        worth = self._worth(place, number)
        sentence = self._said(place)[number]
        return (
            worth is not None and worth.keep >= self._keep and not sentence.borrowed and not self.hidden(place, number)
        )

    def hidden(self, place: int, number: int) -> bool:
        """Whether a sentence holds a secret or an order that somebody planted: it is quoted nowhere."""
        worth, text = self._worth(place, number), self._said(place)[number].text
        if worth and max(worth.injection, worth.kinds.get("injection", 0.0), worth.kinds.get("secret", 0.0)) >= HIDDEN:
            return True
        return "[redacted:" in text or gives_away(text) or planted(text) or bool(redact(text).found)

    # -- grouping -------------------------------------------------------------------------------------------

    def _joins(self, place: int, number: int) -> bool:
        """Whether a sentence joins the one before it, which is kept as well."""
        last = self.groups[-1] if self.groups else None
        if last is None or last.members[-1] != (place, number - 1) or len(last.members) > 1:
            return False
        longer = _Group([*last.members, (place, number)], last.asked, last.corrects, [*last.heavy, (place, number)])
        if not self._whole(longer):
            return False
        self.groups[-1] = longer
        return True

    def _add(self, group: _Group) -> None:
        """The group, without what it leans on where that makes it too long."""
        if not self._whole(group) and len(group.members) > 1:
            group.members = group.members[-1:]
        if group.asked and not self._whole(group):
            group.asked = None
        self.groups.append(group)

    def _whole(self, group: _Group) -> bool:
        return fits(quotation(self._turns, self._pieces(group), self._question(group)))

    def _pieces(self, group: _Group) -> list[Piece]:
        return [Piece(at, (said := self._said(at)[number]).start, said.end) for at, number in group.members]

    def _question(self, group: _Group) -> Piece | None:
        if group.asked is None:
            return None
        at, number = group.asked
        return question(at, self._turns[at], self._said(at)[number])

    def _leans(self, place: int, number: int) -> bool:
        """Whether a sentence leans on the one before it; on one that is kept already, only where it opens so."""
        text = self._said(place)[number].text
        kept = any((place, number - 1) in group.members for group in self.groups)
        return bool(_LEANS.match(text)) if kept else leans(text)

    # -- answers --------------------------------------------------------------------------------------------

    def _asked(self, place: int, sentence: Sentence) -> tuple[int, int] | None:
        """What the first sentence of a turn answers, where it lives from that."""
        before = self._before(place)
        if before is None:
            return None
        said = self._said(before)
        short = len(words(sentence.text)) <= _SHORT or leans(sentence.text)
        last = [number for number in range(max(0, len(said) - 3), len(said)) if not self.hidden(before, number)]
        asks = [number for number in last if _ASKS.search(said[number].text)]
        if asks and short:
            return before, asks[-1]
        worth = self._worth(place, 0)
        assents = (worth is not None and worth.kinds.get("assent", 0.0) >= _ASSENT) or _ASSENTS.match(sentence.text)
        lives = assents or _LEANS.match(sentence.text) or len(words(sentence.text)) <= _BARE
        return (before, last[-1]) if last and lives and short else None

    def _before(self, place: int) -> int | None:
        """The turn before, where somebody else said it."""
        if not place or name_of(self._turns[place - 1]) == name_of(self._turns[place]):
            return None
        return place - 1 if self._turns[place - 1].role not in ("tool", "document", "system") else None

    # -- corrections ----------------------------------------------------------------------------------------

    def _corrects(self, place: int, number: int) -> bool:
        worth = self._worth(place, number)
        likely = worth is not None and worth.kinds.get("correction", 0.0) >= _CORRECTION and worth.keep >= self._keep
        return bool(_CORRECTS.match(self._said(place)[number].text)) or likely

    def _take_back(self, place: int, number: int) -> bool:
        """A correction with what it takes back, which is kept no longer by itself. False where nothing is found that
        it could take back, or neither is worth keeping."""
        if self.hidden(place, number):
            return False
        target = self._taken_back(place, number)
        if target is None or self.hidden(*target):
            return False
        standing = [group for group in self.groups if target in group.members]
        worthy = [one for one in (target, (place, number)) if self._kept(*one)]
        if not worthy and not standing:
            return False
        members = [target, (place, number)]
        said = self._said(place)
        if len(words(said[number].text)) <= 3 and number + 1 < len(said) and not self.hidden(place, number + 1):
            members.append((place, number + 1))
        group = _Group(members, corrects=True, heavy=worthy or members[:1])
        if not self._whole(group):
            return False
        for former in standing:
            self.groups.remove(former)
        self.groups.append(group)
        return True

    def _taken_back(self, place: int, number: int) -> tuple[int, int] | None:
        if number:
            return place, number - 1
        speaker = name_of(self._turns[place])
        for before in range(place - 1, max(-1, place - 1 - _BACK), -1):
            if name_of(self._turns[before]) == speaker and (said := self._said(before)):
                return before, max(range(len(said)), key=lambda one: (self._keep_of(before, one), one))
        return None

    def _keep_of(self, place: int, number: int) -> float:
        worth = self._worth(place, number)
        return worth.keep if worth else 0.0

    # -- making ---------------------------------------------------------------------------------------------

    def made(self, group: _Group, *, plain: bool = False) -> Iterator[Remark]:
        """The remark of a group; of a single long sentence, one for each stretch of it that may stand alone."""
        at, number = group.members[-1]
        if len(group.members) == 1 and not group.asked:
            found = [[piece] for piece in pieces(at, self._said(at)[number], room_of(self._turns[at]))]
        else:
            found = [self._pieces(group)]
        for quoted in found:
            made = quotation(self._turns, quoted, self._question(group))
            if not isinstance(check(made.framed), Sound):
                continue
            moments = days.dated(made.words, made.said_at)
            yield Remark(
                quotation=made,
                told=None if plain else self._told(group, quoted),
                places=self._places(group),
                weighed=tuple(worth for one in group.heavy if (worth := self._worth(*one))),
                corrects=group.corrects,
                valid_from=moments.valid_from,
                valid_to=moments.valid_to,
            )

    def _places(self, group: _Group) -> tuple[int, ...]:
        asked = [group.asked[0]] if group.asked else []
        return tuple(dict.fromkeys([*asked, *(place for place, _ in group.members)]))

    def _told(self, group: _Group, quoted: Sequence[Piece]) -> str | None:
        """The third person, for one whole sentence that stands by itself."""
        place, number = group.members[0]
        sentence = self._said(place)[number]
        alone = len(group.members) == 1 and group.asked is None and not group.corrects
        if not alone or sentence.others or quoted[0].before or quoted[0].after or self._turns[place].role == "document":
            return None
        plain = told(sentence.text, name_of(self._turns[place]))
        text = days.bracketed(plain, self._turns[place].ts) if plain else None
        return text if text and isinstance(check(text), Sound) else None


def leans(text: str) -> bool:
    """Whether a sentence means something that stands before it: it opens with a pronoun, speaks of somebody whom it
    does not name, or is hardly a sentence."""
    if _LEANS.match(text) or len(words(text)) <= 3:
        return True
    person = _PERSON.search(text)
    return person is not None and not _NAMED.search(text[: person.start()])
