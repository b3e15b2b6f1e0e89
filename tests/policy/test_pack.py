"""Packing into a budget of tokens: never more than it holds, and the best of what there is."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.text import tokens
from recollect.policy.pack import Piece, cost, pack, slice_of, strict

WORDS = st.text(alphabet='abc déf. \n茶{}:,"1234567890', min_size=1, max_size=400)
PIECES = st.lists(st.builds(Piece, WORDS, st.sampled_from(["", "[goals] "]), st.booleans()), max_size=12)


@given(PIECES, st.integers(1, 600))
def test_packing_never_exceeds_the_budget_in_either_count(pieces, budget):
    served = [packed.text for packed in pack(pieces, budget, {"déf": 1.0})]
    assert sum(map(cost, served)) <= budget
    assert sum(map(strict, served)) <= budget
    assert tokens("\n".join(served)) <= budget


@given(PIECES, st.integers(1, 600))
def test_what_is_left_out_does_not_fit_into_what_is_left(pieces, budget):
    kept = pack(pieces, budget, {})
    left = budget - sum(packed.tokens for packed in kept)
    served = {packed.place for packed in kept}
    for place, piece in enumerate(pieces):
        if place not in served and not piece.cut:
            assert cost(piece.lead + piece.text) > left


@given(PIECES, st.integers(1, 600))
def test_a_better_piece_is_not_left_out_for_a_lesser_one(pieces, budget):
    whole = [Piece(piece.text, piece.lead) for piece in pieces]
    kept = pack(whole, budget, {})
    for place, piece in enumerate(whole):
        if place not in {packed.place for packed in kept}:
            before = sum(packed.tokens for packed in kept if packed.place < place)
            assert cost(piece.lead + piece.text) > budget - before


@given(PIECES, st.integers(1, 600))
def test_the_order_is_kept_and_nothing_is_served_twice(pieces, budget):
    places = [packed.place for packed in pack(pieces, budget, {})]
    assert places == sorted(set(places))


def test_a_long_event_is_cut_to_what_speaks_of_the_question():
    long = "The weather was dull. " * 40 + "Ana moved to Lisbon in May. " + "We had soup again. " * 40
    (packed,) = pack([Piece(long, cut=True)], 60, {"lisb": 1.0})
    assert "Ana moved to Lisbon in May." in packed.text
    assert packed.text.startswith("…")
    assert packed.text.endswith("…")


def test_a_long_event_leaves_room_for_others_and_grows_into_what_they_leave():
    long = " ".join(f"Line {number} of the log." for number in range(400))
    short = [Piece(f"Fact {number}.") for number in range(5)]
    kept = pack([Piece(long, cut=True), *short], 400, {})
    assert [packed.place for packed in kept] == [0, 1, 2, 3, 4, 5]
    assert sum(packed.tokens for packed in kept) > 300


def test_a_sentence_that_is_too_long_by_itself_is_served_from_its_beginning():
    part = slice_of("word " * 500, {}, lambda text: cost(text) <= 30)
    assert part.startswith("word word")
    assert part.endswith("…")
    assert cost(part) <= 30


def test_signs_and_scripts_without_an_alphabet_count_for_more_than_their_characters():
    assert cost('{"a":1,"b":[2,3]}') > tokens('{"a":1,"b":[2,3]}')
    assert cost("我的猫叫小白") >= 6
    assert cost("The quick brown fox jumps over the lazy dog today") == tokens(
        "The quick brown fox jumps over the lazy dog today\n"
    )


def test_a_text_of_a_million_characters_is_cut_around_its_match():
    text = "filler line\n" * 80_000 + "the launch code is ERR-4471\n" + "filler line\n" * 1_000
    (packed,) = pack([Piece(text, cut=True)], 50, {"err-4471": 1.0})
    assert "ERR-4471" in packed.text


def test_of_a_text_in_parts_the_first_ones_are_kept_whole():
    parts = ("The launch was on 3 May. It rained.", "A poster hangs there.", "Coffee was spilled on the launch poster.")
    piece = Piece(" ".join(parts), "[episode] Talk: ", cut=True, parts=parts)
    whole = [piece.lead + " ".join(parts[:count]) for count in range(4)]
    for room in range(24, 60):
        (packed,) = pack([piece], room, {"poster": 1.0})
        assert packed.text == max((text for text in whole[1:] if cost(text) <= room), key=len)
    assert pack([piece], 200, {})[0].text == whole[3]


def test_what_is_left_of_the_room_goes_to_the_first_words_of_the_next_sentence():
    text = (
        "The kitten sleeps. It wakes when the postman comes up the stairs and then it runs to the door. Then it eats."
    )
    whole = slice_of(text, {"sleep": 1.0}, lambda part: len(part) <= 60)
    assert whole == "The kitten sleeps. It wakes when the postman comes up the …"


def test_of_the_last_sentences_it_goes_to_the_last_words_of_the_one_before():
    text = "It wakes when the postman comes up the stairs and then it runs to the door. The kitten sleeps."
    whole = slice_of(text, {"kitten": 1.0}, lambda part: len(part) <= 60)
    assert whole == "… stairs and then it runs to the door. The kitten sleeps."
