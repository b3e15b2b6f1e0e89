"""What was never said is not answered; who says where to look gets what is there."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect import Memory, Message, Principal, Role
from recollect.custody import Deps
from recollect.domain.query import Filters, Query, Source
from recollect.jobs.kinds import KINDS
from recollect.jobs.worker import Worker
from recollect.models.local import LocalEmbedder
from recollect.store.sidecar import FileErasures, FileSeal
from tests.worlds import World

EMBEDDER = LocalEmbedder()
SAID = (
    ("Melanie", "I signed up for a pottery class yesterday, it's like therapy for me."),
    ("Caroline", "Lovely! I went to a support group and it was so powerful."),
    ("Melanie", "The kids and I painted a sunset over the lake last weekend."),
    ("Caroline", "I'm looking into adoption agencies, I want to give a home to a child."),
    ("Melanie", "My husband and I have been married for five years now."),
    ("Caroline", "My guinea pig Oscar keeps me company while I read."),
    ("Melanie", "We went camping in the mountains and roasted marshmallows."),
    ("Caroline", "A friend made me a necklace when I turned eighteen."),
    ("Melanie", "Swimming with the kids at the pool was a blast on Saturday."),
    ("Caroline", "I gave a talk at a school about my journey, and people listened."),
    ("Melanie", "I finished a bowl with black and white flowers, it came out of the kiln today."),
    ("Caroline", "My mentors and family had a picnic for me in the park."),
    ("Melanie", "Running clears my head, I did five kilometres this morning."),
    ("Caroline", "I volunteer at a youth centre, the kids are putting on a talent show."),
    ("Melanie", "Our dog Luna chewed the garden hose."),
    ("Caroline", "I drew a self-portrait in blue, it says how free I feel."),
    ("Melanie", "My daughter's birthday was great, we saw a band play outside."),
    ("Caroline", "Counselling is what I want to study, so that I can help others."),
    ("Melanie", "We saw the meteor shower lying on a blanket in the field."),
    ("Caroline", "The pride parade was loud and colourful, I danced all day."),
    ("Melanie", "I read a book about a girl who follows her dream."),
    ("Caroline", "My grandmother sent me a handmade quilt."),
    ("Melanie", "The hike to the waterfall was steep, but the view was worth it."),
    ("Caroline", "I play the guitar most evenings, it calms me down."),
    ("Melanie", "The kids found seashells on the beach and made a frame of them."),
    ("Caroline", "The interview with the adoption agency went well, I passed."),
    ("Melanie", "We baked bread together and burnt half of it."),
    ("Caroline", "I sang in the choir of the community hall on Sunday."),
    ("Melanie", "The museum had dinosaurs, the little one could not stop talking."),
    ("Caroline", "I met a religious family on a walk, and they were not kind."),
    ("Melanie", "I'm off work next month to rest."),
    ("Caroline", "I bought running shoes in purple."),
)
UNKNOWN = "What is the name of Melanie's dentist?"
KNOWN = (
    "Where did Melanie go camping?",
    "What pet does Caroline have?",
    "What does Melanie do for fun with her children?",
    "How long has Melanie been married?",
)


class OfAnotherScale:
    """The same vectors, of an embedder to which no line was fitted."""

    name = EMBEDDER.name
    profile = replace(EMBEDDER.profile, weighed=False)
    embed = staticmethod(EMBEDDER.embed)


@pytest.fixture
def memory(world: World, tmp_path: Path) -> Memory:
    deps = Deps(
        world.store, world.clock, FileErasures(tmp_path / "erasures"), FileSeal(tmp_path / "key"), embedder=EMBEDDER
    )
    memory = Memory(deps, Principal(tenant=world.tenant, id="mira", role=Role.ADMIN))
    told = [
        Message(text=text, author=author, role="user", ts=datetime(2026, 3, 2, 9, number, tzinfo=UTC))
        for number, (author, text) in enumerate(SAID)
    ]
    memory.ingest(told, thread_id="talk")
    Worker(deps=deps, kinds=KINDS, name="test").run_until_idle()
    return memory


def test_what_was_never_said_of_somebody_gets_no_results(memory: Memory):
    assert memory.query(Query(text=UNKNOWN)).results == ()


@pytest.mark.parametrize("text", KNOWN)
def test_what_was_said_is_answered(memory: Memory, text: str):
    assert memory.query(Query(text=text)).results


def test_who_says_where_to_look_gets_what_is_there(memory: Memory):
    asked = Query(text=UNKNOWN)
    assert memory.query(replace(asked, threshold=0.0)).results
    assert memory.query(replace(asked, source=Source.EVIDENCE, threshold=0.0)).results
    assert memory.query(replace(asked, text="Melanie's dentist", filters=Filters(thread_id="talk"))).results


def test_whose_memories_are_asked_does_not_change_it(memory: Memory):
    assert memory.query(Query(text=UNKNOWN, filters=Filters(user_id="mira"))).results == ()


def test_the_line_holds_for_the_embedder_that_it_was_fitted_to(memory: Memory):
    other = Memory(replace(memory._deps, embedder=OfAnotherScale()), memory.principal)
    assert other.query(Query(text="What is Melanie's salary?")).results
    assert memory.query(Query(text="What is Melanie's salary?")).results == ()
