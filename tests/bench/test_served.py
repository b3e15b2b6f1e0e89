"""What counts as evidence in an answer, and as words that stand there twice."""

from bench.served import holds, plain, repeated

LONG = "I keep the spare key of the allotment shed under the third pot from the left, behind the old bath that Emil "
LONG += "wanted to throw away in March, and nobody but the two of us knows about it."


def test_all_of_a_short_event_is_evidence_and_a_slice_of_a_long_one():
    assert holds("ana, 3 May 2025: I moved to Graz.", "I moved  to\nGraz.")
    assert not holds("ana, 3 May 2025: I moved to", "I moved to Graz.")
    assert holds(plain(f"… {LONG[20:150]} …"), LONG)
    assert not holds(plain(f"… {LONG[20:120]} …"), LONG)


def test_words_count_as_repeated_in_runs_of_eight_whoever_says_them_when():
    said = "we keep the spare key under the third pot"
    first, again = f"[profile] ana, 3 May 2025, until 7 June 2025: {said}", f"ana, 7 June 2025: and {said}"
    assert repeated([first]) == 0
    assert repeated([first, again]) == 9 / 19
    assert repeated([first, "ana, 7 June 2025: we keep the spare key under the bath"]) == 0
    assert repeated(["but I'm not sure if I'll stay", "so I'm not sure if I'll stay"]) == 0
