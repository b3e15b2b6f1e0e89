"""Secrets that people tell in words, and numbers with a checksum."""

import re

from recollect.policy.secrets.rule import Rule, in_line
from recollect.policy.secrets.values import is_card, is_given, is_iban, is_real, is_spoken

_IS = r"(?: (?:for|of|to|at|on) [\w .'-]{1,40}?)?(?: is| was|'s|:| =| lautet| ist)(?: now| still)?:? "

SPOKEN: tuple[Rule, ...] = (
    in_line(
        "password",
        r"(?:\b(?:my|our|her|his|their|the|mein|unser)\b (?:[\w'-]{1,20} ){0,3}?|"
        r"\b(?:wi-?fi|wlan|db|database|admin|root|guest|login) )"
        rf"(?:pass(?:word|code|wort)|pwd|kennwort){_IS}[\"'`]?(?P<secret>[^\s\"'`]{{3,100}})",
        "password",
        "passcode",
        "passwort",
        "pwd",
        "kennwort",
        holds=is_spoken,
    ),
    in_line(
        "password",
        rf"(?:pass(?:word|code|wort)|pwd|kennwort){_IS}[\"'`]?(?P<secret>[^\s\"'`]{{4,100}})",
        "password",
        "passcode",
        "passwort",
        "pwd",
        "kennwort",
        holds=is_given,
    ),
    in_line(
        "secret",
        rf"(?:api|app|access|auth|client|secret|private|license|licence|service|bot|webhook)[ _-]?(?:key|token|"
        rf"secret){_IS}"
        r"[\"'`]?(?P<secret>[^\s\"'`,;]{6,256})",
        "key",
        "token",
        "secret",
        holds=is_given,
    ),
    in_line(
        "password",  # the login is admin / …
        r"(?:log-?in|logon|credential|user/pass(?:word)?)s?(?: (?:for|to|of) [\w .'-]{1,30}?)?(?: is| are|:|=)+ "
        r"[\w.@+-]{1,40} ?[/:|] ?(?P<secret>[^\s,;]{4,100})",
        "login",
        "log-in",
        "logon",
        "credential",
        "user/pass",
        holds=is_given,
    ),
    in_line(
        "passphrase",
        r"(?:pass ?phrase|override phrase|seed phrase|recovery phrase|mnemonic|code ?word|safe ?word|master phrase)"
        r"(?: is|:| =)+ [\"'`]?(?P<secret>[^\n.;,\"'`]{4,200})",
        "phrase",
        "mnemonic",
        "code word",
        "codeword",
        "safe word",
        "safeword",
        holds=is_real,
    ),
    in_line(
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
    in_line(
        "social security number",
        r"(?:\bssn|social security(?: number)?)[^\d\n]{1,20}(?P<secret>\d{3}-?\d{2}-?\d{4})(?!\d)",
        "ssn",
        "social security",
    ),
)

_CARD = r"(?<![\w-])(?:(?:\d{4}[ -]?){3}\d{4}|\d{4}[ -]?\d{6}[ -]?\d{5}|\d(?:[ -]?\d){12,18}+)(?![\w-])"
"""As cards are written first: a number that merely stands beside one is not part of it."""
_IBAN = r"(?<![\w-])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![\w-])"
A_NUMBER = re.compile(r"\d[\d -][A-Z\d -]{11}")
"""Stands in every text with a number of these kinds."""
NUMBERS: tuple[Rule, ...] = (
    Rule("payment card", re.compile(_CARD), (), is_card),
    Rule("iban", re.compile(_IBAN), (), is_iban),
)
