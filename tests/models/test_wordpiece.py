"""Our word pieces are those that the model was trained with."""

import unicodedata
from importlib.resources import files

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from recollect.models.wordpiece import WordPieces

TOLD = (files("recollect_models") / "tokenizer.json").read_text(encoding="utf-8")
OURS = WordPieces(TOLD)
THEIRS = Tokenizer.from_str(TOLD)
# Signs that both know: which ones are assigned depends on the edition of Unicode that each was built with.
SIGNS = st.characters(max_codepoint=0x2FFF, exclude_categories=["Cs", "Cn"]).filter(
    lambda sign: unicodedata.category(sign) == unicodedata.ucd_3_2_0.category(sign)
)


@given(st.text(SIGNS, max_size=80))
@example("ERR-4471 in src/store.py: naïve café, 東京で会いましょう!")
@example("x" * 150)
@example("")
@example("a\x85b\u00a0c\u200bd\ufffde")
def test_they_agree_with_the_tokenizer_of_the_model(text: str):
    assert OURS.read(text, 256) == THEIRS.encode(text).ids


@pytest.mark.parametrize("longest", [2, 3, 10])
def test_a_long_text_is_cut_and_still_ends(longest: int):
    found = OURS.read("many words " * 50, longest)
    assert len(found) == longest
    assert found[-1] == OURS.read("", 2)[-1]


def test_words_that_look_like_signals_to_the_model_are_words():
    assert OURS.read("[SEP]", 256) != [OURS.read("", 2)[0], OURS.read("", 2)[1], OURS.read("", 2)[1]]
