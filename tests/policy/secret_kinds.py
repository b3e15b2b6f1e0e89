"""Kinds of secrets, each as one is built: invented here from its structure, so that no scanner of sources takes one for
real, and none of them is."""

import string
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

_ANY = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_CAPS = string.ascii_uppercase + string.digits
_SMALL = string.ascii_lowercase + string.digits
_URL = _ANY + "_-"


@dataclass(frozen=True)
class Kind:
    """A kind of secret: how it stands in a text, and the part that must not stay."""

    name: str
    text: str
    secret: str
    bare: bool
    """Whether it is known wherever it stands, or only within such a text."""


class _Maker:
    def __init__(self, name: str) -> None:
        self._random = Random(name)

    def of(self, signs: str, length: int) -> str:
        """Signs by chance, with a digit, a capital and a small letter where there are such."""
        while True:
            made = "".join(self._random.choice(signs) for _ in range(length))
            classes = [kind for kind in (string.digits, string.ascii_uppercase, string.ascii_lowercase)]
            wanted = [kind for kind in classes if set(kind) & set(signs)]
            if all(set(made) & set(kind) for kind in wanted) and made[0].isalnum() and made[-1].isalnum():
                return made

    def any(self, length: int) -> str:
        return self.of(_ANY, length)

    def hex(self, length: int) -> str:
        return self.of(_HEX, length)

    def caps(self, length: int) -> str:
        return self.of(_CAPS, length)

    def small(self, length: int) -> str:
        return self.of(_SMALL, length)

    def url(self, length: int) -> str:
        return self.of(_URL, length)

    @property
    def uuid(self) -> str:
        return "-".join(self.hex(length) for length in (8, 4, 4, 4, 12))

    @property
    def word(self) -> str:
        """A password as people make them."""
        return f"{self.of(string.ascii_letters, 6)}{self.of(string.digits, 3)}!{self.of(string.ascii_letters, 2)}"


def _formats(made: _Maker) -> dict[str, str]:
    """What issuers hand out: prefix and body are put together here."""
    m = made
    return {
        "recollect token": "re" + "c_" + m.url(43),
        "tencent key": "AK" + "ID" + m.any(32),
        "marketplace token": "amzn" + ".mws." + m.uuid,
        "matrix token": "sy" + "t_" + m.any(12) + "_" + m.any(20) + "_" + m.any(6),
        "ntfy token": "t" + "k_" + m.small(29),
        "rotated slack token": "xo" + "xe.xo" + "xp-1-" + m.url(120),
        "letta key": "sk-" + "let-" + m.any(80),
        "together key": "tg" + "p_v1_" + m.url(43),
        "llama cloud key": "ll" + "x-" + m.any(48),
        "e2b key": "e2" + "b_" + m.hex(40),
        "modal token": "a" + "k-" + m.any(22),
        "runpod key": "rp" + "a_" + m.caps(42),
        "mem0 key": "m0" + "-" + m.any(40),
        "clickup token": "p" + "k_" + "12345678_" + m.caps(32),
        "bitwarden token": "0" + "." + m.uuid + "." + m.any(30) + ":" + m.any(22) + "==",
        "boundary token": "a" + "t_" + m.any(10) + "_" + m.any(100),
        "ory token": "or" + "y_pat_" + m.any(32),
        "segment token": "sg" + "p_" + m.any(64),
        "cloudflare tunnel": "eyJh" + "Ijoi" + m.any(120),
        "launchdarkly api key": "ap" + "i-" + m.uuid,
        "instagram token": "IG" + "QV" + m.url(150),
        "linkedin secret": "WPL_" + "AP1." + m.any(16) + "." + m.any(8),
        "google code": "4/" + "0A" + m.url(60),
        "adyen key": "AQ" + "E" + m.any(100),
        "payment key": "li" + "ve_" + m.any(30),
        "fernet token": "gAA" + "AAAB" + m.url(100),
        "paseto": "v4" + ".local." + m.url(120),
        "macaroon": "MD" + "Axy" + m.any(100),
        "bcrypt hash": "$" + "2b$12$" + m.any(53),
        "shadow hash": "$" + "6$" + m.any(8) + "$" + m.any(86),
        "shadow hash of today": "$" + "y$j9T$" + m.any(22) + "$" + m.any(43),
        "apache hash": "$" + "apr1$" + m.any(8) + "$" + m.any(22),
        "argon2 hash": "$" + "argon2id$v=19$m=65536,t=3,p=4$" + m.any(22) + "$" + m.any(43),
        "django hash": "pbkdf2" + "_sha256$260000$" + m.any(22) + "$" + m.any(43) + "=",
        "nostr key": "nse" + "c1" + m.small(58),
        "asp.net cookie": "Cf" + "DJ8" + m.url(120),
        "aws access key": "AK" + "IA" + m.caps(16),
        "aws temporary key": "AS" + "IA" + m.caps(16),
        "aws session token": "IQoJb3Jp" + "Z2lu" + m.any(200),
        "aws bedrock key": "AB" + "SK" + m.any(110),
        "alibaba key": "LT" + "AI" + m.any(20),
        "google key": "AI" + "za" + m.url(35),
        "google client secret": "GOC" + "SPX-" + m.url(28),
        "google access token": "ya" + "29." + m.url(80),
        "google refresh token": "1/" + "/0" + m.url(60),
        "firebase server key": "AA" + "AA" + m.any(7) + ":" + m.url(140),
        "azure client secret": m.any(3) + "8Q" + "~" + m.any(34),
        "azure devops token": m.any(60) + "AZ" + "DO" + m.any(8),
        "digitalocean token": "do" + "p_v1_" + m.hex(64),
        "digitalocean oauth": "do" + "o_v1_" + m.hex(64),
        "scaleway key": "SC" + "W" + m.caps(17),
        "yandex key": "AQ" + "VN" + m.url(36),
        "heroku key": "HR" + "KU-AA" + m.url(58),
        "fly token": "fo" + "1_" + m.url(43),
        "fly macaroon": "fm" + "2_" + m.any(120),
        "netlify token": "nf" + "p_" + m.any(40),
        "vercel blob token": "vercel_" + "blob_rw_" + m.any(40),
        "render key": "rn" + "d_" + m.any(28),
        "scalingo token": "tk-" + "us-" + m.url(48),
        "cloudflare origin key": "v1" + ".0-" + m.hex(24) + "-" + m.hex(146),
        "tailscale key": "tskey" + "-auth-" + m.any(12) + "CNTRL-" + m.any(20),
        "pulumi token": "pu" + "l-" + m.hex(40),
        "terraform token": m.any(14) + ".atlas" + "v1." + m.url(66),
        "vault token": "hv" + "s." + m.url(95),
        "vault token of before": "s" + "." + m.any(24),
        "doppler token": "dp" + ".pt." + m.any(43),
        "1password key": "A3" + "-" + "-".join(m.caps(n) for n in (6, 6, 5, 5, 5, 5)),
        "1password token": "op" + "s_eyJ" + m.any(260),
        "openshift token": "sha" + "256~" + m.url(43),
        "docker token": "dckr" + "_pat_" + m.url(27),
        "age key": "AGE-" + "SECRET-KEY-1" + m.caps(58),
        "defined networking key": "dn" + "key-" + m.any(26) + "-" + m.any(52),
        "github token": "gh" + "p_" + m.any(36),
        "github oauth token": "gh" + "o_" + m.any(36),
        "github server token": "gh" + "s_" + m.any(36),
        "github fine-grained token": "github" + "_pat_" + m.any(22) + "_" + m.any(59),
        "gitlab token": "gl" + "pat-" + m.url(20),
        "gitlab runner token": "gl" + "rt-" + m.url(20),
        "gitlab registration token": "GR13" + "48941" + m.url(20),
        "gitlab mail token": "gl" + "imt-" + m.url(25),
        "bitbucket token": "AT" + "BB" + m.any(32),
        "atlassian token": "ATA" + "TT3" + m.url(186),
        "trello token": "AT" + "TA" + m.hex(64),
        "npm token": "np" + "m_" + m.any(36),
        "pypi token": "py" + "pi-AgEI" + m.url(100),
        "rubygems key": "ruby" + "gems_" + m.hex(48),
        "clojars token": "CLO" + "JARS_" + m.small(60),
        "crates token": "ci" + "o" + m.any(32),
        "nuget key": "oy" + "2" + m.small(43),
        "artifactory key": "AK" + "Cp" + m.any(69),
        "sourcegraph token": "sg" + "p_" + m.hex(40),
        "sonar token": "sq" + "p_" + m.hex(40),
        "circleci token": "CCI" + "PAT_" + m.any(22) + "_" + m.hex(40),
        "buildkite token": "bk" + "ua_" + m.hex(40),
        "octopus key": "AP" + "I-" + m.caps(26),
        "harness token": "pa" + "t." + m.any(22) + "." + m.any(24) + "." + m.any(20),
        "prefect key": "pn" + "u_" + m.any(36),
        "readme key": "rd" + "me_" + m.small(70),
        "postman key": "PM" + "AK-" + m.hex(24) + "-" + m.hex(34),
        "apify token": "apify" + "_api_" + m.any(36),
        "linear key": "lin" + "_api_" + m.any(40),
        "notion token": "nt" + "n_" + m.any(46),
        "notion token of before": "secret" + "_" + m.any(43),
        "figma token": "fi" + "gd_" + m.url(43),
        "airtable token": "pa" + "t" + m.any(14) + "." + m.hex(64),
        "asana token": "1/" + m.of(string.digits, 16) + ":" + m.hex(32),
        "contentful token": "CF" + "PAT-" + m.url(43),
        "typeform token": "tf" + "p_" + m.any(59),
        "wakatime key": "wa" + "ka_" + m.uuid,
        "launchdarkly key": "sd" + "k-" + m.uuid,
        "hubspot token": "pat" + "-eu1-" + m.uuid,
        "anthropic key": "sk" + "-ant-api03-" + m.url(93) + "AA",
        "openrouter key": "sk" + "-or-v1-" + m.hex(64),
        "openai key": "sk" + "-" + m.any(48),
        "openai project key": "sk" + "-proj-" + m.url(120),
        "openai service account": "sk" + "-svcacct-" + m.url(120),
        "deepseek key": "sk" + "-" + m.hex(32),
        "langfuse key": "sk" + "-lf-" + m.uuid,
        "hugging face token": "hf" + "_" + m.any(34),
        "groq key": "gs" + "k_" + m.any(52),
        "xai key": "xa" + "i-" + m.any(80),
        "replicate token": "r8" + "_" + m.any(37),
        "perplexity key": "pp" + "lx-" + m.any(48),
        "nvidia key": "nv" + "api-" + m.url(64),
        "cerebras key": "cs" + "k-" + m.small(48),
        "tavily key": "tv" + "ly-" + m.any(32),
        "firecrawl key": "fc" + "-" + m.hex(32),
        "langsmith key": "ls" + "v2_pt_" + m.hex(32) + "_" + m.hex(10),
        "pinecone key": "pc" + "sk_" + m.any(64),
        "elevenlabs key": "sk" + "_" + m.hex(48),
        "slack bot token": "xox" + "b-" + m.of(string.digits, 12) + "-" + m.any(24),
        "slack app token": "xa" + "pp-1-" + m.caps(11) + "-" + m.of(string.digits, 13) + "-" + m.hex(64),
        "slack config token": "xoxe" + ".xoxp-1-" + m.any(160),
        "slack webhook": "hooks.slack" + ".com/services/T" + m.caps(8) + "/B" + m.caps(10) + "/" + m.any(24),
        "discord bot token": "MT" + m.any(24) + "." + m.any(6) + "." + m.url(38),
        "discord webhook": "discord" + ".com/api/webhooks/" + m.of(string.digits, 18) + "/" + m.url(68),
        "teams webhook": f"x.webhook.office.com/webhookb2/{m.uuid}@{m.uuid}/IncomingWebhook/{m.hex(32)}/{m.uuid}",
        "telegram bot token": m.of(string.digits, 10) + ":A" + "A" + m.url(33),
        "twilio key": "S" + "K" + m.hex(32),
        "sendgrid key": "S" + "G." + m.url(22) + "." + m.url(43),
        "mailgun key": "ke" + "y-" + m.hex(32),
        "mailchimp key": m.hex(32) + "-u" + "s21",
        "brevo key": "xkey" + "sib-" + m.hex(64) + "-" + m.any(16),
        "resend key": "re" + "_" + m.any(8) + "_" + m.any(24),
        "intercom token": "dG9" + "rOj" + m.any(56) + "=",
        "salesforce token": "00" + "D" + m.any(15) + "!" + m.any(96),
        "facebook token": "EA" + "AC" + m.any(180),
        "twitch token": "oau" + "th:" + m.small(30),
        "square token": "sq0" + "atp-" + m.url(22),
        "stripe key": "sk" + "_live_" + m.any(24),
        "stripe restricted key": "rk" + "_live_" + m.any(24),
        "stripe webhook secret": "wh" + "sec_" + m.any(32),
        "paypal token": "access_token" + "$production$" + m.small(16) + "$" + m.hex(32),
        "plaid token": "access" + "-production-" + m.uuid,
        "razorpay key": "rz" + "p_live_" + m.any(14),
        "flutterwave key": "FLW" + "SECK-" + m.hex(32) + "-X",
        "shippo token": "shippo" + "_live_" + m.hex(40),
        "easypost key": "EZ" + "AK" + m.any(54),
        "duffel token": "duffel" + "_live_" + m.url(43),
        "shopify token": "shp" + "at_" + m.hex(32),
        "adobe secret": "p8" + "e-" + m.any(32),
        "frame token": "fi" + "o-u-" + m.url(64),
        "dropbox token": "sl" + "." + m.url(135),
        "mapbox token": "sk" + ".eyJ" + m.any(80) + "." + m.any(22),
        "maxmind key": m.any(6) + "_" + m.any(29) + "_m" + "mk",
        "infracost key": "ic" + "o-" + m.any(32),
        "zoho token": "10" + "00." + m.hex(32) + "." + m.hex(32),
        "settlemint token": "sm" + "_pat_" + m.any(16),
        "databricks token": "da" + "pi" + m.hex(32),
        "planetscale password": "pscale" + "_pw_" + m.url(43),
        "supabase token": "sb" + "p_" + m.hex(40),
        "supabase secret key": "sb" + "_secret_" + m.url(31),
        "neon key": "na" + "pi_" + m.small(64),
        "aiven password": "AV" + "NS_" + m.any(19),
        "clickhouse key": "4b" + "1d" + m.any(38),
        "datastax token": "Astra" + "CS:" + m.any(24) + ":" + m.hex(64),
        "grafana token": "gl" + "sa_" + m.any(32) + "_" + m.hex(8),
        "grafana cloud token": "gl" + "c_" + m.any(60),
        "new relic key": "NR" + "AK-" + m.caps(27),
        "new relic ingest key": m.hex(36) + "NR" + "AL",
        "dynatrace token": "dt0" + "c01." + m.caps(24) + "." + m.caps(64),
        "sentry token": "sntr" + "yu_" + m.hex(64),
        "honeycomb key": "hc" + "aik_" + m.small(58),
        "posthog key": "ph" + "x_" + m.any(43),
        "jwt": "ey" + "J" + m.any(30) + ".ey" + "J" + m.any(60) + "." + m.url(43),
        "encrypted jwt": "ey" + "J" + m.any(30) + "." + m.url(40) + "." + m.url(16) + "." + m.url(60) + "." + m.url(22),
        "wallet key": "xpr" + "v" + m.of("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 107),
    }


def _placed(made: _Maker) -> dict[str, tuple[str, str]]:
    """What is a secret by what stands around it: the text, with {} where the secret is, and the secret."""
    m = made
    pair = b64encode(f"mara:{m.word}".encode()).decode()
    return {
        "set-cookie": ("Set-Cookie: sid={}; Path=/; HttpOnly", m.any(32)),
        "cookie": ("Cookie: theme=dark; session={}", m.hex(40)),
        "cookie file": (".example.org\tTRUE\t/\tTRUE\t1790000000\tsid\t{}", m.any(26)),
        "curl cookie": ("curl -b 'session={}' https://example.org", m.any(26)),
        "session id": ("PHPSESSID={}", m.small(26)),
        "xml password": ("<server><username>mara</username><password>{}</password></server>", m.word),
        "xml password of letters": ("<password>{}</password>", m.of(string.ascii_letters, 9)),
        "xml attribute": ('<login user="mara" password="{}"/>', m.word),
        "xml setting": ('<add key="ClearTextPassword" value="{}" />', m.word),
        "xml property": ('<property name="hibernate.connection.password">{}</property>', m.word),
        "netrc": ("machine example.org login mara password {}", m.of(string.ascii_letters, 10)),
        "netrc over lines": ("machine example.org\n  login mara\n  password {}", m.word),
        "docker auth": ('{{"auths": {{"example.org": {{"auth": "{}"}}}}}}', pair),
        "npmrc auth": ("//registry.example.org/:_auth={}", pair),
        "npmrc token": ("//registry.example.org/:_authToken={}", m.uuid),
        "kubernetes secret": ("apiVersion: v1\nkind: Secret\ndata:\n  pw: {}", b64encode(m.word.encode()).decode()),
        "curl -u": ("curl -u mara:{} https://example.org", m.of(string.ascii_letters, 8)),
        "curl --user": ("curl --user 'mara:{}' https://example.org", m.word),
        "curl -sSu": ("curl -sSu mara:{} https://example.org", m.of(string.ascii_letters, 8)),
        "curl -ksu in quotes": ("curl -ksu 'mara:{}' https://example.org", m.word),
        "ssh-keygen": ("ssh-keygen -t ed25519 -N {} -f key", m.word),
        "wget --password": ("wget --user=mara --password={} https://example.org", m.word),
        "flag of a token": ("deploy --auth-token {} now", m.any(24)),
        "mysql -p": ("mysql -u root -p{} shop", m.word),
        "mysqldump -p": ("mysqldump -uroot -p{} shop", m.word),
        "PGPASSWORD": ("PGPASSWORD={} psql -h db", m.of(string.ascii_letters, 9)),
        "pgpass": ("db.example.org:5432:shop:mara:{}", m.word),
        "sshpass": ("sshpass -p {} ssh mara@example.org", m.of(string.ascii_letters, 9)),
        "redis-cli -a": ("redis-cli -a {} ping", m.word),
        "docker login -p": ("docker login -u mara -p {} example.org", m.word),
        "ldap -w": ("ldapsearch -D cn=mara -w {} -b dc=x", m.word),
        "openssl pass": ("openssl rsa -in key.pem -passin pass:{}", m.word),
        "smbclient": ("smbclient //host/share -U mara%{}", m.word),
        "htpasswd": ("htpasswd -b .htpasswd mara {}", m.word),
        "chpasswd": ("echo 'mara:{}' | chpasswd", m.word),
        "sudo -S": ("echo {} | sudo -S reboot", m.of(string.ascii_letters, 9)),
        "sql identified by": ("CREATE USER mara IDENTIFIED BY '{}'", m.of(string.ascii_letters, 9)),
        "sql with password": ("CREATE ROLE mara WITH PASSWORD '{}'", m.of(string.ascii_letters, 9)),
        "redis config": ("requirepass {}", m.of(string.ascii_letters, 9)),
        "powershell": ("$s = ConvertTo-SecureString '{}' -AsPlainText", m.word),
        "router": ("enable secret 5 {}", m.word),
        "python auth": ("requests.get(url, auth=('mara', '{}'))", m.word),
        "url": ("postgres://mara:{}@db.example.org/shop", m.word),
        "url of letters": ("amqp://mara:{}@mq.example.org", m.of(string.ascii_letters, 9)),
        "url with a sign": ("https://mara:{}@example.org/x", m.any(4) + "@" + m.any(5)),
        "url without a user": ("redis://:{}@cache.example.org:6379", m.word),
        "token in a url": ("https://{}@git.example.org/x.git", m.hex(40)),
        "jdbc oracle": ("jdbc:oracle:thin:mara/{}@db:1521:x", m.word),
        "jdbc password": ("jdbc:mysql://db/x?user=mara&password={}", m.word),
        "telegram address": ("https://api.telegram.org/bot{}/getMe", "1234567890:A" + "A" + m.url(33)),
        "query token": ("https://example.org/x?access_token={}&page=2", m.any(32)),
        "shared signature": ("https://x.blob.core.windows.net/y?sv=2024&sig={}", m.any(43) + "%3D"),
        "signed address": ("https://s3.example.org/x?X-Amz-Signature={}", m.hex(64)),
        "one-time secret": ("otpauth://totp/x:mara?secret={}&issuer=x", m.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 16)),
        "env file": ("DB_PASSWORD={}", m.of(string.ascii_letters, 9)),
        "env file with signs": ("MAIL_PASS={}", m.any(4) + "(9;,<x"),
        "shell export": ("export API_TOKEN='{}'", m.any(20)),
        "yaml": ("db:\n  password: {}", m.word),
        "json": ('{{"client_secret": "{}"}}', m.any(24)),
        "escaped json": ('{{\\"password\\": \\"{}\\"}}', m.word),
        "toml": ('api_key = "{}"', m.any(24)),
        "java properties": ("spring.datasource.password={}", m.word),
        "connection string": ("Server=db;User Id=mara;Password={};Encrypt=true", m.word),
        "c#": ('var clientSecret = "{}";', m.word),
        "php": ("'password' => '{}',", m.word),
        "go": ('token := "{}"', m.any(24)),
        "key of a service": ("STRIPE_KEY={}", m.any(24)),
        "ansible": ("ansible_ssh_pass={}", m.word),
        "wpa": ('psk="{}"', m.word),
        "azure storage": ("AccountName=x;AccountKey={}==;EndpointSuffix=y", m.any(86)),
        "aws secret key": ("aws_secret_access_key = {}", m.any(40)),
        "authorization": ("Authorization: Bearer {}", m.any(32)),
        "authorization basic": ("Authorization: Basic {}", pair),
        "authorization of its own": ("Authorization: {}", m.any(32)),
        "proxy authorization": ("Proxy-Authorization: Basic {}", pair),
        "x-api-key": ("X-Api-Key: {}", m.any(32)),
        "x-auth-token": ("X-Auth-Token: {}", m.hex(32)),
        "private-token": ("PRIVATE-TOKEN: {}", m.any(20)),
        "subscription key": ("Ocp-Apim-Subscription-Key: {}", m.hex(32)),
        "bearer alone": ("use bearer {} for it", m.any(32)),
        "okta": ("Authorization: SSWS {}", "00" + m.url(40)),
        "said": ("my password is {}", m.word),
        "said of a key": ("the api key is {}", m.any(20)),
        "login": ("the login is mara / {}", m.word),
        "padded base64": ("BUILD_TOKEN={}", m.any(22) + "=="),
        "a word in quotes": ('{{"password": "{}"}}', m.of(string.ascii_lowercase, 12)),
        "a word in a setting": ("spring.datasource.password={}", m.of(string.ascii_lowercase, 12)),
        "a word in a connection string": ("Server=db;Uid=mara;Pwd={};", m.of(string.ascii_lowercase, 12)),
        "a word on a command line": ("redis-cli -h db -a {} ping", m.of(string.ascii_lowercase, 12)),
        "define": ("define( 'DB_PASSWORD', '{}' );", m.word),
        "list of arguments": ('["--password", "{}"]', m.word),
        "name and value": ('{{"name": "DB_PASSWORD", "value": "{}"}}', m.word),
        "name and value of a container": ("- name: DB_PASSWORD\n  value: {}", m.word),
        "what stands in": ("const s = env.JWT_SECRET || '{}'", m.any(24)),
        "typed": ("api_key: str = '{}'", m.any(24)),
        "conditional": ("TOKEN ?= {}", m.any(24)),
        "aligned": ('secret_key         = "{}"', m.any(40)),
        "row of a table": ("| Password | {} |", m.word),
        "bold": ("**Password:** {}", m.word),
        "arrow": ("password -> {}", m.word),
        "next line": ("Here is the password:\n{}\n", m.word),
        "yaml block": ("password: |\n  {}\n", m.word),
        "property list": ("<key>APIToken</key>\n<string>{}</string>", m.any(30)),
        "cdata": ("<password><![CDATA[{}]]></password>", m.word),
        "field of a page": ('<input type="password" value="{}">', m.word),
        "key of a person": ('{{"kty":"EC","crv":"P-256","x":"a","d":"{}"}}', m.url(43)),
        "key behind its name": ("here's my api key {}", m.any(32)),
        "digest": ('Authorization: Digest username="b", uri="/", response="{}"', m.hex(32)),
        "key as a name": ("https://{}:x-oauth-basic@example.org/a.git", m.hex(40)),
        "address that is a key": ("https://mainnet.infura.io/v3/{}", m.hex(32)),
        "list of cookies": ('"set-cookie": ["sid={}; Path=/"]', m.any(40)),
        "httpie": ("http -a mara:{} https://example.org", m.word),
        "remote desktop": ("xfreerdp /v:db /u:mara /p:{}", m.word),
        "sqlplus": ("sqlplus mara/{}@db", m.word),
        "piped to passwd": ("echo {} | passwd --stdin root", m.word),
        "wifi code": ("WIFI:T:WPA;S:home;P:{};;", m.word),
        "set in fish": ("set -x API_TOKEN {}", m.any(24)),
        "typed by a test": ("page.fill('input[name=password]', '{}')", m.word),
        "changed": ("I changed my password to {}", m.word),
        "said in german": ("das Passwort für den Router lautet {}", m.word),
        "said in french": ("mon mot de passe est {}", m.word),
        "said in spanish": ("la contraseña del wifi es {}", m.word),
        "said in dutch": ("mijn wachtwoord is {}", m.word),
        "said in russian": ("пароль: {}", m.word),
        "said in chinese": ("密码是{}", m.word),
        "recovery code": ("recovery codes:\n{}\n", f"{m.small(5)}-1{m.small(4)}"),
        "wallet": ("my seed phrase is {}", " ".join(m.of(string.ascii_lowercase, 5) for _ in range(12))),
        "second factor": ("2FA setup key: {}", " ".join(m.of("ABCDEFGHJKLMNP234567", 4) for _ in range(4))),
    }


def _blocks(made: _Maker) -> dict[str, tuple[str, str]]:
    body = "\n".join(made.any(64) for _ in range(6))
    line = "-" * 5
    return {
        **{
            f"{name.lower()}private key": (
                f"{line}BEGIN {name}PRIVATE KEY{line}\n{{}}\n{line}END {name}PRIVATE KEY{line}",
                body,
            )
            for name in ("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ")
        },
        "pgp private key": (
            f"{line}BEGIN PGP PRIVATE KEY BLOCK{line}\n\n{{}}\n{line}END PGP PRIVATE KEY BLOCK{line}",
            body,
        ),
        "putty key": ("PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 6\n{}\nPrivate-MAC: 00", body),
        "packed private key": ("client-key-data: {}", "LS0tLS1CRUdJTi" + "BSU0Eg" + made.any(200)),
    }


def kinds() -> Iterator[Kind]:
    """Every kind, each with a secret of its own."""
    for name in _formats(_Maker("")):
        secret = _formats(_Maker(name))[name]
        yield Kind(name, secret, secret, bare=True)
    for told in (_placed, _blocks):
        for name in told(_Maker("")):
            text, secret = told(_Maker(name))[name]
            yield Kind(name, text.format(secret), secret, bare=False)
