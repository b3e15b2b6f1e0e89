"""A turn taken apart: prose in sentences, each with its place. Traces, logs, paths, diffs, shells are no sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.policy.speech.sentences import sentences

BEFORE = "The nightly import broke again, as it did last week."
AFTER = "I moved the job to the second server on Monday."

PASTED = {
    "python": """\
Traceback (most recent call last):
  File "/srv/app/importer/run.py", line 214, in main
    rows = load(path, strict=True)
  File "/srv/app/importer/load.py", line 57, in load
    raise ValueError("row 12 has no date")
ValueError: row 12 has no date""",
    "python chained": """\
Traceback (most recent call last):
  File "app.py", line 3, in <module>
    connect()
ConnectionRefusedError: [Errno 111] Connection refused
Traceback (most recent call last):
  File "app.py", line 9, in <module>
    main()
recollect.errors.StoreUnreachable: the database does not answer""",
    "java": """\
java.lang.NullPointerException: Cannot invoke "String.length()" because "name" is null
    at com.example.billing.Invoice.total(Invoice.java:88)
    at com.example.billing.Runner.main(Runner.java:19)
Caused by: java.io.IOException: Stream closed
    at java.base/java.io.BufferedInputStream.read(BufferedInputStream.java:344)""",
    "javascript": """\
TypeError: Cannot read properties of undefined (reading 'map')
    at renderList (/app/src/list.js:42:17)
    at Object.<anonymous> (/app/src/index.js:7:3)
    at Module._compile (node:internal/modules/cjs/loader:1254:14)""",
    "go": """\
goroutine 1 [running]:
main.divide(...)
github.com/acme/tide/internal/alloc.(*Planner).slot(0xc00011e3c0, 0xc)
\t/home/ana/app/main.go:8
main.main()
\t/home/ana/app/main.go:4 +0x12""",
    "rust": """\
error[E0382]: borrow of moved value: `name`
  --> src/main.rs:5:20
   |
 5 |     println!("{}", name);""",
    "log": """\
2026-03-01 04:12:09,331 ERROR importer: row 12 has no date
2026-03-01T04:12:10Z WARN retrying in 5 s
[2026-03-01 04:12:15] INFO importer started
[ERROR] worker 3 died
INFO  done in 12 s
04:12:17.002 job finished""",
    "paths": """\
/var/log/importer/2026-03-01.log
src/importer/load.py:57:
C:\\Users\\ana\\importer\\load.py
~/projects/importer/run.py""",
    "diff": """\
diff --git a/load.py b/load.py
--- a/load.py
+++ b/load.py
@@ -54,7 +54,7 @@ def load(path):
-    rows = parse(path)
+    rows = parse(path, strict=True)""",
    "shell": """\
$ python run.py --date 2026-03-01
$ ls -la /var/log/importer
$ git push origin main""",
    "code": """\
def load(path):
    rows = parse(path)
    return rows
const rows = parse(path);
import numpy as np
SELECT id FROM rows WHERE day = '2026-03-01'""",
    "fenced": """\
```
We always deploy on Fridays in this example.
It is only an example, and nobody said it.
```""",
    "tests": """\
..........F......x..s....
[ 73%] Building CXX object CMakeFiles/app.dir/main.cpp.o""",
}


def texts(turn: str) -> list[str]:
    return [sentence.text for sentence in sentences(turn)]


@pytest.mark.parametrize("name", PASTED)
def test_what_is_pasted_is_no_sentence_and_the_prose_around_it_stays(name: str):
    assert texts(f"{BEFORE}\n\n{PASTED[name]}\n\n{AFTER}") == [BEFORE, AFTER]


@pytest.mark.parametrize("name", PASTED)
def test_a_turn_of_nothing_but_a_paste_has_no_sentences(name: str):
    assert texts(PASTED[name]) == []


@pytest.mark.parametrize(
    "said",
    [
        "The file src/importer/load.py is mine since May.",
        "We keep the logs under /var/log/importer for 30 days.",
        "The error was a missing date in row 12.",
        "At 04:12 the importer died, and I restarted it.",
        "I want warnings, not errors, when a row has no date.",
        "Our class of 2012 meets in Graz on Friday.",
        "From now on we import in batches of 200.",
        "The return flight leaves at 9 (gate B12).",
        "Let me know when the import is done.",
        "ValueErrors are what I hate most about this importer.",
    ],
)
def test_prose_about_paths_errors_and_code_is_prose(said: str):
    assert texts(said) == [said]
    assert texts(f"{said}\n\n{PASTED['python']}") == [said]


@given(
    before=st.lists(st.sampled_from([BEFORE, AFTER, "I live in Graz, near the castle."]), max_size=3),
    pasted=st.lists(st.sampled_from(sorted(set(PASTED) - {"fenced"})), min_size=1, max_size=3),
    after=st.lists(st.sampled_from([BEFORE, AFTER]), max_size=2),
)
def test_in_any_order_the_prose_stays_and_its_places_are_right(before: list[str], pasted: list[str], after: list[str]):
    turn = "\n\n".join([*before, *(PASTED[name] for name in pasted), *after])
    found = sentences(turn)
    assert [sentence.text for sentence in found] == [*before, *after]
    assert all(turn[sentence.start : sentence.end] == sentence.text for sentence in found)


def test_several_sentences_of_one_line_are_told_apart():
    assert texts("I moved to Graz. My sister Ines did not. Did you?") == [
        "I moved to Graz.",
        "My sister Ines did not.",
        "Did you?",
    ]


@pytest.mark.parametrize("said", ["We met Dr. Holm at 3 p.m. in the lab.", "It costs 3.50 euros, i.e. too much."])
def test_a_full_stop_that_ends_no_sentence_ends_none(said: str):
    assert texts(said) == [said]


def test_dots_before_a_small_letter_end_no_sentence():
    assert [one.text for one in sentences("petra and me are… not talking... at all. Long story… Next time.")] == [
        "petra and me are… not talking... at all.",
        "Long story…",
        "Next time.",
    ]
    assert len(sentences("8081 is taken by Jenkins... actually no, we shut that down.")) == 2
