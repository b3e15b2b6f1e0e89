"""What somebody asks an assistant for, told as a deed: "can you help me write a test?" is "Mira asked for help to write
a test"."""

import re

_POLITE = re.compile(
    r"^(?:(?:so|and|but|also|then|ok(?:ay)?|hmm+|hm|well|sure|thanks|great|yes|yeah|please|now|maybe|hey|hi|hello|oh|"
    r"alright|perfect|for example|in that case|specifically|by the way)\b[,.!:]*\s+)+",
    re.IGNORECASE,
)
_PLEASE = re.compile(r",?\s*\b(?:please|pls|kindly)\b,?", re.IGNORECASE)
_TELL = re.compile(r",? (?:and|or) (?:please )?let (?:me|us) know\b.*", re.IGNORECASE)
_HELP = re.compile(
    r"(?:(?:can|could|would|will) (?:you|someone) |(?:please |kindly )?(?:i (?:really )?(?:need|want|could use|would "
    r"like|would appreciate) (?:some |your |any )?|do you think you (?:can|could) ))(?:be able to )?(?:possibly |"
    r"also |please |maybe )?"
    r"(?:help(?: me| us)?(?: out)?|give me a hand|assist(?: me| us)?)\s+(?P<how>with|to|in|by|on|"
    r"figure out how to)?\s*(?P<what>.+)",
    re.IGNORECASE,
)
_DO = re.compile(
    r"(?:(?:can|could|would|will) you|would you mind|i (?:need|want|would like) you to|do you think you (?:can|"
    r"could))\s+"
    r"(?:also |please |maybe |just |possibly |kindly |quickly |perhaps )*(?:be able to )?(?P<what>.+)",
    re.IGNORECASE,
)
_HOW = re.compile(
    r"(?:how|what(?:'s| is| would be) the (?:best|right|correct|proper|easiest|recommended|most \w+) way|what steps)\s+"
    r"(?:(?:do|can|could|should|would|might) (?:i|we|you|one) (?:go about |best )?|to |for me to )(?P<what>.+)",
    re.IGNORECASE,
)
_WHETHER = re.compile(
    r"(?:(?:should|can|could|shall|may) (?:i|we)|do (?:i|we) (?:still |really )?(?:need|have|want) to)\s+(?P<what>.+)",
    re.IGNORECASE,
)
_WH = re.compile(
    r"(?P<wh>(?:what|which|why|where|when|who|how (?:much|many|long|often|far|big)|how)(?: (?:kind|type|"
    r"sort)s? of \w+| \w+(?: \w+)?)??)\s+"
    r"(?P<be>is|are|was|were)\s+(?P<rest>.+)",
    re.IGNORECASE,
)
_WONDERS = re.compile(
    r"(?:i|we)(?:'m| am| was|'re| are| were)? (?:just |also |really |still )*(?:wonder|wondering|curious|unsure|"
    r"not sure) "
    r"(?:about )?(?:if|whether) (?:(?P<own>(?:i|we) (?:should|could|can|need to|ought to) )|(?P<you>you (?:can|could|"
    r"would|might) )|(?P<any>you (?:have|know of|know|had) (?:any |some )?)|)(?P<what>.+)",
    re.IGNORECASE,
)
_WONDERS_HOW = re.compile(
    r"(?:i|we)(?:'m| am| was|'re| are| were)? (?:just |also |really |still )*(?:wonder|wondering|curious) (?:about )?"
    r"(?P<wh>how|what|which|where|when|why|who) (?P<own>(?:i|we) (?:should|could|can|might|would|need to) |"
    r"to )?(?P<what>.+)",
    re.IGNORECASE,
)
_GUIDANCE = re.compile(
    r"(?:i|we)(?:'d| would| could)? (?:really |also )*(?:love|like|appreciate|need|want|use) (?:some |any |your |"
    r"more |a bit of )*"
    r"(?P<what>(?:guidance|advice|tips|suggestions|feedback|input|ideas|help|recommendations|insights?|pointers)\b.*)",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"(?:what|how) about\s+(?P<what>.+)", re.IGNORECASE)
_WHAT_SHOULD = re.compile(
    r"(?P<wh>(?:what|which|where|when|who)(?: \w+){0,3}?)\s+(?:should|can|could|do) (?:i|we)\s+(?P<what>.+)",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"(?P<subject>(?:the|my|our|a|an|this|that|these|those)\s+(?:[\w'-]+\s+){0,2}?[\w'-]+)(?P<rest>$|\s.+)",
    re.IGNORECASE,
)
_ANY = re.compile(
    r"(?:(?:do you (?:happen to )?(?:have |know )(?:of )?|are there |is there |got )?any\s+)(?P<what>(?:ideas?|"
    r"advice|tips?|suggestions?|"
    r"recommendations?|thoughts?|ways?|pointers)\b.*)",
    re.IGNORECASE,
)
_ERRAND = re.compile(
    r"(?:send|refund|ship|cancel|move|book|order|call|deliver|change|show|explain|write|rewrite|summari[sz]e|"
    r"translate|fix|list|give|help|check|find|tell|draft|generate|create|"
    r"make|"
    r"continue|document|proofread|rephrase|compare|describe|analy[sz]e|calculate|convert|sort|format|debug|refactor|"
    r"review|"
    r"implement|suggest|recommend|brainstorm|outline|plan|prepare|design|build|walk|improve|simplify|solve|define|"
    r"add|update|"
    r"optimi[sz]e|provide|normali[sz]e|replace|remove|rename|switch|keep|drop|revert|merge|deploy|store|set|run|log|"
    r"cache|validate|return|split|extract|upgrade|disable|enable|migrate|use|delete|rerun|restart|publish|release)\b",
    re.IGNORECASE,
)


_LONG = 6


def bare(text: str) -> str:
    """A question or request without what is polite around it and without its sign."""
    text = _TELL.sub("", _POLITE.sub("", re.sub(r"\s*-+>.*$", "", text.strip())))
    text = re.sub(r"\bhelp (?:that )?you (?:can|could) (?:provide|give|offer)\b", "help", text, flags=re.IGNORECASE)
    text = re.sub(r",? or (?:is|are|do|does|should|would|could) (?:there|it|that|I|we)\b.*", "", text)
    text = " ".join(_PLEASE.sub("", text).split()).rstrip(" ?!.,;:")
    return re.sub(r",? then$", "", text, flags=re.IGNORECASE).strip()


def asked(text: str) -> str | None:
    """What is asked, as it follows a name: "asked for help to write a test". None: it is asked in no such form."""
    said = bare(text)
    if found := _HELP.match(said):
        what, how = found["what"], (found["how"] or "").lower()
        if how in ("with", "in", "on", "by"):
            return f"asked for help {how} {what}"
        if what.split()[0].endswith("ing"):
            return f"asked for help with {what}"
        return (
            f"asked for help to {_unmine(what)}" if not what.lower().startswith("with ") else f"asked for help {what}"
        )
    if found := _WONDERS.match(said):
        if found["any"]:
            return f"asked for {found['what']}"
        return _to(found["what"]) if found["you"] else f"asked whether {'to ' if found['own'] else ''}{found['what']}"
    if found := _WONDERS_HOW.match(said):
        return f"asked {found['wh'].lower()} {'to ' if found['own'] else ''}{found['what']}"
    if found := _GUIDANCE.match(said):
        return f"asked for {found['what']}"
    if found := _ANY.match(said):
        return f"asked for {found['what']}"
    if found := _DO.match(said):
        return _to(found["what"])
    if found := _HOW.match(said):
        return f"asked how to {found['what']}"
    if found := _WHETHER.match(said):
        return f"asked whether to {found['what']}"
    if found := _ABOUT.match(said):
        return f"asked about {found['what']}"
    if found := _WHAT_SHOULD.match(said):
        return f"asked {found['wh'].lower()} to {found['what']}"
    if found := _WH.match(said):
        return _wh(found)
    return None


def errand(text: str) -> str | None:
    """An order for the turn as what was asked: "write a test for it" is "asked to write a test for it"."""
    said = bare(text)
    return _to(said[0].lower() + said[1:]) if said and _ERRAND.match(said) else None


def _to(what: str) -> str:
    helped = re.sub(r"^help (?:me|us) (?:to )?", "", what, flags=re.IGNORECASE)
    return f"asked for help to {_unmine(helped)}" if helped != what else f"asked to {_unmine(what)}"


def _unmine(what: str) -> str:
    """Without the one it is done for: "show me the log" is "show the log"."""
    return re.sub(
        r"^(?!remind|tell|teach|help|guide|advise|walk)(\w+) (?:me|us) (?!to\b|with\b|as\b|in\b)", r"\1 ", what
    )


def _wh(found: re.Match[str]) -> str | None:
    """A question about what something is, its verb behind its subject: "what is the limit" is "what the limit is"."""
    subject = _SUBJECT.fullmatch(found["rest"])
    if not subject or (found["wh"].lower().startswith("how") and len(found["wh"].split()) < 2):
        return None
    rest = subject["rest"]
    if found["wh"].lower() in ("what", "which") and len(found["rest"].split()) > _LONG:
        return f"asked about {found['rest']}"
    if found["wh"].lower() in ("what", "who", "which") or not rest.strip():
        return f"asked {found['wh'].lower()} {found['rest']} {found['be'].lower()}"
    return f"asked {found['wh'].lower()} {subject['subject']} {found['be'].lower()}{rest}"
