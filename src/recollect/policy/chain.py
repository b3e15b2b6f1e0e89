"""Whether a journal is whole: every header hashed, every body accounted for, every link in place."""

from collections.abc import Iterable, Iterator

from recollect.domain.change import Erase
from recollect.domain.ids import Seq
from recollect.domain.journal import BODILESS, Entry, Finding, Head, Illegible, body_hash, genesis, header_hash


def findings(entries: Iterable[Entry | Illegible], now: Head, exported: Head | None = None) -> Iterator[Finding]:
    """Everything that is wrong, at the place where it is wrong. Nothing means the journal is whole.

    `now` is the head that the store holds; `exported` one that was taken earlier and kept elsewhere: a journal that
    was cut back to a shorter but consistent one no longer holds it.
    """
    last, hash, rev = Seq(0), genesis(now.chain_id), 0
    missing: set[Seq] = set()
    erased: set[Seq] = set()
    met = exported is None or exported.seq == 0
    broken = False
    for entry in entries:
        if isinstance(entry, Illegible):
            broken = True
            yield Finding(entry.seq, "the entry cannot be read: its row in journal is not one that Recollect wrote")
            last, hash = entry.seq, entry.hash
            continue
        header = entry.header
        wrong = list(_wrong(entry, last, hash))
        broken = broken or bool(wrong)
        yield from (Finding(header.seq, what) for what in wrong)
        if entry.body is None and header.op == "erase":
            yield Finding(header.seq, "the body of an erasure is missing: it says what was erased and holds no content")
        elif entry.body is None and header.op not in BODILESS:
            missing.add(header.seq)
        if header.op == "erase" and not wrong and isinstance(change := entry.told, Erase):
            erased |= set(change.bodies)
        if exported and header.seq == exported.seq:
            met = True
            if entry.hash != exported.hash:
                yield Finding(header.seq, "it is not the entry that the exported head names: the journal was rewritten")
        last, hash, rev = header.seq, entry.hash, max(rev, header.rev)
    for seq in sorted(missing - erased):
        yield Finding(seq, "the body is missing and no erasure accounts for it")
    for seq in sorted(erased - missing) if not broken else ():
        yield Finding(seq, "an erasure took the body, and it is there again")
    if (now.seq, now.hash) != (last, hash):
        yield Finding(last, f"the journal ends at entry {last}, the store's head names entry {now.seq}")
    if now.rev < rev or (exported and met and exported.chain_id == now.chain_id and now.rev < exported.rev):
        yield Finding(last, f"the store's head names revision {now.rev}, which is before what was written already")
    if exported and exported.chain_id != now.chain_id:
        yield Finding(Seq(0), "the exported head belongs to another journal")
    elif exported and not met:
        yield Finding(
            last, f"the journal ends at entry {last}, an exported head names entry {exported.seq}: it was cut"
        )


def _wrong(entry: Entry, last: Seq, hash: str) -> Iterator[str]:
    header = entry.header
    if header.seq != last + 1:
        late = header.seq <= last
        yield f"the entry is out of order: entry {last + 1} belongs here" if late else f"entry {last + 1} is missing"
    elif header.prev_hash != hash:
        yield "it does not follow from the entry before it"
    if header_hash(header) != entry.hash:
        yield "the header was changed"
    if entry.body is not None and body_hash(entry.body) != header.body_hash:
        yield "the body was changed"
