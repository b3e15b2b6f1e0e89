"""Secrets that people tell in words, and numbers with a checksum."""

import re

from recollect.policy.secrets.rule import Rule, anchored, in_line
from recollect.policy.secrets.values import (
    has_digit,
    is_card,
    is_given,
    is_iban,
    is_real,
    is_recovery,
    is_spoken,
    is_worded,
)

FOREIGN = (
    "kennwort|mdp|mot de passe|contraseña|contrasena|clave|senha|wachtwoord|hasło|parola d'ordine|"
    "пароль|密码|パスワード"
).split("|")
"""Password, in other languages."""
_PASS = rf"(?:pass(?:word|code|wort)|pwd|{'|'.join(FOREIGN)})"
_PASS_HINTS = ("password", "passcode", "passwort", "pwd", *FOREIGN)
_IS = (
    r"(?: (?:for|of|to|at|on|für|fürs|vom|zum|du|de|del|della|do|da|voor|van) [\w .'-]{1,40}?)?"
    r"(?: is| was|'s|:| =| lautet| ist| heißt| war| est| es| è| é|(?<=пароль)|[是は])(?: now| still)?:? {0,2}"
)

SPOKEN: tuple[Rule, ...] = (
    anchored(
        "password",  # before a password of one word
        r"app[ -]?(?:specific )?password[^\n:]{0,30}?(?::| is| =)\s?(?P<secret>[a-z]{4}(?:[ -][a-z]{4}){3})\b",
        *("app password", "app-password", "app-specific password", "app specific password"),
    ),
    in_line(
        "password",
        r"(?:\b(?:my|our|her|his|their|the|mein|unser|das|mon|"
        r"notre|mi|nuestra|la mia|minha|mijn|мой)\b (?:[\w'-]{1,20} ){0,3}?|"
        r"\b(?:wi-?fi|wlan|db|database|admin|root|guest|login) )"
        rf"(?:wlan-)?{_PASS}{_IS}[\"'`]?(?P<secret>[^\s\"'`]{{3,100}})",
        *_PASS_HINTS,
        holds=is_spoken,
    ),
    in_line(
        "password",
        rf"{_PASS}{_IS}[\"'`]?(?P<secret>[^\s\"'`]{{4,100}})",
        *_PASS_HINTS,
        holds=is_given,
    ),
    in_line(
        "password",  # changed my password to …, with the password …
        rf"(?:{_PASS} (?:to|->|=>|-)|(?:with|and|the|user \S{{1,40}}) {_PASS}) [\"'`]?(?P<secret>[^\s\"'`()]{{6,100}})",
        *_PASS_HINTS,
        holds=is_worded,
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
        r"\bpasscode|\bcvv|\bcvc|\botp|\bcode (?:secret|pin)|zugangscode|türcode|\bcombination)\b"
        r"(?:[^.,;:?!\n=\d]{0,40}?(?: is| are| was| ist| lautet| est| es|:| =|=)+|) ?[\"'`]?"
        r"(?P<secret>\d[\d -]{1,10}\d[#*]?)(?![\w:/.,%]?\d|[\w%])",
        "pin",
        "code",
        "cvv",
        "cvc",
        "otp",
        "combination",
    ),
    in_line(
        "code",  # use 482913 as your login code
        r"(?<![\w-])(?P<secret>(?:[a-z]-)?\d{4,8}) (?:is|as|ist) (?:your|ihr|dein) [\w ]{0,30}?"
        r"(?:code|pin|otp|password)\b",
        *("code", "pin", "otp"),
    ),
    anchored(
        "passphrase",  # the words of a wallet
        r"(?:phrase|mnemonic|\bseed|words)[^\n:=]{0,40}?(?::|=| is)[\s\"'\[]{0,6}"
        r"(?P<secret>(?:(?:\d\d?[.)] ?)?[a-z]{3,8}[\s,\"']{1,4}){11,23}(?:\d\d?[.)] ?)?[a-z]{3,8})(?![a-z])",
        *("phrase", "mnemonic", "seed", "words"),
    ),
    anchored(
        "recovery codes",
        r"(?:recovery|backup|2fa)[ -](?:code|key)s?\b[^\n:]{0,40}?[:\n ]\s{0,4}"
        r"(?P<secret>(?>(?:(?:\d\d?[.)] |[-*•] )?(?![a-z]+\b)[a-z0-9]{4,12}"
        r"(?:[- ](?=\d|[a-z]+\d)[a-z0-9]{4,12}){0,8}(?![\w-])"
        r"[\s,;]{0,4})){1,24})",
        *("recovery code", "recovery-code", "backup code", "backup-code", "2fa code", "recovery key", "recovery-key"),
        holds=has_digit,
    ),
    anchored(
        "secret",  # of a second factor
        r"(?:2fa|totp|authenticator)[^\n:=]{0,30}?(?:key|secret|seed|code)(?::| is| =)\s?"
        r"(?P<secret>[a-z2-7]{4}(?:[ -]?[a-z2-7]{4}){3,15})(?!\w)",
        *("2fa", "totp", "authenticator"),
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
    Rule("recovery codes", re.compile(r"(?<![\w-])\d{6}(?:-\d{6}){7}(?![\w-])"), (), is_recovery),
)
