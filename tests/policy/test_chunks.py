"""Long texts in pieces that an embedder can read whole."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.policy.chunks import LONGEST, chunks


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
