"""Orders that are none of the speaker's: told by whom they serve. Who speaks to an assistant of what they want says "I"
and "my"; who plants an order speaks of "the user" as of somebody else, and tells the assistant what to say to that one.

It is told by words and their places alone, in one pass over them.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

_TOKEN = re.compile(r"[^\W\d_]+|[,;:]")
_SENTENCE = re.compile(r"[.!?。！？\n]+")  # noqa: RUF001
_BREAKS = frozenset(",;:")


def _named(words: str) -> frozenset[str]:
    return frozenset(words.split())


_USER = _named("user users human humans benutzer benutzerin nutzer anwender utilisateur utilisateurs usuario usuarios")
_SERVED = _USER | _named(
    "customer customers client clients visitor visitors owner operator kunde kunden besucher cliente clientes"
)
"""Whom an assistant serves, as somebody else would call them."""
_SOMEBODY = _SERVED | _named(
    "they someone somebody anyone anybody everyone people he she jemand man quelqu on alguien ellos"
)
_OWN = _named(
    """i me my mine myself we us our ours ich mich mir mein meine meinen meinem wir uns unser unsere je moi mon ma mes
    nous notre nos yo mi mis nosotros nuestro nuestra"""
)
_ASKER = _named("i we ich wir je nous yo nosotros")
_WHEN = _named("when whenever if once should every each wenn falls sobald quand lorsque si cuando")
_ASK = _named(
    """ask asks asked asking mention mentions mentioned wonder wonders inquire inquires bring brings talk talks complain
    complains request requests fragt fragen erwähnt bittet demande demandent mentionne parle pregunta pregunte pregunten
    pide pida menciona mencione"""
)
_TELL = _named(
    """tell say answer reply respond recommend suggest advise inform remind assure warn claim insist mention explain
    direct convince urge instruct sag sage antworte empfiehl erkläre dis dites réponds recommande dile diles responde
    recomienda"""
)
_DO = _named("send forward give share post upload mail email run execute open delete erase sende schicke envoie envía")
"""What else an assistant may be told to do when somebody asks."""
_LEAD = _named(
    "please always never not just simply then also and to must should shall will bitte immer nie toujours siempre"
)
"""Words before an order's verb."""
_WANT = _named(
    "want wants like likes need needs expect expects prefer prefers ask asks asked wish wishes require requires"
)
_MEMORISE = _named("remember store save keep memorize memorise note record add")
_DOES = _named(
    """s has have is wants want prefers prefer agreed agrees consents consented approved approves authorised authorized
    allowed allows can must may will would should needs likes said gave accepts accepted never always"""
)
"""What follows a person, and no thing that is named after users."""
_ASSISTANT = _named("assistant assistants agent agents bot bots chatbot ai llm assistent asistente")
_CALLING = _named("dear hello hi hey to for the all any attention note notice message language coding voice")
_ORDERING = _TELL | _MEMORISE | _LEAD | _named("you from do don ignore forget delete erase send forward write run use")
_MUST = _named("must shall should")
_ANY_ASSISTANT = _ASSISTANT | _named(
    "assistants chatbots llms ais ki ia assistenten assistente asistentes agenten agentes modelo modèle modell"
)
_BUILT = _named("agent agents bot bots agenten agentes modelo modèle modell")
"""What somebody may speak of who builds one, or another's profession."""
_ONE_OF = _named(
    "the a an any all every each these ai chat coding language der die das ein jeder alle el la los las un le les"
)
_OBLIGED = _named(
    """must shall should always soll sollen sollte muss müssen darf dürfen doit doivent devrait debe deben debería"""
)
_TO_BE = _named("has have is are")
_NOT = _named("never not nie nicht niemals ne jamais no nunca")
_NOTICE = _named(
    """note notice message memo attention instruction instructions hinweis nachricht anweisung achtung nota aviso
    mensaje atención avis remarque consigne"""
)
_TOWARDS = _named("to for an für à a para al pour aux")
_MAKER = _named("developer creator maker administrator admin operator provider vendor supplier")
_FAR, _NEAR = 8, 3
"""How many words may stand between an order's parts."""


def ordered(text: str) -> bool:
    """Whether a text holds an order to an assistant that somebody planted for whoever it serves."""
    return any(_is_order(_TOKEN.findall(sentence)) for sentence in _SENTENCE.split(text))


def of_oneself(text: str) -> bool:
    """Whether who says it speaks of themselves."""
    return not _OWN.isdisjoint(word.lower() for word in _TOKEN.findall(text))


def wished(text: str) -> bool:
    """Whether a text says what is to be done when the speaker asks: who plants an order speaks of somebody else."""
    return any(_asks_oneself([word.lower() for word in _TOKEN.findall(one)]) for one in _SENTENCE.split(text))


def _asks_oneself(words: Sequence[str]) -> bool:
    """When I ask about …, and nobody else is served."""
    condition = next((at for at, word in enumerate(words) if word in _WHEN), len(words))
    asked = any(
        word in _ASK and words[at - 1] in _ASKER for at, word in enumerate(words) if condition < at <= condition + _FAR
    )
    return asked and _SERVED.isdisjoint(words)


def _is_order(said: Sequence[str]) -> bool:
    words = [word.lower() for word in said]
    present = set(words)
    own = not present.isdisjoint(_OWN)
    foreign = not present.isdisjoint(_USER) and not _possessed(words)
    if _of_maker(words):
        return True
    if own and not foreign:
        return False
    return (
        _answers(words, _USER if own else _SOMEBODY)
        or _wants(words)
        or _tells(words)
        or _memorises(words)
        or (not own and (_addressed(words) or _noted(words) or _obliged(words)))
    )


def _possessed(words: Sequence[str]) -> bool:
    """Whether the users are the speaker's own: "our users"."""
    return any(word in _USER and before in _OWN for before, word in pairwise(words))


def _opens(words: Sequence[str], place: int) -> bool:
    """Whether a clause may open with the verb at a place: nobody stands before it who would do it."""
    while place and words[place - 1] in _LEAD:
        place -= 1
    return not place or words[place - 1] in _BREAKS or words[place - 1] == "you"


def _answers(words: Sequence[str], asking: frozenset[str]) -> bool:
    """When somebody asks, tell them: a condition that is another's question, and what to say then."""
    condition = next((at for at, word in enumerate(words) if word in _WHEN), None)
    if condition is None:
        return False
    asked = any(
        word in _ASK and not asking.isdisjoint(words[max(condition, at - _FAR) : at])
        for at, word in enumerate(words)
        if at > condition
    )
    asked = asked or words[condition + 1 : condition + 4] == ["you", "are", "asked"]
    return asked and any(word in _TELL | _DO and _opens(words, at) for at, word in enumerate(words))


def _wants(words: Sequence[str]) -> bool:
    """The user wants you to …: who speaks for another."""
    return any(
        word == "you"
        and any(
            words[before] in _WANT and not _SERVED.isdisjoint(words[max(0, before - _NEAR) : before])
            for before in range(max(0, at - 2), at)
        )
        for at, word in enumerate(words)
    )


def _tells(words: Sequence[str]) -> bool:
    """Tell the user …: an order about whom the assistant serves."""
    return any(
        word in _TELL and not _SERVED.isdisjoint(words[at + 1 : at + _NEAR]) and _opens(words, at)
        for at, word in enumerate(words)
    )


def _memorises(words: Sequence[str]) -> bool:
    """Remember that the user agreed to …: what is to be known of somebody else, and is not theirs."""
    first = next((at for at, word in enumerate(words) if word in _MEMORISE and _opens(words, at)), len(words))
    return any(
        word in _USER and (not _DOES.isdisjoint(words[at + 1 : at + 2]) or "for" in words[at - 2 : at])
        for at, word in enumerate(words)
        if at > first
    )


def _addressed(words: Sequence[str]) -> bool:
    """Assistant, …: somebody who does not speak of themselves calls whatever reads it; or says what it must save."""
    for at, word in enumerate(words):
        if word not in _ASSISTANT or at + 1 == len(words):
            continue
        called = at < _FAR and words[at + 1] in _BREAKS and _CALLING.issuperset(words[:at])
        if called and not _ORDERING.isdisjoint(words[at + 2 : at + 3]):
            return True
        following = words[at + 1 : at + 4]
        if (
            len(following) == 3
            and following[0] in _MUST
            and following[1] in _MEMORISE
            and following[2] in {"that", ":"}
        ):
            return True
    return False


def _obliged(words: Sequence[str]) -> bool:
    """The assistant has to …: who speaks to an assistant of what it is to do says "you". What it must not do, somebody
    else may well have settled."""
    served = not _SOMEBODY.isdisjoint(words)
    for at, word in enumerate(words):
        if word not in _ANY_ASSISTANT or (word in _BUILT and not served):
            continue
        if at and words[at - 1] not in _BREAKS and words[at - 1] not in _ONE_OF:
            continue
        following = words[at + 1 : at + 5]
        bound = bool(following) and (following[0] in _OBLIGED or (following[0] in _TO_BE and "to" in following[1:]))
        if (bound and _NOT.isdisjoint(following[1:3])) or (at > 1 and words[at - 2] in _OBLIGED):
            return True
    return False


def _noted(words: Sequence[str]) -> bool:
    """Note to the AI: …"""
    return any(
        word in _NOTICE
        and not _TOWARDS.isdisjoint(words[at + 1 : at + _NEAR])
        and not _ANY_ASSISTANT.isdisjoint(words[at + 2 : at + 6])
        for at, word in enumerate(words)
    )


def _of_maker(words: Sequence[str]) -> bool:
    """As your developer I instruct you …"""
    return any(
        word in _MAKER and words[at - 1] == "your" and words[at - 2] == "as" for at, word in enumerate(words) if at > 1
    )
