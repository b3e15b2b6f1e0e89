"""A thread told again in the third person: every sentence of a person that can stand by itself a year later."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from recollect.domain.event import Event
from recollect.policy.distil import notation
from recollect.policy.distil.clauses import clauses
from recollect.policy.distil.proposals import agreed, proposed
from recollect.policy.distil.requests import asked, errand
from recollect.policy.distil.sense import UNSETTLED, about_somebody, makes_sense
from recollect.policy.distil.spoken import answered, deed, does, idiomatic, keen, plain, unadorned
from recollect.policy.distil.statement import Statement
from recollect.policy.distil.sure import is_name, names, sure, unturned
from recollect.policy.distil.terse import terse, unverbed
from recollect.policy.distil.wanting import wanted
from recollect.policy.distil.weight import section_of, weigh
from recollect.policy.secrets import redact
from recollect.policy.speech import idle, referents
from recollect.policy.speech import turns as whole_turns
from recollect.policy.speech.amends import settled
from recollect.policy.speech.clauses import EXPLETIVE, last_clause, main_clause, without_hidden
from recollect.policy.speech.dated import dated
from recollect.policy.speech.phrasing import TEAM, Voice, expanded, retold, subjected
from recollect.policy.speech.referents import KIN, Referents
from recollect.policy.speech.sentences import QUOTATION, Sentence, english, sentences
from recollect.policy.speech.speakers import ASSISTANT, is_person, listener, name_of
from recollect.policy.speech.talk import Talk, asks, talk
from recollect.policy.speech.thread import Thread
from recollect.policy.speech.wellformed import opened, tidy
from recollect.policy.speech.worth import technical
from recollect.policy.speech.wrapping import stripped
from recollect.policy.wording import fit

_LONGEST = 20_000
"""Characters of a turn that are read. A longer one is a paste, and its beginning says what it is."""
_LATELY = 1_200
_PLAY = re.compile(
    r"\b(?:role[- ]?play\b|pretend (?:to be|you|that you|i'm|we're)|let's (?:play a|pretend)|dungeon master|"
    r"stay in character)",
    re.IGNORECASE,
)
_SHORT_PLAY = 200
_SHARES = re.compile(r"\[(?P<verb>shares|shows|sends|attaches|posts) (?P<what>[^\]\n]{3,200})\]")
_SHOWN = {"shares": "shared", "shows": "showed", "sends": "sent", "attaches": "attached", "posts": "posted"}
_UNANSWERED = 4.0
_PROPOSED = 4.0
_UNKNOWN = re.compile(
    r"\b(?:no idea|not sure|don't know|do not know|dunno|let's ask|will ask|i'll ask|i'll check|will check|"
    r"good question|unclear|tbd|to be decided|later|thanks|ok)\b",
    re.IGNORECASE,
)
_RECENT = 12
_YOU = frozenset("you yourself your yours you're you'll you've you'd".split())


def speakers(events: Sequence[Event]) -> frozenset[str]:
    """Who speaks in a thread, in small letters, whole and by each part of the name."""
    names = {name_of(event).lower() for event in events}
    return frozenset(names | {part for name in names for part in name.split() if part != "the"})


def _plays(thread: Thread, text: str) -> bool:
    """Whether a part is played in a turn. One that asks for a story is no statement; only where people say that they
    play does what follows belong to it."""
    if whole_turns.ends_play(text):
        thread.playing = False
        return True
    thread.playing = thread.playing or bool(_PLAY.search(text[:_LATELY]))
    return thread.playing or (whole_turns.plays(text) and len(text) < _SHORT_PLAY)


def spoken_to(events: Sequence[Event], place: int) -> str:
    """Whom a turn speaks to: who spoke before it, or answers it where it is the first."""
    if (before := listener(events, place)) != ASSISTANT or any(event.role == "assistant" for event in events[:place]):
        return before
    for event in events[place + 1 :]:
        if event.role == "assistant":
            return ASSISTANT
        if is_person(event) and name_of(event) != name_of(events[place]):
            return name_of(event)
    return ASSISTANT


def retellings(events: Sequence[Event]) -> Iterator[Statement]:
    """The statements of a thread in their order, each with how much it says. Only people state things: what an
    assistant or a tool says is not theirs."""
    thread, names = Thread(), speakers(events)
    for place, event in enumerate(events):
        if not thread.at_desk and event.role != "system":
            thread.at_desk = technical(event.text[:_LATELY], sure=True)
        if not is_person(event):
            continue
        text = redact(event.text[:_LONGEST]).text
        if whole_turns.prompts(text) or whole_turns.injects(text) or _plays(thread, text):
            continue
        yield from _Turn(thread, events, place, text, names).told()


class _Turn:
    """One turn of a person."""

    def __init__(self, thread: Thread, events: Sequence[Event], place: int, text: str, names: frozenset[str]) -> None:
        self._thread, self._place, self._text, self._names = thread, place, text, names
        self._events, self._event = events, events[place]
        self._speaker, self._listener = name_of(self._event), spoken_to(events, place)
        self._alone = self._listener == ASSISTANT
        self._last = place == len(events) - 1
        self._dropped = False
        before = events[place - 1].text[-200:] if place else ""
        self._asked = not self._alone and bool(
            re.search(r"\byou(?:r|'re)?\b[^.!]*\?|\bplans\b[^.!]*\?", before, re.IGNORECASE)
        )
        thread.referents = replace(thread.referents, things=(), groups=(), subject=None)

    def told(self) -> Iterator[Statement]:
        start = whole_turns.cites(self._text)
        for sentence in sentences(self._text if start is None else self._text[:start]):
            if not english(sentence):
                continue
            if talk(sentence) is Talk.INJECTION:
                return
            for clause in clauses(sentence):
                if found := self._clause(clause):
                    yield found
                self._mention(clause)
        for found in _SHARES.finditer(self._text):
            if shared := self._shared(found):
                yield shared

    def _clause(self, clause: Sentence) -> Statement | None:
        clause = plain(clause, "" if self._alone else self._listener)
        kind = talk(clause)
        if kind in (Talk.JOKE, Talk.SMALL_TALK, Talk.INJECTION, Talk.RULE):
            return None  # a rule is read where facts are: it needs more care
        if (what := proposed(clause.text)) and (found := self._proposed(clause, what)):
            return found
        told = asked(clause.text)
        if told is None and kind is Talk.ERRAND and self._alone:
            told = errand(clause.text)
        if told is not None and (self._alone or (self._thread.at_desk and self._unanswered)):
            return self._request(clause, told)
        if kind in (Talk.QUESTION, Talk.HYPOTHETICAL, Talk.ERRAND) or asks(clause):
            return None
        return self._stated(clause, kind)

    def _proposed(self, clause: Sentence, what: str) -> Statement | None:
        """What somebody proposes; to an assistant that is their decision."""
        if QUOTATION in what or not (certain := sure(what)):
            return None
        other = None if self._alone else agreed(self._events, self._place)
        told = f"{self._speaker} {'decided' if self._alone else 'proposed'} {retold(certain, self._voice())}"
        text = self._worded(told.rstrip(".") + (f", and {name_of(self._events[other])} agreed." if other else ""))
        if text is None or not makes_sense(text, self._names, request=True):
            return None
        settles = self._alone or self._thread.at_desk
        found = self._statement(text, clause, notation.DECISIONS if settles else notation.DONE, "proposed")
        places = (self._place,) if other is None else (self._place, other)
        return replace(found, places=places, worth=found.worth + (_PROPOSED if settles else 0.0))

    @property
    def _unanswered(self) -> bool:
        """Whether a question stands at the end, or is answered by who does not know."""
        later = [event for event in self._events[self._place + 1 :] if is_person(event)]
        return all(_UNKNOWN.search(event.text[:200]) for event in later) and len(later) <= 2

    def _request(self, clause: Sentence, told: str) -> Statement | None:
        voice = replace(self._voice(), referents=Referents())  # what "it" is lies in what was pasted, or further back
        certain = sure(told)
        text = certain and self._worded(f"{self._speaker} {retold(certain, voice)}")
        if not text or not makes_sense(text, self._names, request=True):
            return None
        found = self._statement(text, clause, notation.DONE, "asked", request=True)
        open_ = self._last or not self._alone
        return replace(found, section=notation.OPEN, worth=found.worth + _UNANSWERED) if open_ else found

    def _stated(self, clause: Sentence, kind: Talk) -> Statement | None:
        text = settled(without_hidden(clause.text))
        if QUOTATION in text or idiomatic(text):
            return None
        bare = stripped(text)
        if not bare.text or EXPLETIVE.match(bare.text):
            return None
        said = Sentence(unturned(expanded(unadorned(bare.text))))
        if not said.text or idle.points(said) or self._idle(said):
            return None
        if talk(said) in (Talk.QUESTION, Talk.JOKE, Talk.SMALL_TALK, Talk.HYPOTHETICAL, Talk.RULE):
            return None
        whole = self._subjected(said)
        if whole is None:
            return None
        self._dropped = whole != said.text
        whole = sure(whole)
        if whole is None:
            return None
        text = self._worded(unverbed(self._retold(wanted(whole)), whole))
        if text is None or not makes_sense(text, self._names):
            return None
        if not self._alone and not about_somebody(text, self._names):
            return None
        hedged = bare.hedged or kind is Talk.DEFERRED
        section = section_of(text, self._thread.at_desk)
        found = self._statement(text, said, section, "said", hedged=hedged)
        return replace(found, worth=found.worth + _UNANSWERED) if section == notation.OPEN else found

    def _retold(self, text: str) -> str:
        if not self._alone and not self._thread.at_desk and deed(text):
            told = re.sub(r"^was\b", "were", text[3:])
            return f"{self._speaker} and others {retold(told, self._voice())}"
        return retold(text, self._voice())

    def _subjected(self, said: Sentence) -> str | None:
        if doing := answered(said, asked=self._asked):
            return doing
        whole = subjected(said.text, self._speaker, dropped=self._dropped, answers=not self._alone)
        return said.text if whole is None and does(said.text) else whole

    def _idle(self, said: Sentence) -> bool:
        """Whether a sentence tells a mood, praises, or is about whom it is said to."""
        if UNSETTLED.search(said.text) or keen(said):
            return False
        times = dated(said.text, self._event.ts).times
        hard = idle.hard(said.text, times)
        if self._alone:
            return idle.judges(said) or (not hard and idle.idle(said, said.text))
        if not _YOU.isdisjoint(said.words) or idle.judges(said) or idle.to_listener(said, hard=hard):
            return True
        if not deed(said.text) and idle.vague(said, dated=times > 0, kin=not KIN.isdisjoint(said.words)):
            return True
        return idle.idle(said, said.text) and not hard

    def _worded(self, told: str) -> str | None:
        """The statement as it is kept: whole, or up to where it goes on with a pronoun."""
        text = terse(opened(dated(told, self._event.ts).text, self._listener), self._speaker)
        for part in (text, main_clause(text), last_clause(text)):
            tidied = opened(tidy(part, self._speaker, twice=True), self._listener)
            if tidied and (fitting := fit(tidied)):
                return fitting
        return None

    def _statement(
        self, text: str, said: Sentence, section: str, why: str, *, request: bool = False, hedged: bool = False
    ) -> Statement:
        times = dated(said.text, self._event.ts).times
        return Statement(
            text=text,
            places=self._places(text),
            section=section,
            speaker=self._speaker,
            worth=weigh(text, said, times, request=request, hedged=hedged),
            why=f"{why} by {self._speaker} on {self._event.ts.date().isoformat()}",
        )

    def _places(self, text: str) -> tuple[int, ...]:
        """Where it is said, and where the person was named whom it calls by name."""
        for person in self._thread.referents.persons:
            called = person.name.rsplit(" ", 1)[-1]
            if called[:1].isupper() and called in text.split() and called not in self._event.text:
                before = range(self._place - 1, max(-1, self._place - _RECENT), -1)
                return (*[place for place in before if called in self._events[place].text][:1], self._place)
        return (self._place,)

    def _shared(self, found: re.Match[str]) -> Statement | None:
        text = fit(f"{self._speaker} {_SHOWN[found['verb']]} {found['what'].rstrip(' .')}")
        if text is None or not makes_sense(text, self._names):
            return None
        why = f"shown by {self._speaker} on {self._event.ts.date().isoformat()}"
        return Statement(
            text=text, places=(self._place,), section=notation.DONE, speaker=self._speaker, worth=1.3, why=why
        )

    def _voice(self) -> Voice:
        we = TEAM if self._thread.at_desk else self._speaker
        return Voice(self._speaker, we, self._thread.referents, you=self._listener)

    def _speaks(self, name: str) -> bool:
        """Whether a name is that of somebody who speaks, or short for it."""
        return any(speaker.startswith(name.lower()) for speaker in self._names)

    def _mention(self, clause: Sentence) -> None:
        """Who "she" is in what follows: the one person named last, and nobody where more than one name was said. What
        "it" and "they" mean is a guess from one sentence to the next."""
        named = names(clause.text, self._names)
        if not named and KIN.isdisjoint(clause.words):
            return
        found = referents.after(Referents(), stripped(clause.text).text, self._speaker, we=self._voice().we)
        known = [person for person in found.persons if is_name(person.name) and not self._speaks(person.name)]
        sure = known[:1] if len(named) <= 1 and len(known) == 1 else []
        self._thread.referents = Referents(persons=tuple(sure), latest=len(sure))
