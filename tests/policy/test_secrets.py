"""Secrets are found by their format and by nothing else."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.policy.secrets import redact

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
    assert secret not in found.text
    assert found.text.startswith(text[: text.index(secret)])


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
