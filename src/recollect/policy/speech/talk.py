"""What kind of talk a sentence is. Most of what people say to an assistant is no statement about the world: they ask,
suppose, quote, joke, play a part, say thanks, or want something done once. That is left alone."""

import re
from enum import StrEnum
from functools import lru_cache

from recollect.policy.speech.sentences import Sentence, phrases
from recollect.policy.speech.turns import injects
from recollect.policy.speech.verbs import is_past


class Talk(StrEnum):
    """Why a sentence is left alone, or that it states something or asks for something that lasts."""

    STATEMENT = "statement"
    RULE = "rule"
    """An order that outlives the turn: always, never, from now on, use this, keep that."""
    QUESTION = "question"
    HYPOTHETICAL = "hypothetical"
    JOKE = "joke"
    SMALL_TALK = "small talk"
    ERRAND = "errand"
    """An order for this turn alone: rewrite this, show me that."""
    DEFERRED = "deferred"
    """Nothing decided yet."""
    INJECTION = "injection"


_ASKS = frozenset(
    """who what when where why how which whose is are was were do does did can could would will shall should
    have has am isn't aren't don't doesn't didn't can't couldn't won't wouldn't shouldn't""".split()
)
_SUBJECTS = frozenset(
    """i you we they he she it there this that these those the a an my your our anybody anyone somebody someone
    everyone any""".split()
)
_SUPPOSING = phrases(
    """according to wikipedia, somebody claimed, someone claimed, in a forum, they say, people say, i read that,
    i heard that, i've read that, i've heard that, rumour has it, rumor has it, in the movie, in the film, in
    the book, suppose, supposing, imagine, hypothetically, in theory, theoretically, what if, let's say, let us
    say, say we, say i, say a, say you, say someone, would have been, could have been, as if, if only, pretend,
    in an ideal world, in a perfect world, thought experiment, i wish, for the sake of argument, for argument's
    sake, were i, one could"""
)
_UNSETTLED = phrases(
    """i'll think, let me think, think about it, think it over, sleep on it, nothing decided, not decided,
    haven't decided, undecided, need to ask my, have to ask my, i'll ask my, sound ok, sounds ok, both sound,
    either is fine, i'll look into, i'll have a look, i'll take a look, i'll check, i'll try, i'll get back, not
    sure, no idea, i'm considering, we're considering, thinking about, thinking of, toying with, might, maybe,
    perhaps, not now, not yet, let me look, let me check, we'll see, i'll see, could be, i guess, i wonder,
    wondering, don't know, dunno, who knows, to be decided, tbd, or something, one day, some day, someday"""
)
_JOKES = phrases(
    """oh good, i'm dreaming, the pope, spirit animal, lucky me, yeah sure and, queen of england, ancient art, just
    kidding, to the moon, to mars, another planet, to narnia, jk, kidding, joking, said no one ever, you heard
    it here first, just what i needed, just what i wanted, just what i always, what i always wanted, oh great,
    oh sure, oh joy, oh wonderful, oh brilliant, oh fantastic, yeah right, sure because, love it when, what
    could possibly, because who needs, who needs, could sleep for, a million times, kill me, dying of, my brain,
    as usual the, clearly the best, plot twist, asking for a friend, knock knock, walks into a bar, sarcasm,
    world domination, obviously i'm, i swear my, a thousand times, for the hundredth time, speaks fluent, and
    i'm the queen, and i am the queen, and pigs, my cat wrote, the dog ate, totally normal, genius move, truly
    a, what a surprise, shocking"""
)
_JOKE_SIGNS = ("😂", "🤣", "🙄", "😜", "🤪", "🙃", "😹", "🤡", "😏")
_SMALL = frozenset(
    """hi hello hey morning evening night goodnight bye goodbye cheers thanks thank thx ty ta welcome
    congratulations congrats sorry ok okay yes yeah yep yup no nope sure great perfect awesome nice cool wow
    haha lol hehe brb back afk gtg ttyl please done right exactly good fine super excellent brilliant lovely
    amazing alright hmm hm oh ah uh um well anyway so and but then just you're you are a lifesaver the best very
    much that's that is it i'm i am here there today what day how this was all for now see soon later again
    everyone guys folks mate there got noted understood roger interesting agreed wonderful to hear it's its
    nothing yet saying works did trick exactly needed beautiful sounds love helpful helped explained better than
    my worked clear crystal""".split()
)
_PASSING = phrases(
    """have to run, hear myself think, phone's dying, phone is dying, at the door, be right back, on my way,
    running late, so tired, i'm tired, i'm hungry, i'm starving, i'm sleepy, i'm bored, i'm exhausted, long day,
    what a day, can't wait, wish me luck, fingers crossed, coffee kicks in, need coffee, need a coffee, how are
    you, nice weather, raining, sunny today, hope you, have a good, have a nice, good luck, happy to, slept
    terribly, slept badly, slept well, slept like, slept in, all night, woke up, never mind, nevermind, keep
    going, keep it up, keep up the, keep you posted, keep me posted, never give up, way to go, good for you, off
    to bed, off to work, off to lunch, talk tomorrow, heading out, heading home, gotta go, got to go, good
    night, long time no see, be right there, thank you, thanks for, thanks a, sorry for, sorry about, my bad, no
    worries, no problem, you explained, you're right, you were right, you helped, that helped, it works now,
    works now, that works, works like a charm, did the trick, i see, got it, makes sense, i understand, good
    point, fair enough, let's start, let's begin, let's see, let's continue, let me introduce, here we go, i'm
    back, take your time, no rush, hang on, hold on, one sec, one moment, give me a, talk later, talk to you,
    see you, saying hi, say hi, i'm fine with, i'm good, i'm ok, i'm okay, i'm here, you're a, you are a
    lifesaver, you are great, same here, me too, i'm impressed, i'm confused, i'm stuck, i'm lost, i have a
    question, quick question, another question, i'm asking, i was wondering, just curious, just checking, just
    asking, i have no, feels like monday, is it friday, tgif"""
)
_ONCE = phrases(
    """the next question, next question, this file, this function, this line, this variable, this time, this
    once, just once, for this one, this one answer, for now, for this answer, for this reply, for this message,
    in this message, in this answer, for this response, in your next, in your reply, in your answer, only for
    this, just for today, today only, for the moment, for this task, for this question, in the next message,
    next reply, next answer, this message, this answer, this response, this reply, for a second, in this chat,
    for this chat, for this session"""
)
_ERRANDS = frozenset(
    """show explain write rewrite summarize summarise translate fix list give help check look find tell draft
    generate create make continue document proofread rephrase paraphrase shorten compare describe analyze
    analyse calculate compute convert sort format print search google read open run rerun file try debug
    refactor review test implement finish start begin go wait hold stop repeat answer reply respond explain
    elaborate expand pick choose suggest recommend brainstorm outline plan prepare paste copy send text email
    call plot draw render parse extract count see think guess imagine picture consider hold play sing joke skip
    ignore undo redo revert delete remove clean walk teach ask let do have come take get put turn change update
    add edit improve correct double-check verify confirm simplify solve prove define name spell pronounce book
    order buy bring merge commit push rebase deploy build compile install""".split()
)
_LASTING_VERBS = frozenset(
    """always never don't use prefer keep pin bump set switch stick avoid remember note remind call rename drop
    default treat store log sign address put stop leave limit cap require exclude include count""".split()
)
_LASTING = phrases(
    """always, never, from now on, in future, in the future, for the future, going forward, whenever, every time,
    each time, any time, anytime, by default, must not, for good, at all times, next time, no longer, as a rule,
    generally, in general, before any, before every, after every, after each, before each, as usual, until
    further notice, unless i, unless we, without exception, only ever, anymore, any more, ever, on this box, on
    this machine, in this repo, in this project, for this repo, for this project"""
)
_POLITE = re.compile(
    r"^(?:(?:and|but|so|also|oh|ok(?:ay)?|yeah|yes|yep|sure|right|then|well|hey|hi|please|pls|just|now|"
    r"actually|generally|again|alright|great|cool|perfect|thanks|agreed)\b[,.:!]*\s+)+",
    re.IGNORECASE,
)


def opening(sentence: Sentence) -> Sentence:
    """The sentence without "please", "ok so", "oh and" in front."""
    found = _POLITE.match(sentence.text)
    rest = sentence.text[found.end() :] if found else ""
    return Sentence(rest) if rest else sentence


def lasts(sentence: Sentence) -> bool:
    """Whether the sentence speaks of more than this moment."""
    return sentence.says(_LASTING) and not sentence.says(_ONCE)


@lru_cache(maxsize=1024)
def talk(sentence: Sentence) -> Talk:
    """What the sentence does."""
    words, text = sentence.words, sentence.text
    if injects(text):
        return Talk.INJECTION
    if any(sign in text for sign in _JOKE_SIGNS) or text.endswith(" /s") or sentence.says(_JOKES):
        return Talk.JOKE
    rest = opening(sentence)
    if asks(rest):
        return Talk.QUESTION
    if supposes(sentence):
        return Talk.HYPOTHETICAL
    if sentence.says(_ONCE) and (
        _order(rest) is not Talk.STATEMENT or rest.words[0] in ("for", "in", "just", "only", "this")
    ):
        return Talk.ERRAND
    if sentence.says(_UNSETTLED):
        return Talk.DEFERRED
    if (
        not words
        or all(word in _SMALL for word in words)
        or (sentence.says(_PASSING) and len(words) < 14 and not re.search(r"\d", text))
    ):
        return Talk.SMALL_TALK
    if rest.words[:1] == ("keep",) and len(rest.words) > 1 and rest.words[1].endswith("ing"):
        return Talk.SMALL_TALK  # it cheers somebody on
    return _order(rest)


_ASKS_OF = re.compile(r"(?i:is|are|was|were|does|did|do|can|will|has|would|could|should) [A-Z](?!I\b)\w+ ")


def asks(sentence: Sentence) -> bool:
    if re.search(r"\?[\"')\]\s]*$", sentence.text):
        return True
    words = sentence.words
    if words[:1] == ("any",) and len(words) < 12:
        return True
    if _ASKS_OF.match(sentence.text):
        return True
    if len(words) < 2 or words[0] not in _ASKS:
        return False
    if words[0] in ("what", "how", "why", "who", "which", "whose", "where", "when"):
        inverted = words[1] in (
            "is",
            "are",
            "do",
            "does",
            "did",
            "can",
            "should",
            "would",
            "about",
            "if",
            "was",
            "were",
            "much",
            "many",
            "to",
            "will",
            "could",
            "come",
            "exactly",
            "happens",
            "kind",
        )
        return inverted and not (
            words[0] in ("what", "when", "where", "how") and " is " in sentence.flat[len(words[0]) + 6 :]
        )
    return words[1] in _SUBJECTS and words[0] not in ("have", "don't", "do") and words[1] != "a"


def supposes(sentence: Sentence) -> bool:
    if sentence.says(_SUPPOSING) or sentence.words[:1] in (("assume",), ("assuming",), ("picture",)):
        return True
    flat = sentence.flat
    return " if " in flat and any(
        word in flat
        for word in (
            " would ",
            "i'd ",
            "we'd ",
            "you'd ",
            "he'd ",
            "she'd ",
            "they'd ",
            " were ",
            " could ",
            " had ",
            " won ",
        )
    )


def _order(sentence: Sentence) -> Talk:
    """An order counts only where it lasts; what is no order is a statement."""
    words = sentence.words
    first = words[0] if words else ""
    second = words[1] if len(words) > 1 else ""
    if re.match(r"[^,:]{2,40}, please \w+", sentence.text) and not lasts(sentence) and not _is_subject(sentence):
        return Talk.ERRAND
    if first in ("i", "we") and second in ("need", "want", "would") and sentence.says(_WANTED_NOW):
        return Talk.ERRAND
    if not lasts(sentence) and _PARTS.intersection(words) and first in _ORDERING:
        return Talk.ERRAND
    if _FROM_NOW.match(sentence.text) or _MAY.match(sentence.text):
        return Talk.RULE
    if _FOR.match(sentence.text):
        return Talk.RULE
    if (
        second in ("it", "this", "that", "them", "these", "those")
        and first not in _CLAUSES
        and first not in _LASTING_VERBS
    ):
        return Talk.RULE if lasts(sentence) else Talk.ERRAND
    if first in _LASTING_VERBS and second in ("this", "that", "these", "those") and not lasts(sentence):
        return Talk.ERRAND
    if first in ("no", "nothing") and second not in _NO_MORE and len(words) > 1:
        return Talk.RULE
    if first in ("when", "if") and second in ("i", "we") and re.search(r",\s+(?:please\s+)?(\w+)", sentence.text):
        after = re.search(r",\s+(?:please\s+|always\s+|then\s+)?(\w+)", sentence.text)
        return (
            Talk.RULE
            if after and after[1].lower() in _ERRANDS | _LASTING_VERBS
            else Talk.STATEMENT
            if first == "when"
            else Talk.HYPOTHETICAL
        )
    if (
        first == "if"
        and (after := re.search(r",\s+(?:then\s+|please\s+|just\s+)?([a-z]+)", sentence.text))
        and after[1] not in _SUBJECTS | _ASKS
    ):
        return Talk.STATEMENT
    if first == "if":
        return (
            Talk.STATEMENT
            if sentence.says("must", "has to", "have to", "need to", "always", "never", "run", "use", "do not", "don't")
            else Talk.HYPOTHETICAL
        )
    if first == "never" and (is_past(second) or second in ("been", "seen", "done")):
        return Talk.STATEMENT  # "never been to Rome" tells about who says so
    if first in ("always", "never", "don't", "avoid", "remember", "note", "remind", "whenever") or (
        first == "do" and second == "not"
    ):
        return Talk.RULE
    if first in ("let's", "lets") or (first == "let" and second == "us"):
        cheers = second == "keep" and bool(re.search(r"\bkeep (?:\w+ ){0,3}\w+ing\b", sentence.text, re.IGNORECASE))
        lasting = second in _LASTING_VERBS or "go with" in sentence.flat
        return Talk.RULE if lasting and not cheers else Talk.ERRAND
    if first in _LASTING_VERBS and second not in ("is", "was", "are", "of", "has") and not _is_subject(sentence):
        return Talk.RULE
    if first in _ERRANDS and not _is_subject(sentence):
        return Talk.RULE if lasts(sentence) or second in _FORMATS else Talk.ERRAND
    return Talk.STATEMENT


_FOR = re.compile(
    r"(?:for|with|in) (?:[a-z]+ ){1,3}?(?:assume|use|prefer|pick|choose|default|avoid|stick)\b", re.IGNORECASE
)
_CLAUSES = (
    _ASKS
    | _SUBJECTS
    | frozenset(
        """and but so if when while because since as after before until that then maybe though although is was
        in on at with for from to of like than about""".split()
    )
)
_FROM_NOW = re.compile(
    r"(?:from now on|going forward|in (?:the )?future|as of now|by default),?\s+(?!(?:i|we|the|my|our|it|she|"
    r"he|they)\b)",
    re.IGNORECASE,
)
_MAY = re.compile(r"you (?:can|may|should|must|have to|need to) (?:always |never |also )?\w+", re.IGNORECASE)
_ORDERING = _LASTING_VERBS | _ERRANDS | {"no", "only", "just", "without", "with", "shorter", "longer", "more", "less"}
_FORMATS = frozenset("dates times numbers units temperatures prices distances currency currencies names".split())
_PARTS = frozenset(
    """code explanation explanations point points list summary command commands diff paragraph paragraphs
    sentence sentences table intro introduction heading headings bullet bullets answer version section sections
    example examples title wording draft response reply message""".split()
)
_NO_MORE = frozenset(
    """one further adjustments changes questions problem problems worries idea need rush doubt way wonder longer more
    matter thanks clue luck joke
    kidding offense offence wait pressure hurry decided is was yet new worse better else to""".split()
)
_WANTED_NOW = phrases(
    """the short version, the long version, the code, you to, a summary, the summary, a table, a list, an
    answer, an example, some help, help with, an explanation, some code, a function, a script, a regex, a query,
    some ideas, your help, your opinion, your advice, a translation, to know how, to know what, to know if, to
    know whether, to understand, a recipe, a quick"""
)


def _is_subject(sentence: Sentence) -> bool:
    """A word that could be an order is the subject here: "Test coverage is at 80 percent"."""
    words = sentence.words[1:6]
    head = words[:4]
    return any(
        word in ("is", "are", "was", "were", "has", "have", "runs", "lives", "moved", "must", "goes", "go")
        for word in head
    ) and not any(word in ("me", "us", "my", "this", "that", "it", "the", "a", "an") for word in words[:1])
