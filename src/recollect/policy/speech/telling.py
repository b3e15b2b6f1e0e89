"""One turn of a person, read sentence by sentence for what it states."""

import re
from collections.abc import Sequence
from dataclasses import replace

from recollect.domain.event import Event
from recollect.domain.judgement import Weighed
from recollect.policy.secrets import redact
from recollect.policy.speech import idle, referents, talk
from recollect.policy.speech import turns as whole_turns
from recollect.policy.speech.amends import correction, corrects, settled, takes_back, takes_itself_back
from recollect.policy.speech.answers import fragment, reply
from recollect.policy.speech.clauses import (
    AFTERTHOUGHT,
    BARE,
    DISMISSES,
    EXPLETIVE,
    LEANS,
    OCCASION,
    OWN,
    decided_part,
    elliptic,
    goes_by,
    labelled,
    last_clause,
    main_clause,
    riddle,
    without_hidden,
)
from recollect.policy.speech.dated import Dated, dated
from recollect.policy.speech.draft import Draft
from recollect.policy.speech.fleeting import fleeting
from recollect.policy.speech.hushed import gives_away
from recollect.policy.speech.orders import allows, ordered, wanted
from recollect.policy.speech.phrasing import TEAM, Voice, expanded, retold, subjected, verbless
from recollect.policy.speech.sentences import QUOTATION, Sentence, english, prose, sentences
from recollect.policy.speech.speakers import ASSISTANT, listener, name_of
from recollect.policy.speech.stand_ins import hangs, stood_in
from recollect.policy.speech.talk import Talk
from recollect.policy.speech.thread import Thread
from recollect.policy.speech.verbs import BASES
from recollect.policy.speech.weighing import HIDDEN, Weights, doubtless, hides, kept, sure
from recollect.policy.speech.wellformed import broken, opened, says_nothing, tidy
from recollect.policy.speech.worth import DECIDED, KEPT, worth
from recollect.policy.speech.wrapping import stripped
from recollect.policy.wording import fit

_LETS = re.compile(r"let'?s\b|let us\b", re.IGNORECASE)
_NOTED = re.compile(r"(?:don't|do not) forget\b|remember (?:that|to)\b|remind me\b|call me\b|note\b", re.IGNORECASE)
_ASKED = 100
LATELY = 600
"""Characters at the end of an assistant's turn that say what is spoken of next."""


def _unsound(text: str) -> bool:
    """Whether what is left of a statement does not stand by itself."""
    return broken(text) or verbless(text) or idle.moody(text) or idle.points(Sentence(text))


class Turn:
    """One turn of a person."""

    def __init__(self, thread: Thread, turns: Sequence[Event], place: int, text: str, weights: Weights) -> None:
        self._thread, self._turns, self._place, self._text = thread, turns, place, text
        self._weights = weights
        self._weighed: Weighed | None = None
        """What a keeper says of the sentence that is read; None where it was not asked."""
        self._turn = turns[place]
        self._speaker, self._listener = name_of(self._turn), listener(turns, place)
        self._dropped = False
        """The sentence before left its subject out."""
        self._whole: list[Sentence] = []
        self._before: Draft | None = None
        """What was kept of the sentence before."""

    def read(self, *, known: bool, recent: bool) -> None:
        """`known`: its statements were read before; it is context. `recent`: "she" may mean somebody named in it."""
        played = self._thread.plays(self._text)
        if (played and not self._weights) or (known and not recent):
            return
        self._thread.forget_things(self._turns, self._place)
        self._whole = self._meant_so(played=played)
        if known:
            for sentence in self._whole:
                self._mention(sentence)
            return
        said = [decided_part(sentence) for sentence in self._whole]
        kinds = [talk.talk(sentence) for sentence in said]
        weights = [self._weight(sentence) for sentence in self._whole]
        if Talk.INJECTION in kinds or any(one and one.injection >= HIDDEN for one in weights):
            return
        if ((Talk.JOKE in kinds and len(said) <= 3) or riddle(said, kinds)) and not any(map(sure, weights)):
            return
        self._sentences(said, kinds, weights)

    def _meant_so(self, *, played: bool) -> list[Sentence]:
        """The sentences that the speaker means: not those of a part that is played, nor what somebody else wrote,
        unless the keeper has no doubt."""
        start = whole_turns.cites(self._text)
        read = sentences(self._text)
        own = 0 if played else len(read) if start is None else len(sentences(self._text[:start]))
        meant = [one for place, one in enumerate(read) if place < own or doubtless(self._weight(one))]
        return [sentence for sentence in meant if english(sentence)]

    def _weight(self, sentence: Sentence) -> Weighed | None:
        return self._weights.get((self._place, sentence.text))

    def _sentences(self, said: list[Sentence], kinds: list[Talk], weights: list[Weighed | None]) -> None:
        used = self._reply(said, weights)
        correcting = bool(said) and corrects(said[0].text)
        if correcting and self._correct(said):
            return
        for number, (sentence, kind) in enumerate(zip(said, kinds, strict=True)):
            if number and corrects(sentence.text) and self._before and self._correct([sentence]):
                continue
            self._weighed = weights[number]
            left = hides(self._weighed) or self._gives_away(sentence, number) or takes_itself_back(sentence.text)
            if number >= used and not left:
                if takes_back(sentence.text):
                    self._thread.take_back(self._speaker)
                kept = self._sentence(sentence, kind, correcting=correcting and number == 0)
                self._before = kept if kept or len(sentence.words) > 2 else self._before
            if kind is Talk.HYPOTHETICAL and self._weighed is None:
                return  # what follows is part of the supposition
            self._mention(Sentence(stripped(self._whole[number].text).text))

    def _gives_away(self, sentence: Sentence, number: int) -> bool:
        """Whether a sentence holds a secret, by itself or as the answer to the turn before."""
        text = without_hidden(sentence.text)
        asked = prose(self._turns[self._place - 1].text[-LATELY:]) if self._place and not number else ""
        return gives_away(text) or (asked.rstrip().endswith("?") and gives_away(f"{asked[-_ASKED:]} {text}"))

    # -- one sentence ---------------------------------------------------------------------------------------

    def _sentence(self, sentence: Sentence, kind: Talk, *, correcting: bool) -> Draft | None:
        if kind is Talk.QUESTION:
            return self._presupposed(sentence)
        if names := goes_by(sentence.text, self._speaker):
            return self._keep(names, Sentence(f"I {names}"), (self._place,), rule=True)
        goes_on = kind is Talk.ERRAND and self._dropped and sentence.words[0] in BASES
        kind = self._meant(kind)
        if kind not in (Talk.STATEMENT, Talk.RULE) and not goes_on:
            return None
        bare = stripped(self._own_words(sentence))
        if not bare.text or EXPLETIVE.match(bare.text):
            return None
        if bare.label:
            self._mention(Sentence(labelled(bare.label)))
        said = idle.unadorned(Sentence(bare.text))
        again = Talk.STATEMENT if goes_on else self._meant(talk.talk(said))
        if again in (Talk.QUESTION, Talk.JOKE, Talk.ERRAND, Talk.SMALL_TALK) or (
            kind is Talk.STATEMENT and again is Talk.DEFERRED
        ):
            return None
        rule = again is Talk.RULE
        asks = rule and self._listener != ASSISTANT and not self._thread.technical
        if asks and not sure(self._weighed) and not self._noted(said):
            return None  # it cheers somebody on, or asks a favour
        if rule and _LETS.match(said.text) and idle.points_back(said.text):
            return None
        said = Sentence(expanded(said.text))
        told, leans, fragment = self._told(said, bare.label, rule=rule)
        if self._dropped and self._listener != ASSISTANT and said.words[0] in BASES:
            return None  # "enjoy it": it wishes somebody something
        remark = said.words[0] == "just" and self._listener == ASSISTANT
        if self._dropped and not rule and not remark and not OWN.match(said.text):
            said = Sentence(f"I {said.text}")  # its subject was left out
        rule = rule or (told.startswith(f"{self._speaker} wants ") and not OWN.match(said.text))
        return self._keep(
            told,
            said,
            (self._place,),
            decision=bare.decision,
            hedged=bare.hedged,
            correcting=correcting,
            rule=rule,
            leans=leans,
            fragment=fragment,
        )

    def _own_words(self, sentence: Sentence) -> str:
        """The sentence as it ends up, without secrets and quotations; "" where it only introduces a quotation."""
        text = settled(without_hidden(sentence.text))
        if QUOTATION in text:
            if re.search(rf"(?::|said|says|wrote|writes|goes|reads|that)\W*{QUOTATION}|^\W*{QUOTATION}", text):
                return ""
            text = text.replace(QUOTATION, " ")
        if found := DISMISSES.match(text):
            self._mention(Sentence(f"using {found[1]}"))
            text = text[found.end() :]
        return text

    def _meant(self, kind: Talk) -> Talk:
        """The kind of a sentence, or what it is after all where the keeper is sure that it is worth keeping."""
        if kind in (Talk.STATEMENT, Talk.RULE, Talk.QUESTION, Talk.INJECTION) or not sure(self._weighed):
            return kind
        if kind is Talk.JOKE and not doubtless(self._weighed):
            return kind
        return Talk.RULE if kind is Talk.ERRAND else Talk.STATEMENT

    def _noted(self, said: Sentence) -> bool:
        """Whether an order to another person is a note of a day: "don't forget our concert on Friday"."""
        return bool(_NOTED.match(said.text)) and dated(said.text, self._turn.ts).times > 0

    def _presupposed(self, sentence: Sentence) -> Draft | None:
        """A day that a question takes for granted: "any ideas for his birthday on 2 May?"."""
        found = OCCASION.search(sentence.text)
        if not found:
            return None
        told = retold(f"{found[1]} is {found[2]} {found[3]}", self._voice())
        return (
            self._keep(told, Sentence(f"my {found.group()}"), (self._place,))
            if dated(told, self._turn.ts).times
            else None
        )

    def _told(self, said: Sentence, label: str, *, rule: bool) -> tuple[str, bool, bool]:
        """The sentence in the third person, whether it leans on the one before, and whether it is only part of one."""
        voice = self._voice()
        leans = bool(LEANS.match(said.text))
        if rule and not (self._listener != ASSISTANT and allows(said.text)):
            return ordered(said.text, voice), leans, False
        whole = subjected(said.text, self._speaker, dropped=self._dropped, answers=self._listener != ASSISTANT)
        if whole is None and self._listener == ASSISTANT and wanted(said):
            lower = said.text if said.text[:2].isupper() else said.text[0].lower() + said.text[1:]
            return f"{self._speaker} wants {retold(lower, voice)}", False, False
        if whole is None and label:
            return retold(f"{label}: {said.text}", voice), False, False
        if whole is None:
            return retold(said.text, voice), True, True
        self._dropped = whole != said.text
        bare = not self._thread.technical and bool(BARE.match(said.text))
        return retold(whole, voice), leans or bare or self._dropped, False

    def _keep(
        self,
        told: str,
        said: Sentence,
        witnesses: tuple[int, ...],
        *,
        decision: bool = False,
        hedged: bool = False,
        correcting: bool = False,
        rule: bool = False,
        leans: bool = False,
        fragment: bool = False,
    ) -> Draft | None:
        when = dated(told, self._turn.ts)
        own = bool(OWN.search(said.text))
        joins = self._before is not None and (leans or (self._before.decision and not own and not rule))
        value = worth(said, when.times)
        if joins:
            value = max(value, worth(Sentence(told), when.times), 1)
        value = (max(value, 0) + 2 if decision or rule else value) + joins - hedged
        rules = value >= KEPT and (decision or rule or correcting or not self._fleeting(said, when))
        if not kept(self._weighed, rules=rules):
            return None
        decision = decision or said.says(DECIDED)
        text = self._worded(when.text)
        if text is None or (decision and not correcting and idle.points_back(when.text)):
            return None
        if says_nothing(text) or (not decision and not rule and not sure(self._weighed) and _unsound(text)):
            return None
        draft = Draft(
            text=text,
            said=said.text,
            witnesses=witnesses,
            speaker=self._speaker,
            technical=self._thread.technical,
            times=when.times,
            decision=decision,
            corrects=correcting or said.says("no longer", "not anymore", "changed from", "instead of"),
            hedged=hedged,
            firm=decision or correcting or when.times > 0 or (rule and len(witnesses) == 1),
            weighed=() if self._weighed is None else (self._weighed,),
            valid_from=when.valid_from,
            valid_to=when.valid_to,
        )
        if correcting:
            self._thread.drop_rivals(draft)
        elif joins and (both := self._joined(draft)):
            return both
        elif fragment or hangs(text):
            noted = fit(f"{self._speaker} noted: {text}")
            if noted is None or not (sure(self._weighed) or (self._listener == ASSISTANT and value > KEPT)):
                return None
            draft = replace(draft, text=noted)
        return self._kept(draft)

    def _kept(self, draft: Draft) -> Draft:
        if all(draft.text != other.text for other in self._thread.drafts):
            self._thread.drafts.append(draft)
        return draft

    def _fleeting(self, said: Sentence, when: Dated) -> bool:
        return fleeting(said, when, speaker=self._speaker, listener=self._listener, technical=self._thread.technical)

    def _worded(self, text: str) -> str | None:
        """The statement as it is kept: whole, or up to where it goes on with a pronoun."""
        text = opened(text, self._listener)
        twice = self._thread.technical or self._listener == ASSISTANT
        certain = sure(self._weighed)
        for part in (text, *((stood_in(text),) if certain else ()), main_clause(text), last_clause(text)):
            tidied = opened(part if certain else tidy(part, self._speaker, twice=twice), self._listener)
            if tidied and (fitting := fit(tidied)):
                return fitting
        return None

    def _joined(self, draft: Draft) -> Draft | None:
        """The draft as the second sentence of the one it leans on, where both fit into one memory."""
        before, drafts = self._before, self._thread.drafts
        if before is None or before not in drafts:
            return None
        text = f"{before.text} {draft.text}"
        if fit(text) != text:
            return None
        both = replace(
            before,
            text=text,
            said=f"{before.said} {draft.said}",
            times=before.times + draft.times,
            firm=before.firm or draft.firm,
            weighed=(*before.weighed, *draft.weighed),
            decision=before.decision or draft.decision,
            valid_from=before.valid_from or draft.valid_from,
            valid_to=before.valid_to or draft.valid_to,
        )
        drafts[drafts.index(before)] = both
        return both

    # -- what it stands on ----------------------------------------------------------------------------------

    def _voice(self) -> Voice:
        we = TEAM if self._thread.at_desk else self._speaker
        return Voice(self._speaker, we, self._thread.referents, you=self._listener)

    def _mention(self, sentence: Sentence) -> None:
        thread = self._thread
        if re.fullmatch(r"[A-ZÀ-Þ][\w'-]+[.!]?", sentence.text) and thread.referents.persons:
            first, *others = thread.referents.persons
            named = referents.named(first, sentence.text.rstrip(".!"))
            thread.referents = replace(thread.referents, persons=(named, *others))
            return
        thread.referents = referents.after(thread.referents, sentence.text, self._speaker, we=self._voice().we)

    def _reply(self, said: list[Sentence], weights: list[Weighed | None]) -> int:
        """What the turn settles as a reply to the assistant; how many of its sentences that used up."""
        before = self._place - 1
        if before < 0 or not said or self._turns[before].role in ("tool", "document", "system"):
            return 0
        asked = redact(self._turns[before].text[-2 * LATELY :]).text
        if whole_turns.injects(asked):
            return 0
        heard = prose(asked)
        if self._gives_away(said[0], 0):
            return 0
        found = reply(heard, said, self._voice()) if self._turns[before].role == "assistant" else None
        if found is None and sure(weights[0]):
            found = fragment(heard, said[0], self._voice())
        if found is None:
            return 0
        self._weighed = None if found.decision else weights[0]
        self._before = self._keep(
            found.text,
            Sentence(f"{asked[-200:]} {said[0].text}"),
            (before, self._place),
            decision=found.decision,
            rule=True,
        )
        if found.decision and found.used:
            self._mention(Sentence(f"with {said[0].text}"))
        return found.used

    # -- corrections ----------------------------------------------------------------------------------------

    def _correct(self, said: list[Sentence]) -> bool:
        """The latest statement of the same speaker with the value that this turn gives instead. Whether there is one.

        A correction that is a whole statement by itself is read as one; the statement it replaces is dropped then.
        """
        words = " ".join(sentence.text for sentence in said)
        bare = stripped(correction(words)).text
        if not elliptic(bare) or gives_away(words):
            return False
        value = dated(bare, self._turn.ts).text
        if not self._thread.amend(self._speaker, value, bare, self._place):
            return False
        rest = AFTERTHOUGHT.search(said[0].text)
        for sentence in [*([Sentence(rest[1])] if rest else []), *said[1:]]:
            self._after_correction(sentence)
        return True

    def _after_correction(self, sentence: Sentence) -> None:
        self._weighed = self._weight(sentence)
        if takes_back(sentence.text):
            self._thread.take_back(self._speaker)
        self._sentence(sentence, talk.talk(sentence), correcting=False)
        self._mention(sentence)
