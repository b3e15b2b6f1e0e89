"""The bundled embedder: unit vectors that depend on their text alone, and that say what is close to what."""

import threading
from importlib.resources import files
from typing import Any, cast

import numpy as np
import pytest

from recollect.errors import ModelFailed
from recollect.models import local, network
from recollect.models.local import DIMENSION, LocalEmbedder


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def vectors(embedder: LocalEmbedder, *texts: str) -> np.ndarray:
    return np.frombuffer(b"".join(embedder.embed(texts)), "<f4").reshape(len(texts), DIMENSION)


def test_every_text_gets_a_vector_of_unit_length(embedder: LocalEmbedder):
    found = vectors(embedder, "Ines keeps two goats.", "", "   \n", "ERR-4471", "東京", "\ud800 half a pair", "a\x00b")
    assert np.isfinite(found).all()
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


def test_no_texts_have_no_vectors_and_load_nothing():
    idle = LocalEmbedder()
    assert idle.embed([]) == []
    assert idle._network._loaded is None


def test_what_means_the_same_is_closer_than_what_does_not(embedder: LocalEmbedder):
    asked, near, far = vectors(
        embedder, "Where does Ines live?", "Ines moved into a flat in Porto.", "The build cache is cleared on Mondays."
    )
    assert asked @ near > embedder.profile.floor > asked @ far


def test_statements_of_one_matter_reach_the_bands_that_are_named_for_it(embedder: LocalEmbedder):
    first, again, contrary, apart = vectors(
        embedder,
        "Ines is allergic to hazelnuts.",
        "Ines has an allergy to hazelnuts.",
        "Ines is not allergic to hazelnuts.",
        "The deployment runs on Fridays.",
    )
    profile = embedder.profile
    assert first @ again >= profile.same
    assert first @ contrary >= profile.judge
    assert first @ apart < profile.floor


def test_a_vector_does_not_depend_on_the_company_of_its_text(embedder: LocalEmbedder):
    texts = ["short", "Ines keeps two goats behind the workshop.", "word " * 200]
    assert embedder.embed(texts) == [embedder.embed([text])[0] for text in texts]


def test_several_threads_give_the_same_vectors_in_the_same_order(embedder: LocalEmbedder):
    texts = [f"note number {number} about the garden" for number in range(20)]
    assert LocalEmbedder(threads=2).embed(texts) == embedder.embed(texts)


def test_of_a_long_text_the_first_256_word_pieces_are_read(embedder: LocalEmbedder):
    start = "goat " * 254  # and the two pieces that every text gets
    whole, longer, other = embedder.embed([start, start + "volcano " * 5_000, "volcano " + start])
    assert whole == longer != other


def test_of_a_text_without_end_no_more_is_read_than_the_word_pieces_can_need(embedder: LocalEmbedder):
    assert embedder.embed([" " * network.READ + "goat"]) == embedder.embed([""])


def test_threads_that_come_at_once_load_the_model_once(monkeypatch: pytest.MonkeyPatch):
    loads: list[str] = []
    whole = network._loaded

    def counted(file: str, name: str) -> network._Loaded:
        loads.append(name)
        return whole(file, name)

    monkeypatch.setattr(network, "_loaded", counted)
    fresh = LocalEmbedder()
    found: list[list[bytes]] = []
    threads = [threading.Thread(target=lambda: found.append(fresh.embed(["one"]))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1
    assert len(found) == 8
    assert len({tuple(vector) for vector in found}) == 1


def test_a_package_with_another_model_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(local, "NAME", "embedder-of-next-year")
    with pytest.raises(ModelFailed, match="not embedder-of-next-year"):
        LocalEmbedder().embed(["x"])


def test_a_missing_package_is_said(monkeypatch: pytest.MonkeyPatch):
    def absent(name: str):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(network, "files", absent)
    with pytest.raises(ModelFailed, match="Install"):
        LocalEmbedder().embed(["x"])


def test_no_threads_at_all_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        LocalEmbedder(threads=0)


def test_a_network_reckons_alike_on_every_processor():
    judge = (files("recollect_models") / "judge.onnx").read_bytes()
    options = cast(Any, network.session(judge)).get_session_options()
    assert options.get_session_config_entry("session.x64quantprecision") == "1"
