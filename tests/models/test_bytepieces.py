"""Our byte pieces are those that the larger judge was taught with."""

import unicodedata
from importlib.resources import files

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from recollect.models.bytepieces import BytePieces

pytest.importorskip("recollect_judge")
TOLD = (files("recollect_judge") / "tokenizer.json").read_text(encoding="utf-8")
OURS = BytePieces(TOLD)
THEIRS = Tokenizer.from_str(TOLD)
# Signs that both know: which ones are assigned depends on the edition of Unicode that each was built with.
SIGNS = st.characters(max_codepoint=0x2FFF, exclude_categories=["Cs", "Cn"]).filter(
    lambda sign: unicodedata.category(sign) == unicodedata.ucd_3_2_0.category(sign)
)


@given(st.text(SIGNS, max_size=80) | st.text("  \n\t'stremvlldAÉ9½_-.", max_size=40))
@example("ERR-4471 in src/store.py: naïve café, 東京で会いましょう!")
@example("They've said it's 3.5 km,  not 'twas;\n\n  we'LL see\t\t")
@example("\x1c\x85\u00a0\u200b\u3000x")
@example("a" * 300)
@example("")
def test_they_agree_with_the_tokenizer_of_the_model(text: str):
    assert OURS.read(text, 10_000) == THEIRS.encode(text).ids


def test_of_a_long_text_the_first_pieces_are_read():
    text = "many words " * 50
    assert OURS.read(text, 7) == OURS.read(text, 10_000)[:7]


def test_words_that_look_like_signals_to_the_model_are_words():
    assert THEIRS.encode("<|im_end|>").ids == [2]
    assert 2 not in OURS.read("<|im_end|>", 100)
