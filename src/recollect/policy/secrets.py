"""Secrets are taken out before anything is written: rules for formats that have a name, no guess from randomness.

A commit hash, a UUID or a digest looks as random as a key, and cutting those out would damage the evidence. So a rule
needs a sign that a person or an issuer put there: a prefix, a key name, a checksum, or words such as "my
password is".
"""

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and the kinds that were in it, in order, each once."""

    text: str
    found: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """What a kind of secret looks like. The group `secret` is cut out, or all of the match where there is none.

    `hints`: one of them stands in every text with such a secret, in lower case. `holds`: a further test of the
    secret.
    `folded`: the pattern is about the text in lower case.
    """

    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]
    holds: Callable[[str], bool] | None = None
    folded: bool = False


def redact(text: str) -> Redacted:
    """The text with every secret replaced by what kind it was. What is already replaced stays as it is."""
    lower = _folded(text)
    found: list[str] = []
    for hint, rules in _BY_HINT.items():
        if hint in lower:
            for rule in rules:
                text, lower = _without(rule, text, lower, found)
    for hint, rule in _NUMBERS:
        if hint.search(text):
            text, lower = _without(rule, text, lower, found)
    return Redacted(text, tuple(dict.fromkeys(found)))


def _folded(text: str) -> str:
    """The text in lower case, sign by sign, so that places in it are places in the text."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := sign.lower()) == 1 else sign for sign in text)


def _without(rule: Rule, text: str, lower: str, found: list[str]) -> tuple[str, str]:
    parts: list[str] = []
    position = 0
    for match in rule.pattern.finditer(lower if rule.folded else text):
        start, end = match.span("secret") if "secret" in rule.pattern.groupindex else match.span()
        secret = text[start:end]
        if _MARK.search(secret) or (rule.holds and not rule.holds(secret)):
            continue
        parts += [text[position:start], f"[redacted: {rule.kind}]"]
        position = end
        found.append(rule.kind)
    if not parts:
        return text, lower
    text = "".join([*parts, text[position:]])
    return text, _folded(text)


# -- what else must hold ------------------------------------------------------------------------------------

_MARK = re.compile(r"\[redacted: |^\[?redacted")


def _mixed(secret: str) -> bool:
    """Digits and capitals: what a word with hyphens, such as a style class, does not have."""
    return any(sign.isdigit() for sign in secret) and any(sign.isupper() for sign in secret)


def _keyed(secret: str) -> bool:
    return any(sign.isdigit() for sign in secret)


def _card(secret: str) -> bool:
    """The checksum of payment cards, and a length that fits the issuer."""
    digits = [int(sign) for sign in secret if sign.isdigit()]
    number = "".join(map(str, digits))
    issued = re.fullmatch(
        r"4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|6(?:011|4[4-9]\d|5\d\d)\d{12}|3[68]\d{12}|"
        r"35\d{14}",
        number,
    )
    doubled = [digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(digits[::-1])]
    return bool(issued) and len(set(digits)) > 1 and sum(doubled) % 10 == 0


def _iban(secret: str) -> bool:
    """The checksum of account numbers."""
    packed = secret.replace(" ", "")
    if not 15 <= len(packed) <= 34:
        return False
    moved = packed[4:] + packed[:4]
    return int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


_STAND_IN = re.compile(
    r"^[<{\[$%(*.]|^(?:your|my|some|the|test|example|sample|dummy|fake|change|insert|replace|enter|put|new|"
    r"old|default|"
    r"secure|super|strong|user|admin|root|hashed?|encrypted|placeholder|secret|pass|pwd|token|key|api|xx|"
    r"process\.|os\.|"
    r"env|config|settings|self|this|req|request|form|data|params|props|None|null|undefined|true|false|str|string|int|"
    r"bool|varchar|text|char|bcrypt|await|async|get|generate|import|const|let|var|function|def|return|lambda|field|"
    r"value|input|hidden|required|optional|redacted|\w+\.\w+[.(\[]|\w+\()",
    re.IGNORECASE,
)
_STAND_IN_INSIDE = re.compile(
    r"your|example|placeholder|change.?me|password|passwd|secret|hashed|here\b|[_-]key\b|xxx|\*\*\*|\.\.\.", re.I
)


def _real(secret: str) -> bool:
    """Not what code and manuals put where a secret goes: a variable, a call, "your_key_here"."""
    return not _STAND_IN.search(secret) and not _STAND_IN_INSIDE.search(secret)


def _given(secret: str) -> bool:
    """A value with a digit or a sign in it: no word of a sentence about passwords, no name of a variable."""
    return len(secret) >= 4 and _real(secret) and bool(re.search(r"\d|[^\w\s'.,:;!?()-]|\w[!?.]\w|[a-z][A-Z]", secret))


def _spoken(secret: str) -> bool:
    """What follows "my password is": a value, or a word that does not go on about the password."""
    word = secret.rstrip(".,;:!?").lower()
    return _given(secret) or (len(word) >= 4 and word.split("'")[0] not in _ABOUT and _real(secret))


_ABOUT = frozenset(
    """about accepted actually again ahead almost already also always another anything because been before being
    better blank blocked both broken case-sensitive changed changing checked clear close coming common compared
    compromised considered correct created current date different difficult displayed done down due each easy either
    empty encrypted enough even exactly exposed expired expiring failing fine forgotten found from gone good going
    guessable handled hard hardcoded hashed hashing hidden important incorrect insecure inside invalid just kept
    known leaked least less like likely limited listed locked long longer lost managed masked mentioned merely
    missing more much necessary needed never next none nothing numeric obvious often okay once only outdated over
    plain plain-text plaintext possible probably properly protected provided public rather ready really rejected
    required reset right rotated salted same saved secure seen sent sensitive shared short shown similar simple
    simply since something sometimes somewhere stale still stored strong stuck such that their then there this too
    transmitted trivial typed unchanged under unique unknown unsafe updated used useful usually valid validated
    verified very visible vulnerable weak well what when where which working worse wrong written your mine where
    not the with without""".split()
)

# -- the rules ----------------------------------------------------------------------------------------------


def _token(kind: str, pattern: str, *hints: str, holds: Callable[[str], bool] | None = None) -> Rule:
    return Rule(kind, re.compile(rf"(?<![\w-]){pattern}(?![\w-])"), hints, holds)


_TOKENS = (
    _token("aws access key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}", "akia", "asia", "abia", "acca"),
    _token("github token", r"gh[pousr]_[A-Za-z0-9]{36,255}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _token("github token", r"github_pat_\w{22,255}", "github_pat_"),
    _token(
        "gitlab token",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|oas)-[\w.-]{20,255}",
        "glpat-",
        "gldt-",
        "glrt-",
        "glcbt-",
        "glptt-",
        "glft-",
        "glsoat-",
        "gloas-",
    ),
    _token("slack token", r"(?:xox[abceoprs]|xapp)-[A-Za-z0-9-]{10,255}", "xox", "xapp-", holds=_real),
    _token("slack webhook", r"hooks\.slack\.com/services/T\w{6,20}/B\w{6,20}/\w{16,64}", "hooks.slack.com"),
    _token(
        "stripe key",
        r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}|whsec_[A-Za-z0-9+/]{24,128}",
        "k_live_",
        "k_test_",
        "whsec_",
    ),
    _token(
        "service key",
        r"[a-z]{2,6}_(?:live|prod|secret)_[A-Za-z0-9]{12,255}",
        "_live_",
        "_prod_",
        "_secret_",
        holds=_keyed,
    ),
    _token("anthropic key", r"sk-ant-[\w-]{20,255}", "sk-ant-"),
    _token("openrouter key", r"sk-or-v1-[0-9a-f]{32,128}", "sk-or-"),
    _token("openai key", r"sk-(?:proj-|svcacct-|admin-)?[\w-]{20,255}", "sk-", holds=_mixed),
    _token("google key", r"AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{20,2000}", "aiza", "gocspx-", "ya29."),
    _token("npm token", r"npm_[A-Za-z0-9]{36}", "npm_"),
    _token("pypi token", r"pypi-[\w-]{60,255}", "pypi-"),
    _token("hugging face token", r"hf_[A-Za-z0-9]{30,64}", "hf_"),
    _token("sendgrid key", r"SG\.[\w-]{16,64}\.[\w-]{16,64}", "sg."),
    _token("twilio key", r"SK[0-9a-f]{32}", "twilio"),
    _token("digitalocean token", r"do[opr]_v1_[0-9a-f]{64}", "_v1_"),
    _token("telegram bot token", r"\d{8,10}:AA[\w-]{33}", ":aa"),
    _token("mailgun key", r"key-[0-9a-f]{32}", "key-"),
    _token("shopify token", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}", "shp"),
    _token("databricks token", r"dapi[0-9a-f]{32}(?:-\d)?", "dapi"),
    _token("notion token", r"(?:ntn|secret)_[A-Za-z0-9]{43,50}", "ntn_", "secret_"),
    _token("linear key", r"lin_api_[A-Za-z0-9]{32,64}", "lin_api_"),
    _token("vault token", r"hv[sbr]\.[\w-]{24,255}", "hvs.", "hvb.", "hvr."),
    _token("groq key", r"gsk_[A-Za-z0-9]{40,64}", "gsk_"),
    _token("xai key", r"xai-[A-Za-z0-9]{60,100}", "xai-"),
    _token("replicate token", r"r8_[A-Za-z0-9]{37}", "r8_"),
    _token("perplexity key", r"pplx-[A-Za-z0-9]{40,64}", "pplx-"),
    _token("docker token", r"dckr_pat_[\w-]{20,64}", "dckr_pat_"),
    _token("supabase token", r"sbp_[0-9a-f]{40}", "sbp_"),
    _token("grafana token", r"glsa_\w{32,64}", "glsa_"),
    _token("new relic key", r"NRAK-[A-Z0-9]{27}", "nrak-"),
    _token("square token", r"sq0(?:atp|csp)-[\w-]{22,64}", "sq0"),
    _token("postman key", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", "pmak-"),
    _token("tailscale key", r"tskey-[a-z]{2,10}-[A-Za-z0-9-]{16,80}", "tskey-"),
    _token("atlassian token", r"ATATT3[\w=-]{100,300}", "atatt3"),
    _token("age key", r"AGE-SECRET-KEY-1[A-Z0-9]{58}", "age-secret-key-"),
    _token("jwt", r"eyJ[\w-]{8,4000}\.eyJ[\w-]{8,8000}\.[\w-]{8,2000}", "eyj"),
)

_NAMES = (
    r"(?:pass(?:word|wd|phrase|code|wort)|pwd|kennwort|mot de passe|contraseña|senha|"
    r"(?:api|app|access|auth|client|consumer|signing|encryption|private|master|account|service|secret|license|bearer)"
    r"[ _-]?(?:key|token|secret|password)|secret(?:[ _-]?(?:access)?[ _-]?key)?|token)"
)
_IS = r"(?: (?:for|of|to|at|on) [\w .'-]{1,40}?)?(?: is| was|'s|:| =| lautet| ist)(?: now| still)?:? "


def _said(kind: str, pattern: str, *hints: str, holds: Callable[[str], bool] | None = None) -> Rule:
    return Rule(kind, re.compile(pattern), hints, holds, folded=True)


_SAID = (
    _said(
        "aws secret key",
        r"aws.{0,20}(?:secret|"
        r"key)[^a-z0-9/+\n]{1,6}(?P<secret>[a-z0-9/+]{40})(?![a-z0-9/+=])",
        "aws",
    ),
    _said(
        "secret",  # password = "…", api_key: …, "token": "…", SECRET_KEY=…
        _NAMES
        + r"""(?:_(?!hash)\w{1,20})?["'`]?[ \t]{0,3}(?::|=>|:?=)[ \t]{0,3}["'`]?"""
        + r"""(?P<secret>[^\s"'`,;()<>{}\[\]]{4,256}+)(?![(\[{<])""",
        "pass",
        "pwd",
        "kennwort",
        "contraseña",
        "senha",
        "key",
        "token",
        "secret",
        holds=_given,
    ),
    _said(
        "credentials",
        r"""authorization["']?\s?[:=]\s?["']?(?:bearer|basic|token|digest)\s(?P<secret>[\w.~+/=-]{8,4000})""",
        "authorization",
        holds=_given,
    ),
    _said("credentials", r"bearer (?P<secret>[\w.~+/-]{20,4000}=*)", "bearer ", holds=_given),
    _said("azure key", r"(?:accountkey|sharedaccesskey)=(?P<secret>[\w+/]{20,128}={0,2})", "accesskey=", "accountkey="),
    _said(
        "password",
        r"(?:\b(?:my|our|her|his|their|the|mein|unser)\b (?:[\w'-]{1,20} ){0,3}?|"
        r"\b(?:wi-?fi|wlan|db|database|admin|root|guest|login) )"
        rf"(?:pass(?:word|code|wort)|pwd|kennwort){_IS}[\"'`]?(?P<secret>[^\s\"'`]{{3,100}})",
        "password",
        "passcode",
        "passwort",
        "pwd",
        "kennwort",
        holds=_spoken,
    ),
    _said(
        "password",
        rf"(?:pass(?:word|code|wort)|pwd|kennwort){_IS}[\"'`]?(?P<secret>[^\s\"'`]{{4,100}})",
        "password",
        "passcode",
        "passwort",
        "pwd",
        "kennwort",
        holds=_given,
    ),
    _said(
        "secret",
        rf"(?:api|app|access|auth|client|secret|private|license|licence|service|bot|webhook)[ _-]?(?:key|token|"
        rf"secret){_IS}"
        r"[\"'`]?(?P<secret>[^\s\"'`,;]{6,256})",
        "key",
        "token",
        "secret",
        holds=_given,
    ),
    _said(
        "password",  # the login is admin / …
        r"(?:log-?in|logon|credential|user/pass(?:word)?)s?(?: (?:for|to|of) [\w .'-]{1,30}?)?(?: is| are|:|=)+ "
        r"[\w.@+-]{1,40} ?[/:|] ?(?P<secret>[^\s,;]{4,100})",
        "login",
        "log-in",
        "logon",
        "credential",
        "user/pass",
        holds=_given,
    ),
    _said(
        "passphrase",
        r"(?:pass ?phrase|override phrase|seed phrase|recovery phrase|mnemonic|code ?word|safe ?word|master phrase)"
        r"(?: is|:| =)+ [\"'`]?(?P<secret>[^\n.;,\"'`]{4,200})",
        "phrase",
        "mnemonic",
        "code word",
        "codeword",
        "safe word",
        "safeword",
        holds=_real,
    ),
    _said(
        "code",
        r"(?:\bpin(?: code| number)?|\b(?:alarm|door|gate|entry|access|security|safe|lock|unlock|garage|keypad|"
        r"lockbox|"
        r"building|house|verification|confirmation|one-time|2fa|mfa|otp|sms|login|voicemail|sim|bank) "
        r"(?:code|pin|combination)|"
        r"\bpasscode|\bcvv|\bcvc|\botp|\bcombination)\b(?:[^.,;:?!\n=\d]{0,40}?(?: is| are| was|:| =|=)+|) ?[\"'`]?"
        r"(?P<secret>\d[\d -]{1,10}\d[#*]?)(?![\w:/.,%]?\d|[\w%])",
        "pin",
        "code",
        "cvv",
        "cvc",
        "otp",
        "combination",
    ),
    _said(
        "social security number",
        r"(?:\bssn|social security(?: number)?)[^\d\n]{1,20}(?P<secret>\d{3}-?\d{2}-?\d{4})(?!\d)",
        "ssn",
        "social security",
    ),
)

_RULES: tuple[Rule, ...] = (
    Rule(
        "private key",
        re.compile(
            r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){0,20000}"
            r"(?:-----END [A-Z ]{0,40}-----)?"
        ),
        ("private key",),
    ),
    *_TOKENS,
    Rule(
        "password",
        re.compile(r"://[^\s/:@\"'<>]{0,64}:(?P<secret>[^\s/@\"'<>]{1,128})@"),
        ("://",),
        _real,
    ),
    *_SAID,
)


def _by_hint() -> dict[str, list[Rule]]:
    """The rules under their hints, in order. A rule with several hints may run twice, which changes nothing."""
    found: dict[str, list[Rule]] = {}
    for rule in _RULES:
        for hint in rule.hints:
            found.setdefault(hint, []).append(rule)
    return found


_BY_HINT = _by_hint()
_CARD = r"(?:(?:\d{4}[ -]?){3}\d{4}|\d{4}[ -]?\d{6}[ -]?\d{5}|\d(?:[ -]?\d){12,18})"
"""As cards are written first: a number that merely stands beside one is not part of it."""
_NUMBERS = (
    (re.compile(r"\d(?:[ -]?\d){12}"), _token("payment card", _CARD, holds=_card)),
    (
        re.compile(r"[A-Z]{2}\d\d ?[A-Z0-9]{4} ?[A-Z0-9]{4}"),
        _token("iban", r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?", holds=_iban),
    ),
)
