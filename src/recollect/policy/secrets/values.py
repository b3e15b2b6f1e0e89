"""Whether a value is a secret, or only what code and manuals put where one goes."""

import base64
import re
from binascii import Error

_STAND_INS = frozenset(
    """a access actual add admin an and any api app apikey appsettings are async auth authorization await aws bar base
    basic bearer bit body bool boolean bytes cannot cert change changeit changeme char chars clear client code conf
    config configured confirm const correct credential credentials crypto csrf current custom data database db debug
    decoded decrypted def default demo dev disabled does dummy e edit email empty enabled encoded encrypted encryption
    enter env environ environment error example expected expired expires fake false fetch field file fill foo for form
    format from function generate generated get github given global go goes google hash hashed header here hidden id if
    import in incorrect info input insert int integer interface invalid is it item jwt key keys length let load local
    login long lorem manager master max me min missing mock more must my mysql name never new next no node none not
    null number object oauth of old on only optional option options or org os other our param params pass passphrase
    passwd password passwords path person pk placeholder plain please policy postgres pre prefix private process prod
    production project prop props provided public put pw pwd random raw read real redacted ref refresh replace req
    request required reset resource response result return root sample salt secret secrets secure self server service
    session set settings shared should sign signature signed signing some something spec stage staging start state
    store str string strong subject super tbd temp test testing text that the their this to todo token tokens true
    type typeof undefined unset update url use user username users using uuid val valid value values var variable vault
    verify very via void wrong x xx xxx xxxx xyz yaml you your yours yourself""".split()
)
_TELLING = frozenset("your yours here example placeholder changeme redacted dummy".split())
"""One of these is enough, but in what has figures and is made of other words for the most part."""
_PARTS = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+|[A-Z]")
_VARIABLE = re.compile(
    r"\$(?:[{(]|[A-Z_][A-Z0-9_]*$|[a-z_]+$|\d$|env:)|%\w+%|%[sdr]$|\{|<|\[|@\w+@$|&\w+;$|&#\d|\*\*?\w+$"
)
_CODE = re.compile(
    r"(?:[A-Za-z_$]+|[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+"  # a call
    r"|\w{0,60}(?:sha\d|md5|b64|base64|utf8)\w{0,60})[(\[{]"
    r"|(?!.*\d)[A-Za-z_$][\w$]*(?:(?:\?|!)?(?:\.|::|->)[A-Za-z_$][\w$]*)+[;,)\]}!?]*$"  # config.password
    r"|(?:os|process|self|this|config|settings|req|request|env|app|data|params|props|state|form|user|event|args|"
    r"options|secrets|vars?|local|module|each|session|st|ctx|context|credentials|creds|System|Deno|Bun)\.\w"
    r"|[\w.]*[!=]=(?=.)|\w+:$|https?:/|/(?:run|etc|var|path|home|usr|tmp|opt|mnt|api|v\d)/|\.{1,2}/|file:|vault:|op://|"
    r"arn:|projects/|ref\+|ssm:|r?[\"'`]|!\w+$|=>"
)
_MASKED = re.compile(r"(.)\1*$|[*•·.x#_X…-]+$|.{0,6}(?:\*{3,}|\.{3,}|…|•{3,}|x{4,}|X{4,})")
_MADE_UP = re.compile(r"\d\d|\d[^\W\d]|[^\W\d]\d|[^\w\s'.,:;!?()-]")
_FILLED_IN = re.compile(r"[$<{}`]|%[(\w]*[sd%]")
"""What something else is put in for: no text of a secret's own has it."""
_PLAIN = re.compile(r"[A-Za-z][\w!?#*+@-]*")
_ENCODING = re.compile(r"(?i)base\d|b64|sha\d|md5|utf\d|oauth\d|x509|25519")
_GIVEN = re.compile(r"\d|[^\w\s'.,:;!?()-]|\w[!?.]\w|[a-z][A-Z]")


def is_real(secret: str) -> bool:
    """Not what stands for a secret: a variable, a call, "your_key_here", a row of stars."""
    secret = secret.strip("\\")
    if len(secret) < 3 or _VARIABLE.match(secret) or _CODE.match(secret) or _MASKED.match(secret):
        return False
    parts = [part.lower() for part in _PARTS.findall(secret)]
    letters = sum(map(len, parts))
    if not parts:
        return letters == 0 and not _counts(secret)
    known = sum(part in _STAND_INS for part in parts)
    digits = sum(sign.isdigit() for sign in secret)
    if not _TELLING.isdisjoint(parts) and (digits < 2 or 2 * known > len(parts)):
        return False
    return known < len(parts) or digits > 6


def _counts(secret: str) -> bool:
    """A plain number that counts or measures: 4096, 0.5, 30%."""
    return bool(re.fullmatch(r"[+-]?\d{1,3}(?:[.,]\d+)?%?|\d{4,5}|\d{1,3}(?:,\d{3})+|\d+\.\d+(?:\.\d+)*", secret))


def is_given(secret: str) -> bool:
    """A value with a digit or a sign in it: no word of a sentence about passwords, no name of a variable."""
    return len(secret) >= 4 and bool(_GIVEN.search(secret)) and is_real(secret)


def is_password(secret: str) -> bool:
    """The same where the name says password: four figures are one, too."""
    return is_given(secret) or bool(re.fullmatch(r"\d{4,5}", secret))


def is_assigned(secret: str) -> bool:
    """A value that is written where nothing but a secret goes: any word that is no stand-in and says nothing of it."""
    word = secret.rstrip(".,;:!?").lower()
    if re.fullmatch(r"\d{4,5}", secret):
        return True
    return len(word) >= 4 and word.split("'")[0] not in _ABOUT and is_real(secret)


def is_phrase(secret: str) -> bool:
    """Several words that are a password, and say nothing of one: among them one with a sign, or with figures that do
    not just count."""
    return is_assigned_phrase(secret) and any(_MADE_UP.search(word) for word in secret.split())


def is_assigned_phrase(secret: str) -> bool:
    """Several words written where nothing but a secret goes: none is a stand-in, or says something of it."""
    words = [word.strip(".,;:!?()").lower() for word in secret.split()]
    known = any(word in _ABOUT or word in _STAND_INS for word in words)
    return not known and secret[0] not in "-/(" and is_real(secret.replace(" ", "-"))


def is_worded_phrase(secret: str) -> bool:
    """Several words written where nothing but a secret goes, most of which are no stand-ins and say nothing of it, or
    one that is told as one's own."""
    words = [word.strip(".,;:!?()").lower() for word in secret.split()]
    known = sum(word in _ABOUT or word in _STAND_INS for word in words)
    if secret[0] in "-/(" or _FILLED_IN.search(secret) or not _TELLING.isdisjoint(words):
        return False
    return 2 * known < len(words) or (words[0] == "my" and known < len(words))


def is_numbered(secret: str) -> bool:
    """Two words or more that stand for a secret, with figures, as people make one of them: rootPwd1, my_Secret42."""
    parts = [part.lower() for part in _PARTS.findall(secret)]
    if not _PLAIN.fullmatch(secret) or _ENCODING.search(secret) or _MASKED.match(secret):
        return False
    return len(parts) > 1 and has_digit(secret) and _TELLING.isdisjoint(parts)


is_spoken = is_assigned
"""What follows "my password is": a value, or a word that does not go on about the password."""


def is_key(secret: str) -> bool:
    """A long value that nobody made up as a word: with letters and digits."""
    mixed = any(sign.isdigit() for sign in secret) and any(sign.isalpha() for sign in secret)
    return len(secret) >= 16 and mixed and is_real(secret)


def is_worded(secret: str) -> bool:
    """Letters and digits together: where what follows a name might also be the next word of a sentence."""
    return len(secret) >= 6 and has_digit(secret) and not secret.isdigit() and is_given(secret)


def has_digit(secret: str) -> bool:
    return any(sign.isdigit() for sign in secret)


def is_mixed(secret: str) -> bool:
    """Digits, and capitals or no hyphen at all: what a word with hyphens, such as a style class, does not have."""
    body = secret.partition("-")[2]
    return has_digit(secret) and (any(sign.isupper() for sign in secret) or not re.search(r"[-_]", body))


def is_random(secret: str) -> bool:
    """Digits, capitals and small letters: no word, no hash."""
    return has_digit(secret) and any(map(str.isupper, secret)) and any(map(str.islower, secret))


def is_pair(secret: str) -> bool:
    """Base64 of a name and a password: "user:password", or both behind zeros, as mail servers take them."""
    try:
        plain = base64.b64decode(secret + "=" * (-len(secret) % 4), validate=True).decode()
    except (Error, ValueError):
        return False
    name, between, password = plain.partition(":") if "\0" not in plain else plain.rpartition("\0")
    name = name.rpartition("\0")[2]
    return bool(between) and name.isprintable() and password.isprintable() and len(password) >= 3


def is_encoded(secret: str) -> bool:
    """Base64 that is no word: with a padding, or with digits and capitals."""
    return len(secret) >= 8 and (secret.endswith("=") or is_random(secret)) and is_real(secret)


def is_card(secret: str) -> bool:
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


def is_iban(secret: str) -> bool:
    """The checksum of account numbers."""
    packed = secret.replace(" ", "")
    if not 15 <= len(packed) <= 34:
        return False
    moved = packed[4:] + packed[:4]
    return int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


def is_recovery(secret: str) -> bool:
    """The checksum of the numbers that open an encrypted disk."""
    return all(int(part) % 11 == 0 for part in secret.split("-"))


_ABOUT = frozenset(
    """about accepted actually again ahead almost already also always another anything because been before being better
    blank blocked both broken case-sensitive changed changing characters checked clear close coming common compared
    compromised considered correct created current date different difficult displayed done down due each easy either
    empty encrypted enough even exactly exposed expired expiring failing fine forgotten found from gone good going
    guessable handled hard hardcoded hashed hashing hidden important incorrect insecure inside invalid just kept
    known leaked least less like likely limited listed locked long longer lost managed masked mentioned merely
    minimum missing more much necessary needed never next none nothing numeric obvious often okay once only outdated
    over plain plain-text plaintext possible probably properly protected provided public rather ready really
    rejected required reset right rotated salted same saved secure seen sent sensitive shared short shown similar
    simple simply since something sometimes somewhere stale still stored strong stuck such that their then there
    this too transmitted trivial typed unchanged under unique unknown unsafe updated used useful usually valid
    validated verified very visible vulnerable weak well what when where which working worse wrong written your mine
    where not the with without""".split()
)
