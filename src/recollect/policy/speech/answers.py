"""What a short reply means. "Yes, do it" says nothing by itself; with the question before it, it is a decision."""

import re
from dataclasses import dataclass

from recollect.policy.speech.idle import hard
from recollect.policy.speech.phrasing import Voice, retold, subjected
from recollect.policy.speech.sentences import Sentence, sentences
from recollect.policy.speech.talk import Talk, asks, opening, talk
from recollect.policy.speech.wrapping import stripped

_OFFER = re.compile(
    r"\b(?:(?:shall|should|can|may|could) (?:I|we)|(?:do|would) you (?:want|like) (?:me|us) to|"
    r"want me to)\s+(?P<what>[^?\n]{3,200})\?",
    re.IGNORECASE,
)
_PROPOSAL = re.compile(
    r"\b(?:I(?:'d| would)? (?:suggest|recommend|propose)(?: that)?(?: we| you| to)?|(?:we|you|"
    r"I) could(?: also)?|how about|what about|why not|let's|"
    r"my (?:suggestion|recommendation) is to|it (?:might|would) be (?:best|better|good) to|(?:I|"
    r"we) can)\s+(?P<what>(?:[^.?!\n]|\.(?=\S)){3,200})",
    re.IGNORECASE,
)
_YES = re.compile(
    r"^(?:(?:yes|yeah|yep|yup|ja|oui|sí|si|sure|ok(?:ay)?|agreed|exactly|correct|right|absolutely|definitely|"
    r"of course|please do|do (?:it|that|so)|"
    r"go (?:ahead|for it)|sounds (?:good|great|fine)|perfect|great|good idea|fine|deal|let's do (?:it|that)|"
    r"makes sense|works for me|approved|👍|please|i like (?:it|that))"
    r"(?=$|[\s,.!:;—-]))",
    re.IGNORECASE,
)
_ONLY_YES = re.compile(
    r"^(?:(?:yes|yeah|yep|yup|ja|sure|ok(?:ay)?|agreed|exactly|correct|right|absolutely|definitely|of course|"
    r"please|do (?:it|that|so)|go (?:ahead|for it)|sounds (?:good|great|fine)|"
    r"perfect|great|good idea|fine|deal|let's do (?:it|that)|makes sense|works for me|thanks|thank you|then|"
    r"that's right|approved|👍|i like (?:it|that))[\s,.!;—-]*)+$",
    re.IGNORECASE,
)
_NO = re.compile(
    r"^(?:no\b|nope|nah|not (?:now|yet|really|sure)|hmm|maybe|later|wait|hold on|don't|i'll think|let me|"
    r"never mind|nein)",
    re.IGNORECASE,
)
_ONCE = frozenset(
    """start begin show explain write draft list look run check continue summarize summarise open help see try
    go walk describe tailor adjust customize customise dive delve apply explore refine discuss practice give tell
    proceed search read prepare outline elaborate expand generate sketch suggest send
    text email share print translate know file create find review""".split()
)
_IDLE = re.compile(
    r"\b(?:how are you|anything else|what can I|how can I|what would you like|what do you think|can I help|"
    r"help you|what's up|how does that sound|any questions|ready|how did|how was|why|how exciting|"
    r"tell me more|how was|looking forward)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(r"(?:\w+ )?(?:which|what|where|when|who|whose|how)\b", re.IGNORECASE)
_COURTESY = re.compile(
    r"^(?:that|this|it|thanks?|thank you|for the|sounds?|great|really|very|so)\b|\b(?:helpful|makes sense|thanks?)\b",
    re.IGNORECASE,
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|am|has|have|will|would|can|must|should|i'm|it's|we're|don't|i|we)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a reply settles, told with the words it replies to; how many of its sentences that uses up."""

    text: str
    used: int
    decision: bool


def reply(before: str, said: list[Sentence], voice: Voice) -> Reply | None:
    """What the first sentence of a turn means as a reply to the assistant's turn before it."""
    first = opening_of(said)
    if first is None or _NO.search(first.text) or any(talk(sentence) is Talk.DEFERRED for sentence in said):
        return None
    if found := _lettered(before, first, voice):
        return found
    asked = _last(_OFFER, before)
    proposed = asked or _last(_PROPOSAL, before)
    if _YES.search(said[0].text):
        return _accepted(before, proposed, said, voice)
    if asks(first):
        return None
    if proposed and (found := _chosen(proposed, first, voice)):
        return found
    if asked and (found := _instead(asked, first, voice)):
        return found
    return _answered(before, first, voice)


def opening_of(said: list[Sentence]) -> Sentence | None:
    return opening(said[0]) if said else None


def _last(pattern: re.Pattern[str], text: str) -> str | None:
    """The last thing offered. "Which airline should I search first?" offers nothing."""
    found = [
        match["what"].strip()
        for sentence in sentences(text)
        if not _OPEN.match(sentence.text)
        for match in pattern.finditer(sentence.text)
    ]
    return found[-1] if found else None


def _accepted(before: str, proposed: str | None, said: list[Sentence], voice: Voice) -> Reply | None:
    used = 1 if _ONLY_YES.match(said[0].text) or talk(opening(said[0])) in (Talk.ERRAND, Talk.SMALL_TALK) else 0
    if proposed:
        if not _lasting(proposed):
            return None
        return Reply(f"{voice.speaker} decided to {_heard(proposed, voice)}", used, decision=True)
    if not _CONFIRMS.search(said[0].text):
        return None
    stated = [
        sentence
        for sentence in sentences(before)
        if talk(sentence) is Talk.STATEMENT
        and not _FIRST.search(sentence.text)
        and not _ADVICE.search(sentence.text)
        and hard(sentence.text, 0)
    ]
    if not stated:
        return None
    return Reply(_heard(stripped(stated[-1].text).text, voice), used, decision=False)


_CONFIRMS = re.compile(
    r"^(?:oh |ah )?(?:yes|yeah|yep|yup|right|exactly|correct|true|indeed|that's right|ja)\b", re.IGNORECASE
)
_FIRST = re.compile(
    r"\b(?:I|I'm|I've|I'll|I'd|me|my|thanks|thank|great|good|nice|wonderful|sorry|welcome|congratulations)\b",
    re.IGNORECASE,
)


_ADVICE = re.compile(r"\b(?:you'll|you will|you can|you could|you should|as you|if you|these|those)\b", re.IGNORECASE)
_OPTION = re.compile(
    r"(?:^|\s)\(?([A-Da-d1-4])[).:]\s+(\S.{2,120}?)(?=[,;]?\s+(?:or\s+)?\(?[A-Da-d1-4][).:]\s|[\n;?]|\.\s|\.?$)"
)
_NAMED = re.compile(r"\b([A-D]) (?:is|would be|means|=) ([^,.;?\n]{3,80})")
_LETTER = re.compile(r"^(?:option\s+)?([A-Da-d1-4])(?:[).:,!]+\s*|\s*$|\s+please\b)(.*)$", re.IGNORECASE | re.DOTALL)


def _lettered(before: str, first: Sentence, voice: Voice) -> Reply | None:
    """One of the options by its letter: "B" to "A) by mail, B) by post"."""
    letter = _LETTER.match(first.text)
    options = {match[1].lower(): match[2] for match in [*_OPTION.finditer(before), *_NAMED.finditer(before)]}
    if not letter or letter[1].lower() not in options or len(options) < 2:
        return None
    chosen = _heard(options[letter[1].lower()], voice)
    rest = _bare(retold(letter[2], voice)).strip(" ,") if letter[2].strip() else ""
    added = f" ({rest})" if rest and rest.lower() not in chosen.lower() else ""
    return Reply(f"{voice.speaker} chose {chosen}{added}", 1, decision=True)


def _chosen(proposed: str, first: Sentence, voice: Voice) -> Reply | None:
    """One of the things offered, by name: "Redis" to "in memory, or in Redis"."""
    if " or " not in proposed or len(first.words) > 14:
        return None
    offered = set(Sentence(proposed).words)
    named = [
        word for word in first.words if word in offered and len(word) > 2 and word not in ("the", "with", "and", "one")
    ]
    if not named or re.match(r"(?:i|we|my|our)\b", first.text, re.IGNORECASE):
        return None
    link = "of" if re.match(r"(?:either|an?|the|both)\b", proposed, re.IGNORECASE) else "to"
    chosen = re.sub(r"\s+it is\b", "", first.text)
    return Reply(
        f"Given the choice {link} {_heard(proposed, voice)}, {voice.speaker} chose {_bare(retold(chosen, voice))}",
        1,
        decision=True,
    )


def _instead(asked: str, first: Sentence, voice: Voice) -> Reply | None:
    """An order in reply to an offer: "keep the branch" to "Should I remove the branch?"."""
    if talk(first) not in (Talk.RULE, Talk.ERRAND) or len(first.words) > 25:
        return None
    if not _lasting(first.text) or not _lasting(asked):
        return None
    return Reply(
        f"Asked whether to {_heard(asked, voice)}, {voice.speaker} said to {_bare(retold(first.text, voice))}",
        1,
        decision=True,
    )


def _answered(before: str, first: Sentence, voice: Voice) -> Reply | None:
    """A bare answer to an open question: "Swiss francs" to "Which currency should the report use?"."""
    asked = [sentence for sentence in sentences(before) if sentence.text.rstrip().endswith("?")]
    if not asked or len(first.words) > 30 or _FINITE.search(" ".join(first.words[:3])):
        return None
    question = stripped(asked[-1].text).text.rstrip(" ?")
    if (
        _IDLE.search(question)
        or (_OFFER.search(question + "?") and not _OPEN.match(question))
        or talk(first) is not Talk.STATEMENT
        or _COURTESY.search(first.text)
        or re.match(r"(?:would|do|does|is|are|can|could|should|shall)\b", question, re.IGNORECASE)
    ):
        return None
    return Reply(
        f"Asked about {_topic(question, voice)}, {voice.speaker} answered {_bare(retold(first.text, voice))}",
        1,
        decision=False,
    )


def fragment(before: str, first: Sentence, voice: Voice) -> Reply | None:
    """A few words without a verb, told with the sentence that they answer: "Me until August, then Noor"."""
    said = sentences(before)
    if not said or len(first.words) > _FEW or subjected(first.text, voice.speaker, dropped=False) is not None:
        return None
    asked = stripped(said[-1].text).text.replace('"', "'")
    if len(asked) > _QUOTED:
        return None
    return Reply(f'To "{asked}", {voice.speaker} answered {_bare(retold(first.text, voice))}', 1, decision=False)


_FEW = 12
_QUOTED = 140


def _topic(question: str, voice: Voice) -> str:
    told = _heard(question, voice)
    return f'"{told}"' if len(told.split()) > 2 else told


def _heard(text: str, voice: Voice) -> str:
    """The assistant's words as the third person tells them: its "you" is whoever it spoke to."""
    return _bare(retold(text, Voice("the assistant", voice.we, voice.referents, you=voice.speaker)))


def _bare(text: str) -> str:
    text = text.strip().rstrip(".!?")
    return (
        text[0].lower() + text[1:]
        if text[:1].isupper()
        and text[1:2].islower()
        and text.split()[0]
        in (
            "The",
            "A",
            "An",
            "In",
            "To",
            "Keep",
            "Use",
            "And",
            "Which",
            "What",
            "Where",
            "When",
            "How",
            "Who",
            "Put",
            "Leave",
            "It",
            "My",
            "Our",
        )
        else text
    )


def _lasting(proposed: str) -> bool:
    words = Sentence(proposed).words
    return bool(words) and words[0] not in _ONCE and _HERE.isdisjoint(words)


_HERE = frozenset("these those further more".split())
