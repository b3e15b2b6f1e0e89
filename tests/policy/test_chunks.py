"""Long texts in pieces that an embedder can read whole."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.policy.chunks import LONGEST, MANY, chunks, telling


def test_a_short_text_is_not_cut():
    assert chunks("word " * 100) == ()


def test_a_long_text_is_cut_where_a_reader_would_pause():
    text = "First paragraph. " * 30 + "\n\n" + "Second one. " * 30
    [first, *_] = chunks(text)
    assert text[: first.end].endswith("\n\n")


@given(st.text(max_size=5_000), st.integers(2, 50))
def test_chunks_cover_the_text_without_gaps_and_none_is_too_long(text: str, longest: int):
    found = chunks(text, longest)
    assert "".join(text[span.start : span.end] for span in found) == (text if found else "")
    assert all(span.end - span.start <= longest for span in found)


@given(st.text(alphabet="ab \n.", min_size=LONGEST + 1, max_size=4 * LONGEST))
def test_chunks_are_not_crumbs(text: str):
    assert all(span.end - span.start >= LONGEST // 2 for span in chunks(text)[:-1])


def _prose(words: int) -> str:
    drawn = random.Random(1)
    known = ["".join(drawn.choices("abcdefghijklmnopqrstuvwxyz", k=drawn.randint(2, 9))) for _ in range(4_000)]
    return " ".join(drawn.choice(known) + "." * (number % 12 == 0) for number in range(words))


def test_a_message_of_few_chunks_is_found_by_all_of_them_whatever_they_hold() -> None:
    text = "." * (MANY * LONGEST)
    assert telling(text, chunks(text)) == list(range(1, MANY + 1))


def test_a_long_text_that_goes_on_saying_something_is_found_by_all_of_its_chunks() -> None:
    text = _prose(20_000)
    assert len(chunks(text)) > 2 * MANY
    assert telling(text, chunks(text)) == list(range(1, len(chunks(text)) + 1))


@pytest.mark.parametrize(
    "piece", [".", " ", "a", "the ", "tomorrow at noon, ", "1 2 3 ", "ok: GET /health\n", "ab.! 1"]
)
def test_of_a_long_text_that_repeats_itself_the_first_chunk_is_enough(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    assert telling(text, chunks(text)) == [1]


def test_a_message_is_found_by_what_it_says_among_what_it_repeats() -> None:
    line, report = "waiting for the server to come up\n", _prose(150)
    text = line * 2_000 + report + line * 2_000
    spans = chunks(text)
    found = [span for number in telling(text, spans) if (span := spans[number - 1])]
    middle = text.index(report) + len(report) // 2
    assert any(span.start <= middle < span.end for span in found)
    assert len(found) < 6
