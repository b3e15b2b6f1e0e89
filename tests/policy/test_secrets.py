"""Secrets are found by their format and by nothing else."""

import gzip
import json
from base64 import b64encode
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.policy.secrets import Redacted, redact
from tests.policy.secret_kinds import Kind, kinds

CORPUS = Path(__file__).parents[3] / "shared" / "data" / "beam_100K.jsonl.gz"

# Put together here, so that no scanner of sources takes an invented token for a real one.
LETTERS = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"
HEX = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

SECRETS = [
    ("aws access key", "AKIA" + "IOSFODNN7EXAMPLQ"),
    ("aws secret key", "aws_secret_access_key = " + (LETTERS + "zZ9/+qQ1")),
    ("github token", "ghp_" + LETTERS + "abcd"),
    ("github token", "github_pat_" + LETTERS),
    ("gitlab token", "glpat-" + LETTERS[:20]),
    ("slack token", "xoxb-" + "123456789012-" + LETTERS[:24]),
    ("slack webhook", "hooks.slack.com/services/T0000AAAA/B0000BBBB/" + LETTERS[:24]),
    ("stripe key", "sk_live_" + LETTERS[:24]),
    ("service key", "wx_live_" + LETTERS[:20]),
    ("anthropic key", "sk-ant-api03-" + LETTERS),
    ("openai key", "sk-proj-" + LETTERS),
    ("openrouter key", "sk-or-v1-" + HEX * 2),
    ("google key", "AIza" + LETTERS + "abc"),
    ("npm token", "npm_" + LETTERS + "abcd"),
    ("pypi token", "pypi-" + LETTERS * 2),
    ("hugging face token", "hf_" + LETTERS),
    ("sendgrid key", "SG." + LETTERS[:22] + "." + LETTERS),
    ("digitalocean token", "dop_v1_" + HEX * 2),
    ("telegram bot token", "123456789:AA" + LETTERS + "a"),
    ("mailgun key", "key-" + HEX),
    ("shopify token", "shpat_" + HEX),
    ("databricks token", "dapi" + HEX),
    ("vault token", "hvs." + LETTERS),
    ("groq key", "gsk_" + LETTERS + LETTERS[:16]),
    ("docker token", "dckr_pat_" + LETTERS[:27]),
    ("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9." + LETTERS),
    ("payment card", "5425 2334 3010 9903"),
    ("payment card", "4539-1488-0343-6467"),
    ("iban", "DE89 3704 0044 0532 0130 00"),
    ("social security number", "my SSN is 078-05-1120"),
    ("mailersend key", "ml" + "sn." + HEX * 2),
    ("dbt token", "db" + "tc_" + LETTERS + "abcdefgh"),
]
SAID = [
    ("my password is hunter2!", "hunter2"),
    ("The wifi password is sunflower-lake", "sunflower-lake"),
    ("Passwort: Apfel#42baum", "Apfel#42baum"),
    ("password = 'tr0ub4dor&3'", "tr0ub4dor&3"),
    ("DB_PASSWORD=s3cr3t-Valu3", "s3cr3t-Valu3"),
    ("api_key: 9f8e7d6c5b4a3f2e1d", "9f8e7d6c5b4a3f2e1d"),
    ('{"client_secret": "Qz81-xkTT-02"}', "Qz81-xkTT-02"),
    ("Authorization: Bearer abcdef0123456789abcdef", "abcdef0123456789abcdef"),
    ("the api key for the map service is 77aaBB33ccDD", "77aaBB33ccDD"),
    ("postgres://mara:Wald3in@db.example/prod", "Wald3in"),
    ("My PIN is 4812.", "4812"),
    ("the alarm code at the cottage is 7741#, thanks", "7741"),
    ("the door code: 2580", "2580"),
    ("Our seed phrase is river candle orbit maple", "river candle orbit maple"),
    ("My override phrase is opal-sunrise.", "opal-sunrise"),
    # Several words, and signs that are other quotation marks.
    ('password: "Blue Kettle 99!"', "Blue Kettle 99!"),
    ("REPO_PASSPHRASE='purple horse kettle staple'", "purple horse kettle staple"),
    ('password="Kq7m\'Winter42"', "Kq7m'Winter42"),
    ("my gmail app password is abcd efgh ijkl mnop", "abcd efgh ijkl mnop"),
    # Words that stand for a secret, within one.
    ("DB_PASSWORD=HereComes#Sun42", "HereComes#Sun42"),
    ('"password": "Mind-your-Step77"', "Mind-your-Step77"),
    # Words that stand for one, with figures, or as some words of several.
    ("DB_PASSWORD=mySecret42", "mySecret42"),
    ("DB_PASSWORD=rootPwd1", "rootPwd1"),
    ("export DB_PASSWORD='adminPwd9'", "adminPwd9"),
    ("API_TOKEN=myToken2024", "myToken2024"),
    ('DB_PASSWORD="correct horse battery staple"', "correct horse battery staple"),
    ('export APP_SECRET="my secret words"', "my secret words"),
    ("APP_SECRET='purple monkey dishwasher'", "purple monkey dishwasher"),
    # A name and its value, with more between them, or the other way round.
    ('{"Name": "/prod/db/password", "Type": "SecureString", "Value": "Kq7mWinter42"}', "Kq7mWinter42"),
    ('"db_password": {"sensitive": true, "type": "string", "value": "Kq7mWinter42"}', "Kq7mWinter42"),
    ('variable "db_password" {\n  type    = string\n  default = "Kq7mWinter42"\n}', "Kq7mWinter42"),
    ('{"ParameterKey": "DBPassword", "ParameterValue": "Kq7mWinter42"}', "Kq7mWinter42"),
    ('{"value": "Kq7mWinter42", "protected": true, "key": "DB_PASSWORD"}', "Kq7mWinter42"),
    ("- value: Kq7mWinter42\n  name: DB_PASSWORD", "Kq7mWinter42"),
    ('{"Name": "prod/db", "SecretString": "Kq7mWinter42"}', "Kq7mWinter42"),
    # Where commands, devices and servers take one.
    ("curl -u dGFAM37FxPTMHJuQtTL0: https://example.org", "dGFAM37FxPTMHJuQtTL0"),
    ("Unseal Key 1: da28UsWnCCsTQ3FIoluWqMlEr2ZUFWL8y2wvwhNatRIh", "da28UsWnCCsTQ3FIoluWqMlEr2ZUFWL8y2wvwhNatRIh"),
    ("Driver={SQL};UID=sa;PWD={Kq7m;Winter42};", "Kq7m;Winter42"),
    ("bindpw Kq7mWinter42", "Kq7mWinter42"),
    ("curl -fsSLu dGFAM37FxPTMHJuQtTL0: https://example.org", "dGFAM37FxPTMHJuQtTL0"),
    ('ssh-keygen -f k -N "my key phrase one"', "my key phrase one"),
    ("ssh-keygen -p -P old -N keyPhr4se -f k", "keyPhr4se"),
    ('WiFi.begin("Home", "Kq7mWinter42");', "Kq7mWinter42"),
    ("AUTH PLAIN " + b64encode(b"\0mara\0tr0ub4dor3").decode(), b64encode(b"\0mara\0tr0ub4dor3").decode()),
]
LOOK_ALIKES = [
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 fixes it",
    "request 550e8400-e29b-41d4-a716-446655440000 failed",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "I want to reset my password",
    "my password is wrong again",
    "the password is stored in the vault under team/staging",
    "The token limit is 200 and we use 4,096 tokens",
    "password: str = Field(min_length=8)",
    "password = os.environ['DB_PASSWORD']",
    'api_key = "your_api_key_here"',
    "secret_key = get_secret()",
    "the secret of good bread is time",
    "class sk-loading-indicator-container",
    "order 1234567890123456 has shipped",
    "call me at +49 170 1234567890",
    "Invoice DE00 1234 is due",
    "pin numpy to 2.1, please",
    "port 5432, ERR-4471, v1.2.3, 2026-02-10T08:00:01Z",
    "https://example.org/a:b@c is odd",
    "postgres://user:password@localhost/db",
    "error code 404 and exit code 137",
]


@pytest.mark.parametrize(("kind", "text"), SECRETS)
def test_a_secret_of_a_named_format_is_taken_out(kind: str, text: str):
    found = redact(f"see {text} there")
    assert found.found == (kind,)
    assert f"[redacted: {kind}]" in found.text


@pytest.mark.parametrize(("text", "secret"), SAID)
def test_a_secret_that_is_called_one_is_taken_out_and_the_words_around_it_stay(text: str, secret: str):
    found = redact(text)
    before = text[: text.index(secret)]
    assert found.text.startswith(before)
    assert secret[-4:] not in found.text[len(before) :]  # nor the end of it


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_what_only_looks_like_a_secret_stays(text: str):
    assert redact(text).text == text


def test_a_private_key_is_taken_out_whole():
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEow\n" * 20 + "-----END RSA PRIVATE KEY-----"
    assert redact(f"here: {key} done").text == "here: [redacted: private key] done"
    assert "MIIEow" not in redact(key[:-40]).text, "cut off by a paste"


def test_several_secrets_in_one_text_are_all_named():
    found = redact(f"token ghp_{LETTERS}abcd and my password is hunter2!")
    assert set(found.found) == {"github token", "password"}


@pytest.mark.parametrize("text", [text for _, text in SECRETS] + [text for text, _ in SAID] + LOOK_ALIKES)
def test_redacting_again_changes_nothing(text: str):
    once = redact(text)
    assert redact(once.text).text == once.text


@given(st.text(max_size=400))
def test_any_text_is_redacted_without_failing_and_only_once(text: str):
    once = redact(text)
    assert redact(once.text).text == once.text


@given(
    st.text(max_size=60), st.sampled_from([secret for _, secret in SECRETS if " " not in secret]), st.text(max_size=60)
)
def test_a_secret_is_found_among_any_words(before: str, secret: str, after: str):
    assert secret not in redact(f"{before} {secret} {after}").text


@pytest.mark.parametrize(
    "hostile",
    [
        "a" * 200_000,
        "password " * 25_000,
        "password: " * 20_000,
        "my " * 60_000 + "password is",
        "://" * 60_000,
        "1 " * 100_000,
        "-----BEGIN PRIVATE KEY-----" + "-" * 200_000,
        "eyJ" * 60_000,
        "sk-" * 60_000,
        "AB12 " * 40_000,
        "aws key " * 25_000,
        "code is " * 25_000,
    ],
)
def test_hostile_text_is_looked_through_to_its_end(hostile: str):
    """What that costs is in bench.freeze."""
    once = redact(hostile).text
    assert redact(once).text == once


@pytest.mark.skipif(not CORPUS.exists(), reason="the public conversations are not on this machine")
def test_hardly_a_real_conversation_is_touched():
    messages = touched = 0
    with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
        for line in lines:
            for message in json.loads(line)["messages"]:
                messages += 1
                touched += bool(redact(message["text"]).found)
    assert messages > 5_000
    assert touched / messages <= 0.01


# -- every kind, wherever it stands -------------------------------------------------------------------------

KINDS = list(kinds())
AROUND = {
    "a sentence": "It did not work with {} at all, sadly.",
    "a line": "first\n{}\nlast",
    "the end": "this is it: {}",
    "a code block": "```\n{}\n```",
    "several": "one {} two\nthree {} four",
}
AROUND_BARE = {
    "a setting": "VALUE={}",
    "a quoted setting": 'value = "{}"',
    "json": '{{"value": "{}", "n": 1}}',
    "escaped json": '{{\\"value\\": \\"{}\\"}}',
    "yaml": "value: {}",
    "an address": "https://example.org/x?v={}&page=2",
    "xml": "<value>{}</value>",
    "code": "send(value='{}', retry=True)",
    "inline code": "use `{}` there",
    "brackets": "({}), [{}]",
    "after an escape": "a\\n{}\\nb",
    "a table": "| a | {} |",
}


def test_there_are_many_kinds_and_each_has_a_secret_of_its_own():
    assert len(KINDS) >= 200
    assert len({kind.secret for kind in KINDS}) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_no_kind_of_secret_stays_wherever_it_stands(kind: Kind):
    stays = []
    for place, around in {**AROUND, **(AROUND_BARE if kind.bare else {})}.items():
        text = around.replace("{}", kind.text).replace("{{", "{").replace("}}", "}")
        left = redact(text)
        # A part of it is too much as well: it would be guessed from there.
        pieces = [kind.secret[at : at + 12] for at in range(0, max(1, len(kind.secret) - 11), 6)]
        if any(piece in left.text for piece in pieces) or "[redacted: " not in left.text:
            stays.append((place, left.text))
        assert redact(left.text).text == left.text, (place, left.text)
    assert not stays, kind.text


HIDDEN = [
    ("gh" + "p_" + LETTERS[:16] + "\u200b" + LETTERS[16:] + "abcd", LETTERS[:12]),
    ("g\u200dh" + "p_" + LETTERS + "abcd", LETTERS),
    ("gh" + "p_" + LETTERS[:16] + "\xad" + LETTERS[16:] + "abcd", LETTERS[:12]),
    ("pass\u2060word: tr0ub4dor&3", "tr0ub4dor&3"),
    ("password\uff1atr0ub4dor&3", "tr0ub4dor&3"),
    ("password:\xa0tr0ub4dor&3", "tr0ub4dor&3"),
    ("password: \x1b[31mtr0ub4dor&3\x1b[0m", "tr0ub4dor&3"),
    ("4539\xa01488\xa00343\xa06467", "0343"),
    ("".join(chr(ord(sign) + 0xFEE0) for sign in "gh" + "p_" + LETTERS + "abcd"), "\uff41\uff22"),
    ("next=https%3A%2F%2Fexample.org%2F%3Ftoken%3D" + LETTERS, LETTERS),
    ("db=postgres%3A%2F%2Fmara%3Atr0ub4dor3%40db%2Fshop", "tr0ub4dor3"),
    ("&quot;password&quot;: &quot;tr0ub4dor3&quot;", "tr0ub4dor3"),
    ("password=&#39;tr0ub4dor3&#39;", "tr0ub4dor3"),
    ("{\\u0022password\\u0022:\\u0022tr0ub4dor3\\u0022}", "tr0ub4dor3"),
]


@pytest.mark.parametrize(("text", "secret"), HIDDEN)
def test_signs_that_nobody_sees_and_escapes_hide_no_secret(text: str, secret: str):
    left = redact(text)
    assert "[redacted: " in left.text
    assert secret not in left.text
    assert redact(left.text).text == left.text


@pytest.mark.parametrize(
    "text", ["a\u200bb \u2764\ufe0f\u200d\U0001f525", "\u4ef7\u683c\uff1a\uff11\uff12\u5143", "a%3Db&#39;c", "12\xa0km"]
)
def test_a_text_that_hides_nothing_stays_as_it_is(text: str):
    assert redact(text) == Redacted(text)


TALK = [
    "The token for the bus is 3 euros, the secret is patience.",
    "Set the password to something strong and long.",
    "with password authentication and password hashing in place",
    '["password", "last_login", "access_token", "refresh_token"]',
    '{"password": "string", "token": "string"}',
    'password: "required|min:8"',
    "connect(user=name, password=password, token=token)",
    "| Password | required |",
    "Backup codes are stored in the safe.",
    "Our recovery key people are Ana and Ben.",
    "In other words: the old model was better than what came after that one.",
    "Your order 482913 is your third one this year",
    "def login(password: str = None, token: str | None = None):",
    "password: required",
    "secret: none",
    "token count = 5",
    "token budget: 4096",
    "max_tokens: 4096, token_limit = 128000",
    "token_count: 51234 and key_size: 4096",
    "the password reset takes 24 hours",
    "PASSWORD=$PASSWORD",
    "DB_PASS=${DB_PASS}",
    "API_TOKEN=%API_TOKEN%",
    "token: <your-token>",
    "API_KEY=<paste it here>",
    "password: ****",
    "password=xxxxxxxx",
    "PASSWORD=changeme",
    "DB_PASSWORD=password123",
    "DB_PASSWORD=your_password_1",
    "API_TOKEN=base64_token",
    'DB_PASSWORD="your password here"',
    'DB_PASSWORD="set this in the dashboard"',
    'DB_PASSWORD="prefix $NUMBER suffix"',
    'DB_PASSWORD="At least 8 characters"',
    'APP_SECRET="generate a long random string"',
    'STOP_TOKEN="end of text"',
    'PASSWORD_HINT="name of first dog"',
    "token: {{ vault_token }}",
    "password = getpass.getpass()",
    "token = os.environ['TOKEN']",
    "token = process.env.API_TOKEN",
    "const password = req.body.password;",
    "secret_name: db-credentials",
    "password_min_length: 12",
    "Set-Cookie: theme=dark; Path=/",
    "The cookie: recipe is on page 12",
    "login page password reset",
    "docker run -u 1000:1000 -p 8080:80 shop",
    "mysql -h db -P 3306 -p shop",
    "ssh -p 2222 mara@example.org",
    "curl -u $USER:$PASS https://example.org",
    "curl -su $USER:$PASS https://example.org",
    "curl -sSo out.html https://example.org && docker run -itu 1000:1000 -volume:/data shop",
    "ssh-keygen -R example.org && scp -P 22222 a mara@example.org:b",
    """ssh-keygen -N "" -f key; ssh-keygen -N '' -f key; ssh-keygen -N "$PASS" -f key; ssh-keygen -Y verify -n file""",
    "redis://localhost:6379/0 and http://localhost:3000",
    "mailto:mara@example.org, git@github.com:mara/x.git",
    "see https://example.org/a?key=value&page=2",
    '"password": "At least 8 characters"',
    '"password": "Minimum 12 characters, one digit"',
    '"password_label": "Password (8-64 characters)"',
    '{"password": {"type": "string", "minLength": 8}, "age": {"type": "integer", "default": 18}}',
    '{"token": {"symbol": "ETH", "decimals": "18", "value": "1000000000000000000"}}',
    '{"value": "2026-11-01", "name": "token"}, {"value": "blue42", "name": "colour"}',
    'password: "the password from step 12 above"',
    'pass: "12 of 14 tests passed in 3s"',
    'password="$(openssl rand -base64 32)" pass="-n 3 -x"',
    'variable "db_password" {\n  sensitive = true\n}\nvariable "region" {\n  default = "eu-central-1"\n}',
    'token: "your-domain.com"',
    'curl -u "$TOKEN:" https://example.org',
    "Server=db;PWD={password};",
    'WiFi.begin("SSID", "password");',
    "250-AUTH PLAIN LOGIN CRAM-MD5",
    "Authorization: Bearer <token>",
    "Authorization: Bearer ${TOKEN}",
    "the keyboard has a key: Enter",
    "primary key: customer_id, foreign key: order_id",
    '<input name="password" type="password">',
    '<label for="password">Password</label>',
    "sha1 da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "md5 d41d8cd98f00b204e9800998ecf8427e",
    "sha512-" + "q" * 10 + "Zx4" * 25 + "==",
    "integrity sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    "image example/app@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "ids 018f3c2a-7b1e-7cc0-9d2e-3f4a5b6c7d8e, 01J9ZQ7M3N8X5K2W4V6T0R1S9P and 5f43a1b2c3d4e5f6a7b8c9d0",
    "doi:10.1038/s41586-021-03819-2, isbn 978-3-16-148410-0, arXiv:2106.09685",
    "numpy==1.26.4, @types/node@20.11.5, sha-1.2.3-beta.4+build.567",
    "call +1 415 555 0132 or 030 12345678",
    "2026-11-18T04:17:33.123456+00:00",
    "com.example.application.services.authentication.TokenAuthenticationProviderFactory",
    "s3://bucket/path/to/some/very/long/object/name-2024-01-01T00-00-00.parquet",
]


@pytest.mark.parametrize("text", TALK)
def test_talk_of_secrets_stand_ins_hashes_and_ids_stay(text: str):
    assert redact(text) == Redacted(text)


@given(st.binary(min_size=20, max_size=20), st.uuids(), st.binary(max_size=300))
def test_hashes_ids_and_packed_pictures_stay(digest: bytes, id: UUID, picture: bytes):
    packed = b64encode(picture).decode()
    text = f"commit {digest.hex()} of {id}, sha256:{(digest + digest[:12]).hex()} data:image/png;base64,{packed}"
    assert redact(text).text == text


@pytest.mark.parametrize("length", [0, 1, 3, 60, 79, 80, 81, 1_000])
@pytest.mark.parametrize(
    ("run", "told", "secret"),
    [
        ("pw_", "pw_prod=", "Kj8-fq2Xv"),
        ("key_", "api_key: ", "Kj8fq2Xv3LmNp0"),
        ("aws.secret-", "secret_value = ", "Kj8fq2Xv3LmNp0"),
        ("password", "password_production_server: ", "Kj8-fq2Xv"),
        ("AKIA", " AKIA", "IOSFODNN7EXAMPLQ"),
        ("AKIA", "\\nAKIA", "IOSFODNN7EXAMPLQ"),
        ("AKIA", "%0aAKIA", "IOSFODNN7EXAMPLQ"),
    ],
)
def test_a_secret_is_found_behind_however_many_of_its_names(run: str, told: str, secret: str, length: int):
    """Names that stand in one another are passed over, but not the last one, nor an escape before it."""
    text = f"{run * length}{told}{secret} and so on"
    assert secret not in redact(text).text
