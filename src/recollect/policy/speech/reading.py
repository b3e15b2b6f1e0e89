"""What is worth keeping of a conversation, each remark ready to be kept: told where that is sure, else quoted.

A keeper has weighed every sentence. Here sentences become remarks: neighbours that belong together, an answer with its
question, a correction with what it takes back. Facts and the bullets of summaries are made of the same remarks.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from recollect.domain.event import Event
from recollect.domain.judgement import Weighed
from recollect.domain.quotation import ASKS, GAP, Quotation
from recollect.policy.calendar import MONTHS, WEEKDAYS
from recollect.policy.secrets import redact
from recollect.policy.speech import days
from recollect.policy.speech.hearing import is_person, name_of
from recollect.policy.speech.orders import of_oneself, wished
from recollect.policy.speech.planted import planted
from recollect.policy.speech.quoting import Piece, fits, leading, pieces, quotation, room_of, unended
from recollect.policy.speech.remark import Remark, Weights
from recollect.policy.speech.secret_words import gives_away
from recollect.policy.speech.sentences import CORRECTS, Sentence, sentences, words
from recollect.policy.speech.third_person import told
from recollect.policy.wording import Sound, check, check_quotation

ENOUGH, _ALONE, _OF_ONESELF = 1.2, -0.35, -0.8
"""What a sentence must be worth; less where it is all that somebody tells an assistant, or opens a thread, and least
where it is about the speaker: the first thing that anybody tries."""
_SURE, _WEIGHTY, _NUMBER, _PLAIN, _ASKS_ONLY, _REST = 0.39, 0.37, 0.73, 0.89, -1.35, -1.45
"""What counts for it: the odds that it is worth keeping, importance, whether it tells a number, how likely it is a
plain statement, plan, decision or rule, whether it asks. Fitted to the verdicts of docs/readings."""
KEEP, ASKED = 0.7, 0.8
"""How likely a correction must be worth keeping, and a word or two, which only add something where they are sure."""
HIDDEN, ORDERED = 0.3, 0.2  # how likely a secret, or an order that somebody planted, for a sentence to be left alone
_LIKELY, _CORRECTED, _ASSENT = 0.5, 0.4, 0.4
_SHORT, _BRIEF_REPLY = 16, 9
"""Words of an answer up to which its question is quoted with it, and of a reply up to which what it replies to is."""
_IDLE = ("joke", "role_play", "hypothetical", "quotation", "small_talk", "thanks")
_ORDERS = ("rule", "instruction")  # who says how things are to be done from now on answers nobody
_BACK = 4  # turns before a correction in which what it takes back is looked for

_LEANS = re.compile(
    r"(?:(?:and|but|so|also|or|then|because|plus|though|well|ok|oh|yes|no|yeah)\b[,\s]+)*(?:it|its|it's|that|that's|this|"
    r"these|those|they|they're|he|she|he's|she's|him|her|his|their|them|same|both|only|not|currently|there|then|"
    r"such|either|neither|been|since|still|yes|yeah|no|nope|just|which|who|because|except|otherwise|instead|"
    r"the (?:first|second|other|latter))\b",
    re.IGNORECASE,
)
_SPOKEN_OF = re.compile(
    r"(?<![\w'’])(?:he|she|him|her|his|hers|they|them|their|it|its|these|those|that one|this one|the same)(?![\w’])",  # noqa: RUF001
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?<=[a-z,;:] )[A-ZÀ-ÖØ-Þ][\w-]+|\b(?:my|our|the) [a-z-]+\b")
_FRAGMENT = 3  # words that only announce what follows: "typo, sorry!!"
_CALENDAR = frozenset(word.lower() for word in (*WEEKDAYS, *MONTHS))
_SAYING = 5  # words that a remark has at least, unless it answers a question or is sure to matter
_SELF = re.compile(r"(?:\W*\w+[,\s]+)?(?:i|we|my|our)\b", re.IGNORECASE)
_STANDS = re.compile(  # who speaks of themselves, or names what they speak of
    rf"^{_SELF.pattern}|"
    rf"(?<=[^\W_]\s)(?!(?:{'|'.join((*WEEKDAYS, *MONTHS))})s?\b)(?-i:[A-ZÀ-ÖØ-Þ])\w",
    re.IGNORECASE,
)
_BARE, _BRIEF = 3, 4  # words of an answer that says nothing by itself, and of a question that does not
_ASKS = re.compile(r"(?:^|\w)[^\w?？]*+[?？]\W*$|^\W*(?:what|which|who|when|where|why|how)\b[^!]*$", re.IGNORECASE)  # noqa: RUF001
_GOES_ON = re.compile(r"(?:so|and|also|but|btw|anyway|by the way|then)\b", re.IGNORECASE)  # and answers nobody
_ASSENTS = re.compile(
    r"(?:yes|yep|yeah|ok(?:ay)?|perfect|sure|great|deal|agreed|sounds good|do (?:that|it)|go (?:with|for|on)|let's)\b",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Group:
    """Sentences that are kept together: by the place of their turn and their number in it."""

    members: list[tuple[int, int]]
    asked: Sequence[tuple[int, int]] = ()
    corrects: bool = False
    heavy: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Those that a keeper would keep; the others come along because these lean on them."""


def remarks(
    turns: Sequence[Event], places: Sequence[int], weights: Weights, keep: float | None = None, *, terse: bool = False
) -> list[Remark]:
    """The remarks in the turns at some places, in their order; the other turns are what they answer. Terse ones have a
    second sentence only where one leans on the other."""
    reader = _Reader(turns, weights, keep, terse=terse)
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


class _Reader:
    def __init__(self, turns: Sequence[Event], weights: Weights, bar: float | None, *, terse: bool = False) -> None:
        self._turns, self._weights, self._bar, self._terse = turns, weights, bar, terse
        self.groups: list[_Group] = []
        self._hidden: dict[tuple[int, int], bool] = {}

    def read(self, place: int) -> None:
        said = self._said(place)
        for number in range(len(said)):
            if self.groups and self.groups[-1].corrects and (place, number) in self.groups[-1].members:
                continue
            if self._corrects(place, number) and self._take_back(place, number):
                continue
            if not self._kept(place, number) or self._joins(place, number) or self._hangs(place, number):
                continue
            group = _Group([(place, number)], heavy=[(place, number)])
            few = not self._terse and len(words(said[number - 1].text)) <= _FRAGMENT  # context, and no more
            if number and not few and leans(said[number].text) and not self.hidden(place, number - 1):
                group.members.insert(0, (place, number - 1))
                if not self._whole(group):
                    group.members = group.heavy[:]
            self.groups.append(group)
        here = [group for group in self.groups if group.members[-1][0] == place]
        corrected = any(group.corrects for group in here)  # what is answered may hold what is taken back
        for group in (one for one in here if not one.corrects):
            group.asked = self._context(group, place if corrected else place - 3)
            while group.asked and not self._whole(group):
                group.asked = group.asked[1 - len(self._leading(group)) or len(group.asked) :]  # less than was quoted
            self._go_on(group)

    def _go_on(self, group: _Group) -> None:
        """A sentence that is kept alone gets the one behind it, which mostly says more of the same."""
        place, number = group.members[-1][0], group.members[-1][1] + 1
        taken = any((place, number) in other.members for other in self.groups)
        if self._terse or taken or len(group.members) > 1 or number == len(self._said(place)) or self._told(group):
            return
        longer, said = [*group.members, (place, number)], self._said(place)[number]
        if said.borrowed or said.text.endswith("?") or self.hidden(place, number) or self._idle(place, number):
            return
        group.members = longer if self._whole(replace(group, members=longer)) else group.members

    def _hangs(self, place: int, number: int) -> bool:
        """Whether a sentence is a word or two behind others, and nothing without them."""
        few = number > 0 and len(words(self._text(place, number))) <= _FRAGMENT
        return few and self._keep_of(place, number) < ASKED

    def _said(self, place: int) -> Sequence[Sentence]:
        return sentences(self._turns[place].text)

    def _text(self, place: int, number: int) -> str:
        return self._said(place)[number].text

    def _worth(self, place: int, number: int) -> Weighed | None:
        weighed = self._weights.get(place, ())
        return weighed[number] if number < len(weighed) else None

    def _kept(self, place: int, number: int) -> bool:
        worth, sentence = self._worth(place, number), self._said(place)[number]
        if worth is None or sentence.borrowed or sentence.text.endswith(":") or self.hidden(place, number):
            return False
        if self._bar is not None:
            return worth.keep >= (max(self._bar, ASKED) if self._asks(place, number) else self._bar)
        people = {name_of(turn) for turn in self._turns[max(0, place - _BACK) : place + 1] if is_person(turn)}
        alone = not place or len(self._said(place)) == len(people) == 1  # among people, one sentence is mostly banter
        alone = alone and not self._idle(place, number, ("question",)) and not self._assents(place, number)
        least = ENOUGH if not alone else _OF_ONESELF if _SELF.match(self._text(place, number)) else _ALONE
        return self._value(place, number, worth) >= least

    def _value(self, place: int, number: int, worth: Weighed) -> float:
        odds = math.log((worth.keep + 0.001) / (1.001 - worth.keep))
        plain = self._likely(place, number, ("statement", "plan", "decision", "rule"))
        asks = max(self._likely(place, number, ("question",)), self._asks(place, number))
        told = _NUMBER * any(map(str.isdigit, self._text(place, number))) + _PLAIN * plain + _ASKS_ONLY * asks
        return _SURE * odds + _WEIGHTY * worth.importance + told + _REST

    def _asks(self, place: int, number: int) -> bool:
        """Whether a sentence asks, or leans on the speaker's own question."""
        text = self._text(place, number)
        behind = number > 0 and self._text(place, number - 1).endswith("?") and leans(text)
        return text.endswith(("?", "？")) or behind  # noqa: RUF001

    def hidden(self, place: int, number: int) -> bool:
        """Whether a sentence holds a secret or an order that somebody planted, or goes on with one: it is quoted
        nowhere."""
        if (known := self._hidden.get((place, number))) is None:
            secret = self._likely(place, number, ("secret",)) >= HIDDEN or _hides(self._text(place, number))
            known = self._hidden[place, number] = secret or self._ordered(place, number)
        return known

    def _ordered(self, place: int, number: int) -> bool:
        """Whether a sentence is an order that somebody planted, or a rule right behind one that nobody says of
        themselves."""
        first = number
        while first and self._rules(place, first) and not self._orders(place, first):
            first -= 1
        return self._orders(place, first)

    def _rules(self, place: int, number: int) -> bool:
        return self._likely(place, number, _ORDERS) >= _LIKELY and not of_oneself(self._text(place, number))

    def _orders(self, place: int, number: int) -> bool:
        text, worth = self._text(place, number), self._worth(place, number)
        likely = max(worth.injection, self._likely(place, number, ("injection",))) if worth else 0.0
        return (likely >= ORDERED and not wished(text)) or planted(text)

    def _joins(self, place: int, number: int) -> bool:
        """Whether a sentence joins the one before it, which is kept as well."""
        last = self.groups[-1] if self.groups else None
        if last is None or last.members[-1] != (place, number - 1) or len(last.members) > 1:
            return False
        if self._terse and not leans(self._text(place, number)):
            return False
        longer = replace(last, members=[*last.members, (place, number)], heavy=[*last.heavy, (place, number)])
        if not self._whole(longer):
            return False
        self.groups[-1] = longer
        return True

    def _whole(self, group: _Group) -> bool:
        return fits(self._quoted(group, self._pieces(group)))

    def _quoted(self, group: _Group, quoted: Sequence[Piece]) -> Quotation:
        return quotation(self._turns, quoted, self._leading(group) if group.asked else ())

    def _leading(self, group: _Group) -> list[Piece]:
        return leading([(at, self._said(at)[number]) for at, number in group.asked])

    def _pieces(self, group: _Group) -> list[Piece]:
        """Where the members stand; one that another turn goes on from is quoted without its end."""
        own = group.members[-1][0]
        return [
            Piece(at, said.start, said.end) if at == own else unended(at, said)
            for at, said in ((at, self._said(at)[number]) for at, number in group.members)
        ]

    def _likely(self, place: int, number: int, kinds: Sequence[str]) -> float:
        worth = self._worth(place, number)
        return sum(worth.kinds.get(kind, 0.0) for kind in kinds) if worth else 0.0

    def _idle(self, place: int, number: int, kinds: Sequence[str] = _IDLE) -> bool:
        """Whether a sentence is talk that means nothing by itself, as far as a keeper can tell."""
        return self._likely(place, number, kinds) >= _LIKELY

    def _context(self, group: _Group, since: int) -> Sequence[tuple[int, int]]:
        """What a remark lives from: the questions that it answers, or else what was said last before it, since a turn;
        and what that itself refers to, as much as fits."""
        found = list(self._said_before(group, since))
        asks = bool(found) and ASKS.search(self._text(*found[-1])) and self._length(found) > _BRIEF
        if self._terse or not found or (asks and not refers(self._text(*found[0]))):
            return found
        for place in range(found[0][0] - 1, max(since, 0) - 1, -1):
            if self._one_sitting(group.members[0][0], place):
                found = [*self._before(place + 1, place), *found]
        return found

    def _said_before(self, group: _Group, since: int) -> Sequence[tuple[int, int]]:
        place, number = group.members[0]
        first = self._text(place, number)
        before = self._before(place, max(since, place - 1))
        asks = [one for one in before[-3:] if _ASKS.search(self._text(*one))]
        answers = len(words(first)) <= _SHORT and not _GOES_ON.match(first) and not self._idle(place, number, _ORDERS)
        if self._length(asks) > 1 and not number and answers:
            plain = ASKS.search(self._text(*asks[-1])) and self._length(asks) > _BRIEF
            wanted = before[before.index(asks[0]) :] if plain else before
            after = before[before.index(asks[-1]) + 1 :]  # "How is he? You said the knee was worse"
            return wanted if not after or self._length(after) > _BARE else asks[-1:]
        stands = not leans(first) and not self._assents(place, number)
        named = _STANDS.search(first) and len(words(first)) > _BRIEF_REPLY
        if stands and (self._terse or (not number and (_SELF.match(first) or named))):
            return ()
        own = [(place, one) for one in range(number) if not self.hidden(place, one)]
        own = [one for one in own if not self._idle(*one, _IDLE[:4])] or own[-2:]  # small talk may name the matter
        if self._length(own) > 1:
            return own
        earlier = [self._before(place, one) for one in range(place - 1, since - 1, -1)]
        return [*next((found for found in earlier if self._length(found) > _BARE), ()), *own]

    def _length(self, found: Sequence[tuple[int, int]]) -> int:
        return sum(len(words(self._text(*one))) for one in found)

    def _assents(self, place: int, number: int) -> bool:
        text, likely = self._text(place, number), self._likely(place, number, ("assent",)) >= _ASSENT
        return (likely or bool(_ASSENTS.match(text))) and len(words(text)) <= _SHORT

    def _before(self, place: int, earlier: int) -> list[tuple[int, int]]:
        """What may be quoted of an earlier turn, where it was said in the same sitting."""
        if not 0 <= earlier < place or self._turns[earlier].role in ("tool", "document", "system"):
            return []
        if not self._one_sitting(place, earlier):
            return []
        start = 1 + self._turns[earlier].text.rstrip().rfind("\n")  # a list or a letter is not what was said last
        said = enumerate(self._said(earlier))
        found = [(earlier, number) for number, one in said if one.start >= start and not self.hidden(earlier, number)]
        asked = earlier == place - 1 and name_of(self._turns[earlier]) != name_of(self._turns[place])
        while found and not asked and _ASKS.search(self._text(*found[-1])):
            found.pop()  # nobody answers that here
        return found

    def _one_sitting(self, place: int, earlier: int) -> bool:
        return self._turns[place].ts - self._turns[earlier].ts < timedelta(hours=12)

    def _corrects(self, place: int, number: int) -> bool:
        sure = self._keep_of(place, number) >= (self._bar or KEEP)
        likely = sure and self._likely(place, number, ("correction",)) >= _LIKELY
        return bool(CORRECTS.match(self._said(place)[number].text)) or likely

    def _take_back(self, place: int, number: int) -> bool:
        """A correction with what it takes back, which is kept no longer by itself. False where nothing is found that
        it could take back, or neither is worth keeping."""
        if self.hidden(place, number):
            return False
        target = self._taken_back(place, number)
        if target is None or self.hidden(*target):
            return False
        standing = [group for group in self.groups if target in group.members]
        worthy = [one for one in (target, (place, number)) if self._keep_of(*one) >= min(self._bar or KEEP, _CORRECTED)]
        if not worthy and not standing:
            return False
        again = _names_again(self._said(target[0])[target[1]].text, self._said(place)[number].text)
        group = _Group([*(() if again else [target]), (place, number)], corrects=True, heavy=worthy or [target])
        if not self._whole(group):
            return False
        self._announces(group, place, number)
        for former in standing:
            self._give_back(former, target)
        self.groups.append(group)
        return True

    def _give_back(self, former: _Group, target: tuple[int, int]) -> None:
        """What stood beside something that is taken back is kept by itself, unless it leans on that."""
        at = self.groups.index(former)
        rest = [one for one in former.heavy if one != target and not (one > target and leans(self._text(*one)))]
        asked = former.asked if rest[:1] == former.members[:1] else ()
        again = [_Group(rest, asked, heavy=rest)] if rest and not former.corrects else []
        self.groups[at : at + 1] = again

    def _announces(self, group: _Group, place: int, number: int) -> None:
        """A correction that is said in the next sentence, or goes on there, has that with it; where only that tells the
        right number, the wrong one is left out: "4,310. Wait, that's last quarter. 4,680." """
        if number + 1 == len(self._said(place)) or self.hidden(place, number + 1):
            return
        first, here, after = group.members[0], (place, number), (place, number + 1)
        short = len(words(self._text(*here))) <= _FRAGMENT
        elsewhere = first[0] != place and leans(self._text(*after))
        numbers = [any(map(str.isdigit, self._text(*one))) for one in (first, here, after)]
        instead = numbers == [True, False, True] and first[0] == place
        longer = replace(group, members=[*group.members[instead:], after])
        if (short or elsewhere or instead) and self._whole(longer):
            group.members = longer.members

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

    def made(self, group: _Group, *, plain: bool = False) -> Iterator[Remark]:
        """The remark of a group; of a single long sentence, one for each stretch of it that may stand alone."""
        at, number = group.members[-1]
        if len(group.members) == 1 and not group.asked:
            found = [[piece] for piece in pieces(at, self._said(at)[number], room_of(self._turns[at]))]
        else:
            found = [self._pieces(group)]
        for quoted in found:
            made = self._quoted(group, quoted)
            third = None if plain or quoted[0].before or quoted[-1].after else self._told(group)
            sure = max((self._keep_of(*one) for one in group.heavy), default=0.0) >= ASKED
            if not (plain or made.answers or third or sure) and len(words(made.words)) < _SAYING:
                continue  # a few words that nobody can place
            while made.meant and not fits(made):
                made = replace(made, meant=made.meant[:-1])
            if not isinstance(check_quotation(made), Sound) or _hides(f"{made.asked} {made.words}"):
                continue
            moments = days.dated(made.words.split(GAP)[-1], made.said_at, made.asked)
            yield Remark(
                quotation=made,
                told=third,
                places=self._places(group),
                weighed=tuple(worth for one in group.heavy if (worth := self._worth(*one))),
                beside=tuple(worth for one in self._along(group) if (worth := self._worth(*one))),
                corrects=group.corrects,
                valid_from=moments.valid_from,
                valid_to=moments.valid_to,
            )

    def _along(self, group: _Group) -> list[tuple[int, int]]:
        """What is quoted in a group besides what a keeper would keep."""
        return [one for one in (*group.members, *group.asked) if one not in group.heavy]

    def _places(self, group: _Group) -> tuple[int, ...]:
        own = group.members[-1][0]
        places = [place for place, _ in (*group.asked, *group.members)]
        return (*dict.fromkeys(place for place in places if place != own), own)

    def _told(self, group: _Group) -> str | None:
        """The third person, for sentences of which each stands by itself."""
        place = group.members[0][0]
        turn = self._turns[place]
        found = [self._said(at)[number] for at, number in group.members]
        if group.asked or group.corrects or turn.role == "document" or any(one.others for one in found):
            return None
        others = [(place, number) for number in range(len(self._said(place))) if (place, number) not in group.members]
        if not all(self._idle(*one) for one in others):
            return None  # what was said beside it may say how it is meant
        third = [told(sentence.text, name_of(turn)) for sentence in found]
        if not all(third):
            return None
        text = days.bracketed(" ".join(one for one in third if one), turn.ts)
        return text if isinstance(check(text), Sound) else None


def _hides(text: str) -> bool:
    """Whether a text holds a secret or a planted order: also one that only a question and its answer make together."""
    return "[redacted:" in text or gives_away(text) or planted(text) or bool(redact(text).found)


def _names_again(earlier: str, later: str) -> bool:
    """Whether a correction names what it is about itself, so that it can be understood without what it takes back."""
    named = {word.lower() for word in re.findall(r"(?<=[\w,;:] )[A-ZÀ-ÖØ-Þ][\w-]{2,}", f". {later}")}
    return bool(named & set(words(earlier)) - _CALENDAR)


def leans(text: str) -> bool:
    """Whether a sentence means something that stands before it: it refers to that, opens with a number or a day, or is
    hardly a sentence."""
    said = words(text)
    return refers(text) or len(said) <= 3 or said[0][0].isdigit() or said[0] in _CALENDAR


def refers(text: str) -> bool:
    """Whether a sentence opens with a pronoun or its like, or speaks of somebody whom it does not name."""
    spoken_of = _SPOKEN_OF.search(text)
    return bool(_LEANS.match(text)) or (spoken_of is not None and not _NAMED.search(text[: spoken_of.start()]))
