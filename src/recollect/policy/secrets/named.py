"""Secrets by the name that stands before them: settings, headers, cookies, addresses, XML."""

import re

from recollect.policy.secrets.rule import Rule, anchored, in_line, named
from recollect.policy.secrets.spoken import FOREIGN
from recollect.policy.secrets.values import (
    has_digit,
    is_assigned,
    is_assigned_phrase,
    is_encoded,
    is_given,
    is_key,
    is_numbered,
    is_pair,
    is_password,
    is_phrase,
    is_real,
    is_worded_phrase,
)

_PASS = (
    r"(?:pass(?:word|wd|phrase|code|wort|(?<=[_./\"'&?-]pass)|(?<![^\n]pass)(?=\s?=))|pwd|pw(?<![a-z]pw)|psk(?<![a-z]psk)|"
    rf"{'|'.join(FOREIGN)})"
)
_PASS_HINTS = ("pass", "pwd", "pw", "psk", *FOREIGN)
_OWNERS = (
    "access account admin api app application auth bearer bot client consumer deploy encryption functions hmac host id "
    "ingest integration jwt license licence master primary private project refresh routing secondary secret security "
    "server service session shared signing storage subscription unseal webhook write"
).split()
_KEY = (
    "(?:key(?:" + "|".join(rf"(?<={owner}key)|(?<={owner}[ _.-]key)" for owner in _OWNERS) + ")|token|"
    r"secret(?:[ _.-]?(?:access)?[ _.-]?key|[_-]?id|string)?|sess(?:ion)?[_-]?id(?![a-z])|phpsessid|jsessionid|"
    r"credentials?|auth(?<=_auth))"
)
_KEY_HINTS = ("key", "token", "secret", "sess", "phpsessid", "jsessionid", "credential", "auth")
_TAIL = (  # password_prod, but token_count
    r"(?:[_.-](?!hash|count|limit|budget|type|len|size|id\b|ur[li]|endpoint|expir|ttl|name|min|max|policy|field|file|"
    r"path|format|reset|version|rate|usage|bucket|index|ratio|cost|price|total|per\b|window|hint|label|prefix|lifetime|"
    r"required|confirm|strength|valid|age|issuer|algorithm|manager|provider|store|address|symbol|used|in\b|out\b|"
    r"input|output)\w{1,20}+)?"
)
_SIGN = (  # between name and value; a type before it, what makes the name bold around it
    r"""\\{0,6}(?:["'`]|[*_]{1,3})?\]?[ \t]{0,20}"""
    r"""(?:[:?]=|[=-]>|::|:[ ]?(?:[*_]{1,3}|&?(?:[a-z]{1,9} )?str(?:ing)?\??[ ]=)?|=)[ \t]{0,20}\\{0,6}(?:b(?=["']))?"""
)
_BETWEEN = (  # "type": "SecureString", between a name and its value
    r"""(?:["']?[a-z]\w{0,20}["']?\s{0,8}[:=]\s{0,8}(?:"[^"\n]{0,120}"|'[^'\n]{0,120}'|[\w.:/-]{1,60})"""
    r"""(?:\s?,\s{0,24}|\s{0,8}\n\s{0,24})){0,3}"""
)
_IS = (  # the name ends here: where one stands within another word, nothing of this is tried
    rf"""(?![*_]{{0,3}}(?!value|parametervalue|default)[^\W_])(?:{_SIGN}"""
    r"""|["']?\s?,?\s{0,24}["']?value["']?\s?[:=]\s?"""  # name: NAME, value: …
    rf"""|["']?\s?[,:]?\s{{0,24}}(?:\{{\s{{0,24}})?{_BETWEEN}"""  # or more of it between; or NAME: {{value: …}}
    r"""["']?(?:value|parametervalue|default)["']?\s{0,8}[:=]\s?(?=["'`]?[^\s"'`]{0,60}[a-z])"""
    r"""|["']\)?\s{0,3},\s{0,3}b?(?=(?P<given>["'])[^"'\n]{3,512}(?P=given)(?!\s?:))"""  # define('NAME', '…')
    r"""|["']?\)?\]?\s{0,3}(?:\|\||\?\?|(?<=[ ])or\b)\s{0,3}(?=["'])"""  # env.NAME || "…"
    r"""|[*_`]{0,3}[ \t]{0,20}\|[ \t]{0,20}[*_`]{0,3}(?=[^\s|]{4,512}[ \t]{0,20}(?:\||\n|\Z))"""  # | name | … |
    r"""|[*_"'`]{0,3}\s?[:=][*_]{0,3}[ \t]?[|>\\]?[+-]?\s?\n[ \t\n]{0,16}(?=\S{6,256}[ \t]*(?:\n|\Z)))"""  # below it
)
_BARE = r"(?: is)?[ ]{1,3}(?=[\w+/=.-]{20,256}(?![\w-]))(?=(?:[a-z+/=_.-]{0,14}\d){3})"
"""Nothing at all stands between a name and a long key of figures and letters."""
_VALUE = (  # as far as the quote that it began with, else to the end of the word, without the bracket around it
    r"""(?P<quote>["'`])?(?P<secret>(?(quote)(?:(?!(?P=quote))[^\s\\]){4,512}+|[^\s"'`,;<>\\]{4,512}(?<![)\]}])))"""
)
_PHRASE = r"""(?P<quote>["'])(?P<secret>[^\s"'\\]{1,40}+(?: [^\s"'\\]{1,40}+){1,7}+)(?=\\{0,6}(?P=quote))"""
_ANY = rf"(?:{_PASS}|{_KEY})"
_COOKIE = r"[\w.$!%-]{1,80}+=[^\s;\"'`\\]{0,4096}+"

SETTINGS: tuple[Rule, ...] = (
    in_line(
        "aws secret key",
        r"aws.{0,20}(?:secret|key)[^a-z0-9/+\n]{1,6}(?P<secret>[a-z0-9/+]{40})(?![a-z0-9/+=])",
        "aws",
    ),
    named(  # several words in quotes
        "secret",
        rf"{_PASS}{_TAIL}{_SIGN}{_PHRASE}",
        *_PASS_HINTS,
        holds=is_phrase,
    ),
    named("secret", rf"{_PASS}={_PHRASE}", *_PASS_HINTS, holds=is_assigned_phrase),
    anchored(  # in the braces of a connection string
        "secret", r"pwd=\{(?P<secret>[^}\n]{3,128}+)\}", "pwd={", holds=is_given
    ),
    Rule(  # DB_PASSWORD="correct horse battery staple"; no TOKEN: what a program calls one has words, too
        "secret",
        re.compile(rf"(?:PASSWORD|PASSWD|PASSPHRASE|_PASS|PWD|SECRET)={_PHRASE}"),
        ("password=", "passwd=", "passphrase=", "_pass=", "pwd=", "secret="),
        is_worded_phrase,
        anchored=True,
    ),
    Rule(  # DB_PASSWORD=…: any word, and all the signs in it
        "secret",
        re.compile(
            r"(?:PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|_PW|SECRET|TOKEN|_PAT|_SESSION|_SALT|_KEY|APIKEY|_AUTH)=[\"']?"
            r"(?P<secret>[^\s\"'`]{4,512}+)"
        ),
        (
            *(
                "password=",
                "passwd=",
                "passphrase=",
                "pass=",
                "pwd=",
                "_pw=",
                "secret=",
                "token=",
                "_key=",
                "_pat=",
                "_session=",
                "_salt=",
            ),
            "apikey=",
            "_auth=",
        ),
        is_assigned,
        anchored=True,
    ),
    Rule(  # DB_PASSWORD=mySecret42: words that stand for one, with figures
        "secret",
        re.compile(r"(?:PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|SECRET|TOKEN)=[\"']?(?P<secret>[^\s\"'`]{4,512}+)"),
        ("password=", "passwd=", "passphrase=", "pass=", "pwd=", "secret=", "token="),
        is_numbered,
        anchored=True,
    ),
    named("secret", rf"{_PASS}{_TAIL}{_IS}{_VALUE}", *_PASS_HINTS, holds=is_password),
    named(  # any word, in quotes
        "secret",
        rf"""{_PASS}{_SIGN}(?P<quote>["'])(?P<secret>[^\s"'\\]{{4,128}}+)(?=\\{{0,6}}(?P=quote))""",
        *_PASS_HINTS,
        holds=is_assigned,
    ),
    named(  # any word close behind its name, where it is no argument of a call
        "secret",
        rf"""{_PASS}=(?P<secret>[^\s"'`,;&()<>{{}}\\]{{4,128}}+)(?=[\s;&"'<]|\Z)""",
        *_PASS_HINTS,
        holds=is_assigned,
    ),
    Rule(  # JSON web keys
        "private key",
        re.compile(r"""\\?"(?:d|p|q|dp|dq|qi|k)\\?"\s?:\s?\\?"(?P<secret>[\w-]{20,1400}+)"""),
        ('"kty"', '"kty\\"'),
    ),
    named("secret", rf"{_KEY}(?:{_TAIL}{_IS}|{_BARE}){_VALUE}", *_KEY_HINTS, holds=is_given),
    anchored(  # value: …, name: NAME
        "secret",
        r"""value["']?\s?[:=]\s?["']?(?=[^\s"'`]{0,60}[a-z])(?P<secret>[^\s"'`,;<>\\]{4,512}+)["']?(?:\s?,\s{0,24}|\s{0,8}\n\s{0,24})"""
        rf"""{_BETWEEN}["']?(?:name|key|variable)["']?\s?[:=]\s?["']?[\w./-]{{0,60}}?{_ANY}{_TAIL}(?![\w./-])""",
        "value",
        holds=is_given,
    ),
    anchored("secret", rf"unseal key \d{{1,2}}{_SIGN}{_VALUE}", "unseal key ", holds=is_key),
    anchored("secret", rf"(?:wandb login|snyk auth|\bwif){_BARE}{_VALUE}", "wandb login", "snyk auth", "wif"),
    named(
        "secret",
        rf"key{_TAIL}{_IS}[\"'`]?(?P<secret>[\w+/.~=-]{{20,512}}+)(?![(\[])",
        "key",
        holds=is_key,
    ),
    anchored(
        "azure key",
        r"(?:accountkey|sharedaccesskey|sharedaccesssignature)=(?P<secret>[\w+/%&=-]{20,512}+)",
        *("accountkey=", "sharedaccesskey=", "sharedaccesssignature="),
    ),
    in_line(
        "password", r"(?<![^\n])[ \t]{0,8}password[ \t]+(?P<secret>\S{4,256}+)[ \t]*$", "password ", holds=is_given
    ),
    Rule(
        "secret",
        re.compile(r"(?m)^[ \t]+[\w.-]{1,60}:[ \t]*(?P<secret>[A-Za-z0-9+/]{8,4096}+={0,2})[ \t]*$"),
        ("kind: secret",),
        is_encoded,
    ),
    Rule(
        "password",
        re.compile(r"(?<!\S)[\w.*-]{1,100}+:(?:\d{2,5}|\*):[\w.*-]{1,64}+:[\w.*-]{1,64}+:(?P<secret>\S{3,128}+)"),
        (":5432:", ":*:"),
        is_real,
    ),
    anchored(
        "docker auth",
        r"auth\\{0,2}\"\s{0,3}:\s{0,3}\\{0,2}\"(?P<secret>[a-z0-9+/]{8,1024}+={0,2})",
        'auth"',
        'auth\\"',
        holds=is_pair,
    ),
    Rule(
        "password",  # .netrc
        re.compile(
            r"machine\s+\S{1,100}+\s+(?:(?:login|account)\s+\S{1,100}+\s+){1,2}password\s+(?P<secret>\S{3,256}+)"
        ),
        ("login",),
        is_assigned,
        folded=True,
    ),
    anchored("password", r"login\s+\S{1,100}+\s+password\s+(?P<secret>\S{3,256}+)", "login", holds=is_given),
)
HEADERS: tuple[Rule, ...] = (
    anchored(
        "credentials",
        r"""authorization\\{0,2}["'`]?\]?\s?[:=,]\s?\\{0,2}["'`]?(?:(?:bearer|basic|token|digest|apikey|key|ssws|negotiate|"""
        r"""splunk|bot|oauth|api-key|genie-?key)[ :=]{1,3}|token token=["']?)?(?P<secret>[^\s"'`,;\\]{8,4000}+)""",
        "authorization",
        holds=is_given,
    ),
    in_line(
        "credentials",  # digest, OAuth, Hawk
        r"(?<![a-z])(?:response|signature|oauth_token|oauth_signature|mac)=\"?(?P<secret>[\w+/=%-]{16,1024}+)",
        "authorization",
        holds=is_given,
    ),
    anchored("credentials", r"bearer,\s(?P<secret>[\w.~+/-]{20,4000}+=*)", "bearer", holds=is_given),
    anchored("credentials", r"bearer\s(?P<secret>[\w.~+/-]{20,4000}+=*)", "bearer", holds=is_given),
    anchored("credentials", r"auth plain (?P<secret>[a-z0-9+/]{8,1024}+={0,2})", "auth plain", holds=is_pair),
    anchored("credentials", r"basic\s{1,3}(?P<secret>[a-z0-9+/]{8,1024}+={0,2})", "basic", holds=is_pair),
    anchored(
        "cookie",
        r"""set-cookie2?\\{0,2}["'`]?\s?[:=,]\s?\[?\\{0,2}["'`]?[\w.$!%-]{1,80}+=(?P<secret>[^\s;,"'`\\]{6,4096}+)""",
        "set-cookie",
        holds=is_given,
    ),
    anchored(
        "cookie",
        r"""cookies?\\{0,2}["'`]?\s?[:=]\s?\\{0,2}["'`]?"""
        rf"(?P<secret>{_COOKIE}(?:;\s?{_COOKIE}){{0,60}})",
        "cookie",
        holds=lambda secret: any(is_given(pair.partition("=")[2]) and len(pair) > 12 for pair in secret.split(";")),
    ),
    anchored(
        "cookie",  # a cookie file
        r"\t/[^\t\n]{0,100}+\t(?:true|false)\t\d{1,20}\t[^\t\n]{1,80}\t(?P<secret>\S{4,4096}+)",
        "\t/",
    ),
)
ADDRESSES: tuple[Rule, ...] = (
    anchored("password", r"://[^\s/:@\"'<>]{0,128}+:(?P<secret>[^\s/\"'<>]{1,256})@", "://", holds=is_real),
    anchored("credentials", r"://(?P<secret>[\w.~%-]{20,256}+)@[\w.-]", "://", holds=is_key),
    anchored("password", r"thin:[\w$#]{1,64}+/(?P<secret>[^\s/@\"']{2,128}+)@", "thin:", holds=is_real),
    anchored("credentials", r"://(?P<secret>[\w.~%-]{20,256}+):[\w-]{1,40}@[\w.-]", "://", holds=is_key),
    anchored(  # the address is the key
        "secret",
        r"(?:(?:infura\.io|alchemy\.com)/v\d/|loggly\.com/inputs/|azurewebsites\.net/[^\s?]{0,200}\?(?:[^\s?]{0,100}&)?"
        r"code=|appid=|/(?:reset|verify|confirm|activate|invite|magic)[\w-]{0,20}/)(?P<secret>[\w=-]{24,256}+)",
        *("infura.io/", "alchemy.com/", "loggly.com/", "azurewebsites.net/", "appid="),
        *("/reset", "/verify", "/confirm", "/activate", "/invite", "/magic"),
        holds=is_key,
    ),
    anchored("signature", r"(?<=[?&])sig=(?P<secret>[\w%+/=~-]{20,1024}+)", "sig="),
    anchored("signature", r"signature=(?P<secret>[\w%+/=~-]{32,1024}+)", "signature=", holds=has_digit),
    anchored("secret", r"otpauth://[^\s?]{1,200}+\?[^\s]{0,200}?secret=(?P<secret>[a-z2-7]{12,128}+)", "otpauth://"),
)
XML: tuple[Rule, ...] = (
    named(
        "password",
        rf"{_PASS}[\w.-]{{0,20}}+(?:\s[^<>]{{0,80}})?>\s{{0,20}}+(?:<!\[cdata\[)?(?P<secret>[^<>\s\]]{{3,512}}+)(?:\]|\s{{0,20}}+</)",
        *_PASS_HINTS,
        holds=is_assigned,
    ),
    named(
        "secret",
        rf"{_KEY}[\w.-]{{0,20}}+\s{{0,2}}>\s{{0,20}}+(?P<secret>[^<>\s]{{6,512}}+)\s{{0,20}}+</",
        *_KEY_HINTS,
        holds=is_given,
    ),
    in_line(
        "secret",
        rf"(?:key|name|id)=[\"'][\w.:-]{{0,40}}?{_ANY}[\w.-]{{0,20}}+[\"']\s{{0,4}}(?:>\s{{0,20}}|(?:value|val)=[\"'])"
        r"(?P<secret>[^<>\"'\s]{3,512}+)",
        *('key="', "key='", "name="),
        holds=is_given,
    ),
    Rule(
        "secret",  # a property list
        re.compile(rf"(?i:{_ANY})[\w.-]{{0,20}}+</key>\s{{0,20}}<string>(?P<secret>[^<>\s]{{4,512}}+)</"),
        ("</key>",),
        is_given,
    ),
    in_line(
        "password",
        r"type=[\"']?password[\"']?[^<>\n]{0,100}? value=[\"']?(?P<secret>[^<>\"'\s]{3,256}+)",
        "password",
        holds=is_assigned,
        beside=("value=",),
    ),
    in_line(
        "secret",  # an attribute: <login password="…">
        rf"<[\w:.-]{{1,40}}+\s[^<>]{{0,200}}?{_ANY}=[\"'](?P<secret>[^<>\"'\s]{{4,512}}+)[\"']",
        *("password=", "passwd=", "pwd=", "token=", "secret=", "key="),
        holds=is_given,
    ),
)
NAMED: tuple[Rule, ...] = (*ADDRESSES, *HEADERS, *XML, *SETTINGS)
