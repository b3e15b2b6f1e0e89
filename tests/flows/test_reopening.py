"""What was replaced holds again once what replaced it is gone, and is over again once that is back."""

from recollect import Memory
from recollect.domain.ids import ItemId
from recollect.domain.item import Active, Archived
from tests.flows import lives
from tests.flows.lives import item, rev, taken_back
from tests.worlds import World

clock, memory = lives.clock, lives.memory


def replaced(memory: Memory, *texts: str) -> list[ItemId]:
    """Statements of which each takes over from the one before."""
    made: list[ItemId] = []
    for text in texts:
        made.append(memory.remember(text, supersedes=made[-1] if made else None).item_id)
    return made


def holds(world: World, id: ItemId) -> bool:
    found = item(world, id)
    return found.state == Active() and found.valid_to is None and found.superseded_by is None


def test_deleting_the_newer_reopens_the_older_and_restoring_it_closes_it_again(world: World, memory: Memory):
    old, new = replaced(memory, "Choir is on Tuesdays.", "Choir is on Thursdays now.")
    over = item(world, old)
    assert isinstance(over.state, Archived)
    before, at = world.state(), rev(world)
    memory.delete(new)
    assert holds(world, old)
    assert len({entry.header.rev for entry in world.journal() if entry.header.rev > at}) == 1, "in one write"
    assert taken_back(world, memory, at) == before
    memory.delete(new)
    memory.restore(new)
    again = item(world, old)
    assert (again.superseded_by, again.valid_to) == (new, over.valid_to)


def test_erasing_the_newer_reopens_the_older(world: World, memory: Memory):
    old, new = replaced(memory, "Choir is on Tuesdays.", "Choir is on Thursdays now.")
    memory.erase(new)
    assert holds(world, old)


def test_without_the_one_between_the_oldest_held_until_the_newest_began(world: World, memory: Memory):
    first, second, third = replaced(memory, "Choir is Tuesdays.", "Choir is Thursdays.", "Choir is Sundays.")
    since_third = item(world, second).valid_to
    memory.delete(second)
    found = item(world, first)
    assert (found.superseded_by, found.valid_to) == (third, since_third)
    assert not holds(world, first)
    memory.delete(third)
    assert holds(world, first), "nothing is left that replaced it"


def test_archiving_the_newer_reopens_nothing(world: World, memory: Memory):
    old, new = replaced(memory, "Choir is on Tuesdays.", "Choir is on Thursdays now.")
    memory.archive(new)
    assert item(world, old).superseded_by == new, "it is out of sight, and true as before"


def test_what_else_took_over_meanwhile_stays_in_charge(world: World, memory: Memory):
    old, new = replaced(memory, "Choir is on Tuesdays.", "Choir is on Thursdays now.")
    memory.delete(new)
    other = memory.remember("Choir is on Sundays.", supersedes=old).item_id
    memory.restore(new)
    assert item(world, old).superseded_by == other
