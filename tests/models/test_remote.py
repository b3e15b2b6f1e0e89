"""An embedder over the wire: what a service gets wrong is refused in good time, and the key stays where it belongs."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from recollect.domain.embedding import Profile
from recollect.errors import Invalid, ModelFailed, RecollectError
from recollect.models import remote
from recollect.models.remote import RemoteEmbedder
from tests.models.service import Asked, Reply, Service, closed_port, serving

KEY = "sk-never-to-be-seen"


def good(asked: Asked) -> Reply:
    """A vector that points where its text is long."""
    texts = asked.body["input"]
    assert isinstance(texts, list)
    rows = [{"index": number, "embedding": [3.0, float(len(text)), 0]} for number, text in enumerate(texts)]
    return Reply({"object": "list", "data": rows, "model": asked.body["model"]})


def one(embedding: object, **more: object) -> Reply:
    return Reply({"data": [{"index": 0, "embedding": embedding, **more}]})


@contextmanager
def embedder(service: Service, **options: object) -> Iterator[RemoteEmbedder]:
    waits: list[float] = []
    made = RemoteEmbedder(service.url, "tiny", key=KEY, wait=waits.append, **options)  # type: ignore[arg-type]
    made.waits = waits  # type: ignore[attr-defined]
    try:
        yield made
    finally:
        made.close()


def failure(service: Service, **options: object) -> str:
    """How asking for one vector fails: with ModelFailed, and without the key."""
    with embedder(service, **options) as made, pytest.raises(ModelFailed) as caught:
        made.embed(["x"])
    assert KEY not in str(caught.value)
    assert KEY not in repr(caught.value.__cause__)
    return str(caught.value)


def test_texts_become_unit_vectors_in_their_order():
    with serving(good) as service, embedder(service) as made:
        found = [np.frombuffer(vector, "<f4") for vector in made.embed(["aaaa", "", "b" * 10])]
    assert [len(vector) for vector in found] == [3, 3, 3]
    assert np.allclose(found[0], [0.6, 0.8, 0])
    assert np.allclose([np.linalg.norm(vector) for vector in found], 1)


def test_it_asks_as_the_protocol_says():
    with serving(good) as service, embedder(service) as made:
        made.embed(["hello"])
    (asked,) = service.asked
    assert asked.path == "/v1/embeddings"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {"model": "tiny", "input": ["hello"], "encoding_format": "float"}


def test_it_has_a_name_and_bands_of_its_own():
    bands = Profile(same=0.9, judge=0.6, link_min=0.5, floor=0.1)
    with serving(good) as service, embedder(service, profile=bands) as made:
        assert made.name == "remote:tiny"
        assert made.profile == bands


def test_many_texts_go_in_batches_and_no_texts_go_nowhere():
    with serving(good) as service, embedder(service, batch=10) as made:
        assert made.embed([]) == []
        assert len(made.embed(["x"] * 25)) == 25
    assert [len(asked.body["input"]) for asked in service.asked] == [10, 10, 5]  # type: ignore[arg-type]


def test_vectors_are_put_in_order_by_their_index():
    rows = [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]
    with serving(Reply({"data": rows})) as service, embedder(service) as made:
        first, second = (np.frombuffer(vector, "<f4").tolist() for vector in made.embed(["a", "b"]))
    assert (first, second) == ([1, 0], [0, 1])


def test_long_and_unsound_texts_are_made_fit_to_send():
    with serving(good) as service, embedder(service, longest=5) as made:
        made.embed(["123456789", "\ud800"])
    assert service.asked[0].body["input"] == ["12345", "?"]


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_a_failure_that_passes_is_tried_again(status: int):
    with serving(Reply("no", status), Reply("no", status), good) as service, embedder(service) as made:
        assert len(made.embed(["x"])) == 1
        assert made.waits == [0.5, 1.0]  # type: ignore[attr-defined]


def test_the_service_says_how_long_to_wait_up_to_a_limit():
    replies = (Reply("", 429, {"Retry-After": "3"}), Reply("", 429, {"Retry-After": "3600"}), good)
    with serving(*replies) as service, embedder(service) as made:
        made.embed(["x"])
        assert made.waits == [3.0, remote.LONGEST_WAIT]  # type: ignore[attr-defined]


@pytest.mark.parametrize("asked", ["soon", "-5", "nan", "inf", ""])
def test_a_wait_that_is_no_number_of_seconds_is_not_waited(asked: str):
    with serving(Reply("", 429, {"Retry-After": asked}), good) as service, embedder(service) as made:
        made.embed(["x"])
        assert made.waits == [0.5]  # type: ignore[attr-defined]


def test_a_failure_that_stays_ends_the_tries():
    with serving(Reply(f"oops, {KEY}", 500)) as service:
        assert "answered 500, 3 times" in failure(service)
        assert len(service.asked) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 301])
def test_a_refusal_is_not_asked_again(status: int):
    with serving(Reply(f"Incorrect API key provided: {KEY}", status, {"Location": "/elsewhere"})) as service:
        assert f"answered {status}" in failure(service)
        assert len(service.asked) == 1


def test_nobody_there():
    made = RemoteEmbedder(f"http://127.0.0.1:{closed_port()}/v1", "tiny", key=KEY, wait=lambda _: None)
    with pytest.raises(ModelFailed, match="could not be reached"):
        made.embed(["x"])


def test_a_slow_service_is_given_up():
    with serving(Reply("", delay=5)) as service:
        assert "within 0.2 seconds" in failure(service, timeout=0.2, tries=2)


def test_an_answer_that_trickles_is_given_up():
    with serving(Reply("x" * 1000, delay=0.05, drip=1000)) as service:
        assert "within 0.3 seconds" in failure(service, timeout=0.3, tries=1)


def test_an_answer_that_breaks_off_is_tried_again():
    with serving(Reply('{"data": [', cut=True), good) as service, embedder(service) as made:
        assert len(made.embed(["x"])) == 1


def test_an_answer_without_end_is_not_read_to_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(remote, "LARGEST_ANSWER", 100_000)
    with serving(Reply("[" + "1," * 1_000_000)) as service:
        assert "more than 100,000 bytes" in failure(service)


@pytest.mark.parametrize(
    "reply",
    [
        Reply("not json"),
        Reply('{"data": [{"index": 0, "embe'),
        Reply(b"\xff\xfe\x00"),
        Reply("[" * 100_000),
        Reply("null"),
        Reply([]),
        Reply({}),
        Reply({"data": {}}),
        Reply({"data": []}),
        Reply({"data": [1]}),
        Reply({"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}]}),
        Reply('{"data": [{"index": 0, "embedding": [NaN, 1]}]}'),
        Reply('{"data": [{"index": 0, "embedding": [Infinity, 1]}]}'),
        Reply('{"data": [{"index": 0, "embedding": [1e400, 1]}]}'),
        Reply('{"data": [{"index": 0, "embedding": [1' + "0" * 400 + "]}]}"),
        one([0.0, 0.0]),
        one([]),
        one(None),
        one("AAAA"),
        one(["1.0", "2.0"]),
        one([True, False]),
        one([[1.0]]),
        Reply({"data": [{"index": 7, "embedding": [1.0]}]}),
        Reply({"data": [{"index": "0", "embedding": [1.0]}]}),
    ],
    ids=lambda reply: str(reply.body)[:40],
)
def test_an_answer_that_cannot_be_used_is_refused(reply: Reply):
    with serving(reply) as service:
        assert "answered with" in failure(service)


def test_two_vectors_for_one_place_are_refused():
    rows = [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]
    with (
        serving(Reply({"data": rows})) as service,
        embedder(service) as made,
        pytest.raises(ModelFailed, match="out of order"),
    ):
        made.embed(["a", "b"])


def test_another_dimension_than_before_is_refused():
    with serving(one([1.0, 2.0]), one([1.0, 2.0, 3.0])) as service, embedder(service) as made:
        made.embed(["x"])
        with pytest.raises(ModelFailed, match="3 numbers after one of 2"):
            made.embed(["x"])


def test_many_threads_share_one_embedder():
    with serving(good) as service, embedder(service) as made:
        found: list[int] = []
        threads = [threading.Thread(target=lambda: found.append(len(made.embed(["x"] * 70)))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [70] * 8


@pytest.mark.parametrize(
    ("url", "model", "key"),
    [
        ("", "m", ""),
        ("ftp://host/v1", "m", ""),
        ("host/v1", "m", ""),
        ("http://", "m", ""),
        ("http://me:secret@host/v1", "m", ""),
        ("http://host/v1?key=secret", "m", ""),
        ("http://ho st/v1", "m", ""),
        ("http://host/v1", " ", ""),
        ("http://host/v1", "m" * 300, ""),
        ("http://host/v1", "m", "secret\r\nX-Evil: 1"),
        ("http://host/v1", "m", "geheim-ü-secret"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_once(url: str, model: str, key: str):
    with pytest.raises(Invalid) as caught:
        RemoteEmbedder(url, model, key=key)
    assert isinstance(caught.value, RecollectError)
    assert "secret" not in str(caught.value)
