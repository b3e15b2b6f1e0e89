"""Secrets on command lines and in statements of databases and devices."""

import re

from recollect.policy.secrets.rule import Rule, anchored, in_line
from recollect.policy.secrets.values import is_assigned, is_given, is_key, is_real

_WORD = r"[\"']?(?P<secret>[^\s\"'`]{3,256}+)"
_TOGETHER = r"(?<![\w-])-[abfgijklmnopqrsvz0-6#]{1,9}u(?:[ ]{1,3}|(?=[\"']))"
"""Short options of curl in one word, the last of them -u: -sSu. Letters that take a value, small and as capitals, are
not among the others."""

COMMANDS: tuple[Rule, ...] = (
    in_line(
        "password",
        rf"(?:(?<![\w-])(?:-u|--user|--proxy-user)[ =]{{0,3}}|{_TOGETHER})[\"']?[^\s:\"'=]{{1,100}}+:{_WORD}",
        *("-u", "curl"),
        holds=is_assigned,
        beside=("curl", "httpie", "xh "),
    ),
    in_line(
        "credentials",  # the name is the key, and the password none
        rf"(?:(?<![\w-])(?:-u|--user)[ =]{{0,3}}|{_TOGETHER})[\"']?(?P<secret>[\w.~+/=-]{{16,512}}+):[\w-]{{0,9}}"
        r"(?=[\s\"']|$)",
        *("-u", "curl"),
        holds=is_key,
        beside=("curl", "httpie", "xh "),
    ),
    anchored("password", rf"-u\s[\"']?[\w.@+\\-]{{1,100}}+:{_WORD}", "-u ", holds=is_given),
    anchored("password", rf"-user[ =][\"']?[\w.@+\\-]{{1,100}}+:{_WORD}", "-user ", "-user=", holds=is_given),
    in_line(
        "cookie",
        r"(?<![\w-])(?:--cookie|-b)[ =]{1,3}[\"']?(?P<secret>[\w.-]{1,60}+=[^\"'\n]{6,4000}+)",
        "-b",
        "-cookie",
        holds=lambda secret: is_given(secret.partition("=")[2]),
        beside=("curl",),
    ),
    in_line(
        "secret",  # --password …, --http-password=…, -storepass …
        r"(?<![\w-])--?(?=[a-z])[\w-]{0,30}?(?:password|passwd|passphrase|-pass|storepass|keypass|token|secret|api-?key|"
        r"auth-?key|-pw)(?:[ =]{1,2}|\s\\?\n\s{0,8})[\"']?(?P<secret>[^\s\"'`]{4,512}+)",
        *("password", "passwd", "passphrase", "-pass", "storepass", "keypass", "token", "secret", "apikey", "api-key"),
        *("authkey", "auth-key", "-pw"),
        holds=is_given,
    ),
    anchored("password", rf"sshpass\s+-p\s?{_WORD}", "sshpass", holds=is_assigned),
    in_line(
        "password",
        r"(?<=\s)-p(?!ort\b|arallel|rotocol|rint)[\"']?(?P<secret>[^\s\"'`-][^\s\"'`]{2,255}+)",
        " -p",
        holds=is_assigned,
        beside=("mysql", "mariadb", "7z ", "rar "),
    ),
    in_line(
        "password",
        r"(?<=\s)(?:-[pawk]|--pass)\s+[\"']?(?P<secret>[^\s\"'`-][^\s\"'`]{2,255}+)",
        *(" -p", " -a ", " -w ", " --pass ", " -k "),
        holds=is_assigned,
        beside=(
            "curl",
            "psexec",
            "openssl enc",
            "sqlcmd",
            "redis-cli",
            "docker login",
            "podman login",
            "mongo",
            "ldap",
            "zip ",
            "az login",
            "isql",
            "cqlsh",
        ),
    ),
    anchored("password", rf"pass:{_WORD}", "pass:", holds=is_given),
    in_line(
        "password",
        rf"(?<=\s)-u\s[\"']?[\w.\\/-]{{1,60}}+%{_WORD}",
        "-u",
        holds=is_real,
        beside=("smbclient", "rpcclient", "winexe", "net rpc"),
    ),
    anchored("password", rf"htpasswd\s+-[a-z]{{0,4}}b[a-z]{{0,4}}\s+\S{{1,200}}+\s+\S{{1,64}}+\s+{_WORD}", "htpasswd"),
    in_line(
        "password",
        r"(?<![\w.-])[\w.-]{1,40}+:(?P<secret>[^\s\"'|]{3,256}+)[\"']?\s{0,3}\|\s{0,3}(?:sudo\s+)?chpasswd",
        "chpasswd",
    ),
    in_line("password", r"echo\s+[\"']?(?P<secret>[^\s\"'|]{4,256}+)[\"']?\s{0,3}\|\s{0,3}sudo\s+-s", "sudo -s"),
    anchored("password", rf"net\s+user\s+\S{{1,64}}+\s+{_WORD}\s+/add", "net user", holds=is_real),
    anchored(
        "password",
        r"identified\s+(?:with\s+\S{1,40}+\s+)?(?:by|as)\s+(?:password\s+)?[\"'](?P<secret>[^\"'\n]{3,256}+)[\"']",
        "identified",
        holds=is_assigned,
    ),
    anchored(
        "password",
        r"(?:(?<=with )|(?<=encrypted )|(?<=login ))password\s{0,2}=?\s{0,2}n?'(?P<secret>[^'\n]{3,256}+)'",
        "password",
        holds=is_assigned,
    ),
    in_line(
        "password",
        rf"(?<=\s)-a[ =]?[\"']?[\w.@-]{{1,100}}+:{_WORD}",
        " -a",
        holds=is_assigned,
        beside=("http ", "https ", "xh "),
    ),
    anchored("password", rf"(?<=\s)/p(?:ass)?:{_WORD}", "/p:", "/pass:", holds=is_given),
    anchored("password", rf"net\s+use\s+(?:\S{{1,3}}\s+)?\\\\\S{{1,200}}+\s+(?!/){_WORD}", "net use", holds=is_given),
    anchored(
        "password",
        r"sqlplus\s+(?:-\w+\s+){0,3}[\"']?[\w$#]{1,64}+/(?P<secret>[^\s/@\"']{2,128}+)",
        "sqlplus",
        holds=is_real,
    ),
    in_line(
        "password",
        r"echo\s+[\"']?(?P<secret>[^\s\"'|]{4,256}+)[\"']?\s{0,3}\|\s{0,3}(?:sudo\s+)?(?:passwd\b|docker\s+login|gh\s+auth)",
        *("passwd", "docker login", "gh auth"),
        holds=is_assigned,
        beside=("echo ",),
    ),
    Rule(
        "password",  # the passphrase of a key, in capitals: -n is another option
        re.compile(
            r"(?<=\s)-[NP]\s{1,8}(?P<quote>[\"'])?(?P<secret>(?(quote)[^\"'\n]{3,256}+|[^\s\"'`-][^\s\"'`]{2,255}+))"
        ),
        (" -n ", " -p "),
        lambda secret: is_assigned(secret) and not secret.isdigit(),
        lines=True,
        beside=("ssh-keygen",),
    ),
    anchored("password", r"wifi:(?:[^;\s]{1,80};){0,4}?p:(?P<secret>(?:[^;\s\\]|\\.){3,128}+);", "wifi:"),
    in_line(
        "password", rf"nmcli\s[^\n]{{0,200}}?\spassword\s+{_WORD}", "password", holds=is_assigned, beside=("nmcli",)
    ),
    anchored("password", rf"snmp-server\s+community\s+{_WORD}", "snmp-server", holds=is_assigned),
    in_line(
        "password",  # into a field of a page that is one for passwords
        r"(?:send_keys|\.type|\.fill|\.setvalue|\.sendkeys)\([^()\n]{0,100}?[\"'](?P<secret>[^\"'\n]{3,128}+)[\"']\)",
        "password",
        holds=is_assigned,
        beside=("send_keys(", ".type(", ".fill(", ".setvalue(", ".sendkeys("),
    ),
    in_line(
        "secret",  # set -x NAME value, setx NAME value, ARG NAME value
        r"(?<![^\s])(?:set -\w{1,3}|setx|arg|env|#define) \w{0,40}?(?:token|secret|password|passwd|pass|key|pwd)\s{1,4}"
        r"[\"']?(?P<secret>[^\s\"'`]{4,512}+)",
        *("token ", "secret ", "password ", "passwd ", "pass ", "key ", "pwd "),
        holds=is_assigned,
        beside=("set -", "setx ", "arg ", "env ", "#define "),
    ),
    anchored("password", r"password\s{1,3}'(?P<secret>[^'\s]{3,256}+)'", "password '", holds=is_given),
    anchored(
        "password",
        rf"(?:requirepass|masterauth|bindpw|rootpw)\s+{_WORD}",
        *("requirepass", "masterauth", "bindpw", "rootpw"),
        holds=is_assigned,
    ),
    anchored(
        "password",
        r"convertto-securestring\s+(?:-string\s+)?[\"'](?P<secret>[^\"'\n]{3,256}+)[\"']",
        "convertto-securestring",
        holds=is_real,
    ),
    in_line(
        "password",
        rf"(?:enable\s+(?:secret|password)|username\s+\S{{1,40}}+\s+(?:privilege\s+\d+\s+)?(?:secret|password))\s+"
        rf"(?:\d\s+)?{_WORD}",
        *("secret ", "password "),
        holds=is_given,
    ),
    anchored(
        "password",  # auth=("user", "…"), server.login("user", "…")
        r"(?:auth\s{0,2}=\s{0,2}|basicauth|\.auth|\.login|credentials?|wifi\.begin)\(\s{0,2}[\"'][^\"'\n]{1,100}+[\"']\s{0,2},\s{0,2}[\"']"
        r"(?P<secret>[^\"'\n]{3,256}+)[\"']",
        *("auth=(", "auth = (", "basicauth(", ".auth(", ".login(", "credential(", "credentials(", "wifi.begin("),
        holds=is_assigned,
    ),
)
